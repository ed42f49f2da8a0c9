/* One row of pieces, such as a status line: what does not fit goes, the least important first.
 *
 *     struct bar bar = {0};
 *     bar_add(&bar, 9, THEME_DIM, STR("main"));
 *     bar_put(&bar, 80, &rows);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TUI_BAR_H
#define TUI_BAR_H

#include "tui/text.h"
#include "tui/theme.h"

enum {
    BAR_PIECES = 16,
    BAR_GAP = 2, /* columns between two */
};

struct bar_piece {
    unsigned weight; /* the heavier it is, the longer it stays */
    enum theme look;
    struct str text; /* borrowed until bar_put() */
};

struct bar {
    struct bar_piece pieces[BAR_PIECES];
    size_t n;
};

/* Nothing is no piece. What would be one too many is left out. */
void bar_add(struct bar *bar, unsigned weight, enum theme look, struct str text);

/* The row, at most so wide; a last piece that is too wide itself is cut. */
void bar_put(const struct bar *bar, unsigned width, struct text *out);

#endif
