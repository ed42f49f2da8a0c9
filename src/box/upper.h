/* What a box changed: the upper layer of its overlay against the lower one, as a list.
 *
 *     if (!upper_read(lower_fd, upper_fd, &(struct upper_options){0}, &delta, err)) ...
 *
 * The cost is that of the upper layer, not of the project. What overlayfs leaves there is read as
 * its documentation has it, in the form for users (`user.overlay.*`) and for root (`trusted.`):
 *
 *   a character device 0:0, or an empty file with the attribute `whiteout`    was deleted
 *   a directory with the attribute `opaque` = "y"      hides all that is below it in the lower
 * layer a file or link                                     is there now; compared with the lower
 * one, since a file that was only touched is copied `redirect`, `metacopy` E_FS_VIOLATION: we never
 * mount so, and following them would read where a box says
 *
 * A file where a directory was deletes what was in it, and the other way round. Modes of
 * directories, owners, times and attributes are no changes.
 *
 * A second copy of the project (where no overlay can be mounted) is an upper layer that hides
 * everything: `.opaque_root`. Attributes mean nothing in it. The cost is then that of both trees;
 * with the manifest that was taken of it when it was made, in `same`, only what is not as it says
 * is read, and the cost is that of looking at every file. After an apply the upper layer still has
 * all that was applied: apply_same() gives such a manifest of it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_UPPER_H
#define BOX_UPPER_H

#include "box/delta.h"
#include "box/manifest.h"

enum {
    UPPER_ENTRIES_MAX = 2 * 1000 * 1000,
};
#define UPPER_COMPARE_MAX ((uint64_t)16 << 30) /* bytes read to compare */

struct upper_options {
    bool opaque_root;
    const struct manifest *same; /* files that were the same in both when they were so; or NULL */
    size_t entries_max;          /* 0: UPPER_ENTRIES_MAX */
    uint64_t compare_max;        /* 0: UPPER_COMPARE_MAX */
};

/* The delta must be empty; it is sorted after. E_IO where a limit is passed. */
MUST_USE bool upper_read(int lower_fd, int upper_fd, const struct upper_options *options,
    struct delta *delta, struct err *err);

/* Is there anything in the list? Stops at the first change. */
MUST_USE bool upper_any(int lower_fd, int upper_fd, const struct upper_options *options,
    bool *ret_any, struct err *err);

#endif
