/* Kills all processes of a session, in the sandbox's process 1. Allocates nothing.
 *
 * A group is not enough: programs such as timeout(1), and shells with job control, make groups of
 * their own in the session of the command that started them. A process that makes a session of its
 * own is a server by intention, and lives on. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_SESSION_KILL_H
#define SANDBOX_SESSION_KILL_H

#include "base/base.h"

#include <sys/types.h>

/* `processes` is a directory of all processes, also of those that hide from their own user; -1, or
 * if they appear as fast as they are killed: kills all but process 1. */
void session_kill(int processes, pid_t session);

/* Values of a /proc/PID/stat file. For tests. */
struct session_stat {
    pid_t session;
    bool ends; /* it is killed already, ending, or waits to be reaped */
};
bool session_read_stat(const char *text, struct session_stat *ret_stat);

#endif
