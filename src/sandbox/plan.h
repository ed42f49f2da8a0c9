/* What a sandbox is, before there is one: a policy's verdict and what the machine's read baseline
 * holds become a list of steps, rules and numbers. Pure data: it can be printed, compared and
 * tested; sandbox/launch.h carries it out.
 *
 *     struct baseline base;
 *     baseline_collect(&arena, &base);
 *     plan_make(&(struct plan_input){.verdict = &v, .baseline = &base}, &arena, &plan);
 *     AUTO_JSON json_t *shown = plan_json(&plan);
 *
 * Steps are in the order in which they are done: what lies deeper comes later, so that of two roots
 * the more specific one decides.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_PLAN_H
#define SANDBOX_PLAN_H

#include "policy/validate.h"
#include "sandbox/baseline.h"

enum plan_kind {
    PLAN_DIR,     /* a directory of the root that we made */
    PLAN_FILE,    /* a file in it with these bytes */
    PLAN_LINK,    /* a symbolic link in it */
    PLAN_BIND,    /* a file or directory of the host */
    PLAN_OVERLAY, /* a directory of the host under a layer that takes every change */
    PLAN_LOADER,  /* the dynamic loader, changed so that it can't be started by itself */
    PLAN_DEVICE,  /* a harmless device of the host */
    PLAN_TMPFS,   /* a private, empty file system in memory */
    PLAN_DEVPTS,  /* terminals of its own */
    PLAN_PROC,    /* the processes of the sandbox */
    PLAN_PIN,     /* a directory as it is, so that it can't be moved away */
    PLAN_MASK,    /* nothing, where /proc has something that is not for the command */
    PLAN_COVER,   /* an empty directory or file that hides what is there */
};

enum {
    PLAN_READ = 1 << 0,
    PLAN_WRITE = 1 << 1,
    PLAN_EXEC = 1 << 2,   /* may be started */
    PLAN_MAP = 1 << 3,    /* may be mapped as code (a library), not started */
    PLAN_IS_DIR = 1 << 4, /* of a bind, a mask, a cover */
    PLAN_IOCTL = 1 << 5,  /* devices */
    PLAN_LIST = 1 << 6,   /* names of directories, no content */
    PLAN_SOCKET = 1 << 7, /* with writing: sockets with names */
};

/* Something of the host: it must be this and nothing else. */
struct plan_source {
    struct str path; /* resolved, NUL-terminated */
    dev_t dev;
    ino_t ino;
};

/* A directory that looks like `lower` at the place `at`, and whose changes all go to `upper`. None
 * of the three is reachable inside by any other name. Upper and work are on one file system; nobody
 * else may use them at the same time, which is for the caller to see to. */
struct plan_overlay {
    struct str at; /* absolute, clean, NUL-terminated */
    struct plan_source lower, upper, work;
    bool exec; /* what lies in it may be started */
};

/* A directory or file of the host at a place of the caller's choice. Nothing that the plan hides
 * may lie in one whose place is not its own path. */
struct plan_bind {
    struct str at; /* absolute, clean, NUL-terminated */
    struct plan_source source;
    bool is_dir, write, exec;
};

struct plan_step {
    enum plan_kind kind;
    unsigned access;
    struct str at;   /* absolute, NUL-terminated */
    struct str text; /* what of the host is shown; where a link leads; the bytes of a file */
    dev_t dev;       /* of that: it must be this and nothing else */
    ino_t ino;
    const struct elf_patch *patch; /* of a loader */
    const struct plan_overlay *overlay;
    uint64_t size; /* of a tmpfs, in bytes */
    mode_t mode;
    bool may_vanish; /* what of the host is gone is left out */
    bool kept;       /* of a bind: it stays as it is in a place that can be written */
};

/* Sockets that may be made. */
struct plan_sockets {
    bool inet;        /* private loopback, or the network */
    bool unix_domain; /* otherwise only connected pairs */
};

struct plan {
    enum policy_sandbox mode;
    struct plan_step *steps;
    size_t n_steps;
    bool own_network;
    bool own_tmp; /* /tmp is not the host's */
    struct plan_sockets sockets;
    struct policy_limits limits;
    bool limits_inexact; /* the user agreed to limits that can't be kept exactly */
    uint64_t cpu_millis; /* thousandths of a CPU for all together; 0: not limited */
    struct str command;  /* inside: what is executed */
    struct str cwd;      /* inside: where it starts */
};

/* Something in what is shown that the child must not see. */
struct plan_hidden {
    struct str path; /* resolved */
    bool is_dir;
};

/* A file or directory of the host that stays as it is: read-only where a writable place shows it,
 * its parents pinned. Elsewhere it changes nothing, and shows nothing that is not shown already. */
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
    bool root; /* whoever runs it is root, to whom /proc shows more */
};

/* With namespaces, and a root of its own. */
static inline bool plan_is_native(const struct plan *plan)
{
    return plan->mode == POLICY_NATIVE || plan->mode == POLICY_SEATBELT;
}

/* The verdict must have no denial and a command. Everything is in the arena or in the input. What
 * the verdict shows at or below the place of an overlay or a bind is theirs: no other file of the
 * host is shown there beside them. */
void plan_make(const struct plan_input *input, struct arena *arena, struct plan *ret_plan);

/* A new object: {"mode","namespaces":[],"steps":[{"kind","at","access",…}],"sockets","limits"}. */
MUST_USE json_t *plan_json(const struct plan *plan);

#endif
