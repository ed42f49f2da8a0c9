/* Atomic replacement of a file: readers see the old file or the complete new one, never a part.
 *
 *     const struct replace_options o = {
 *         .dir = box_fd, .name = "meta.json", .mode = 0600, .flags = REPLACE_DURABLE};
 *     if (!replace_file(&o, content)) return err_errno(err, E_IO, errno, "cannot write …");
 *
 * The content goes to a new temporary file (O_EXCL, no symlink followed), which gets the name when
 * it is complete, and is removed on failure. A killed process leaves the temporary file behind.
 * In steps, for files that are written in parts, locked or checked before they get their name:
 *
 *     AUTO_REPLACE struct replace r = REPLACE_NONE;
 *     bool ok = replace_open(&r, &o) && replace_write(&r, head) && replace_write(&r, body) &&
 *               replace_commit(&r);
 *
 * Functions without an err return false and set errno.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IO_REPLACE_H
#define IO_REPLACE_H

#include "base/err.h"

enum {
    REPLACE_SYNC = 1 << 0,       /* the content is on disk before the file gets its name */
    REPLACE_SYNC_DIR = 1 << 1,   /* the name is on disk on return, if directories can be synced */
    REPLACE_NEW = 1 << 2,        /* an existing file is not replaced: EEXIST */
    REPLACE_EXACT_MODE = 1 << 3, /* regardless of the umask */
    REPLACE_KEEP_MODE = 1 << 4,  /* permissions of the file that is replaced, if there is one */
    REPLACE_DURABLE = REPLACE_SYNC | REPLACE_SYNC_DIR,
    REPLACE_NAME_MAX = 256,
};

struct replace_options {
    int dir;
    const char *name;
    /* The name of the temporary file, which no other process uses at the same time: a file left by
     * a killed process is removed first. NULL: ".tmp-" and a random id in `dir`. */
    const char *temp;    /* shorter than REPLACE_NAME_MAX */
    const int *temp_dir; /* the directory of `temp`, on the same file system; NULL: `dir` */
    mode_t mode;
    unsigned flags;
};

struct replace {
    struct replace_options o;
    int fd;       /* the new file, open for writing, also after replace_commit() */
    bool waiting; /* the temporary file exists */
    int temp_dir;
    char temp[REPLACE_NAME_MAX];
};

#define REPLACE_NONE \
    {                \
        .fd = -1     \
    }
#define AUTO_REPLACE AUTO(replace_close)

MUST_USE bool replace_open(struct replace *r, const struct replace_options *o);
MUST_USE bool replace_write(struct replace *r, struct str content);
/* If only the sync of the directory fails, the file has its name nevertheless. */
MUST_USE bool replace_commit(struct replace *r);
void replace_close(struct replace *r); /* keeps errno; accepts one that was never opened */

MUST_USE bool replace_file(const struct replace_options *o, struct str content);

/* A small file that must be intact after a crash: mode 0600, on disk on return. */
MUST_USE bool replace_private(int dir, const char *name, struct str content, struct err *err);
/* The same for a path, with REPLACE_NEW or REPLACE_KEEP_MODE. E_CONFLICT: it exists already. */
MUST_USE bool replace_path(const char *path, struct str content, unsigned flags, struct err *err);

#endif
