/* The mechanisms that keep a sandbox's limits on this machine, in the order in which they are
 * preferred, and the resources that they need while it runs.
 *
 *     struct limiter limiter;
 *     if (!limiter_open(plan, NULL, &arena, &limiter, err)) return false;
 *     ... clone3() into limiter.group, init with limiter.trees ...
 *     limiter_close(&limiter);
 *
 * Memory, and shares of the CPU, can be limited for all processes together by a cgroup only; where
 * there is none, what the user asked for is a gap that the report names.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_LIMITER_H
#define SANDBOX_LIMITER_H

#include "sandbox/cgroup.h"
#include "sandbox/plan.h"

enum limiter_way {
    LIMITER_UNKNOWN, /* not decided yet */
    LIMITER_NOTHING, /* their number is not limited: without namespaces and without a cgroup */
    LIMITER_PID_MAX, /* kernel.pid_max of the pid namespace */
    LIMITER_NPROC,   /* RLIMIT_NPROC of the user, counted by user namespace */
    LIMITER_GROUP,   /* pids.max of a cgroup */
    LIMITER_UID,     /* RLIMIT_NPROC of another user of the kernel's, on id-mapped mounts */
    LIMITER_COUNT,   /* counted by process 1, and all killed if they are too many: not exact */
    LIMITER_WAYS,
};

enum {
    LIMITER_COUNT_MS = 10,          /* between two counts */
    LIMITER_OTHER_UID = 0x7ffffffe, /* of the kernel's; in use by nobody: see limiter_map() */
    LIMITER_OWN_BYTES = 16 << 20,   /* memory of a group beyond the limit: process 1, page tables */
    LIMITER_MAP = 256,
};

/* What was decided: for reports. */
struct limiter_kept {
    enum limiter_way processes;
    bool memory; /* of all processes together */
    bool cpus;
    bool unseen;        /* a cgroup was left whose BPF programs can't be seen */
    uint64_t oom_kills; /* afterwards: processes that were killed for the memory of all together */
};

/* What the choice depends on. */
struct limiter_facts {
    bool native;       /* with namespaces */
    bool root;         /* user 0 of the kernel's */
    bool pid_max;      /* machine.pid_max_in_namespace */
    bool by_namespace; /* machine.limits_by_namespace */
    bool asked;        /* for a number of processes, rather than the default */
};

/* The ways for the number of processes, the best first; the last one is always there. Pure. */
size_t limiter_ways(const struct limiter_facts *facts, enum limiter_way ret_ways[LIMITER_WAYS]);

struct limiter {
    struct limiter_kept kept;
    struct cgroup group;
    int *trees;     /* LIMITER_UID: for each step of the plan what root_map_step() gives */
    size_t n_trees; /* steps */
};

#define LIMITER_NONE ((struct limiter){.group = CGROUP_NONE})

/* Ways with which a sandbox could not be started, each with the reason. */
struct limiter_tried {
    struct err failed[LIMITER_WAYS]; /* ERR_NONE: not tried */
};

void limiter_tried_done(struct limiter_tried *tried);

/* The best way that works, of those that were not tried (NULL: none was). If the user asked for a
 * number of processes or of CPUs that can't be kept, and did not agree to that,
 * E_SANDBOX_UNAVAILABLE. */
MUST_USE bool limiter_open(const struct plan *plan, const struct limiter_tried *tried,
    struct arena *arena, struct limiter *ret_limiter, struct err *err);

/* Mounts that have become the sandbox's are closed here. */
void limiter_drop_trees(struct limiter *limiter);

/* All of it, after the last process. */
void limiter_close(struct limiter *limiter);

/* What limiter_open() would decide. Leaves nothing behind. */
struct limiter_kept limiter_look(const struct plan *plan);

/* A pipe for the streams of a command belongs to the command's user, who may then open it by its
 * name in /proc (/dev/stdout); anything else stays as it is. False and errno. */
MUST_USE bool limiter_give_pipe(enum limiter_way way, int fd);

/* The uid_map of LIMITER_UID: user 0 is LIMITER_OTHER_UID, and the other way round. */
void limiter_map(char text[LIMITER_MAP]);

#endif
