/* The record of changes in memory, for the files that implement it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_UNDO_STATE_H
#define AGENT_UNDO_STATE_H

#include "agent/line_file.h"
#include "agent/undo.h"
#include "base/field.h"

#include <limits.h>

enum undo_kind {
    UNDO_CHANGE,
    UNDO_BACK,
    UNDO_DONE,
    UNDO_VOID,
    UNDO_FORGET,
    UNDO_KINDS,
};

enum undo_state {
    UNDO_OPEN, /* outcome not known yet */
    UNDO_MADE,
    UNDO_DROPPED,
};

struct undo_stamp {
    int64_t ino, mtime_s, mtime_ns, size;
    uint32_t mode, uid, gid;
};

struct undo_file {
    struct str name; /* the path, caret-encoded */
    struct undo_stamp old, new;
    struct undo_stamp as; /* of an undo: the stamp of the original that it restored */
    struct str blob;      /* no value: none */
    struct str link;      /* the symlink's target, caret-encoded */
    struct str path;      /* decoded */
};

struct undo_dir {
    struct str name; /* caret-encoded */
    int64_t ino;
};

struct undo_entry {
    enum undo_kind kind;
    uint64_t n, turn;
    struct str root_name; /* caret-encoded */
    int64_t root_ino;
    struct undo_file *files;
    size_t n_files;
    struct undo_dir *dirs;
    size_t n_dirs;
    /* Not in the line: */
    enum undo_state state;
    struct str root;
    uint64_t bytes; /* of the old versions */
};

struct undo {
    struct arena arena;             /* of the entries */
    char *dir, *home, *journal_dir; /* home: DIR/ID */
    bool loaded;
    struct line_file file;
    int fd; /* of home; -1: it does not exist */
    struct undo_entry **entries;
    size_t n, cap;
    uint64_t next;   /* number of the next change */
    uint64_t turn;   /* the current one */
    uint64_t forgot; /* old versions up to this turn were removed; 0: none were */
    uint64_t bytes;
    struct undo_entry *open; /* begun and not ended */
};

struct undo_stamp undo_stamp_of(const struct stamp *s);
struct stamp undo_stamp_to(const struct undo_stamp *s);
bool undo_stamp_same(const struct undo_stamp *a, const struct undo_stamp *b);

/* The stamp of the file at a path; inode 0: none. */
MUST_USE bool undo_look(
    int root_fd, struct str path, struct undo_stamp *ret_stamp, struct err *err);
/* Opens the directory of an entry; -1 and E_CONFLICT if it is a different one by now. */
MUST_USE int undo_root(const struct undo_entry *e, struct err *err);

/* Reads the record if it exists. */
MUST_USE bool undo_load(struct undo *u, struct err *err);
/* Creates the record if it does not exist. */
MUST_USE bool undo_make(struct undo *u, struct err *err);
/* Appends an entry, which must be in the record's arena. */
MUST_USE bool undo_append(struct undo *u, struct undo_entry *e, struct err *err);
/* Records whether the change was made. */
MUST_USE bool undo_mark(struct undo *u, struct undo_entry *e, bool made, struct err *err);

void undo_drop_blobs(struct undo *u, const struct undo_entry *e);
struct str undo_encode(struct arena *a, struct str bytes);

MUST_USE struct undo_entry *undo_entry_new(
    struct undo *u, enum undo_kind kind, size_t files, size_t dirs);

#endif
