/* The end of process 1 when the supervisor dies: the kernel kills it, or sends a signal that
 * it handles. The second lets it kill everything before its own end closes the listener of the
 * filter: otherwise calls that wait for an answer would fail with ENOSYS, and the command would
 * continue for a moment. It is for the times when process 1 can't be blocked by anything.
 *
 *     parent_death_signals();
 *     poll(...)
 *     if (!parent_death_kills()) ...it died just before...
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_PARENT_DEATH_H
#define SANDBOX_PARENT_DEATH_H

#include "base/base.h"

enum {
    PARENT_DEATH_SIGNAL = 64, /* a real-time signal, which must be blocked */
};

void parent_death_signals(void);

/* Returns false if the signal is already pending. */
bool parent_death_kills(void);

#endif
