/* Growable byte buffer with a mandatory maximum size. Data that would exceed the maximum is not
 * added and sets the overflow flag: check once, at the end.
 *
 *     AUTO_BUF struct buf b = BUF_INIT(64 * 1024);
 *     buf_printf(&b, "%d files\n", n);
 *     if (!buf_ok(&b)) return err_set(err, E_IO, "the listing is too long");
 *
 * p[n] is always NUL once anything was added; buf_z() returns "" before that.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "base/str.h"

#include <stdarg.h>

struct buf {
    char *p;
    size_t n;
    size_t cap;
    size_t max;
    bool overflow;
};

#define BUF_INIT(maximum) ((struct buf){.max = (maximum)})
#define AUTO_BUF          AUTO(buf_done)

void buf_done(struct buf *b);
void buf_reset(struct buf *b); /* clears it; keeps memory and maximum */

static inline bool buf_ok(const struct buf *b)
{
    return !b->overflow;
}

static inline struct str buf_str(const struct buf *b)
{
    return str_n(b->p ? b->p : "", b->n);
}

static inline const char *buf_z(const struct buf *b)
{
    return b->p ? b->p : "";
}

/* Reserves n more bytes at the end, or returns NULL and sets overflow. buf_grown() then commits the
 * bytes written there. */
char *buf_reserve(struct buf *b, size_t n);
void buf_grown(struct buf *b, size_t n);

void buf_add(struct buf *b, const void *bytes, size_t n);
void buf_add_str(struct buf *b, struct str s);
void buf_add_z(struct buf *b, const char *z);
void buf_add_byte(struct buf *b, char byte);
void buf_printf(struct buf *b, const char *format, ...) PRINTF_LIKE(2, 3);
void buf_vprintf(struct buf *b, const char *format, va_list args) PRINTF_LIKE(2, 0);

/* Keeps only the first n bytes. */
void buf_truncate(struct buf *b, size_t n);

/* Transfers the bytes to the caller as a NUL-terminated string (release with free()); the buffer is
 * empty afterwards. */
MUST_USE char *buf_take(struct buf *b);

#endif
