/* Screen snapshots: one pass over the cells. A row's text is one string; cells are slices of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/snapshot.h"

#include "base/utf8.h"

enum {
    ROW_BYTES_MAX = TERM_COLS_MAX * 32 * UTF8_MAX + 64,
    FIRST_SLOTS = 64, /* a power of two */
};

/* Links by number, so that each URI is copied only once. */
struct link_slot {
    uint32_t link; /* 0: free */
    struct str text;
};

struct snapshot_links {
    struct link_slot *slots;
    size_t n, n_slots;
};

static struct link_slot *link_find(const struct snapshot_links *l, uint32_t link)
{
    size_t at = link * UINT32_C(2654435769) & (l->n_slots - 1);
    while (l->slots[at].link && l->slots[at].link != link)
        at = (at + 1) & (l->n_slots - 1);
    return &l->slots[at];
}

static void links_grow(struct snapshot_links *l)
{
    struct snapshot_links old = *l;
    l->n_slots = old.n_slots ? 2 * old.n_slots : FIRST_SLOTS;
    l->slots = base_alloc(l->n_slots * sizeof(*l->slots));
    memset(l->slots, 0, l->n_slots * sizeof(*l->slots));
    for (size_t i = 0; i < old.n_slots; i++)
        if (old.slots[i].link)
            *link_find(l, old.slots[i].link) = old.slots[i];
    free(old.slots);
}

static struct str link_text(
    struct snapshot_links *l, const struct term *t, struct arena *a, uint32_t link)
{
    if (!link)
        return (struct str){0};
    if (2 * l->n >= l->n_slots)
        links_grow(l);
    struct link_slot *slot = link_find(l, link);
    if (!slot->link) {
        struct str text = term_link(t, link);
        *slot = (struct link_slot){link, text.p ? arena_str(a, text) : text};
        l->n++;
    }
    return slot->text;
}

static size_t add_cell_text(struct buf *row, const struct term_cell *cell)
{
    size_t start = row->n;
    if (cell->width == 0)
        return 0;
    if (cell->n == 0)
        buf_add_byte(row, ' ');
    for (unsigned i = 0; i < cell->n; i++) {
        char bytes[UTF8_MAX];
        buf_add(row, bytes, utf8_write(cell->codepoints[i], bytes));
    }
    return row->n - start;
}

/* Fast path for pure ASCII rows without cells: the most common case. */
static bool take_plain(const struct term *t, struct arena *a, unsigned row, struct snapshot *s)
{
    char bytes[TERM_COLS_MAX];
    size_t n = term_row_ascii(t, (int)row, bytes);
    if (n == SIZE_MAX)
        return false;
    s->lines[row] = arena_str(a, str_trim_end(str_n(bytes, n), ' '));
    return true;
}

/* Takes a row. Cell texts are lengths at first, because the row's buffer moves while it grows. */
static void snapshot_read_row(const struct term *t, struct arena *a, struct snapshot_links *links,
    struct buf *text, unsigned row, struct snapshot *s)
{
    struct snapshot_cell *cells = s->cells ? s->cells + (size_t)row * s->cols : NULL;
    buf_reset(text);
    for (unsigned col = 0; col < s->cols; col++) {
        struct term_cell cell;
        term_cell(t, (int)row, col, &cell);
        size_t n = add_cell_text(text, &cell);
        if (!cells)
            continue;
        cells[col] = (struct snapshot_cell){
            .text.n = n,
            .link = link_text(links, t, a, cell.style.link),
            .style = cell.style,
            .width = (uint8_t)cell.width,
        };
    }
    BUG_ON(!buf_ok(text));
    struct str whole = buf_str(text);
    whole = arena_str(a, cells ? whole : str_trim_end(whole, ' '));
    s->lines[row] = str_trim_end(whole, ' ');
    const char *at = whole.p;
    for (unsigned col = 0; cells && col < s->cols; col++) {
        cells[col].text.p = at;
        at += cells[col].text.n;
    }
}

void snapshot_take(
    const struct term *t, struct arena *a, unsigned flags, struct snapshot *ret_snapshot)
{
    unsigned rows = term_rows(t), cols = term_cols(t);
    struct snapshot s = {
        .rows = rows,
        .cols = cols,
        .cursor = term_cursor(t),
        .alternate_screen = term_alternate(t),
        .reverse_screen = term_reverse_screen(t),
        .title = arena_str(a, term_title(t)),
        .icon = arena_str(a, term_icon(t)),
        .width = term_width(t),
        .lines = ARENA_NEW(a, struct str, rows),
        .wraps = ARENA_NEW(a, bool, rows),
        .hashes = ARENA_NEW(a, uint64_t, rows),
        .hash = term_hash(t),
    };
    if (flags & SNAPSHOT_CELLS)
        s.cells = ARENA_NEW(a, struct snapshot_cell, (size_t)rows * cols);
    struct snapshot_links links = {0};
    AUTO_BUF struct buf text = BUF_INIT(ROW_BYTES_MAX);
    for (unsigned row = 0; row < rows; row++) {
        if (s.cells || !take_plain(t, a, row, &s))
            snapshot_read_row(t, a, &links, &text, row, &s);
        s.wraps[row] = term_row_wraps(t, (int)row);
        s.hashes[row] = term_row_hash(t, row);
    }
    free(links.slots);
    *ret_snapshot = s;
}

/* Comparison ---------------------------------------------------------------------------------- */

bool snapshot_same_style(const struct snapshot_cell *a, const struct snapshot_cell *b)
{
    const struct style *x = &a->style, *y = &b->style;
    /* Link numbers are local to a terminal: compare the URIs. */
    return x->fg == y->fg && x->bg == y->bg && x->underline == y->underline &&
           x->underline_color == y->underline_color &&
           ((x->attrs ^ y->attrs) & STYLE_VISIBLE) == 0 && !a->link.p == !b->link.p &&
           str_eq(a->link, b->link);
}

static bool snapshot_same_cell(const struct snapshot_cell *a, const struct snapshot_cell *b)
{
    return a->width == b->width && str_eq(a->text, b->text) && snapshot_same_style(a, b);
}

/* Finds the part of a row that differs. Returns false if the rows are equal. Hashes are used only
 * without cells. */
static bool row_differs(const struct snapshot *was, const struct snapshot *is, unsigned row,
    struct snapshot_change *ret_change)
{
    unsigned first = 0, end = is->cols;
    if (!was->cells || !is->cells) {
        if (was->hashes[row] == is->hashes[row])
            return false;
    } else {
        const struct snapshot_cell *x = was->cells + (size_t)row * was->cols;
        const struct snapshot_cell *y = is->cells + (size_t)row * is->cols;
        while (first < end && snapshot_same_cell(&x[first], &y[first]))
            first++;
        while (end > first && snapshot_same_cell(&x[end - 1], &y[end - 1]))
            end--;
        if (first == end)
            return false;
    }
    *ret_change = (struct snapshot_change){row, first, end};
    return true;
}

void snapshot_diff(const struct snapshot *was, const struct snapshot *is, struct arena *a,
    struct snapshot_diff *ret_diff)
{
    unsigned rows = MAX(was->rows, is->rows), cols = MAX(was->cols, is->cols);
    const struct term_cursor *x = &was->cursor, *y = &is->cursor;
    struct snapshot_diff d = {
        .size = was->rows != is->rows || was->cols != is->cols,
        .cursor = x->row != y->row || x->col != y->col || x->visible != y->visible ||
                  x->shape != y->shape,
        .title = !str_eq(was->title, is->title),
        .screen = was->alternate_screen != is->alternate_screen ||
                  was->reverse_screen != is->reverse_screen,
        .rows = ARENA_NEW(a, struct snapshot_change, rows),
    };
    for (unsigned row = 0; row < rows; row++) {
        if (d.size)
            d.rows[d.n_rows++] = (struct snapshot_change){row, 0, cols};
        else if (row_differs(was, is, row, &d.rows[d.n_rows]))
            d.n_rows++;
    }
    *ret_diff = d;
}
