/* Serialized screen rows, as the supervisor of a box sends them to its clients: text and style of
 * each cell, nothing else. The reader treats them as untrusted: see tui/canvas.h for the characters
 * that can be drawn.
 *
 *     cells_put(term, row, cols, &bytes);                row below 0: the scrollback
 *     struct cells_reader r = {.rest = bytes};
 *     while (r.rest.n && cells_next(&r, &item)) … item.col, item.text …
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TERM_CELLS_H
#define TERM_CELLS_H

#include "base/buf.h"
#include "term/term.h"

enum {
    CELLS_TEXT_MAX = 42,   /* bytes per cell; longer clusters are truncated */
    CELLS_COLS_MAX = 1000, /* columns of a row */
};

/* Omits cells beyond `cols`. */
void cells_put(const struct term *t, int row, unsigned cols, struct buf *out);

struct cells_reader {
    struct str rest;
    struct style pen;
    unsigned col;
    bool bad;
};

struct cells_item {
    unsigned col, width; /* width 1 or 2 */
    struct style style;
    struct str text; /* points into the bytes; empty: blank */
};

/* Reads the next cell. Returns false and sets `bad` if the bytes are not valid: an unknown bit,
 * width, colour or underline, a text that is too long or truncated. */
bool cells_next(struct cells_reader *r, struct cells_item *ret_item);

#endif
