/* What a code point is to a terminal: how wide, and whether it joins the one before it (Unicode
 * 15.0, UAX #29). The table is made at build time by tables.py, from files of that version only.
 *
 * A width is of one code point by itself: none for marks (Mn, Me), controls, format characters and
 * the later parts of a Hangul syllable; two for East Asian W and F, assigned or not; one for all
 * else, also for what is ambiguous, private or half a flag. What a cluster of several takes is the
 * caller's to say.
 *
 *     struct grapheme g = GRAPHEME_START;
 *     unsigned class = unicode_class(cp);
 *     if (grapheme_joins(&g, class)) ...            part of the cluster before it
 *     else width = unicode_width(class);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TERM_UNICODE_H
#define TERM_UNICODE_H

#include "base/base.h"

#define UNICODE_VERSION "15.0"

/* Grapheme_Cluster_Break, and Extended_Pictographic as one more value (no code point has both). */
enum unicode_break {
    BREAK_OTHER,
    BREAK_CR,
    BREAK_LF,
    BREAK_CONTROL,
    BREAK_EXTEND,
    BREAK_ZWJ,
    BREAK_REGIONAL,
    BREAK_PREPEND,
    BREAK_SPACING,
    BREAK_L,
    BREAK_V,
    BREAK_T,
    BREAK_LV,
    BREAK_LVT,
    BREAK_PICTOGRAPH,
};

enum {
    UNICODE_BREAK_MASK = 0xF,
    UNICODE_WIDTH_SHIFT = 4, /* two bits: 0, 1 or 2 columns, as wcwidth() has it */
    UNICODE_WIDTH_MASK = 0x3,
    UNICODE_EMOJI_VARIATION = 1 << 6, /* U+FE0F makes it wide, U+FE0E narrow */

    UNICODE_BLOCK_SHIFT = 7,
    UNICODE_BLOCK_SIZE = 1 << UNICODE_BLOCK_SHIFT,
};

/* Two stages: blocks by number, classes within a block. Made by tables.py. */
extern const uint8_t unicode_blocks[];
extern const uint8_t unicode_classes[];

/* Of any number up to 0x10FFFF. */
static inline unsigned unicode_class(uint32_t codepoint)
{
    unsigned block = unicode_blocks[codepoint >> UNICODE_BLOCK_SHIFT];
    return unicode_classes[block * UNICODE_BLOCK_SIZE + (codepoint & (UNICODE_BLOCK_SIZE - 1))];
}

static inline unsigned unicode_width(unsigned class)
{
    return class >> UNICODE_WIDTH_SHIFT & UNICODE_WIDTH_MASK;
}

/* What was before: enough to decide about what comes next. */
struct grapheme {
    uint8_t last;       /* enum unicode_break of the last code point */
    uint8_t pictograph; /* 1: a pictograph and its extensions; 2: and a joiner after that */
    uint8_t regional;   /* an odd number of regional indicators */
    uint8_t started;    /* there was a code point */
};

#define GRAPHEME_START ((struct grapheme){0})

/* Takes the class of the next code point; true if there is no boundary before it. */
bool grapheme_joins(struct grapheme *g, unsigned class);

#endif
