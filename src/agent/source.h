/* A file that somebody names as a session: lines, or one envelope. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_SOURCE_H
#define AGENT_SOURCE_H

#include "agent/tape.h"
#include "llm/mask.h"

/* Whether a file has a session's lines; otherwise it may be an envelope. */
bool source_has_lines(const struct tape *t);

/* The lines of an envelope. */
MUST_USE bool source_lines(
    struct tape *t, const struct mask *mask, struct buf *lines, struct err *err);

#endif
