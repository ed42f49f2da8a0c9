/* What a program printed, as text for a model: no escape sequences, of a line that was written over
 * and over only what stands there at the end, no control characters, valid UTF-8.
 *
 *     clean_text(bytes, &text);
 *
 * Of output that comes in parts, what is not whole at the end of one belongs to the next:
 *
 *     size_t open = clean_open(bytes);
 *     clean_text(str_head(bytes, bytes.n - open), &text);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_CLEAN_H
#define TOOL_CLEAN_H

#include "base/buf.h"

enum {
    CLEAN_OPEN_MAX = 4096, /* what is longer is not waited for */
};

void clean_text(struct str bytes, struct buf *text);

/* How many bytes at the end are the start of a character, or of an escape sequence. */
size_t clean_open(struct str bytes);
size_t clean_open_character(struct str bytes);

#endif
