/* Turns a stopped thread's system call into events: names are resolved before the call, and
 * reported after it if it succeeded. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LEARN_LEARN_OBSERVE_H
#define LEARN_LEARN_OBSERVE_H

#include "base/arena.h"
#include "learn/learn_calls.h"
#include "learn/trace.h"

#include <sys/types.h>

enum {
    OBSERVE_ARGS = 6,
    OBSERVE_ARENA = 1 << 20, /* for one call */
};

struct learn_observer {
    trace_fn seen;
    void *arg;
    bool unseen; /* something happened that could not be decoded */
};

struct observe_name {
    struct str path;  /* resolved; no value: does not exist yet */
    struct str given; /* as spelled; no value: unknown */
    bool existed;
};

/* A call between its entry and its exit. */
struct observed {
    struct arena arena;
    const struct learn_call *call; /* NULL: none */
    unsigned flags;
    struct observe_name names[CALL_PATHS];
    size_t n_names;
    bool network, loopback;
    bool lost; /* a name could not be read */
};

void observed_done(struct observed *o);

/* Handles the entry of a call, and keeps its names in *o. Returns whether its exit is needed. */
bool observe_entry(struct learn_observer *w, struct observed *o, pid_t tid,
    const struct learn_call *call, const uint64_t args[OBSERVE_ARGS]);

/* Handles its exit, with the result (negative: an error number). */
void observe_exit(struct learn_observer *w, struct observed *o, pid_t tid, int64_t result);

/* Handles a successful exec; *o is from its entry. */
void observe_exec(struct learn_observer *w, struct observed *o, pid_t pid);

/* Formats an address: "203.0.113.5:443", "[::1]:80". Returns false if it is neither IPv4 nor IPv6.
 * Pure. */
bool observe_address(
    const void *address, size_t n, struct arena *a, struct str *ret_text, bool *ret_loopback);

#endif
