/* The system calls that a learning run examines, in one table. The seccomp filter made from it
 * stops a program only at these calls. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LEARN_LEARN_CALLS_H
#define LEARN_LEARN_CALLS_H

#include "base/base.h"

enum call_kind {
    CALL_OPEN,    /* flags in `flags` */
    CALL_OPENAT2, /* flags in the struct that `flags` points to */
    CALL_CREAT,   /* open with O_CREAT | O_WRONLY | O_TRUNC */
    CALL_EXEC,
    CALL_ENTRY,   /* creates, removes or renames a directory entry; symlinks are not followed */
    CALL_CHANGE,  /* changes a file by name; follows symlinks unless `flags` prevent it */
    CALL_CONNECT, /* address in `path`, its length in the next argument */
    CALL_BIND,
    CALL_SEND,
};

enum {
    CALL_PATHS = 2,
    CALL_NONE = -1, /* no such argument */
    CALL_FOREIGN = 0xFFFF,
};

/* Argument numbers. Without a directory argument, names are relative to the working directory. */
struct learn_call {
    int nr; /* SYSCALL_NONE: does not exist on this architecture */
    enum call_kind kind;
    struct {
        signed char dir, path;
    } at[CALL_PATHS];
    signed char flags;
};

/* Returns the call for the filter's return data. NULL for CALL_FOREIGN: a call with the ABI of
 * another architecture, which can't be decoded here. */
const struct learn_call *call_find(unsigned answer);

/* Installs the filter permanently for the calling process and its descendants. Needs a tracer that
 * handles seccomp events. io_uring fails with ENOSYS, as in the sandbox: its operations can't be
 * observed. Safe after fork; returns false with errno on failure. */
MUST_USE bool calls_install_filter(void);

#endif
