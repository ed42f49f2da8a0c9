/* A control group (cgroup version 2) for the processes of one sandbox: limits that hold for all of
 * them together.
 *
 *     struct cgroup group = CGROUP_NONE;
 *     if (cgroup_make(&limits, &group, &why)) ... clone3() with CLONE_INTO_CGROUP and group.fd ...
 *     cgroup_remove(&group);
 *
 * The kernel does not allow processes in a group that has controllers for its children. A delegated
 * group in which we are alone is split: we move into a child of it. Otherwise the new group is
 * created below an ancestor of ours: limits of the groups that the sandbox leaves that way are also
 * set on the new one; a group with BPF programs, which can't be copied, is not left. A group is
 * locked (flock) as long as the process that created it lives, so that the next process can remove
 * the leftovers of a killed one.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_CGROUP_H
#define SANDBOX_CGROUP_H

#include "base/arena.h"
#include "base/err.h"

/* Controllers; the more important one has the greater number. */
enum {
    CGROUP_CPU = 1 << 0,
    CGROUP_MEMORY = 1 << 1,
    CGROUP_PIDS = 1 << 2,

    /* Not a controller, but reported among the kept ones: the sandbox has left a group whose BPF
     * programs we are not permitted to see. */
    CGROUP_UNSEEN = 1 << 3,

    CGROUP_LEVELS = 64,
    CGROUP_NAME = 64,
};

/* One group on the path from our own (the first) up to the highest that is mounted. */
struct cgroup_level {
    unsigned available; /* controllers that it could enable for its children */
    unsigned enabled;   /* those that it has enabled */
    bool writable;      /* we may create children and move processes there */
    bool top;       /* the root of the hierarchy, which may have both processes and controllers */
    bool alone;     /* this is the only process in it */
    bool delegated; /* systemd delegates it to us */
    bool filtered;  /* it has BPF programs */
    bool unseen;    /* it may have some that we can't see */
};

enum cgroup_how {
    CGROUP_NOWHERE,
    CGROUP_BESIDE, /* as a child of that level */
    CGROUP_ENABLE, /* the same, after its controllers are enabled */
    CGROUP_LEAVE,  /* the same in our own, after we have moved into a child of it */
};

struct cgroup_choice {
    enum cgroup_how how;
    size_t level;
    unsigned kept; /* controllers of the new group, out of those that are wanted */
};

/* Chooses the place of a group with the wanted controllers, or with as many of them as possible.
 * Pure. */
struct cgroup_choice cgroup_choose(const struct cgroup_level *levels, size_t n, unsigned wanted);

struct cgroup_levels {
    struct cgroup_level p[CGROUP_LEVELS];
    int fds[CGROUP_LEVELS];
    size_t n;
    int errnum; /* a file could not be opened because too many are open; otherwise 0 */
};

/* Opens the group at a path below a mount, and all its ancestors up to the mount's root; ".." must
 * lead no further than that. */
MUST_USE bool cgroup_open_levels(
    struct str at, struct str below, struct arena *a, struct cgroup_levels *ret_levels);
void cgroup_levels_done(struct cgroup_levels *levels);

/* Whether a group's name is one that this program uses. */
bool cgroup_is_ours(const char *name);

/* Gets our own group from the text of /proc/self/cgroup; returns false without one of version 2. */
bool cgroup_parse_own(struct str text, struct str *ret_path);

/* Parses names of controllers, separated by blanks, into a set. */
unsigned cgroup_controllers(struct str text);

/* 0: not limited. */
struct cgroup_limits {
    uint64_t processes;
    uint64_t memory_bytes;
    uint64_t cpu_millis; /* thousandths of one CPU */
};

struct cgroup {
    int place;     /* the parent */
    int fd;        /* -1: none */
    unsigned kept; /* controllers */
    char name[CGROUP_NAME];
};

#define CGROUP_NONE ((struct cgroup){.place = -1, .fd = -1})

/* Creates a group. If not all of the limits can be kept, `kept` has those that are; if none can,
 * E_SANDBOX_UNAVAILABLE with the reason. */
MUST_USE bool cgroup_make(
    const struct cgroup_limits *limits, struct cgroup *ret_group, struct err *err);

/* The controllers that the limits need; and those of them that a group created now would have,
 * which is determined without creating one. */
unsigned cgroup_wanted(const struct cgroup_limits *limits);
unsigned cgroup_probe(const struct cgroup_limits *limits);

/* Sets limits on a new group, and those of groups that are left, the innermost first: all files
 * *.max and *.high, and cpusets. Returns false and errno if that is not possible, also if one of
 * them can't be read. */
MUST_USE bool cgroup_limit(int group, const int *fds, size_t n, const struct cgroup_limits *limits);

/* The number of its processes that the kernel has killed for its memory limit. */
uint64_t cgroup_oom_kills(const struct cgroup *group);

/* Kills the processes that are left in it, and removes it. */
void cgroup_remove(struct cgroup *group);

#endif
