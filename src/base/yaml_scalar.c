/* Plain YAML scalars: null, booleans, integers, fractions; everything else is a string. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/yaml_scalar.h"

#include <math.h>

enum scalar_word {
    WORD_NONE,
    WORD_NULL,
    WORD_TRUE,
    WORD_FALSE,
    WORD_NOT_FINITE,
};

static enum scalar_word word_of(struct str s)
{
    static const struct {
        const char *text;
        enum scalar_word word;
    } words[] = {
        {"", WORD_NULL},
        {"~", WORD_NULL},
        {"null", WORD_NULL},
        {"Null", WORD_NULL},
        {"NULL", WORD_NULL},
        {"true", WORD_TRUE},
        {"True", WORD_TRUE},
        {"TRUE", WORD_TRUE},
        {"false", WORD_FALSE},
        {"False", WORD_FALSE},
        {"FALSE", WORD_FALSE},
        {".nan", WORD_NOT_FINITE},
        {".NaN", WORD_NOT_FINITE},
        {".NAN", WORD_NOT_FINITE},
    };
    static const char *const infinities[] = {".inf", ".Inf", ".INF"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_is(s, words[i].text))
            return words[i].word;
    if (s.n && (s.p[0] == '-' || s.p[0] == '+'))
        s = str_skip(s, 1);
    for (size_t i = 0; i < ARRAY_LEN(infinities); i++)
        if (str_is(s, infinities[i]))
            return WORD_NOT_FINITE;
    return WORD_NONE;
}

static unsigned digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (unsigned)(c - 'a') + 10;
    if (c >= 'A' && c <= 'F')
        return (unsigned)(c - 'A') + 10;
    return 99;
}

static size_t count_digits(struct str s, unsigned base)
{
    size_t n = 0;
    while (n < s.n && digit_value(s.p[n]) < base)
        n++;
    return n;
}

static bool has_sign(struct str s)
{
    return s.n > 0 && (s.p[0] == '-' || s.p[0] == '+');
}

/* Returns true if it has the form of an integer; the value is NULL if it does not fit. */
static bool scalar_read_integer(struct str s, json_t **ret_value)
{
    unsigned base = 10;
    bool negative = s.n > 0 && s.p[0] == '-';
    if (str_starts_with(s, STR("0x")) || str_starts_with(s, STR("0o"))) {
        base = s.p[1] == 'x' ? 16 : 8;
        s = str_skip(s, 2);
    } else if (has_sign(s)) {
        s = str_skip(s, 1);
    }
    if (s.n == 0 || count_digits(s, base) != s.n)
        return false;
    int64_t value = 0; /* negative, so that INT64_MIN can be read */
    bool fits = true;
    for (size_t i = 0; i < s.n && fits; i++)
        fits = !__builtin_mul_overflow(value, (int64_t)base, &value) &&
               !__builtin_sub_overflow(value, (int64_t)digit_value(s.p[i]), &value);
    if (!negative)
        fits = fits && !__builtin_sub_overflow((int64_t)0, value, &value);
    *ret_value = fits ? json_integer(value) : NULL;
    return true;
}

/* [-+]? ( \.[0-9]+ | [0-9]+ (\.[0-9]*)? ) ([eE][-+]?[0-9]+)? */
static bool is_fraction(struct str s)
{
    if (has_sign(s))
        s = str_skip(s, 1);
    size_t whole = count_digits(s, 10);
    s = str_skip(s, whole);
    size_t part = 0;
    if (s.n && s.p[0] == '.') {
        part = count_digits(str_skip(s, 1), 10);
        s = str_skip(s, 1 + part);
    }
    if (whole + part == 0)
        return false;
    if (s.n && (s.p[0] == 'e' || s.p[0] == 'E')) {
        s = str_skip(s, 1);
        if (has_sign(s))
            s = str_skip(s, 1);
        return s.n > 0 && count_digits(s, 10) == s.n;
    }
    return s.n == 0;
}

static json_t *read_fraction(struct str s, const char **ret_why)
{
    AUTO_FREE char *z = strndup(s.p, s.n); /* strtod needs a terminator */
    BUG_ON(!z);
    double value = strtod(z, NULL);
    if (!isfinite(value)) {
        *ret_why = "the number is too large";
        return NULL;
    }
    return json_real(value);
}

json_t *yaml_scalar(struct str plain, const char **ret_why)
{
    json_t *value = NULL;
    switch (word_of(plain)) {
    case WORD_NULL:
        return json_null();
    case WORD_TRUE:
        return json_true();
    case WORD_FALSE:
        return json_false();
    case WORD_NOT_FINITE:
        *ret_why = "infinite numbers and .nan are not supported";
        return NULL;
    case WORD_NONE:
        break;
    }
    if (scalar_read_integer(plain, &value)) {
        *ret_why = "the integer does not fit into 64 bits";
        return value;
    }
    return is_fraction(plain) ? read_fraction(plain, ret_why) : json_text(plain);
}
