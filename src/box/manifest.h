/* What a tree was at one moment: every file's path, inode, mode, size and times.
 *
 *     manifest_take(root_fd, &m, err)             a look at the tree
 *     manifest_write(&m, dir_fd, "manifest", err) to disk, whole or not at all
 *     manifest_load(dir_fd, "manifest", root_fd, &m, err)
 *     manifest_drift(&m, root_fd, &delta, err)    what is different now
 *
 * A box of the kind `:overlay` has no copy of the project: the manifest is its baseline. Files and
 * links are in it, sorted by the bytes of their paths; directories, `.git` and what is neither are
 * not. A file counts as changed if any of the values differs, the change time included: so one
 * whose modification time was set back is seen, too, and one that was only renamed away and back
 * is seen as changed, which is the safe side.
 *
 * While an apply moves it, `<name>.next` says what the files will be. An apply that was cut off
 * leaves it, and each file of the project that is as it says counts as moved: manifest_load() sees
 * to that. That one doesn't know the change times, which renaming alters. Of a box with a
 * copy it holds only what is to come, and files that will be gone are in it without an inode; if
 * another apply follows one that was cut off, a path has two entries: what it is, what it will be.
 *
 * The file is for this machine and this version of the format: a header with the number of entries,
 * the entries, a checksum. One that was cut off or changed is E_CONFIG.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_MANIFEST_H
#define BOX_MANIFEST_H

#include "box/delta.h"

enum {
    MANIFEST_ENTRIES_MAX = 4 * 1000 * 1000,
    MANIFEST_BYTES_MAX = 1 << 30,
};
#define MANIFEST_ANY_CTIME UINT32_MAX

enum manifest_kind {
    MANIFEST_OF_TREE, /* one entry for a path */
    MANIFEST_TO_COME, /* of a box with a copy: a path may have several, see above */
};

struct manifest_entry {
    uint64_t ino;
    uint64_t size;
    int64_t mtime_s, ctime_s;
    uint32_t mtime_ns, ctime_ns; /* MANIFEST_ANY_CTIME: the change time is not known */
    uint32_t mode;               /* with the type */
    uint32_t path_n;
    /* the path, NUL, and NULs up to a multiple of 8 bytes */
};

struct manifest {
    struct buf bytes; /* the entries, one after the other */
    size_t *at;       /* where each begins */
    size_t n, cap;
};

#define MANIFEST_INIT ((struct manifest){.bytes = BUF_INIT(MANIFEST_BYTES_MAX)})
#define AUTO_MANIFEST AUTO(manifest_done)

void manifest_done(struct manifest *m);

/* m must be empty. Directories that can't be read are E_IO: nothing is known of them. */
MUST_USE bool manifest_take(int root_fd, struct manifest *m, struct err *err);
/* Adds one at the end, as it is now or as it was. */
void manifest_add(struct manifest *m, struct str path, const struct stat *st);
void manifest_keep(struct manifest *m, const struct manifest_entry *e, struct str path);
/* Whole or not at all; and what was to come is done then. */
MUST_USE bool manifest_write(
    const struct manifest *m, int dir_fd, const char *name, struct err *err);
MUST_USE bool manifest_read(int dir_fd, const char *name, struct manifest *m, struct err *err);
/* With what an apply that was cut off has moved: the one to be used for a box. */
MUST_USE bool manifest_load(
    int dir_fd, const char *name, int root_fd, struct manifest *m, struct err *err);
/* If anything was to come: what was loaded is what counts, before something else is to come. */
MUST_USE bool manifest_settle(
    const struct manifest *m, int dir_fd, const char *name, struct err *err);
/* What is to come, as `<name>.next`, on disk when it returns. */
MUST_USE bool manifest_write_next(
    const struct manifest *m, int dir_fd, const char *name, struct err *err);
/* The same read, without deletions that were undone; empty if nothing is to come. And the end of
 * it.
 */
MUST_USE bool manifest_read_next(
    int dir_fd, const char *name, int root_fd, struct manifest *m, struct err *err);
MUST_USE bool manifest_end_next(int dir_fd, const char *name, struct err *err);
/* From bytes: for manifest_read(), and for tests. */
MUST_USE bool manifest_parse(struct str bytes, enum manifest_kind kind, struct manifest *m);

const struct manifest_entry *manifest_get(const struct manifest *m, size_t i, struct str *ret_path);
/* NULL: there was no such file. */
const struct manifest_entry *manifest_find(const struct manifest *m, struct str path);
bool manifest_same(const struct manifest_entry *e, const struct stat *st);
/* Of what is to come: may there be such a file? NULL: none. */
bool manifest_notes(const struct manifest *m, struct str path, const struct stat *st);
/* Does a tree have at a path what an entry says? NULL, or no inode: no file is there. */
bool manifest_is_so(int root_fd, struct str path, const struct manifest_entry *e);

/* What differs now between the manifest and the tree; of the old side only inode, size, mode and
 * time of modification are known. */
MUST_USE bool manifest_drift(
    const struct manifest *m, int root_fd, struct delta *delta, struct err *err);

/* The same for one path: false in *ret_same if it has appeared, changed or gone. */
MUST_USE bool manifest_check(
    const struct manifest *m, int root_fd, struct str path, bool *ret_same, struct err *err);

#endif
