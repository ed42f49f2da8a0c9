/* The shared limiter: what of a long text a model gets to see.
 *
 *     struct limit cap = LIMIT_DEFAULT;
 *     result->truncated |= limit_head(&cap, text, "read on with offset 200", &result->content);
 *
 * Files and listings keep the head. Command output keeps the first quarter and the last three,
 * because errors come last. Where something was left out stands a line that starts with
 * [truncated] and says how much, and where all of it is. Whole lines are kept; one that alone is
 * too long is cut.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_LIMIT_H
#define TOOL_LIMIT_H

#include "base/buf.h"

enum {
    LIMIT_BYTES = 8 * 1024,
    LIMIT_LINES = 200,
};

struct limit {
    size_t bytes, lines;
    size_t skipped_bytes, skipped_lines; /* of the middle: not in the text any more */
};

#define LIMIT_DEFAULT ((struct limit){.bytes = LIMIT_BYTES, .lines = LIMIT_LINES})

/* Append the view; true if something was left out. `where` ends the marker's sentence and may be
 * NULL. */
bool limit_head(const struct limit *limit, struct str text, const char *where, struct buf *out);
bool limit_ends(const struct limit *limit, struct str text, const char *where, struct buf *out);

/* One more line of a listing, without its newline. False: there is no room for it. The first one is
 * cut rather than lost: *ret_cut. */
bool limit_add_line(struct buf *out, struct str line, bool *ret_cut);

/* Lines of a text; a last one without its end counts. */
size_t limit_lines(struct str text);

#endif
