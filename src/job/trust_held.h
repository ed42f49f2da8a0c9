/* Trust in held files of a repository (repo/protect.h), such as hooks or settings, by contents.
 *
 *     AUTO(trust_held_done) struct trust_held h = TRUST_HELD_NONE;
 *     if (!trust_held_read(path, arena, &h, err)) return false;
 *     if (agreed(buf_str(&h.bytes))) ok = trust_held_restore(&h, &store, arena, &trust, err);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JOB_TRUST_HELD_H
#define JOB_TRUST_HELD_H

#include "job/trust.h"
#include "repo/protect.h"

struct trust_held {
    int dir;          /* directory of the held file */
    const char *name; /* its name in `dir` */
    struct str place; /* absolute path where it belongs */
    bool settings;
    mode_t mode;
    struct buf bytes; /* its content */
};

#define TRUST_HELD_NONE ((struct trust_held){.dir = -1, .bytes = BUF_INIT(2 * PROTECT_FILE_MAX)})

/* Whether a path is that of a held file. */
bool trust_held_is(struct str absolute);

/* Reads a held file. Strings are in the arena. */
MUST_USE bool trust_held_read(
    struct str absolute, struct arena *a, struct trust_held *h, struct err *err);
void trust_held_done(struct trust_held *h);

/* Moves it back to its place, with the content that was read, and records the trust. */
MUST_USE bool trust_held_restore(struct trust_held *h, const struct trust_store *store,
    struct arena *a, struct trust *ret_trust, struct err *err);

/* For protect_options.accepted; `context` is the path of the store. */
bool trust_held_accepts(void *context, struct str path, struct str bytes);

/* Whether an entry is for a held file. */
bool trust_held_entry(const struct trust *t);

#endif
