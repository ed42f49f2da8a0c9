/* Runs a command in a box, which is started for it if it is not running.
 *
 *     const struct box_exec x = {.exec = {.argv = argv, …}, .start = start};
 *     if (!box_exec_run(arena, &use, &x, &status, err)) return false;
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOXES_BOX_EXEC_H
#define BOXES_BOX_EXEC_H

#include "box/use.h"
#include "boxd/client.h"
#include "boxd/start.h"

struct box_exec {
    struct client_exec exec;
    struct start_options start; /* without the box */
};

/* *ret_status is a wait status as from waitpid(). */
MUST_USE bool box_exec_run(struct arena *a, const struct box_use *use, const struct box_exec *x,
    int *ret_status, struct err *err);

#endif
