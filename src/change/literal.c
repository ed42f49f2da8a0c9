/* Deflate and base 85. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "change/literal.h"

#include <zlib.h>

enum {
    LINE_BYTES = 52,
    CHUNK = 64 * 1024,
};

/* Encodes four bytes as five digits, most significant first; the last group is padded with 0. */
static void add_group(struct buf *text, const unsigned char *p, size_t n)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                 "!#$%&()*+-;<=>?@^_`{|}~";
    uint32_t value = 0;
    char out[5];
    for (size_t i = 0; i < 4; i++)
        value = value << 8 | (i < n ? p[i] : 0);
    for (int i = 4; i >= 0; i--, value /= 85)
        out[i] = digits[value % 85];
    buf_add(text, out, sizeof(out));
}

static void literal_add_line(struct buf *text, const unsigned char *p, size_t n)
{
    buf_add_byte(text, (char)(n <= 26 ? 'A' + n - 1 : 'a' + n - 27));
    for (size_t i = 0; i < n; i += 4)
        add_group(text, p + i, MIN(n - i, (size_t)4));
    buf_add_byte(text, '\n');
}

/* Splits zlib's output into full lines; keeps the remainder for the next call. */
struct literal_lines {
    unsigned char kept[LINE_BYTES];
    size_t n;
};

static void add_bytes(struct literal_lines *l, struct buf *text, const unsigned char *p, size_t n)
{
    while (n) {
        size_t take = MIN(n, LINE_BYTES - l->n);
        memcpy(l->kept + l->n, p, take);
        l->n += take;
        p += take;
        n -= take;
        if (l->n == LINE_BYTES) {
            literal_add_line(text, l->kept, l->n);
            l->n = 0;
        }
    }
}

void literal_add(struct buf *text, struct str content)
{
    AUTO_FREE unsigned char *out = base_alloc(CHUNK);
    struct literal_lines l = {.n = 0};
    z_stream z = {0};
    int status;
    /* The compression level git uses for patches. */
    BUG_ON(content.n > UINT32_MAX || deflateInit(&z, Z_BEST_SPEED) != Z_OK);
    z.next_in = (Bytef *)(uintptr_t)content.p;
    z.avail_in = (uInt)content.n;
    buf_printf(text, "literal %zu\n", content.n);
    do {
        z.next_out = out;
        z.avail_out = CHUNK;
        status = deflate(&z, Z_FINISH);
        BUG_ON(status == Z_STREAM_ERROR);
        add_bytes(&l, text, out, CHUNK - z.avail_out);
    } while (status != Z_STREAM_END && buf_ok(text));
    deflateEnd(&z);
    if (l.n)
        literal_add_line(text, l.kept, l.n);
    buf_add_byte(text, '\n');
}
