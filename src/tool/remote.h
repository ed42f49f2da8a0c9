/* Tools that work elsewhere: `cordon tool --serve` at the other end of two pipes, such as in a box.
 *
 *     struct remote *remote;
 *     if (!remote_start(argv, &remote, err)) return false;
 *     options.remote = remote;            each call of the toolbox is then carried out there
 *     ...
 *     remote_stop(remote);
 *
 * Arguments are checked and consent is asked for here; there they are checked once more. What comes
 * back is a stranger's: its size, its form and its codes are checked, and an answer that is none
 * ends it. Whoever is gone stays so: every call from then on is E_IO.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_REMOTE_H
#define TOOL_REMOTE_H

#include "tool/tool.h"

enum {
    REMOTE_ANSWER_MAX = 16 << 20, /* bytes of one */
    REMOTE_GRACE_MS = 5000,       /* for an answer to an interruption, and for its end */
};

struct remote;

/* The program is started in a process group of its own: an interruption at the terminal reaches it
 * through us. It ends with the thread that starts it. */
MUST_USE bool remote_start(const char *const *argv, struct remote **ret_remote, struct err *err);
void remote_stop(struct remote *remote); /* accepts NULL */

/* One call; `signals` is a signalfd that interrupts it, or -1. False: as a tool's run. */
MUST_USE bool remote_call(struct remote *remote, const char *name, const json_t *arguments,
    int signals, struct tool_result *result, struct err *err);

#endif
