/* Serving tool calls, line by line: {"name","arguments","request_id"?} on stdin, a result for each
 * on stdout.
 *
 *     if (!serve_calls(&bench, err)) return false;
 *
 * Sessions of exec_command persist between calls, and their output is read while idle. An invalid
 * line gets an error as its result. Ends with stdin, or on a signal between calls; SIGINT while a
 * call waits for a command ends only that call. A client that does not read the results delays
 * neither the sessions nor termination.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_SERVE_H
#define CLI_SERVE_H

#include "cli/bench.h"

MUST_USE bool serve_calls(struct bench *bench, struct err *err);

#endif
