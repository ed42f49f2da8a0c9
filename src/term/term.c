/* The terminal's public interface: creation, input, inspection. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/term.h"

#include "base/fnv.h"
#include "term/term_state.h"

/* Events -------------------------------------------------------------------------------------- */

void term_tell(struct term *t, enum term_event_type type, struct str text, unsigned value)
{
    const struct term_event event = {type, text, value};
    if (t->until >> type & 1)
        parser_stop(&t->parser);
    if (t->options.event)
        t->options.event(t->options.context, &event);
}

/* Sequences are of the same kind if they differ only in their numbers. */
static bool same_kind(const struct term_unknown *u, struct str raw)
{
    size_t i = 0, j = 0;
    for (;;) {
        while (i < u->n && ((u->text[i] >= '0' && u->text[i] <= '9') || u->text[i] == ';'))
            i++;
        while (j < raw.n && ((raw.p[j] >= '0' && raw.p[j] <= '9') || raw.p[j] == ';'))
            j++;
        if (i == u->n || j == raw.n)
            return i == u->n && j == raw.n;
        if (u->text[i++] != raw.p[j++])
            return false;
    }
}

/* Returns true for the first sequence of its kind. */
static bool term_count_unknown(struct unknown_list *l, struct str raw)
{
    raw = str_head(raw, TERM_UNKNOWN_TEXT);
    for (size_t i = 0; i < l->n; i++)
        if (same_kind(&l->list[i], raw)) {
            l->list[i].count++;
            return false;
        }
    if (l->n == TERM_UNKNOWN_KINDS)
        return false;
    if (!l->list)
        l->list = base_alloc(TERM_UNKNOWN_KINDS * sizeof(*l->list));
    struct term_unknown *u = &l->list[l->n++];
    *u = (struct term_unknown){.n = (unsigned)raw.n, .count = 1};
    if (raw.n)
        memcpy(u->text, raw.p, raw.n);
    return true;
}

void term_unknown(struct term *t)
{
    uint8_t raw[PARSER_RAW];
    struct str text = parser_raw(&t->parser, raw);
    if (term_count_unknown(&t->unknown, text))
        term_tell(t, TERM_EVENT_UNKNOWN, text, 0);
}

void term_no_answer(struct term *t)
{
    uint8_t raw[PARSER_RAW];
    struct str text = parser_raw(&t->parser, raw);
    if (term_count_unknown(&t->unanswered, text))
        term_tell(t, TERM_EVENT_UNANSWERED, text, 0);
}

static void term_on_invalid(void *context)
{
    struct term *t = context;
    if (t->n_utf8)
        text_flush(t);
    t->joinable = false;
    term_unknown(t);
}

/* Creation ------------------------------------------------------------------------------------ */

static const struct parser_ops ops = {
    .ascii = text_ascii,
    .text = text_utf8,
    .control = control,
    .escape = esc_dispatch,
    .csi = csi_dispatch,
    .string = string_dispatch,
    .invalid = term_on_invalid,
};

static unsigned term_clamp_size(unsigned value, unsigned max)
{
    return value < 1 ? 1 : MIN(value, max);
}

/* Resets everything that RIS does except the cells. */
static void reset_state(struct term *t)
{
    screen_use(t, false, false);
    t->pen = (struct style){0};
    t->charsets = (struct charsets){0};
    t->level = LEVEL_MAX;
    t->c1_replies = t->guards = false;
    t->extent = 0;
    t->cursor_style = t->checksum = t->title_modes = 0;
    t->modify_other = t->format_other = 0;
    t->n_sgr = 0;
    t->joinable = false;
    t->window = (struct window){0};
    for (int i = 0; i < 2; i++) {
        t->screens[i].saved = (struct saved_cursor){0};
        t->screens[i].kitty.n = 0;
    }
    titles_drop(t);
    for (; t->n_colors; t->n_colors--)
        free(t->color_stack[t->n_colors - 1]);
    palette_reset(&t->palette);
    modes_reset(t, false);
    margins_reset(t);
    tabs_reset(t);
    pen_changed(t);
    cursor_set(t, 0, 0);
}

/* RIS. Keeps the scrollback: it belongs to the user. */
void term_reset(struct term *t)
{
    if (mode_is(t, MODE_COLUMNS_132))
        mode_set(t, 3, true, false);
    if (mode_is(t, MODE_SYNC))
        mode_set(t, 2026, true, false); /* reports the end of the update */
    reset_state(t);
    for (int i = 0; i < 2; i++) {
        struct grid *g = &t->screens[i].grid;
        for (int y = 0; y < g->rows; y++)
            row_clear(grid_row(g, y), g->cols, 0);
    }
    buf_reset(&t->title);
    buf_reset(&t->icon);
}

struct term *term_new(const struct term_options *options)
{
    struct term *t = base_alloc(sizeof(*t));
    t->options = *options;
    t->rows = (int)term_clamp_size(options->rows, TERM_ROWS_MAX);
    t->cols = (int)term_clamp_size(options->cols, TERM_COLS_MAX);
    grid_init(&t->screens[0].grid, t->rows, t->cols,
        (int)MIN(options->scrollback, (unsigned)TERM_SCROLLBACK_MAX));
    grid_init(&t->screens[1].grid, t->rows, t->cols, 0);
    parser_init(&t->parser, &ops, t);
    style_table_init(&t->styles);
    cluster_table_init(&t->clusters);
    link_table_init(&t->links);
    t->title = t->icon = BUF_INIT(TERM_TITLE_MAX + 1);
    t->replies = BUF_INIT(TERM_REPLIES_MAX + 1);
    reset_state(t);
    return t;
}

void term_free(struct term *t)
{
    if (!t)
        return;
    for (int i = 0; i < 2; i++)
        grid_done(&t->screens[i].grid);
    parser_done(&t->parser);
    style_table_done(&t->styles);
    cluster_table_done(&t->clusters);
    link_table_done(&t->links);
    titles_drop(t);
    for (unsigned i = 0; i < t->n_colors; i++)
        free(t->color_stack[i]);
    buf_done(&t->title);
    buf_done(&t->icon);
    buf_done(&t->replies);
    free(t->unknown.list);
    free(t->unanswered.list);
    free(t);
}

/* Input --------------------------------------------------------------------------------------- */

size_t term_feed_until(struct term *t, struct str bytes, unsigned types)
{
    t->until = types;
    size_t n = bytes.n ? parser_feed(&t->parser, (const uint8_t *)bytes.p, bytes.n) : 0;
    t->until = 0;
    return n;
}

void term_feed(struct term *t, struct str bytes)
{
    (void)term_feed_until(t, bytes, 0);
}

void term_feed_end(struct term *t)
{
    text_flush(t);
}

void term_resize(struct term *t, unsigned rows, unsigned cols)
{
    rows = term_clamp_size(rows, TERM_ROWS_MAX);
    cols = term_clamp_size(cols, TERM_COLS_MAX);
    if ((int)rows != t->rows || (int)cols != t->cols)
        screen_resize(t, (int)rows, (int)cols);
    if (mode_is(t, MODE_RESIZE_REPORTS))
        reply_csi(t, "48;%d;%d;%d;%dt", t->rows, t->cols, t->rows * CELL_PIXELS_HEIGHT,
            t->cols * CELL_PIXELS_WIDTH);
}

struct str term_replies(const struct term *t)
{
    return buf_str(&t->replies);
}

void term_drop_replies(struct term *t, size_t n)
{
    n = MIN(n, t->replies.n);
    if (n == 0)
        return;
    memmove(t->replies.p, t->replies.p + n, t->replies.n - n);
    buf_truncate(&t->replies, t->replies.n - n);
}

/* Inspection ---------------------------------------------------------------------------------- */

unsigned term_rows(const struct term *t)
{
    return (unsigned)t->rows;
}

unsigned term_cols(const struct term *t)
{
    return (unsigned)t->cols;
}

unsigned term_scrollback(const struct term *t)
{
    return (unsigned)t->grid->history;
}

struct term_cursor term_cursor(const struct term *t)
{
    unsigned style = t->cursor_style;
    return (struct term_cursor){
        .row = (unsigned)t->row,
        .col = (unsigned)t->col,
        .visible = mode_is(t, MODE_CURSOR),
        .blink = style == 0 ? mode_is(t, MODE_BLINK) : style % 2 == 1,
        .pending_wrap = t->pending,
        .shape = style < 3   ? 0
                 : style < 5 ? 1
                             : 2,
    };
}

bool term_alternate(const struct term *t)
{
    return t->screen == &t->screens[1];
}

uint64_t term_drawn(const struct term *t)
{
    return t->drawn;
}

bool term_in_frame(const struct term *t)
{
    return mode_is(t, MODE_SYNC);
}

bool term_may_draw(const struct term *t, uint64_t now, uint64_t max_ms, uint64_t *since)
{
    if (!term_in_frame(t))
        *since = 0;
    else if (!*since)
        *since = now;
    return !*since || now - *since >= max_ms;
}

bool term_mid_sequence(const struct term *t)
{
    return !parser_is_ground(&t->parser) || t->n_utf8;
}

enum term_width term_width(const struct term *t)
{
    return mode_is(t, MODE_GRAPHEMES) ? TERM_WIDTH_GRAPHEME : TERM_WIDTH_WCWIDTH;
}

struct str term_title(const struct term *t)
{
    return buf_str(&t->title);
}

struct str term_icon(const struct term *t)
{
    return buf_str(&t->icon);
}

bool term_reverse_screen(const struct term *t)
{
    return mode_is(t, MODE_REVERSE_SCREEN);
}

void term_cell(const struct term *t, int row, unsigned col, struct term_cell *ret_cell)
{
    BUG_ON(row < -t->grid->history || row >= t->rows || col >= (unsigned)t->cols);
    cell c = grid_row(t->grid, row)->cells[col];
    ret_cell->style = t->styles.styles[cell_style(c)];
    ret_cell->style.attrs &= STYLE_VISIBLE;
    ret_cell->width = c & CELL_TAIL ? 0 : c & CELL_WIDE ? 2 : 1;
    ret_cell->n = cell_char(c) && !(c & CELL_TAIL) ? 1 : 0;
    ret_cell->codepoints[0] = cell_char(c);
    if (!(c & CELL_CLUSTER))
        return;
    struct cluster cluster = cluster_get(&t->clusters, cell_char(c));
    ret_cell->n = cluster.n;
    memcpy(ret_cell->codepoints, cluster.codepoints, cluster.n * sizeof(uint32_t));
}

size_t term_row_ascii(const struct term *t, int row, char *bytes)
{
    BUG_ON(row < -t->grid->history || row >= t->rows);
    const struct row *r = grid_row(t->grid, row);
    size_t n = (size_t)MIN((int)r->used, t->cols);
    for (size_t col = 0; col < n; col++) {
        uint64_t c = r->cells[col] & (CELL_TEXT | CELL_WIDE | CELL_TAIL);
        if (c > 0x7F)
            return SIZE_MAX;
        bytes[col] = c ? (char)c : ' ';
    }
    return n;
}

bool term_row_wraps(const struct term *t, int row)
{
    BUG_ON(row < -t->grid->history || row >= t->rows);
    return grid_row(t->grid, row)->flags & ROW_WRAPS;
}

static uint64_t term_hash_mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

static uint64_t style_hash(const struct term *t, uint16_t id)
{
    const struct style *s = &t->styles.styles[id];
    uint64_t hash = term_hash_mix(term_hash_mix(s->fg, s->bg), s->underline_color);
    hash = term_hash_mix(hash, (uint64_t)(s->attrs & STYLE_VISIBLE) << 8 | s->underline);
    return s->link ? fnv_add(hash, term_link(t, s->link)) : hash;
}

/* Hashes the visible contents, not the style and cluster numbers. An empty cell equals a blank. */
static uint64_t hash_row(const struct term *t, const struct row *row)
{
    const uint64_t plain = style_hash(t, 0);
    uint64_t hash = FNV_START, style = plain;
    uint16_t id = 0;
    int blanks = 0;
    for (int x = 0; x < row->used; x++) {
        cell c = row->cells[x];
        if (cell_style(c) != id) {
            id = cell_style(c);
            style = style_hash(t, id);
        }
        uint64_t text = c & ~CELL_STYLE;
        if (text == 0)
            text = ' ';
        if (text == ' ' && style == plain) {
            blanks++; /* trailing blanks are ignored */
            continue;
        }
        for (; blanks; blanks--)
            hash = term_hash_mix(hash, ' ');
        if (c & CELL_CLUSTER) {
            struct cluster cluster = cluster_get(&t->clusters, cell_char(c));
            text = (c & CELL_WIDE) ^ cluster.n;
            for (unsigned i = 0; i < cluster.n; i++)
                text = term_hash_mix(text, cluster.codepoints[i]);
        }
        hash = term_hash_mix(term_hash_mix(hash, text), style);
    }
    return hash;
}

uint64_t term_row_hash(const struct term *t, unsigned row)
{
    BUG_ON(row >= (unsigned)t->rows);
    struct row *line = grid_row(t->grid, (int)row);
    if (!(line->flags & ROW_HASHED)) {
        line->hash = hash_row(t, line);
        line->flags |= ROW_HASHED;
    }
    return line->hash;
}

uint64_t term_hash(const struct term *t)
{
    struct term_cursor c = term_cursor(t);
    uint64_t hash = term_hash_mix((uint64_t)t->rows << 32 | (uint64_t)t->cols, c.row << 16 | c.col);
    hash = term_hash_mix(
        hash, (uint64_t)c.visible << 2 | (uint64_t)term_alternate(t) << 1 | term_reverse_screen(t));
    hash = term_hash_mix(hash, c.shape);
    for (unsigned row = 0; row < (unsigned)t->rows; row++)
        hash = term_hash_mix(hash, term_row_hash(t, row));
    return fnv_add(hash, term_title(t));
}

struct str term_link(const struct term *t, uint32_t link)
{
    return link_uri(&t->links, link);
}

struct str term_link_id(const struct term *t, uint32_t link)
{
    return link_id(&t->links, link);
}

size_t term_unknowns(const struct term *t, const struct term_unknown **ret_list)
{
    *ret_list = t->unknown.list;
    return t->unknown.n;
}

size_t term_unanswered(const struct term *t, const struct term_unknown **ret_list)
{
    *ret_list = t->unanswered.list;
    return t->unanswered.n;
}

void term_input(const struct term *t, struct term_input *ret_input)
{
    const struct kitty_stack *kitty = &t->screen->kitty;
    *ret_input = (struct term_input){
        .cursor_keys = mode_is(t, MODE_CURSOR_KEYS),
        .keypad = mode_is(t, MODE_KEYPAD),
        .backspace_is_bs = mode_is(t, MODE_BACKSPACE),
        .newline = mode_is(t, MODE_NEWLINE),
        .bracketed_paste = mode_is(t, MODE_PASTE),
        .focus = mode_is(t, MODE_FOCUS),
        .alternate_scroll = mode_is(t, MODE_ALTERNATE_SCROLL),
        .alternate_screen = term_alternate(t),
        .modify_other = t->modify_other,
        .format_other = t->format_other,
        .kitty = kitty->n ? kitty->flags[kitty->n - 1] : 0,
        .mouse = mode_is(t, MODE_MOUSE_ANY)      ? TERM_MOUSE_ANY
                 : mode_is(t, MODE_MOUSE_BUTTON) ? TERM_MOUSE_BUTTON
                 : mode_is(t, MODE_MOUSE_NORMAL) ? TERM_MOUSE_NORMAL
                 : mode_is(t, MODE_MOUSE_X10)    ? TERM_MOUSE_X10
                                                 : TERM_MOUSE_OFF,
        .mouse_coding = mode_is(t, MODE_MOUSE_PIXELS)  ? TERM_MOUSE_PIXELS
                        : mode_is(t, MODE_MOUSE_SGR)   ? TERM_MOUSE_SGR
                        : mode_is(t, MODE_MOUSE_URXVT) ? TERM_MOUSE_URXVT
                        : mode_is(t, MODE_MOUSE_UTF8)  ? TERM_MOUSE_UTF8
                                                       : TERM_MOUSE_BYTES,
        .cell_width = CELL_PIXELS_WIDTH,
        .cell_height = CELL_PIXELS_HEIGHT,
        .rows = (unsigned)t->rows,
        .cols = (unsigned)t->cols,
    };
}
