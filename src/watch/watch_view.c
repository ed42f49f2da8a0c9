/* Drawing a running scenario. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/watch_view.h"

enum {
    MIN_COLS = 40,
    MIN_ROWS = 10,
    LIST_MIN = 26, /* minimum columns of the list beside the screen */
    LIST_MAX = 46,
    SCREEN_MIN = 50, /* minimum columns of the screen beside the list, unless it has fewer */
    UNDER_MIN = 4,   /* minimum rows of the list below the screen */
    DETAIL_MAX = 6,
};

/* Styles by meaning, with the sixteen colors of the terminal. */
static const struct style bar = {.attrs = STYLE_INVERSE};
static const struct style dim = {.attrs = STYLE_FAINT};
static const struct style bold = {.attrs = STYLE_BOLD};
#define IN_COLOR(n) ((uint32_t)COLOR_ANSI << 24 | (n))
static const struct style red = {.fg = IN_COLOR(1), .attrs = STYLE_BOLD};
static const struct style green = {.fg = IN_COLOR(2)};
static const struct style yellow = {.fg = IN_COLOR(3), .attrs = STYLE_BOLD};
static const struct style cyan = {.fg = IN_COLOR(6), .attrs = STYLE_BOLD};

static const struct {
    const char *mark;
    const struct style *mark_style, *text;
} looks[] = {
    [WATCH_PENDING] = {"·", &dim, &dim},
    [WATCH_RUNNING] = {"▶", &cyan, &bold},
    [WATCH_PASSED] = {"✓", &green, NULL},
    [WATCH_FAILED] = {"✗", &red, &red},
    [WATCH_ERRORED] = {"!", &red, &red},
    [WATCH_SKIPPED] = {"–", &dim, &dim},
};

struct watch_view_area {
    unsigned row, col, rows, cols;
};

static struct style watch_view_reversed(const struct style *style)
{
    struct style s = style ? *style : (struct style){0};
    s.attrs ^= STYLE_INVERSE;
    s.attrs &= (uint16_t)~STYLE_FAINT;
    return s;
}

/* Text ---------------------------------------------------------------------------------------- */

static void add_duration(struct buf *b, uint64_t ms)
{
    if (ms < 1000)
        buf_printf(b, "%llu ms", (unsigned long long)ms);
    else if (ms < 60 * 1000)
        buf_printf(
            b, "%llu.%llu s", (unsigned long long)ms / 1000, (unsigned long long)ms / 100 % 10);
    else
        buf_printf(
            b, "%llu:%02llu", (unsigned long long)ms / 60000, (unsigned long long)ms / 1000 % 60);
}

/* Summarizes the action of a step. */
static void watch_view_add_action(struct buf *b, const struct action *a)
{
    const json_t *payload = json_object_get(a->json, "payload");
    const json_t *condition = json_object_get(payload, "condition");
    buf_printf(b, "%s ", action_name(a->type));
    if (a->type == ACTION_KEY)
        buf_add_str(b, json_str(json_object_get(payload, "key")));
    else if (a->type == ACTION_TEXT)
        json_add_text(b, str_head(a->text, 200));
    else if (a->type == ACTION_RESIZE)
        buf_printf(b, "%u×%u", a->cols, a->rows);
    else if (a->type == ACTION_WAIT) {
        buf_printf(b, "%s ", condition_name(&a->condition));
        json_add_compact(b, json_object_get(condition, "payload"));
    } else if (payload)
        json_add_compact(b, payload);
}

/* Right-aligned text. */
static void put_right(struct canvas *c, const struct watch_view_area *a, unsigned row,
    struct str text, const struct style *style)
{
    unsigned n = (unsigned)MIN(text.n, (size_t)a->cols);
    canvas_text(c, a->row + row, a->col + a->cols - n, a->col + a->cols, text, style);
}

/* Width of the next word in columns. */
static unsigned word_width(struct str text)
{
    unsigned total = 0, width;
    while (text.n && text.p[0] != ' ') {
        text = str_skip(text, canvas_cluster(text, &width));
        total += MAX(width, 1u);
    }
    return total;
}

/* Puts text on several lines, broken between words, or within a word that is longer than a line.
 * Returns the number of lines; without a canvas it only counts them. */
static unsigned put_wrapped(
    struct canvas *c, const struct watch_view_area *a, struct str text, const struct style *style)
{
    unsigned row = 0, col = 0, width;
    bool begins = true;
    while (text.n) {
        size_t n = canvas_cluster(text, &width);
        unsigned word = begins ? word_width(text) : 0;
        width = MAX(width, 1u);
        if (col + width > a->cols || (col && word <= a->cols && col + word > a->cols)) {
            row++;
            col = 0;
        }
        begins = text.p[0] == ' ';
        if (c && row < a->rows && (col || !begins))
            canvas_put(c, a->row + row, a->col + col, str_head(text, n), width, style);
        if (col || !begins)
            col += width;
        text = str_skip(text, n);
    }
    return row + 1;
}

/* Parts --------------------------------------------------------------------------------------- */

static size_t watch_view_count(const struct watch_state *s, enum watch_mark mark)
{
    size_t n = 0;
    for (size_t i = 0; i < s->scenario->n_steps; i++)
        n += s->steps[i].mark == mark;
    return n;
}

static void watch_view_draw_title(const struct watch_state *s, struct canvas *c)
{
    unsigned cols = canvas_cols(c);
    const struct watch_view_area line = {.rows = 1, .cols = cols - 1};
    AUTO_BUF struct buf right = BUF_INIT(256);
    size_t n = s->scenario->n_steps;
    canvas_fill(c, 0, 0, cols, &bar);
    if (s->over)
        buf_printf(&right, "%s  ", exec_status_name(s->status));
    buf_printf(&right, "%zu/%zu  ",
        s->over ? watch_view_count(s, WATCH_PASSED) : MIN(s->current + 1, n), n);
    add_duration(&right, s->now_ms - s->started_ms);
    struct style name = bar;
    name.attrs |= STYLE_BOLD;
    unsigned end = cols > right.n + 2 ? cols - (unsigned)right.n - 2 : 0;
    unsigned col = canvas_text(c, 0, 1, end, STR("cordon "), &name);
    canvas_text(c, 0, col + 1, end, str_z(s->name), &bar);
    put_right(c, &line, 0, buf_str(&right), &bar);
}

static void watch_view_draw_help(const struct watch_state *s, struct canvas *c, struct str note)
{
    unsigned row = canvas_rows(c) - 1, cols = canvas_cols(c);
    struct str keys =
        s->over ? STR(" q or Enter: quit   ↑ ↓: steps") : STR(" q: cancel   ↑ ↓: steps");
    unsigned col = canvas_text(c, row, 0, cols, keys, &dim);
    if (col + 3 + note.n >= cols)
        note = str_head(note, str_find(note, ':') < 0 ? 0 : (size_t)str_find(note, ':'));
    if (note.n && col + 1 + note.n < cols)
        canvas_text(c, row, cols - (unsigned)note.n - 1, cols, note, &yellow);
}

static void watch_view_draw_step(const struct watch_state *s, struct canvas *c,
    const struct watch_view_area *a, unsigned row, size_t index)
{
    const struct watch_step *step = &s->steps[index];
    bool here = index == s->current;
    AUTO_BUF struct buf time = BUF_INIT(64);
    struct style text = here ? watch_view_reversed(looks[step->mark].text) : (struct style){0};
    struct style mark =
        here ? watch_view_reversed(looks[step->mark].mark_style) : *looks[step->mark].mark_style;
    if (!here && looks[step->mark].text)
        text = *looks[step->mark].text;
    if (step->mark == WATCH_RUNNING)
        add_duration(&time, s->now_ms - step->started_ms);
    else if (step->mark != WATCH_PENDING && step->mark != WATCH_SKIPPED)
        add_duration(&time, step->duration_ms);
    unsigned end = a->col + a->cols - (unsigned)time.n - (time.n ? 2 : 1);
    canvas_fill(c, a->row + row, a->col, a->col + a->cols, here ? &text : NULL);
    canvas_put(c, a->row + row, a->col + 1, str_z(looks[step->mark].mark), 1, &mark);
    canvas_text(c, a->row + row, a->col + 3, end, s->scenario->steps[index].name, &text);
    struct style faint = here ? text : dim;
    const struct watch_view_area inner = {a->row, a->col, a->rows, a->cols - 1};
    put_right(c, &inner, row, buf_str(&time), &faint);
}

/* Below the list: the action of the step, or the error. */
static unsigned watch_view_draw_detail(
    const struct watch_state *s, struct canvas *c, const struct watch_view_area *a)
{
    AUTO_BUF struct buf text = BUF_INIT(4096);
    const struct style *style = s->error[0] ? &red : &dim;
    if (s->error[0])
        buf_add_z(&text, s->error);
    else if (!s->over && s->current < s->scenario->n_steps)
        watch_view_add_action(&text, &s->scenario->steps[s->current].action);
    if (text.n == 0 || a->rows < UNDER_MIN)
        return 0;
    struct watch_view_area at = {a->row, a->col + 1, 0, a->cols - 2};
    unsigned rows = MIN(put_wrapped(NULL, &at, buf_str(&text), style), a->rows / 2);
    rows = MIN(rows, (unsigned)DETAIL_MAX);
    at.rows = rows;
    at.row = a->row + a->rows - rows;
    put_wrapped(c, &at, buf_str(&text), style);
    for (unsigned col = 0; col < a->cols; col++)
        canvas_put(c, at.row - 1, a->col + col, STR("─"), 1, &dim);
    return rows + 1;
}

static void watch_view_draw_list(
    struct watch_state *s, struct canvas *c, const struct watch_view_area *a)
{
    size_t n = s->scenario->n_steps;
    unsigned rows = a->rows - watch_view_draw_detail(s, c, a);
    s->list_rows = rows;
    size_t most = n > rows ? n - rows : 0;
    if (!s->moved) /* center the current step */
        s->top = s->current > rows / 2 ? s->current - rows / 2 : 0;
    s->top = MIN(s->top, most);
    for (unsigned row = 0; row < rows && s->top + row < n; row++)
        watch_view_draw_step(s, c, a, row, s->top + row);
}

/* First row or column to show, so that the cursor is visible. */
static unsigned watch_view_scroll_to(unsigned size, unsigned room, unsigned cursor)
{
    if (size <= room)
        return 0;
    unsigned first = cursor >= room ? cursor - room + 1 : 0;
    return MIN(first, size - room);
}

static void watch_view_draw_screen(const struct watch_state *s, struct canvas *c,
    const struct watch_view_area *a, struct buf *note)
{
    const struct term *t = s->term;
    struct term_cursor cursor = term_cursor(t);
    unsigned rows = term_rows(t), cols = term_cols(t);
    struct canvas_part part = {a->row, a->col, MIN(rows, a->rows), MIN(cols, a->cols),
        watch_view_scroll_to(rows, a->rows, cursor.row),
        watch_view_scroll_to(cols, a->cols, cursor.col)};
    canvas_show(c, t, &part);
    for (unsigned row = 0; row < a->rows && cols < a->cols; row++) /* its border */
        if (row < rows)
            canvas_put(c, a->row + row, a->col + cols, STR("│"), 1, &dim);
    for (unsigned col = 0; rows < a->rows && col < MIN(cols, a->cols); col++)
        canvas_put(c, a->row + rows, a->col + col, STR("─"), 1, &dim);
    if (rows < a->rows && cols < a->cols)
        canvas_put(c, a->row + rows, a->col + cols, STR("┘"), 1, &dim);
    if (part.rows < rows || part.cols < cols)
        buf_printf(note, "cropped: %u-%u of %u columns, %u-%u of %u rows", part.from_col + 1,
            part.from_col + part.cols, cols, part.from_row + 1, part.from_row + part.rows, rows);
    const struct canvas_cursor at = {cursor.visible && !s->over,
        a->row + cursor.row - part.from_row, a->col + cursor.col - part.from_col, cursor.shape};
    if (cursor.row >= part.from_row && cursor.col >= part.from_col)
        canvas_set_cursor(c, &at);
}

/* Layout -------------------------------------------------------------------------------------- */

static void watch_view_draw_beside(struct watch_state *s, struct canvas *c,
    const struct watch_view_area *room, unsigned list, struct buf *note)
{
    const struct watch_view_area steps = {room->row, 0, room->rows, list};
    const struct watch_view_area screen = {room->row, list + 1, room->rows, room->cols - list - 1};
    watch_view_draw_list(s, c, &steps);
    for (unsigned row = 0; row < room->rows; row++)
        canvas_put(c, room->row + row, list, STR("│"), 1, &dim);
    watch_view_draw_screen(s, c, &screen, note);
}

static void watch_view_draw_under(
    struct watch_state *s, struct canvas *c, const struct watch_view_area *room, struct buf *note)
{
    unsigned want = term_rows(s->term) + 1;
    unsigned list = room->rows > want + UNDER_MIN ? room->rows - want : UNDER_MIN;
    if (room->rows < 2 * UNDER_MIN + 4)
        list = 1; /* only the current step */
    const struct watch_view_area screen = {room->row, 0, room->rows - list - 1, room->cols};
    const struct watch_view_area steps = {room->row + room->rows - list, 0, list, room->cols};
    watch_view_draw_screen(s, c, &screen, note);
    for (unsigned col = 0; col < room->cols; col++)
        canvas_put(c, steps.row - 1, col, STR("─"), 1, &dim);
    watch_view_draw_list(s, c, &steps);
}

void watch_view_draw(struct watch_state *s, struct canvas *c)
{
    const struct watch_view_area room = {1, 0, canvas_rows(c) - 2, canvas_cols(c)};
    AUTO_BUF struct buf note = BUF_INIT(256);
    canvas_clear(c);
    if (canvas_rows(c) < MIN_ROWS || canvas_cols(c) < MIN_COLS) {
        canvas_text(c, 0, 0, canvas_cols(c), STR("terminal too small: at least 40×10"), NULL);
        return;
    }
    unsigned width = term_cols(s->term);
    unsigned list = room.cols > width + 2 + LIST_MIN ? room.cols - width - 2 : LIST_MIN;
    list = MIN(list, (unsigned)LIST_MAX);
    if (room.cols >= list + 1 + MIN(width, (unsigned)SCREEN_MIN))
        watch_view_draw_beside(s, c, &room, list, &note);
    else
        watch_view_draw_under(s, c, &room, &note);
    watch_view_draw_title(s, c);
    watch_view_draw_help(s, c, buf_str(&note));
}
