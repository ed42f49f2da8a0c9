/* Looking into a stopped process: its memory, and where its names lead.
 *
 * A name is looked up by us, from its root or current directory: what it leads to is where the
 * process would get, unless it has mounts of its own. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AUDIT_TRACEE_H
#define AUDIT_TRACEE_H

#include "base/arena.h"

#include <sys/types.h>

/* A name as a process gives it. */
struct tracee_name {
    pid_t tid;
    int dir; /* a descriptor of the process, or AT_FDCWD */
    struct str text;
};

/* Copies bytes out of it: how many could be had, at most n. */
size_t tracee_read(pid_t tid, uint64_t address, void *bytes, size_t n);

/* A NUL-terminated string of at most PATH_MAX; false if there is none. */
bool tracee_string(pid_t tid, uint64_t address, struct arena *a, struct str *ret_text);

/* Where a link of /proc/TID leads ("exe", "cwd", "fd/3"); no value: nowhere. */
struct str tracee_link(pid_t tid, const char *name, struct arena *a);

/* The path as text, absolute and clean, links not followed; no value if that can't be said (it has
 * ".." in it). */
struct str tracee_given(const struct tracee_name *name, struct arena *a);

/* Where it leads, links followed; no value: nowhere. An empty name is the directory itself. */
struct str tracee_follow(const struct tracee_name *name, struct arena *a);

/* The entry itself, links followed up to its directory; no value if that is not there.
 * ret_exists: whether the entry is. */
struct str tracee_entry(const struct tracee_name *name, struct arena *a, bool *ret_exists);

#endif
