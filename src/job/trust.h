/* Trust in a scenario, given once: all that its own policy asks for is allowed as long as no byte
 * of it changes, nor of the files that it names by path.
 *
 *     if (!trust_identify(&scenario, "login.yaml", &arena, &trust, err)) return false;
 *     if (trust_open(dir, false, &store, err)) ...trust_has(&store, &trust)...
 *     trust_close(&store);
 *
 * The hash of the scenario and that of a policy that it names are those of the bytes that were
 * parsed, and so of what runs. Programs and scripts that it names (the command and its arguments,
 * where they are files outside the system's directories) are hashed when they are asked about.
 *
 * The store is a directory with a file for each entry, private to the user. One that belongs to
 * another user or that others can write is not believed, and neither is such an entry.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JOB_TRUST_H
#define JOB_TRUST_H

#include "run/scenario.h"

enum {
    TRUST_VERSION = 1,
    TRUST_ENTRIES_MAX = 10 * 1000,
    TRUST_NAMED_MAX = 1000,
};

/* A file that a scenario names. */
struct trust_named {
    struct str path;
    struct str sha256;
};

struct trust {
    uint32_t version;
    struct str id; /* the hash of all hashes and names: the entry's name */
    struct str file;
    struct str sha256;
    struct trust_named *named;
    size_t n_named;
    struct str_list flags; /* that it stands for */
    uint64_t trusted_at_ms;
};

extern const struct shape trust_shape;

/* Of a scenario as it was read from this path. */
MUST_USE bool trust_identify(const struct scenario *scenario, const char *path, struct arena *arena,
    struct trust *ret_trust, struct err *err);

struct trust_store {
    int dir;
    const char *path; /* for messages */
};

#define TRUST_STORE_NONE ((struct trust_store){.dir = -1})

/* E_NOT_FOUND: there is none, and none is to be made. E_CONFIG: it is not to be believed. */
MUST_USE bool trust_open(
    const char *path, bool make, struct trust_store *ret_store, struct err *err);
void trust_close(struct trust_store *store);

/* Whether an entry stands for exactly this. */
bool trust_has(const struct trust_store *store, const struct trust *trust);

/* Why an earlier entry for the same file does not: the first file that differs, in the arena. NULL:
 * there is no such entry. */
const char *trust_changed(
    const struct trust_store *store, const struct trust *trust, struct arena *arena);

/* Adds an entry, in place of earlier ones for the same file. */
MUST_USE bool trust_add(
    const struct trust_store *store, const struct trust *trust, struct err *err);

/* Every entry that can be believed, by file. */
MUST_USE bool trust_list(const struct trust_store *store, struct arena *arena,
    struct trust **ret_list, size_t *ret_n, struct err *err);

/* Removes the entries for a file; *ret_n says how many. */
MUST_USE bool trust_remove(
    const struct trust_store *store, struct str file, size_t *ret_n, struct err *err);

#endif
