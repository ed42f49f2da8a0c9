/* A session on disk: an append-only file of JSON lines, so that a crash loses at most the line
 * being written.
 *
 *     struct store *s;
 *     if (!store_open(dir, "3f2a", STORE_WRITE, &s, err)) return false;
 *     store_hide(s, provider_key(p));
 *     AUTO_JSON json_t *messages = store_messages(s);
 *     if (!store_append(s, message, err)) return false;
 *     store_close(s);
 *
 * The first line is the header: the session's envelope (version, id, system_prompt, created_at, ...
 * and any other keys of an import) with an empty list of messages. Each line after it is a message
 * (llm/message.h), or a record with another "type":
 *
 *     {"type":"compaction","message":{...},"keep":N,"timestamp":"..."}
 *                                         replaces the messages before it, except the last N
 *     {"type":"title","title":"..."}
 *     {"type":"updated","updated_at":"..."}          of an import whose last message is older
 *     {"type":"imported","timestamp":"..."}          the session came from a file
 *     {"type":"resumed","cwd":"...","timestamp":"..."}  the user has resumed it since
 *
 * A file that is one envelope (FILE.json) is edited through such a file beside it
 * (.FILE.json.jsonl), its log, and rewritten on close; a log left by a crash is resumed.
 *
 * A torn last line is dropped and reported by store_notes(); any other invalid line is E_CONFIG.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_STORE_H
#define AGENT_STORE_H

#include "base/json.h"

enum {
    STORE_VERSION = 1,
    STORE_ID_MAX = 128,
    STORE_LINE_MAX = JSON_SIZE_MAX,
    STORE_MESSAGES_MAX = 1 << 20,
};
#define STORE_BYTES_MAX ((uint64_t)1 << 30)

enum store_mode {
    STORE_READ,  /* takes no lock: a snapshot */
    STORE_WRITE, /* the only writer; else E_CONFLICT, with the other process's id if known */
};

/* The initial contents of a new session. */
struct store_spec {
    const char
        *path;     /* a file (*.json: an envelope, else lines); NULL: by its id in the directory */
    struct str id; /* no value: a new one */
    struct str system_prompt;        /* no value: "" */
    struct str cwd, model, provider; /* no value: left out */
    struct str hide; /* a key, as for store_hide(), which would be too late for the header */
};

struct store; /* opaque */

/* Whether a text is a valid session id: letters, digits, '.', '_', '-'; begins with a letter or
 * digit; never a path. */
bool store_id_valid(struct str id);
/* Whether a word names a file rather than an id: it contains a '/', or ends in .json or .jsonl. */
bool store_is_path(const char *word);

/* Whether there is a session at this path: the file, or the log a crash left beside it. */
bool store_is_there(const char *path);

/* Creates the directory if needed (0700); the file is 0600. E_CONFLICT: it exists already. */
MUST_USE bool store_create(
    const char *dir, const struct store_spec *spec, struct store **ret_store, struct err *err);

/* Opens a session by id, by a unique prefix of one, or by path. E_NOT_FOUND: no such session
 * (suggests similar ids); E_CONFLICT: ambiguous, or in use; E_CONFIG: damaged. For writing: tool
 * calls at the end without a result get one, which is written and reported. */
MUST_USE bool store_open(const char *dir, const char *word, enum store_mode mode,
    struct store **ret_store, struct err *err);
void store_close(
    struct store *s); /* accepts NULL; if the envelope can't be written, its log stays */
/* The same, but returns errors. Closes in any case. */
MUST_USE bool store_finish(struct store *s, struct err *err);
/* Deletes the session if it has no messages and no title. Returns true if it was deleted and
 * closed; otherwise does nothing. */
bool store_drop_empty(struct store *s);
void store_close_at(struct store **s);
#define AUTO_STORE AUTO(store_close_at)

/* Adds a key that must never be written: masked in every string from now on. Ignored if shorter
 * than 8 bytes. */
void store_hide(struct store *s, struct str key);

/* One write and one fdatasync. On failure the file is unchanged. */
MUST_USE bool store_append(struct store *s, const json_t *message, struct err *err);
/* From now on the conversation consists of this message and the last `keep` messages before it. */
MUST_USE bool store_note_compaction(
    struct store *s, const json_t *message, size_t keep, struct err *err);
/* For tests: titles are read from imported sessions. */
MUST_USE bool store_note_title(struct store *s, struct str title, struct err *err);

/* Whether it was imported from a file, which others may have written: the system prompt and
 * directory in its header are kept for export, but not used. */
bool store_is_imported(const struct store *s);
/* Notes that the user has resumed an imported session explicitly in this directory: from then on it
 * counts as the user's own, except for its system prompt. Does nothing for other sessions. */
MUST_USE bool store_note_resumed(struct store *s, struct str cwd, struct err *err);

const char *store_id(const struct store *s);
const char *store_path(const struct store *s); /* as the user would name it */
/* The header: the envelope without its messages (system_prompt, cwd, model, ...). Borrowed. */
const json_t *store_header(const struct store *s);
struct str store_text(const struct store *s, const char *key); /* of the header; no value: none */
/* All messages as they were written. Borrowed; grows with store_append(). */
const json_t *store_all(const struct store *s);
/* The current conversation, after compaction and repair: ready for a request. A new list with
 * shared messages. */
MUST_USE json_t *store_messages(const struct store *s);
struct str store_updated_at(const struct store *s); /* the time of the last message */
/* Things dropped or repaired while loading: a list of sentences for the user. Borrowed. */
const json_t *store_notes(const struct store *s);
void store_note(struct store *s, const char *words, ...) PRINTF_LIKE(2, 3);
/* Compactions in the form of an envelope: {"at":N,...} after N messages. Borrowed. */
const json_t *store_compactions(const struct store *s);

/* Reads a session from an open line file, which stays the caller's. */
struct line_file;
MUST_USE bool store_read(struct line_file *file, struct store **ret_store, struct err *err);

#endif
