/* Formats a diff for display. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/diffview.h"

#include "tui/theme.h"

/* One file of a diff. */
struct diffview_part {
    struct str name, from; /* from: source of a rename or copy; null otherwise */
    bool copied, new, deleted;
    struct str note; /* change of file mode */
    struct str hunks;
};

static bool starts_file(struct str line)
{
    return str_starts_with(line, STR("diff --git "));
}

/* "a/NAME b/NAME": both names are the same, except for renames, which have their own lines. */
static struct str diffview_name(struct str line)
{
    struct str names = str_skip(line, strlen("diff --git a/"));
    return names.n < 3 ? names : str_head(names, (names.n - 3) / 2);
}

static void read_head_line(struct diffview_part *p, struct str line)
{
    static const struct {
        const char *words;
        size_t to;
    } rows[] = {
        {"rename to ", offsetof(struct diffview_part, name)},
        {"copy to ", offsetof(struct diffview_part, name)},
        {"rename from ", offsetof(struct diffview_part, from)},
        {"copy from ", offsetof(struct diffview_part, from)},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (str_starts_with(line, str_z(rows[i].words)))
            *(struct str *)((char *)p + rows[i].to) = str_skip(line, strlen(rows[i].words));
    p->copied |= str_starts_with(line, STR("copy from "));
    p->new |= str_starts_with(line, STR("new file"));
    p->deleted |= str_starts_with(line, STR("deleted file"));
    if (str_ends_with(line, STR(" executable")))
        p->note = line;
}

/* Parses the next file. Returns false at the end. */
static bool next_part(struct str *diff, struct diffview_part *ret_part)
{
    struct str line, rest = *diff;
    struct diffview_part p = {0};
    if (rest.n == 0)
        return false;
    (void)str_cut(rest, '\n', &line, &rest);
    if (starts_file(line))
        p.name = diffview_name(line);
    else
        rest = *diff;
    for (struct str more = rest; p.name.p && more.n && more.p[0] != '@' && !starts_file(more);) {
        (void)str_cut(more, '\n', &line, &more);
        read_head_line(&p, line);
        rest = more;
    }
    p.hunks = rest;
    while (rest.n && !starts_file(rest))
        (void)str_cut(rest, '\n', &line, &rest);
    p.hunks.n -= rest.n;
    *diff = rest;
    *ret_part = p;
    return true;
}

static void count_part(const struct diffview_part *p, struct diffview_count *n)
{
    struct str line, rest = p->hunks;
    n->files++;
    while (rest.n && str_cut(rest, '\n', &line, &rest)) {
        n->lines++;
        n->added += str_starts_with(line, STR("+"));
        n->removed += str_starts_with(line, STR("-"));
    }
}

struct diffview_count diffview_count(struct str diff)
{
    struct diffview_count n = {0};
    struct diffview_part p;
    while (next_part(&diff, &p))
        count_part(&p, &n);
    return n;
}

static void diffview_put_heading(
    const struct diffview_part *p, const struct diffview *how, struct text *out)
{
    AUTO_TEXT struct text row = TEXT_INIT, indent = TEXT_INIT;
    struct diffview_count n = {0};
    char words[48];
    count_part(p, &n);
    text_add(&row, p->name, &theme[THEME_STRONG]);
    snprintf(words, sizeof(words), "  +%zu", n.added);
    if (n.added)
        text_add_z(&row, words, &theme[THEME_ADDED]);
    snprintf(words, sizeof(words), "  -%zu", n.removed);
    if (n.removed)
        text_add_z(&row, words, &theme[THEME_REMOVED]);
    text_add_z(&row, p->new ? "  new" : p->deleted ? "  deleted" : "", &theme[THEME_DIM]);
    if (p->from.p) {
        text_add_z(&row, p->copied ? "  a copy of " : "  was ", &theme[THEME_DIM]);
        text_add(&row, p->from, &theme[THEME_DIM]);
    }
    if (p->note.p) {
        text_add_z(&row, "  ", NULL);
        text_add(&row, p->note, &theme[THEME_DIM]);
    }
    if (p->hunks.n == 0 && !p->note.p && !p->from.p && !p->new && !p->deleted)
        text_add_z(&row, "  no line changes", &theme[THEME_DIM]);
    text_end(&row);
    text_spaces(&indent, 2, NULL);
    text_end(&indent);
    text_wrap(out, &row, 0, &(struct text_wrap){.width = how->width, .prefix = &indent});
}

static enum theme diffview_look_of(struct str line)
{
    switch (line.n ? line.p[0] : ' ') {
    case '+':
        return THEME_ADDED;
    case '-':
        return THEME_REMOVED;
    case '@':
        return THEME_HUNK;
    case '\\':
        return THEME_DIM;
    default:
        return THEME_TEXT;
    }
}

static void diffview_put_line(
    struct str line, enum theme look, const struct diffview *how, struct text *out)
{
    AUTO_TEXT struct text row = TEXT_INIT, prefix = TEXT_INIT;
    text_add(&prefix, STR("  │ "), &theme[THEME_DIM]);
    text_end(&prefix);
    text_add(&row, line, &theme[look]);
    text_end(&row);
    text_wrap(
        out, &row, 0, &(struct text_wrap){.width = how->width, .letters = true, .prefix = &prefix});
}

/* The hunk header of a new file is not useful. */
static bool is_needless(const struct diffview_part *p, struct str line)
{
    return p->new &&diffview_look_of(line) == THEME_HUNK;
}

void diffview_put(struct str diff, const struct diffview *how, struct text *out)
{
    struct diffview_part p;
    size_t left = how->lines ? how->lines : SIZE_MAX, more = 0;
    char words[64];
    while (next_part(&diff, &p)) {
        struct str line, rest = p.hunks;
        if (how->headings && left && p.name.p)
            diffview_put_heading(&p, how, out);
        while (rest.n && str_cut(rest, '\n', &line, &rest)) {
            if (is_needless(&p, line))
                continue;
            if (left) {
                diffview_put_line(line, diffview_look_of(line), how, out);
                left--;
            } else {
                more++;
            }
        }
    }
    snprintf(words, sizeof(words), "… %zu more line%s", more, more == 1 ? "" : "s");
    if (more)
        diffview_put_line(str_z(words), THEME_DIM, how, out);
}
