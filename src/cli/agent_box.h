/* An agent that works in a box: it stays outside with its keys and its session, its tools are
 * inside.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_AGENT_BOX_H
#define CLI_AGENT_BOX_H

#include "cli/bench.h"
#include "tool/remote.h"

/* Whether the options go together; E_CLI_INVALID_ARG. */
MUST_USE bool agent_box_check(const struct bench_options *options, struct err *err);

/* Goes to the box's project, and starts what carries out calls in the box, which is started if it
 * does not run. */
MUST_USE bool agent_box_open(
    struct cli *cli, const char *name, struct remote **ret_remote, struct err *err);

#endif
