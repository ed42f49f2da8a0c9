/* Window operations: resize requests and the title stack. Without a real window, its position is
 * only stored to answer queries. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/term_state.h"

static void ask_size(struct term *t, int rows, int cols)
{
    rows = MAX(1, MIN(rows, TERM_ROWS_MAX));
    cols = MAX(1, MIN(cols, TERM_COLS_MAX));
    if (!t->options.may_resize) {
        term_no_answer(t);
        return;
    }
    if (rows != t->rows || cols != t->cols)
        term_resize(t, (unsigned)rows, (unsigned)cols);
    term_tell(t, TERM_EVENT_RESIZE, (struct str){0}, (unsigned)rows << 16 | (unsigned)cols);
}

/* CSI 8 t and CSI 4 t: an omitted number keeps the size, 0 is the maximum. */
static void set_size(struct term *t, int row_unit, int col_unit)
{
    int rows = parser_param_or(&t->parser, 1, -1), cols = parser_param_or(&t->parser, 2, -1);
    rows = rows < 0 ? t->rows : rows == 0 ? SCREEN_ROWS : rows / row_unit;
    cols = cols < 0 ? t->cols : cols == 0 ? SCREEN_COLS : cols / col_unit;
    ask_size(t, rows, cols);
}

/* CSI 9 t, CSI 10 t: maximize and restore. */
static void window_zoom(struct term *t, bool rows, bool cols)
{
    struct window *w = &t->window;
    if (!rows && !cols) {
        if (w->zoom_rows)
            ask_size(t, w->zoom_rows, w->zoom_cols);
        w->zoom_rows = 0;
        return;
    }
    if (!w->zoom_rows) {
        w->zoom_rows = t->rows;
        w->zoom_cols = t->cols;
    }
    ask_size(t, rows ? SCREEN_ROWS : t->rows, cols ? SCREEN_COLS : t->cols);
}

static void push_title(struct term *t)
{
    if (t->n_titles == TITLE_STACK) {
        free(t->titles[0].title);
        free(t->titles[0].icon);
        memmove(t->titles, t->titles + 1, (TITLE_STACK - 1) * sizeof(t->titles[0]));
        t->n_titles--;
    }
    struct title_entry *e = &t->titles[t->n_titles++];
    e->title = base_alloc(t->title.n + 1);
    e->icon = base_alloc(t->icon.n + 1);
    memcpy(e->title, buf_z(&t->title), t->title.n);
    memcpy(e->icon, buf_z(&t->icon), t->icon.n);
}

static void pop_title(struct term *t, int what)
{
    if (t->n_titles == 0)
        return;
    struct title_entry *e = &t->titles[--t->n_titles];
    unsigned modes = t->title_modes;
    t->title_modes = 0; /* titles on the stack are not in hexadecimal */
    title_set(t, what != 1, false, str_z(e->title));
    if (what != 2)
        title_set(t, false, true, str_z(e->icon));
    t->title_modes = modes;
    free(e->title);
    free(e->icon);
}

void titles_drop(struct term *t)
{
    for (unsigned i = 0; i < t->n_titles; i++) {
        free(t->titles[i].title);
        free(t->titles[i].icon);
    }
    t->n_titles = 0;
}

static void report_title(struct term *t, char kind, const struct buf *text)
{
    AUTO_BUF struct buf b = BUF_INIT(2 * TERM_TITLE_MAX + 1);
    if (t->title_modes & 2)
        for (size_t i = 0; i < text->n; i++)
            buf_printf(&b, "%02X", (unsigned char)text->p[i]);
    else
        buf_add_str(&b, buf_str(text));
    t->parser.bell = false;
    reply_osc(t, "%c%s", kind, buf_z(&b));
}

static void window_report(struct term *t, int what)
{
    const struct window *w = &t->window;
    int height = t->rows * CELL_PIXELS_HEIGHT, width = t->cols * CELL_PIXELS_WIDTH;
    switch (what) {
    case 11:
        reply_csi(t, "%dt", w->iconified ? 2 : 1);
        break;
    case 13:
        reply_csi(t, "3;%d;%dt", w->x, w->y);
        break;
    case 14:
        reply_csi(t, "4;%d;%dt", height, width);
        break;
    case 15:
        reply_csi(t, "5;%d;%dt", SCREEN_ROWS * CELL_PIXELS_HEIGHT, SCREEN_COLS * CELL_PIXELS_WIDTH);
        break;
    case 16:
        reply_csi(t, "6;%d;%dt", CELL_PIXELS_HEIGHT, CELL_PIXELS_WIDTH);
        break;
    case 18:
        reply_csi(t, "8;%d;%dt", t->rows, t->cols);
        break;
    case 19:
        reply_csi(t, "9;%d;%dt", SCREEN_ROWS, SCREEN_COLS);
        break;
    case 20:
        report_title(t, 'L', &t->icon);
        break;
    default:
        report_title(t, 'l', &t->title);
        break;
    }
}

void window_lines(struct term *t)
{
    ask_size(t, param(t, 0, 24), t->cols);
}

void window_columns(struct term *t)
{
    ask_size(t, t->rows, param(t, 0, 80));
}

void window_do(struct term *t)
{
    int what = param(t, 0, 0), how = param(t, 1, 0);
    if (what >= 24) {
        ask_size(t, what, t->cols); /* DECSLPP */
        return;
    }
    switch (what) {
    case 1:
    case 2:
        t->window.iconified = what == 2;
        break;
    case 3:
        t->window.x = how;
        t->window.y = param(t, 2, 0);
        break;
    case 4:
        set_size(t, CELL_PIXELS_HEIGHT, CELL_PIXELS_WIDTH);
        break;
    case 5:
    case 6:
    case 7: /* raise, lower, refresh */
        break;
    case 8:
        set_size(t, 1, 1);
        break;
    case 9:
        window_zoom(t, how == 1 || how == 2, how == 1 || how == 3);
        break;
    case 10:
        window_zoom(t, how == 1 || (how == 2 && !t->window.zoom_rows),
            how == 1 || (how == 2 && !t->window.zoom_rows));
        break;
    case 22:
        push_title(t);
        break;
    case 23:
        pop_title(t, how);
        break;
    case 11:
    case 13:
    case 14:
    case 15:
    case 16:
    case 18:
    case 19:
    case 20:
    case 21:
        window_report(t, what);
        break;
    default:
        term_unknown(t);
    }
}
