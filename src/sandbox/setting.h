/* Settings of the kernel that belong to the sandbox's own namespaces, written before its /proc
 * becomes read-only. Nothing here allocates or prints: it runs in a child after clone(). */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_SETTING_H
#define SANDBOX_SETTING_H

#include "policy/policy.h"

enum {
    SETTING_DIGITS = 24, /* room for a number */
};

/* snprintf() is not for a child of a process with threads. */
const char *setting_number(uint64_t n, unsigned base, char text[SETTING_DIGITS]);

/* `proc` is a descriptor of a proc file system, `path` is below it. False and errno. */
MUST_USE bool setting_write(int proc, const char *path, uint64_t value);

/* A share of what the user may have, so that a sandbox does not take all of it. Kernels that have
 * no such setting have no such limit of the sandbox either: those of the user hold. */
void setting_limit_inotify(int proc);

/* SysV shared memory, message queues and semaphores, by the memory that one process may have.
 * False if the kernel does not let the owner of the namespace set that (Linux before 6.9, unless
 * root of the machine asks). */
MUST_USE bool setting_limit_ipc(int proc, const struct policy_limits *limits);

#endif
