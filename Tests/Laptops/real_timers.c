/* libfaketime 0.9.10 shifts the absolute times of every timerfd as if it were of the clock that it fakes, so that under a
 * wrong wall clock no timer of libdispatch ever fires. Loaded before it, this hands them to the kernel as they are. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

int timerfd_settime(int timer, int flags, const struct itimerspec *wanted, struct itimerspec *before) {
    return syscall(SYS_timerfd_settime, timer, flags, wanted, before);
}

int timerfd_gettime(int timer, struct itimerspec *now) {
    return syscall(SYS_timerfd_gettime, timer, now);
}
