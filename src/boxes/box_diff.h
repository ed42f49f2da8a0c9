/* The changes of a box, compared with the version that it started with or that was applied last.
 *
 *     AUTO(box_diff_done) struct box_diff d = BOX_DIFF_INIT(arena, &box, paths, n);
 *     if (!box_diff_read(&d, err)) return false;
 *     ... d.changes, d.drift, d.missed ...
 *
 * A running agent may change a file while it is read: such a failure is E_CONFLICT, and
 * box_diff_retry() reads again.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOXES_BOX_DIFF_H
#define BOXES_BOX_DIFF_H

#include "base/notice.h"
#include "box/changes.h"

struct box_diff {
    struct arena *arena;
    const struct box *box;
    const char *const *paths; /* only these; n == 0: all */
    size_t n;
    struct box_changes changes;
    struct delta drift;            /* project files changed since the box was made */
    bool drift_is_whole;           /* otherwise only files that the box changed were compared */
    struct str_list missed;        /* paths without changes */
    struct gitpatch_count *counts; /* one for each change, after a patch or JSON was made */
};

#define BOX_DIFF_INIT(the_arena, the_box, the_paths, the_n) \
    ((struct box_diff){.arena = (the_arena),                \
        .box = (the_box),                                   \
        .paths = (the_paths),                               \
        .n = (the_n),                                       \
        .changes = BOX_CHANGES_NONE,                        \
        .drift = DELTA_INIT})

/* Not for `:rw` boxes. */
MUST_USE bool box_diff_read(struct box_diff *d, struct err *err);
void box_diff_done(struct box_diff *d);
/* Allocates the counts. */
void box_diff_count(struct box_diff *d);

/* Calls attempt() again, up to a limit, while it fails because a file changed; again() undoes a
 * failed attempt and may be NULL. */
MUST_USE bool box_diff_retry(bool (*attempt)(void *context, struct err *err),
    void (*again)(void *context), void *context, struct err *err);

/* The output of `cordon box diff --json`, a new object; for `:rw` boxes git's view. `whole`: with
 * the patch. */
MUST_USE bool box_diff_json(struct box_diff *d, bool whole, json_t **ret_object, struct err *err);
MUST_USE bool box_diff_git_json(
    struct box_diff *d, bool whole, json_t **ret_object, struct err *err);

/* All of it: finishes an interrupted change first, reads, and retries. */
MUST_USE bool box_diff_object(
    struct box_diff *d, bool whole, struct notices warnings, json_t **ret_object, struct err *err);

#endif
