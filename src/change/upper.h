/* Changes of a box: lists the differences of its overlay's upper layer to the lower one.
 *
 *     if (!upper_read(lower_fd, upper_fd, &(struct upper_options){0}, &delta, err)) ...
 *
 * The cost depends on the upper layer, not on the project. Entries are interpreted as documented
 * for overlayfs, with both the attributes of users (`user.overlay.*`) and of root (`trusted.`):
 *
 *     - a character device 0:0, or an empty file with the attribute `whiteout`: deleted
 *     - a directory with the attribute `opaque` = "y": hides everything below it in the lower layer
 *     - a file or symlink: added or changed; compared with the lower one, as overlayfs also copies
 *       files that were only touched
 *     - `redirect`, `metacopy`: E_FS_VIOLATION; we never mount with them, and following them would
 *       let the box choose the files to read
 *
 * A file in place of a directory deletes its contents, and vice versa. Modes of directories,
 * owners, times and attributes do not count as changes.
 *
 * A second copy of the project (where overlays cannot be mounted) is an upper layer that hides
 * everything: `.opaque_root`. Attributes have no meaning in it. The cost then depends on both
 * trees. Files that match the manifest `same` are known to be equal and are not read. After an
 * apply the upper layer still has all applied files: apply_same() makes such a manifest of them.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHANGE_UPPER_H
#define CHANGE_UPPER_H

#include "change/delta.h"
#include "change/manifest.h"

enum {
    UPPER_ENTRIES_MAX = 2 * 1000 * 1000,
};
#define UPPER_COMPARE_MAX ((uint64_t)16 << 30) /* bytes read for comparison */

struct upper_options {
    bool opaque_root;
    const struct manifest *same; /* files known to be equal in both trees, in this state; or NULL */
    size_t entries_max;          /* 0: UPPER_ENTRIES_MAX */
    uint64_t compare_max;        /* 0: UPPER_COMPARE_MAX */
};

/* The delta must be empty; it is sorted on return. E_IO if a limit is exceeded. */
MUST_USE bool upper_read(int lower_fd, int upper_fd, const struct upper_options *options,
    struct delta *delta, struct err *err);

/* Checks whether the list would be nonempty. Stops at the first change. */
MUST_USE bool upper_any(int lower_fd, int upper_fd, const struct upper_options *options,
    bool *ret_any, struct err *err);

#endif
