/* The changes a call makes to files, as a diff for the user, and the check that it makes no others.
 *
 *     AUTO_BUF struct buf diff = BUF_INIT(PLAN_MAX);
 *     plan_add(&diff, &budget, &(struct plan_file){...});     for each file, before the commit
 *     if (!plan_check(box, &diff, err)) return false;         the user was shown another diff
 *     ...toolbox_commit()...
 *     plan_tell(box, &diff);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_TOOL_PLAN_H
#define TOOL_TOOL_PLAN_H

#include "tool/toolbox.h"

enum {
    PLAN_MAX = 1 << 20, /* maximum size of a diff shown to the user */
};
#define PLAN_BUDGET INT64_C(50000000) /* comparison steps, see linediff.h */

struct plan_file {
    struct str name;      /* for display */
    struct str from;      /* source of a move or copy; unset: none */
    bool copied;          /* the source is kept */
    bool existed, exists; /* before and after the call */
    struct str old, new;  /* content; empty for a missing file */
    const char *note;     /* other changes, or NULL */
};

/* Appends the file's diff in git format. */
void plan_add(struct buf *diff, int64_t *budget, const struct plan_file *f);

/* Whether a diff is needed. */
bool plan_is_wanted(const struct toolbox *box);
/* E_CONFLICT if a file was changed while the user was looking at the diff. */
MUST_USE bool plan_check(const struct toolbox *box, const struct buf *diff, struct err *err);
void plan_tell(const struct toolbox *box, const struct buf *diff);

#endif
