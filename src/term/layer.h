/* Layer of a screen drawing with everything but the text, as SVG elements in pixels from the upper
 * left corner: backgrounds, box drawing, underlines, cursor. The HTML and SVG renderers draw text
 * on top. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TERM_LAYER_H
#define TERM_LAYER_H

#include "term/look.h"

void layer_draw(const struct snapshot *s, struct buf *out);

/* Whether the layer draws the whole cell, so that it needs no text. */
bool layer_has(const struct snapshot_cell *cell);

enum run_kind {
    RUN_LETTERS, /* characters at their natural width */
    RUN_SHAPES,  /* cells drawn by the layer, or concealed */
    RUN_ONE,     /* a single character, positioned individually */
};

/* Adjacent cells of the same look, link and kind. */
struct run {
    unsigned col, n; /* columns */
    enum run_kind kind;
    bool blank; /* only spaces */
    struct look look;
    struct str link;
};

/* Finds the run that begins in a column. Returns false at the end of the row. */
bool run_next(const struct snapshot *s, unsigned row, unsigned col, struct run *ret_run);

#endif
