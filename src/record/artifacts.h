/* The record of a run on disk: a directory that only the run writes to.
 *
 *     AUTO(artifacts_close) struct artifacts a = ARTIFACTS_NONE;
 *     if (!artifacts_open(dir, overwrite, &a, err)) return false;
 *     artifacts_transcript(&a, bytes);                           as it comes
 *     bool whole = artifacts_settle(&a, err);
 *     if (!artifacts_put(&a, "run.json", text, err) || !artifacts_seal(&a, err)) return false;
 *
 * Files are written completely or not at all, except the transcript and the events, which grow.
 * artifacts_seal() writes checksums.json for all files. A directory that is not empty is refused
 * unless it may be overwritten.
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
    int fd;     /* -1: does not exist */
    int errnum; /* of the first failed write */
    uint64_t hash, bytes;
};

struct artifacts {
    int dir;                /* -1: none */
    int room;               /* unnamed file that reserves space for the last files; -1: none */
    int snapshots, goldens; /* subdirectories, once they have files; -1: none */
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

/* Creates the directory if it does not exist (its parent must). */
MUST_USE bool artifacts_open(
    const char *path, bool overwrite, struct artifacts *ret_artifacts, struct err *err);
/* Creates a subdirectory, for a run or for other files only. */
MUST_USE bool artifacts_open_below(
    int parent, const char *name, bool for_run, struct artifacts *ret_artifacts, struct err *err);
void artifacts_close(struct artifacts *a);

/* Returns the directory's real path. */
MUST_USE bool artifacts_where(
    const struct artifacts *a, struct arena *arena, struct str *ret_path, struct err *err);

/* Fails with E_IO if the directory at `path` is not ours any more: it may have been replaced. */
MUST_USE bool artifacts_stay(const struct artifacts *a, struct str path, struct err *err);

/* Appends output. Errors are reported by artifacts_settle(); data written before stays. */
void artifacts_transcript(struct artifacts *a, struct str bytes);

/* Appends one line to events.jsonl, which is created with the first one. */
void artifacts_event(struct artifacts *a, const json_t *object);

enum {
    ARTIFACTS_NAME = 32,
};

/* Writes the next of snapshots/0001.json and so on; returns its name. */
MUST_USE bool artifacts_snapshot(
    struct artifacts *a, const json_t *tree, char ret_name[ARTIFACTS_NAME], struct err *err);

/* Writes the text that a golden was compared with, by its number in the scenario, so that a replay
 * needs no other file. */
#define ARTIFACTS_GOLDEN "goldens/%04zu.txt"
MUST_USE bool artifacts_golden(struct artifacts *a, size_t index, struct str text, struct err *err);

MUST_USE bool artifacts_put(
    struct artifacts *a, const char *name, struct str bytes, struct err *err);
MUST_USE bool artifacts_put_json(
    struct artifacts *a, const char *name, const json_t *tree, struct err *err);
/* Completes the transcript and the events on disk. Returns false with the first write error.
 * Releases the reserved space, so that later files fit on a full disk. */
MUST_USE bool artifacts_settle(struct artifacts *a, struct err *err);
MUST_USE bool artifacts_seal(struct artifacts *a, struct err *err);

#endif
