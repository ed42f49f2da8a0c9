/* Converts program output to text for a model: removes escape sequences and control characters,
 * keeps only the final state of overwritten lines, and ensures valid UTF-8.
 *
 *     clean_text(bytes, &text);
 *
 * For output that arrives in parts, an incomplete sequence at the end belongs to the next part:
 *
 *     size_t open = clean_open(bytes);
 *     clean_text(str_head(bytes, bytes.n - open), &text);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_CLEAN_H
#define TOOL_CLEAN_H

#include "base/buf.h"

enum {
    CLEAN_OPEN_MAX = 4096, /* longer sequences are not waited for */
};

void clean_text(struct str bytes, struct buf *text);

/* Return the number of bytes at the end that are an incomplete character or escape sequence. */
size_t clean_open(struct str bytes);
size_t clean_open_character(struct str bytes);

#endif
