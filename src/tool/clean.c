/* Output of programs, made readable. */
#include "tool/clean.h"

#include "base/utf8.h"

/* The length of an escape sequence, whose first byte is ESC. One that does not end is all that is
 * left, or up to what can't be part of it. */
static size_t sequence_length(struct str s)
{
    if (s.n < 2)
        return s.n;
    size_t i = 2;
    switch (s.p[1]) {
    case '[': /* parameters, intermediates, a final byte */
        while (i < s.n && s.p[i] >= 0x20 && s.p[i] < 0x40)
            i++;
        return MIN(i + (i < s.n && s.p[i] >= 0x40 && s.p[i] < 0x7f), s.n);
    case ']':
    case 'P':
    case 'X':
    case '^':
    case '_': /* up to BEL or ESC \ */
        for (; i < s.n; i++) {
            if (s.p[i] == '\a')
                return i + 1;
            if (s.p[i] == '\033')
                return MIN(i + (i + 1 < s.n && s.p[i + 1] == '\\' ? 2u : 0u), s.n);
        }
        return s.n;
    default: /* intermediates and a final byte */
        for (i = 1; i < s.n && s.p[i] >= 0x20 && s.p[i] < 0x30; i++) {
        }
        return MIN(i + 1, s.n);
    }
}

/* A line without sequences and control characters; a backspace takes a character back. */
static void strip(struct str line, struct buf *out)
{
    size_t begin = out->n;
    while (line.n) {
        unsigned char c = (unsigned char)line.p[0];
        if (c == '\033') {
            line = str_skip(line, sequence_length(line));
            continue;
        }
        if (c == '\b' && out->n > begin) {
            size_t end = out->n - 1;
            while (end > begin && (out->p[end] & 0xC0) == 0x80)
                end--;
            buf_truncate(out, end);
        } else if (c == '\t' || c == '\r' || (c >= 0x20 && c != 0x7f)) {
            buf_add_byte(out, (char)c);
        }
        line = str_skip(line, 1);
    }
}

/* What was written last after a carriage return stands there. */
static struct str last_written(struct str line)
{
    while (line.n && line.p[line.n - 1] == '\r')
        line.n--;
    ptrdiff_t at = str_find_last(line, '\r');
    return at < 0 ? line : str_skip(line, (size_t)at + 1);
}

void clean_text(struct str bytes, struct buf *text)
{
    AUTO_BUF struct buf line = BUF_INIT(bytes.n + 1);
    while (bytes.n) {
        const char *newline = memchr(bytes.p, '\n', bytes.n);
        size_t n = newline ? (size_t)(newline - bytes.p) : bytes.n;
        buf_reset(&line);
        strip(str_head(bytes, n), &line);
        utf8_add_lossy(text, last_written(buf_str(&line)));
        if (newline)
            buf_add_byte(text, '\n');
        bytes = str_skip(bytes, n + (newline ? 1 : 0));
    }
}
