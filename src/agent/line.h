/* A line of a session file, read and checked: its envelope, a message, or a record. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_LINE_H
#define AGENT_LINE_H

#include "agent/tape.h"
#include "base/json.h"

enum line_kind {
    LINE_MESSAGE,
    LINE_COMPACTION,
    LINE_TITLE,
    LINE_UPDATED,
    LINE_IMPORTED, /* the session came from a file of somebody else's */
    LINE_RESUMED,  /* the user has gone on with it, by its name, in this directory */
    LINE_KINDS,
};

/* The envelope of a session, with a list of messages of any length, which are not looked at:
 * version, id, and the types of the keys that are known. E_CONFIG. */
MUST_USE bool line_check_header(const json_t *header, struct err *err);

/* E_CONFIG says which key is wrong. */
MUST_USE bool line_check(const json_t *tree, enum line_kind *ret_kind, struct err *err);

/* A compaction's own check, also for those in an envelope. */
MUST_USE bool line_check_compaction(const json_t *tree, struct err *err);

/* Parses a line of a file; what is wrong is FILE:LINE:COLUMN. The last line of a file may be torn:
 * then *ret_tree stays NULL, and it is no error. */
MUST_USE bool line_parse(
    const struct tape_line *line, const char *file, json_t **ret_tree, struct err *err);
/* Puts FILE:LINE in front; false. */
bool line_blame(struct err *err, const char *file, size_t number);

#endif
