/* Formats a list of changes as a patch for `git apply`, without git.
 *
 *     struct gitpatch p = gitpatch_start(lower_fd, upper_fd);
 *     for (size_t i = 0; i < d.n; i++) {
 *         buf_reset(&text);
 *         if (!gitpatch_item(&p, &d.items[i], &text, &counts[i], err)) ...
 *     }
 *     gitpatch_stat(&d, counts, 80, &text);
 *
 * The format is that of `git diff --binary --full-index`: modes, new and deleted files, symlinks,
 * quoted names where needed, files without a newline at the end. A file that contains a NUL byte,
 * or is very large, is written as a binary literal, deflated and in base 85, for both directions,
 * so that `git apply -R` also works. git records only the owner's execute bit of a mode; changes of
 * other bits print nothing.
 *
 * A file that is too large to read, or whose patch does not fit in the buffer, is only named, as
 * git does without --binary: "Binary files a/x and b/x differ". git apply refuses such a patch. The
 * count reports it (`omitted`).
 *
 * All files share one budget for comparing lines (see base/linediff.h).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHANGE_GITPATCH_H
#define CHANGE_GITPATCH_H

#include "change/saved.h"

enum {
    GITPATCH_TEXT_MAX = 64 << 20, /* larger files are written as binary */
};
#define GITPATCH_BUDGET      INT64_C(1000000000) /* steps for all files */
#define GITPATCH_BUDGET_FILE INT64_C(50000000)   /* steps for one file */

struct gitpatch {
    int old_fd, new_fd; /* borrowed */
    int64_t budget;
    bool counts_only;          /* omit the contents of binary files: they are not printed */
    const struct saved *saved; /* the new sides, used instead of new_fd; or NULL */
};

struct gitpatch_count {
    bool shown; /* something was printed */
    bool binary;
    bool omitted;            /* binary, and its content is not in the patch */
    uint64_t added, deleted; /* lines; for a binary file bytes after and before */
};

struct gitpatch gitpatch_start(int old_fd, int new_fd);

/* Appends the patch of one change. E_IO if the buffer cannot even hold the file's name. */
MUST_USE bool gitpatch_item(struct gitpatch *p, const struct delta_item *item, struct buf *text,
    struct gitpatch_count *ret_count, struct err *err);

/* Appends the output of `git diff --stat` for a terminal of that width. */
void gitpatch_stat(
    const struct delta *d, const struct gitpatch_count *counts, size_t width, struct buf *text);

#endif
