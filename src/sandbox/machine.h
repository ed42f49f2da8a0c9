/* The features that this machine offers a sandbox, and errors for missing ones.
 *
 *     if (machine_get()->landlock_abi == 0) ...
 *     return machine_unavailable(&(struct machine_failure){"pivot_root", errno}, err);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_MACHINE_H
#define SANDBOX_MACHINE_H

#include "base/err.h"
#include "base/json.h"

enum {
    MACHINE_UNKNOWN = -1, /* the kernel has no such setting */
};

/* Features that can be missing separately. */
enum {
    MACHINE_PID_MAX = 1 << 0, /* kernel.pid_max of a pid namespace */
    MACHINE_CGROUPS = 1 << 1,
    MACHINE_ID_MAPS = 1 << 2, /* id-mapped mounts */
};

struct machine {
    char release[72];              /* of the kernel */
    int landlock_abi;              /* 0: none */
    int landlock_errno;            /* errno without Landlock */
    bool pid_max_in_namespace;     /* kernel.pid_max is per pid namespace (6.14) */
    bool limits_by_namespace;      /* RLIMIT_NPROC counts per user namespace (5.14) */
    bool kernel_root;              /* the kernel's user 0, exempt from RLIMIT_NPROC */
    _Atomic unsigned lacking;      /* see machine_disable() */
    _Atomic bool ipc_in_namespace; /* settings of SysV IPC belong to its namespace's owner (6.9) */
    int userns_clone;              /* kernel.unprivileged_userns_clone */
    int max_userns;                /* user.max_user_namespaces */
    int apparmor_userns;           /* kernel.apparmor_restrict_unprivileged_userns */
    int inotify_watches;           /* fs.inotify.max_user_watches */
    int inotify_instances;         /* fs.inotify.max_user_instances */
    char *secret;                  /* the memory of our arguments and environment */
    size_t secret_size;
};

/* Collected on the first call. */
const struct machine *machine_get(void);

/* Whether user 0 is also user 0 outside, according to the text of a uid_map. Pure. */
bool machine_maps_root(const char *uid_map);

/* Records that a second user namespace is not available after all, without which a user can't limit
 * SysV IPC. */
void machine_no_nested_userns(void);

/* Pretends from now on that this machine lacks these features. For tests of the fallbacks. */
void machine_disable(unsigned parts);
bool machine_is_disabled(unsigned parts);

/* The pid_max that allows this many processes in the sandbox, if pids begin at MACHINE_PID_FIRST:
 * the kernel gives out each pid below that only once. */
enum {
    MACHINE_PID_FIRST = 300,
};
int machine_pid_max(uint64_t processes);

struct machine_failure {
    const char *primitive;
    int errnum;
    struct str path; /* where it failed, if at a path */
};

/* Sets E_SANDBOX_UNAVAILABLE with context {primitive, errno, found, weaker, remedy}, by
 * sandbox/diagnose.h; returns false. */
bool machine_unavailable(const struct machine_failure *failure, struct err *err);

/* The remedy for EMFILE and ENFILE, at any step; NULL for other errors. */
const char *machine_files_remedy(int errnum);

/* Returns a new object with the kernel's version, features and settings. */
MUST_USE json_t *machine_json(void);

#endif
