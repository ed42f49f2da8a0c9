/* Tables of the system calls that a sandbox refuses: by number, with the answer to each. The filter
 * in sandbox/seccomp.h is made from them.
 *
 *     uint16_t answers[REFUSED_NEWEST + 1] = {0};
 *     refused_fill(&options, answers);
 *
 * An answer is an errno, or the check of the call's arguments.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_REFUSED_H
#define SANDBOX_REFUSED_H

#include "sandbox/seccomp.h"

enum {
    /* The newest call known to the tables: set_mempolicy_home_node, Linux 5.17. */
    REFUSED_NEWEST = 450,
};

/* Answers beyond errno values. */
enum judged {
    JUDGE_FIRST = 1000,
    JUDGE_BIND = JUDGE_FIRST,
    JUDGE_CLONE,
    JUDGE_FALLOCATE,
    JUDGE_FCNTL,
    JUDGE_GROUP,
    JUDGE_IOCTL,
    JUDGE_IOPRIO,
    JUDGE_KILL,
    JUDGE_MMAP,
    JUDGE_MODE_1, /* the second argument is a file mode; with _2 the third */
    JUDGE_MODE_2,
    JUDGE_NODE_1, /* the same, and it includes the file's type */
    JUDGE_NODE_2,
    JUDGE_OPEN,
    JUDGE_OPENAT,
    JUDGE_PERSONALITY,
    JUDGE_PRIORITY,
    JUDGE_PRLIMIT,
    JUDGE_RENAME,
    JUDGE_SCHEDULE, /* the first argument is a process */
    JUDGE_SETRLIMIT,
    JUDGE_SHMGET,
    JUDGE_SOCKET,
    JUDGE_SOCKETPAIR,
    JUDGE_END,
};

/* Fills in the answers; 0 for an allowed call. */
void refused_fill(const struct seccomp_options *options, uint16_t answers[REFUSED_NEWEST + 1]);

#endif
