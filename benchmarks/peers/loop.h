/* Shared by the peers' programs: repeat a computation, and print lists of numbers as JSON. */
#ifndef MOBOD_BENCHMARKS_LOOP_H
#define MOBOD_BENCHMARKS_LOOP_H

#include <stdio.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec; /* microseconds */
}

static void print_list(const char* name, const double* values, int n, const char* end) {
    printf("\"%s\": [", name);
    for (int i = 0; i < n; ++i) printf("%s%.17g", i ? ", " : "", values[i]);
    printf("]%s", end);
}

/* Calls of `step(context, i)` that fill about `seconds`, and the microseconds of each call over
   that many, `repeats` times over. */
static void time_loop(void (*step)(void*, int), void* context, int repeats, double seconds,
                      double* microseconds) {
    int n = 1;
    for (;;) { /* find n, and warm up */
        const double start = now();
        for (int i = 0; i < n; ++i) step(context, i);
        const double spent = now() - start;
        if (spent > 0.1e6 * seconds) {
            n = (int)(1 + n * 1e6 * seconds / spent);
            break;
        }
        n *= 2;
    }
    for (int r = 0; r < repeats; ++r) {
        const double start = now();
        for (int i = 0; i < n; ++i) step(context, i);
        microseconds[r] = (now() - start) / n;
    }
}

#endif
