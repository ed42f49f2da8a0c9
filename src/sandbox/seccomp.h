/* The system-call filter: the tables of refused calls, compiled to a program for the kernel.
 *
 *     struct seccomp_filter filter;
 *     seccomp_compile(&(struct seccomp_options){.inet = true}, &filter);
 *     prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog)       after PR_SET_NO_NEW_PRIVS
 *
 * Known and refused is EPERM; what programs have a fallback for is ENOSYS, and so is every call
 * that is newer than this table. Another architecture's calls, x32 among them, kill. libseccomp was
 * measured at 3 ms for a filter that allows by list; this takes microseconds, and no memory that a
 * child after clone() could not ask for.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_SECCOMP_H
#define SANDBOX_SECCOMP_H

#include "base/base.h"

#include <linux/filter.h>

enum {
    SECCOMP_PROGRAM_MAX = 1024,
    SECCOMP_PRETENDS = -2, /* an answer: 0 for the caller, and nothing is done */
};

struct seccomp_options {
    bool inet;           /* sockets of the internet families */
    bool unix_domain;    /* sockets with names; otherwise only connected pairs */
    bool no_namespaces;  /* processes and IPC of the host are in reach: refuse what reaches them */
    bool small_segments; /* nothing else limits the sum of SysV shared memory */
    bool no_truncate;    /* Landlock does not know truncation */
    uint64_t shared_max; /* bytes of one shared mapping without a file; 0: any number */
};

struct seccomp_filter {
    struct sock_filter code[SECCOMP_PROGRAM_MAX];
    unsigned short n;
};

void seccomp_compile(const struct seccomp_options *options, struct seccomp_filter *ret_filter);

/* What the filter answers to a call: 0 allowed, an errno, -1 killed, or SECCOMP_PRETENDS. For
 * tests: interprets the program as the kernel would. */
int seccomp_answer(
    const struct seccomp_filter *filter, uint32_t arch, uint32_t number, const uint64_t args[6]);

#endif
