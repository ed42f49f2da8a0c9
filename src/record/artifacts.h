/* The record of a run on disk: a directory that nothing but the run writes.
 *
 *     AUTO(artifacts_close) struct artifacts a = ARTIFACTS_NONE;
 *     if (!artifacts_open(dir, overwrite, &a, err)) return false;
 *     artifacts_transcript(&a, bytes);                           as it comes
 *     bool whole = artifacts_settle(&a, err);
 *     if (!artifacts_put(&a, "run.json", text, err) || !artifacts_seal(&a, err)) return false;
 *
 * A file is there whole, or not at all; what grows is there as far as it has grown.
 * artifacts_seal() writes checksums.json over all that was put. A directory that already holds
 * something is refused unless it may be overwritten.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_ARTIFACTS_H
#define RECORD_ARTIFACTS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"

/* A file that grows while the command runs. */
struct artifacts_stream {
    const char *name;
    int fd;     /* -1: not there */
    int errnum; /* the first failure to write */
    uint64_t hash, bytes;
};

struct artifacts {
    int dir;                /* -1: none */
    int room;               /* a file without a name that keeps room for the end; -1: none */
    int snapshots, goldens; /* the directories, once there is something in them; -1: none */
    struct artifacts_stream transcript, events;
    unsigned n_snapshots;
    json_t *checksums;
};

#define ARTIFACTS_NONE             \
    ((struct artifacts){.dir = -1, \
        .room = -1,                \
        .snapshots = -1,           \
        .goldens = -1,             \
        .transcript.fd = -1,       \
        .events.fd = -1})

/* Makes the directory if it is not there (its parent must be). */
MUST_USE bool artifacts_open(
    const char *path, bool overwrite, struct artifacts *ret_artifacts, struct err *err);
/* A new directory below another; for a run, or for other files only. */
MUST_USE bool artifacts_open_below(
    int parent, const char *name, bool for_run, struct artifacts *ret_artifacts, struct err *err);
void artifacts_close(struct artifacts *a);

/* Where it really is. */
MUST_USE bool artifacts_where(
    const struct artifacts *a, struct arena *arena, struct str *ret_path, struct err *err);

/* It is still there where it was: what ran meanwhile may have put another in its place (E_IO). */
MUST_USE bool artifacts_stay(const struct artifacts *a, struct str path, struct err *err);

/* Appends; a failure is told by artifacts_settle(), and what was written before it stays. */
void artifacts_transcript(struct artifacts *a, struct str bytes);

/* One line of events.jsonl, which is there from the first of them on. */
void artifacts_event(struct artifacts *a, const json_t *object);

enum {
    ARTIFACTS_NAME = 32,
};

/* The next of snapshots/0001.json upward; gives its name. */
MUST_USE bool artifacts_snapshot(
    struct artifacts *a, const json_t *tree, char ret_name[ARTIFACTS_NAME], struct err *err);

/* The text that a golden was compared with, by its number in the scenario: a replay needs no other
 * file. */
#define ARTIFACTS_GOLDEN "goldens/%04zu.txt"
MUST_USE bool artifacts_golden(struct artifacts *a, size_t index, struct str text, struct err *err);

MUST_USE bool artifacts_put(
    struct artifacts *a, const char *name, struct str bytes, struct err *err);
MUST_USE bool artifacts_put_json(
    struct artifacts *a, const char *name, const json_t *tree, struct err *err);
/* The transcript and the events are whole and on disk; false with the first failure to write them.
 * On a full disk there is room for what is put after that. */
MUST_USE bool artifacts_settle(struct artifacts *a, struct err *err);
MUST_USE bool artifacts_seal(struct artifacts *a, struct err *err);

#endif
