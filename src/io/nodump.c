/* Protection of processes that hold keys. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "io/nodump.h"

#include <sys/prctl.h>

void nodump_set(void)
{
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

bool nodump_is_set(void)
{
    return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 1;
}
