/* Hunks of a unified diff. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/linediff.h"

struct hunk {
    size_t old_from, old_to, new_from, new_to;
};

/* The next differing lines at or after these positions; returns false at the end. */
static bool next_change(const struct linediff *l, size_t i, size_t j, struct hunk *ret_change)
{
    while (i < l->old.n && j < l->new.n && !l->old.changed[i] && !l->new.changed[j]) {
        i++;
        j++;
    }
    struct hunk h = {i, i, j, j};
    while (h.old_to < l->old.n && l->old.changed[h.old_to])
        h.old_to++;
    while (h.new_to < l->new.n && l->new.changed[h.new_to])
        h.new_to++;
    *ret_change = h;
    return h.old_to > i || h.new_to > j;
}

static void hunk_add_line(struct buf *text, char mark, struct str line)
{
    buf_add_byte(text, mark);
    buf_add_str(text, line);
    if (line.p[line.n - 1] != '\n')
        buf_add_z(text, "\n\\ No newline at end of file\n");
}

static void hunk_add_range(struct buf *text, char mark, size_t from, size_t to)
{
    size_t n = to - from;
    buf_printf(text, "%c%zu", mark, n ? from + 1 : from);
    if (n != 1)
        buf_printf(text, ",%zu", n);
}

static void add_hunk(
    const struct linediff *l, struct hunk h, struct buf *text, struct linediff_count *count)
{
    size_t i = h.old_from, j = h.new_from;
    buf_add_z(text, "@@ ");
    hunk_add_range(text, '-', h.old_from, h.old_to);
    buf_add_byte(text, ' ');
    hunk_add_range(text, '+', h.new_from, h.new_to);
    buf_add_z(text, " @@\n");
    while (i < h.old_to || j < h.new_to) {
        if (i < h.old_to && l->old.changed[i]) {
            hunk_add_line(text, '-', l->old.lines[i++]);
            count->deleted++;
        } else if (j < h.new_to && l->new.changed[j]) {
            hunk_add_line(text, '+', l->new.lines[j++]);
            count->added++;
        } else {
            hunk_add_line(text, ' ', l->old.lines[i++]);
            j++;
        }
    }
}

void linediff_add_hunks(const struct linediff *l, struct buf *text, struct linediff_count *count)
{
    struct hunk h, next;
    bool more = next_change(l, 0, 0, &h);
    while (more) {
        size_t before = MIN((size_t)LINEDIFF_CONTEXT, MIN(h.old_from, h.new_from));
        h.old_from -= before;
        h.new_from -= before;
        while ((more = next_change(l, h.old_to, h.new_to, &next)) &&
               next.old_from - h.old_to <= (size_t)2 * LINEDIFF_CONTEXT) {
            h.old_to = next.old_to;
            h.new_to = next.new_to;
        }
        size_t after = MIN((size_t)LINEDIFF_CONTEXT, l->old.n - h.old_to);
        h.old_to += after;
        h.new_to += after;
        add_hunk(l, h, text, count);
        h = next;
    }
}
