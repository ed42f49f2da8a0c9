/* Units of wildcard patterns, and classes: `[a-z]`, `[!a]`, `[[:alpha:]]`. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/wild_class.h"

#include "path/wild.h"

size_t wild_unit(struct str s, int options, uint32_t *ret_unit)
{
    *ret_unit = 0;
    if (s.n == 0)
        return 0;
    unsigned char byte = (unsigned char)s.p[0];
    *ret_unit = byte;
    if (byte < 0x80 || !(options & WILD_UTF8))
        return 1;
    size_t n = utf8_decode(s, ret_unit);
    if (n)
        return n;
    *ret_unit = (uint32_t)WILD_INVALID_BYTE + byte;
    return 1;
}

size_t wild_unit_write(uint32_t unit, int options, char bytes[UTF8_MAX])
{
    if (options & WILD_UTF8 && unit >= 0x80 && unit <= UTF8_LAST)
        return utf8_write(unit, bytes);
    bytes[0] = (char)(unit > UTF8_LAST ? unit - WILD_INVALID_BYTE : unit);
    return 1;
}

static bool class_is_upper(uint32_t c)
{
    return c >= 'A' && c <= 'Z';
}

static bool class_is_lower(uint32_t c)
{
    return c >= 'a' && c <= 'z';
}

static bool class_is_digit(uint32_t c)
{
    return c >= '0' && c <= '9';
}

static bool class_is_alpha(uint32_t c)
{
    return class_is_upper(c) || class_is_lower(c);
}

static bool class_is_alnum(uint32_t c)
{
    return class_is_alpha(c) || class_is_digit(c);
}

static bool class_is_blank(uint32_t c)
{
    return c == ' ' || c == '\t';
}

static bool class_is_cntrl(uint32_t c)
{
    return c < 0x20 || c == 0x7F;
}

static bool class_is_print(uint32_t c)
{
    return c >= 0x20 && c < 0x7F;
}

static bool class_is_graph(uint32_t c)
{
    return class_is_print(c) && c != ' ';
}

static bool class_is_punct(uint32_t c)
{
    return class_is_graph(c) && !class_is_alnum(c);
}

/* Unlike isspace(): git does not count vertical tab and form feed. */
static bool class_is_space(uint32_t c)
{
    return class_is_blank(c) || c == '\n' || c == '\r';
}

static bool class_is_xdigit(uint32_t c)
{
    return class_is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static const struct {
    const char *name;
    bool (*holds)(uint32_t c);
} posix_classes[] = {
    {"alnum", class_is_alnum},
    {"alpha", class_is_alpha},
    {"blank", class_is_blank},
    {"cntrl", class_is_cntrl},
    {"digit", class_is_digit},
    {"graph", class_is_graph},
    {"lower", class_is_lower},
    {"print", class_is_print},
    {"punct", class_is_punct},
    {"space", class_is_space},
    {"upper", class_is_upper},
    {"xdigit", class_is_xdigit},
};

uint32_t wild_fold(uint32_t unit, int options)
{
    return options & WILD_CASEFOLD && class_is_upper(unit) ? unit - 'A' + 'a' : unit;
}

static void add_low(struct wild_class *class, uint32_t unit)
{
    class->low[unit / 64] |= UINT64_C(1) << (unit % 64);
}

/* The text is folded to lower case, so a range of upper-case letters must include the lower-case
 * ones. */
static void class_add_range(struct wild_class_parser *p, uint32_t first, uint32_t last, bool fold)
{
    for (uint32_t unit = first; unit <= last && unit < WILD_LOW; unit++) {
        add_low(p->class, unit);
        if (fold)
            add_low(p->class, wild_fold(unit, p->options));
    }
    if (last < WILD_LOW || first > last || !p->ranges)
        return;
    p->ranges[p->n_ranges++] = (struct wild_range){MAX(first, (uint32_t)WILD_LOW), last};
    p->class->n_ranges++;
}

/* At "[:": the named class. Sets *ret_plain if it is not one but a plain '['. */
static bool parse_posix(struct wild_class_parser *p, bool *ret_plain)
{
    struct str rest = str_skip(p->in, p->at + 2);
    ptrdiff_t close = str_find(rest, ']');
    if (close < 0)
        return false;
    struct str name = str_head(rest, (size_t)close);
    *ret_plain = name.n == 0 || name.p[name.n - 1] != ':';
    if (*ret_plain)
        return true;
    name.n--;
    for (size_t i = 0; i < ARRAY_LEN(posix_classes); i++) {
        if (!str_is(name, posix_classes[i].name))
            continue;
        for (uint32_t c = 0; c < 0x80; c++)
            if (posix_classes[i].holds(c))
                class_add_range(p, c, c, true);
        p->at += 2 + (size_t)close + 1;
        return true;
    }
    return false;
}

/* One unit, optionally escaped with a backslash. */
static bool parse_unit(struct wild_class_parser *p, uint32_t *ret_unit)
{
    size_t n = wild_unit(str_skip(p->in, p->at), p->options, ret_unit);
    p->at += n;
    if (n && *ret_unit == '\\') {
        n = wild_unit(str_skip(p->in, p->at), p->options, ret_unit);
        p->at += n;
    }
    return n > 0;
}

static bool next_is(const struct wild_class_parser *p, size_t ahead, char byte)
{
    return p->at + ahead < p->in.n && p->in.p[p->at + ahead] == byte;
}

/* One member. *previous is the unit that may start a range; 0: none. */
static bool parse_member(struct wild_class_parser *p, uint32_t *previous)
{
    uint32_t unit;
    bool range = next_is(p, 0, '-') && *previous && p->at + 1 < p->in.n && !next_is(p, 1, ']');
    if (range) {
        p->at++;
        if (!parse_unit(p, &unit))
            return false;
        class_add_range(p, *previous, unit, true);
        *previous = 0;
        return true;
    }
    if (next_is(p, 0, '[') && next_is(p, 1, ':')) {
        bool plain;
        *previous = 0;
        if (!parse_posix(p, &plain))
            return false;
        if (!plain)
            return true;
    }
    if (!parse_unit(p, &unit))
        return false;
    class_add_range(p, unit, unit, false);
    *previous = unit;
    return true;
}

bool wild_class_parse(struct wild_class_parser *p)
{
    uint32_t previous = 0;
    p->class->first_range = (uint32_t)p->n_ranges;
    p->at++;
    if (next_is(p, 0, '!') || next_is(p, 0, '^')) {
        p->class->negated = true;
        p->at++;
    }
    /* A ']' in first position is a member. */
    do {
        if (!parse_member(p, &previous))
            return false;
    } while (!next_is(p, 0, ']'));
    p->at++;
    return true;
}

bool wild_class_has(const struct wild_class *class, const struct wild_range *ranges, uint32_t unit)
{
    bool found = unit < WILD_LOW && (class->low[unit / 64] >> (unit % 64) & 1);
    for (uint32_t i = 0; !found && unit >= WILD_LOW && i < class->n_ranges; i++) {
        const struct wild_range *range = &ranges[class->first_range + i];
        found = unit >= range->first && unit <= range->last;
    }
    return found != class->negated;
}
