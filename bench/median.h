/* Medians of times, for benchmarks. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_MEDIAN_H
#define BENCH_MEDIAN_H

#include <stdint.h>
#include <stdlib.h>

static inline int median_order(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sorts the times. */
static inline double median_us(uint64_t *times_ns, size_t n)
{
    qsort(times_ns, n, sizeof(*times_ns), median_order);
    return (double)times_ns[n / 2] / 1e3;
}

#endif
