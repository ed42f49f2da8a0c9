/* The mechanisms that enforce a sandbox's limits on this machine, in order of preference, and the
 * resources that they need while it runs.
 *
 *     struct limiter limiter;
 *     if (!limiter_open(plan, NULL, &arena, &limiter, err)) return false;
 *     ... clone3() into limiter.group, init with limiter.trees ...
 *     limiter_close(&limiter);
 *
 * Only a cgroup can limit memory and CPU shares for all processes together; without one, such a
 * limit that the user asked for is a gap that the report names.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_LIMITER_H
#define SANDBOX_LIMITER_H

#include "sandbox/cgroup.h"
#include "sandbox/plan.h"

enum limiter_method {
    LIMITER_UNKNOWN, /* not decided yet */
    LIMITER_NOTHING, /* their number is not limited: without namespaces and without a cgroup */
    LIMITER_PID_MAX, /* kernel.pid_max of the pid namespace */
    LIMITER_NPROC,   /* RLIMIT_NPROC of the user, counted per user namespace */
    LIMITER_GROUP,   /* pids.max of a cgroup */
    LIMITER_UID,     /* RLIMIT_NPROC of another user of the kernel's, on id-mapped mounts */
    LIMITER_COUNT,   /* counted by process 1, and all killed if there are too many: not exact */
    LIMITER_WAYS,
};

enum {
    LIMITER_COUNT_MS = 10,          /* between two counts */
    LIMITER_OTHER_UID = 0x7ffffffe, /* of the kernel's; not in use: see limiter_map() */
    LIMITER_OWN_BYTES = 16 << 20,   /* memory of a group beyond the limit: process 1, page tables */
    LIMITER_MAP = 256,
};

/* The decision, for reports. */
struct limiter_kept {
    enum limiter_method processes;
    bool memory; /* of all processes together */
    bool cpus;
    bool watched;          /* memory of each process is sampled: see sandbox/memory_watch.h */
    bool space;            /* address space is not limited, since memory is limited otherwise */
    bool unseen;           /* a cgroup was left whose BPF programs can't be seen */
    uint64_t oom_kills;    /* afterwards: processes killed for the memory limit of all together */
    uint64_t memory_kills; /* afterwards: processes killed for the limit of each */
};

/* The facts that the choice depends on. */
struct limiter_facts {
    bool native;       /* with namespaces */
    bool root;         /* user 0 of the kernel's */
    bool pid_max;      /* machine.pid_max_in_namespace */
    bool by_namespace; /* machine.limits_by_namespace */
    bool asked;        /* the user asked for a number of processes */
};

/* The ways to limit the number of processes, the best first; the last one is always available.
 * Pure. */
size_t limiter_methods(
    const struct limiter_facts *facts, enum limiter_method ret_ways[LIMITER_WAYS]);

/* The limits of a plan's cgroup: the command's, and as much as the sandbox itself needs. Pure. */
struct cgroup_limits limiter_group_limits(const struct plan *plan, bool processes);

struct limiter {
    struct limiter_kept kept;
    struct cgroup group;
    int *trees;     /* LIMITER_UID: the mount from root_map_step() for each step of the plan */
    size_t n_trees; /* steps */
};

#define LIMITER_NONE ((struct limiter){.group = CGROUP_NONE})

/* Ways that a sandbox could not be started with, each with the reason. */
struct limiter_tried {
    struct err failed[LIMITER_WAYS]; /* ERR_NONE: not tried */
};

void limiter_tried_done(struct limiter_tried *tried);

/* Opens the best way that works, of those that were not tried (NULL: all). E_SANDBOX_UNAVAILABLE
 * if the user asked for a number of processes or of CPUs that can't be kept, and did not accept
 * that. */
MUST_USE bool limiter_open(const struct plan *plan, const struct limiter_tried *tried,
    struct arena *arena, struct limiter *ret_limiter, struct err *err);

/* For the copy of a caller with threads, after fork(). */
void limiter_forked(void);

/* Closes our descriptors of mounts that the sandbox has taken over. */
void limiter_drop_trees(struct limiter *limiter);

/* Closes everything, after the last process has ended. */
void limiter_close(struct limiter *limiter);

/* Returns what limiter_open() would decide. Leaves nothing behind. */
struct limiter_kept limiter_probe(const struct plan *plan);

/* Gives a pipe for a command's streams to the command's user, who may then open it by its name in
 * /proc (/dev/stdout); other files are left unchanged. Returns false and errno on failure. */
MUST_USE bool limiter_give_pipe(enum limiter_method way, int fd);

/* The uid_map of LIMITER_UID: user 0 is LIMITER_OTHER_UID, and the other way round. */
void limiter_map(char text[LIMITER_MAP]);

#endif
