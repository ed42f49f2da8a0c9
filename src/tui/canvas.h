/* Grid of styled cells to draw on. Only differences from the previous frame are written to the
 * terminal.
 *
 *     struct canvas *c = canvas_new(24, 80);
 *     canvas_clear(c);
 *     canvas_text(c, 0, 0, 80, STR("hello"), &style);
 *     canvas_write(c, &bytes);                  escape sequences and characters, or nothing
 *
 * Any text is safe: a cell contains one grapheme cluster of the given width, without control
 * characters or bidirectional controls.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TUI_CANVAS_H
#define TUI_CANVAS_H

#include "base/buf.h"
#include "term/cells.h"

enum {
    CANVAS_SIZE_MAX = CELLS_COLS_MAX, /* rows and columns */
    CANVAS_TEXT = CELLS_TEXT_MAX,     /* bytes per cluster; longer ones are truncated */
};

struct canvas_cell {
    struct style style;
    uint8_t width; /* 1, 2, or 0 for the right half of a wide character */
    uint8_t n;
    char text[CANVAS_TEXT]; /* n bytes, zero-padded: cells are compared with memcmp() */
};

struct canvas_cursor {
    bool visible;
    unsigned row, col;
    unsigned shape; /* 0 block, 1 underline, 2 bar */
};

struct canvas;

MUST_USE struct canvas *canvas_new(unsigned rows, unsigned cols);
void canvas_free(struct canvas *c); /* accepts NULL */

/* Disables colours; attributes are kept. */
void canvas_set_plain(struct canvas *c, bool plain);

/* canvas_resize() clears the canvas. Both make the next frame redraw the whole screen. */
void canvas_resize(struct canvas *c, unsigned rows, unsigned cols);
void canvas_forget(struct canvas *c);
unsigned canvas_rows(const struct canvas *c);
unsigned canvas_cols(const struct canvas *c);

void canvas_clear(struct canvas *c);

/* Puts one cluster. It is replaced if it is invalid, not of this width, or does not fit. */
void canvas_put(struct canvas *c, unsigned row, unsigned col, struct str text, unsigned width,
    const struct style *style);

/* Puts text up to the column `end`, with an ellipsis if it is longer. Returns the column after
 * it. */
unsigned canvas_text(struct canvas *c, unsigned row, unsigned col, unsigned end, struct str text,
    const struct style *style);

/* Fills with blanks up to the column `end`. */
void canvas_fill(
    struct canvas *c, unsigned row, unsigned col, unsigned end, const struct style *style);

void canvas_set_cursor(struct canvas *c, const struct canvas_cursor *cursor);

/* Part of a terminal's screen: `rows` by `cols` cells from from_row and from_col, drawn at row and
 * col. */
struct canvas_part {
    unsigned row, col;
    unsigned rows, cols;
    unsigned from_row, from_col;
};
void canvas_show(struct canvas *c, const struct term *t, const struct canvas_part *part);

struct canvas_place {
    unsigned row, col;  /* top left position on the canvas */
    unsigned from, end; /* range of columns shown */
};

/* Draws a serialized row (term/cells.h). Returns false if the bytes are not a valid row; the cells
 * before the error may have been drawn. The rest of the row stays blank. */
bool canvas_put_row(struct canvas *c, struct str bytes, const struct canvas_place *place);

/* A cell of the current frame. */
const struct canvas_cell *canvas_cell(const struct canvas *c, unsigned row, unsigned col);

/* Appends the changes since the last frame, as one synchronized update. */
void canvas_write(struct canvas *c, struct buf *out);

/* Length of the first cluster in a text, and its width; 0 for an empty text. */
size_t canvas_cluster(struct str text, unsigned *ret_width);

#endif
