/* Tool calls, line by line: {"name","arguments","request_id"?} on stdin, a result for each on
 * stdout.
 *
 *     if (!serve_calls(&bench, err)) return false;
 *
 * Sessions of exec_command stay between calls, and are read while nobody asks. A line that makes no
 * sense gets a result that says so. Ends with stdin, or when it is interrupted between calls;
 * SIGINT while a call waits for a command ends only that. Who does not read the results holds up
 * neither the sessions nor an end.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_SERVE_H
#define CLI_SERVE_H

#include "cli/bench.h"

MUST_USE bool serve_calls(struct bench *bench, struct err *err);

#endif
