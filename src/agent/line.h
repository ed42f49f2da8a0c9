/* Parses and checks a line of a session file: the header, a message, or a record. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_LINE_H
#define AGENT_LINE_H

#include "agent/line_file.h"
#include "base/json.h"

enum line_kind {
    LINE_MESSAGE,
    LINE_COMPACTION,
    LINE_TITLE,
    LINE_UPDATED,
    LINE_IMPORTED, /* the session was imported from a file */
    LINE_RESUMED,  /* the user has resumed it explicitly in this directory */
    LINE_KINDS,
};

/* Checks a session's header: version, id, and the types of the known keys. It may hold a list of
 * messages of any length, which is not checked. E_CONFIG. */
MUST_USE bool line_check_header(const json_t *header, struct err *err);

/* E_CONFIG names the wrong key. */
MUST_USE bool line_check(const json_t *tree, enum line_kind *ret_kind, struct err *err);

/* Checks a compaction, in a line or in an envelope. */
MUST_USE bool line_check_compaction(const json_t *tree, struct err *err);

/* Parses a line of a file; errors begin with FILE:LINE:COLUMN. If the last line of a file is torn,
 * *ret_tree stays NULL, which is not an error. */
MUST_USE bool line_parse(
    const struct line_file_line *line, const char *file, json_t **ret_tree, struct err *err);
/* Prefixes the error with FILE:LINE. Returns false. */
bool line_blame(struct err *err, const char *file, size_t number);

#endif
