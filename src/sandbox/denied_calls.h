/* Looks at the system calls reported to a listener, and lists those that the sandbox denies.
 * Decides nothing that the sandbox relies on: an observed call continues, or is carried out by
 * another handler, whatever is found, and a reported one is refused. Only `git worktree add` in a
 * repository of the user's is refused here, so that it fails with a denial.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_DENIED_CALLS_H
#define SANDBOX_DENIED_CALLS_H

#include "sandbox/listener.h"

struct denied_calls;

/* The plan and the list must outlive it. */
MUST_USE struct denied_calls *denied_calls_new(const struct plan *plan, struct denied *denied);
void denied_calls_free(struct denied_calls *calls);

/* The listener's first handler; the only one of all calls but connect(). */
struct listener_reply denied_calls_handle(const struct listener_call *call);

/* Reports a call to connect() to a socket that is not the sandbox's: its name. */
void denied_calls_report_socket(const struct listener_call *call, const char *name);

#endif
