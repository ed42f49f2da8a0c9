/* Project root detection: the nearest directory upward that has the strongest marker.
 *
 *     struct root_found root;
 *     if (!root_detect(STR("."), &(struct root_options){0}, arena, &root, err)) ...
 *
 * `.git` (a directory, or the file of a worktree or submodule) takes precedence over package.json,
 * which precedes the markers of other languages, then the caller's own, then `.cordon`. Each is
 * searched all the way up before the next: a `.git` three levels up beats a package.json in the
 * current directory. The home directory and / are never a project, unless the search starts there.
 * Without any marker the start is the root.
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
    struct str dir;    /* absolute, without symlinks, NUL-terminated */
    struct str marker; /* "" if none was found */
};

MUST_USE bool root_detect(const char *start, const struct root_options *options, struct arena *a,
    struct root_found *ret_root, struct err *err);

/* A marker is one plain file name. */
bool root_marker_valid(struct str marker);

#endif
