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

/* Changes to the box's project directory and starts the tool server in the box. The box is started
 * if it is not running. */
MUST_USE bool box_tools_open(
    struct arena *a, const char *name, struct remote **ret_remote, struct err *err);

#endif
