/* Tool calls, line by line: {"name","arguments","request_id"?} on stdin, a result for each on
 * stdout.
 *
 *     if (!serve_calls(bench.box, err)) return false;
 *
 * Sessions of exec_command stay between calls, and are read while nobody asks. A line that makes no
 * sense gets a result that says so. Ends with stdin, or when it is interrupted between calls;
 * SIGINT during a call ends only that.
 */
#ifndef CLI_SERVE_H
#define CLI_SERVE_H

#include "base/err.h"
#include "tool/toolbox.h"

MUST_USE bool serve_calls(struct toolbox *box, struct err *err);

#endif
