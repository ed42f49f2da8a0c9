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

uint64_t clock_deadline_ms(uint64_t after_ms)
{
    uint64_t now = clock_mono_ms();
    return after_ms > UINT64_MAX - now ? UINT64_MAX : now + after_ms;
}

int clock_timeout_ms(uint64_t now_ms, uint64_t until_ms)
{
    if (until_ms == UINT64_MAX)
        return -1;
    return until_ms <= now_ms ? 0 : (int)MIN(until_ms - now_ms, UINT64_C(60000));
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

/* Removes n digits from the start. */
static bool clock_take_digits(struct str *text, size_t n, int *ret_value)
{
    int64_t value;
    if (text->n < n || !str_to_int(str_head(*text, n), 0, 9999, &value))
        return false;
    *ret_value = (int)value;
    *text = str_skip(*text, n);
    return true;
}

static bool clock_accept_byte(struct str *text, const char *any)
{
    if (text->n == 0 || !text->p[0] || !strchr(any, text->p[0]))
        return false;
    *text = str_skip(*text, 1);
    return true;
}

static uint64_t clock_take_fraction(struct str *text)
{
    uint64_t ms = 0, scale = 100;
    if (!clock_accept_byte(text, "."))
        return 0;
    while (text->n && text->p[0] >= '0' && text->p[0] <= '9') {
        ms += scale * (uint64_t)(text->p[0] - '0');
        scale /= 10;
        *text = str_skip(*text, 1);
    }
    return ms;
}

/* Seconds east of UTC. */
static bool clock_take_offset(struct str *text, int *ret_seconds)
{
    int hours, minutes, sign = text->n && text->p[0] == '-' ? -1 : 1;
    *ret_seconds = 0;
    if (clock_accept_byte(text, "Zz"))
        return true;
    if (!clock_accept_byte(text, "+-") || !clock_take_digits(text, 2, &hours) ||
        !clock_accept_byte(text, ":") || !clock_take_digits(text, 2, &minutes))
        return false;
    *ret_seconds = sign * (3600 * hours + 60 * minutes);
    return hours < 24 && minutes < 60;
}

static bool clock_take_date(struct str *text, struct tm *tm)
{
    bool ok = clock_take_digits(text, 4, &tm->tm_year) && clock_accept_byte(text, "-") &&
              clock_take_digits(text, 2, &tm->tm_mon) && clock_accept_byte(text, "-") &&
              clock_take_digits(text, 2, &tm->tm_mday) && clock_accept_byte(text, "Tt ") &&
              clock_take_digits(text, 2, &tm->tm_hour) && clock_accept_byte(text, ":") &&
              clock_take_digits(text, 2, &tm->tm_min) && clock_accept_byte(text, ":") &&
              clock_take_digits(text, 2, &tm->tm_sec);
    bool fits = ok && tm->tm_mon >= 1 && tm->tm_mon <= 12 && tm->tm_mday >= 1 &&
                tm->tm_mday <= 31 && tm->tm_hour < 24 && tm->tm_min < 60 && tm->tm_sec <= 60;
    tm->tm_year -= 1900;
    tm->tm_mon -= 1;
    return fits;
}

bool clock_parse(struct str text, uint64_t *ret_ms)
{
    struct tm tm = {0};
    int offset = 0;
    if (!text.p || !clock_take_date(&text, &tm))
        return false;
    uint64_t ms = clock_take_fraction(&text);
    if (!clock_take_offset(&text, &offset) || text.n)
        return false;
    time_t seconds = timegm(&tm) - offset;
    if (seconds < 0)
        return false;
    *ret_ms = (uint64_t)seconds * 1000 + ms;
    return true;
}
