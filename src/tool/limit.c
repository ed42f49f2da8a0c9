/* Selects the part of a long text to show to a model. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/limit.h"

#include "base/utf8.h"

#define CUT_LINE "… [truncated line]"

size_t limit_lines(struct str text)
{
    size_t n = 0;
    for (const char *p = text.p, *end = p + text.n; p < end; n++) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        p = newline ? newline + 1 : end;
    }
    return n;
}

/* Returns the size of the whole lines at the start that are within the limit. */
static size_t limit_head_size(const struct limit *limit, struct str text)
{
    size_t taken = 0;
    for (size_t lines = 0; lines < limit->lines && taken < text.n; lines++) {
        const char *newline = memchr(text.p + taken, '\n', text.n - taken);
        size_t next = newline ? (size_t)(newline - text.p) + 1 : text.n;
        if (next > limit->bytes)
            break;
        taken = next;
    }
    return taken;
}

/* The same for the end. */
static size_t tail_size(const struct limit *limit, struct str text)
{
    size_t taken = 0;
    for (size_t lines = 0; lines < limit->lines && taken < text.n; lines++) {
        size_t end = text.n - taken;
        const char *newline = end > 1 ? memrchr(text.p, '\n', end - 1) : NULL;
        size_t start = newline ? (size_t)(newline - text.p) + 1 : 0;
        if (text.n - start > limit->bytes)
            break;
        taken = text.n - start;
    }
    return taken;
}

/* Move back or forward to the start of a character. */
static size_t cut_back(struct str text, size_t at)
{
    for (size_t i = 0; i < UTF8_MAX && at > 0 && at < text.n && (text.p[at] & 0xC0) == 0x80; i++)
        at--;
    return at;
}

static size_t cut_on(struct str text, size_t at)
{
    for (size_t i = 0; i < UTF8_MAX && at < text.n && (text.p[at] & 0xC0) == 0x80; i++)
        at++;
    return at;
}

bool limit_add_line(struct buf *out, struct str line, bool *ret_cut)
{
    bool fits = out->n + line.n < LIMIT_BYTES;
    if (!fits && out->n)
        return false;
    size_t room = LIMIT_BYTES - sizeof(CUT_LINE);
    buf_add_str(out, fits ? line : str_head(line, cut_back(line, room)));
    buf_add_z(out, fits ? "\n" : CUT_LINE "\n");
    *ret_cut |= !fits;
    return true;
}

static void add_marker(
    const struct limit *limit, struct buf *out, struct str left_out, const char *where)
{
    size_t lines = limit_lines(left_out) + limit->skipped_lines;
    buf_printf(out, "[truncated] %zu line%s, %zu bytes left out", lines, lines == 1 ? "" : "s",
        left_out.n + limit->skipped_bytes);
    if (where)
        buf_printf(out, "; %s", where);
    buf_add_byte(out, '\n');
}

static bool limit_fits(const struct limit *limit, struct str text)
{
    return limit->skipped_bytes == 0 && text.n <= limit->bytes && limit_lines(text) <= limit->lines;
}

static void limit_end_line(struct buf *out)
{
    if (out->n && out->p[out->n - 1] != '\n')
        buf_add_byte(out, '\n');
}

bool limit_head(const struct limit *limit, struct str text, const char *where, struct buf *out)
{
    if (limit_fits(limit, text)) {
        buf_add_str(out, text);
        return false;
    }
    size_t head = limit_head_size(limit, text);
    if (head == 0) /* a single long line is cut, not dropped */
        head = cut_back(text, MIN(limit->bytes, text.n));
    buf_add_str(out, str_head(text, head));
    limit_end_line(out);
    add_marker(limit, out, str_skip(text, head), where);
    return true;
}

bool limit_ends(const struct limit *limit, struct str text, const char *where, struct buf *out)
{
    if (limit_fits(limit, text)) {
        buf_add_str(out, text);
        return false;
    }
    struct limit first = {.bytes = limit->bytes / 4, .lines = MAX(limit->lines / 4, (size_t)1)};
    struct limit last = {
        .bytes = limit->bytes - first.bytes, .lines = MAX(limit->lines - first.lines, (size_t)1)};
    size_t head = limit_head_size(&first, text);
    if (head == 0)
        head = cut_back(text, MIN(first.bytes, text.n));
    struct str rest = str_skip(text, head);
    size_t tail = tail_size(&last, rest);
    if (tail == 0)
        tail = rest.n - cut_on(rest, rest.n - MIN(last.bytes, rest.n));
    buf_add_str(out, str_head(text, head));
    limit_end_line(out);
    add_marker(limit, out, str_head(rest, rest.n - tail), where);
    buf_add_str(out, str_skip(rest, rest.n - tail));
    return true;
}

void limit_where(const char *path, struct buf *where)
{
    if (path)
        buf_printf(where, "the complete output is in %s", path);
    else
        buf_add_z(where, "the complete output was not saved");
}
