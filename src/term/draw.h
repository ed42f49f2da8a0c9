/* Renders a screen snapshot as text, escape sequences, HTML and SVG.
 *
 *     snapshot_take(t, &arena, SNAPSHOT_CELLS, &s);
 *     draw_svg(&s, &out);
 *
 * All but draw_text() need the snapshot's cells. The program's output is always rendered as plain
 * text: control characters and bidirectional controls are removed, markup is escaped, and HTML and
 * SVG contain neither scripts nor external resources.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TERM_DRAW_H
#define TERM_DRAW_H

#include "term/snapshot.h"

/* Lines separated by "\n". */
void draw_text(const struct snapshot *s, struct buf *out);

/* Escape sequences that reproduce the screen on a terminal of sufficient width: the program's
 * original colours, links, styles reset at line ends. Rows are separated by "\n". */
void draw_ansi(const struct snapshot *s, struct buf *out);

/* A dark page with selectable text. Only http and https links are clickable. */
void draw_html(const struct snapshot *s, struct buf *out);

/* A drawing with a window frame; columns are exact in every font. */
void draw_svg(const struct snapshot *s, struct buf *out);

#endif
