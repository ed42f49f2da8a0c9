/* Sets resource limits. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/rlimits.h"

#include <sys/resource.h>

enum {
    SPACE_FACTOR = 4,         /* address space per byte of memory: reserved parts stay unused */
    SHARE = 4,                /* the sandbox gets one SHARE-th of the user's limits */
    LOCKED_LEAST = 64 * 1024, /* bytes: programs keep keys there */
};

bool rlimits_set(int resource, uint64_t most)
{
    struct rlimit now;
    if (getrlimit((unsigned)resource, &now) != 0)
        return false;
    rlim_t value = MIN((rlim_t)most, now.rlim_max);
    now = (struct rlimit){value, value};
    return setrlimit((unsigned)resource, &now) == 0;
}

bool rlimits_share(int resource, uint64_t least)
{
    struct rlimit now;
    if (getrlimit((unsigned)resource, &now) != 0)
        return false;
    return rlimits_set(
        resource, now.rlim_cur == RLIM_INFINITY ? now.rlim_cur : MAX(now.rlim_cur / SHARE, least));
}

/* Resources that the command could take from the user's other processes. */
static bool limit_user_wide(void)
{
    return rlimits_set(RLIMIT_RTPRIO, 0) && rlimits_set(RLIMIT_NICE, 0) &&
           rlimits_share(RLIMIT_MSGQUEUE, 0) && rlimits_share(RLIMIT_MEMLOCK, LOCKED_LEAST);
}

/* Both count reserved memory as well. */
static bool limit_space(uint64_t memory)
{
    uint64_t space = memory > UINT64_MAX / SPACE_FACTOR ? UINT64_MAX : memory * SPACE_FACTOR;
    return rlimits_set(RLIMIT_DATA, memory) && rlimits_set(RLIMIT_AS, space);
}

bool rlimits_command(const struct init_input *in)
{
    const struct policy_limits *limits = &in->plan->limits;
    if (!rlimits_set(RLIMIT_NOFILE, limits->open_files) ||
        !rlimits_set(RLIMIT_FSIZE, limits->file_bytes) ||
        (!in->space && !limit_space(limits->memory_bytes)) ||
        (in->plan->mode != POLICY_NO_SANDBOX && !limit_user_wide()))
        return false;
    if (in->limit_uid && !rlimits_set(RLIMIT_NPROC, limits->processes + 1)) /* plus process 1 */
        return false;
    if (in->counts)
        setpriority(PRIO_PROCESS, 0, in->nice);
    return true;
}
