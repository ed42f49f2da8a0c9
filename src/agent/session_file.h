/* A file that the user names as a session: lines, or an envelope. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_SESSION_FILE_H
#define AGENT_SESSION_FILE_H

#include "agent/line_file.h"
#include "base/mask.h"

/* Whether a file holds the lines of a session; otherwise it may be an envelope. */
bool session_file_has_lines(const struct line_file *t);

/* Converts an envelope to lines. */
MUST_USE bool session_file_lines(
    struct line_file *t, const struct mask *mask, struct buf *lines, struct err *err);

#endif
