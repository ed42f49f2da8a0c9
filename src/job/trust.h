/* Trust in a scenario, granted once: everything its own policy asks for is allowed as long as the
 * scenario and the files it names by path do not change.
 *
 *     if (!trust_identify(&scenario, "login.yaml", &arena, &trust, err)) return false;
 *     if (trust_open(dir, false, &store, err)) ...trust_has(&store, &trust)...
 *     trust_close(&store);
 *
 * The hashes of the scenario and of a policy file it names are computed from the bytes that were
 * parsed, and so from what runs. Programs and scripts it names (the command and its arguments, if
 * they are files outside the system's directories) are hashed when trust is checked.
 *
 * The store is a directory with a file for each entry, private to the user. A store or an entry
 * that belongs to another user, or that others can write to, is rejected.
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
    struct str id; /* hash of all hashes and paths: the entry's name */
    struct str file;
    struct str sha256;
    struct trust_named *named;
    size_t n_named;
    struct str_list flags; /* granted by the entry */
    uint64_t trusted_at_ms;
};

extern const struct shape trust_shape;

/* Computes the identity of a scenario that was read from this path. */
MUST_USE bool trust_identify(const struct scenario *scenario, const char *path, struct arena *arena,
    struct trust *ret_trust, struct err *err);

struct trust_store {
    int dir;
    const char *path; /* for messages */
};

#define TRUST_STORE_NONE ((struct trust_store){.dir = -1})

/* E_NOT_FOUND if it does not exist and `make` is false. E_CONFIG if it can't be trusted. */
MUST_USE bool trust_open(
    const char *path, bool make, struct trust_store *ret_store, struct err *err);
void trust_close(struct trust_store *store);

/* Whether there is an entry for exactly this scenario. */
bool trust_has(const struct trust_store *store, const struct trust *trust);

/* Returns why an earlier entry for the same file does not apply: the first file that differs, in
 * the arena. NULL if no such entry exists. */
const char *trust_changed(
    const struct trust_store *store, const struct trust *trust, struct arena *arena);

/* Adds an entry, replacing earlier ones for the same file. */
MUST_USE bool trust_add(
    const struct trust_store *store, const struct trust *trust, struct err *err);

/* Lists all trustworthy entries, sorted by file. */
MUST_USE bool trust_list(const struct trust_store *store, struct arena *arena,
    struct trust **ret_list, size_t *ret_n, struct err *err);

/* Removes the entries for a file; *ret_n is their number. */
MUST_USE bool trust_remove(
    const struct trust_store *store, struct str file, size_t *ret_n, struct err *err);

#endif
