/* Serving tool calls, line by line: {"name","arguments","request_id"?} on stdin, a result for each
 * on stdout.
 *
 *     if (!call_server_run(&options, err)) return false;
 *
 * Sessions of exec_command persist between calls, and their output is read while idle. An invalid
 * line gets an error as its result. Ends with stdin, or on a signal between calls; SIGINT while a
 * call waits for a command ends only that call. A client that does not read the results delays
 * neither the sessions nor termination.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_CALL_SERVER_H
#define TOOL_CALL_SERVER_H

#include "tool/toolbox.h"

struct call_server_options {
    struct toolbox *box;
    struct toolbox_options *toolbox; /* those of the box */
    /* Called before the process exits because a signal interrupted a tool that does not poll. May
     * be NULL. */
    void (*on_canceled)(void *context, const struct err *error);
    void *context;
};

MUST_USE bool call_server_run(const struct call_server_options *options, struct err *err);

#endif
