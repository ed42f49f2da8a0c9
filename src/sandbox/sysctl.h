/* Kernel settings that belong to the sandbox's own namespaces, written before its /proc becomes
 * read-only. Nothing here allocates or prints: it runs in a child after clone(). */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_SYSCTL_H
#define SANDBOX_SYSCTL_H

#include "policy/policy.h"

enum {
    SYSCTL_DIGITS = 24, /* room for a number */
};

/* Formats a number. snprintf() is not safe in a child of a multithreaded process. */
const char *sysctl_number(uint64_t n, unsigned base, char text[SYSCTL_DIGITS]);

/* `proc` is a file descriptor of a proc file system, `path` is relative to it. Returns false and
 * sets errno on failure. */
MUST_USE bool sysctl_write(int proc, const char *path, uint64_t value);

/* Limits inotify to a share of the user's limits, so that a sandbox can't use them up. Kernels
 * without such a setting do not limit the sandbox separately: the user's limits apply. */
void sysctl_limit_inotify(int proc);

/* Limits SysV shared memory, message queues and semaphores by the memory limit of one process.
 * Returns false if the kernel does not let the owner of the namespace set that (Linux before 6.9,
 * unless the caller is root of the machine). */
MUST_USE bool sysctl_limit_ipc(int proc, const struct policy_limits *limits);

#endif
