/* The parent-death signal of process 1. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/parent_death.h"

#include <signal.h>
#include <sys/prctl.h>

void parent_death_signals(void)
{
    prctl(PR_SET_PDEATHSIG, PARENT_DEATH_SIGNAL, 0, 0, 0);
}

bool parent_death_kills(void)
{
    sigset_t pending;
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    return sigpending(&pending) == 0 && sigismember(&pending, PARENT_DEATH_SIGNAL) != 1;
}
