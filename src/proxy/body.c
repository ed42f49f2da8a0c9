/* Request bodies: of a given length, or in chunks, whose lines must end in CR LF. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "proxy/body.h"

enum {
    SIZE_DIGITS_MAX = 15,
};

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool in_line(char c)
{
    return c == '\t' || ((unsigned char)c >= 0x20 && c != 0x7f);
}

static enum body_state body_read_size(struct proxy_body *b, char c)
{
    int digit = hex_digit(c);
    if (digit >= 0 && b->digits < SIZE_DIGITS_MAX) {
        b->left = b->left << 4 | (unsigned)digit;
        b->digits++;
        return BODY_SIZE;
    }
    if (b->digits == 0 || digit >= 0)
        return BODY_BAD;
    b->line = 0;
    if (c == '\r')
        return BODY_SIZE_LF;
    return c == ';' ? BODY_EXTENSION : BODY_BAD;
}

static enum body_state body_read_line(
    struct proxy_body *b, char c, size_t max, enum body_state after_cr)
{
    if (++b->line > max)
        return BODY_BAD;
    if (c == '\r')
        return after_cr;
    return in_line(c) ? b->state : BODY_BAD;
}

static enum body_state after_size(struct proxy_body *b)
{
    b->digits = 0;
    b->line = 0;
    return b->left ? BODY_CHUNK : BODY_TRAILER;
}

/* A line that begins with a blank would continue the previous one. */
static enum body_state start_trailer(struct proxy_body *b, char c)
{
    if (c == '\r')
        return BODY_LAST_LF;
    b->state = BODY_TRAILER_LINE;
    return c == ' ' || c == '\t' ? BODY_BAD
                                 : body_read_line(b, c, BODY_TRAILER_MAX, BODY_TRAILER_LF);
}

static enum body_state body_read_byte(struct proxy_body *b, char c)
{
    switch (b->state) {
    case BODY_SIZE:
        return body_read_size(b, c);
    case BODY_EXTENSION:
        return body_read_line(b, c, BODY_LINE_MAX, BODY_SIZE_LF);
    case BODY_SIZE_LF:
        return c == '\n' ? after_size(b) : BODY_BAD;
    case BODY_CHUNK_CR:
        return c == '\r' ? BODY_CHUNK_LF : BODY_BAD;
    case BODY_CHUNK_LF:
        return c == '\n' ? BODY_SIZE : BODY_BAD;
    case BODY_TRAILER:
        return start_trailer(b, c);
    case BODY_TRAILER_LINE:
        return body_read_line(b, c, BODY_TRAILER_MAX, BODY_TRAILER_LF);
    case BODY_TRAILER_LF:
        return c == '\n' ? BODY_TRAILER : BODY_BAD;
    case BODY_LAST_LF:
        return c == '\n' ? BODY_END : BODY_BAD;
    default:
        return BODY_BAD;
    }
}

size_t body_take(struct proxy_body *b, struct str bytes)
{
    size_t at = 0;
    while (at < bytes.n && b->state != BODY_END && b->state != BODY_BAD) {
        if (b->state != BODY_LENGTH && b->state != BODY_CHUNK) {
            b->state = body_read_byte(b, bytes.p[at]);
            at += b->state != BODY_BAD;
            continue;
        }
        size_t n = (size_t)MIN(b->left, bytes.n - at);
        at += n;
        b->left -= n;
        if (b->left == 0)
            b->state = b->state == BODY_LENGTH ? BODY_END : BODY_CHUNK_CR;
    }
    return at;
}
