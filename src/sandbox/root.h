/* Building the sandbox's root from a plan: runs in the child, before it gives up its rights.
 * Nothing here allocates or prints. */
#ifndef SANDBOX_ROOT_H
#define SANDBOX_ROOT_H

#include "sandbox/plan.h"
#include "sandbox/stage.h"

struct root_error {
    enum stage stage;
    int errnum;
    int step;
};

struct root {
    int fd;          /* the new root */
    int devpts;      /* its terminals */
    bool limits_ipc; /* the settings for SysV IPC are made */
};

struct root_options {
    bool owns_ids;   /* more than one id is mapped: terminals can belong to the group tty */
    int pid_max;     /* 0: don't set */
    bool exact_pids; /* nothing else limits the number of processes */
};

/* All mounts; then the old root is gone. */
MUST_USE bool root_build(const struct plan *plan, const struct root_options *options,
    struct root *ret_root, struct root_error *ret_error);

#endif
