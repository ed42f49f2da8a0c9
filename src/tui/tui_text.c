/* Lines of styled text: sanitized when added, wrapped between words. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/tui_text.h"

#include "base/grow.h"
#include "base/utf8.h"
#include "term/look.h"
#include "term/unicode.h"
#include "tui/canvas.h"

enum {
    CLUSTER_MAX = CANVAS_TEXT,
    ZWNJ = 0x200C,
    ZWJ = 0x200D,
    TAG_FIRST = 0xE0020, /* tags in the flags of England, Scotland, Wales */
    TAG_LAST = 0xE007F,
};

static const struct style no_style = {0};

/* Memory -------------------------------------------------------------------------------------- */

void text_done(struct text *t)
{
    buf_done(&t->bytes);
    free(t->spans);
    free(t->lines);
    link_table_done(&t->links);
    *t = TEXT_INIT;
}

void text_reset(struct text *t)
{
    size_t much =
        t->bytes.cap + t->spans_cap * sizeof(*t->spans) + t->lines_cap * sizeof(*t->lines);
    if (much > TEXT_KEPT) {
        text_done(t);
        return;
    }
    buf_reset(&t->bytes);
    t->n = t->n_spans = 0;
    t->open = (struct text_line){0};
    if (t->links.n > 1) {
        link_table_done(&t->links);
        link_table_init(&t->links);
    }
}

/* Whether the new bytes could join the last cluster: then they need a separate span, since clusters
 * are determined within spans. */
static bool joins(const struct text *t, struct str bytes)
{
    uint32_t last = 0, first = 0;
    struct str before = str_n(t->bytes.p, t->bytes.n);
    size_t back = 1;
    while (
        back < UTF8_MAX && back < before.n && ((uint8_t)before.p[before.n - back] & 0xC0) == 0x80)
        back++;
    if (utf8_decode(str_skip(before, before.n - back), &last) == 0 ||
        utf8_decode(bytes, &first) == 0)
        return true;
    struct grapheme state = GRAPHEME_START;
    (void)grapheme_joins(&state, unicode_class(last));
    return last == ZWJ || grapheme_joins(&state, unicode_class(first));
}

/* Appends sanitized bytes in a style. */
static void text_append_bytes(
    struct text *t, struct str bytes, size_t width, const struct style *style)
{
    size_t at = t->bytes.n;
    struct text_span *last = t->open.n ? &t->spans[t->n_spans - 1] : NULL;
    bool same = last && memcmp(&last->style, style, sizeof(*style)) == 0 && !joins(t, bytes);
    char *room = bytes.n ? buf_reserve(&t->bytes, bytes.n) : NULL;
    if (!room)
        return;
    memcpy(room, bytes.p, bytes.n);
    buf_grown(&t->bytes, bytes.n);
    t->open.width += width;
    if (same) {
        last->n += bytes.n;
        return;
    }
    GROW(t->spans, t->n_spans, t->spans_cap, GROW_MAX);
    t->spans[t->n_spans++] = (struct text_span){.at = at, .n = bytes.n, .style = *style};
    t->open.n++;
}

void text_end(struct text *t)
{
    GROW(t->lines, t->n, t->lines_cap, GROW_MAX);
    t->lines[t->n++] = t->open;
    t->open = (struct text_line){.first = t->n_spans};
}

/* Sanitizing ---------------------------------------------------------------------------------- */

static bool text_is_plain(char c)
{
    return c >= ' ' && c < 0x7F;
}

static size_t text_plain_length(struct str bytes)
{
    size_t n = 0;
    while (n < bytes.n && text_is_plain(bytes.p[n]))
        n++;
    /* The last character may be the start of a cluster. */
    return n && n < bytes.n && (uint8_t)bytes.p[n] >= 0x80 ? n - 1 : n;
}

size_t text_cluster(struct str bytes, unsigned *ret_width)
{
    if (bytes.n && text_is_plain(bytes.p[0]) && (bytes.n == 1 || (uint8_t)bytes.p[1] < 0x80)) {
        *ret_width = 1;
        return 1;
    }
    return canvas_cluster(bytes, ret_width);
}

/* Joiners, non-joiners and tags are allowed only within a cluster. */
static bool may_stand(uint32_t codepoint, uint32_t first)
{
    bool pictograph = (unicode_class(first) & UNICODE_BREAK_MASK) == BREAK_PICTOGRAPH;
    if (utf8_shown_as_is(codepoint))
        return look_drawable(codepoint);
    if (codepoint == ZWJ || codepoint == ZWNJ)
        return first >= 0x80 && utf8_shown_as_is(first);
    return pictograph && codepoint >= TAG_FIRST && codepoint <= TAG_LAST;
}

/* Returns how much of a cluster to keep: all, its start if it is too long, 0 if it must not be
 * shown. */
static size_t text_kept_length(struct str cluster)
{
    uint32_t codepoint, first = 0;
    for (size_t at = 0, n; at < cluster.n; at += n) {
        n = utf8_decode(str_skip(cluster, at), &codepoint);
        if (n && at == 0)
            first = codepoint;
        if (n == 0 || !may_stand(codepoint, first))
            return 0;
        if (at + n > CLUSTER_MAX)
            return at;
    }
    return cluster.n;
}

static void text_add_escaped(struct text *t, struct str bytes, const struct style *style)
{
    AUTO_BUF struct buf safe = BUF_INIT(bytes.n * 12 + 1);
    utf8_add_printable(&safe, bytes);
    if (text_plain_length(buf_str(&safe)) == safe.n) {
        text_append_bytes(t, buf_str(&safe), safe.n, style);
        return;
    }
    for (struct str rest = buf_str(&safe); rest.n;) {
        unsigned width;
        size_t n = canvas_cluster(rest, &width);
        bool lost = width == 0 || text_kept_length(str_head(rest, n)) != n;
        text_append_bytes(
            t, lost ? STR("\xEF\xBF\xBD") : str_head(rest, n), lost ? 1 : width, style);
        rest = str_skip(rest, n);
    }
}

/* Adds a cluster that is not plain ASCII. */
static void add_cluster(struct text *t, struct str cluster, const struct style *style)
{
    unsigned width, first;
    uint32_t codepoint;
    size_t n = text_kept_length(cluster), one = utf8_decode(cluster, &codepoint);
    if (n == 0) {
        text_add_escaped(t, cluster, style);
        return;
    }
    (void)canvas_cluster(str_head(cluster, n), &width);
    first = unicode_width(unicode_class(codepoint));
    if (first > width) { /* a later code point makes it narrow, which not all terminals support */
        n = one;
        width = first;
    }
    if (width == 0)
        text_append_bytes(t, STR("\xEF\xBF\xBD"), 1, style);
    else
        text_append_bytes(t, str_head(cluster, n), width, style);
}

void text_add(struct text *t, struct str bytes, const struct style *style)
{
    unsigned width;
    if (!style)
        style = &no_style;
    while (bytes.n) {
        size_t n = text_plain_length(bytes);
        if (n) {
            text_append_bytes(t, str_head(bytes, n), n, style);
        } else if (bytes.p[0] == '\n') {
            text_end(t);
            n = 1;
        } else if (bytes.p[0] == '\t') {
            text_spaces(t, TEXT_TAB - t->open.width % TEXT_TAB, style);
            n = 1;
        } else if (str_starts_with(bytes, STR("\r\n"))) {
            n = 1;
        } else {
            n = canvas_cluster(bytes, &width);
            add_cluster(t, str_head(bytes, n), style);
        }
        bytes = str_skip(bytes, n);
    }
}

void text_add_z(struct text *t, const char *z, const struct style *style)
{
    text_add(t, str_z(z), style);
}

void text_spaces(struct text *t, size_t n, const struct style *style)
{
    static const char blanks[] = "                                ";
    for (size_t part; n; n -= part) {
        part = MIN(n, sizeof(blanks) - 1);
        text_append_bytes(t, str_n(blanks, part), part, style ? style : &no_style);
    }
}

bool text_steady(struct str cluster, unsigned width)
{
    static const struct {
        uint32_t first, last;
        unsigned width;
    } agreed[] = {
        {0x20, 0x25FF, 1},
        {0x3001, 0x3029, 2},
        {0x3041, 0x3096, 2},
        {0x30A1, 0x30FE, 2},
        {0x3400, 0x4DBF, 2},
        {0x4E00, 0x9FFF, 2},
        {0xAC00, 0xD7A3, 2},
        {0xFF01, 0xFF5E, 2},
    };
    uint32_t codepoint;
    if (cluster.n == 1)
        return true;
    if (utf8_decode(cluster, &codepoint) != cluster.n)
        return false;
    unsigned class = unicode_class(codepoint) & UNICODE_BREAK_MASK;
    if (class != BREAK_OTHER && class != BREAK_LV && class != BREAK_LVT)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(agreed); i++)
        if (codepoint >= agreed[i].first && codepoint <= agreed[i].last)
            return agreed[i].width == width;
    return false;
}

/* Links --------------------------------------------------------------------------------------- */

uint32_t text_link(struct text *t, struct str uri)
{
    static const char *const schemes[] = {"http://", "https://", "mailto:"};
    bool known = false;
    for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
        known |= str_starts_with(uri, str_z(schemes[i]));
    for (size_t i = 0; i < uri.n; i++)
        known &= uri.p[i] > ' ' && uri.p[i] < 0x7F;
    return known ? link_intern(&t->links, uri, STR("")) : 0;
}

struct str text_uri(const struct text *t, uint32_t link)
{
    return link_uri(&t->links, link);
}

/* Lines --------------------------------------------------------------------------------------- */

struct str text_bytes(const struct text *t, const struct text_span *span)
{
    return str_n(t->bytes.p + span->at, span->n);
}

const struct text_span *text_spans(const struct text *t, size_t line)
{
    return t->spans + t->lines[line].first;
}

static struct style style_for(struct text *to, const struct text *from, const struct style *style)
{
    struct style s = *style;
    if (s.link && to != from)
        s.link = link_intern(&to->links, text_uri(from, s.link), STR(""));
    return s;
}

void text_append(struct text *to, const struct text *from, size_t line)
{
    text_cut(to, from, line, 0, SIZE_MAX);
}

void text_copy(struct text *to, const struct text *from, size_t line)
{
    text_append(to, from, line);
    text_end(to);
}

void text_cut(struct text *to, const struct text *from, size_t line, size_t column, size_t width)
{
    size_t at = 0;
    for (size_t i = 0; i < from->lines[line].n; i++) {
        const struct text_span *span = text_spans(from, line) + i;
        struct style style = style_for(to, from, &span->style);
        struct str rest = text_bytes(from, span);
        if (column == 0 && width == SIZE_MAX) {
            text_append_bytes(to, rest, 0, &style);
            continue;
        }
        for (unsigned w; rest.n;) {
            size_t n = text_cluster(rest, &w);
            if (at >= column && at + w - column <= width)
                text_append_bytes(to, str_head(rest, n), w, &style);
            at += w;
            rest = str_skip(rest, n);
        }
    }
    if (column == 0 && width == SIZE_MAX)
        to->open.width += from->lines[line].width;
}

/* Wrapping ------------------------------------------------------------------------------------ */

/* A position in a line. */
struct text_place {
    size_t span, at; /* offset in the span */
};

struct text_wrapper {
    struct text *to;
    const struct text *from;
    size_t line;
    const struct text_wrap *how;
    bool prefixed;
    unsigned width; /* without the prefix */
    size_t rows;
};

static bool text_next_cluster(
    const struct text_wrapper *w, struct text_place *p, struct str *ret_cluster, unsigned *ret_w)
{
    const struct text_line *line = &w->from->lines[w->line];
    while (p->span < line->n) {
        const struct text_span *span = text_spans(w->from, w->line) + p->span;
        struct str rest = str_skip(text_bytes(w->from, span), p->at);
        if (rest.n == 0) {
            *p = (struct text_place){.span = p->span + 1};
            continue;
        }
        size_t n = text_cluster(rest, ret_w);
        *ret_cluster = str_head(rest, n);
        p->at += n;
        return true;
    }
    return false;
}

static bool text_is_blank(const struct text *t, size_t line)
{
    for (size_t i = 0; i < t->lines[line].n; i++) {
        struct str bytes = text_bytes(t, text_spans(t, line) + i);
        if (str_trim_end(bytes, ' ').n)
            return false;
    }
    return true;
}

/* Adds the prefix. An empty line gets no trailing blanks. */
static void begin_row(struct text_wrapper *w)
{
    const struct text *prefix = w->how->prefix;
    size_t line = w->prefixed ? MIN(w->rows, prefix->n - 1) : 0;
    if (w->prefixed && (w->from->lines[w->line].n || !text_is_blank(prefix, line)))
        text_append(w->to, prefix, line);
    w->rows++;
}

/* Adds a row between two positions. */
static void text_put_row(
    struct text_wrapper *w, struct text_place from, struct text_place end, size_t width)
{
    begin_row(w);
    for (; from.span <= end.span && from.span < w->from->lines[w->line].n; from.span++) {
        const struct text_span *span = text_spans(w->from, w->line) + from.span;
        struct style style = style_for(w->to, w->from, &span->style);
        struct str bytes = text_bytes(w->from, span);
        if (from.span == end.span)
            bytes = str_head(bytes, end.at);
        text_append_bytes(w->to, str_skip(bytes, from.at), 0, &style);
        from.at = 0;
    }
    w->to->open.width += width;
    text_end(w->to);
}

/* A row under construction: its start, and where it can be broken. */
struct text_row {
    struct text_place start, end; /* end: after the last cluster that fits */
    size_t width;
    struct text_place cut, next; /* last break between words, and the start of the row after it */
    size_t cut_width;
    bool can_cut, after_blank;
};

static void may_cut(
    struct text_row *r, struct text_place cut, size_t width, struct text_place after)
{
    r->cut = cut;
    r->cut_width = width;
    r->next = after;
    r->can_cut = true;
}

/* Blanks at a line break belong to neither row. */
static struct text_place text_skip_blanks(const struct text_wrapper *w, struct text_place p)
{
    struct str cluster;
    unsigned width;
    for (struct text_place after = p; text_next_cluster(w, &after, &cluster, &width); p = after)
        if (cluster.p[0] != ' ')
            break;
    return p;
}

static struct text_place break_row(struct text_wrapper *w, struct text_row *r)
{
    struct text_place after = r->end;
    if (w->how->letters || !r->can_cut) {
        text_put_row(w, r->start, r->end, r->width);
    } else {
        text_put_row(w, r->start, r->cut, r->cut_width);
        after = text_skip_blanks(w, r->next);
    }
    return after;
}

/* Replaces a cluster that does not fit even in an empty row. */
static void put_stand_in(struct text_wrapper *w)
{
    begin_row(w);
    text_append_bytes(w->to, STR("\xEF\xBF\xBD"), 1, &no_style);
    text_end(w->to);
}

/* Fills one row. Returns false at the end of the line. */
static bool fill_row(struct text_wrapper *w, struct text_place *start)
{
    struct text_row r = {.start = *start, .end = *start};
    struct text_place p = *start;
    struct str cluster;
    unsigned width;
    bool blank = true;
    while (text_next_cluster(w, &p, &cluster, &width)) {
        bool space = cluster.p[0] == ' ' && cluster.n == 1;
        if (space && !blank) /* end of a word */
            may_cut(&r, r.end, r.width, p);
        else if (width == 2 && !blank && cluster.n == 3)
            may_cut(&r, r.end, r.width, r.end);
        if (r.width + width > w->width && width > w->width) {
            put_stand_in(w);
            *start = p;
            return true;
        }
        if (r.width + width > w->width) {
            *start = break_row(w, &r);
            return true;
        }
        r.width += width;
        r.end = p;
        if (width == 2 && cluster.n == 3)
            may_cut(&r, r.end, r.width, r.end);
        blank = space;
    }
    text_put_row(w, r.start, r.end, r.width);
    return false;
}

static bool at_end(const struct text_wrapper *w, struct text_place p)
{
    struct str cluster;
    unsigned width;
    return !text_next_cluster(w, &p, &cluster, &width);
}

void text_wrap(struct text *to, const struct text *from, size_t line, const struct text_wrap *how)
{
    struct text_wrapper w = {.to = to, .from = from, .line = line, .how = how};
    size_t prefix = 0;
    for (size_t i = 0; how->prefix && i < how->prefix->n; i++)
        prefix = MAX(prefix, how->prefix->lines[i].width);
    w.prefixed = prefix > 0 && prefix + prefix / 2 < how->width;
    w.width = MAX(1u, how->width - (w.prefixed ? (unsigned)prefix : 0));
    struct text_place p = {0};
    while (fill_row(&w, &p))
        if (at_end(&w, p)) /* only blanks were left */
            break;
}
