/* Grapheme cluster boundaries: rules GB3 to GB13 of UAX #29, Unicode 15.0. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/unicode.h"

#define BIT(name) (1U << BREAK_##name)

enum {
    ENDS = BIT(CR) | BIT(LF) | BIT(CONTROL),
    FOLLOWS = BIT(EXTEND) | BIT(ZWJ) | BIT(SPACING), /* GB9, GB9a: join unless GB4 applies */
    ANYTHING = (1U << (BREAK_PICTOGRAPH + 1)) - 1,

    PICTOGRAPH_BASE = 1,
    PICTOGRAPH_JOINER = 2,
};

/* Classes that join the preceding code point regardless of earlier ones, as a mask. */
static const uint16_t joined[UNICODE_BREAK_MASK + 1] = {
    [BREAK_OTHER] = FOLLOWS,
    [BREAK_CR] = BIT(LF), /* GB3 */
    [BREAK_LF] = 0,       /* GB4 */
    [BREAK_CONTROL] = 0,
    [BREAK_EXTEND] = FOLLOWS,
    [BREAK_ZWJ] = FOLLOWS,
    [BREAK_REGIONAL] = FOLLOWS,
    [BREAK_PREPEND] = ANYTHING & ~ENDS, /* GB9b; GB5 has precedence */
    [BREAK_SPACING] = FOLLOWS,
    [BREAK_L] = FOLLOWS | BIT(L) | BIT(V) | BIT(LV) | BIT(LVT), /* GB6 */
    [BREAK_V] = FOLLOWS | BIT(V) | BIT(T),                      /* GB7 */
    [BREAK_T] = FOLLOWS | BIT(T),                               /* GB8 */
    [BREAK_LV] = FOLLOWS | BIT(V) | BIT(T),
    [BREAK_LVT] = FOLLOWS | BIT(T),
    [BREAK_PICTOGRAPH] = FOLLOWS,
};

static bool unicode_joins(const struct grapheme *g, unsigned next)
{
    if (!g->started)
        return false;
    if (joined[g->last] >> next & 1)
        return true;
    if (next == BREAK_PICTOGRAPH) /* GB11 */
        return g->pictograph == PICTOGRAPH_JOINER;
    return next == BREAK_REGIONAL && g->regional; /* GB12, GB13: flags are pairs */
}

static uint8_t pictograph_after(uint8_t before, unsigned next)
{
    if (next == BREAK_PICTOGRAPH)
        return PICTOGRAPH_BASE;
    if (before != PICTOGRAPH_BASE)
        return 0;
    if (next == BREAK_ZWJ)
        return PICTOGRAPH_JOINER;
    return next == BREAK_EXTEND ? PICTOGRAPH_BASE : 0;
}

bool grapheme_joins(struct grapheme *g, unsigned class)
{
    unsigned next = class & UNICODE_BREAK_MASK;
    bool ret = unicode_joins(g, next);
    *g = (struct grapheme){
        .last = (uint8_t)next,
        .pictograph = pictograph_after(g->pictograph, next),
        .regional = next == BREAK_REGIONAL && !g->regional,
        .started = true,
    };
    return ret;
}
