/* Derives a policy from the resources that a command used: a short list of paths, and reasons for
 * those that a policy can't grant. Pure, except for the queries to the host.
 *
 *     struct learn l;
 *     learn_init(&l, &arena);
 *     trace_run(&command, learn_add, &l, &end, err);
 *     learn_sum(&l, &host, &learned);
 *
 * Everything that every sandbox has is left out: the system's libraries and data, a private /tmp,
 * /dev/null and the like. Four files of one directory are replaced by the directory, and eight
 * directories by their parent, unless it would be too wide or has secrets; a directory that was
 * listed is granted as a whole. Programs are never merged. A path through a symlink is listed as it
 * was spelled, since that name must also exist; the policy grants its target.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LEARN_LEARN_H
#define LEARN_LEARN_H

#include "base/arena.h"
#include "learn/trace.h"
#include "policy/blocked.h"
#include "policy/starter.h"

enum {
    LEARN_PATHS_MAX = 100 * 1000, /* distinct paths kept */
    LEARN_BYTES_MAX = 64 << 20,   /* ... and their total length */
    LEARN_PEERS_MAX = 8,          /* addresses kept */
};

enum learn_use {
    LEARN_READ = 1,
    LEARN_WRITE = 2,
    LEARN_ENTRY = 4, /* created, removed or renamed: its directory changed */
    LEARN_EXEC = 8,
    LEARN_SOCKET = 16,
};

struct learn_path {
    struct str path;
    struct str target; /* of a spelling through symlinks: the real path; otherwise no value */
    unsigned uses;
    bool made; /* created by the command */
};

struct learn {
    struct arena *arena;
    struct learn_path *paths;
    size_t n, cap, bytes;
    uint32_t *slots; /* by hash: index + 1 */
    bool full;       /* some paths were not kept */
    struct str peers[LEARN_PEERS_MAX];
    size_t n_peers;
    bool network;  /* connected to another machine */
    bool loopback; /* connected to this machine */
};

enum learn_type {
    LEARN_GONE,
    LEARN_FILE,
    LEARN_DIR,
};

struct learn_look {
    enum learn_type type;
    const char *why_not; /* why a policy can't grant it; NULL: it can */
};

/* Queried after the command has ended. */
struct learn_host {
    struct str root; /* directory that is readable anyway; no value: none */
    /* The path is NUL-terminated. */
    struct learn_look (*look)(void *arg, struct str path, enum blocked_use use);
    void *arg;
};

struct learned {
    struct starter_paths read; /* outside the root */
    struct starter_paths write;
    struct starter_paths exec;
    struct starter_paths made;    /* directories in which it created and ran programs */
    struct starter_paths refused; /* with the reason */
    bool unix_sockets;            /* it used some */
    bool tmp;                     /* it wrote below /tmp */
};

void learn_init(struct learn *l, struct arena *a);

/* A trace_fn: arg is the struct learn. */
void learn_add(void *arg, const struct trace_event *event);

/* The lists are in the arena and sorted; paths below a directory directly follow it. */
void learn_sum(const struct learn *l, const struct learn_host *host, struct learned *ret_learned);

#endif
