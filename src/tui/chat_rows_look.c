/* Collapsed texts: a bounded list that can be viewed or printed. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/bar.h"
#include "tui/chat_rows_state.h"
#include "tui/diffview.h"

enum {
    LOOK_ROWS_MIN = 3,
};

/* List ---------------------------------------------------------------------------------------- */

static void forget_oldest(struct chat_rows *c)
{
    struct fold *f = &c->folds[0];
    c->folded -= f->n;
    free(f->title);
    free(f->text);
    c->n_folds--;
    memmove(f, f + 1, c->n_folds * sizeof(*f));
    if (c->look.on && c->look.at == 0)
        chat_rows_look_end(c);
    else if (c->look.on)
        c->look.at--;
}

void chat_rows_fold(struct chat_rows *c, struct str title, struct str text, bool diff)
{
    if (text.n > CHAT_ROWS_KEPT)
        text = diff ? str_head(text, CHAT_ROWS_KEPT) : str_skip(text, text.n - CHAT_ROWS_KEPT);
    if (text.n == 0)
        return;
    while (c->n_folds == CHAT_ROWS_FOLDS || (c->n_folds && c->folded + text.n > CHAT_ROWS_FOLDED))
        forget_oldest(c);
    c->folds[c->n_folds++] =
        (struct fold){chat_rows_copy(title), chat_rows_copy(text), text.n, diff, false};
    c->folded += text.n;
}

void chat_rows_folds_done(struct chat_rows *c)
{
    chat_rows_look_end(c);
    while (c->n_folds)
        forget_oldest(c);
}

static void put_fold(const struct chat_rows *c, const struct fold *f, struct text *out)
{
    const struct diffview how = {.width = c->options.width, .headings = true};
    struct str text = str_n(f->text, f->n);
    if (f->diff)
        diffview_put(text, &how, out);
    else
        chat_rows_put_output(c, text, out);
}

bool chat_rows_open(struct chat_rows *c)
{
    size_t i = c->n_folds;
    if (c->look.on)
        i = c->look.at + 1;
    else
        while (i > 0 && c->folds[i - 1].opened)
            i--;
    if (i == 0)
        return false;
    struct fold *f = &c->folds[i - 1];
    chat_rows_look_end(c);
    chat_rows_begin(c, false);
    if (i < c->n_folds) { /* unless it is directly above */
        text_add_z(&c->stay, "◇ ", &theme[THEME_DIM]);
        text_add(&c->stay, str_z(f->title), &theme[THEME_DIM]);
        text_end(&c->stay);
    }
    put_fold(c, f, &c->stay);
    f->opened = true;
    return true;
}

/* Viewer -------------------------------------------------------------------------------------- */

static void make_rows(struct chat_rows *c)
{
    struct chat_rows_style *l = &c->look;
    text_reset(&l->rows);
    if (l->on)
        put_fold(c, &c->folds[l->at], &l->rows);
}

static void show_one(struct chat_rows *c, size_t at)
{
    c->look.on = true;
    c->look.at = at;
    c->look.top = 0;
    make_rows(c);
}

bool chat_rows_look(struct chat_rows *c, int step)
{
    if (c->n_folds == 0)
        return false;
    if (!c->look.on)
        show_one(c, c->n_folds - 1);
    else if (step < 0 && c->look.at > 0)
        show_one(c, c->look.at - 1);
    else if (step > 0 && c->look.at + 1 < c->n_folds)
        show_one(c, c->look.at + 1);
    return true;
}

bool chat_rows_looks(const struct chat_rows *c)
{
    return c->look.on;
}

void chat_rows_look_end(struct chat_rows *c)
{
    c->look.on = false;
    text_done(&c->look.rows);
    c->look.rows = TEXT_INIT;
}

void chat_rows_relook(struct chat_rows *c)
{
    make_rows(c);
}

static size_t chat_rows_page_rows(const struct chat_rows *c)
{
    size_t half = c->options.rows / 2;
    return MAX(half, (size_t)LOOK_ROWS_MIN);
}

void chat_rows_look_scroll(struct chat_rows *c, int pages, int rows)
{
    long by = rows + pages * (long)(chat_rows_page_rows(c) - 1), top = (long)c->look.top + by;
    long last = (long)c->look.rows.n - (long)chat_rows_page_rows(c);
    c->look.top = (size_t)MAX(0L, MIN(top, last));
}

static void put_title(const struct chat_rows *c, struct text *region)
{
    AUTO_TEXT struct text row = TEXT_INIT;
    char which[64];
    snprintf(which, sizeof(which), "◇ %zu of %zu  ", c->look.at + 1, c->n_folds);
    text_add_z(&row, which, &theme[THEME_DIM]);
    text_add(&row, str_z(c->folds[c->look.at].title), &theme[THEME_STRONG]);
    text_end(&row);
    bool cut = row.lines[0].width > c->options.width;
    text_cut(region, &row, 0, 0, c->options.width - cut);
    text_add_z(region, cut ? "…" : "", &theme[THEME_STRONG]);
    text_end(region);
}

static void put_keys(const struct chat_rows *c, struct text *region)
{
    AUTO_TEXT struct text row = TEXT_INIT;
    const struct chat_rows_style *l = &c->look;
    struct bar bar = {0};
    char where[64];
    bool more = l->rows.n > chat_rows_page_rows(c);
    snprintf(where, sizeof(where), "%zu-%zu of %zu", l->top + 1,
        MIN(l->top + chat_rows_page_rows(c), l->rows.n), l->rows.n);
    bar_add(&bar, 2, THEME_DIM, more ? str_z(where) : STR(""));
    bar_add(&bar, 3, THEME_DIM, more ? STR("↑↓ scroll") : STR(""));
    bar_add(&bar, 4, THEME_DIM, c->n_folds > 1 ? STR("←→ others") : STR(""));
    bar_add(&bar, 1, THEME_DIM, STR("Enter prints it"));
    bar_add(&bar, 5, THEME_DIM, STR("Escape closes"));
    bar_put(&bar, MAX(c->options.width, 3u) - 2, &row);
    text_spaces(region, 2, NULL);
    text_append(region, &row, 0);
    text_end(region);
}

void chat_rows_put_look(struct chat_rows *c, struct text *region)
{
    struct chat_rows_style *l = &c->look;
    if (!l->on)
        return;
    chat_rows_look_scroll(c, 0, 0);
    text_end(region);
    put_title(c, region);
    for (size_t i = l->top; i < l->rows.n && i < l->top + chat_rows_page_rows(c); i++)
        text_copy(region, &l->rows, i);
    put_keys(c, region);
}
