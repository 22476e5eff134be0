#include "CTimerFD.h"

#include <limits.h>
#include <sys/timerfd.h>
#include <time.h>

int openClockChanges(void) { return timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK); }

int awaitClockChange(int descriptor) {
    struct itimerspec never = {.it_value = {.tv_sec = LONG_MAX}};
    return timerfd_settime(descriptor, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, 0);
}
