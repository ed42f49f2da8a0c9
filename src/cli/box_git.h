/* git's view of a directory that a box writes to (`:rw`). The box may have left anything there that
 * git acts on: filters, hooks, a file system monitor. So git runs in a sandbox that can read the
 * directory but change nothing, without a network, and its output is untrusted.
 *
 *     AUTO_BUF struct buf text = BUF_INIT(BOX_GIT_MAX);
 *     if (!box_git_diff(cli, box, BOX_GIT_PATCH, paths, n, &text, err)) return false;
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_BOX_GIT_H
#define CLI_BOX_GIT_H

#include "box/box.h"
#include "cli/out.h"

#define BOX_GIT_MAX ((size_t)512 << 20)

enum box_git_form {
    BOX_GIT_PATCH,
    BOX_GIT_STAT,
    BOX_GIT_NAMES,
    BOX_GIT_STATUS, /* letter, NUL, path, NUL */
};

/* Diff against HEAD, including untracked files that are not ignored. Fails with E_NOT_FOUND if the
 * directory is not in a git work tree. */
MUST_USE bool box_git_diff(struct cli *cli, const struct box *box, enum box_git_form form,
    const char *const *paths, size_t n, struct buf *text, struct err *err);

#endif
