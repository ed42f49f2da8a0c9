/* Approximate search (Sellers): edit distance to the best part of a line. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "run/nearest.h"

#include "base/utf8.h"

enum {
    SHOWN_MAX = 200,
};

size_t nearest_distance(struct str line, struct str text)
{
    size_t cost[NEAREST_TEXT_MAX + 1];
    text = str_head(text, NEAREST_TEXT_MAX);
    for (size_t i = 0; i <= text.n; i++)
        cost[i] = i;
    size_t best = cost[text.n];
    for (size_t at = 0; at < line.n; at++) {
        size_t diagonal = cost[0]; /* a match may begin anywhere, so row 0 stays 0 */
        for (size_t i = 1; i <= text.n; i++) {
            size_t above = cost[i];
            size_t replaced = diagonal + (line.p[at] != text.p[i - 1]);
            cost[i] = MIN(MIN(above, cost[i - 1]) + 1, replaced);
            diagonal = above;
        }
        best = MIN(best, cost[text.n]);
    }
    return best;
}

/* Returns the part before the first line break, cut between characters. */
static struct str nearest_first_line(struct str text)
{
    ptrdiff_t end = str_find(text, '\n');
    text = str_head(text, end < 0 ? text.n : (size_t)end);
    text = str_head(text, NEAREST_TEXT_MAX);
    while (text.n && !utf8_valid(text))
        text.n--;
    return text;
}

void nearest_add(const struct snapshot *screen, struct str text, struct buf *why)
{
    text = nearest_first_line(text);
    size_t best = SIZE_MAX;
    unsigned where = 0;
    for (unsigned row = 0; text.n && row < screen->rows; row++) {
        size_t distance =
            screen->lines[row].n ? nearest_distance(screen->lines[row], text) : SIZE_MAX;
        if (distance < best) {
            best = distance;
            where = row;
        }
    }
    if (best <= text.n / 3 && best != SIZE_MAX)
        buf_printf(why, "; the nearest is line %u: '" STR_FMT "'", where,
            STR_ARG(str_head(screen->lines[where], SHOWN_MAX)));
}
