/* Implements the lines of a case. Checks are made on each of the three terminals. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "vt.h"

#include <signal.h>

enum {
    DUMP_MAX = 64 << 20,
    FEED_MAX = 16 << 20,
};

/* Words --------------------------------------------------------------------------------------- */

/* Takes the next word if it is a bare one (a quoted one). */
static bool take_word(struct run *r, bool quoted, struct str *ret_text)
{
    if (r->n_words == 0 || r->words[0].quoted != quoted)
        return false;
    *ret_text = r->words[0].text;
    r->words++;
    r->n_words--;
    return true;
}

static bool take_text(struct run *r, struct str *ret_text)
{
    return take_word(r, true, ret_text) || run_fail(r, "a text in quotes is missing");
}

static bool take_int(struct run *r, int *ret_value)
{
    struct str word;
    int64_t value;
    if (!take_word(r, false, &word) || !str_to_int(word, -200000, 200000, &value))
        return run_fail(r, "a number is missing");
    *ret_value = (int)value;
    return true;
}

/* "3" or "3-7" */
static bool take_range(struct run *r, int *ret_first, int *ret_last)
{
    struct str word, first, last;
    int64_t a, b;
    if (!take_word(r, false, &word))
        return run_fail(r, "a number or a range is missing");
    ptrdiff_t dash =
        word.n ? str_find(str_skip(word, 1), '-') : -1; /* not the sign of a negative one */
    first = dash < 0 ? word : str_head(word, (size_t)dash + 1);
    last = dash < 0 ? word : str_skip(word, (size_t)dash + 2);
    if (!str_to_int(first, -200000, 200000, &a) || !str_to_int(last, -200000, 200000, &b) || a > b)
        return run_fail(r, "no number and no range: " STR_FMT, STR_ARG(word));
    *ret_first = (int)a;
    *ret_last = (int)b;
    return true;
}

static bool take_yes(struct run *r, bool *ret_yes)
{
    struct str word;
    if (!take_word(r, false, &word) || (!str_is(word, "yes") && !str_is(word, "no")))
        return run_fail(r, "yes or no is missing");
    *ret_yes = str_is(word, "yes");
    return true;
}

static const char *shown(struct run *r, struct str s)
{
    AUTO_BUF struct buf b = BUF_INIT(1 << 20);
    utf8_add_printable(&b, str_head(s, 4096));
    return arena_strdup(r->arena, buf_str(&b));
}

static bool check_text(struct run *r, const char *what, struct str got, struct str want)
{
    return str_eq(got, want) ||
           run_fail(r, "%s is '%s', not '%s'", what, shown(r, got), shown(r, want));
}

static bool check_yes(struct run *r, const char *what, bool got, bool want)
{
    return got == want || run_fail(r, "%s: %s", what, got ? "yes" : "no");
}

/* Making and feeding -------------------------------------------------------------------------- */

static bool do_size(struct run *r)
{
    struct str word;
    int rows, cols, lines;
    if (r->started)
        return run_fail(r, "size comes first");
    if (!take_int(r, &rows) || !take_int(r, &cols))
        return false;
    r->options.rows = (unsigned)rows;
    r->options.cols = (unsigned)cols;
    while (take_word(r, false, &word)) {
        if (str_is(word, "scrollback")) {
            if (!take_int(r, &lines))
                return false;
            r->options.scrollback = (unsigned)lines;
        } else if (str_is(word, "wcwidth")) {
            r->options.width = TERM_WIDTH_WCWIDTH;
        } else if (str_is(word, "onlcr")) {
            r->options.onlcr = true;
        } else if (str_is(word, "may-resize")) {
            r->options.may_resize = true;
        } else {
            return run_fail(r, "no such option: " STR_FMT, STR_ARG(word));
        }
    }
    return true;
}

/* The line where two descriptions differ. */
static bool check_alike(struct run *r, enum way way)
{
    static const char *const names[WAYS] = {"", "byte by byte", "in random cuts"};
    AUTO_BUF struct buf a = BUF_INIT(DUMP_MAX), b = BUF_INIT(DUMP_MAX);
    machine_dump(&r->machines[WAY_WHOLE], &a);
    machine_dump(&r->machines[way], &b);
    struct str x = buf_str(&a), y = buf_str(&b), p, q;
    if (str_eq(x, y))
        return true;
    while (str_cut(x, '\n', &p, &x) && str_cut(y, '\n', &q, &y))
        if (!str_eq(p, q))
            return run_fail(
                r, "fed %s it differs: '%s', not '%s'", names[way], shown(r, q), shown(r, p));
    return run_fail(r, "fed %s it differs in length", names[way]);
}

static bool check_all(struct run *r)
{
    for (enum way way = 0; way < WAYS; way++) {
        const char *wrong = machine_wrong(&r->machines[way]);
        if (wrong)
            return run_fail(r, "%s", wrong);
        if (way != WAY_WHOLE && !check_alike(r, way))
            return false;
    }
    return true;
}

static bool do_feed(struct run *r)
{
    AUTO_BUF struct buf b = BUF_INIT(FEED_MAX);
    struct str bytes, word;
    int64_t times = 1;
    if (!take_text(r, &bytes))
        return false;
    if (take_word(r, false, &word) &&
        (word.p[0] != 'x' || !str_to_int(str_skip(word, 1), 1, 1000000, &times)))
        return run_fail(r, "no number of times: " STR_FMT, STR_ARG(word));
    for (int64_t i = 0; i < times; i++)
        buf_add_str(&b, bytes);
    if (!buf_ok(&b))
        return run_fail(r, "too much");
    run_start(r);
    for (enum way way = 0; way < WAYS; way++)
        machine_feed(&r->machines[way], buf_str(&b));
    return check_all(r);
}

static bool do_resize(struct run *r)
{
    int rows, cols;
    if (!take_int(r, &rows) || !take_int(r, &cols))
        return false;
    run_start(r);
    for (enum way way = 0; way < WAYS; way++)
        term_resize(r->machines[way].term, (unsigned)rows, (unsigned)cols);
    return check_all(r);
}

static bool do_end(struct run *r)
{
    run_start(r);
    for (enum way way = 0; way < WAYS; way++)
        term_feed_end(r->machines[way].term);
    return check_all(r);
}

/* Cells --------------------------------------------------------------------------------------- */

static bool is_row(struct run *r, int row)
{
    const struct term *t = r->m->term;
    return (row >= -(int)term_scrollback(t) && row < (int)term_rows(t)) ||
           run_fail(r, "there is no row %d", row);
}

static bool do_row(struct run *r)
{
    AUTO_BUF struct buf b = BUF_INIT(ROW_TEXT_MAX);
    int first, last;
    struct str text;
    if (!take_range(r, &first, &last) || !take_text(r, &text))
        return false;
    for (int row = first; row <= last; row++) {
        if (!is_row(r, row))
            return false;
        buf_reset(&b);
        look_row(r->m->term, row, &b);
        const char *what = arena_printf(r->arena, "row %d", row);
        if (!check_text(r, what, buf_str(&b), str_trim_end(text, ' ')))
            return false;
    }
    return true;
}

static bool parse_color(struct str s, color *ret_color)
{
    struct str kind, part;
    int64_t v[3] = {0};
    unsigned n = 0;
    if (!str_cut(s, ':', &kind, &s))
        return false;
    while (n < 3 && str_cut(s, ',', &part, &s))
        if (!str_to_int(part, 0, 255, &v[n++]))
            return false;
    if (str_is(kind, "rgb") && n == 3)
        *ret_color = color_rgb((unsigned)v[0], (unsigned)v[1], (unsigned)v[2]);
    else if (str_is(kind, "ansi") && n == 1 && v[0] < 16)
        *ret_color = color_ansi((unsigned)v[0]);
    else if (str_is(kind, "index") && n == 1)
        *ret_color = color_indexed((unsigned)v[0]);
    else
        return false;
    return true;
}

static const char *color_text(struct run *r, color c)
{
    unsigned v = color_value(c);
    switch (color_kind(c)) {
    case COLOR_ANSI:
        return arena_printf(r->arena, "ansi:%u", v);
    case COLOR_INDEXED:
        return arena_printf(r->arena, "index:%u", v);
    case COLOR_RGB:
        return arena_printf(r->arena, "rgb:%u,%u,%u", v >> 16 & 255, v >> 8 & 255, v & 255);
    default:
        return "default";
    }
}

static const char *const attr_names[] = {
    "bold", "faint", "italic", "blink", "rapid", "inverse", "conceal", "strike", "overline"};
static const char *const underlines[] = {"none", "single", "double", "curly", "dotted", "dashed"};

struct look {
    struct style style;
    struct str link, link_id;
    unsigned width;
};

static bool parse_look(struct str w, struct look *look)
{
    struct style *s = &look->style;
    for (unsigned i = 0; i < ARRAY_LEN(attr_names); i++)
        if (str_is(w, attr_names[i])) {
            s->attrs |= (uint16_t)(1u << i);
            return true;
        }
    if (str_is(w, "underline")) {
        s->underline = UNDERLINE_SINGLE;
        return true;
    }
    for (unsigned i = 1; str_starts_with(w, STR("underline=")) && i < ARRAY_LEN(underlines); i++)
        if (str_is(str_skip(w, 10), underlines[i])) {
            s->underline = (uint8_t)i;
            return true;
        }
    if (str_starts_with(w, STR("fg=")))
        return parse_color(str_skip(w, 3), &s->fg);
    if (str_starts_with(w, STR("bg=")))
        return parse_color(str_skip(w, 3), &s->bg);
    if (str_starts_with(w, STR("ul=")))
        return parse_color(str_skip(w, 3), &s->underline_color);
    if (str_starts_with(w, STR("link=")))
        look->link = str_skip(w, 5);
    else if (str_starts_with(w, STR("link-id=")))
        look->link_id = str_skip(w, 8);
    else if (str_is(w, "wide"))
        look->width = 2;
    else if (str_is(w, "tail"))
        look->width = 0;
    else
        return false;
    return true;
}

static bool check_style(struct run *r, const char *at, const struct style *got, struct style want)
{
    for (unsigned i = 0; i < ARRAY_LEN(attr_names); i++)
        if ((got->attrs ^ want.attrs) >> i & 1)
            return run_fail(r, "%s is %s%s", at, want.attrs >> i & 1 ? "not " : "", attr_names[i]);
    if (got->underline != want.underline)
        return run_fail(r, "%s: underline=%s, not %s", at, underlines[got->underline],
            underlines[want.underline]);
    if (got->fg != want.fg)
        return run_fail(r, "%s: fg=%s, not %s", at, color_text(r, got->fg), color_text(r, want.fg));
    if (got->bg != want.bg)
        return run_fail(r, "%s: bg=%s, not %s", at, color_text(r, got->bg), color_text(r, want.bg));
    if (got->underline_color != want.underline_color)
        return run_fail(r, "%s: ul=%s, not %s", at, color_text(r, got->underline_color),
            color_text(r, want.underline_color));
    return true;
}

static bool check_cell(
    struct run *r, int row, int col, const struct str *text, const struct look *want)
{
    AUTO_BUF struct buf b = BUF_INIT(1024);
    const struct term *t = r->m->term;
    const char *at = arena_printf(r->arena, "cell %d %d", row, col);
    struct term_cell cell;
    if (!is_row(r, row))
        return false;
    if (col < 0 || col >= (int)term_cols(t))
        return run_fail(r, "there is no column %d", col);
    term_cell(t, row, (unsigned)col, &cell);
    look_cell(&cell, &b);
    if (text && !check_text(r, at, buf_str(&b), *text))
        return false;
    if (cell.width != want->width)
        return run_fail(r, "%s is %u wide, not %u", at, cell.width, want->width);
    struct str link = cell.style.link ? term_link(t, cell.style.link) : STR("");
    struct str id = cell.style.link ? term_link_id(t, cell.style.link) : STR("");
    return check_style(r, at, &cell.style, want->style) &&
           check_text(r, arena_printf(r->arena, "%s's link", at), link, want->link) &&
           check_text(r, arena_printf(r->arena, "%s's link's id", at), id, want->link_id);
}

static bool do_cell(struct run *r)
{
    struct look look = {.width = 1, .link = STR(""), .link_id = STR("")};
    struct str text, word;
    int rows[2], cols[2];
    if (!take_range(r, &rows[0], &rows[1]) || !take_range(r, &cols[0], &cols[1]))
        return false;
    bool named = take_word(r, true, &text);
    while (take_word(r, false, &word))
        if (!parse_look(word, &look))
            return run_fail(r, "no such look: " STR_FMT, STR_ARG(word));
    for (int row = rows[0]; row <= rows[1]; row++)
        for (int col = cols[0]; col <= cols[1]; col++)
            if (!check_cell(r, row, col, named ? &text : NULL, &look))
                return false;
    return true;
}

static bool do_screen(struct run *r)
{
    r->in_screen = true;
    r->screen_row = 0;
    return true;
}

void directive_screen_line(struct run *r, struct str text)
{
    run_start(r);
    for (enum way way = 0; way < WAYS; way++) {
        AUTO_BUF struct buf b = BUF_INIT(ROW_TEXT_MAX);
        r->m = &r->machines[way];
        if (!is_row(r, (int)r->screen_row))
            return;
        look_row(r->m->term, (int)r->screen_row, &b);
        const char *what = arena_printf(r->arena, "row %u", r->screen_row);
        if (!check_text(r, what, buf_str(&b), str_trim_end(text, ' ')))
            return;
    }
    r->screen_row++;
}

void directive_screen_end(struct run *r)
{
    size_t failures = r->failures;
    r->in_screen = false;
    while (r->screen_row < term_rows(r->machines[0].term) && r->failures == failures)
        directive_screen_line(r, STR(""));
}

/* Other checks -------------------------------------------------------------------------------- */

static bool do_cursor(struct run *r)
{
    static const char *const shapes[] = {"block", "underline", "bar"};
    struct term_cursor got = term_cursor(r->m->term);
    struct str word;
    int row, col;
    bool visible = true, pending = false, blink = got.blink, known = true;
    unsigned shape = got.shape;
    if (!take_int(r, &row) || !take_int(r, &col))
        return false;
    while (take_word(r, false, &word) && known) {
        known = false;
        for (unsigned i = 0; i < ARRAY_LEN(shapes); i++)
            if (str_is(word, shapes[i])) {
                known = true;
                shape = i;
            }
        visible = visible && !str_is(word, "hidden");
        pending = pending || str_is(word, "pending");
        if (str_is(word, "blink") || str_is(word, "steady"))
            blink = str_is(word, "blink");
        known = known || str_is(word, "hidden") || str_is(word, "pending") ||
                str_is(word, "blink") || str_is(word, "steady");
    }
    if (!known)
        return run_fail(r, "no such cursor: " STR_FMT, STR_ARG(word));
    if ((int)got.row != row || (int)got.col != col || got.pending_wrap != pending ||
        got.visible != visible || got.blink != blink || got.shape != shape)
        return run_fail(r, "the cursor is at %u %u%s%s %s %s", got.row, got.col,
            got.visible ? "" : " hidden", got.pending_wrap ? " pending" : "",
            got.blink ? "blink" : "steady", shapes[got.shape]);
    return true;
}

static bool do_reply(struct run *r)
{
    struct str text, got = term_replies(r->m->term);
    if (!take_text(r, &text))
        return false;
    bool ok = check_text(r, "the answer", got, text);
    term_drop_replies(r->m->term, got.n);
    return ok;
}

static bool do_reply_starts(struct run *r)
{
    struct str text, got = term_replies(r->m->term);
    if (!take_text(r, &text))
        return false;
    bool ok = check_text(r, "the answer", str_head(got, text.n), text);
    term_drop_replies(r->m->term, got.n);
    return ok;
}

static bool take_event_type(struct run *r, enum term_event_type *ret_type)
{
    static const char *const names[] = {"title", "icon", "bell", "unknown", "unanswered",
        "replaced", "truncated", "clipboard", "resize", "frame", "query"};
    struct str word;
    if (!take_word(r, false, &word))
        return run_fail(r, "the kind of event is missing");
    for (unsigned i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(word, names[i])) {
            *ret_type = (enum term_event_type)i;
            return true;
        }
    return run_fail(r, "no such event: " STR_FMT, STR_ARG(word));
}

static bool do_event(struct run *r)
{
    enum term_event_type type;
    struct str text = STR("");
    int rows = 0, cols = 0;
    if (!take_event_type(r, &type))
        return false;
    if (type == TERM_EVENT_RESIZE && (!take_int(r, &rows) || !take_int(r, &cols)))
        return false;
    (void)take_word(r, true, &text);
    struct event *event = machine_event(r->m, type);
    if (!event)
        return run_fail(r, "there was no such event");
    event->taken = true;
    if (event->value != ((unsigned)rows << 16 | (unsigned)cols))
        return run_fail(r, "it is for %u %u", event->value >> 16, event->value & 0xFFFF);
    return check_text(r, "the event's text", event->text, text);
}

static bool do_events(struct run *r)
{
    enum term_event_type type;
    int n;
    if (!take_event_type(r, &type) || !take_int(r, &n))
        return false;
    size_t got = machine_events(r->m, type);
    return got == (size_t)n || run_fail(r, "there were %zu", got);
}

static bool check_listed(struct run *r, const struct term_unknown *list, size_t n)
{
    struct str text;
    int count = 1;
    if (!take_text(r, &text) || (r->n_words && !take_int(r, &count)))
        return false;
    for (size_t i = 0; i < n; i++)
        if (str_eq(str_n(list[i].text, list[i].n), text))
            return list[i].count == (uint64_t)count ||
                   run_fail(r, "there were %llu", (unsigned long long)list[i].count);
    for (size_t i = 0; i < n; i++)
        (void)run_fail(r, "listed: '%s'", shown(r, str_n(list[i].text, list[i].n)));
    return run_fail(r, "it is not listed");
}

static bool do_unknown(struct run *r)
{
    const struct term_unknown *list;
    r->unknowns += r->m->way == WAY_WHOLE;
    size_t n = term_unknowns(r->m->term, &list);
    return check_listed(r, list, n);
}

static bool do_unanswered(struct run *r)
{
    const struct term_unknown *list;
    r->unanswered += r->m->way == WAY_WHOLE;
    size_t n = term_unanswered(r->m->term, &list);
    return check_listed(r, list, n);
}

static bool do_unknowns(struct run *r)
{
    const struct term_unknown *list;
    int n;
    if (!take_int(r, &n))
        return false;
    r->unknowns = (size_t)n;
    size_t got = term_unknowns(r->m->term, &list);
    return got == (size_t)n || run_fail(r, "there are %zu", got);
}

static bool do_title(struct run *r)
{
    struct str text;
    return take_text(r, &text) && check_text(r, "the title", term_title(r->m->term), text);
}

static bool do_icon(struct run *r)
{
    struct str text;
    return take_text(r, &text) && check_text(r, "the icon", term_icon(r->m->term), text);
}

static bool do_alternate(struct run *r)
{
    bool want;
    return take_yes(r, &want) && check_yes(r, "alternate", term_alternate(r->m->term), want);
}

static bool do_frame(struct run *r)
{
    bool want;
    return take_yes(r, &want) && check_yes(r, "frame", term_in_frame(r->m->term), want);
}

static bool do_reverse(struct run *r)
{
    bool want;
    return take_yes(r, &want) && check_yes(r, "reverse", term_reverse_screen(r->m->term), want);
}

static bool do_middle(struct run *r)
{
    bool want;
    return take_yes(r, &want) && check_yes(r, "middle", term_mid_sequence(r->m->term), want);
}

static bool do_graphemes(struct run *r)
{
    bool want;
    return take_yes(r, &want) &&
           check_yes(r, "graphemes", term_width(r->m->term) == TERM_WIDTH_GRAPHEME, want);
}

static bool do_wraps(struct run *r)
{
    bool want;
    int row;
    return take_int(r, &row) && is_row(r, row) && take_yes(r, &want) &&
           check_yes(r, "wraps", term_row_wraps(r->m->term, row), want);
}

static bool do_history(struct run *r)
{
    int want;
    unsigned got = term_scrollback(r->m->term);
    return take_int(r, &want) && (got == (unsigned)want || run_fail(r, "there are %u lines", got));
}

static bool do_is_size(struct run *r)
{
    int rows, cols;
    unsigned got_rows = term_rows(r->m->term), got_cols = term_cols(r->m->term);
    if (!take_int(r, &rows) || !take_int(r, &cols))
        return false;
    return (got_rows == (unsigned)rows && got_cols == (unsigned)cols) ||
           run_fail(r, "it is %u %u", got_rows, got_cols);
}

/* Anything that is not named is off; for `mouse=` and the like that is the first value. */
static void input_text(const struct term_input *in, struct buf *b)
{
    static const char *const mice[] = {"off", "x10", "normal", "button", "any"};
    static const char *const codings[] = {"bytes", "utf8", "sgr", "urxvt", "pixels"};
    const struct {
        const char *name;
        bool on;
    } flags[] = {{"cursor-keys", in->cursor_keys}, {"keypad", in->keypad},
        {"backspace", in->backspace_is_bs}, {"newline", in->newline},
        {"paste", in->bracketed_paste}, {"focus", in->focus}, {"scroll", in->alternate_scroll},
        {"alternate", in->alternate_screen}};
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (flags[i].on)
            buf_printf(b, "%s ", flags[i].name);
    if (in->modify_other)
        buf_printf(b, "modify=%u ", in->modify_other);
    if (in->format_other)
        buf_printf(b, "format=%u ", in->format_other);
    if (in->kitty)
        buf_printf(b, "kitty=%u ", in->kitty);
    if (in->mouse)
        buf_printf(b, "mouse=%s ", mice[in->mouse]);
    if (in->mouse_coding)
        buf_printf(b, "coding=%s ", codings[in->mouse_coding]);
}

static bool do_input(struct run *r)
{
    AUTO_BUF struct buf got = BUF_INIT(1024), want = BUF_INIT(1024);
    struct term_input in;
    struct str word;
    term_input(r->m->term, &in);
    input_text(&in, &got);
    while (take_word(r, false, &word)) {
        buf_add_str(&want, word);
        buf_add_byte(&want, ' ');
    }
    return check_text(r, "the input", buf_str(&got), buf_str(&want));
}

static bool do_crash(struct run *r)
{
    (void)r;
    return raise(SIGKILL) == 0;
}

/* Tables -------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    bool (*run)(struct run *r);
    bool looks; /* is run on each terminal */
} directives[] = {
    {"size", do_size, false},
    {"feed", do_feed, false},
    {"resize", do_resize, false},
    {"end", do_end, false},
    {"crash", do_crash, false},
    {"screen", do_screen, false},
    {"row", do_row, true},
    {"cell", do_cell, true},
    {"cursor", do_cursor, true},
    {"reply", do_reply, true},
    {"reply-starts", do_reply_starts, true},
    {"event", do_event, true},
    {"events", do_events, true},
    {"unknown", do_unknown, true},
    {"unknowns", do_unknowns, true},
    {"unanswered", do_unanswered, true},
    {"title", do_title, true},
    {"icon", do_icon, true},
    {"alternate", do_alternate, true},
    {"frame", do_frame, true},
    {"reverse", do_reverse, true},
    {"middle", do_middle, true},
    {"graphemes", do_graphemes, true},
    {"wraps", do_wraps, true},
    {"history", do_history, true},
    {"is-size", do_is_size, true},
    {"input", do_input, true},
};

static bool run_one(struct run *r, size_t i, const struct shell_word *words, size_t n)
{
    r->words = words + 1;
    r->n_words = n - 1;
    return directives[i].run(r) && (r->n_words == 0 || run_fail(r, "too much in this line"));
}

void directive_run(struct run *r, const struct shell_word *words, size_t n)
{
    size_t i = 0;
    while (i < ARRAY_LEN(directives) && !str_is(words[0].text, directives[i].name))
        i++;
    if (i == ARRAY_LEN(directives) || words[0].quoted) {
        run_fail(r, "no such directive: " STR_FMT, STR_ARG(words[0].text));
        return;
    }
    if (directives[i].run != do_size)
        run_start(r);
    r->m = &r->machines[WAY_WHOLE];
    for (enum way way = 0; way < (directives[i].looks ? WAYS : 1); way++) {
        r->m = &r->machines[way];
        if (!run_one(r, i, words, n))
            return;
    }
}

void directive_end(struct run *r)
{
    const struct term_unknown *list;
    if (!r->started) {
        run_fail(r, "the case is empty");
        return;
    }
    struct term *t = r->machines[WAY_WHOLE].term;
    struct str replies = term_replies(t);
    if (replies.n)
        run_fail(r, "answers that the case does not name: '%s'", shown(r, replies));
    size_t n = term_unknowns(t, &list);
    for (size_t i = 0; n > r->unknowns && i < n; i++)
        run_fail(r, "unknown, more than named: '%s'", shown(r, str_n(list[i].text, list[i].n)));
    n = term_unanswered(t, &list);
    for (size_t i = 0; n > r->unanswered && i < n; i++)
        run_fail(r, "unanswered, more than named: '%s'", shown(r, str_n(list[i].text, list[i].n)));
}
