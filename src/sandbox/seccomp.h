/* The system call filter: the tables of refused calls, compiled to a BPF program.
 *
 *     struct seccomp_filter filter;
 *     seccomp_compile(&(struct seccomp_options){.inet = true}, &filter);
 *     prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog)       after PR_SET_NO_NEW_PRIVS
 *
 * Refused calls get EPERM; calls that programs have a fallback for get ENOSYS, and so does every
 * call that is newer than the tables. Calls of another architecture, including x32, kill the
 * process. libseccomp was measured at 3 ms for a filter with an allowlist; this takes microseconds,
 * and needs no memory that a child after clone() could not allocate.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_SECCOMP_H
#define SANDBOX_SECCOMP_H

#include "base/base.h"

#include <linux/filter.h>

enum {
    SECCOMP_PROGRAM_MAX = 1024,
    SECCOMP_PRETENDS = -2, /* an answer: the caller gets 0, and nothing is done */
    SECCOMP_NOTIFIES = -3, /* an answer: reported to the listener, which answers (listener.h) */
};

struct seccomp_options {
    bool inet;           /* sockets of the internet families */
    bool unix_domain;    /* all named sockets; otherwise only connected pairs */
    bool connects;       /* named streams as well: a listener carries out connect() */
    bool no_namespaces;  /* processes and IPC of the host are reachable: refuse calls to them */
    bool small_segments; /* nothing else limits the sum of SysV shared memory */
    bool no_truncate;    /* Landlock does not handle truncation */
    bool developer;      /* see plan_input; only with namespaces */
    bool observe;        /* report calls that may be denied: syscall_rules_observe() */
    bool group_id;       /* the set-group-id bit: see plan.own_writes */
    uint64_t shared_max; /* bytes of one shared mapping without a file; 0: unlimited */
};

struct seccomp_filter {
    struct sock_filter code[SECCOMP_PROGRAM_MAX];
    unsigned short n;
};

void seccomp_compile(const struct seccomp_options *options, struct seccomp_filter *ret_filter);

/* The filter's answer to a call: 0 allowed, an errno, -1 killed, SECCOMP_PRETENDS or
 * SECCOMP_NOTIFIES. For tests: interprets the program as the kernel would. */
int seccomp_answer(
    const struct seccomp_filter *filter, uint32_t arch, uint32_t number, const uint64_t args[6]);

#endif
