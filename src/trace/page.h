/* The trace viewer: a self-contained page that loads nothing else.
 *
 *     if (!page_write(&trace, start_ms, &out, err)) return false;
 *
 * Its sources are in web/viewer; page_parts.c is generated from them at build time. The data is
 * JSON with all markup escaped, so that a command that prints "</script>" has no effect.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_PAGE_H
#define TRACE_PAGE_H

#include "trace/trace_source.h"

enum {
    PAGE_BYTES_MAX = 768 << 20,
    PAGE_TEXT_MAX = 4 << 20, /* transcript bytes shown as text */
};

#define PAGE_AT_END UINT64_MAX

/* start_ms: initial position. */
MUST_USE bool page_write(
    const struct trace *t, uint64_t start_ms, struct buf *out, struct err *err);

/* The page before and after the data. */
extern const char *const page_head;
extern const char *const page_tail;

#endif
