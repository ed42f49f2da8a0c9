/* Exports a session as Markdown for people. Text is copied unchanged; arguments and results of
 * tools become code blocks. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_PROSE_H
#define AGENT_PROSE_H

#include "agent/store.h"

/* Appends a code block that nothing in the text can close. */
void prose_add_block(struct buf *out, const char *language, struct str text);

void prose_add(const struct store *s, struct buf *out);

#endif
