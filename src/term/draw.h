/* Pictures of a screen: the same snapshot as text, escape sequences, a page and a drawing.
 *
 *     snapshot_take(t, &arena, SNAPSHOT_CELLS, &s);
 *     draw_svg(&s, &out);
 *
 * All but draw_text() need the snapshot's cells. Whatever a program printed is only ever text in
 * them: controls and characters that turn the direction of text are left out, markup is escaped,
 * and page and drawing have neither scripts nor anything from elsewhere.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TERM_DRAW_H
#define TERM_DRAW_H

#include "term/snapshot.h"

/* Lines with "\n" between them. */
void draw_text(const struct snapshot *s, struct buf *out);

/* Printed on a terminal that is wide enough, it looks the same: colours as the program named them,
 * styles reset at line ends, links. "\n" between the rows. */
void draw_ansi(const struct snapshot *s, struct buf *out);

/* One page, dark, whose text can be selected. Only links to http and https can be followed. */
void draw_html(const struct snapshot *s, struct buf *out);

/* One drawing with a window around it; columns are exact in every font. */
void draw_svg(const struct snapshot *s, struct buf *out);

#endif
