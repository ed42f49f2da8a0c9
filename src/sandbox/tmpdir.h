/* A directory for temporary files where nothing can be mounted: it stands for the private /tmp.
 *
 *     struct tmpdir dir = {0};
 *     if (!tmpdir_choose(&dir, err)) return false;
 *     envp = tmpdir_env(plan, dir.path, envp, arena);
 *     ... in the process that will remove it: tmpdir_make(&dir) ...
 *     tmpdir_remove(&dir);
 *     tmpdir_done(&dir);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_TMPDIR_H
#define SANDBOX_TMPDIR_H

#include "base/err.h"
#include "sandbox/plan.h"

struct tmpdir {
    char *path; /* NULL: none */
    dev_t dev;
    ino_t ino; /* 0: not made, or not known to be made */
};

/* A name that nobody can guess in $TMPDIR, or /tmp. */
MUST_USE bool tmpdir_choose(struct tmpdir *ret_dir, struct err *err);
void tmpdir_done(struct tmpdir *dir);

/* A new, empty directory of the user's; false and errno. Allocates nothing. */
MUST_USE bool tmpdir_make(struct tmpdir *dir);

/* The error of one that can't be made. */
bool tmpdir_refused(int errnum, struct err *err);

/* With TMPDIR, and with values that lie in the private /tmp moved to the directory. Where nothing
 * is hidden, but refused, git gives up at the system's settings: it is told to leave them. In the
 * arena or in the input; ends in NULL. */
const char *const *tmpdir_env(
    const struct plan *plan, const char *path, const char *const *envp, struct arena *arena);

/* The directory that the command starts in; `path` may be NULL. */
const char *tmpdir_cwd(const struct plan *plan, const char *path);

/* Deletes it with everything in it, once nothing of the sandbox runs any more: links are not
 * followed, and another directory in its place is left alone. What can't be deleted stays.
 * Allocates nothing. */
void tmpdir_remove(const struct tmpdir *dir);

#endif
