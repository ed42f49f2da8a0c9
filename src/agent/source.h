/* A file that the user names as a session: lines, or an envelope. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_SOURCE_H
#define AGENT_SOURCE_H

#include "agent/tape.h"
#include "base/mask.h"

/* Whether a file holds the lines of a session; otherwise it may be an envelope. */
bool source_has_lines(const struct tape *t);

/* Converts an envelope to lines. */
MUST_USE bool source_lines(
    struct tape *t, const struct mask *mask, struct buf *lines, struct err *err);

#endif
