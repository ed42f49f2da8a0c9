/* Appearance of a cell for drawing: colours as 0xRRGGBB, with inverse, faint and the cursor
 * applied. Also the text of cells, made safe for markup. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TERM_LOOK_H
#define TERM_LOOK_H

#include "term/snapshot.h"

/* The theme. */
enum {
    LOOK_FG = 0xD6DCE8,
    LOOK_BG = 0x14161C,
    LOOK_CURSOR = 0xE8EBF2,
    LOOK_BAR = 0x1E2129,    /* title bar */
    LOOK_BORDER = 0x343946, /* window border */
    LOOK_TITLE = 0x9AA3B5,
};

/* Sizes in pixels. Odd sizes have a middle pixel, so that lines are sharp. */
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
    bool hidden; /* concealed: do not show the text */
    bool cursor; /* the block cursor is on this cell */
};

/* Colour n of the 256-colour palette. */
uint32_t look_palette(unsigned n);

/* Mixes part percent of b into a. */
uint32_t look_mix(uint32_t a, uint32_t b, unsigned part);

/* The cell must not be the right half of a wide character. */
struct look look_of(const struct snapshot *s, unsigned row, unsigned col);

/* Column and width of the drawn cursor. Returns false if it is not visible. */
bool look_cursor(const struct snapshot *s, unsigned *ret_col, unsigned *ret_width);

bool look_same(const struct look *a, const struct look *b);

static inline const struct snapshot_cell *look_cell(
    const struct snapshot *s, unsigned row, unsigned col)
{
    return &s->cells[(size_t)row * s->cols + col];
}

/* The cell's code point; 0 if it has several. */
uint32_t look_codepoint(const struct snapshot_cell *cell);

/* Whether every monospace font has the character at the right width, so that it can be part of a
 * run. */
bool look_plain(const struct snapshot_cell *cell);

/* Whether a character is allowed in a picture. */
bool look_drawable(uint32_t codepoint);

/* Append text without the characters that are not drawable; look_add_markup() also escapes & < > "
 * '. */
void look_add_text(struct buf *out, struct str text);
void look_add_markup(struct buf *out, struct str text);

#endif
