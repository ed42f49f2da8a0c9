/* Stored conversations, by the words that users name them with: the directory of the sessions, and
 * what commands and servers do with one.
 *
 *     AUTO_STORE struct store *s = NULL;
 *     if (!conversations_open(arena, "3f2a91c0", warnings, &s, err)) return false;
 *     json_t *object = conversations_json(s);
 *
 * Notes of a session that was opened (store_notes()) are sent as warnings.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_CONVERSATIONS_H
#define AGENT_CONVERSATIONS_H

#include "agent/catalog.h"
#include "agent/store.h"
#include "base/notice.h"

/* $CORDON_HOME/sessions */
MUST_USE bool conversations_dir(struct arena *a, const char **ret_dir, struct err *err);

void conversations_send_notes(const struct store *s, struct notices warnings);

/* Opens one for reading: by its id, a unique prefix of it, or a file. */
MUST_USE bool conversations_open(struct arena *a, const char *word, struct notices warnings,
    struct store **ret_store, struct err *err);

/* Imports a file; "-" is standard input. Keys in the environment are masked. */
MUST_USE bool conversations_import(struct arena *a, const char *name, bool replace,
    struct notices warnings, struct store **ret_store, struct err *err);

/* Copies the first messages of "ID@N" to a new session; `new_id` may be NULL. */
MUST_USE bool conversations_fork(struct arena *a, const char *word, const char *new_id,
    struct notices warnings, struct store **ret_store, struct err *err);

/* Removes one for good, with the file versions kept for undo. The id is in the arena. */
MUST_USE bool conversations_remove(
    struct arena *a, const char *word, const char **ret_id, struct err *err);

/* One with all its messages; and a list. Return new objects. */
MUST_USE json_t *conversations_json(const struct store *s);
MUST_USE json_t *conversations_list_json(const struct catalog *c);

#endif
