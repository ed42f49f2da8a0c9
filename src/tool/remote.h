/* Tools that run elsewhere: `cordon tool --serve` at the other end of two pipes, such as in a box.
 *
 *     struct remote *remote;
 *     if (!remote_start(argv, &remote, err)) return false;
 *     options.remote = remote;            calls of the toolbox are then executed there
 *     ...
 *     remote_stop(remote);
 *
 * Arguments are checked and consent is obtained here; the server checks the arguments again. Its
 * responses are untrusted: their size, form and error codes are checked, and an invalid one ends
 * the connection. After that, and if the server is gone, every call fails with E_IO.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_REMOTE_H
#define TOOL_REMOTE_H

#include "tool/tool.h"

enum {
    REMOTE_ANSWER_MAX = 16 << 20, /* bytes of one response */
    REMOTE_GRACE_MS = 5000,       /* for the response to an interruption, and for the exit */
};

struct remote;

/* Starts the program in its own process group: an interruption from the terminal is forwarded by
 * us. It is terminated when the thread that started it exits. */
MUST_USE bool remote_start(const char *const *argv, struct remote **ret_remote, struct err *err);
void remote_stop(struct remote *remote); /* accepts NULL */

/* Executes one call, like a tool's run(); `signals` is a signalfd that interrupts it, or -1. */
MUST_USE bool remote_call(struct remote *remote, const char *name, const json_t *arguments,
    int signals, struct tool_result *result, struct err *err);

#endif
