/* The system calls that a sandbox refuses, as tables: by number, with the answer to each. The
 * filter in sandbox/seccomp.h is made from them.
 *
 *     uint16_t answers[REFUSED_NEWEST + 1] = {0};
 *     refused_fill(&options, answers);
 *
 * An answer is an errno, or how the call is judged by its arguments.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_REFUSED_H
#define SANDBOX_REFUSED_H

#include "sandbox/seccomp.h"

enum {
    /* The newest call that the tables were made with: set_mempolicy_home_node, Linux 5.17. */
    REFUSED_NEWEST = 450,
};

/* Beyond errno values. */
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
    JUDGE_MODE_1, /* the second argument is a file mode; and so on */
    JUDGE_MODE_2,
    JUDGE_NODE_1, /* the same, and says the file's type */
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

/* 0 for a call that is allowed. */
void refused_fill(const struct seccomp_options *options, uint16_t answers[REFUSED_NEWEST + 1]);

#endif
