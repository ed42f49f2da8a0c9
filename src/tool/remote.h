/* Tools that run elsewhere: `cordon tool --serve` at the other end of two pipes, such as in a box.
 *
 *     struct remote *remote;
 *     if (!remote_start(argv, REMOTE_PROGRAM, &remote, err)) return false;
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

enum remote_user {
    REMOTE_PROGRAM, /* cordon(1): the server is terminated with the thread that started it, and its
                       standard error is ours */
    REMOTE_LIBRARY, /* any thread may end: the server ends with its standard input, after the call
                       in progress; the end of its standard error is part of errors */
};

/* Starts the program in its own process group: an interruption from the terminal is forwarded by
 * us. It inherits no other descriptors and no ignored signals, except SIGHUP. */
MUST_USE bool remote_start(
    const char *const *argv, enum remote_user user, struct remote **ret_remote, struct err *err);
/* Waits until the server responds. */
MUST_USE bool remote_await(struct remote *remote, uint64_t timeout_ms, struct err *err);
void remote_stop(struct remote *remote); /* accepts NULL */

/* Executes one call, like a tool's run(); `signals` interrupts it (io/interrupt.h), or -1. */
MUST_USE bool remote_call(struct remote *remote, const char *name, const json_t *arguments,
    int signals, struct tool_result *result, struct err *err);

#endif
