/* A directory for temporary files, in place of the private /tmp where nothing can be mounted.
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
    ino_t ino; /* 0: not created, or not known to be */
};

/* Chooses a name that can't be guessed in $TMPDIR, or /tmp. */
MUST_USE bool tmpdir_choose(struct tmpdir *ret_dir, struct err *err);
void tmpdir_done(struct tmpdir *dir);

/* Creates a new, empty directory of the user. Returns false and errno on failure. Allocates
 * nothing. */
MUST_USE bool tmpdir_make(struct tmpdir *dir);

/* Sets the error for a directory that can't be created. Returns false. */
bool tmpdir_set_error(int errnum, struct err *err);

/* Adds TMPDIR, and moves values below the private /tmp to the directory. Where paths are not hidden
 * but refused, git fails on the system's configuration: GIT_CONFIG_NOSYSTEM makes it ignore that.
 * The result is in the arena or in the input; ends in NULL. */
const char *const *tmpdir_env(
    const struct plan *plan, const char *path, const char *const *envp, struct arena *arena);

/* The command's initial working directory; `path` may be NULL. */
const char *tmpdir_cwd(const struct plan *plan, const char *path);

/* Deletes the directory with everything in it, once no process of the sandbox is left: symlinks are
 * not followed, and another directory in its place is left alone. Files that can't be deleted stay.
 * Allocates nothing. */
void tmpdir_remove(const struct tmpdir *dir);

#endif
