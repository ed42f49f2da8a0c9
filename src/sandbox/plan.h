/* The plan of a sandbox: turns a policy's verdict and the machine's baseline into a list of steps,
 * rules and numbers. Pure data: it can be printed, compared and tested; sandbox/launch.h carries it
 * out.
 *
 *     struct baseline base;
 *     baseline_collect(&arena, &base);
 *     plan_make(&(struct plan_input){.verdict = &v, .baseline = &base}, &arena, &plan);
 *     AUTO_JSON json_t *shown = plan_json(&plan);
 *
 * Steps are in the order of execution: deeper paths come later, so that of two roots the more
 * specific one decides.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_PLAN_H
#define SANDBOX_PLAN_H

#include "policy/validate.h"
#include "sandbox/baseline.h"

enum plan_kind {
    PLAN_DIR,     /* a directory in the root that we made */
    PLAN_LAYERED, /* a directory of the host below the one that we made: without it, if it fails */
    PLAN_OMIT,    /* a name in a layered directory that stays hidden */
    PLAN_FILE,    /* a file in it with these bytes */
    PLAN_LINK,    /* a symbolic link in it */
    PLAN_BIND,    /* a file or directory of the host */
    PLAN_OVERLAY, /* a directory of the host below a layer that takes every change */
    PLAN_LOADER,  /* the dynamic loader, patched so that it can't be executed directly */
    PLAN_DEVICE,  /* a harmless device of the host */
    PLAN_TMPFS,   /* a private, empty file system in memory */
    PLAN_DEVPTS,  /* private terminals */
    PLAN_PROC,    /* the processes of the sandbox */
    PLAN_PIN,     /* a directory mounted on itself, so that it can't be moved away */
    PLAN_MASK,    /* an empty file or directory over a part of /proc that is not for the command */
    PLAN_COVER,   /* an empty directory or file that hides a path */
};

enum {
    PLAN_READ = 1 << 0,
    PLAN_WRITE = 1 << 1,
    PLAN_EXEC = 1 << 2,   /* may be executed */
    PLAN_MAP = 1 << 3,    /* may be mapped as code (a library), not executed */
    PLAN_IS_DIR = 1 << 4, /* of a bind, a mask, a cover */
    PLAN_IOCTL = 1 << 5,  /* ioctl() on devices */
    PLAN_LIST = 1 << 6,   /* names in directories, not contents */
    PLAN_SOCKET = 1 << 7, /* with PLAN_WRITE: named sockets */
};

enum {
    PLAN_PROXY_PORT = 3128, /* of the private loopback */
};

/* A file or directory of the host: it must be exactly this one. */
struct plan_source {
    struct str path; /* resolved, NUL-terminated */
    dev_t dev;
    ino_t ino;
};

/* A directory that looks like `lower` at the place `at`; all its changes go to `upper`. None of the
 * three is reachable inside by any other name. Upper and work are on one file system; the caller
 * must ensure that nothing else uses them at the same time. */
struct plan_overlay {
    struct str at; /* absolute, clean, NUL-terminated */
    struct plan_source lower, upper, work;
    bool exec; /* its files may be executed */
};

/* A directory or file of the host at a place of the caller's choice. If that place is not its own
 * path, it must not contain anything that the plan hides; and if it is writable then, other users
 * must not have access to it. The same goes for the layers of an overlay. */
struct plan_bind {
    struct str at; /* absolute, clean, NUL-terminated */
    struct plan_source source;
    bool is_dir, write, exec;
};

struct plan_step {
    enum plan_kind kind;
    unsigned access;
    struct str at;   /* absolute, NUL-terminated */
    struct str text; /* the path on the host; the target of a symlink; the contents of a file */
    dev_t dev;       /* of that path: it must be exactly this one */
    ino_t ino;
    const struct elf_patch *patch; /* of a loader */
    const struct plan_overlay *overlay;
    uint64_t size; /* of a tmpfs, in bytes */
    mode_t mode;
    bool may_vanish; /* leave out a path of the host that is gone */
    bool unmapped;   /* of a bind: the owners of its files do not matter, which have no id maps */
    bool kept;       /* of a bind: it stays read-only in a writable place */
};

/* Sockets that may be created. */
struct plan_sockets {
    bool inet;        /* private loopback, or the network */
    bool unix_domain; /* all with names; otherwise only connected pairs */
    bool own;         /* with names, among the processes of the sandbox: sandbox/connector.h */
};

/* Remedies for failures to start the command, by the author of the limits and of the policy. NULL:
 * they name the keys of a policy. */
struct plan_remedies {
    const char *inexact;     /* a limit that can't be enforced exactly */
    const char *interpreter; /* continues "its interpreter must also be" */
};

struct plan {
    enum policy_sandbox mode;
    struct plan_step *steps;
    size_t n_steps;
    bool own_network;
    struct str_list hosts; /* reached by a proxy, which listens inside on PLAN_PROXY_PORT */
    bool own_tmp;          /* /tmp is not the host's */
    bool developer;        /* plan_input, and it may run files that it writes */
    /* Everything that it can write is a private file system, a layer, or a directory that only
     * stands for another one (plan_bind.at), all inaccessible to other users: it may set the
     * set-group-id bit, as for directories shared by a group. */
    bool own_writes;
    struct plan_sockets sockets;
    struct policy_limits limits;
    bool limits_inexact; /* the user accepted limits that can't be enforced exactly */
    uint64_t cpu_millis; /* thousandths of a CPU for all processes together; 0: not limited */
    struct str command;  /* inside: the file to execute */
    /* The name of that file that scripts get as their own, if it leads there inside; no value: the
     * command itself. */
    struct str command_name;
    struct str cwd; /* inside: the working directory */
    struct plan_remedies remedies;
};

/* A path in a shown directory that the child must not see. */
struct plan_hidden {
    struct str path; /* resolved */
    bool is_dir;
};

/* A file or directory of the host that must not change: read-only where a writable place shows it,
 * its parents pinned. Elsewhere it has no effect, and shows nothing that is not shown already. */
struct plan_kept {
    struct plan_source source;
    bool is_dir;
};

struct plan_input {
    const struct verdict *verdict;
    const struct baseline *baseline;
    const struct plan_hidden *hidden;
    size_t n_hidden;
    const struct plan_overlay *overlays; /* none within another */
    size_t n_overlays;
    const struct plan_bind *binds;
    size_t n_binds;
    const struct plan_kept *kept;
    size_t n_kept;
    const struct plan_step
        *system; /* more steps, unless the verdict or a bind shows their places */
    size_t n_system;
    bool root; /* the user is root, to whom /proc shows more */
    /* The command is for development. If it may run files that it writes, it may also run files in
     * its private file systems and from memory, and trace its own processes: that gives it nothing
     * more. */
    bool developer;
    struct str home; /* a private, empty directory there, unless it is shown; may have no value */
    struct str runtime; /* the same for sockets and the like (XDG_RUNTIME_DIR) */
};

/* With namespaces, and its own root. */
static inline bool plan_is_native(const struct plan *plan)
{
    return plan->mode == POLICY_NATIVE || plan->mode == POLICY_SEATBELT;
}

/* The verdict must have a command and no denials. The result is in the arena or in the input. Paths
 * that the verdict shows at or below the place of an overlay or a bind are dropped: no other file
 * of the host is shown there. */
void plan_make(const struct plan_input *input, struct arena *arena, struct plan *ret_plan);

/* The order of the steps, by components: a directory before its contents. */
int plan_path_order(struct str a, struct str b);

/* A new object:
 * {"mode","steps":[{"kind","at","access",…}],"own_network","unix_sockets","own_sockets","command","cwd"}.
 */
MUST_USE json_t *plan_json(const struct plan *plan);

#endif
