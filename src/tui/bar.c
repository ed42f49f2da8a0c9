/* A one-row bar of items. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/bar.h"

void bar_add(struct bar *bar, unsigned weight, enum theme look, struct str text)
{
    if (text.n && bar->n < BAR_PIECES)
        bar->pieces[bar->n++] = (struct bar_piece){weight, look, text};
}

static size_t width_of(struct str text)
{
    AUTO_TEXT struct text one = TEXT_INIT;
    text_add(&one, text, NULL);
    text_end(&one);
    return one.lines[0].width;
}

static size_t bar_lightest(const struct bar *bar)
{
    size_t found = 0;
    for (size_t i = 1; i < bar->n; i++)
        if (bar->pieces[i].weight < bar->pieces[found].weight)
            found = i;
    return found;
}

static struct bar bar_fit(const struct bar *bar, unsigned width)
{
    struct bar left = *bar;
    size_t total = 0;
    for (size_t i = 0; i < left.n; i++)
        total += width_of(left.pieces[i].text) + (i ? (size_t)BAR_GAP : 0);
    while (total > width && left.n > 1) {
        size_t gone = bar_lightest(&left);
        total -= width_of(left.pieces[gone].text) + BAR_GAP;
        left.n--;
        memmove(
            &left.pieces[gone], &left.pieces[gone + 1], (left.n - gone) * sizeof(left.pieces[0]));
    }
    return left;
}

void bar_put(const struct bar *bar, unsigned width, struct text *out)
{
    AUTO_TEXT struct text row = TEXT_INIT;
    struct bar left = bar_fit(bar, width);
    for (size_t i = 0; i < left.n; i++) {
        text_spaces(&row, i ? BAR_GAP : 0, &theme[left.pieces[i].look]);
        text_add(&row, left.pieces[i].text, &theme[left.pieces[i].look]);
    }
    text_end(&row);
    text_cut(out, &row, 0, 0, width);
    text_end(out);
}
