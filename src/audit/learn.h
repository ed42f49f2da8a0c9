/* From what a command used to what a policy should allow: few paths, and the reason for each that
 * can't be named. Pure, but for what the host is asked.
 *
 *     struct learn l;
 *     learn_init(&l, &arena);
 *     trace_run(&command, learn_add, &l, &end, err);
 *     learn_sum(&l, &host, &learned);
 *
 * Left out is what every sandbox has: the system's libraries and data, a private /tmp, /dev/null
 * and its like. Four files of one directory become the directory, eight directories of one
 * directory that one, unless it would be too wide or holds secrets; a directory that was listed is
 * named whole. Programs are never taken together. A path that leads over a link is named as it was
 * spelled, since that name must be there, too; the policy allows what it leads to.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AUDIT_LEARN_H
#define AUDIT_LEARN_H

#include "audit/trace.h"
#include "base/arena.h"
#include "policy/blocked.h"
#include "policy/starter.h"

enum {
    LEARN_PATHS_MAX = 100 * 1000, /* different paths that are kept */
    LEARN_BYTES_MAX = 64 << 20,   /* ... and their bytes */
    LEARN_PEERS_MAX = 8,          /* addresses that are kept */
};

enum learn_use {
    LEARN_READ = 1,
    LEARN_WRITE = 2,
    LEARN_ENTRY = 4, /* it was made, removed or renamed: its directory changed */
    LEARN_EXEC = 8,
    LEARN_SOCKET = 16,
};

struct learn_path {
    struct str path;
    struct str target; /* of a spelling: where it leads; no value: it is no other */
    unsigned uses;
    bool made; /* by the command itself */
};

struct learn {
    struct arena *arena;
    struct learn_path *paths;
    size_t n, cap, bytes;
    uint32_t *slots; /* by hash: index + 1 */
    bool full;       /* there was more than is kept */
    struct str peers[LEARN_PEERS_MAX];
    size_t n_peers;
    bool network;  /* spoke to another machine */
    bool loopback; /* spoke to this one */
};

enum learn_type {
    LEARN_GONE,
    LEARN_FILE,
    LEARN_DIR,
};

struct learn_look {
    enum learn_type type;
    const char *why_not; /* why a policy can't name it; NULL: it can */
};

/* Asked after the command has ended. */
struct learn_host {
    struct str root; /* the directory that may be read anyway; no value: none */
    /* The path ends in NUL. */
    struct learn_look (*look)(void *arg, struct str path, enum blocked_use use);
    void *arg;
};

struct learned {
    struct starter_paths read; /* beside the root */
    struct starter_paths write;
    struct starter_paths exec;
    struct starter_paths made;    /* directories in which it made programs and ran them */
    struct starter_paths refused; /* with the reason */
    bool unix_sockets;            /* it used some */
    bool tmp;                     /* it wrote below /tmp */
};

void learn_init(struct learn *l, struct arena *a);

/* A trace_fn: arg is the struct learn. */
void learn_add(void *arg, const struct trace_event *event);

/* The lists are in the arena and in order; what is below a directory follows it. */
void learn_sum(const struct learn *l, const struct learn_host *host, struct learned *ret_learned);

#endif
