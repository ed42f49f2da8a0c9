/* A complete replay, as started by commands and servers: checks a recording, runs its command again
 * or checks its output alone, and writes a report into the recording.
 *
 *     AUTO(replay_result_done) struct replay_result r = REPLAY_RESULT_NONE;
 *     bool ok = replay_job(&(struct replay_job_options){.arena = a, .recording = "out"}, &r, err);
 *     ... r.held, also if it failed
 *     if (ok && r.mismatch.kind) ... something differs
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JOB_REPLAY_JOB_H
#define JOB_REPLAY_JOB_H

#include "job/prepare.h"
#include "record/normalize.h"
#include "replay/checksums.h"
#include "replay/replay_report.h"

struct replay_job_options {
    struct arena *arena;
    const char *recording; /* its directory */
    struct normalization_options normalization;
    struct checksums_needs needs;
    bool offline; /* run nothing */
    struct consent ack;
    /* Before the policy is prepared: adds the user's settings and files. May be NULL. */
    bool (*settle)(void *context, struct prepared *p, struct err *err);
    /* Before the command starts: returns -1, or a descriptor that is readable when the run is to
     * end. May be NULL. */
    int (*begin)(void *context, const struct prepared *p);
    /* After the command has ended, if it was begun. May be NULL. */
    void (*end)(void *context);
    void *context;
};

struct replay_result {
    int dir; /* of the recording */
    struct report report;
    struct mismatch mismatch;
    struct buf held; /* lines of protect_print(); also set if the replay failed */
};

#define REPLAY_RESULT_NONE ((struct replay_result){.dir = -1, .held = BUF_INIT(1 << 20)})

/* Returns false if the recording can't be compared; a difference is in `mismatch`. */
MUST_USE bool replay_job(
    const struct replay_job_options *options, struct replay_result *r, struct err *err);
void replay_result_done(struct replay_result *r);

#endif
