/* Terminals for the cases: fed in one of three ways, and dumped as text. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "vt.h"

/* Feeding ------------------------------------------------------------------------------------- */

static void remember(void *context, const struct term_event *event)
{
    struct machine *m = context;
    if (m->n_events == m->cap_events) {
        size_t cap = m->cap_events ? 2 * m->cap_events : 64;
        struct event *more = ARENA_NEW(&m->arena, struct event, cap);
        if (m->n_events)
            memcpy(more, m->events, m->n_events * sizeof(*more));
        m->events = more;
        m->cap_events = cap;
    }
    m->events[m->n_events++] = (struct event){
        .type = event->type,
        .text = arena_str(&m->arena, event->text.p ? event->text : STR("")),
        .value = event->value,
    };
}

void machine_start(
    struct machine *m, enum way way, const struct term_options *options, uint64_t seed)
{
    struct term_options copy = *options;
    *m = (struct machine){.way = way, .arena = ARENA_INIT(256 << 20), .random = seed};
    copy.event = remember;
    copy.context = m;
    m->term = term_new(&copy);
}

void machine_stop(struct machine *m)
{
    term_free(m->term);
    arena_done(&m->arena);
}

static uint64_t next_random(struct machine *m)
{
    m->random ^= m->random << 13;
    m->random ^= m->random >> 7;
    m->random ^= m->random << 17;
    return m->random;
}

/* Mostly short pieces, and sometimes a long one. */
static size_t random_length(struct machine *m, size_t max)
{
    size_t most = next_random(m) % 8 == 0 ? 300 : 6, n = 1 + next_random(m) % most;
    return MIN(n, max);
}

/* Byte by byte the hashes are requested all the time: a cached one must not be stale. */
void machine_feed(struct machine *m, struct str bytes)
{
    while (bytes.n) {
        size_t n = bytes.n;
        if (m->way == WAY_BYTES)
            n = 1;
        else if (m->way == WAY_CUTS)
            n = random_length(m, n);
        /* A copy of exactly this length, so that a sanitizer detects reads beyond it. */
        char *copy = malloc(n);
        BUG_ON(!copy);
        memcpy(copy, bytes.p, n);
        term_feed(m->term, str_n(copy, n));
        free(copy);
        if (m->way == WAY_BYTES)
            (void)term_hash(m->term);
        bytes = str_skip(bytes, n);
    }
}

struct event *machine_event(struct machine *m, enum term_event_type type)
{
    for (size_t i = 0; i < m->n_events; i++)
        if (m->events[i].type == type && !m->events[i].taken)
            return &m->events[i];
    return NULL;
}

size_t machine_events(const struct machine *m, enum term_event_type type)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n_events; i++)
        n += m->events[i].type == type && !m->events[i].taken;
    return n;
}

/* Looking ------------------------------------------------------------------------------------- */

void look_cell(const struct term_cell *cell, struct buf *b)
{
    char bytes[UTF8_MAX];
    if (cell->width == 0)
        return;
    if (cell->n == 0)
        buf_add_byte(b, ' ');
    for (unsigned i = 0; i < cell->n; i++)
        buf_add(b, bytes, utf8_write(cell->codepoints[i], bytes));
}

void look_row(const struct term *t, int row, struct buf *b)
{
    struct term_cell cell;
    for (unsigned col = 0; col < term_cols(t); col++) {
        term_cell(t, row, col, &cell);
        look_cell(&cell, b);
    }
    buf_truncate(b, str_trim_end(buf_str(b), ' ').n);
}

const char *machine_wrong(const struct machine *m)
{
    const struct term *t = m->term;
    struct term_cell cell;
    struct term_cursor cursor = term_cursor(t);
    if (cursor.row >= term_rows(t) || cursor.col >= term_cols(t))
        return "the cursor is outside of the screen";
    for (int row = -(int)term_scrollback(t); row < (int)term_rows(t); row++) {
        bool tail = false;
        for (unsigned col = 0; col < term_cols(t); col++) {
            term_cell(t, row, col, &cell);
            if (tail != (cell.width == 0))
                return tail ? "a wide cell has no right half" : "a right half stands alone";
            tail = cell.width == 2;
        }
        if (tail)
            return "a wide cell at the edge has no right half";
    }
    return NULL;
}

static void dump_rows(const struct term *t, struct buf *b)
{
    struct term_cell cell;
    for (int row = -(int)term_scrollback(t); row < (int)term_rows(t); row++) {
        buf_printf(b, "row %d %d: ", row, term_row_wraps(t, row));
        for (unsigned col = 0; col < term_cols(t); col++) {
            term_cell(t, row, col, &cell);
            look_cell(&cell, b);
            const struct style *s = &cell.style;
            struct str link = s->link ? term_link(t, s->link) : STR("");
            if (s->fg || s->bg || s->attrs || s->underline || s->underline_color || s->link)
                buf_printf(b, "{%x %x %x %x %x " STR_FMT "}", s->fg, s->bg, s->underline_color,
                    s->attrs, s->underline, STR_ARG(link));
        }
        buf_add_byte(b, '\n');
    }
}

static void dump_list(struct buf *b, const char *name, const struct term_unknown *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        buf_printf(b, "%s %llu: ", name, (unsigned long long)list[i].count);
        utf8_add_printable(b, str_n(list[i].text, list[i].n));
        buf_add_byte(b, '\n');
    }
}

void machine_dump(const struct machine *m, struct buf *b)
{
    const struct term *t = m->term;
    const struct term_unknown *list;
    struct term_cursor c = term_cursor(t);
    struct term_input in;
    term_input(t, &in);
    dump_rows(t, b);
    buf_printf(b, "hash %llx\n", (unsigned long long)term_hash(t));
    buf_printf(
        b, "cursor %u %u %d %d %d %u\n", c.row, c.col, c.visible, c.blink, c.pending_wrap, c.shape);
    buf_printf(b, "screen %u %u %d %d %d %d %d\n", term_rows(t), term_cols(t), term_alternate(t),
        term_in_frame(t), term_mid_sequence(t), (int)term_width(t), term_reverse_screen(t));
    buf_printf(b, "title '" STR_FMT "' icon '" STR_FMT "'\n", STR_ARG(term_title(t)),
        STR_ARG(term_icon(t)));
    buf_printf(b, "input %d %d %d %d %d %d %d %u %u %u %d %d\n", in.cursor_keys, in.keypad,
        in.backspace_is_bs, in.newline, in.bracketed_paste, in.focus, in.alternate_scroll,
        in.modify_other, in.format_other, in.kitty, (int)in.mouse, (int)in.mouse_coding);
    buf_add_z(b, "replies ");
    utf8_add_printable(b, term_replies(t));
    buf_add_byte(b, '\n');
    size_t n = term_unknowns(t, &list);
    dump_list(b, "unknown", list, n);
    n = term_unanswered(t, &list);
    dump_list(b, "unanswered", list, n);
    for (size_t i = 0; i < m->n_events; i++) {
        buf_printf(b, "event %d %u ", (int)m->events[i].type, m->events[i].value);
        utf8_add_printable(b, m->events[i].text);
        buf_add_byte(b, '\n');
    }
}
