/* Retry policy. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/retry.h"

#include <time.h>

enum {
    FIRST_MS = 500,
    LONGEST_MS = 8 * 1000,
    ASKED_MAX_S = 10 * 1000 * 1000, /* larger values are nonsense and would overflow */
};

/* A decimal number, converted to milliseconds; smaller fractions are ignored. */
static bool read_decimal(struct str s, uint64_t scale, uint64_t *ret_ms)
{
    uint64_t whole = 0, part = 0, unit = scale;
    bool digits = false, point = false;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (c == '.' && !point) {
            point = true;
            continue;
        }
        if (c < '0' || c > '9')
            return false;
        digits = true;
        if (point) {
            unit /= 10;
            part += (uint64_t)(c - '0') * unit;
        } else if (whole < ASKED_MAX_S * (uint64_t)1000) {
            whole = whole * 10 + (uint64_t)(c - '0');
        }
    }
    *ret_ms = whole * scale + part;
    return digits;
}

static bool read_two(struct str s, size_t at, int *ret_number)
{
    int64_t number;
    if (s.n < at + 2 || !str_to_int(str_n(s.p + at, 2), 0, 99, &number))
        return false;
    *ret_number = (int)number;
    return true;
}

/* Parses "Wed, 21 Oct 2026 07:28:00 GMT" independent of the locale. */
static bool read_date(struct str s, uint64_t *ret_wall_ms)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    struct tm tm = {0};
    int64_t year;
    if (s.n != 29 || !str_ends_with(s, STR(" GMT")) || !read_two(s, 5, &tm.tm_mday) ||
        !str_to_int(str_n(s.p + 12, 4), 1970, 9999, &year) || !read_two(s, 17, &tm.tm_hour) ||
        !read_two(s, 20, &tm.tm_min) || !read_two(s, 23, &tm.tm_sec))
        return false;
    for (tm.tm_mon = 0; tm.tm_mon < 12; tm.tm_mon++)
        if (memcmp(months + 3 * tm.tm_mon, s.p + 8, 3) == 0)
            break;
    tm.tm_year = (int)year - 1900;
    time_t t = tm.tm_mon < 12 ? timegm(&tm) : -1;
    *ret_wall_ms = (uint64_t)t * 1000;
    return t >= 0;
}

static bool asked_for(const struct retry_failure *f, uint64_t *ret_ms)
{
    uint64_t date;
    if (f->retry_after_ms.p && read_decimal(str_trim(f->retry_after_ms), 1, ret_ms))
        return true;
    if (!f->retry_after.p)
        return false;
    if (read_decimal(str_trim(f->retry_after), 1000, ret_ms))
        return true;
    if (!read_date(str_trim(f->retry_after), &date))
        return false;
    *ret_ms = date > f->wall_ms ? date - f->wall_ms : 0;
    return true;
}

static bool may_help(const struct retry_failure *f)
{
    if (f->should_retry.p && str_is(str_trim(f->should_retry), "true"))
        return true;
    if (f->should_retry.p && str_is(str_trim(f->should_retry), "false"))
        return false;
    return f->broken || f->status == 408 || f->status == 409 || f->status == 429 ||
           f->status >= 500;
}

static uint64_t backoff(unsigned attempt, uint32_t chance)
{
    uint64_t ms = FIRST_MS;
    for (unsigned i = 0; i < attempt && ms < LONGEST_MS; i++)
        ms *= 2;
    ms = MIN(ms, (uint64_t)LONGEST_MS);
    return ms - ms / 4 * (chance % 1000) / 1000;
}

enum retry_verdict retry_next(
    struct retry *retry, const struct retry_failure *failure, uint64_t *ret_delay_ms)
{
    uint64_t ms;
    if (!may_help(failure))
        return RETRY_NEVER;
    if (retry->attempt >= retry->most)
        return RETRY_USED_UP;
    bool asked = asked_for(failure, &ms);
    if (!asked)
        ms = backoff(retry->attempt, failure->chance);
    if (retry->waited_ms + ms > RETRY_TOTAL_MS) {
        if (asked)
            *ret_delay_ms = ms;
        return asked ? RETRY_TOO_LONG : RETRY_USED_UP;
    }
    retry->waited_ms += ms;
    retry->attempt++;
    *ret_delay_ms = ms;
    return RETRY_AGAIN;
}
