/* Time: a monotonic clock for durations, the wall clock for dates. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include "base/str.h"

uint64_t clock_mono_ms(void);
uint64_t clock_mono_ns(void);

/* The time after this many milliseconds, by clock_mono_ms(); at most UINT64_MAX. */
uint64_t clock_deadline_ms(uint64_t after_ms);

/* Returns the timeout for poll() until a time by clock_mono_ms(); UINT64_MAX: none, -1. A wait is
 * at most a minute, so the caller must look at the clock afterwards. */
int clock_timeout_ms(uint64_t now_ms, uint64_t until_ms);

enum {
    CLOCK_RFC3339 = sizeof("2026-01-02T03:04:05.678Z"),
};

/* Milliseconds since 1970, and their RFC 3339 form in UTC (years 1970 to 9999). */
uint64_t clock_wall_ms(void);
void clock_rfc3339(uint64_t wall_ms, char text[CLOCK_RFC3339]);

/* Parses a timestamp written by another program: RFC 3339, with a fraction and any offset. Returns
 * false if it is invalid or before 1970. */
bool clock_parse(struct str text, uint64_t *ret_ms);

#endif
