/* The entries of a directory, one at a time, without "." and "..".
 *
 *     AUTO_DIR struct dir d = DIR_INIT(HOOKS_MAX);
 *     if (!dir_open(&d, at, "hooks")) return err_errno(err, E_IO, errno, "cannot list the hooks");
 *     while (dir_next(&d))
 *         check_hook(d.fd, d.name);
 *     if (!dir_complete(&d)) ...
 *
 * Entries come in the order of the file system: sort them before a limit selects some of them.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IO_DIR_H
#define IO_DIR_H

#include <dirent.h>

#include "base/base.h"

struct dir {
    size_t max;         /* entries that dir_next() returns */
    size_t n;           /* entries returned */
    int fd;             /* the directory; valid until dir_close() */
    const char *name;   /* the current entry; valid until the next call */
    unsigned char type; /* DT_REG, DT_DIR, …; DT_UNKNOWN on some file systems */
    bool cut;           /* there are more than max entries */
    int errnum;         /* the error that ended the list, or 0 */
    DIR *stream;
};

/* DIR_UNLIMITED: the caller bounds the loop by other means, or it runs only on private files of the
 * user. */
#define DIR_UNLIMITED SIZE_MAX
#define DIR_INIT(limit)          \
    {                            \
        .max = (limit), .fd = -1 \
    }

/* Open a directory below a descriptor, without following a symlink in the last component ("." is
 * the descriptor's own directory, with a position of its own), or a path, following symlinks.
 * Return false and set errno on failure. */
MUST_USE bool dir_open(struct dir *d, int at, const char *name);
MUST_USE bool dir_open_path(struct dir *d, const char *path);
/* The same for an open descriptor, which is closed on failure as well. -1 fails with the errno of
 * the call that returned it. */
MUST_USE bool dir_take(struct dir *d, int fd);

/* Returns false at the end, at the limit, after an error, and if the directory is not open. */
bool dir_next(struct dir *d);
/* Whether the list was read to its end. */
bool dir_complete(const struct dir *d);
/* Starts again from the first entry. */
void dir_rewind(struct dir *d);
void dir_close(struct dir *d);

#define AUTO_DIR AUTO(dir_close)

#endif
