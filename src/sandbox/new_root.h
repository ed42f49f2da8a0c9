/* Builds the sandbox's root from a plan. Runs in the child, before it drops its privileges. Nothing
 * here allocates or prints. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_NEW_ROOT_H
#define SANDBOX_NEW_ROOT_H

#include "sandbox/plan.h"
#include "sandbox/stage.h"

struct root_error {
    enum stage stage;
    int errnum;
    int step;
};

struct root {
    int fd;          /* the new root */
    int devpts;      /* the mount of its terminals */
    bool limits_ipc; /* the limits of SysV IPC are set */
    int processes;   /* a /proc directory with all processes, for counting and killing; or -1 */
};

struct new_root_options {
    bool owns_ids;   /* more than one id is mapped: terminals can belong to the group tty */
    int pid_max;     /* 0: don't set */
    bool exact_pids; /* nothing else limits the number of processes */
    bool processes;  /* open a view of all processes */
    /* For each step that binds, the mount from root_map_step(); NULL: none were made. */
    const int *trees;
};

/* In place of a mount: the source of a bind no longer exists. */
enum {
    ROOT_VANISHED = -2,
};

/* Runs in the supervisor, which has rights over the host's mounts: makes the mount of a step that
 * binds, with the ids of a user namespace. The mount is -1 for other steps. Returns false and errno
 * if this step can't be done that way. */
MUST_USE bool root_map_step(const struct plan_step *step, int user_namespace, int *ret_tree);

/* Makes all mounts, then detaches the old root. */
MUST_USE bool new_root_build(const struct plan *plan, const struct new_root_options *options,
    struct root *ret_root, struct root_error *ret_error);

#endif
