/* The changes a session made to files, turn by turn, and their undo.
 *
 *     struct undo *u = undo_new(dir, store_id(s), journal_dir);
 *     options.backup = undo_backup(u);           keeps old versions from now on
 *     undo_begin_turn(u, n);                     n: messages of the session before it
 *     ...
 *     undo_back(u, &report, err)                 undoes all of the last turn's changes, or nothing
 *     undo_free(u);
 *
 * DIR/ID holds `log`, an append-only file of JSON lines, and the old versions of files, each under
 * a number. Before files are replaced, their old versions and a line that describes them before and
 * after are written to disk:
 *
 *     {"type":"change","n":1,"turn":4,"root":...,"files":[{"path":...,"old":{...},"new":{...}}]}
 *     {"type":"done","n":1}        it was made; or "void": it was not
 *     {"type":"undo","n":2,...}    an undo, which is also a change; followed by its own "done"
 *     {"type":"forget","turn":4}   old versions up to this turn were removed to free space
 *
 * If the "done" or "void" is missing, the process was killed in between: journal_recover() has
 * restored all files or completed the change, and the files' stamps tell which. An undo goes
 * through the writer, so it is all or nothing. A file counts as unchanged by others as long as its
 * stamp is the one that the last change gave it.
 *
 * Nothing is on disk before the first change. Only changes made by tools are recorded, not those
 * made by commands.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_UNDO_H
#define AGENT_UNDO_H

#include "base/arena.h"
#include "path/stamp.h"
#include "tool/toolbox.h"

enum {
    UNDO_NAMED = 5, /* maximum number of files named in a message */
    UNDO_DAYS = 30, /* after this many days unused, a session's record is removed */
};
#define UNDO_FILE_MAX  ((uint64_t)256 << 20) /* old versions of larger files are not kept */
#define UNDO_BYTES_MAX ((uint64_t)1 << 30)   /* per session; the oldest turns are dropped first */
#define UNDO_ALL_MAX   ((uint64_t)4 << 30)   /* in total; the oldest sessions are dropped first */

struct undo;

MUST_USE struct undo *undo_new(const char *dir, const char *id, const char *journal_dir);
void undo_free(struct undo *u); /* accepts NULL */

struct toolbox_backup undo_backup(struct undo *u);
void undo_begin_turn(struct undo *u, size_t turn); /* accepts NULL */

/* A file before some turns and after them: inode 0 means that it did not exist. */
struct undo_item {
    struct str path; /* below the root */
    struct stamp old, new;
    bool kept;       /* the old version is kept, or the file did not exist */
    struct str blob; /* of a regular file: file name of the old version */
    struct str link; /* of a symlink: its target */
};
struct undo_list {
    struct arena arena;
    size_t turn; /* the last one */
    struct str root;
    struct undo_item *items; /* sorted by path */
    size_t n;
};
/* Prefix for showing an item's path: a slash if the root is "/", else empty. */
const char *undo_prefix(struct str root);
#define AUTO_UNDO_LIST AUTO(undo_list_done)
void undo_list_done(struct undo_list *l);

/* All changes of the session below one root that were not undone; n may be 0. */
MUST_USE bool undo_changes(struct undo *u, struct undo_list *ret_list, struct err *err);
/* Reads an old version (of a symlink, its target); appends nothing if the file did not exist. */
MUST_USE bool undo_read(
    struct undo *u, const struct undo_item *item, struct buf *content, struct err *err);

/* Undoes the last turn's changes and returns them in the list. E_NOT_FOUND: nothing to undo.
 * E_CONFLICT: files were changed since, or their old versions are not kept; nothing is changed
 * then. */
MUST_USE bool undo_back(struct undo *u, struct undo_list *ret_list, struct err *err);

/* Deletes a session's record. */
void undo_remove(const char *dir, const char *id);

#endif
