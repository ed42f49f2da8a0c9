/* Whether a sandbox denies a path: compares what is inside with what is outside. Only for reports:
 * nothing is allowed or refused by it, and nothing is opened except with O_PATH.
 *
 *     const struct denied_look look = {.plan = plan, .root = root, .op = op, .path = path};
 *     if (denied_path_judge(&look, &verdict))
 *         ... verdict.rule, verdict.target ...
 *
 * `root` is the root directory of the sandbox. Symlinks are followed as they are inside; the
 * targets of symlinks outside are not part of the answer.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_DENIED_PATH_H
#define SANDBOX_DENIED_PATH_H

#include "sandbox/denied.h"
#include "sandbox/outside.h"
#include "sandbox/plan.h"

#include <limits.h>

struct denied_look {
    const struct plan *plan;
    int root;
    struct outside *outside;
    enum denied_op op; /* read, write or exec */
    bool creates;      /* a write that does not need the file to exist */
    bool entry;        /* a write that changes the directory's entry: a symlink is not followed */
    bool fresh;        /* a write that fails with EEXIST if the file exists */
    bool named;        /* an argument of the command */
    const char *path;  /* absolute */
};

struct denied_verdict {
    enum denied_rule rule;
    bool own, optional;
    char target[PATH_MAX];
};

/* Returns false if nothing is denied, or it is unknown. */
bool denied_path_judge(const struct denied_look *look, struct denied_verdict *ret_verdict);

/* Opens a path with O_PATH, inside, or outside if it is not there. Returns -1 if it is in neither,
 * or unknown. */
int denied_path_open(const struct denied_look *look, const char *path, struct stat *ret_st);
bool denied_path_is_inside(const struct denied_look *look, const char *path);

/* The step of the plan that decides about an absolute, clean path without symlinks; NULL: none. */
const struct plan_step *denied_path_step(const struct plan *plan, struct str path);

/* Whether programs look for this path on the chance that it exists. */
bool denied_path_is_optional(struct str path);

#endif
