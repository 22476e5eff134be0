// Makes every flush of one program wait, as a slow disk does: LD_PRELOAD=slow_flush.so SLOW_FLUSH_MILLISECONDS=200.
//
// Build: cc -shared -fPIC -O2 -o slow_flush.so slow_flush.c -ldl

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static void waitAsLong(void) {
    static long microseconds = -1;
    if (microseconds < 0) {
        const char *const text = getenv("SLOW_FLUSH_MILLISECONDS");
        microseconds = text ? atol(text) * 1000 : 0;
    }
    if (microseconds > 0) usleep((useconds_t)microseconds);
}

int fsync(int file) {
    static int (*flush)(int);
    if (!flush) flush = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    waitAsLong();
    return flush(file);
}

int fdatasync(int file) {
    static int (*flush)(int);
    if (!flush) flush = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    waitAsLong();
    return flush(file);
}
