/* The state of a session's repositories (repo/known.h) as text, for a file that outlives the
 * session: a list of records. A record is a letter and its fields, each terminated by NUL, since
 * paths may contain any other byte; file contents are preceded by their length.
 *
 *     if (!protect_state_write(p, &text)) ...too large, or a root is gone...
 *     if (!protect_state_roots(text, &roots)) ...not such a text...
 *     if (!protect_state_read(old, text)) ...
 *
 * Directories are identified by inode and birth time, which survive a reboot; device numbers do
 * not.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_PROTECT_STATE_H
#define REPO_PROTECT_STATE_H

#include "repo/known.h"

enum {
    PROTECT_STATE_BYTES_MAX = 64 << 20,
};

/* Identity of a directory; birth time 0: the file system has none that is stable. */
struct protect_state_id {
    uint64_t ino;
    int64_t born_s;
    uint64_t born_ns;
};

struct protect_state_roots {
    struct protect_state_root {
        struct str path;
        struct protect_state_id id;
    } p[PROTECT_ROOTS_MAX];
    size_t n;
};

MUST_USE bool protect_state_write(const struct protect *p, struct buf *text);

/* Returns the roots of a complete text; their paths are NUL-terminated and point into it. */
MUST_USE bool protect_state_roots(struct str text, struct protect_state_roots *ret_roots);

/* Reads a text into an empty state. Leaves out roots that are neither at their path nor among the
 * roots of `now`. Returns false if the text is incomplete. */
MUST_USE bool protect_state_read(struct protect *old, const struct protect *now, struct str text);

/* Returns true if this descriptor is that directory. `moved`: it had another name. */
bool protect_state_id_matches(int fd, const struct protect_state_id *id, bool moved);

#endif
