/* Time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <stdio.h>
#include <time.h>

static uint64_t now_ns(clockid_t clock)
{
    struct timespec now;
    BUG_ON(clock_gettime(clock, &now) != 0);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t clock_mono_ns(void)
{
    return now_ns(CLOCK_MONOTONIC);
}

uint64_t clock_mono_ms(void)
{
    return clock_mono_ns() / 1000000u;
}

uint64_t clock_wall_ms(void)
{
    return now_ns(CLOCK_REALTIME) / 1000000u;
}

void clock_rfc3339(uint64_t wall_ms, char text[CLOCK_RFC3339])
{
    const uint64_t year_10000_ms = UINT64_C(253402300800000);
    BUG_ON(wall_ms >= year_10000_ms);
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm utc;
    BUG_ON(!gmtime_r(&seconds, &utc));
    char date[CLOCK_RFC3339];
    BUG_ON(strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &utc) == 0);
    /* The longest date has 19 characters; the precision lets the compiler see that it fits. */
    snprintf(text, CLOCK_RFC3339, "%.19s.%03uZ", date, (unsigned)(wall_ms % 1000));
}
