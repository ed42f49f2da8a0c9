/* Renders one Markdown block with md4c. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/leaf.h"

#include "base/library.h"
#include "base/utf8.h"
#include "tui/mdline.h"
#include "tui/table.h"
#include "tui/theme.h"

#include <md4c.h>
#include <pthread.h>

enum {
    ENTITY_MAX = 12,
};

/* Library ------------------------------------------------------------------------------------- */

#define LIBRARY_FILE "libmd4c.so.0"

static struct md4c {
    __typeof__(md_parse) *parse;
} md4c;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void leaf_load_library(void)
{
    static const char *const names[] = {LIBRARY_FILE};
    static const struct library_call calls[] = {LIBRARY_CALL(struct md4c, parse, md_parse)};
    static const struct library library = LIBRARY(names, calls);
    if (library_load(&library, &md4c))
        md4c.parse = NULL;
}

static bool leaf_library_loaded(void)
{
    pthread_once(&once, leaf_load_library);
    return md4c.parse;
}

bool leaf_check(struct err *err)
{
    return leaf_library_loaded() ||
           err_set(err, E_CONFIG,
               LIBRARY_FILE
               " was not found, and Markdown is shown unformatted; on Debian: apt install "
               "libmd4c0");
}

/* Parsing ------------------------------------------------------------------------------------- */

struct leaf {
    const struct leaf_look *look;
    struct text *out;
    unsigned depth[MD_SPAN_U + 1]; /* number of open spans of each type */
    struct buf href;               /* of the outermost link */
    size_t link_at;                /* offset of its text */
    /* Tables. */
    bool is_table, in_head;
    size_t columns, cells;
    enum table_align align[LEAF_COLUMNS];
};

static struct style style_now(struct leaf *l)
{
    static const struct {
        MD_SPANTYPE span;
        enum theme look;
    } rows[] = {
        {MD_SPAN_CODE, THEME_CODE},
        {MD_SPAN_A, THEME_LINK},
        {MD_SPAN_IMG, THEME_LINK},
        {MD_SPAN_STRONG, THEME_STRONG},
        {MD_SPAN_EM, THEME_EMPHASIS},
        {MD_SPAN_DEL, THEME_STRIKE},
    };
    struct style s = l->look->base;
    if (l->in_head)
        s.attrs |= STYLE_BOLD;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct style *more = &theme[rows[i].look];
        if (!l->depth[rows[i].span])
            continue;
        s.attrs |= more->attrs;
        s.fg = s.fg ? s.fg : more->fg;
        s.underline = MAX(s.underline, more->underline);
    }
    if (l->depth[MD_SPAN_A] || l->depth[MD_SPAN_IMG])
        s.link = text_link(l->out, buf_str(&l->href));
    return s;
}

/* Replaces line breaks within a line by spaces. */
static void leaf_add(struct leaf *l, struct str text)
{
    struct style style = style_now(l);
    struct str part;
    for (bool first = true; str_cut(text, '\n', &part, &text); first = false) {
        if (!first)
            text_add(l->out, STR(" "), &style);
        text_add(l->out, part, &style);
    }
}

static uint32_t numeric_entity(const char *digits)
{
    bool hex = digits[0] == 'x' || digits[0] == 'X';
    unsigned long n = strtoul(digits + hex, NULL, hex ? 16 : 10);
    return n && n <= UTF8_LAST && utf8_is_scalar((uint32_t)n) ? (uint32_t)n : UTF8_REPLACEMENT;
}

static void decode_entity(struct str entity, struct buf *out)
{
    static const struct {
        const char *name, *text;
    } rows[] = {
        {"&amp;", "&"},
        {"&lt;", "<"},
        {"&gt;", ">"},
        {"&quot;", "\""},
        {"&apos;", "'"},
        {"&nbsp;", " "},
        {"&mdash;", "—"},
        {"&ndash;", "–"},
        {"&hellip;", "…"},
        {"&rarr;", "→"},
        {"&larr;", "←"},
        {"&copy;", "©"},
        {"&times;", "×"},
    };
    char digits[ENTITY_MAX], bytes[UTF8_MAX];
    if (str_starts_with(entity, STR("&#")) && entity.n - 3 < sizeof(digits)) {
        snprintf(digits, sizeof(digits), STR_FMT, (int)(entity.n - 3), entity.p + 2);
        buf_add(out, bytes, utf8_write(numeric_entity(digits), bytes));
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (str_is(entity, rows[i].name))
            entity = str_z(rows[i].text);
    buf_add_str(out, entity);
}

static void take_href(struct leaf *l, const MD_ATTRIBUTE *href)
{
    buf_reset(&l->href);
    for (size_t i = 0; href->size && href->substr_offsets[i] < href->size; i++) {
        struct str part = str_n(href->text + href->substr_offsets[i],
            href->substr_offsets[i + 1] - href->substr_offsets[i]);
        if (href->substr_types[i] == MD_TEXT_ENTITY)
            decode_entity(part, &l->href);
        else
            buf_add_str(&l->href, part);
    }
    l->link_at = l->out->bytes.n;
}

/* Adds the URL if the text looks like a different one, or if the terminal does not support
 * links. */
static void end_link(struct leaf *l)
{
    struct str href = buf_str(&l->href);
    struct str text = str_n(l->out->bytes.p + l->link_at, l->out->bytes.n - l->link_at);
    bool says_so = str_eq(text, href) || (href.n > text.n && str_ends_with(href, text) &&
                                             href.n - text.n <= sizeof("https://") - 1);
    bool looks_so = memmem(text.p, text.n, "://", 3) || str_starts_with(text, STR("www."));
    bool linked = text_link(l->out, href) != 0;
    if (says_so || href.n == 0 || (linked && !looks_so && !l->look->show_links))
        return;
    text_add(l->out, STR(" ("), &theme[THEME_DIM]);
    text_add(l->out, href, &theme[THEME_DIM]);
    text_add(l->out, STR(")"), &theme[THEME_DIM]);
}

static int enter_span(MD_SPANTYPE type, void *detail, void *context)
{
    struct leaf *l = context;
    bool link = type == MD_SPAN_A || type == MD_SPAN_IMG;
    if (link && !l->depth[MD_SPAN_A] && !l->depth[MD_SPAN_IMG])
        take_href(l, type == MD_SPAN_A ? &((const MD_SPAN_A_DETAIL *)detail)->href
                                       : &((const MD_SPAN_IMG_DETAIL *)detail)->src);
    l->depth[type]++;
    return 0;
}

static int leave_span(MD_SPANTYPE type, void *detail, void *context)
{
    struct leaf *l = context;
    (void)detail;
    l->depth[type]--;
    if ((type == MD_SPAN_A || type == MD_SPAN_IMG) && !l->depth[MD_SPAN_A] &&
        !l->depth[MD_SPAN_IMG])
        end_link(l);
    return 0;
}

static int enter_block(MD_BLOCKTYPE type, void *detail, void *context)
{
    static const enum table_align aligns[] = {[MD_ALIGN_CENTER] = TABLE_CENTER,
        [MD_ALIGN_RIGHT] = TABLE_RIGHT,
        [MD_ALIGN_DEFAULT] = TABLE_LEFT,
        [MD_ALIGN_LEFT] = TABLE_LEFT};
    struct leaf *l = context;
    if (type == MD_BLOCK_TABLE) {
        l->is_table = true;
        l->columns = ((const MD_BLOCK_TABLE_DETAIL *)detail)->col_count;
        return l->columns > LEAF_COLUMNS;
    }
    if (type == MD_BLOCK_TH || type == MD_BLOCK_TD) {
        l->in_head = type == MD_BLOCK_TH;
        if (l->columns)
            l->align[l->cells % l->columns] = aligns[((const MD_BLOCK_TD_DETAIL *)detail)->align];
        return l->cells++ >= LEAF_CELLS;
    }
    return 0;
}

static int leave_block(MD_BLOCKTYPE type, void *detail, void *context)
{
    struct leaf *l = context;
    (void)detail;
    if (type == MD_BLOCK_TH || type == MD_BLOCK_TD || l->out->open.n)
        text_end(l->out);
    return 0;
}

static int leaf_on_text(MD_TEXTTYPE type, const MD_CHAR *text, MD_SIZE size, void *context)
{
    struct leaf *l = context;
    AUTO_BUF struct buf entity = BUF_INIT(64);
    switch (type) {
    case MD_TEXT_BR:
        if (!l->is_table)
            text_end(l->out);
        break;
    case MD_TEXT_SOFTBR:
        leaf_add(l, STR(" "));
        break;
    case MD_TEXT_NULLCHAR:
        leaf_add(l, STR("\xEF\xBF\xBD"));
        break;
    case MD_TEXT_ENTITY:
        decode_entity(str_n(text, size), &entity);
        leaf_add(l, buf_str(&entity));
        break;
    default:
        leaf_add(l, str_n(text, size));
    }
    return 0;
}

static bool read_leaf(struct leaf *l, struct str source)
{
    static const MD_PARSER parser = {
        .flags = MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH | MD_FLAG_PERMISSIVEURLAUTOLINKS |
                 MD_FLAG_NOHTML | MD_FLAG_NOINDENTEDCODEBLOCKS,
        .enter_block = enter_block,
        .leave_block = leave_block,
        .enter_span = enter_span,
        .leave_span = leave_span,
        .text = leaf_on_text,
    };
    return leaf_library_loaded() && md4c.parse(source.p, (MD_SIZE)source.n, &parser, l) == 0;
}

/* Escapes the start of a line that md4c would parse as a block: it is known to be text. */
static struct str escape_start(struct str line, struct buf *out)
{
    struct mdline_marker marker;
    size_t n = 0;
    if (mdline_marker(line, &marker))
        while (line.p[n] != marker.mark)
            n++;
    else if (line.n == 0 || (!memchr("#>=-", line.p[0], 4) && !mdline_fence(line)))
        return line;
    buf_add(out, line.p, n);
    buf_add_byte(out, '\\');
    return str_skip(line, n);
}

/* Prepares the input of md4c: valid UTF-8, one paragraph, and no link reference definition, which
 * md4c would not output. */
static void leaf_prepare_source(struct str source, struct buf *out)
{
    struct str line, rest = source;
    for (bool first = true; str_cut(rest, '\n', &line, &rest); first = false) {
        if (!first)
            buf_add_byte(out, '\n');
        else if (str_starts_with(line, STR("[")) && memmem(line.p, line.n, "]:", 2))
            buf_add_byte(out, '\\');
        utf8_add_lossy(out, escape_start(line, out));
    }
}

static void as_written(struct str source, const struct leaf_look *look, struct text *out)
{
    for (struct str line; str_cut(source, '\n', &line, &source);) {
        text_add(out, line, &look->base);
        text_end(out);
    }
}

void leaf_paragraph(struct str source, const struct leaf_look *look, struct text *out)
{
    AUTO_BUF struct buf clean = BUF_INIT(4 * source.n + 16);
    AUTO_TEXT struct text lines = TEXT_INIT;
    struct leaf l = {.look = look, .out = &lines, .href = BUF_INIT(LINK_URI_MAX)};
    leaf_prepare_source(source, &clean);
    bool read = read_leaf(&l, buf_str(&clean)) && !l.is_table;
    buf_done(&l.href);
    if (!read) {
        as_written(source, look, out);
        return;
    }
    if (lines.open.n)
        text_end(&lines);
    for (size_t i = 0; i < lines.n; i++)
        text_copy(out, &lines, i);
}

bool leaf_table(struct str source, const struct leaf_look *look, unsigned width, struct text *out)
{
    AUTO_BUF struct buf clean = BUF_INIT(4 * source.n + 16);
    AUTO_TEXT struct text cells = TEXT_INIT;
    struct leaf l = {.look = look, .out = &cells, .href = BUF_INIT(LINK_URI_MAX)};
    utf8_add_lossy(&clean, source);
    bool read = read_leaf(&l, buf_str(&clean)) && l.is_table && cells.n == l.cells;
    buf_done(&l.href);
    if (!read)
        return false;
    table_draw(
        &(struct table){.columns = l.columns, .cells = &cells, .align = l.align}, width, out);
    return true;
}
