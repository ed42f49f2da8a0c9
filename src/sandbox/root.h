/* Building the sandbox's root from a plan: runs in the child, before it gives up its rights.
 * Nothing here allocates or prints. */
/* SPDX-License-Identifier: Apache-2.0 */
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
    int processes;   /* a directory of all processes, for counting; or -1 */
};

struct root_options {
    bool owns_ids;   /* more than one id is mapped: terminals can belong to the group tty */
    int pid_max;     /* 0: don't set */
    bool exact_pids; /* nothing else limits the number of processes */
    bool counts;     /* a view of all processes is wanted */
    /* For each step that binds, what root_map_step() gave; NULL: none was made. */
    const int *trees;
};

/* In place of a mount: a step that binds has nothing to show any more. */
enum {
    ROOT_VANISHED = -2,
};

/* In the supervisor, which has rights over the host's mounts: what a step binds, with the ids of a
 * user namespace. The mount is -1 for a step that binds nothing. False and errno if this step can't
 * be done so. */
MUST_USE bool root_map_step(const struct plan_step *step, int user_namespace, int *ret_tree);

/* All mounts; then the old root is gone. */
MUST_USE bool root_build(const struct plan *plan, const struct root_options *options,
    struct root *ret_root, struct root_error *ret_error);

#endif
