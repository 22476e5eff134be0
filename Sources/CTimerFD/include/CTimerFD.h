// timerfd_create(2), whose types would hide those of the Glibc module.
#pragma once

// A descriptor that becomes readable when the wall clock jumps against CLOCK_MONOTONIC: when somebody sets it, and when the
// machine wakes up. It costs no wake-up of its own: the time that it waits for never comes. -1 on failure, see errno.
int openClockChanges(void);

// To be called before each wait. 0, or -1 on failure.
int awaitClockChange(int descriptor);
