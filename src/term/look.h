/* How a cell looks when it is drawn: colours as numbers 0xRRGGBB, reversal, faintness and the
 * cursor already worked in. And the text of cells, made safe for markup. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TERM_LOOK_H
#define TERM_LOOK_H

#include "term/snapshot.h"

/* The theme. */
enum {
    LOOK_FG = 0xD6DCE8,
    LOOK_BG = 0x14161C,
    LOOK_CURSOR = 0xE8EBF2,
    LOOK_BAR = 0x1E2129,    /* the window's title bar */
    LOOK_BORDER = 0x343946, /* its edge */
    LOOK_TITLE = 0x9AA3B5,
};

/* Sizes, in pixels. Odd ones have a middle pixel, so that lines are sharp. */
enum {
    LOOK_CELL_WIDTH = 9,
    LOOK_CELL_HEIGHT = 19,
    LOOK_FONT_SIZE = 15,
    LOOK_BASELINE = 14,
};

#define LOOK_FONTS                                                                               \
    "ui-monospace,'SF Mono','JetBrains Mono','Cascadia Mono',Menlo,Consolas,'DejaVu Sans Mono'," \
    "'Liberation Mono',monospace"

struct look {
    uint32_t fg, bg, underline_color;
    bool bold, italic, blink, strike, overline;
    uint8_t underline;
    bool hidden; /* concealed: the text must not be shown */
    bool cursor; /* a block cursor stands on it */
};

/* The colour of a number of the 256. */
uint32_t look_palette(unsigned n);

/* a with part/100 of b. */
uint32_t look_mix(uint32_t a, uint32_t b, unsigned part);

/* The cell must not be the right half of a wide one. */
struct look look_of(const struct snapshot *s, unsigned row, unsigned col);

/* The column where the cursor is drawn, and how wide; false if it is not to be seen. */
bool look_cursor(const struct snapshot *s, unsigned *ret_col, unsigned *ret_width);

bool look_same(const struct look *a, const struct look *b);

static inline const struct snapshot_cell *look_cell(
    const struct snapshot *s, unsigned row, unsigned col)
{
    return &s->cells[(size_t)row * s->cols + col];
}

/* The one code point of a cell; 0 if it has several. */
uint32_t look_codepoint(const struct snapshot_cell *cell);

/* Whether every fixed-width font has it, at its width: what needs no place of its own. */
bool look_plain(const struct snapshot_cell *cell);

/* Whether a character may stand in a picture at all. */
bool look_drawable(uint32_t codepoint);

/* Appends text without what must not be drawn; for markup with & < > " ' escaped. */
void look_add_text(struct buf *out, struct str text);
void look_add_markup(struct buf *out, struct str text);

#endif
