/* The directory of sessions: which there are, in order, found by the start of an id.
 *
 *     struct catalog c;
 *     if (!catalog_load(dir, &arena, &c, err)) return false;
 *     for (size_t i = 0; i < c.n; i++) ... c.entries[i].title ...
 *
 * What is shown of each is kept in sessions/index, so that 10,000 need not be read again. It is
 * only a cache: an entry counts if the file's inode, size and time are the same.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_CATALOG_H
#define AGENT_CATALOG_H

#include "base/field.h"

enum {
    CATALOG_MAX = 1000 * 1000, /* sessions */
};

struct catalog_entry {
    struct str id, created_at, updated_at, title, cwd;
    uint64_t messages;
    uint64_t imported; /* and not resumed by its name since: --continue leaves it out */
    struct str damage; /* what is wrong with the file; no value: nothing */
    uint64_t inode, size, mtime_s, mtime_ns;
    uint64_t updated_ms; /* since 1970, for the order */
};

struct catalog {
    struct catalog_entry *entries; /* the newest first */
    size_t n;
};

/* A directory that is not there has no sessions. */
MUST_USE bool catalog_load(
    const char *dir, struct arena *a, struct catalog *ret_catalog, struct err *err);

/* The newest session with a message of this working directory (no value: of any), imported ones
 * aside that were not resumed yet. E_NOT_FOUND: none. */
MUST_USE bool catalog_latest(
    const char *dir, struct str cwd, struct arena *a, struct str *ret_id, struct err *err);

/* The id that is meant: itself, or the only one that starts so. E_NOT_FOUND, E_CONFLICT. */
MUST_USE bool catalog_find(
    const char *dir, struct str word, struct arena *a, const char **ret_id, struct err *err);

/* Takes it away for good; E_CONFLICT: it is in use. */
MUST_USE bool catalog_remove(const char *dir, const char *id, struct err *err);

/* The shape of what `sessions list` prints of one. */
extern const struct shape catalog_shape;

#endif
