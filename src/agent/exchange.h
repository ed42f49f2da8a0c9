/* Exporting and importing sessions as one JSON document (the version 1 envelope), with
 * byte-identical output each time; and forking sessions.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_EXCHANGE_H
#define AGENT_EXCHANGE_H

#include "agent/store.h"

/* Appends the envelope, pretty-printed, with a newline at the end. */
void exchange_add(const struct store *s, struct buf *out);

/* Writes a document to a file atomically. E_CONFLICT: the file exists. */
MUST_USE bool exchange_put(const char *path, struct str text, bool replace, struct err *err);

/* Imports a session from a file: an envelope, or the lines of a session file; the name is for
 * messages. E_CONFIG: not a session, or an unknown version; E_CONFLICT: the id exists already and
 * replace is not set. The keys in hide (ends with a str without a value) are masked. */
struct exchange_import {
    int fd; /* a regular file; ownership is taken */
    const char *name;
    bool replace;
    const struct str *hide; /* NULL: none */
};
MUST_USE bool exchange_import(const char *dir, const struct exchange_import *import,
    struct store **ret_store, struct err *err);

/* Copies the first n messages to a new session, opened for writing. If n falls between calls and
 * their results, the results after it are included or synthesized, and store_notes() reports it.
 * SIZE_MAX: all. */
MUST_USE bool exchange_fork(const char *dir, const char *word, size_t n, const char *new_id,
    struct store **ret_store, struct err *err);

/* The same for an open session, even while it is being written. */
MUST_USE bool exchange_fork_open(
    const char *dir, const struct store *s, size_t n, struct store **ret_store, struct err *err);

/* Parses "ID@N" or "ID": E_CLI_INVALID_ARG. The id is in the arena, or is `word` itself. */
struct arena;
MUST_USE bool exchange_parse_fork(
    const char *word, struct arena *a, const char **ret_id, size_t *ret_n, struct err *err);

#endif
