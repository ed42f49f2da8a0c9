/* The bottom of the normal screen: rows that are redrawn, below rows that stay.
 *
 *     struct live *l = live_new(&(struct live_options){.rows = 24, .cols = 80});
 *     live_frame(l, &finished, &region, &cursor, &out);    prints `finished` for good, above
 *     live_resize(l, 30, 40, &out);                        then a frame with rows of that width
 *     live_close(l, true, &out);
 *     live_free(l);
 *
 * Only what differs is written, as one synchronized update, with moves relative to the cursor: what
 * is above belongs to the terminal, its scrollback, its search. The screen is never cleared, and
 * the alternate one not used. The bytes go to a buffer; whose they are is the caller's to know.
 *
 * At first the cursor must be at the start of an empty row.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TUI_LIVE_H
#define TUI_LIVE_H

#include "tui/text.h"

enum live_colors {
    LIVE_16,
    LIVE_256,
    LIVE_RGB,
    LIVE_NO_COLORS, /* NO_COLOR: attributes stay */
};

struct live_options {
    unsigned rows, cols;
    enum live_colors colors;
    bool plain; /* nothing but lines at the end: for a screen reader, TERM=dumb, or no terminal */
    bool no_links;
    bool no_reflow; /* the terminal cuts long lines when it gets narrower (xterm, the console)
                       instead of wrapping them */
};

struct live_cursor {
    size_t row, col; /* in the region */
    bool visible;
};

struct live;

MUST_USE struct live *live_new(const struct live_options *options);
void live_free(struct live *l); /* accepts NULL */

/* Rows to stay (NULL: none), and the whole region as it is now; of a region that is higher than the
 * screen less one row, the end. Rows that are too wide are wrapped, or in the region cut. */
void live_frame(struct live *l, const struct text *stay, const struct text *region,
    const struct live_cursor *cursor, struct buf *out);

/* The terminal has another size. The region is gone from the screen until the next frame. */
void live_resize(struct live *l, unsigned rows, unsigned cols, struct buf *out);

/* The region goes away, and the cursor is where it began: before a program is run, or a stop. */
void live_clear(struct live *l, struct buf *out);

/* An empty screen, whatever others wrote on it: all that was there goes to the scrollback. */
void live_anew(struct live *l, struct buf *out);

/* The cursor goes below the region, or to where it was, and is to be seen. */
void live_close(struct live *l, bool keep, struct buf *out);

/* How many rows a region may have. */
unsigned live_height(const struct live *l);

#endif
