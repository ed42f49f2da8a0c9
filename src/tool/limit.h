/* Shared output limiter: selects the part of a long text to show to a model.
 *
 *     struct limit cap = LIMIT_DEFAULT;
 *     result->truncated |= limit_head(&cap, text, "read on with offset 200", &result->content);
 *
 * Files and listings keep the head. Command output keeps the first quarter and the last three,
 * because errors come last. A line that starts with [truncated] marks the omission, with its size
 * and the place of the full text. Whole lines are kept; a single line that is too long is cut.
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
    size_t skipped_bytes, skipped_lines; /* of the middle, already missing from the text */
};

#define LIMIT_DEFAULT ((struct limit){.bytes = LIMIT_BYTES, .lines = LIMIT_LINES})

/* Append the selected part; return true if something was omitted. `where` ends the marker line and
 * may be NULL. */
bool limit_head(const struct limit *limit, struct str text, const char *where, struct buf *out);
bool limit_ends(const struct limit *limit, struct str text, const char *where, struct buf *out);

/* Appends the `where` of an output whose log has this path; NULL: without a log. */
void limit_where(const char *path, struct buf *where);

/* Appends a line, given without its newline, to a listing. Returns false if it does not fit. The
 * first line is cut rather than dropped, which sets *ret_cut. */
bool limit_add_line(struct buf *out, struct str line, bool *ret_cut);

/* Counts lines, including an unterminated last one. */
size_t limit_lines(struct str text);

#endif
