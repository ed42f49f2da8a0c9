/* A one-row bar of items, such as a status line. If they do not fit, the least important ones are
 * dropped first.
 *
 *     struct bar bar = {0};
 *     bar_add(&bar, 9, THEME_DIM, STR("main"));
 *     bar_put(&bar, 80, &rows);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TUI_BAR_H
#define TUI_BAR_H

#include "tui/theme.h"
#include "tui/tui_text.h"

enum {
    BAR_PIECES = 16,
    BAR_GAP = 2, /* columns between items */
};

struct bar_piece {
    unsigned weight; /* items with a higher weight are kept longer */
    enum theme look;
    struct str text; /* borrowed until bar_put() */
};

struct bar {
    struct bar_piece pieces[BAR_PIECES];
    size_t n;
};

/* Ignores empty text, and items beyond BAR_PIECES. */
void bar_add(struct bar *bar, unsigned weight, enum theme look, struct str text);

/* Adds the row, at most `width` columns wide. If only one item is left, it is truncated. */
void bar_put(const struct bar *bar, unsigned width, struct text *out);

#endif
