/* Detects a shell that waits for input: it ignores SIGTERM, but exits when its terminal hangs up. A
 * shell with a child process waits for the child instead. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_SHELL_IDLE_H
#define SANDBOX_SHELL_IDLE_H

#include "base/base.h"

#include <sys/types.h>

bool shell_is_idle(pid_t command);

#endif
