/* From a stopped thread's system call to events: before the call its names are looked up, after it
 * what succeeded is told. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AUDIT_OBSERVE_H
#define AUDIT_OBSERVE_H

#include "audit/calls.h"
#include "audit/trace.h"
#include "base/arena.h"

#include <sys/types.h>

enum {
    OBSERVE_ARGS = 6,
    OBSERVE_ARENA = 1 << 20, /* for one call */
};

struct observer {
    trace_fn seen;
    void *arg;
    bool unseen; /* something happened that could not be understood */
};

struct observe_name {
    struct str path;  /* where it leads; no value: nowhere yet */
    struct str given; /* as it was spelled; no value: can't be said */
    bool existed;
};

/* A call between its start and its end. */
struct observed {
    struct arena arena;
    const struct call *call; /* NULL: none */
    unsigned flags;
    struct observe_name names[CALL_PATHS];
    size_t n_names;
    bool network, loopback;
    bool lost; /* a name that could not be read */
};

void observed_done(struct observed *o);

/* Before the call: whether its result is wanted. What it starts to be is kept in *o. */
bool observe_entry(struct observer *w, struct observed *o, pid_t tid, const struct call *call,
    const uint64_t args[OBSERVE_ARGS]);

/* After it, with its result (negative: an error number). */
void observe_exit(struct observer *w, struct observed *o, pid_t tid, int64_t result);

/* After a successful exec; *o is from before it. */
void observe_exec(struct observer *w, struct observed *o, pid_t pid);

/* An address as text: "203.0.113.5:443", "[::1]:80". False if it is neither IPv4 nor IPv6. Pure. */
bool observe_address(
    const void *address, size_t n, struct arena *a, struct str *ret_text, bool *ret_loopback);

#endif
