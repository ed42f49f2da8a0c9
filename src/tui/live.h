/* Live region at the bottom of the main screen: rows that are redrawn, below rows that stay.
 *
 *     struct live_region *l = live_new(&(struct live_options){.rows = 24, .cols = 80});
 *     live_frame(l, &finished, &region, &cursor, &out);    prints `finished` permanently, above
 *     live_resize(l, 30, 40, &out);                        then a frame with rows of that width
 *     live_close(l, true, &out);
 *     live_free(l);
 *
 * Only differences are written, as one synchronized update, with relative cursor movement: the rows
 * above belong to the terminal, its scrollback and its search. The screen is never cleared, and the
 * alternate screen is not used. Output goes to a buffer; the caller writes it.
 *
 * Initially the cursor must be at the start of an empty row.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TUI_LIVE_H
#define TUI_LIVE_H

#include "tui/tui_text.h"

enum live_colors {
    LIVE_16,
    LIVE_256,
    LIVE_RGB,
    LIVE_NO_COLORS, /* NO_COLOR: attributes are kept */
};

struct live_options {
    unsigned rows, cols;
    enum live_colors colors;
    bool plain; /* only append lines: for screen readers, TERM=dumb, or output to a file */
    bool no_links;
    bool no_reflow; /* the terminal truncates long lines when it becomes narrower (xterm, Linux
                       console) instead of rewrapping them */
};

struct live_cursor {
    size_t row, col; /* in the region */
    bool visible;
};

struct live_region;

MUST_USE struct live_region *live_new(const struct live_options *options);
void live_free(struct live_region *l); /* accepts NULL */

/* Draws a frame: rows that stay (NULL: none), and the whole current region. If the region is too
 * high (live_height()), its end is shown. Rows that are too wide are wrapped; in the region,
 * truncated. */
void live_frame(struct live_region *l, const struct text *stay, const struct text *region,
    const struct live_cursor *cursor, struct buf *out);

/* Handles a new terminal size. Removes the region until the next frame. */
void live_resize(struct live_region *l, unsigned rows, unsigned cols, struct buf *out);

/* Removes the region and puts the cursor at its start: before running a program or suspending. */
void live_clear(struct live_region *l, struct buf *out);

/* Scrolls the whole screen into the scrollback, including other programs' output. */
void live_scroll_screen(struct live_region *l, struct buf *out);

/* Moves the cursor below the region if `keep`, otherwise removes the region; shows the cursor. */
void live_close(struct live_region *l, bool keep, struct buf *out);

/* Maximum number of rows of the region. */
unsigned live_height(const struct live_region *l);

#endif
