/* Finds the line of a screen that is most similar to a text that was not found: most failures are a
 * word that is spelled differently.
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

/* Appends a hint, or nothing if no line is similar. */
void nearest_add(const struct snapshot *screen, struct str text, struct buf *why);

/* Returns the number of single-byte edits between the text and the most similar part of the
 * line. */
size_t nearest_distance(struct str line, struct str text);

#endif
