/* An agent's workspace: <project>/.cordon/workspaces/<agent>, excluded from git. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_WORKSPACE_H
#define PATH_WORKSPACE_H

#include "base/err.h"

enum {
    WORKSPACE_AGENT_MAX = 56,
};

/* Letters and digits, in groups joined by one of . _ - */
bool workspace_agent_valid(struct str agent);

/* Opens the workspace, creating it and .cordon/.gitignore if missing; returns a descriptor or -1. A
 * bad name is E_CLI_INVALID_ARG; symlinks on the way are E_FS_VIOLATION. */
MUST_USE int workspace_open(int project_fd, const char *agent, struct err *err);

#endif
