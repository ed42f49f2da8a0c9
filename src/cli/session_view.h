/* Printing sessions: a list with one line each, or one session with its messages. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_SESSION_VIEW_H
#define CLI_SESSION_VIEW_H

#include "agent/catalog.h"
#include "agent/store.h"
#include "cli/out.h"

/* Lists the first n sessions, at the width of the terminal. */
void session_view_list(struct cli *cli, const struct catalog *c, size_t n);

/* Prints a session's messages, with tool results in full or truncated. */
void session_view_show(struct cli *cli, const struct store *s, bool full);

#endif
