/* A screen to draw on: cells with styles. What is written to the terminal is what has changed
 * since the last frame.
 *
 *     struct canvas *c = canvas_new(24, 80);
 *     canvas_clear(c);
 *     canvas_text(c, 0, 0, 80, STR("hello"), &style);
 *     canvas_write(c, &bytes);                  escape sequences and characters, or nothing
 *
 * Whatever text is put on it, nothing but characters comes out: a cell holds one grapheme cluster
 * of the width that it is given, without controls or anything that turns the direction of text.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TUI_CANVAS_H
#define TUI_CANVAS_H

#include "base/buf.h"
#include "term/term.h"

enum {
    CANVAS_SIZE_MAX = 1000, /* rows, and columns */
    CANVAS_TEXT = 42,       /* bytes of a cluster; what is longer is cut */
};

struct canvas_cell {
    struct style style;
    uint8_t width; /* 1, 2; 0 for the right half of a wide one */
    uint8_t n;
    char text[CANVAS_TEXT]; /* n bytes, zeros after them: cells are compared as bytes */
};

struct canvas_cursor {
    bool visible;
    unsigned row, col;
    unsigned shape; /* 0 block, 1 underline, 2 bar */
};

struct canvas;

MUST_USE struct canvas *canvas_new(unsigned rows, unsigned cols);
void canvas_free(struct canvas *c); /* accepts NULL */

/* Without colours: attributes stay. */
void canvas_set_plain(struct canvas *c, bool plain);

/* Blank, and nothing is known of what the terminal shows. */
void canvas_resize(struct canvas *c, unsigned rows, unsigned cols);
void canvas_forget(struct canvas *c);
unsigned canvas_rows(const struct canvas *c);
unsigned canvas_cols(const struct canvas *c);

void canvas_clear(struct canvas *c);

/* One cluster. What is not one, or not so wide, or has no room is replaced. */
void canvas_put(struct canvas *c, unsigned row, unsigned col, struct str text, unsigned width,
    const struct style *style);

/* Text up to the column `end`, with an ellipsis if it is longer; gives the column after it. */
unsigned canvas_text(struct canvas *c, unsigned row, unsigned col, unsigned end, struct str text,
    const struct style *style);

/* Blanks up to the column `end`. */
void canvas_fill(
    struct canvas *c, unsigned row, unsigned col, unsigned end, const struct style *style);

void canvas_set_cursor(struct canvas *c, const struct canvas_cursor *cursor);

/* Part of a terminal's screen: `rows` by `cols` cells from its row and column, at a place. */
struct canvas_part {
    unsigned row, col;
    unsigned rows, cols;
    unsigned from_row, from_col;
};
void canvas_show(struct canvas *c, const struct term *t, const struct canvas_part *part);

/* A cell as it was put. */
const struct canvas_cell *canvas_cell(const struct canvas *c, unsigned row, unsigned col);

/* Appends what leads from the last frame to this one, as one synchronized update. */
void canvas_write(struct canvas *c, struct buf *out);

/* The longest start of a text that is one cluster, and how wide it is drawn; 0 at its end. */
size_t canvas_cluster(struct str text, unsigned *ret_width);

#endif
