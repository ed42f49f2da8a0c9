/* Markdown block structure, line by line: containers and the open leaf block. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/markdown.h"

#include "tui/highlight.h"
#include "tui/leaf.h"
#include "tui/mdline.h"
#include "tui/theme.h"

enum {
    CODE_INDENT = 4,
    CODE_SHOWN = 2, /* indentation of code */
    MARKER_MAX = 32,
    BLANKS_MAX = 1000, /* maximum consecutive empty lines of code */
};

enum leaf_kind {
    LEAF_NONE,
    LEAF_PARAGRAPH,
    LEAF_TABLE,
    LEAF_FENCE,
    LEAF_INDENTED,
    LEAF_HTML,
};

/* A block quote or a list item. */
struct markdown_container {
    bool quote;
    char mark;         /* of a list item: - + * . ) */
    unsigned number;   /* of an ordered list item */
    size_t offset;     /* columns before its content */
    bool fresh;        /* nothing of it has been printed yet */
    unsigned char box; /* task list: 1 open, 2 done */
};

struct markdown_state {
    struct markdown_container containers[MARKDOWN_DEPTH];
    size_t n;
    enum leaf_kind leaf;
    struct buf source; /* of a paragraph or table: lines with line breaks */
    size_t lines;      /* of a paragraph or table */
    size_t head;       /* of a table: length of its first two lines */
    bool repeated;     /* they were printed, and are repeated before further rows */
    char fence;
    size_t fence_length, fence_indent;
    struct highlight highlight;
    size_t blanks;   /* pending, in indented code */
    bool blank, any; /* a blank line was seen; something was printed */
};

struct markdown {
    struct markdown_options options;
    struct markdown_state state;
    struct buf rest; /* incomplete line */
    size_t seen;     /* bytes of it already searched for a line break */
    bool within;     /* it continues a line that was too long */
};

/* The state, and the destination of finished rows. */
struct markdown_writer {
    const struct markdown_options *options;
    struct markdown_state *s;
    struct text *out;
};

/* Prefixes ------------------------------------------------------------------------------------ */

static bool is_ordered(const struct markdown_container *c)
{
    return c->mark == '.' || c->mark == ')';
}

static bool is_code(const struct markdown_state *s)
{
    return s->leaf == LEAF_FENCE || s->leaf == LEAF_INDENTED || s->leaf == LEAF_HTML;
}

/* Formats an item's marker. Returns its width. */
static size_t marker_text(const struct markdown_container *c, size_t depth, char out[MARKER_MAX])
{
    static const char *const bullets[] = {"•", "◦", "▪"};
    static const char *const boxes[] = {"", "[ ]", "[x]"};
    if (c->box)
        return (size_t)snprintf(out, MARKER_MAX, "%s ", boxes[c->box]);
    if (is_ordered(c))
        return (size_t)snprintf(out, MARKER_MAX, "%u%c ", c->number, c->mark);
    snprintf(out, MARKER_MAX, "%s ", bullets[depth % ARRAY_LEN(bullets)]);
    return 2;
}

/* Adds the prefix of a row: item markers only in the item's first row. */
static void open_prefix(const struct markdown_state *s, size_t n, bool first, struct text *prefix)
{
    size_t depth = 0;
    for (size_t i = 0; i < n; i++) {
        const struct markdown_container *c = &s->containers[i];
        char marker[MARKER_MAX];
        if (c->quote) {
            text_add(prefix, STR("│ "), &theme[THEME_QUOTE]);
            continue;
        }
        size_t width = marker_text(c, depth, marker);
        if (first && c->fresh)
            text_add_z(prefix, marker, &theme[THEME_BULLET]);
        else
            text_spaces(prefix, width, NULL);
        depth += !is_ordered(c);
    }
}

static void markdown_add_prefix(
    const struct markdown_state *s, size_t n, bool first, struct text *prefix)
{
    open_prefix(s, n, first, prefix);
    text_end(prefix);
}

static void add_code_prefix(const struct markdown_state *s, bool first, struct text *prefix)
{
    open_prefix(s, s->n, first, prefix);
    text_spaces(prefix, is_code(s) ? CODE_SHOWN : 0, NULL);
    text_end(prefix);
}

/* Prints the blank line between the previous block and this one, within their common containers. */
static void put_blank(struct markdown_writer *w)
{
    AUTO_TEXT struct text prefix = TEXT_INIT, empty = TEXT_INIT;
    size_t n = 0;
    bool wanted = w->s->blank && w->s->any;
    w->s->blank = false;
    if (!wanted)
        return;
    while (n < w->s->n && !w->s->containers[n].fresh)
        n++;
    while (n > 0 && !w->s->containers[n - 1].quote)
        n--;
    markdown_add_prefix(w->s, n, false, &prefix);
    text_end(&empty);
    text_wrap(
        w->out, &empty, 0, &(struct text_wrap){.width = w->options->width, .prefix = &prefix});
}

static void markdown_put_line(
    struct markdown_writer *w, const struct text *lines, size_t line, bool code)
{
    AUTO_TEXT struct text prefix = TEXT_INIT;
    add_code_prefix(w->s, true, &prefix);
    add_code_prefix(w->s, false, &prefix);
    text_wrap(w->out, lines, line,
        &(struct text_wrap){
            .width = code ? w->options->width : MIN(w->options->width, (unsigned)MARKDOWN_WIDTH),
            .letters = code,
            .prefix = &prefix});
    for (size_t i = 0; i < w->s->n; i++)
        w->s->containers[i].fresh = false;
    w->s->any = true;
}

static size_t prefix_width(const struct markdown_state *s)
{
    AUTO_TEXT struct text prefix = TEXT_INIT;
    markdown_add_prefix(s, s->n, false, &prefix);
    return prefix.lines[0].width;
}

/* Blocks -------------------------------------------------------------------------------------- */

static struct leaf_look markdown_look_of(const struct markdown_writer *w, enum theme base)
{
    struct leaf_look look = {.base = theme[base], .show_links = w->options->show_links};
    return look;
}

/* Consumes "[ ] " or "[x] " at the start of an item. */
static struct str take_box(struct markdown_state *s, struct str source)
{
    struct markdown_container *c = s->n ? &s->containers[s->n - 1] : NULL;
    if (!c || c->quote || !c->fresh || source.n < 4 || source.p[0] != '[' ||
        !memchr(" xX", source.p[1], 3) || source.p[2] != ']' || source.p[3] != ' ')
        return source;
    c->box = source.p[1] == ' ' ? 1 : 2;
    return str_skip(source, 4);
}

static void markdown_put_lines(struct markdown_writer *w, const struct text *lines, bool code)
{
    put_blank(w);
    for (size_t i = 0; i < lines->n; i++)
        markdown_put_line(w, lines, i, code);
}

static void put_paragraph(struct markdown_writer *w, struct str source, enum theme base)
{
    AUTO_TEXT struct text lines = TEXT_INIT;
    struct leaf_look look = markdown_look_of(w, base);
    leaf_paragraph(take_box(w->s, source), &look, &lines);
    markdown_put_lines(w, &lines, false);
}

static void put_table(struct markdown_writer *w)
{
    AUTO_TEXT struct text lines = TEXT_INIT;
    struct leaf_look look = markdown_look_of(w, THEME_TEXT);
    size_t prefix = prefix_width(w->s), width = w->options->width;
    width = prefix < width ? width - prefix : 1;
    if (leaf_table(buf_str(&w->s->source), &look, (unsigned)width, &lines))
        markdown_put_lines(w, &lines, true);
    else
        put_paragraph(w, buf_str(&w->s->source), THEME_TEXT);
}

static void put_code(struct markdown_writer *w, struct str code)
{
    AUTO_TEXT struct text lines = TEXT_INIT;
    put_blank(w);
    if (w->s->leaf == LEAF_HTML)
        text_add(&lines, code, &theme[THEME_DIM]);
    else
        highlight_line(&w->s->highlight, code, &lines);
    text_end(&lines);
    markdown_put_line(w, &lines, 0, true);
}

static void put_rule(struct markdown_writer *w)
{
    AUTO_TEXT struct text lines = TEXT_INIT;
    size_t prefix = prefix_width(w->s);
    for (size_t i = prefix; i < MIN(w->options->width, (unsigned)MARKDOWN_WIDTH); i++)
        text_add(&lines, STR("─"), &theme[THEME_RULE]);
    text_end(&lines);
    markdown_put_lines(w, &lines, true);
}

static void markdown_put_heading(struct markdown_writer *w, unsigned level, struct str text)
{
    w->s->blank = true; /* headings are surrounded by blank lines */
    put_paragraph(w, text, level == 1 ? THEME_TITLE : level == 2 ? THEME_HEADING : THEME_STRONG);
    w->s->blank = true;
}

/* Prints the collected text; the block may continue. */
static void flush_leaf(struct markdown_writer *w)
{
    struct markdown_state *s = w->s;
    if (s->leaf == LEAF_TABLE && (s->source.n > s->head || !s->repeated))
        put_table(w);
    else if (s->leaf == LEAF_PARAGRAPH && s->source.n)
        put_paragraph(w, buf_str(&s->source), THEME_TEXT);
    buf_truncate(&s->source, s->head);
    s->repeated = true;
}

static void close_leaf(struct markdown_writer *w)
{
    struct markdown_state *s = w->s;
    flush_leaf(w);
    buf_reset(&s->source);
    s->leaf = LEAF_NONE;
    s->lines = s->head = s->blanks = 0;
    s->repeated = false;
    s->highlight = (struct highlight){0};
}

/* Prints the marker of an item that is empty. */
static void put_mark(struct markdown_writer *w)
{
    AUTO_TEXT struct text empty = TEXT_INIT;
    text_end(&empty);
    if (w->s->n && w->s->containers[w->s->n - 1].fresh)
        markdown_put_lines(w, &empty, true);
}

static void close_containers(struct markdown_writer *w, size_t depth)
{
    close_leaf(w);
    if (w->s->n > depth)
        put_mark(w);
    w->s->n = depth;
}

/* Lines --------------------------------------------------------------------------------------- */

/* Returns how many of the open containers the line continues, and strips their prefixes. */
static size_t markdown_match(const struct markdown_state *s, struct str *line)
{
    size_t depth = 0;
    for (; depth < s->n; depth++) {
        const struct markdown_container *c = &s->containers[depth];
        size_t indent = mdline_indent(*line);
        struct str rest = str_skip(*line, indent);
        if (!c->quote && indent >= c->offset)
            *line = str_skip(*line, c->offset);
        else if (!c->quote && mdline_blank(*line))
            *line = rest;
        else if (c->quote && indent < CODE_INDENT && str_starts_with(rest, STR(">")))
            *line = str_skip(rest, str_starts_with(rest, STR("> ")) ? 2 : 1);
        else
            break;
    }
    return depth;
}

static void open_container(struct markdown_writer *w, size_t depth, struct markdown_container c)
{
    close_containers(w, depth);
    c.fresh = true;
    w->s->containers[w->s->n++] = c;
}

/* Whether a marker begins an item. Within a paragraph it begins a list only if it is
 * unambiguous. */
static bool opens_item(const struct markdown_state *s, size_t depth, struct mdline_marker *m)
{
    const struct markdown_container *sibling = depth < s->n ? &s->containers[depth] : NULL;
    bool ordered = m->mark == '.' || m->mark == ')';
    if (sibling && !sibling->quote && sibling->mark == m->mark) {
        m->number = sibling->number + 1;
        return true;
    }
    bool interrupts = s->leaf == LEAF_PARAGRAPH && depth == s->n;
    return !interrupts || (!m->empty && (!ordered || m->number == 1));
}

/* Opens the quotes and items that begin in a line. */
static size_t open_containers(struct markdown_writer *w, size_t depth, struct str *line)
{
    struct mdline_marker m;
    while (depth < MARKDOWN_DEPTH) {
        size_t indent = mdline_indent(*line);
        struct str rest = str_skip(*line, indent);
        if (indent >= CODE_INDENT)
            break;
        if (str_starts_with(rest, STR(">"))) {
            open_container(w, depth, (struct markdown_container){.quote = true});
            *line = str_skip(rest, str_starts_with(rest, STR("> ")) ? 2 : 1);
        } else if (!mdline_rule(rest) && mdline_marker(rest, &m) && opens_item(w->s, depth, &m)) {
            open_container(w, depth,
                (struct markdown_container){
                    .mark = m.mark, .number = m.number, .offset = indent + m.width});
            *line = str_skip(rest, m.width);
        } else {
            break;
        }
        depth = w->s->n;
    }
    return depth;
}

static void open_fence(struct markdown_writer *w, size_t indent, size_t length, struct str line)
{
    struct str info = str_skip(line, length), word;
    info = str_skip(info, mdline_indent(info));
    if (!str_cut(info, ' ', &word, &info))
        word = STR("");
    w->s->leaf = LEAF_FENCE;
    w->s->fence = line.p[0];
    w->s->fence_length = length;
    w->s->fence_indent = indent;
    w->s->highlight = highlight_start(word);
}

/* Opens a leaf block other than a paragraph or table. Returns false if the line is text. */
static bool open_leaf(struct markdown_writer *w, size_t depth, struct str line)
{
    struct markdown_state *s = w->s;
    size_t indent = mdline_indent(line), fence;
    struct str rest = str_skip(line, indent), text;
    bool paragraph = s->leaf == LEAF_PARAGRAPH;
    unsigned level;
    if (indent >= CODE_INDENT) {
        if (paragraph)
            return false;
        close_containers(w, depth);
        s->leaf = LEAF_INDENTED;
        put_code(w, str_skip(line, CODE_INDENT));
    } else if (paragraph && depth == s->n && (level = mdline_underline(rest)) && s->source.n) {
        markdown_put_heading(w, level, buf_str(&s->source));
        buf_reset(&s->source);
        close_leaf(w);
    } else if ((level = mdline_heading(rest, &text))) {
        close_containers(w, depth);
        markdown_put_heading(w, level, text);
    } else if ((fence = mdline_fence(rest))) {
        close_containers(w, depth);
        open_fence(w, indent, fence, rest);
    } else if (mdline_rule(rest)) {
        close_containers(w, depth);
        put_rule(w);
    } else if (!paragraph && mdline_html(rest)) {
        close_containers(w, depth);
        s->leaf = LEAF_HTML;
        put_code(w, line);
    } else {
        return false;
    }
    return true;
}

/* The second line of a paragraph may turn it into a table. */
static void look_for_table(struct markdown_state *s, struct str line)
{
    struct str first, rest = buf_str(&s->source);
    size_t columns = mdline_delimiters(line);
    if (s->lines != 2 || !columns || columns > LEAF_COLUMNS ||
        !str_cut(rest, '\n', &first, &rest) || mdline_cells(first) != columns)
        return;
    s->leaf = LEAF_TABLE;
    s->head = s->source.n;
}

static void markdown_add_text(struct markdown_writer *w, struct str line)
{
    struct markdown_state *s = w->s;
    line = str_skip(line, mdline_indent(line));
    if (s->source.n && s->source.n + line.n + 1 > LEAF_MAX)
        flush_leaf(w);
    if (s->leaf == LEAF_NONE)
        s->leaf = LEAF_PARAGRAPH;
    buf_add_str(&s->source, line);
    buf_add_byte(&s->source, '\n');
    s->lines += s->lines < 3;
    if (s->leaf == LEAF_PARAGRAPH)
        look_for_table(s, line);
}

/* Handles lines of code and HTML, which are verbatim. Returns false if the block ended before this
 * line. */
static bool take_verbatim(struct markdown_writer *w, bool all, struct str line)
{
    struct markdown_state *s = w->s;
    size_t indent = mdline_indent(line);
    bool blank = mdline_blank(line);
    if (s->leaf == LEAF_FENCE && all) {
        if (indent < CODE_INDENT &&
            mdline_fence_ends(str_skip(line, indent), s->fence, s->fence_length))
            close_leaf(w);
        else
            put_code(w, str_skip(line, MIN(indent, s->fence_indent)));
        return true;
    }
    if (s->leaf == LEAF_HTML && all && !blank) {
        put_code(w, line);
        return true;
    }
    if (s->leaf == LEAF_INDENTED && all && blank) {
        s->blanks += s->blanks < BLANKS_MAX;
        s->blank = true;
        return true;
    }
    if (s->leaf == LEAF_INDENTED && all && indent >= CODE_INDENT) {
        s->blank = false;
        for (; s->blanks; s->blanks--)
            put_code(w, STR(""));
        put_code(w, str_skip(line, CODE_INDENT));
        return true;
    }
    return false;
}

static void take_blank(struct markdown_writer *w, size_t depth)
{
    if (depth < w->s->n)
        close_containers(w, depth);
    close_leaf(w);
    put_mark(w);
    w->s->blank = true;
}

static void markdown_parse_line(struct markdown_writer *w, struct str line)
{
    struct markdown_state *s = w->s;
    size_t depth = markdown_match(s, &line);
    if (take_verbatim(w, depth == s->n, line))
        return;
    if (is_code(s))
        close_leaf(w);
    if (mdline_blank(line)) {
        take_blank(w, depth);
        return;
    }
    size_t opened = open_containers(w, depth, &line);
    bool same = opened == depth;
    if (mdline_blank(line))
        return; /* an item that begins with an empty line */
    if (open_leaf(w, opened, line))
        return;
    bool lazy = same && depth < s->n && s->leaf == LEAF_PARAGRAPH;
    if (!lazy && depth < s->n && same)
        close_containers(w, depth);
    markdown_add_text(w, line);
}

/* Handles the rest of a line that was too long: it cannot begin a block. */
static void take_more(struct markdown_writer *w, struct str line)
{
    if (w->s->leaf == LEAF_NONE || w->s->leaf == LEAF_PARAGRAPH || w->s->leaf == LEAF_TABLE)
        markdown_add_text(w, line);
    else
        put_code(w, line);
}

static void markdown_accept_line(struct markdown_writer *w, struct str line, bool within)
{
    AUTO_BUF struct buf expanded = BUF_INIT(LEAF_MAX * 4 + 16);
    if (str_ends_with(line, STR("\r")))
        line.n--;
    mdline_expand(line, &expanded);
    if (within)
        take_more(w, line);
    else
        markdown_parse_line(w, buf_str(&expanded));
}

/* Stream -------------------------------------------------------------------------------------- */

static void state_init(struct markdown_state *s)
{
    *s = (struct markdown_state){.source = BUF_INIT(LEAF_MAX * 8)};
}

struct markdown *markdown_new(const struct markdown_options *options)
{
    struct markdown *m = base_alloc(sizeof(*m));
    *m = (struct markdown){.options = *options, .rest = BUF_INIT(LEAF_MAX * 2)};
    m->options.width = MAX(1u, options->width);
    state_init(&m->state);
    return m;
}

void markdown_free(struct markdown *m)
{
    if (!m)
        return;
    buf_done(&m->state.source);
    buf_done(&m->rest);
    free(m);
}

void markdown_set_width(struct markdown *m, unsigned width)
{
    m->options.width = MAX(1u, width);
}

/* Returns where to split a long line: at a space, otherwise between characters. */
static size_t cut_long(struct str line)
{
    size_t n = line.n;
    while (n > line.n / 2 && line.p[n - 1] != ' ')
        n--;
    if (n > line.n / 2)
        return n;
    n = line.n;
    while (n > line.n - 4 && ((uint8_t)line.p[n - 1] & 0xC0) == 0x80)
        n--;
    return (uint8_t)line.p[n - 1] >= 0xC0 ? n - 1 : line.n;
}

/* Finds the next line. Returns false if it is incomplete. */
static bool markdown_next_line(struct markdown *m, struct str rest, size_t *ret_n, bool *ret_whole)
{
    const char *end = memchr(rest.p + m->seen, '\n', MIN(rest.n, (size_t)LEAF_MAX) - m->seen);
    *ret_whole = end;
    if (end)
        *ret_n = (size_t)(end - rest.p);
    else if (rest.n >= LEAF_MAX)
        *ret_n = cut_long(str_head(rest, LEAF_MAX));
    else
        m->seen = rest.n;
    return end || rest.n >= LEAF_MAX;
}

static void markdown_drain(struct markdown *m, struct text *finished)
{
    struct markdown_writer w = {&m->options, &m->state, finished};
    size_t at = 0, n;
    bool whole;
    while (m->rest.n > at && markdown_next_line(m, str_skip(buf_str(&m->rest), at), &n, &whole)) {
        markdown_accept_line(&w, str_n(m->rest.p + at, n), m->within);
        m->within = !whole;
        m->seen = 0;
        at += n + whole;
    }
    if (at == 0)
        return;
    memmove(m->rest.p, m->rest.p + at, m->rest.n - at);
    m->rest.n -= at;
}

void markdown_feed(struct markdown *m, struct str delta, struct text *finished)
{
    while (delta.n) {
        struct str part = str_head(delta, LEAF_MAX);
        buf_add_str(&m->rest, part);
        markdown_drain(m, finished);
        delta = str_skip(delta, part.n);
    }
}

static void markdown_finish(struct markdown_writer *w, struct str rest, bool within)
{
    if (rest.n)
        markdown_accept_line(w, rest, within);
    close_containers(w, 0);
}

void markdown_live(const struct markdown *m, struct text *rest)
{
    struct markdown_state copy = m->state;
    copy.source = BUF_INIT(m->state.source.max);
    buf_add_str(&copy.source, buf_str(&m->state.source));
    struct markdown_writer w = {&m->options, &copy, rest};
    markdown_finish(&w, buf_str(&m->rest), m->within);
    buf_done(&copy.source);
}

void markdown_end(struct markdown *m, struct text *finished)
{
    struct markdown_writer w = {&m->options, &m->state, finished};
    markdown_finish(&w, buf_str(&m->rest), m->within);
    buf_done(&m->state.source);
    state_init(&m->state);
    buf_reset(&m->rest);
    m->seen = 0;
    m->within = false;
}
