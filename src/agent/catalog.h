/* The directory of sessions: lists them in order and finds one by the prefix of its id.
 *
 *     struct catalog c;
 *     if (!catalog_load(dir, &arena, &c, err)) return false;
 *     for (size_t i = 0; i < c.n; i++) ... c.entries[i].title ...
 *
 * The entries are cached in sessions/index, so that 10,000 files need not be read again. An entry
 * is valid while the file's inode, size and modification time are unchanged.
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
    uint64_t imported; /* and not resumed explicitly since: --continue skips it */
    struct str damage; /* problem with the file; no value: none */
    uint64_t inode, size, mtime_s, mtime_ns;
    uint64_t updated_ms; /* since 1970, for sorting */
};

struct catalog {
    struct catalog_entry *entries; /* newest first */
    size_t n;
};

/* A missing directory has no sessions. */
MUST_USE bool catalog_load(
    const char *dir, struct arena *a, struct catalog *ret_catalog, struct err *err);

/* Finds the newest session with at least one message in this working directory (no value: in any).
 * Skips imported sessions that have not been resumed. E_NOT_FOUND: none. */
MUST_USE bool catalog_latest(
    const char *dir, struct str cwd, struct arena *a, struct str *ret_id, struct err *err);

/* Resolves an id or a unique prefix of one. E_NOT_FOUND, E_CONFLICT (ambiguous). */
MUST_USE bool catalog_find(
    const char *dir, struct str word, struct arena *a, const char **ret_id, struct err *err);

/* Deletes a session; E_CONFLICT: it is in use. */
MUST_USE bool catalog_remove(const char *dir, const char *id, struct err *err);

/* The fields that `sessions list` prints. */
extern const struct shape catalog_shape;

#endif
