/* Sessions as one JSON document: the v1 envelope, out and in, byte for byte the same each time; and
 * the beginning of a session as a new one.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_EXCHANGE_H
#define AGENT_EXCHANGE_H

#include "agent/store.h"

/* Appends the envelope, on many lines, with a newline at its end. */
void exchange_add(const struct store *s, struct buf *out);

/* A document into a file, whole or not at all. E_CONFLICT: it exists. */
MUST_USE bool exchange_put(const char *path, struct str text, bool replace, struct err *err);

/* A session from a file: an envelope, or the lines of a session; the name is for messages.
 * E_CONFIG: it is none, or a version that is not known; E_CONFLICT: the id exists already, and is
 * not to be replaced. The keys in hide (which ends in no value) are masked. */
struct exchange_import {
    int fd; /* a regular file; handed over */
    const char *name;
    bool replace;
    const struct str *hide; /* NULL: none */
};
MUST_USE bool exchange_import(const char *dir, const struct exchange_import *import,
    struct store **ret_store, struct err *err);

/* The first n messages as a session of its own, open for writing. Where n falls between calls and
 * their results, the results that come after it are taken along, or made up, and store_notes() says
 * so. SIZE_MAX: all. */
MUST_USE bool exchange_fork(const char *dir, const char *word, size_t n, const char *new_id,
    struct store **ret_store, struct err *err);

/* The same of one that is open, also while it is written to. */
MUST_USE bool exchange_fork_open(
    const char *dir, const struct store *s, size_t n, struct store **ret_store, struct err *err);

/* "ID@N" or "ID": E_CLI_INVALID_ARG. The id is a copy in the arena. */
struct arena;
MUST_USE bool exchange_parse_fork(
    const char *word, struct arena *a, const char **ret_id, size_t *ret_n, struct err *err);

#endif
