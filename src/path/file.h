/* Whole files through descriptors, with a limit. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_FILE_H
#define PATH_FILE_H

#include "base/buf.h"
#include "base/err.h"

/* Appends all that is left to read; more than max bytes is E_IO, and so is filling the buffer (give
 * it a maximum above max). The name is for messages. */
MUST_USE bool file_read(int fd, size_t max, const char *name, struct buf *content, struct err *err);

/* The same of what may be a pipe that nobody fills, opened with O_NONBLOCK: E_CANCELED as soon as
 * cancel_fd is readable (-1: it is read as above). */
MUST_USE bool file_read_unless(
    int cancel_fd, int fd, size_t max, const char *name, struct buf *content, struct err *err);

/* Writes all of it; false and errno if that can't be done. */
MUST_USE bool file_write_all(int fd, struct str content);

/* The same with words. */
MUST_USE bool file_write(int fd, struct str content, const char *name, struct err *err);

/* A file without a name, in memory; where a sandbox keeps such away (as ours does, since it could
 * be executed), in /tmp. -1 and errno. */
int file_nameless(void);

#endif
