/* The system calls that an audit looks at: one table, from which the filter is made that stops a
 * program at these and lets it run freely otherwise. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AUDIT_CALLS_H
#define AUDIT_CALLS_H

#include "base/base.h"

enum call_kind {
    CALL_OPEN,    /* flags in `flags` */
    CALL_OPENAT2, /* flags in the struct that `flags` points to */
    CALL_CREAT,   /* open with O_CREAT | O_WRONLY | O_TRUNC */
    CALL_EXEC,
    CALL_ENTRY,   /* makes, removes or renames an entry of a directory; links are not followed */
    CALL_CHANGE,  /* changes a file by its name; links are followed unless `flags` say no */
    CALL_CONNECT, /* an address in `path` with its length after it */
    CALL_BIND,
    CALL_SEND,
};

enum {
    CALL_PATHS = 2,
    CALL_NONE = -1, /* no such argument */
    CALL_FOREIGN = 0xFFFF,
};

/* Numbers of arguments. No directory: the current one. */
struct call {
    int nr; /* SYSCALL_NONE: this processor has no such call */
    enum call_kind kind;
    struct {
        signed char dir, path;
    } at[CALL_PATHS];
    signed char flags;
};

/* What the filter's answer stands for: NULL for CALL_FOREIGN, a call by the rules of another
 * processor, which can't be understood here. */
const struct call *call_find(unsigned answer);

/* For the calling process and all that it starts, for good. Needs a tracer that takes part.
 * io_uring answers ENOSYS, as it does in the sandbox: what goes through it can't be seen. Safe
 * after fork; false and errno if it can't be done. */
MUST_USE bool calls_install_filter(void);

#endif
