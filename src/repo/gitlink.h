/* Taking submodules out of git's index, without git.
 *
 *     const struct gitlink_paths paths = {(struct str[]){STR("lib"), STR("sub")}, 2};
 *     bool dropped;
 *     if (!gitlink_drop(git_fd, &paths, &dropped, err)) ...
 *
 * git enters a submodule that its index names, and obeys the configuration there. The repository
 * may be hostile: what is there is opened by descriptor, links refused, and the index that is
 * written has nothing but the entries of the old one.
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

/* Removes the submodules (mode 160000) with these paths from the index, all stages of a conflict;
 * an entry of another kind stays. `ret_dropped`: there was one. Without an index there is none.
 *
 * Each removed entry becomes a line of `git update-index --index-info` at the end of the file
 * `cordon-held/gitlinks` in the git directory, so that the user can put it back. The line is there
 * before the index changes; after a failure it may be there although the index did not change.
 *
 * E_CONFLICT: the index is locked, or can't be rewritten (see below). The index is as before or as
 * after. */
MUST_USE bool gitlink_drop(
    int git_fd, const struct gitlink_paths *paths, bool *ret_dropped, struct err *err);

/* The pure part: appends the new index, if there was one to drop. Extensions that a change makes
 * stale are left out; git makes them again. E_IO for a damaged index; E_CONFLICT for one that is
 * split, has an extension that is required and unknown here, or has SHA-256 and the entry. */
MUST_USE bool gitlink_remove(struct str index, const struct gitlink_paths *paths, struct buf *out,
    bool *ret_dropped, struct err *err);

#endif
