/* Growing byte buffers with a maximum. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include <stdio.h>

enum {
    FIRST_CAPACITY = 256,
};

void buf_done(struct buf *b)
{
    free(b->p);
    *b = BUF_INIT(b->max);
}

void buf_reset(struct buf *b)
{
    b->n = 0;
    b->overflow = false;
    if (b->p)
        b->p[0] = '\0';
}

char *buf_reserve(struct buf *b, size_t n)
{
    BUG_ON(b->max == 0);
    if (b->overflow || n > b->max - b->n) {
        b->overflow = true;
        return NULL;
    }
    if (n >= b->cap - b->n) {
        size_t cap = b->cap ? b->cap : FIRST_CAPACITY;
        while (cap - b->n <= n)
            cap *= 2;
        b->p = base_realloc(b->p, cap);
        b->cap = cap;
        b->p[b->n] = '\0';
    }
    return b->p + b->n;
}

void buf_grown(struct buf *b, size_t n)
{
    BUG_ON(n >= b->cap - b->n);
    b->n += n;
    b->p[b->n] = '\0';
}

void buf_add(struct buf *b, const void *bytes, size_t n)
{
    char *room = buf_reserve(b, n);
    if (!room)
        return;
    if (n)
        memcpy(room, bytes, n);
    buf_grown(b, n);
}

void buf_add_str(struct buf *b, struct str s)
{
    buf_add(b, s.p, s.n);
}

void buf_add_z(struct buf *b, const char *z)
{
    buf_add(b, z, strlen(z));
}

void buf_add_byte(struct buf *b, char byte)
{
    buf_add(b, &byte, 1);
}

void buf_vprintf(struct buf *b, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    BUG_ON(n < 0);
    char *room = buf_reserve(b, (size_t)n);
    if (room) {
        vsnprintf(room, (size_t)n + 1, format, again);
        buf_grown(b, (size_t)n);
    }
    va_end(again);
}

void buf_printf(struct buf *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    buf_vprintf(b, format, args);
    va_end(args);
}

void buf_truncate(struct buf *b, size_t n)
{
    BUG_ON(n > b->n);
    b->n = n;
    if (b->p)
        b->p[n] = '\0';
}

char *buf_take(struct buf *b)
{
    if (!b->p)
        buf_reserve(b, 0);
    BUG_ON(!b->p);
    char *taken = b->p;
    *b = BUF_INIT(b->max);
    return taken;
}
