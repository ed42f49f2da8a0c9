/* State of a tree at one moment: path, inode, mode, size and times of every file.
 *
 *     manifest_take(root_fd, &m, err)             from the tree
 *     manifest_write(&m, dir_fd, "manifest", err) to disk, atomically
 *     manifest_load(dir_fd, "manifest", root_fd, &m, err)
 *     manifest_drift(&m, root_fd, &delta, err)    differences to the current tree
 *
 * An `:overlay` box has no copy of the project: the manifest is its baseline. It contains files and
 * symlinks, sorted by the bytes of their paths; not directories, `.git` or special files. A file
 * counts as changed if any of the values differs, including the change time (ctime): so a file
 * whose modification time was reset is still detected, and one that was only renamed and renamed
 * back also counts as changed, which is the safe side.
 *
 * While an apply updates the manifest, `<name>.next` holds the future state of the files. An
 * interrupted apply leaves it behind, and each file of the project that matches it counts as
 * updated: manifest_load() handles this. It does not have the change times, as renaming alters
 * them. For a box with a copy it contains only the pending files, and deleted files are in it with
 * inode 0; if another apply follows an interrupted one, a path has two entries: its current and its
 * future state.
 *
 * The file is specific to this machine and this version of the format: a header with the number of
 * entries, the entries, a checksum. A truncated or modified file is E_CONFIG.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHANGE_MANIFEST_H
#define CHANGE_MANIFEST_H

#include "change/delta.h"

enum {
    MANIFEST_ENTRIES_MAX = 4 * 1000 * 1000,
    MANIFEST_BYTES_MAX = 1 << 30,
};
#define MANIFEST_ANY_CTIME UINT32_MAX

enum manifest_kind {
    MANIFEST_OF_TREE, /* one entry per path */
    MANIFEST_TO_COME, /* `.next` of a box with a copy: a path may have several, see above */
};

struct manifest_entry {
    uint64_t ino;
    uint64_t size;
    int64_t mtime_s, ctime_s;
    uint32_t mtime_ns, ctime_ns; /* MANIFEST_ANY_CTIME: change time unknown */
    uint32_t mode;               /* including the type */
    uint32_t path_n;
    /* the path, NUL, padded with NULs to a multiple of 8 bytes */
};

struct manifest {
    struct buf bytes; /* the entries, concatenated */
    size_t *at;       /* offset of each entry */
    size_t n, cap;
};

#define MANIFEST_INIT ((struct manifest){.bytes = BUF_INIT(MANIFEST_BYTES_MAX)})
#define AUTO_MANIFEST AUTO(manifest_done)

void manifest_done(struct manifest *m);

/* m must be empty. Unreadable directories are E_IO, as their contents are unknown. */
MUST_USE bool manifest_take(int root_fd, struct manifest *m, struct err *err);
/* Appends an entry, from a stat or from another manifest. */
void manifest_add(struct manifest *m, struct str path, const struct stat *st);
void manifest_keep(struct manifest *m, const struct manifest_entry *e, struct str path);
/* Atomic replace; also removes `<name>.next`. */
MUST_USE bool manifest_write(
    const struct manifest *m, int dir_fd, const char *name, struct err *err);
MUST_USE bool manifest_read(int dir_fd, const char *name, struct manifest *m, struct err *err);
/* Includes the files updated by an interrupted apply: use this one for a box. */
MUST_USE bool manifest_load(
    int dir_fd, const char *name, int root_fd, struct manifest *m, struct err *err);
/* If `<name>.next` exists: writes the loaded manifest, before another `<name>.next` is written. */
MUST_USE bool manifest_settle(
    const struct manifest *m, int dir_fd, const char *name, struct err *err);
/* Writes the pending state as `<name>.next`, on disk on return. */
MUST_USE bool manifest_write_next(
    const struct manifest *m, int dir_fd, const char *name, struct err *err);
/* Reads `<name>.next`, without deletions that were undone; empty if it does not exist.
 * manifest_end_next() removes it. */
MUST_USE bool manifest_read_next(
    int dir_fd, const char *name, int root_fd, struct manifest *m, struct err *err);
MUST_USE bool manifest_end_next(int dir_fd, const char *name, struct err *err);
/* Parses a file: for manifest_read(), and for tests. */
MUST_USE bool manifest_parse(struct str bytes, enum manifest_kind kind, struct manifest *m);

const struct manifest_entry *manifest_get(const struct manifest *m, size_t i, struct str *ret_path);
/* NULL if the manifest has no such file. */
const struct manifest_entry *manifest_find(const struct manifest *m, struct str path);
bool manifest_same(const struct manifest_entry *e, const struct stat *st);
/* For a `.next`: checks whether an entry matches the file; NULL: no file. */
bool manifest_notes(const struct manifest *m, struct str path, const struct stat *st);
/* Checks whether a tree matches an entry at a path. NULL or inode 0: no file there. */
bool manifest_is_so(int root_fd, struct str path, const struct manifest_entry *e);

/* Lists the differences between the manifest and the tree; the old side has only inode, size, mode
 * and modification time. */
MUST_USE bool manifest_drift(
    const struct manifest *m, int root_fd, struct delta *delta, struct err *err);

/* The same for one path: *ret_same is false if it was added, changed or deleted. */
MUST_USE bool manifest_check(
    const struct manifest *m, int root_fd, struct str path, bool *ret_same, struct err *err);

#endif
