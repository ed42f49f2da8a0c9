/* git's view of a directory that a box writes to (`:rw`). The box may have left anything there that
 * git acts on: filters, hooks, a file system monitor. So git runs in a sandbox that can read the
 * directory but change nothing, without a network, and its output is untrusted.
 *
 *     AUTO_BUF struct buf text = BUF_INIT(GIT_DIFF_MAX);
 *     if (!git_diff(box, &(struct git_diff){GIT_DIFF_PATCH}, &arena, &text, err)) return false;
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_GIT_DIFF_H
#define BOX_GIT_DIFF_H

#include "base/json.h"
#include "box/box.h"

#define GIT_DIFF_MAX ((size_t)512 << 20)

enum git_diff_form {
    GIT_DIFF_PATCH,
    GIT_DIFF_STAT,
    GIT_DIFF_NAMES,
    GIT_DIFF_STATUS, /* letter, NUL, path, NUL */
};

struct git_diff {
    enum git_diff_form form;
    const char *const *paths; /* only these; n == 0: all */
    size_t n;
};

/* Diff against HEAD, including untracked files that are not ignored. Fails with E_NOT_FOUND if the
 * directory is not in a git work tree. */
MUST_USE bool git_diff(const struct box *box, const struct git_diff *what, struct arena *arena,
    struct buf *text, struct err *err);

/* Output of GIT_DIFF_STATUS as JSON: the list of changes. */
MUST_USE json_t *git_diff_changes(struct str status);

#endif
