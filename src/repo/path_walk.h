/* Private to src/repo: follows a path step by step, as the kernel does: `..` after a symlink is the
 * parent of the symlink's target, not of the symlink.
 *
 *     struct path_walk w;
 *     if (path_walk_follow(&w, resolved_prefix, path)) ... w.path ...
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_PATH_WALK_H
#define REPO_PATH_WALK_H

#include "base/str.h"

#include <limits.h>

enum {
    PATH_WALK_LONG = 4 * PATH_MAX
}; /* bytes of a path that is not clean */

struct path_walk {
    char path[PATH_MAX]; /* existing or not; without symlinks once it is followed */
    size_t n;
    char rest[PATH_WALK_LONG];
    struct str left;
    int links;
    bool too_long;
    void (*on_link)(void *context, struct str link); /* may be NULL */
    void *context;
};

/* Follows an absolute path whose first `prefix` bytes have no symlinks; the caller sets on_link and
 * context. Returns false if the kernel would not follow it. */
bool path_walk_follow(struct path_walk *w, struct str path, size_t prefix);

#endif
