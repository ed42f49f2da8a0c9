/* Sessions on a screen: one line for each, or one with its messages. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_SESSION_VIEW_H
#define CLI_SESSION_VIEW_H

#include "agent/catalog.h"
#include "agent/store.h"
#include "cli/out.h"

/* The first n of them, as many columns wide as the terminal is. */
void session_view_list(struct cli *cli, const struct catalog *c, size_t n);

/* A session's messages; results of tools in full, or only their beginning. */
void session_view_show(struct cli *cli, const struct store *s, bool full);

#endif
