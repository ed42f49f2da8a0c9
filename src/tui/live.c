/* Live region: writes the difference between two frames, relative to the cursor. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/live.h"

#include "term/restyle.h"
#include "tui/live_cells.h"

enum {
    SHIFT_MAX = 8, /* rows */
};

struct live_region {
    struct live_options options;
    struct text shown; /* the region's rows on the terminal; none: one empty row */
    size_t row, col;   /* cursor position in it */
    bool hidden;       /* the cursor is hidden */
};

/* State of the terminal while a frame is written. */
struct live_writer {
    const struct live_region *l;
    struct buf *out;
    size_t rows; /* existing rows; a line break after the last creates more */
    size_t row, col;
    bool placed; /* the column is known */
    bool moved;  /* by more than one column */
    struct style pen;
    struct str uri;
};

static const struct style no_style = {0};

/* Begin and end of a synchronized update. */
#define BEGIN "\033[?2026h"
#define END   "\033[?2026l"

/* Movement ------------------------------------------------------------------------------------ */

static void live_set_link(struct live_writer *h, struct str uri)
{
    if (str_eq(h->uri, uri))
        return;
    buf_printf(h->out, "\033]8;;" STR_FMT "\033\\", (int)uri.n, uri.n ? uri.p : "");
    h->uri = uri;
}

static void pen_down(struct live_writer *h)
{
    restyle(&h->pen, &no_style, h->out);
    live_set_link(h, STR(""));
}

static void live_next_row(struct live_writer *h)
{
    buf_add_z(h->out, "\r\n");
    h->col = 0;
    h->placed = h->moved = true;
}

/* Rows that do not exist yet are created by line breaks after the last one. */
static void go_row(struct live_writer *h, size_t row)
{
    size_t last = h->rows - 1, there = MIN(row, last);
    if (row < h->row)
        buf_printf(h->out, h->row - row > 1 ? "\033[%zuA" : "\033[A", h->row - row);
    else if (there == h->row + 1)
        live_next_row(h);
    else if (there > h->row)
        buf_printf(h->out, "\033[%zuB", there - h->row);
    for (; h->rows <= row; h->rows++)
        live_next_row(h);
    h->moved |= h->row != row;
    h->row = row;
}

static void go_col(struct live_writer *h, size_t col)
{
    if (h->placed && h->col == col)
        return;
    bool back = h->placed && h->col == col + 1;
    if (back)
        buf_add_z(h->out, "\b");
    else if (col == 0)
        buf_add_z(h->out, "\r");
    else
        buf_printf(h->out, "\033[%zuG", col + 1);
    h->moved |= !back;
    h->col = col;
    h->placed = true;
}

/* Rows ---------------------------------------------------------------------------------------- */

static void live_put_cell(struct live_writer *h, const struct cell *c)
{
    bool steady = text_steady(c->text, c->width);
    if (!steady)
        h->placed = false; /* position explicitly, so that it does not join the previous cell */
    go_col(h, c->col);
    live_set_link(h, c->uri);
    restyle(&h->pen, &c->style, h->out);
    buf_add_str(h->out, c->text);
    h->col += c->width;
    h->placed = steady && h->col < h->l->options.cols;
}

/* Writes from the first cell that differs to the last one; to the end of the row if the width has
 * changed. */
static void live_put_row(struct live_writer *h, size_t row, const struct text *from, size_t line,
    const struct text *old, size_t old_line)
{
    struct cells now = live_cells(&h->l->options, from, line),
                 was = live_cells(&h->l->options, old, old_line);
    size_t first = 0, end = now.n, was_end = was.n;
    while (first < now.n && first < was.n && live_cell_same(&now.p[first], &was.p[first]))
        first++;
    while (now.width == was.width && end > first && was_end > first &&
           live_cell_same(&now.p[end - 1], &was.p[was_end - 1])) {
        end--;
        was_end--;
    }
    if (first < end || now.width < was.width)
        go_row(h, row);
    for (size_t i = first; i < end; i++)
        live_put_cell(h, &now.p[i]);
    pen_down(h);
    if (now.width < was.width) {
        go_col(h, now.width);
        buf_add_z(h->out, "\033[K");
    }
    free(now.p);
    free(was.p);
}

/* Frames -------------------------------------------------------------------------------------- */

/* Collects the rows of a frame: rows that stay, then the region. The cursor's row is padded up to
 * the cursor, so that a terminal that rewraps it moves the cursor with it. */
static size_t live_collect_rows(const struct live_region *l, const struct text *stay,
    const struct text *region, struct live_cursor *cursor, struct text *out)
{
    size_t height = live_height(l), skip = region->n > height ? region->n - height : 0;
    for (size_t i = 0; stay && i < stay->n; i++)
        text_wrap(out, stay, i, &(struct text_wrap){.width = l->options.cols, .letters = true});
    size_t stays = out->n;
    cursor->row = cursor->row > skip ? MIN(cursor->row, region->n) - skip : 0;
    cursor->row = MIN(cursor->row, region->n > skip ? region->n - skip - 1 : 0);
    cursor->col = MIN(cursor->col, l->options.cols - 1);
    for (size_t i = skip; i < region->n; i++) {
        text_cut(out, region, i, 0, l->options.cols);
        size_t width = out->open.width;
        if (i - skip == cursor->row && width <= cursor->col)
            text_spaces(out, cursor->col + 1 - width, NULL);
        text_end(out);
    }
    if (out->n == stays)
        text_end(out); /* at least one row, for the cursor */
    return stays;
}

static void live_start_frame(struct live_region *l, struct live_writer *h, struct buf *out)
{
    *h = (struct live_writer){.l = l,
        .out = out,
        .rows = MAX(l->shown.n, (size_t)1),
        .row = l->row,
        .col = l->col,
        .placed = true,
        .uri = STR("")};
    buf_add_z(out, BEGIN);
}

/* Drops an empty frame. A frame that only writes at the cursor, as for most keys, cannot be seen
 * half drawn and needs no synchronized update. */
static void live_finish_frame(struct live_writer *h, size_t start)
{
    size_t marks = strlen(BEGIN);
    if (h->out->n < start + marks)
        return; /* buffer overflow */
    size_t n = h->out->n - start - marks;
    char *frame = h->out->p + start;
    if (n && h->moved) {
        buf_add_z(h->out, END);
        return;
    }
    memmove(frame, frame + marks, n);
    buf_truncate(h->out, start + n);
}

/* Rows that the terminal itself can move, so that they need not be rewritten. */
struct live_shift {
    size_t up;    /* rows that scrolled out at the top */
    size_t below; /* rows at the end already in place */
};

/* Returns the row on the terminal to compare row i with; SIZE_MAX: an empty one. */
static size_t was_at(
    const struct live_region *l, const struct live_shift *s, const struct text *rows, size_t i)
{
    if (i + s->below >= rows->n)
        return i + l->shown.n - rows->n;
    return i + s->up + s->below < l->shown.n ? i + s->up : SIZE_MAX;
}

/* Number of rows at the end of both that are similar. */
static size_t alike_below(const struct live_region *l, const struct text *rows)
{
    size_t n = 0, most = MIN(rows->n, l->shown.n);
    while (n < most &&
           live_cells_alike(&l->options, rows, rows->n - 1 - n, &l->shown, l->shown.n - 1 - n))
        n++;
    return n;
}

static void move_rows(struct live_writer *h, size_t row, size_t n, char what)
{
    go_row(h, row);
    if (n > 1)
        buf_printf(h->out, "\033[%zu%c", n, what);
    else
        buf_printf(h->out, "\033[%c", what);
    h->placed = false; /* some terminals move to the first column, others do not */
}

/* If the region grows above similar rows, moves these down; only if no row that is still to be
 * written scrolls out. */
static struct live_shift push_down(
    struct live_writer *h, const struct live_region *l, const struct text *rows)
{
    struct live_shift s = {.below = alike_below(l, rows)};
    if (rows->n > l->options.rows || s.below == 0)
        return (struct live_shift){0};
    go_row(h, rows->n - 1);
    move_rows(h, l->shown.n - s.below, rows->n - l->shown.n, 'L');
    return s;
}

/* Number of rows by which most of the frame moved up, or 0. */
static size_t moved_up(const struct live_region *l, const struct text *rows, size_t top)
{
    for (size_t up = 1; up <= SHIFT_MAX && up < top; up++) {
        size_t same = 0;
        while (same + up < top && live_cells_same(&l->options, rows, same, &l->shown, same + up))
            same++;
        if (2 * same >= top)
            return up;
    }
    return 0;
}

/* If the region has its maximum height and its first rows are dropped, moves the others up. The
 * region is then never at the top of the screen, where some terminals would save deleted rows in
 * the scrollback. */
static struct live_shift push_up(
    struct live_writer *h, const struct live_region *l, const struct text *rows)
{
    struct live_shift s = {.below = alike_below(l, rows)};
    size_t top = rows->n - s.below;
    if (rows->n < live_height(l) || live_cells_same(&l->options, rows, 0, &l->shown, 0) ||
        (s.up = moved_up(l, rows, top)) == 0)
        return (struct live_shift){0};
    move_rows(h, 0, s.up, 'M');
    move_rows(h, top - s.up, s.up, 'L');
    return s;
}

static void put_frame(struct live_region *l, struct live_writer *h, const struct text *rows)
{
    struct live_shift s = {0};
    if (rows->n > l->shown.n)
        s = push_down(h, l, rows);
    else if (rows->n == l->shown.n)
        s = push_up(h, l, rows);
    for (size_t i = 0; i < rows->n; i++) {
        if (i >= h->rows)
            go_row(h, i);
        live_put_row(h, i, rows, i, &l->shown, was_at(l, &s, rows, i));
    }
    if (rows->n < h->rows) {
        go_row(h, rows->n);
        go_col(h, 0);
        buf_add_z(h->out, "\033[J");
    }
}

static void live_put_cursor(
    struct live_region *l, struct live_writer *h, size_t row, const struct live_cursor *cursor)
{
    go_row(h, row);
    go_col(h, cursor->col);
    if (cursor->visible == l->hidden)
        buf_add_z(h->out, cursor->visible ? "\033[?25h" : "\033[?25l");
    l->hidden = !cursor->visible;
}

/* Plain mode: appends lines without escape sequences. The terminal is not in raw mode. */
static void put_plain(const struct text *stay, struct buf *out)
{
    for (size_t i = 0; stay && i < stay->n; i++) {
        for (size_t k = 0; k < stay->lines[i].n; k++)
            buf_add_str(out, text_bytes(stay, text_spans(stay, i) + k));
        buf_add_byte(out, '\n');
    }
}

void live_frame(struct live_region *l, const struct text *stay, const struct text *region,
    const struct live_cursor *cursor, struct buf *out)
{
    AUTO_TEXT struct text rows = TEXT_INIT;
    struct live_cursor at = *cursor;
    struct live_writer h;
    if (l->options.plain) {
        put_plain(stay, out);
        return;
    }
    size_t stays = live_collect_rows(l, stay, region, &at, &rows);
    size_t start = out->n;
    live_start_frame(l, &h, out);
    put_frame(l, &h, &rows);
    live_put_cursor(l, &h, stays + at.row, &at);
    live_finish_frame(&h, start);
    text_reset(&l->shown);
    for (size_t i = stays; i < rows.n; i++)
        text_copy(&l->shown, &rows, i);
    l->row = at.row;
    l->col = at.col;
}

/* Resizing ------------------------------------------------------------------------------------ */

/* Number of rows a row occupies after rewrapping to a width, up to a column. */
static size_t wrapped_rows(const struct live_region *l, size_t line, size_t cols, size_t up_to)
{
    struct cells cells = live_cells(&l->options, &l->shown, line);
    size_t rows = 1, col = 0;
    for (size_t i = 0; i < cells.n && cells.p[i].col <= up_to; i++) {
        if (col + cells.p[i].width > cols) {
            rows++;
            col = 0;
        }
        col += cells.p[i].width;
    }
    free(cells.p);
    return rows;
}

/* Erases row by row: at the top of the screen, tmux treats "erase below" as clearing the screen and
 * saves it in the scrollback. */
static void live_erase_rows(struct live_region *l, size_t up, size_t rows, struct buf *out)
{
    if (up)
        buf_printf(out, "\033[%zuA", up);
    buf_add_z(out, "\r\0337");
    for (size_t i = 0; i < rows; i++)
        buf_add_z(out, i ? "\033[B\033[K" : "\033[K");
    buf_add_z(out, "\0338");
    text_reset(&l->shown);
    l->row = l->col = 0;
}

void live_resize(struct live_region *l, unsigned rows, unsigned cols, struct buf *out)
{
    size_t up = l->row, all = l->shown.n;
    rows = MAX(rows, 1u);
    cols = MAX(cols, 1u);
    if (!l->options.no_reflow && cols < l->options.cols && l->shown.n) {
        up = wrapped_rows(l, l->row, cols, l->col) - 1;
        all = 0;
        for (size_t i = 0; i < l->shown.n; i++) {
            size_t n = wrapped_rows(l, i, cols, SIZE_MAX);
            up += i < l->row ? n : 0;
            all += n;
        }
    }
    l->options.rows = rows;
    l->options.cols = cols;
    if (!l->options.plain && l->shown.n)
        live_erase_rows(l, MIN(up, rows - 1), MIN(all, rows), out);
}

void live_clear(struct live_region *l, struct buf *out)
{
    if (!l->options.plain && l->shown.n)
        live_erase_rows(l, l->row, l->shown.n, out);
}

void live_scroll_screen(struct live_region *l, struct buf *out)
{
    if (l->options.plain)
        return;
    live_clear(l, out);
    buf_printf(out, "\033[%uH", l->options.rows);
    for (unsigned i = 0; i < l->options.rows; i++)
        buf_add_byte(out, '\n');
    buf_add_z(out, "\033[H");
}

void live_close(struct live_region *l, bool keep, struct buf *out)
{
    struct live_writer h;
    if (l->options.plain)
        return;
    if (keep && l->shown.n) {
        live_start_frame(l, &h, out);
        go_row(&h, l->shown.n);
        buf_add_z(out, END);
        text_reset(&l->shown);
        l->row = l->col = 0;
    } else {
        live_clear(l, out);
    }
    if (l->hidden)
        buf_add_z(out, "\033[?25h");
    l->hidden = false;
}

/* Creation ------------------------------------------------------------------------------------ */

struct live_region *live_new(const struct live_options *options)
{
    struct live_region *l = base_alloc(sizeof(*l));
    *l = (struct live_region){.options = *options, .shown = TEXT_INIT};
    l->options.rows = MAX(options->rows, 1u);
    l->options.cols = MAX(options->cols, 1u);
    return l;
}

void live_free(struct live_region *l)
{
    if (!l)
        return;
    text_done(&l->shown);
    free(l);
}

unsigned live_height(const struct live_region *l)
{
    return MAX(1u, l->options.rows - 1);
}
