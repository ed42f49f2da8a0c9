/* Box drawing and block characters as shapes, because fonts leave gaps between cells: U+2500 to
 * 259F, and the four prompt triangles (U+E0B0 to E0B3).
 *
 *     struct box_paths p = {.crisp = &crisp, .smooth = &smooth};
 *     if (box_known(codepoint)) box_add(codepoint, x, y, &p);
 *
 * box_add() appends data of filled SVG paths.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TERM_TERM_BOX_H
#define TERM_TERM_BOX_H

#include "base/buf.h"

struct box_paths {
    struct buf *crisp;  /* horizontal and vertical edges, aligned to pixels */
    struct buf *smooth; /* curves and diagonals */
};

bool box_known(uint32_t codepoint);

/* x and y are the cell's upper left corner in pixels; the cell size is in look.h. */
void box_add(uint32_t codepoint, unsigned x, unsigned y, const struct box_paths *paths);

/* Percentage of the foreground colour in a shade character; 100 for all other characters. */
unsigned box_shade(uint32_t codepoint);

#endif
