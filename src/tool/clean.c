/* Converts program output to readable text. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/clean.h"

#include "base/utf8.h"
#include "term/unicode.h"

enum {
    COLUMNS_MAX = 8192, /* longer lines are processed in parts */
    MOVE_MAX = 500,     /* maximum columns a sequence moves the cursor */
    TAB = 8,
};

/* Length up to and including BEL or ESC \, or up to another ESC; 0 if unterminated. */
static size_t string_length(struct str s)
{
    for (size_t i = 2; i < s.n; i++) {
        if (s.p[i] == '\a')
            return i + 1;
        if (s.p[i] == '\033')
            return i + 1 == s.n ? 0 : i + (s.p[i + 1] == '\\' ? 2u : 0u);
    }
    return 0;
}

/* Length of an escape sequence, which starts with ESC, up to the first byte that cannot be part of
 * it; 0 if incomplete. */
static size_t clean_sequence_length(struct str s)
{
    size_t i = 2;
    if (s.n < 2)
        return 0;
    switch (s.p[1]) {
    case '[': /* parameters, intermediates, a final byte */
        while (i < s.n && s.p[i] >= 0x20 && s.p[i] < 0x40)
            i++;
        return i < s.n ? i + (s.p[i] >= 0x40 && s.p[i] < 0x7f) : 0;
    case ']':
    case 'P':
    case 'X':
    case '^':
    case '_':
        return string_length(s);
    default: /* intermediates and a final byte */
        for (i = 1; i < s.n && s.p[i] >= 0x20 && s.p[i] < 0x30; i++) {
        }
        return i < s.n ? i + 1 : 0;
    }
}

/* Overwritten lines --------------------------------------------------------------------------- */

struct clean_cell {
    const char *p; /* in the input; NULL: continuation of the cell before */
    size_t n;
};

struct clean_line {
    struct clean_cell cells[COLUMNS_MAX];
    size_t n, col;
    struct buf *text;
};

static const struct clean_cell blank = {" ", 1};

/* Emits the line. Blanks to the right of the cursor were written to erase text and are dropped. */
static void clean_emit_line(struct clean_line *l)
{
    while (l->n > l->col && (!l->cells[l->n - 1].p || *l->cells[l->n - 1].p == ' '))
        l->n--;
    for (size_t i = 0; i < l->n; i++)
        if (l->cells[i].p)
            utf8_add_lossy(l->text, str_n(l->cells[i].p, l->cells[i].n));
    l->n = l->col = 0;
}

static void clean_put_cell(struct clean_line *l, struct clean_cell cell, size_t width)
{
    if (l->col + width > COLUMNS_MAX)
        clean_emit_line(l);
    while (l->n < l->col)
        l->cells[l->n++] = blank;
    l->cells[l->col++] = cell;
    for (size_t i = 1; i < width; i++)
        l->cells[l->col++] = (struct clean_cell){0};
    l->n = MAX(l->n, l->col);
}

/* Puts a character; a combining mark is added to the character before it. */
static size_t put_character(struct clean_line *l, struct str s)
{
    uint32_t cp;
    size_t n = utf8_decode(s, &cp), width = n ? unicode_width(unicode_class(cp)) : 1;
    if (n == 0)
        n = utf8_invalid_length(s);
    else if (cp >= 0x80 && cp < 0xA0)
        return n;
    if (width == 0) {
        size_t at = l->col;
        while (at > 0 && !l->cells[at - 1].p)
            at--;
        if (at > 0 && l->cells[at - 1].p + l->cells[at - 1].n == s.p)
            l->cells[at - 1].n += n;
        return n;
    }
    clean_put_cell(l, (struct clean_cell){s.p, n}, width);
    return n;
}

static void clean_wipe(struct clean_line *l, size_t from, size_t to)
{
    for (size_t i = from; i < MIN(to, l->n); i++)
        l->cells[i] = blank;
}

static void remove_cells(struct clean_line *l, size_t n)
{
    if (l->col >= l->n)
        return;
    n = MIN(n, l->n - l->col);
    memmove(l->cells + l->col, l->cells + l->col + n, (l->n - l->col - n) * sizeof(*l->cells));
    l->n -= n;
}

static void insert_cells(struct clean_line *l, size_t n)
{
    n = MIN(n, COLUMNS_MAX - MAX(l->n, l->col));
    if (l->col >= l->n)
        return;
    memmove(l->cells + l->col + n, l->cells + l->col, (l->n - l->col) * sizeof(*l->cells));
    l->n += n;
    clean_wipe(l, l->col, l->col + n);
}

static void clean_erase(struct clean_line *l, size_t how)
{
    if (how != 1)
        l->n = how == 2 ? 0 : MIN(l->n, l->col);
    else
        clean_wipe(l, 0, l->col + 1);
}

/* Applies an escape sequence to the line; most have no effect within a line. */
static void clean_apply_sequence(struct clean_line *l, struct str sequence)
{
    size_t n = 0;
    bool given = false;
    if (sequence.n < 3 || sequence.p[1] != '[')
        return;
    for (size_t i = 2; i + 1 < sequence.n; i++) {
        if (sequence.p[i] < '0' || sequence.p[i] > '9')
            return;
        n = MIN(n * 10 + (size_t)(sequence.p[i] - '0'), (size_t)MOVE_MAX);
        given = true;
    }
    size_t count = given && n ? n : 1;
    switch (sequence.p[sequence.n - 1]) {
    case 'C':
        l->col = MIN(l->col + count, (size_t)MAX(l->n, (size_t)MOVE_MAX));
        break;
    case 'D':
        l->col -= MIN(count, l->col);
        break;
    case 'G':
        l->col = count - 1;
        break;
    case 'J':
    case 'K':
        clean_erase(l, n);
        break;
    case 'P':
        remove_cells(l, count);
        break;
    case 'X':
        clean_wipe(l, l->col, l->col + count);
        break;
    case '@':
        insert_cells(l, count);
        break;
    default:
        break;
    }
}

static void clean_write_line(struct clean_line *l, struct str s)
{
    while (s.n) {
        unsigned char c = (unsigned char)s.p[0];
        size_t n = 1;
        if (c == '\033') {
            n = clean_sequence_length(s);
            n = n ? n : s.n;
            clean_apply_sequence(l, str_head(s, n));
        } else if (c == '\r') {
            l->col = 0;
        } else if (c == '\b') {
            l->col -= l->col > 0;
        } else if (c == '\t') {
            clean_put_cell(l, (struct clean_cell){s.p, 1}, TAB - l->col % TAB);
        } else if (c >= 0x20 && c != 0x7f) {
            n = put_character(l, s);
        }
        s = str_skip(s, n);
    }
    clean_emit_line(l);
}

static bool clean_is_plain(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if ((c < 0x20 && c != '\t') || c == 0x7f || c == 0xC2) /* C2: may be a C1 control */
            return false;
    }
    return true;
}

void clean_text(struct str bytes, struct buf *text)
{
    struct clean_line *line = NULL;
    while (bytes.n) {
        const char *newline = memchr(bytes.p, '\n', bytes.n);
        size_t n = newline ? (size_t)(newline - bytes.p) : bytes.n;
        struct str one = str_trim_end(str_head(bytes, n), '\r');
        if (clean_is_plain(one)) {
            utf8_add_lossy(text, one);
        } else {
            if (!line)
                line = base_alloc(sizeof(*line));
            line->text = text;
            clean_write_line(line, one);
        }
        if (newline)
            buf_add_byte(text, '\n');
        bytes = str_skip(bytes, n + (newline ? 1 : 0));
    }
    free(line);
}

size_t clean_open_character(struct str bytes)
{
    for (size_t back = 1; back < UTF8_MAX && back <= bytes.n; back++) {
        struct str tail = str_skip(bytes, bytes.n - back);
        unsigned char first = (unsigned char)tail.p[0];
        uint32_t ignored;
        if (first < 0x80)
            return 0;
        if (first >= 0xC0)
            return first >= 0xC2 && first < 0xF5 && utf8_decode(tail, &ignored) == 0 &&
                           utf8_invalid_length(tail) == back
                       ? back
                       : 0;
    }
    return 0;
}

size_t clean_open(struct str bytes)
{
    ptrdiff_t newline = str_find_last(bytes, '\n');
    struct str line = newline < 0 ? bytes : str_skip(bytes, (size_t)newline + 1);
    const char *escape;
    while (line.n && (escape = memchr(line.p, '\033', line.n))) {
        line = str_skip(line, (size_t)(escape - line.p));
        size_t n = clean_sequence_length(line);
        if (n == 0)
            return line.n <= CLEAN_OPEN_MAX ? line.n : 0;
        line = str_skip(line, n);
    }
    return clean_open_character(line);
}
