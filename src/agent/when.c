/* RFC 3339 timestamps. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/when.h"

#include <time.h>

/* Removes n digits from the start. */
static bool take_digits(struct str *text, size_t n, int *ret_value)
{
    int64_t value;
    if (text->n < n || !str_to_int(str_head(*text, n), 0, 9999, &value))
        return false;
    *ret_value = (int)value;
    *text = str_skip(*text, n);
    return true;
}

static bool when_accept_byte(struct str *text, const char *any)
{
    if (text->n == 0 || !text->p[0] || !strchr(any, text->p[0]))
        return false;
    *text = str_skip(*text, 1);
    return true;
}

static uint64_t take_fraction(struct str *text)
{
    uint64_t ms = 0, scale = 100;
    if (!when_accept_byte(text, "."))
        return 0;
    while (text->n && text->p[0] >= '0' && text->p[0] <= '9') {
        ms += scale * (uint64_t)(text->p[0] - '0');
        scale /= 10;
        *text = str_skip(*text, 1);
    }
    return ms;
}

/* Seconds east of UTC. */
static bool take_offset(struct str *text, int *ret_seconds)
{
    int hours, minutes, sign = text->n && text->p[0] == '-' ? -1 : 1;
    *ret_seconds = 0;
    if (when_accept_byte(text, "Zz"))
        return true;
    if (!when_accept_byte(text, "+-") || !take_digits(text, 2, &hours) ||
        !when_accept_byte(text, ":") || !take_digits(text, 2, &minutes))
        return false;
    *ret_seconds = sign * (3600 * hours + 60 * minutes);
    return hours < 24 && minutes < 60;
}

static bool take_date(struct str *text, struct tm *tm)
{
    bool ok = take_digits(text, 4, &tm->tm_year) && when_accept_byte(text, "-") &&
              take_digits(text, 2, &tm->tm_mon) && when_accept_byte(text, "-") &&
              take_digits(text, 2, &tm->tm_mday) && when_accept_byte(text, "Tt ") &&
              take_digits(text, 2, &tm->tm_hour) && when_accept_byte(text, ":") &&
              take_digits(text, 2, &tm->tm_min) && when_accept_byte(text, ":") &&
              take_digits(text, 2, &tm->tm_sec);
    bool fits = ok && tm->tm_mon >= 1 && tm->tm_mon <= 12 && tm->tm_mday >= 1 &&
                tm->tm_mday <= 31 && tm->tm_hour < 24 && tm->tm_min < 60 && tm->tm_sec <= 60;
    tm->tm_year -= 1900;
    tm->tm_mon -= 1;
    return fits;
}

bool when_parse(struct str text, uint64_t *ret_ms)
{
    struct tm tm = {0};
    int offset = 0;
    if (!text.p || !take_date(&text, &tm))
        return false;
    uint64_t ms = take_fraction(&text);
    if (!take_offset(&text, &offset) || text.n)
        return false;
    time_t seconds = timegm(&tm) - offset;
    if (seconds < 0)
        return false;
    *ret_ms = (uint64_t)seconds * 1000 + ms;
    return true;
}
