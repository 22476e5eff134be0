// What a series of times comes to, as one JSON object on a line, in milliseconds.
#pragma once

#include <stdio.h>
#include <stdlib.h>

static inline int ascending(const void *left, const void *right) {
    const double l = *(const double *)left, r = *(const double *)right;
    return (l > r) - (l < r);
}

static inline void printTimes(double *seconds, int count) {
    double total = 0;
    for (int at = 0; at < count; at++) total += seconds[at];
    qsort(seconds, (size_t)count, sizeof *seconds, ascending);
    printf(
        "{\"p50\": %.6f, \"p99\": %.6f, \"count\": %d, \"seconds\": %.6f}\n", seconds[count / 2] * 1e3,
        seconds[count * 99 / 100] * 1e3, count, total);
}
