/* Which line of a screen is most like a text that was looked for: most failures are a word that is
 * spelled differently.
 *
 *     nearest_add(&screen, STR("Hello world"), &why);     "; the nearest is line 3: 'Helo world'"
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_NEAREST_H
#define RUN_NEAREST_H

#include "base/buf.h"
#include "term/snapshot.h"

enum {
    NEAREST_TEXT_MAX = 128, /* bytes of the text that are compared */
};

/* Appends words about it; nothing if no line is like it. */
void nearest_add(const struct snapshot *screen, struct str text, struct buf *why);

/* How many single-byte edits make the text from the part of the line that is most like it. */
size_t nearest_distance(struct str line, struct str text);

#endif
