/* What git tracks, read from its index without git.
 *
 *     AUTO_TRACKED struct tracked t = {0};
 *     if (!tracked_read(git_fd, &t, err)) ...
 *     for (size_t i = 0; i < t.n; i++) ... t.paths[i] ...
 *
 * A file may match an ignore rule and be tracked all the same: then it belongs to the project.
 * Versions 2, 3 and 4 of the index are read, with SHA-1 or SHA-256, also split ones (most of it is
 * in a file `sharedindex.<hash>`, and says little of what was changed since). Directories of a
 * sparse index, whose files are not in the work tree, are left out.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_TRACKED_H
#define REPO_TRACKED_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

enum {
    TRACKED_BYTES_MAX = 1 << 30, /* of the index */
};

struct tracked {
    struct arena arena;
    struct str *paths; /* as git sorts them: by bytes; NUL-terminated; submodules left out */
    size_t n;
    struct str *links; /* those of submodules (gitlinks), in the same order */
    size_t n_links;
};

#define AUTO_TRACKED AUTO(tracked_done)

/* The descriptor is that of the `.git` directory; no index there is an empty one. */
MUST_USE bool tracked_read(int git_fd, struct tracked *ret_tracked, struct err *err);
void tracked_done(struct tracked *t);

/* From the bytes of an index. One that is split needs those of the shared one, too: it asks for
 * them by the file's name, which ends in the hash; E_IO and false if it does not get them. */
typedef bool (*tracked_shared_fn)(
    void *context, const char *name, struct buf *bytes, struct err *err);
MUST_USE bool tracked_parse(struct str index, tracked_shared_fn shared, void *context,
    struct tracked *ret_tracked, struct err *err);

bool tracked_has(const struct tracked *t, struct str path);
/* Does it track anything below this directory? */
bool tracked_has_below(const struct tracked *t, struct str dir);

#endif
