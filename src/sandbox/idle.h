/* Whether a command is a shell that waits for somebody to type: it ignores SIGTERM, and ends when
 * its terminal goes away. One that runs something waits for that. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_IDLE_H
#define SANDBOX_IDLE_H

#include "base/base.h"

#include <sys/types.h>

bool idle_is_shell(pid_t command);

#endif
