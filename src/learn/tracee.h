/* Inspects a stopped process: its memory, and the files its names resolve to.
 *
 * We resolve a name ourselves, from the process's root or working directory. The result is the file
 * that the process would get, unless it has its own mounts. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LEARN_TRACEE_H
#define LEARN_TRACEE_H

#include "base/arena.h"

#include <sys/types.h>

/* A file name given by a process. */
struct tracee_name {
    pid_t tid;
    int dir; /* a descriptor of the process, or AT_FDCWD */
    struct str text;
};

/* Copies memory of the process. Returns the number of bytes that could be read, at most n. */
size_t tracee_read(pid_t tid, uint64_t address, void *bytes, size_t n);

/* Reads a NUL-terminated string of at most PATH_MAX. Returns false if it can't. */
bool tracee_string(pid_t tid, uint64_t address, struct arena *a, struct str *ret_text);

/* Returns the target of a link in /proc/TID ("exe", "cwd", "fd/3"); no value if it can't be
 * read. */
struct str tracee_link(pid_t tid, const char *name, struct arena *a);

/* Returns the path as text, absolute and normalized, without following symlinks; no value if that
 * is impossible (it contains ".."). */
struct str tracee_given(const struct tracee_name *name, struct arena *a);

/* Returns the file with symlinks followed; no value if it does not exist. An empty name is the
 * directory itself. */
struct str tracee_follow(const struct tracee_name *name, struct arena *a);

/* Returns the directory entry itself, with symlinks followed up to its directory; no value if the
 * directory does not exist. ret_exists: whether the entry exists. */
struct str tracee_entry(const struct tracee_name *name, struct arena *a, bool *ret_exists);

#endif
