/* The table of `diff --stat`. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "change/gitpatch.h"

#include "repo/gitname.h"

enum {
    NAME_LEAST = 10,
    GRAPH_LEAST = 6,
};

struct stat_table {
    size_t name_width, number_width, graph_width;
    uint64_t most; /* highest number of changed lines in a file */
};

static void stat_add_name(struct buf *text, struct str path, size_t width)
{
    AUTO_BUF struct buf name = BUF_INIT(64 * 1024);
    gitname_add(&name, "", path);
    struct str s = buf_str(&name);
    bool cut = s.n > width;
    buf_printf(text, " %s" STR_FMT "%*s | ", cut ? "..." : "",
        STR_ARG(cut ? str_skip(s, s.n - width + 3) : s), cut ? 0 : (int)(width - s.n), "");
}

static size_t digits_of(uint64_t n)
{
    size_t digits = 1;
    while (n /= 10)
        digits++;
    return digits;
}

static struct stat_table stat_measure(
    const struct delta *d, const struct gitpatch_count *counts, size_t width)
{
    struct stat_table t = {.name_width = NAME_LEAST, .number_width = 1};
    for (size_t i = 0; i < d->n; i++) {
        AUTO_BUF struct buf name = BUF_INIT(64 * 1024);
        gitname_add(&name, "", d->items[i].path);
        t.name_width = MAX(t.name_width, name.n);
        if (counts[i].binary)
            t.number_width = MAX(t.number_width, (size_t)3);
        else
            t.most = MAX(t.most, counts[i].added + counts[i].deleted);
    }
    t.number_width = MAX(t.number_width, digits_of(t.most));
    size_t fixed = t.number_width + 6; /* blanks and the separator */
    size_t room =
        width > fixed + NAME_LEAST + GRAPH_LEAST ? width - fixed : NAME_LEAST + GRAPH_LEAST;
    t.name_width = MIN(t.name_width, room - GRAPH_LEAST);
    t.graph_width = room - t.name_width;
    return t;
}

/* At least one mark unless n is 0. */
static size_t stat_scale(const struct stat_table *t, uint64_t n)
{
    if (t->most <= t->graph_width || n == 0)
        return (size_t)n;
    return 1 + (size_t)((n * (t->graph_width - 2)) / t->most);
}

static void add_marks(struct buf *text, char mark, size_t n)
{
    while (n--)
        buf_add_byte(text, mark);
}

static void stat_add_row(const struct stat_table *t, const struct delta_item *item,
    const struct gitpatch_count *count, struct buf *text)
{
    stat_add_name(text, item->path, t->name_width);
    if (count->binary) {
        buf_printf(text, "%*s %llu -> %llu bytes\n", (int)t->number_width, "Bin",
            (unsigned long long)count->deleted, (unsigned long long)count->added);
        return;
    }
    uint64_t lines = count->added + count->deleted;
    buf_printf(text, "%*llu%s", (int)t->number_width, (unsigned long long)lines, lines ? " " : "");
    add_marks(text, '+', stat_scale(t, count->added));
    add_marks(text, '-', stat_scale(t, count->deleted));
    buf_add_byte(text, '\n');
}

static void stat_add_sum(struct buf *text, uint64_t n, const char *what, char sign)
{
    if (n)
        buf_printf(text, ", %llu %s%s(%c)", (unsigned long long)n, what, n == 1 ? "" : "s", sign);
}

void gitpatch_stat(
    const struct delta *d, const struct gitpatch_count *counts, size_t width, struct buf *text)
{
    struct stat_table t = stat_measure(d, counts, width);
    uint64_t added = 0, deleted = 0;
    size_t files = 0;
    for (size_t i = 0; i < d->n; i++) {
        if (!counts[i].shown)
            continue;
        files++;
        added += counts[i].binary ? 0 : counts[i].added;
        deleted += counts[i].binary ? 0 : counts[i].deleted;
        stat_add_row(&t, &d->items[i], &counts[i], text);
    }
    if (!files)
        return;
    buf_printf(text, " %zu file%s changed", files, files == 1 ? "" : "s");
    stat_add_sum(text, added, "insertion", '+');
    stat_add_sum(text, deleted, "deletion", '-');
    buf_add_byte(text, '\n');
}
