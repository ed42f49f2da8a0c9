/* Conditions, one table row each. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "run/condition.h"

#include "base/choice.h"
#include "run/nearest.h"
#include "run/tagged.h"
#include "term/snapshot_json.h"

enum {
    LINES_MAX = SESSION_ROWS_MAX - 1,
    SHOWN_MAX = 200, /* bytes of a line that a message quotes */
};

struct condition_kind {
    struct tagged tagged;
    bool (*holds)(const struct condition *, const struct view *, struct buf *why);
    bool cells;
};

/* Messages ------------------------------------------------------------------------------------ */

static struct str condition_shorten(struct str text)
{
    return str_head(text, SHOWN_MAX);
}

static bool condition_fail(struct buf *why, const char *format, ...) PRINTF_LIKE(2, 3);

static bool condition_fail(struct buf *why, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (why)
        buf_vprintf(why, format, args);
    va_end(args);
    return false;
}

/* The screen ---------------------------------------------------------------------------------- */

/* Lines have no trailing blanks, though the screen may have any number there: so text that ends in
 * blanks also matches at the end of a line. "$ " finds a prompt. */
static bool condition_contains(struct str where, struct str what)
{
    if (what.n == 0 || (where.n >= what.n && memmem(where.p, where.n, what.p, what.n)))
        return true;
    struct str solid = str_trim_end(what, ' ');
    if (solid.n == what.n || solid.n == 0)
        return false;
    for (const char *at; (at = memmem(where.p, where.n, solid.p, solid.n));) {
        where = str_skip(where, (size_t)(at - where.p));
        if (where.n == solid.n || where.p[solid.n] == '\n')
            return true;
        where = str_skip(where, 1); /* matches may overlap */
    }
    return false;
}

/* Joins the lines, so that a match may span several. */
static void condition_join_lines(const struct snapshot *s, struct buf *b)
{
    for (unsigned row = 0; row < s->rows; row++) {
        buf_add_str(b, s->lines[row]);
        buf_add_byte(b, '\n');
    }
    buf_truncate(b, b->n ? b->n - 1 : 0);
}

#define SCREEN_TEXT(b, s)                               \
    AUTO_BUF struct buf b = BUF_INIT((size_t)64 << 20); \
    condition_join_lines((s), &b)

static bool screen_contains(const struct condition *c, const struct view *v, struct buf *why)
{
    SCREEN_TEXT(text, v->screen);
    if (condition_contains(buf_str(&text), c->payload.text))
        return true;
    condition_fail(
        why, "the screen does not show '" STR_FMT "'", STR_ARG(condition_shorten(c->payload.text)));
    if (why)
        nearest_add(v->screen, c->payload.text, why);
    return false;
}

static bool screen_not_contains(const struct condition *c, const struct view *v, struct buf *why)
{
    SCREEN_TEXT(text, v->screen);
    return !condition_contains(buf_str(&text), c->payload.text) ||
           condition_fail(
               why, "the screen shows '" STR_FMT "'", STR_ARG(condition_shorten(c->payload.text)));
}

static bool screen_matches(const struct condition *c, const struct view *v, struct buf *why)
{
    struct regex_match match;
    SCREEN_TEXT(text, v->screen);
    if (regex_find(c->regex, buf_str(&text), 0, &match))
        return true;
    if (regex_gave_up(c->regex))
        return condition_fail(why, "the pattern '" STR_FMT "' needs too many steps to match",
            STR_ARG(condition_shorten(c->payload.pattern)));
    return condition_fail(why, "nothing on the screen matches '" STR_FMT "'",
        STR_ARG(condition_shorten(c->payload.pattern)));
}

static bool screen_empty(const struct condition *c, const struct view *v, struct buf *why)
{
    (void)c;
    for (unsigned row = 0; row < v->screen->rows; row++)
        if (v->screen->lines[row].n)
            return condition_fail(why, "the screen is not empty: line %u is '" STR_FMT "'", row,
                STR_ARG(condition_shorten(v->screen->lines[row])));
    return true;
}

static bool screen_stable(const struct condition *c, const struct view *v, struct buf *why)
{
    return v->quiet_ms >= c->payload.quiet_ms ||
           condition_fail(why, "the screen changed %llu ms ago, expected no change for %llu ms",
               (unsigned long long)v->quiet_ms, (unsigned long long)c->payload.quiet_ms);
}

/* Lines --------------------------------------------------------------------------------------- */

static bool find_line(
    const struct condition *c, const struct view *v, struct str *ret_line, struct buf *why)
{
    if (c->payload.line >= v->screen->rows)
        return condition_fail(
            why, "no line %u: the screen has %u lines", c->payload.line, v->screen->rows);
    *ret_line = v->screen->lines[c->payload.line];
    return true;
}

static bool is_equal(struct str line, struct str text)
{
    return str_eq(line, str_trim_end(text, ' '));
}

static bool condition_starts_with(struct str line, struct str text)
{
    return str_starts_with(line, text) || is_equal(line, text);
}

static bool condition_ends_with(struct str line, struct str text)
{
    return str_ends_with(line, str_trim_end(text, ' '));
}

static bool test_line(const struct condition *c, const struct view *v, struct buf *why,
    bool (*test)(struct str, struct str), const char *words)
{
    struct str line;
    if (!find_line(c, v, &line, why))
        return false;
    return test(line, c->payload.text) ||
           condition_fail(why, "line %u is '" STR_FMT "', which %s '" STR_FMT "'", c->payload.line,
               STR_ARG(condition_shorten(line)), words,
               STR_ARG(condition_shorten(c->payload.text)));
}

static bool line_equals(const struct condition *c, const struct view *v, struct buf *why)
{
    return test_line(c, v, why, is_equal, "is not");
}

static bool line_contains(const struct condition *c, const struct view *v, struct buf *why)
{
    return test_line(c, v, why, condition_contains, "does not contain");
}

static bool line_starts_with(const struct condition *c, const struct view *v, struct buf *why)
{
    return test_line(c, v, why, condition_starts_with, "does not start with");
}

static bool line_ends_with(const struct condition *c, const struct view *v, struct buf *why)
{
    return test_line(c, v, why, condition_ends_with, "does not end with");
}

static bool condition_line_matches(const struct condition *c, const struct view *v, struct buf *why)
{
    struct str line;
    struct regex_match match;
    if (!find_line(c, v, &line, why))
        return false;
    return regex_find(c->regex, line, 0, &match) ||
           condition_fail(why, "line %u is '" STR_FMT "', which does not match '" STR_FMT "'",
               c->payload.line, STR_ARG(condition_shorten(line)),
               STR_ARG(condition_shorten(c->payload.pattern)));
}

/* Cursor and title ---------------------------------------------------------------------------- */

static bool condition_cursor_at(const struct condition *c, const struct view *v, struct buf *why)
{
    const struct term_cursor *cursor = &v->screen->cursor;
    return (cursor->row == c->payload.row && cursor->col == c->payload.col) ||
           condition_fail(why, "the cursor is at row %u, column %u, expected row %u, column %u",
               cursor->row, cursor->col, c->payload.row, c->payload.col);
}

static bool cursor_visible(const struct condition *c, const struct view *v, struct buf *why)
{
    (void)c;
    return v->screen->cursor.visible || condition_fail(why, "the cursor is hidden");
}

static bool cursor_hidden(const struct condition *c, const struct view *v, struct buf *why)
{
    (void)c;
    return !v->screen->cursor.visible || condition_fail(why, "the cursor is visible");
}

static bool title_is(const struct condition *c, const struct view *v, struct buf *why)
{
    return str_eq(v->screen->title, c->payload.text) ||
           condition_fail(why, "the title is '" STR_FMT "', expected '" STR_FMT "'",
               STR_ARG(condition_shorten(v->screen->title)),
               STR_ARG(condition_shorten(c->payload.text)));
}

/* Styles -------------------------------------------------------------------------------------- */

static bool number_below(const json_t *json, unsigned limit, unsigned *ret_number)
{
    json_int_t n = json_integer_value(json);
    *ret_number = (unsigned)n;
    return json_is_integer(json) && n >= 0 && n < limit;
}

/* Reads a color as color_json() writes it. Returns false for anything else. */
static bool color_of(const json_t *json, color *ret_color)
{
    unsigned n, rgb[3];
    static const char *const names[] = {"r", "g", "b"};
    if (json_is_string(json) && strcmp(json_string_value(json), "default") == 0) {
        *ret_color = 0;
        return true;
    }
    if (json_object_size(json) != 1)
        return false;
    if (number_below(json_object_get(json, "ansi_16"), 16, &n)) {
        *ret_color = color_ansi(n);
        return true;
    }
    if (number_below(json_object_get(json, "ansi_256"), 256, &n)) {
        *ret_color = color_indexed(n);
        return true;
    }
    const json_t *parts = json_object_get(json, "rgb");
    for (int i = 0; i < 3; i++)
        if (!number_below(json_object_get(parts, names[i]), 256, &rgb[i]))
            return false;
    *ret_color = color_rgb(rgb[0], rgb[1], rgb[2]);
    return json_object_size(parts) == 3;
}

static bool same_color(const json_t *want, color have, const char *name, struct buf *why)
{
    color c;
    if (!want || !color_of(want, &c) || c == have)
        return true;
    if (!why)
        return false;
    AUTO_JSON json_t *is = color_json(have);
    buf_printf(why, "%s is ", name);
    json_add_compact(why, is);
    buf_add_z(why, ", expected ");
    json_add_compact(why, want);
    return false;
}

static const char *const underline_names[] = {
    "none", "single", "double", "curly", "dotted", "dashed"};

static bool same_attrs(const struct condition_payload *p, const struct style *s, struct buf *why)
{
    const struct {
        const char *name;
        bool given, want, have;
    } attrs[] = {
        {"bold", p->has_bold, p->bold, s->attrs & STYLE_BOLD},
        {"faint", p->has_faint, p->faint, s->attrs & STYLE_FAINT},
        {"italic", p->has_italic, p->italic, s->attrs & STYLE_ITALIC},
        {"underline", p->has_underline, p->underline, s->underline},
        {"blink", p->has_blink, p->blink, s->attrs & (STYLE_BLINK | STYLE_RAPID)},
        {"inverse", p->has_inverse, p->inverse, s->attrs & STYLE_INVERSE},
        {"conceal", p->has_conceal, p->conceal, s->attrs & STYLE_CONCEAL},
        {"strike", p->has_strike, p->strike, s->attrs & STYLE_STRIKE},
        {"overline", p->has_overline, p->overline, s->attrs & STYLE_OVERLINE},
    };
    for (size_t i = 0; i < ARRAY_LEN(attrs); i++)
        if (attrs[i].given && attrs[i].want != attrs[i].have)
            return condition_fail(
                why, "the cell is %s%s", attrs[i].have ? "" : "not ", attrs[i].name);
    return true;
}

static bool style_at(const struct condition *c, const struct view *v, struct buf *why)
{
    const struct condition_payload *p = &c->payload;
    const struct snapshot *s = v->screen;
    if (p->row >= s->rows || p->col >= s->cols)
        return condition_fail(why, "no cell at row %u, column %u", p->row, p->col);
    const struct snapshot_cell *cell = &s->cells[p->row * s->cols + p->col];
    if (p->underline_style.p && !str_is(p->underline_style, underline_names[cell->style.underline]))
        return condition_fail(why, "the underline is %s", underline_names[cell->style.underline]);
    if (p->link.p && !str_eq(p->link, cell->link))
        return condition_fail(
            why, "the link is '" STR_FMT "'", STR_ARG(condition_shorten(cell->link)));
    return same_attrs(p, &cell->style, why) && same_color(p->fg, cell->style.fg, "fg", why) &&
           same_color(p->bg, cell->style.bg, "bg", why) &&
           same_color(p->underline_color, cell->style.underline_color, "underline_color", why);
}

/* Looks for the text in each run of inverse cells. */
static bool selected(const struct condition *c, const struct view *v, struct buf *why)
{
    const struct snapshot *s = v->screen;
    AUTO_BUF struct buf run = BUF_INIT(1 << 20);
    bool any = false;
    for (unsigned row = 0; row < s->rows; row++) {
        buf_reset(&run);
        for (unsigned col = 0; col <= s->cols; col++) {
            const struct snapshot_cell *cell = &s->cells[row * s->cols + col];
            if (col < s->cols && cell->style.attrs & STYLE_INVERSE) {
                buf_add_str(&run, cell->text);
                any = true;
                continue;
            }
            if (run.n && condition_contains(buf_str(&run), c->payload.text))
                return true;
            buf_reset(&run);
        }
    }
    return condition_fail(why,
        any ? "'" STR_FMT "' is not part of the inverse text"
            : "there is no inverse text, expected '" STR_FMT "'",
        STR_ARG(condition_shorten(c->payload.text)));
}

static bool screen_matches_golden(const struct condition *c, const struct view *v, struct buf *why)
{
    return golden_holds(c->golden, v->screen, why);
}

/* The command --------------------------------------------------------------------------------- */

static bool process_exited(const struct condition *c, const struct view *v, struct buf *why)
{
    (void)c;
    return v->exit || condition_fail(why, "the command is still running");
}

static bool exit_code(const struct condition *c, const struct view *v, struct buf *why)
{
    if (!v->exit)
        return condition_fail(why, "the command is still running");
    if (v->exit->signal)
        return condition_fail(why, "the command was killed by signal %d", v->exit->signal);
    return v->exit->code == c->payload.code ||
           condition_fail(why, "the exit status is %d, expected %lld", v->exit->code,
               (long long)c->payload.code);
}

static bool no_crash(const struct condition *c, const struct view *v, struct buf *why)
{
    (void)c;
    return !v->exit || !v->exit->signal || v->exit->by_harness ||
           condition_fail(why, "the command was killed by signal %d", v->exit->signal);
}

/* Tables -------------------------------------------------------------------------------------- */

#define P    struct condition_payload
#define TEXT FIELD_STR("text", P, text, "text to look for", .flags = FIELD_REQUIRED)
#define PATTERN \
    FIELD_STR("pattern", P, pattern, "a regular expression (PCRE2)", .flags = FIELD_REQUIRED)
#define LINE \
    FIELD_U32("line", P, line, "counted from 0", .flags = FIELD_REQUIRED, FIELD_RANGE(0, LINES_MAX))
#define ROW \
    FIELD_U32("row", P, row, "counted from 0", .flags = FIELD_REQUIRED, FIELD_RANGE(0, LINES_MAX))
#define COL \
    FIELD_U32("col", P, col, "counted from 0", .flags = FIELD_REQUIRED, FIELD_RANGE(0, LINES_MAX))
#define FLAG(name) \
    FIELD_BOOL(#name, P, name, "whether the cell has this attribute", FIELD_HAS(P, has_##name))

static const struct field text_fields[] = {TEXT};
static const struct field pattern_fields[] = {PATTERN};
static const struct field line_text_fields[] = {LINE, TEXT};
static const struct field line_pattern_fields[] = {LINE, PATTERN};
static const struct field cursor_fields[] = {ROW, COL};
static const struct field quiet_fields[] = {FIELD_U64("quiet_ms", P, quiet_ms,
    "time without changes", .flags = FIELD_REQUIRED, FIELD_RANGE(1, 3600 * 1000))};
static const struct field code_fields[] = {FIELD_I64(
    "code", P, code, "the command's exit status", .flags = FIELD_REQUIRED, FIELD_RANGE(0, 255))};
static const struct field style_fields[] = {
    ROW,
    COL,
    FIELD_JSON("fg", P, fg, "text colour, in the format of cells"),
    FIELD_JSON("bg", P, bg, "background colour"),
    FIELD_JSON("underline_color", P, underline_color, "underline colour"),
    FIELD_STR(
        "underline_style", P, underline_style, "none, single, double, curly, dotted or dashed"),
    FIELD_STR("link", P, link, "target of the link"),
    FLAG(bold),
    FLAG(faint),
    FLAG(italic),
    FLAG(underline),
    FLAG(blink),
    FLAG(inverse),
    FLAG(conceal),
    FLAG(strike),
    FLAG(overline),
};

static const struct field golden_fields[] = {
    FIELD_STR(
        "file", P, file, "a text file, below the scenario's directory", .flags = FIELD_REQUIRED),
    FIELD_JSON("mask", P, mask,
        "parts that are not compared: [{\"row\", \"col\", \"rows\", \"cols\"} or "
        "{\"pattern\"}]"),
};

static const struct shape none_shape = {.name = "nothing", .help = "nothing", .size = sizeof(P)};
static const struct shape text_shape = SHAPE("text", P, text_fields, "a text");
static const struct shape pattern_shape = SHAPE("pattern", P, pattern_fields, "a pattern");
static const struct shape line_text_shape =
    SHAPE("line_text", P, line_text_fields, "a line and a text");
static const struct shape line_pattern_shape =
    SHAPE("line_pattern", P, line_pattern_fields, "a line and a pattern");
static const struct shape cursor_shape = SHAPE("place", P, cursor_fields, "a place");
static const struct shape quiet_shape = SHAPE("quiet", P, quiet_fields, "a time");
static const struct shape code_shape = SHAPE("code", P, code_fields, "an exit status");
static const struct shape style_shape = SHAPE("style", P, style_fields, "style of a cell");

static const struct shape golden_shape =
    SHAPE("golden", P, golden_fields, "a file to compare with");

static const struct condition_kind kinds[] = {
    {{"screen_contains", NULL, &text_shape, "the screen shows the text", "{\"text\": \"ready\"}"},
        screen_contains, false},
    {{"screen_not_contains", "not_contains", &text_shape, "the screen does not show the text",
         "{\"text\": \"loading\"}"},
        screen_not_contains, false},
    {{"screen_matches", "regex_match", &pattern_shape, "the screen's lines match the pattern",
         "{\"pattern\": \"total: [0-9]+\"}"},
        screen_matches, false},
    {{"screen_empty", NULL, &none_shape, "the screen is empty", "{}"}, screen_empty, false},
    {{"screen_stable", NULL, &quiet_shape, "nothing has changed for this time",
         "{\"quiet_ms\": 50}"},
        screen_stable, false},
    {{"line_equals", NULL, &line_text_shape, "the line equals the text",
         "{\"line\": 0, \"text\": \"ready\"}"},
        line_equals, false},
    {{"line_contains", NULL, &line_text_shape, "the line contains the text",
         "{\"line\": 0, \"text\": \"ad\"}"},
        line_contains, false},
    {{"line_starts_with", NULL, &line_text_shape, "the line starts with the text",
         "{\"line\": 0, \"text\": \"rea\"}"},
        line_starts_with, false},
    {{"line_ends_with", NULL, &line_text_shape, "the line ends with the text",
         "{\"line\": 0, \"text\": \"dy\"}"},
        line_ends_with, false},
    {{"line_matches", NULL, &line_pattern_shape, "the line matches the pattern",
         "{\"line\": 0, \"pattern\": \"^r.*y$\"}"},
        condition_line_matches, false},
    {{"cursor_at", NULL, &cursor_shape, "the cursor is at this position",
         "{\"row\": 2, \"col\": 5}"},
        condition_cursor_at, false},
    {{"cursor_visible", NULL, &none_shape, "the cursor is shown", "{}"}, cursor_visible, false},
    {{"cursor_hidden", NULL, &none_shape, "the cursor is not shown", "{}"}, cursor_hidden, false},
    {{"title_is", NULL, &text_shape, "the window title equals the text", "{\"text\": \"editor\"}"},
        title_is, false},
    {{"style_at", NULL, &style_shape, "the cell has this style: only the given keys are compared",
         "{\"row\": 0, \"col\": 0, \"bold\": true, \"fg\": {\"ansi_16\": 1}}"},
        style_at, true},
    {{"selected", NULL, &text_shape, "the text is part of the inverse text",
         "{\"text\": \"Open\"}"},
        selected, true},
    {{"screen_matches_golden", NULL, &golden_shape, "the screen's lines equal those of the file",
         "{\"file\": \"main.txt\", \"mask\": [{\"row\": 1, \"col\": 0}]}"},
        screen_matches_golden, true},
    {{"process_exited", NULL, &none_shape, "the command has ended", "{}"}, process_exited, false},
    {{"exit_code", NULL, &code_shape, "the command has ended with this exit status",
         "{\"code\": 0}"},
        exit_code, false},
    {{"no_crash", NULL, &none_shape, "the command was not killed by a signal", "{}"}, no_crash,
        false},
};

static const struct tagged_table table = TAGGED_TABLE("condition", kinds);

static bool check_colors(const struct condition *c, const char *place, struct err *err)
{
    const struct condition_payload *p = &c->payload;
    const struct {
        const char *name;
        const json_t *json;
    } given[] = {{"fg", p->fg}, {"bg", p->bg}, {"underline_color", p->underline_color}};
    color ignored;
    for (size_t i = 0; i < ARRAY_LEN(given); i++)
        if (given[i].json && !color_of(given[i].json, &ignored)) {
            err_set(err, E_PROTOCOL,
                "%s.payload.%s: expected a colour: \"default\", {\"ansi_16\": 0 to 15}, "
                "{\"ansi_256\": 0 to 255} or {\"rgb\": {\"r\", \"g\", \"b\"}}",
                place, given[i].name);
            return err_ctx(err, "field", "%s.payload.%s", place, given[i].name);
        }
    return true;
}

static bool check_underline(const struct condition *c, const char *place, struct err *err)
{
    struct str given = c->payload.underline_style;
    AUTO_CHOICE struct choice choice = CHOICE_INIT(given);
    for (size_t i = 0; i < ARRAY_LEN(underline_names); i++) {
        if (!given.p || str_is(given, underline_names[i]))
            return true;
        choice_add(&choice, underline_names[i]);
    }
    err_set(err, E_PROTOCOL, "%s.payload.underline_style: '" STR_FMT "' is not one of %s", place,
        STR_ARG(condition_shorten(given)), choice_list(&choice));
    return err_ctx(err, "field", "%s.payload.underline_style", place);
}

bool condition_read(const json_t *json, const char *place, struct arena *arena,
    struct condition *ret_condition, struct err *err)
{
    struct condition c = {0};
    size_t kind;
    if (!tagged_read(
            &table, &(struct field_source){json, place, E_PROTOCOL}, arena, &kind, &c.payload, err))
        return false;
    c.kind = &kinds[kind];
    if (!check_colors(&c, place, err) || !check_underline(&c, place, err))
        return false;
    if (c.payload.pattern.p && !regex_new(c.payload.pattern, &c.regex, err)) {
        err_wrap(err, "%s.payload.pattern", place);
        return err_ctx(err, "field", "%s.payload.pattern", place);
    }
    if (c.kind->holds == screen_matches_golden &&
        !golden_read(c.payload.file, c.payload.mask, arena_printf(arena, "%s.payload", place),
            arena, &c.golden, err))
        return false;
    *ret_condition = c;
    return true;
}

void condition_done(struct condition *c)
{
    regex_free(c->regex);
    golden_done(c->golden);
    c->golden = NULL;
    c->regex = NULL;
}

const char *condition_name(const struct condition *c)
{
    return c->kind->tagged.name;
}

bool condition_needs_cells(const struct condition *c)
{
    return c->kind->cells;
}

uint64_t condition_quiet_ms(const struct condition *c)
{
    if (c->golden)
        return golden_quiet_ms(c->golden);
    return c->kind->holds == screen_stable ? c->payload.quiet_ms : 0;
}

bool condition_holds(const struct condition *c, const struct view *view, struct buf *why)
{
    /* A screen that is written to a golden must have settled. */
    uint64_t quiet = c->golden ? golden_quiet_ms(c->golden) : 0;
    if (view->quiet_ms < quiet)
        return condition_fail(
            why, "the screen has not been quiet for %llu ms", (unsigned long long)quiet);
    return c->kind->holds(c, view, why);
}

json_t *condition_schema(void)
{
    return tagged_schema(&table);
}

json_t *condition_one_of(void)
{
    return tagged_one_of(&table);
}
