/* What a call makes of files, as a diff for people; and that it makes nothing else.
 *
 *     AUTO_BUF struct buf diff = BUF_INIT(PLAN_MAX);
 *     plan_add(&diff, &budget, &(struct plan_file){...});     for each file, before the commit
 *     if (!plan_check(box, &diff, err)) return false;         a person was shown another one
 *     ...toolbox_commit()...
 *     plan_tell(box, &diff);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_PLAN_H
#define TOOL_PLAN_H

#include "tool/toolbox.h"

enum {
    PLAN_MAX = 1 << 20, /* bytes of a diff that a person is shown */
};
#define PLAN_BUDGET INT64_C(50000000) /* steps for comparing, see linediff.h */

struct plan_file {
    struct str name;      /* for people */
    struct str from;      /* it has its content from there; no value: it has not */
    bool copied;          /* and that one stays */
    bool existed, exists; /* before, and after */
    struct str old, new;  /* content; of what is not there, none */
    const char *note;     /* what else changes, or NULL */
};

/* Appends the file's part, in git's form. */
void plan_add(struct buf *diff, int64_t *budget, const struct plan_file *f);

/* Does anybody care? */
bool plan_is_wanted(const struct toolbox *box);
/* E_CONFLICT: a file was changed by somebody else while a person looked at the diff. */
MUST_USE bool plan_check(const struct toolbox *box, const struct buf *diff, struct err *err);
void plan_tell(const struct toolbox *box, const struct buf *diff);

#endif
