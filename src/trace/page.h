/* The trace viewer: one page that holds everything and asks nobody for anything.
 *
 *     if (!page_write(&trace, start_ms, &out, err)) return false;
 *
 * Its sources are web/viewer; page_parts.c is made from them when the program is built. The data
 * are JSON in which no markup can be: a command that prints "</script>" changes nothing.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_PAGE_H
#define TRACE_PAGE_H

#include "trace/source.h"

enum {
    PAGE_BYTES_MAX = 768 << 20,
    PAGE_TEXT_MAX = 4 << 20, /* bytes of the transcript that are shown as text */
};

#define PAGE_AT_END UINT64_MAX

/* start_ms: where it begins to show. */
MUST_USE bool page_write(
    const struct trace *t, uint64_t start_ms, struct buf *out, struct err *err);

/* What stands before and after the data. */
extern const char *const page_head;
extern const char *const page_tail;

#endif
