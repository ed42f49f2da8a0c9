/* Reading and writing whole files through descriptors, with a limit. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IO_FILE_H
#define IO_FILE_H

#include "base/buf.h"
#include "base/err.h"

/* Appends everything up to the end of the file. More than max bytes is E_IO, and so is a full
 * buffer (give it a maximum above max). The name is for messages. */
MUST_USE bool file_read(int fd, size_t max, const char *name, struct buf *content, struct err *err);

/* The same for a file that may be a pipe without a writer, opened with O_NONBLOCK: E_CANCELED as
 * soon as cancel_fd is readable (-1: same as file_read()). */
MUST_USE bool file_read_unless(
    int cancel_fd, int fd, size_t max, const char *name, struct buf *content, struct err *err);

/* Writes everything; returns false and sets errno on failure. */
MUST_USE bool file_write_all(int fd, struct str content);

/* The same, with an error message. */
MUST_USE bool file_write(int fd, struct str content, const char *name, struct err *err);

/* Renames without replacing: sets errno to EEXIST if the new name exists. Network file systems
 * (NFS, 9p) can't do that in one step: there it checks first. */
MUST_USE bool file_rename_new(int from_dir, const char *from, int to_dir, const char *to);

/* Whether it is a regular file that this user may execute. */
bool file_is_program(const char *path);

/* An unnamed file in memory; in /tmp if a sandbox blocks memfd_create() (as ours does, since a
 * memfd can be executed). Returns -1 and sets errno on failure. */
int file_nameless(void);

/* write(2) without SIGPIPE: a reader that is gone is EPIPE, whatever the process does with the
 * signal. */
MUST_USE ssize_t file_write_quiet(int fd, struct str bytes);

#endif
