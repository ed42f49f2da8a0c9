/* The record of a run on disk: a directory that nothing but the run writes.
 *
 *     AUTO(artifacts_close) struct artifacts a = ARTIFACTS_NONE;
 *     if (!artifacts_open(dir, overwrite, &a, err)) return false;
 *     artifacts_transcript(&a, bytes);                           as it comes
 *     if (!artifacts_put(&a, "run.json", text, err) || !artifacts_seal(&a, err)) return false;
 *
 * artifacts_seal() writes checksums.json over all that was put. A directory that already holds
 * something is refused unless it may be overwritten.
 */
#ifndef RECORD_ARTIFACTS_H
#define RECORD_ARTIFACTS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"

struct artifacts {
    int dir;        /* -1: none */
    int transcript; /* an open file, written as output comes */
    uint64_t transcript_hash;
    int transcript_errno; /* the first failure to write */
    json_t *checksums;
};

#define ARTIFACTS_NONE ((struct artifacts){.dir = -1, .transcript = -1})

/* Makes the directory if it is not there (its parent must be). */
MUST_USE bool artifacts_open(
    const char *path, bool overwrite, struct artifacts *ret_artifacts, struct err *err);
void artifacts_close(struct artifacts *a);

/* Where it really is. */
MUST_USE bool artifacts_where(
    const struct artifacts *a, struct arena *arena, struct str *ret_path, struct err *err);

/* It is still there where it was: what ran meanwhile may have put another in its place (E_IO). */
MUST_USE bool artifacts_stay(const struct artifacts *a, struct str path, struct err *err);

/* Appends; a failure is told by artifacts_seal(). */
void artifacts_transcript(struct artifacts *a, struct str bytes);

MUST_USE bool artifacts_put(
    struct artifacts *a, const char *name, struct str bytes, struct err *err);
MUST_USE bool artifacts_put_json(
    struct artifacts *a, const char *name, const json_t *tree, struct err *err);
MUST_USE bool artifacts_seal(struct artifacts *a, struct err *err);

#endif
