/* Loaded first, this lets one program see what a suspend looks like: SIGSTOP puts it to sleep, and on SIGCONT its machine has slept for
 * as many seconds as the file SLEPT_SECONDS_FILE says in all. CLOCK_BOOTTIME is ahead by them, the timers of that clock are due by it,
 * and what waits for a jump of the wall clock (TFD_TIMER_CANCEL_ON_SET) is woken: the kernel does all three (timerfd_resume). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define MOST 64

enum kind { OTHER, BOOT, WAKES };

static atomic_long slept;
static const char *path;
static struct timer {
    enum kind kind;
    struct itimerspec wanted;
} timers[MOST];

static int set(int timer, int flags, const struct itimerspec *wanted, struct itimerspec *before) {
    return syscall(SYS_timerfd_settime, timer, flags, wanted, before);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int result = syscall(SYS_clock_gettime, clock, now);
    if (result == 0 && clock == CLOCK_BOOTTIME) now->tv_sec += slept;
    return result;
}

int timerfd_create(int clock, int flags) {
    int timer = syscall(SYS_timerfd_create, clock, flags);
    if (timer >= 0 && timer < MOST) timers[timer] = (struct timer){.kind = clock == CLOCK_BOOTTIME ? BOOT : OTHER};
    return timer;
}

/* As the kernel's own clock counts; what is overdue is due in a nanosecond, since zero would be never. */
static int set_boot(int timer) {
    struct itimerspec real = timers[timer].wanted;
    if (real.it_value.tv_sec == 0 && real.it_value.tv_nsec == 0) return set(timer, TFD_TIMER_ABSTIME, &real, NULL);
    real.it_value.tv_sec -= slept;
    if (real.it_value.tv_sec < 0) real.it_value = (struct timespec){0, 1};
    return set(timer, TFD_TIMER_ABSTIME, &real, NULL);
}

int timerfd_settime(int timer, int flags, const struct itimerspec *wanted, struct itimerspec *before) {
    if (timer < 0 || timer >= MOST) return set(timer, flags, wanted, before);
    if (timers[timer].kind == BOOT && flags & TFD_TIMER_ABSTIME) {
        timers[timer].wanted = *wanted;
        return set_boot(timer);
    }
    if (flags & TFD_TIMER_CANCEL_ON_SET) timers[timer].kind = WAKES;
    return set(timer, flags, wanted, before);
}

static void resume(int signal) {
    (void)signal;
    char text[32] = {0};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    if (read(file, text, sizeof text - 1) > 0) slept = atol(text);
    close(file);
    const struct itimerspec at_once = {.it_value = {0, 1}};
    for (int timer = 0; timer < MOST; timer++) {
        if (timers[timer].kind == BOOT) set_boot(timer);
        if (timers[timer].kind == WAKES) set(timer, 0, &at_once, NULL);
    }
}

__attribute__((constructor)) static void begin(void) {
    path = getenv("SLEPT_SECONDS_FILE");
    if (path) sigaction(SIGCONT, &(struct sigaction){.sa_handler = resume, .sa_flags = SA_RESTART}, NULL);
}
