/* The paths that git tracks, read from its index without git.
 *
 *     AUTO_TRACKED struct tracked t = {0};
 *     if (!tracked_read(git_fd, &t, err)) ...
 *     for (size_t i = 0; i < t.n; i++) ... t.paths[i] ...
 *
 * A file may match an ignore rule and still be tracked: then it belongs to the project. Reads
 * versions 2, 3 and 4 of the index, with SHA-1 or SHA-256, including split indexes (most entries
 * are in a file `sharedindex.<hash>`; the index itself has only the later changes). Leaves out
 * directories of a sparse index, whose files are not in the work tree. An index that git would not
 * have written is damaged, also if it has only a name that git refuses (repo/gitname.h).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_TRACKED_H
#define REPO_TRACKED_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

enum {
    TRACKED_BYTES_MAX = 1 << 30, /* size of the index */
};

struct tracked {
    struct arena arena;
    struct str *paths; /* in git's order: by bytes; NUL-terminated; without submodules */
    size_t n;
    struct str *links; /* paths of submodules (gitlinks), in the same order */
    size_t n_links;
    struct str *unmerged; /* paths with a conflict that is not resolved, in the same order */
    size_t n_unmerged;
};

#define AUTO_TRACKED AUTO(tracked_done)

/* Reads the index in the `.git` directory git_fd; a missing index counts as empty. */
MUST_USE bool tracked_read(int git_fd, struct tracked *ret_tracked, struct err *err);
void tracked_done(struct tracked *t);

/* Parses the bytes of an index. A split index also needs the bytes of the shared one: `shared` is
 * called with its file name, which ends in the hash, and fails with E_IO if it can't provide
 * them. */
typedef bool (*tracked_shared_fn)(
    void *context, const char *name, struct buf *bytes, struct err *err);
MUST_USE bool tracked_parse(struct str index, tracked_shared_fn shared, void *context,
    struct tracked *ret_tracked, struct err *err);

bool tracked_has(const struct tracked *t, struct str path);
bool tracked_is_unmerged(const struct tracked *t, struct str path);

#endif
