/* The state of a session's repositories (repo/known.h) as text, for a file that outlives it: a list
 * of records. A record is a letter and its fields, each of them ended by NUL, as paths are bytes of
 * any kind but that; contents of files have their length before them.
 *
 *     if (!state_write(p, &text)) ...too much, or a root is gone...
 *     if (!state_roots(text, &roots)) ...not such a text...
 *     if (!state_read(old, text)) ...
 *
 * Directories are known by their inode and the time of their birth, which outlast a restart of the
 * machine; numbers of devices do not.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_STATE_H
#define REPO_STATE_H

#include "repo/known.h"

enum {
    STATE_BYTES_MAX = 64 << 20,
};

/* What a directory is known by; no value of the time: the file system has none that stays. */
struct state_id {
    uint64_t ino;
    int64_t born_s;
    uint64_t born_ns;
};

struct state_roots {
    struct state_root {
        struct str path;
        struct state_id id;
    } p[PROTECT_ROOTS_MAX];
    size_t n;
};

MUST_USE bool state_write(const struct protect *p, struct buf *text);

/* The roots of a text that is whole; paths are NUL-terminated and in it. */
MUST_USE bool state_roots(struct str text, struct state_roots *ret_roots);

/* Reads a text into an empty state. Roots that are neither at their path nor among those of `now`
 * are left out. False: the text is not whole. */
MUST_USE bool state_read(struct protect *old, const struct protect *now, struct str text);

/* Whether the directory of this descriptor is that one. `moved`: it had another name. */
bool state_is(int fd, const struct state_id *id, bool moved);

#endif
