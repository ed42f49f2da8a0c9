/* What a session changed in files, turn by turn, and the way back.
 *
 *     struct undo *u = undo_new(dir, store_id(s), journal_dir);
 *     options.keeper = undo_keeper(u);           what tools replace is kept from now on
 *     undo_begin_turn(u, n);                     n: messages of the session before it
 *     ...
 *     undo_back(u, &report, err)                 the last turn's changes are taken back, or nothing
 *     undo_free(u);
 *
 * In DIR/ID there are `log`, a file of JSON lines that only grows, and the old versions of files,
 * each under a number. Before files are replaced their old versions and a line with what they are
 * and will be are on disk:
 *
 *     {"type":"change","n":1,"turn":4,"root":...,"files":[{"path":...,"old":{...},"new":{...}}]}
 *     {"type":"done","n":1}        it was done; or "void": it was not
 *     {"type":"undo","n":2,...}    the way back, which is a change, too; then its own "done"
 *     {"type":"forget","turn":4}   what it replaced takes too much room, and is gone
 *
 * If one of the second kind is missing, the process was ended in between: journal_recover() has
 * made all old or all new, and a look at the files tells which. The way back goes through the
 * writer: all or nothing, whatever happens on the way. A file counts as nobody else's as long as
 * its stamp is the one that the last change gave it.
 *
 * Nothing is on disk before the first change. Only what tools change is known here; what
 * commands did is not.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_UNDO_H
#define AGENT_UNDO_H

#include "base/arena.h"
#include "path/stamp.h"
#include "tool/toolbox.h"

enum {
    UNDO_NAMED = 5, /* files that a message names */
    UNDO_DAYS = 30, /* how long a session that is not used keeps it */
};
#define UNDO_FILE_MAX  ((uint64_t)256 << 20) /* a larger file's old version is not kept */
#define UNDO_BYTES_MAX ((uint64_t)1 << 30)   /* of one session: then the oldest turns' go */
#define UNDO_ALL_MAX   ((uint64_t)4 << 30)   /* of all: then those of the oldest sessions */

struct undo;

MUST_USE struct undo *undo_new(const char *dir, const char *id, const char *journal_dir);
void undo_free(struct undo *u); /* accepts NULL */

struct toolbox_keeper undo_keeper(struct undo *u);
void undo_begin_turn(struct undo *u, size_t turn); /* accepts NULL */

/* A file as it was before some turns and as they left it: inode 0 is nothing. */
struct undo_item {
    struct str path; /* below the root */
    struct stamp old, new;
    bool kept;       /* the old version is, or there was none */
    struct str blob; /* of a regular file: its name */
    struct str link; /* of a symbolic link: where it led */
};
struct undo_list {
    struct arena arena;
    size_t turn; /* the last one */
    struct str root;
    struct undo_item *items; /* by path */
    size_t n;
};
/* What comes before a path of it for people: of files below / a slash. */
const char *undo_prefix(struct str root);
#define AUTO_UNDO_LIST AUTO(undo_list_done)
void undo_list_done(struct undo_list *l);

/* All that the session changed below one root and did not take back. Nothing: n is 0. */
MUST_USE bool undo_changes(struct undo *u, struct undo_list *ret_list, struct err *err);
/* Reads an old version; nothing for what was not there. */
MUST_USE bool undo_read(
    struct undo *u, const struct undo_item *item, struct buf *content, struct err *err);

/* Takes the last turn's changes back; the list says what they were. E_NOT_FOUND: there is none.
 * E_CONFLICT: files were changed since, or their old versions are not kept; nothing is changed
 * then. */
MUST_USE bool undo_back(struct undo *u, struct undo_list *ret_list, struct err *err);

/* A session's record goes for good. */
void undo_remove(const char *dir, const char *id);

#endif
