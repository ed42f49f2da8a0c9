/* A session as Markdown, for people. What was said stays as it was written; arguments and results
 * of tools are blocks of code. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_PROSE_H
#define AGENT_PROSE_H

#include "agent/store.h"

/* A block of code that nothing in the text can end. */
void prose_add_block(struct buf *out, const char *language, struct str text);

void prose_add(const struct store *s, struct buf *out);

#endif
