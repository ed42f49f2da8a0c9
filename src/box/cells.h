/* Rows of a screen on their way to a client: text and style of each cell, nothing else. The client
 * takes them for what they are, somebody's: see tui/canvas.h for what it lets through.
 *
 *     cells_put(term, row, &bytes);                      row below 0: the scrollback
 *     cells_draw(bytes, canvas, &place);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_CELLS_H
#define BOX_CELLS_H

#include "tui/canvas.h"

/* Cells beyond `cols` are left out. */
void cells_put(const struct term *t, int row, unsigned cols, struct buf *out);

struct cells_place {
    unsigned row, col;  /* where it begins on the canvas */
    unsigned from, end; /* which columns of the row are shown */
};

/* False if the bytes are not a row: an unknown bit, width, colour or underline, a text that is too
 * long or cut. The cells before it may be drawn. The rest of the row is blank. */
bool cells_draw(struct str bytes, struct canvas *canvas, const struct cells_place *place);

#endif
