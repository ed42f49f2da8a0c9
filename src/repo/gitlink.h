/* Removes submodules from git's index, without git.
 *
 *     const struct gitlink_paths paths = {(struct str[]){STR("lib"), STR("sub")}, 2};
 *     bool dropped;
 *     if (!gitlink_drop(git_fd, &paths, &dropped, err)) ...
 *
 * git enters a submodule that its index lists and obeys the configuration there. The repository may
 * be hostile: its files are opened by descriptor with symlinks refused, and the new index has only
 * entries of the old one.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_GITLINK_H
#define REPO_GITLINK_H

#include "base/buf.h"
#include "base/err.h"

enum {
    GITLINK_INDEX_MAX = 256 << 20, /* bytes */
};

/* Sorted by bytes. */
struct gitlink_paths {
    const struct str *p;
    size_t n;
};

/* Removes the submodules (mode 160000) with these paths from the index, in all stages of a
 * conflict; entries of other kinds stay. `ret_dropped`: at least one was removed. A missing index
 * has none.
 *
 * Appends each removed entry, as a line for `git update-index --index-info`, to the file
 * `cordon-held/gitlinks` in the git directory, so that the user can put it back. The line is
 * written before the index changes; after a failure it may be there although the index did not
 * change.
 *
 * E_CONFLICT: the index is locked, or can't be rewritten (see below). After a failure, the index is
 * either the old or the new one. */
MUST_USE bool gitlink_drop(
    int git_fd, const struct gitlink_paths *paths, bool *ret_dropped, struct err *err);

/* The pure part: appends the new index to `out` if there was an entry to drop. Leaves out
 * extensions that the change makes stale; git recreates them. E_IO for a damaged index; E_CONFLICT
 * for one that is split, has an extension that is required and unknown here, or uses SHA-256 and
 * has such an entry. */
MUST_USE bool gitlink_remove(struct str index, const struct gitlink_paths *paths, struct buf *out,
    bool *ret_dropped, struct err *err);

#endif
