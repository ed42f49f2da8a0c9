/* Everything of a screen but its letters, as SVG elements in pixels from its left upper corner:
 * backgrounds, lines and blocks, underlines, the cursor. Page and drawing put their text over it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TERM_LAYER_H
#define TERM_LAYER_H

#include "term/look.h"

void layer_draw(const struct snapshot *s, struct buf *out);

/* Whether the layer draws the whole cell, so that it needs no letter. */
bool layer_has(const struct snapshot_cell *cell);

enum run_kind {
    RUN_LETTERS, /* characters at their natural width */
    RUN_SHAPES,  /* cells that the layer draws, or that must not be shown */
    RUN_ONE,     /* one character with a place of its own */
};

/* Cells of one look, link and kind. */
struct run {
    unsigned col, n; /* columns */
    enum run_kind kind;
    bool blank; /* nothing but spaces */
    struct look look;
    struct str link;
};

/* The run that begins in a column; false at the row's end. */
bool run_next(const struct snapshot *s, unsigned row, unsigned col, struct run *ret_run);

#endif
