/* What a program printed, as text for a model: no escape sequences, of a line that was written over
 * and over only what stands there at the end, no control characters, valid UTF-8.
 *
 *     clean_text(bytes, &text);
 */
#ifndef TOOL_CLEAN_H
#define TOOL_CLEAN_H

#include "base/buf.h"

void clean_text(struct str bytes, struct buf *text);

#endif
