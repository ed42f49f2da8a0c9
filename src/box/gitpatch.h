/* A list of changes as a patch that `git apply` takes, without git.
 *
 *     struct gitpatch p = gitpatch_start(lower_fd, upper_fd);
 *     for (size_t i = 0; i < d.n; i++) {
 *         buf_reset(&text);
 *         if (!gitpatch_item(&p, &d.items[i], &text, &counts[i], err)) ...
 *     }
 *     gitpatch_stat(&d, counts, 80, &text);
 *
 * The form is that of `git diff --binary --full-index`: modes, new and deleted files, links, names
 * in quotes where they must be, files without a newline at the end. A file with a NUL in it, or one
 * that is very large, is written whole, deflated and in base 85, in both directions; so that
 * `git apply -R` works, too. Of a mode git knows only whether the owner may execute; a change of
 * other bits prints nothing.
 *
 * A file that is too large to be read whole, or whose patch has no room in the buffer, is named and
 * not patched, as git does it without --binary: "Binary files a/x and b/x differ". git apply
 * refuses such a patch. The count says so (`omitted`).
 *
 * A listing has one budget for comparing lines (see linediff.h).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_GITPATCH_H
#define BOX_GITPATCH_H

#include "box/taken.h"

enum {
    GITPATCH_TEXT_MAX = 64 << 20, /* a larger file is written as binary */
};
#define GITPATCH_BUDGET      INT64_C(1000000000) /* steps for all files */
#define GITPATCH_BUDGET_FILE INT64_C(50000000)   /* steps for one */

struct gitpatch {
    int old_fd, new_fd; /* borrowed */
    int64_t budget;
    bool counts_only;          /* contents of binary files are left out: nobody prints it */
    const struct taken *taken; /* the new sides, instead of those in new_fd; or NULL */
};

struct gitpatch_count {
    bool shown; /* there was something to print */
    bool binary;
    bool omitted;            /* binary, and the patch does not hold it */
    uint64_t added, deleted; /* lines; of a binary file bytes after and before */
};

struct gitpatch gitpatch_start(int old_fd, int new_fd);

/* Appends the patch of one change. A buffer without room for a file's name is E_IO. */
MUST_USE bool gitpatch_item(struct gitpatch *p, const struct delta_item *item, struct buf *text,
    struct gitpatch_count *ret_count, struct err *err);

/* Appends what `git diff --stat` would print, for a terminal of that width. */
void gitpatch_stat(
    const struct delta *d, const struct gitpatch_count *counts, size_t width, struct buf *text);

#endif
