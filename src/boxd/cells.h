/* Serialized screen rows sent to a client: text and style of each cell, nothing else. The client
 * treats them as untrusted: see tui/canvas.h for the characters it accepts.
 *
 *     cells_put(term, row, cols, &bytes);                row below 0: the scrollback
 *     cells_draw(bytes, canvas, &place);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOXD_CELLS_H
#define BOXD_CELLS_H

#include "tui/canvas.h"

/* Omits cells beyond `cols`. */
void cells_put(const struct term *t, int row, unsigned cols, struct buf *out);

struct cells_place {
    unsigned row, col;  /* top left position on the canvas */
    unsigned from, end; /* range of columns shown */
};

/* Returns false if the bytes are not a valid row: an unknown bit, width, colour or underline, a
 * text that is too long or truncated. The cells before the error may have been drawn. The rest of
 * the row stays blank. */
bool cells_draw(struct str bytes, struct canvas *canvas, const struct cells_place *place);

#endif
