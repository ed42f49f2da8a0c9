/* A session on disk: a file of JSON lines that only grows, so that a crash loses at most the line
 * that was being written.
 *
 *     struct store *s;
 *     if (!store_open(dir, "3f2a", STORE_WRITE, &s, err)) return false;
 *     store_hide(s, provider_key(p));
 *     AUTO_JSON json_t *messages = store_messages(s);
 *     if (!store_append(s, message, err)) return false;
 *     store_close(s);
 *
 * The first line is the session's envelope (version, id, system_prompt, created_at, ... and
 * whatever else an import had) with an empty list where the messages belong. Each line after it is
 * a message (llm/message.h), or a record with another "type":
 *
 *     {"type":"compaction","message":{...},"keep":N,"timestamp":"..."}   before it only N messages
 * count
 *     {"type":"title","title":"..."}
 *     {"type":"updated","updated_at":"..."}          of an import, whose last message was older
 *
 * A file that is one envelope (FILE.json) is worked on through such a file beside it
 * (.FILE.json.jsonl), and written anew when it is closed; a log that a crash left there is gone on
 * with.
 *
 * A torn last line is dropped and told by store_notes(); any other line that is wrong is E_CONFIG.
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
    STORE_READ,  /* takes no lock: what is there now */
    STORE_WRITE, /* the only writer; else E_CONFLICT, which names the other process if it can be
                    told */
};

/* What a new session starts with. */
struct store_spec {
    const char
        *path;     /* a file (*.json: an envelope, else lines); NULL: by its id in the directory */
    struct str id; /* no value: a new one */
    struct str system_prompt;        /* no value: "" */
    struct str cwd, model, provider; /* no value: left out */
    struct str hide; /* a key, as for store_hide(), which comes too late for the rest */
};

struct store; /* opaque */

/* Whether a text can be a session's id: letters, digits, '.', '_', '-'; the first one a letter or
 * digit; never a path. */
bool store_id_valid(struct str id);
/* Whether a word names a file rather than an id: it has a '/' in it, or ends in .json or .jsonl. */
bool store_is_path(const char *word);

/* Whether there is something at this path to go on with: the file, or what a crash left beside it.
 */
bool store_is_there(const char *path);

/* The directory is made when it is needed (0700), the file is 0600. E_CONFLICT: it exists already.
 */
MUST_USE bool store_create(
    const char *dir, const struct store_spec *spec, struct store **ret_store, struct err *err);

/* By id, by the start of one if there is only one such, or by path. E_NOT_FOUND: there is none
 * (with what may have been meant); E_CONFLICT: several, or in use; E_CONFIG: damaged. For writing:
 * tool calls at the end that have no result get one, which is written and told. */
MUST_USE bool store_open(const char *dir, const char *word, enum store_mode mode,
    struct store **ret_store, struct err *err);
void store_close(
    struct store *s); /* accepts NULL; an envelope that can't be written stays as its log */
/* The same, and says so. Closes in any case. */
MUST_USE bool store_finish(struct store *s, struct err *err);
/* Takes it away if nothing was ever said in it and it has no title. True: it is gone, and closed;
 * false: nothing was done. */
bool store_drop_empty(struct store *s);
void store_close_at(struct store **s);
#define AUTO_STORE AUTO(store_close_at)

/* A key that must never be written: masked in every string from now on. Shorter than 8 bytes: not.
 */
void store_hide(struct store *s, struct str key);

/* One write and one fdatasync. On failure the file is as before. */
MUST_USE bool store_append(struct store *s, const json_t *message, struct err *err);
/* From now on the conversation is this message and the last `keep` of those that counted. */
MUST_USE bool store_note_compaction(
    struct store *s, const json_t *message, size_t keep, struct err *err);
MUST_USE bool store_note_title(struct store *s, struct str title, struct err *err);

/* Whether it came from a file that somebody else may have written: what its header says of a system
 * prompt and a directory is kept for the export, and not believed. */
bool store_is_imported(const struct store *s);
/* The user goes on with it, by its name, in this directory: an imported session is one of the
 * user's own from then on, but for its system prompt. Nothing for others. */
MUST_USE bool store_note_resumed(struct store *s, struct str cwd, struct err *err);

const char *store_id(const struct store *s);
const char *store_path(const struct store *s); /* what the user would name */
/* The envelope without its messages; system_prompt, cwd, model, ... are keys of it. Borrowed. */
const json_t *store_header(const struct store *s);
struct str store_text(const struct store *s, const char *key); /* of the header; no value: none */
/* All messages, as they were written. Borrowed; grows with store_append(). */
const json_t *store_all(const struct store *s);
/* Those that count, after compaction and repaired: ready for a request. A new list, whose messages
 * are shared. */
MUST_USE json_t *store_messages(const struct store *s);
/* What was dropped or repaired while loading: a list of sentences for the user. Borrowed. */
struct str store_updated_at(const struct store *s); /* the time of the last message */
const json_t *store_notes(const struct store *s);
void store_note(struct store *s, const char *words, ...) PRINTF_LIKE(2, 3);
/* Compactions, as an envelope has them: {"at":N,...} after N messages. Borrowed. */
const json_t *store_compactions(const struct store *s);

/* A session from lines that are open already, for looking at. */
struct tape;
MUST_USE bool store_read(struct tape *tape, struct store **ret_store, struct err *err);

#endif
