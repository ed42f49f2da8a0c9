/* Where a project begins: the nearest directory upward that holds the strongest marker.
 *
 *     struct root_found root;
 *     if (!root_detect(STR("."), &(struct root_options){0}, arena, &root, err)) ...
 *
 * `.git` (a directory, or the file of a worktree or submodule) wins over package.json, that over
 * the markers of other languages, those over the caller's own, and those over `.cordon`. Each is
 * looked for all the way up before the next: a `.git` three levels up beats a package.json beside
 * you. The home directory and / are never a project, unless the search starts in them. Without
 * any marker the start is the root.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_ROOT_H
#define PATH_ROOT_H

#include "base/arena.h"
#include "base/err.h"

enum {
    ROOT_EXTRA_MAX = 64,
};

struct root_options {
    const char *home; /* NULL: none */
    const struct str *extra_markers;
    size_t n_extra;
};

struct root_found {
    struct str dir;    /* absolute, without links, NUL-terminated */
    struct str marker; /* "" when none was found */
};

MUST_USE bool root_detect(const char *start, const struct root_options *options, struct arena *a,
    struct root_found *ret_root, struct err *err);

/* A marker is one plain file name. */
bool root_marker_valid(struct str marker);

#endif
