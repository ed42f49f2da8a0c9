/* Sessions as text: a list with one line each, or one session with its messages. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHAT_SESSION_VIEW_H
#define CHAT_SESSION_VIEW_H

#include "agent/catalog.h"
#include "agent/store.h"

struct session_view {
    struct buf *out;
    bool to_terminal; /* `out` is printed on a terminal: its width is used */
    bool color;
};

/* Lists the first n sessions, at the width of the terminal. */
void session_view_list(const struct session_view *v, const struct catalog *c, size_t n);

/* Prints a session's messages, with tool results in full or truncated. */
void session_view_show(const struct session_view *v, const struct store *s, bool full);

#endif
