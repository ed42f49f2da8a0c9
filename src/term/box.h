/* Lines and blocks as shapes: fonts leave gaps between the cells, shapes do not. U+2500 to 259F,
 * and the four triangles of prompts (U+E0B0 to E0B3).
 *
 *     struct box_paths p = {.crisp = &crisp, .smooth = &smooth};
 *     if (box_known(codepoint)) box_add(codepoint, x, y, &p);
 *
 * What is added is the data of a filled SVG path.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TERM_BOX_H
#define TERM_BOX_H

#include "base/buf.h"

struct box_paths {
    struct buf *crisp;  /* upright edges, to be drawn on whole pixels */
    struct buf *smooth; /* curves and slopes */
};

bool box_known(uint32_t codepoint);

/* The cell's left upper corner, in pixels; a cell is as large as look.h says. */
void box_add(uint32_t codepoint, unsigned x, unsigned y, const struct box_paths *paths);

/* How much of the background a shade lets through, in hundredths; 100: it is no shade. */
unsigned box_shade(uint32_t codepoint);

#endif
