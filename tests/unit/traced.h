/* A child that is stopped at each of its system calls, and can be killed or disturbed at any of
 * them.
 *
 *     struct watch watch = {.journal_dir = "..."};
 *     bool ended = trace(&act, kill_at, &watch);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_TRACED_H
#define TESTS_UNIT_TRACED_H

#include "tree.h"

#include <stdint.h>

struct scene; /* the subject of the test */

#if defined(__x86_64__) || defined(__aarch64__)
#define CAN_FAIL 1 /* a call can be made to fail here */
#else
#define CAN_FAIL 0
#endif

/* Observations, updated at each stop before a system call. */
struct watch {
    size_t stops;
    size_t act_at; /* input: at this stop `act` is called */
    void (*act)(const struct scene *s);
    size_t begin_stop;       /* the journal is about to be created: everything has been read */
    size_t commit_stop;      /* the first stop after the commit line is on disk; 0: not reached */
    size_t journal_syncs;    /* of the file */
    size_t dir_syncs;        /* of its directory */
    size_t parent_syncs;     /* of other directories, before the commit line is on disk */
    bool early_create;       /* something was created before the intent was on disk */
    bool early_rename;       /* something was replaced before the commit line was */
    size_t renames;          /* of names that are not temporary */
    size_t rename_stops[20]; /* the first of them */
    const char *journal_dir; /* input */
    size_t fail_at[3];       /* input: calls that fail, in their order */
    bool skip;               /* without having been done; otherwise done, but reported as failed */
    size_t failed;           /* number of calls that failed */
    bool can_fail;           /* this stop is before a call that can fail */
    size_t calls[400];       /* the stops before calls that can fail */
    size_t n_calls;
    size_t done_stop; /* the sync of the journal's last line */
    int status;       /* how it ended */
};

/* Runs in a child that is traced from its second half on. */
struct act {
    child_fn prepare;
    child_fn run;
    struct scene *scene;
    int worst; /* the highest result that is correct */
};

/* Runs it until its stop number kill_at. Returns true if it ended by itself before. */
bool trace(const struct act *act, size_t kill_at, struct watch *watch);

/* The distance between the stops that are tested: `all` if EVERYTHING is set, otherwise `some`; but
 * `few` if test_sampled(). */
size_t trace_stride(size_t all, size_t some, size_t few);

#endif
