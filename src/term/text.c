/* Puts characters into cells. Printable ASCII is written in runs; other characters are decoded one
 * by one, joined to the preceding cluster according to UAX #29, and take one or two columns. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "term/term_runs.h"
#include "term/term_state.h"

enum {
    VARIATION_TEXT = 0xFE0E,
    VARIATION_EMOJI = 0xFE0F,
};

/* ASCII --------------------------------------------------------------------------------------- */

/* Remembers the character just written in a column of the current row. */
static void text_remember(struct term *t, int col, uint32_t codepoint)
{
    t->prev_row = t->row;
    t->prev_col = col;
    t->last = codepoint;
    t->joinable = true;
}

/* Advances the cursor. At the right edge it stays, and the next character wraps. */
static void text_advance(struct term *t, int n, int edge)
{
    t->col += n;
    if (t->col <= edge)
        return;
    t->col = edge;
    t->pending = mode_is(t, MODE_AUTOWRAP);
}

/* Marks the row as changed up to column `end`. Writing its last cell clears the wrap flag, until it
 * wraps again. */
static void text_touch_row(const struct term *t, struct row *row, int end)
{
    row_touch(row, end);
    if (end == t->cols)
        row->flags &= (uint16_t)~ROW_WRAPS;
}

static void write_run(struct term *t, const uint8_t *bytes, size_t n)
{
    while (n) {
        if (t->pending)
            cursor_wrap(t);
        cell template = pen_template(t); /* wrapping may renumber the styles */
        struct row *row = term_line(t);
        int edge = cursor_right_edge(t), room = edge + 1 - t->col;
        size_t k = MIN(n, (size_t)room);
        row_cut(row, t->col, t->col + (int)k, t->cols);
        runs_put(row->cells + t->col, bytes, k, template);
        if (n > k && !mode_is(t, MODE_AUTOWRAP)) {
            row->cells[edge] = template | bytes[n - 1]; /* the excess overwrites the last cell */
            bytes += n - k;
            n = k;
        }
        text_touch_row(t, row, t->col + (int)k);
        t->prev_col = t->col + (int)k - 1;
        text_advance(t, (int)k, edge);
        bytes += k;
        n -= k;
    }
    text_remember(t, t->prev_col, bytes[-1]);
    t->grapheme = (struct grapheme){.last = BREAK_OTHER, .started = 1};
}

/* DEC special graphics, from 0x5F up. */
static const uint16_t line_drawing[] = {0x0020, 0x25C6, 0x2592, 0x2409, 0x240C, 0x240D, 0x240A,
    0x00B0, 0x00B1, 0x2424, 0x240B, 0x2518, 0x2510, 0x250C, 0x2514, 0x253C, 0x23BA, 0x23BB, 0x2500,
    0x23BC, 0x23BD, 0x251C, 0x2524, 0x2534, 0x252C, 0x2502, 0x2264, 0x2265, 0x03C0, 0x2260, 0x00A3,
    0x00B7};

static uint32_t text_translate(struct term *t, uint8_t byte)
{
    unsigned set = t->charsets.g[t->charsets.once ? t->charsets.once : t->charsets.gl];
    if (t->charsets.once) {
        t->charsets.once = 0;
        text_mode_changed(t);
    }
    if (set == CHARSET_LINES && byte >= 0x5F && byte < 0x7F)
        return line_drawing[byte - 0x5F];
    return set == CHARSET_UK && byte == '#' ? 0xA3 : byte;
}

void text_mode_changed(struct term *t)
{
    t->plain = !mode_is(t, MODE_INSERT) && t->charsets.once == 0 &&
               t->charsets.g[t->charsets.gl] == CHARSET_ASCII;
}

void text_ascii(void *context, const uint8_t *bytes, size_t n)
{
    struct term *t = context;
    if (t->n_utf8)
        text_flush(t);
    if (t->joinable && t->grapheme.last == BREAK_PREPEND) {
        text_put(t, text_translate(t, *bytes++));
        n--;
    }
    if (t->plain && n) {
        write_run(t, bytes, n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        text_put(t, text_translate(t, bytes[i]));
}

/* Cells --------------------------------------------------------------------------------------- */

static void text_put_cell(struct term *t, uint32_t codepoint, unsigned width)
{
    if (t->pending)
        cursor_wrap(t);
    int edge = cursor_right_edge(t);
    if (width == 2 && t->col >= edge) {
        if (!mode_is(t, MODE_AUTOWRAP) || edge == cursor_left_edge(t))
            return;
        row_cut(term_line(t), t->col, t->col + 1, t->cols);
        row_fill(term_line(t), t->col, t->col + 1, pen_blank(t));
        cursor_wrap(t);
        edge = cursor_right_edge(t);
        if (t->col >= edge)
            return;
    }
    if (mode_is(t, MODE_INSERT))
        edit_insert_blanks(t, (int)width);
    cell template = pen_template(t);
    struct row *row = term_line(t);
    row_cut(row, t->col, t->col + (int)width, t->cols);
    row->cells[t->col] = template | codepoint | (width == 2 ? CELL_WIDE : 0);
    if (width == 2) {
        row->cells[t->col + 1] = template | CELL_TAIL;
        row->flags |= ROW_WIDE;
    }
    text_touch_row(t, row, t->col + (int)width);
    text_remember(t, t->col, codepoint);
    text_advance(t, (int)width, edge);
}

/* Clusters ------------------------------------------------------------------------------------ */

static unsigned codepoints_of(const struct term *t, cell c, uint32_t codepoints[CLUSTER_MAX])
{
    if (!(c & CELL_CLUSTER)) {
        codepoints[0] = cell_char(c) ? cell_char(c) : ' ';
        return 1;
    }
    struct cluster cluster = cluster_get(&t->clusters, cell_char(c));
    memcpy(codepoints, cluster.codepoints, cluster.n * sizeof(*codepoints));
    return cluster.n;
}

/* Interns a cell's text. `was` is the cell's previous cluster if only characters came since. */
static uint32_t text_intern_cluster(
    struct term *t, uint32_t was, const uint32_t *codepoints, unsigned n)
{
    uint32_t id = cluster_replace(&t->clusters, was, codepoints, n);
    if (id != CLUSTER_NONE || !term_may_compact(t))
        return id;
    term_compact(t);
    return cluster_intern(&t->clusters, codepoints, n);
}

/* Adds a code point to a cell; drops it if the cluster is full. */
static void text_extend_cell(struct term *t, int row, int col, uint32_t codepoint)
{
    uint32_t codepoints[CLUSTER_MAX];
    cell c = grid_row(t->grid, row)->cells[col];
    unsigned n = codepoints_of(t, c, codepoints);
    if (n == CLUSTER_MAX)
        return;
    codepoints[n++] = codepoint;
    uint32_t was = t->joinable && c & CELL_CLUSTER ? cell_char(c) : CLUSTER_NONE;
    uint32_t id = text_intern_cluster(t, was, codepoints, n);
    if (id == CLUSTER_NONE)
        return;
    struct row *line = grid_row(t->grid, row);
    line->cells[col] = (line->cells[col] & ~CELL_TEXT) | CELL_CLUSTER | id;
    row_touch(line, col + 1);
}

/* Makes the cell just written two columns wide. Takes the next column or, at the right edge, moves
 * the character to the next row. */
static void text_widen_cell(struct term *t)
{
    (void)pen_blank(t); /* may renumber styles: do it before reading `c` */
    struct row *row = grid_row(t->grid, t->prev_row);
    cell c = row->cells[t->prev_col];
    int edge = cursor_right_edge(t);
    if (t->prev_row != t->row || c & CELL_WIDE)
        return;
    if (t->prev_col >= edge) {
        if (!mode_is(t, MODE_AUTOWRAP) || edge == cursor_left_edge(t))
            return;
        row_fill(row, t->prev_col, t->prev_col + 1, pen_blank(t));
        cursor_wrap(t);
        if (mode_is(t, MODE_INSERT))
            edit_insert_blanks(t, 1);
        row = term_line(t);
        t->prev_row = t->row;
        t->prev_col = t->col;
        row_cut(row, t->col, t->col + 1, t->cols);
        edge = cursor_right_edge(t);
    }
    t->col = t->prev_col + 1;
    if (mode_is(t, MODE_INSERT))
        edit_insert_blanks(t, 1);
    row_cut(row, t->prev_col + 1, t->prev_col + 2, t->cols);
    row->cells[t->prev_col] = c | CELL_WIDE;
    row->cells[t->prev_col + 1] = (c & CELL_STYLE) | CELL_TAIL;
    row->flags |= ROW_WIDE;
    row_touch(row, t->prev_col + 2);
    t->pending = false;
    text_advance(t, 1, edge);
}

static void text_narrow_cell(struct term *t)
{
    struct row *row = grid_row(t->grid, t->prev_row);
    if (t->prev_row != t->row || !(row->cells[t->prev_col] & CELL_WIDE))
        return;
    row->cells[t->prev_col] &= ~CELL_WIDE;
    row->cells[t->prev_col + 1] &= CELL_STYLE;
    row_touch(row, t->prev_col + 2);
    t->col = t->prev_col + 1;
    t->pending = false;
}

static bool has_variations(const struct term *t, cell c)
{
    uint32_t codepoints[CLUSTER_MAX];
    codepoints_of(t, c, codepoints);
    return unicode_class(codepoints[0]) & UNICODE_EMOJI_VARIATION;
}

/* Adds a code point to the preceding cluster. */
static void text_join_cluster(struct term *t, uint32_t codepoint, unsigned class)
{
    bool varies = (codepoint == VARIATION_TEXT || codepoint == VARIATION_EMOJI) &&
                  has_variations(t, grid_row(t->grid, t->prev_row)->cells[t->prev_col]);
    text_extend_cell(t, t->prev_row, t->prev_col, codepoint);
    if (varies && codepoint == VARIATION_TEXT)
        text_narrow_cell(t);
    else if (varies || unicode_width(class) == 2 || (class & UNICODE_BREAK_MASK) == BREAK_REGIONAL)
        text_widen_cell(t);
}

/* Adds a zero-width code point to the cell before the cursor, if there is one. */
static void text_attach_mark(struct term *t, uint32_t codepoint)
{
    int col = t->pending ? t->col : t->col - 1;
    if (t->joinable && t->prev_row == t->row)
        col = t->prev_col;
    if (col < 0)
        return;
    if (col > 0 && term_line(t)->cells[col] & CELL_TAIL)
        col--;
    text_extend_cell(t, t->row, col, codepoint);
}

static bool is_direction_control(uint32_t codepoint)
{
    return (codepoint >= 0x202A && codepoint <= 0x202E) ||
           (codepoint >= 0x2066 && codepoint <= 0x2069);
}

void text_put(struct term *t, uint32_t codepoint)
{
    unsigned class = unicode_class(codepoint), width = unicode_width(class);
    if (!t->joinable)
        t->grapheme = GRAPHEME_START;
    bool joins = grapheme_joins(&t->grapheme, class) && t->joinable;
    if (is_direction_control(codepoint)) {
        /* Drop it: it would reorder the surrounding text. */
        char bytes[UTF8_MAX];
        term_tell(t, TERM_EVENT_REPLACED, str_n(bytes, utf8_write(codepoint, bytes)), 0);
        return;
    }
    if (joins && mode_is(t, MODE_GRAPHEMES))
        text_join_cluster(t, codepoint, class);
    else if (width == 0)
        text_attach_mark(t, codepoint);
    else
        text_put_cell(t, codepoint, width);
}

void text_repeat(struct term *t, int n)
{
    uint8_t run[128];
    uint32_t codepoint = t->last;
    if (!t->joinable)
        return;
    n = MIN(n, t->rows * t->cols);
    if (codepoint < 0x80 && !mode_is(t, MODE_INSERT)) {
        memset(run, (int)codepoint, sizeof(run));
        for (; n > 0; n -= (int)sizeof(run))
            write_run(t, run, MIN((size_t)n, sizeof(run)));
        return;
    }
    unsigned class = unicode_class(codepoint);
    for (int i = 0; i < n; i++)
        text_put_cell(t, codepoint, unicode_width(class));
    t->grapheme = GRAPHEME_START;
    (void)grapheme_joins(&t->grapheme, class);
}

/* UTF-8 --------------------------------------------------------------------------------------- */

static void text_put_replacement(struct term *t, const uint8_t *bytes, size_t n)
{
    term_tell(t, TERM_EVENT_REPLACED, str_n((const char *)bytes, n), 0);
    text_put(t, UTF8_REPLACEMENT);
}

void text_flush(struct term *t)
{
    size_t n = t->n_utf8;
    t->n_utf8 = 0;
    if (n)
        text_put_replacement(t, t->utf8, n);
}

/* Handles a decoded character. Returns false if it was a C1 control, passed to the parser. */
static bool text_accept(struct term *t, uint32_t codepoint)
{
    if (codepoint >= 0xA0) {
        if (t->charsets.once) { /* a single shift ends with any character */
            t->charsets.once = 0;
            text_mode_changed(t);
        }
        text_put(t, codepoint);
        return true;
    }
    t->joinable = false;
    parser_c1(&t->parser, (uint8_t)codepoint);
    return false;
}

/* Adds a byte to an incomplete character. Returns false if the byte does not belong to it. */
static bool text_accept_byte(struct term *t, uint8_t byte, bool *ret_text)
{
    uint8_t bytes[UTF8_MAX];
    uint32_t codepoint;
    size_t n = t->n_utf8;
    memcpy(bytes, t->utf8, n);
    bytes[n++] = byte;
    struct str s = str_n((const char *)bytes, n);
    if (utf8_decode(s, &codepoint) == n) {
        t->n_utf8 = 0;
        *ret_text = text_accept(t, codepoint);
        return true;
    }
    if (n < UTF8_MAX && utf8_invalid_length(s) == n) {
        t->utf8[t->n_utf8++] = byte;
        return true;
    }
    text_flush(t);
    return false;
}

/* Fast path for two- and three-byte lead bytes whose every continuation is valid. Returns the
 * length, or 0 if full decoding is needed. */
static size_t decode_common(struct str s, uint32_t *ret_codepoint)
{
    const uint8_t *b = (const uint8_t *)s.p;
    if (s.n >= 3 && b[0] >= 0xE1 && b[0] <= 0xEC && (b[1] & 0xC0) == 0x80 &&
        (b[2] & 0xC0) == 0x80) {
        *ret_codepoint =
            (uint32_t)(b[0] & 0x0F) << 12 | (uint32_t)(b[1] & 0x3F) << 6 | (b[2] & 0x3Fu);
        return 3;
    }
    if (s.n >= 2 && b[0] >= 0xC2 && b[0] <= 0xDF && (b[1] & 0xC0) == 0x80) {
        *ret_codepoint = (uint32_t)(b[0] & 0x1F) << 6 | (b[1] & 0x3Fu);
        return 2;
    }
    return 0;
}

size_t text_utf8(void *context, const uint8_t *bytes, size_t n)
{
    struct term *t = context;
    size_t i = 0;
    bool text = true;
    while (i < n && t->n_utf8 && text)
        i += text_accept_byte(t, bytes[i], &text);
    while (i < n && text) {
        uint32_t codepoint;
        struct str rest = str_n((const char *)bytes + i, MIN(n - i, (size_t)UTF8_MAX));
        size_t length = decode_common(rest, &codepoint);
        if (length == 0)
            length = utf8_decode(rest, &codepoint);
        if (length) {
            i += length;
            text = text_accept(t, codepoint);
            continue;
        }
        length = utf8_invalid_length(rest);
        if (length == rest.n && length < UTF8_MAX && rest.n == n - i &&
            (uint8_t)rest.p[0] >= 0xC2 && (uint8_t)rest.p[0] <= 0xF4) {
            memcpy(t->utf8, rest.p, length); /* may continue in the next input */
            t->n_utf8 = (uint8_t)length;
            return n;
        }
        text_put_replacement(t, bytes + i, length);
        i += length;
    }
    return i;
}
