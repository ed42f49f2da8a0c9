/* Agent with tools in a box: the agent process keeps its keys and its session outside, only its
 * tools run inside.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_BOX_TOOLS_H
#define AGENT_BOX_TOOLS_H

#include "agent/tool_setup.h"
#include "tool/remote.h"

/* Fails with E_CLI_INVALID_ARG if the options conflict with --box. */
MUST_USE bool box_tools_check(const struct tool_setup_options *options, struct err *err);

/* Starts the tool server in the box, and the box if it is not running, and waits until it responds;
 * its last message is part of errors. `program` is the path of cordon(1), also in the box; NULL:
 * looked up in PATH. The directory of the box's project is in the arena. */
MUST_USE bool box_tools_start(struct arena *a, const char *name, const char *program,
    const char **ret_dir, struct remote **ret_remote, struct err *err);

/* The same with this program, and changes to the project's directory. */
MUST_USE bool box_tools_open(
    struct arena *a, const char *name, struct remote **ret_remote, struct err *err);

#endif
