/* Tables of the system calls that a sandbox refuses: by number, with the answer to each. The filter
 * in sandbox/seccomp.h is made from them.
 *
 *     uint16_t answers[SYSCALL_RULES_NEWEST + 1] = {0};
 *     syscall_rules_fill(&options, answers);
 *
 * An answer is an errno, or the check of the call's arguments.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_SYSCALL_RULES_H
#define SANDBOX_SYSCALL_RULES_H

#include "sandbox/seccomp.h"

enum {
    /* The newest call known to the tables: set_mempolicy_home_node, Linux 5.17. */
    SYSCALL_RULES_NEWEST = 450,
};

/* Answers beyond errno values. */
enum syscall_check {
    SYSCALL_CHECK_FIRST = 1000,
    SYSCALL_CHECK_BIND = SYSCALL_CHECK_FIRST,
    SYSCALL_CHECK_CLONE,
    SYSCALL_CHECK_EXIT,
    SYSCALL_CHECK_FALLOCATE,
    SYSCALL_CHECK_FCNTL,
    SYSCALL_CHECK_GROUP,
    SYSCALL_CHECK_IOCTL,
    SYSCALL_CHECK_IOPRIO,
    SYSCALL_CHECK_KILL,
    SYSCALL_CHECK_MMAP,
    SYSCALL_CHECK_MODE_1, /* the second argument is a file mode; with _2 the third */
    SYSCALL_CHECK_MODE_2,
    SYSCALL_CHECK_NODE_1, /* the same, and it includes the file's type */
    SYSCALL_CHECK_NODE_2,
    SYSCALL_CHECK_OPEN,
    SYSCALL_CHECK_OPENAT,
    SYSCALL_CHECK_PERSONALITY,
    SYSCALL_CHECK_PRIORITY,
    SYSCALL_CHECK_PRLIMIT,
    SYSCALL_CHECK_RENAME,
    SYSCALL_CHECK_SCHEDULE, /* the first argument is a process */
    SYSCALL_CHECK_SECCOMP,
    SYSCALL_CHECK_SETRLIMIT,
    SYSCALL_CHECK_SHMGET,
    SYSCALL_CHECK_SOCKET,
    SYSCALL_CHECK_SOCKETPAIR,
    SYSCALL_CHECK_END,
};

/* Fills in the answers; 0 for an allowed call. */
void syscall_rules_fill(
    const struct seccomp_options *options, uint16_t answers[SYSCALL_RULES_NEWEST + 1]);

/* Calls reported to a listener. It lets the first kind continue, always, and refuses the
 * second, always: it decides nothing. */
enum syscall_observed {
    SYSCALL_UNOBSERVED,
    SYSCALL_OBSERVED, /* if it is allowed */
    SYSCALL_REPORTED, /* if it would be refused with EPERM, which is then the listener's answer */
};

enum syscall_observed syscall_rules_observe(uint32_t number);

/* The same for every number. */
void syscall_rules_fill_observed(uint8_t how[SYSCALL_RULES_NEWEST + 1]);

/* Name of a reported call; NULL for others. */
const char *syscall_rules_name(uint32_t number);

#endif
