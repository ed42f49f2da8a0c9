/* File names in diff headers: quoted or not, followed by a date or not. The functions take the text
 * after the marker, including the line break. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_UNIFIED_NAME_H
#define TOOL_UNIFIED_NAME_H

#include "base/arena.h"

enum {
    NAME_TAB_ENDS = 1, /* otherwise a tab is part of the name */
};

/* Removes `strip` leading components; returns an unset string if no name is left. */
struct str name_read(struct arena *a, struct str line, size_t strip, unsigned ends);
/* The same for a plain diff, where a date may follow. Returns the other side's name (may be unset)
 * instead if it is a proper prefix of this one. */
struct str name_read_dated(struct arena *a, struct str line, struct str other, size_t strip);
/* Returns the name that "diff --git a/x b/x" contains twice. */
struct str name_read_twice(struct arena *a, struct str line, size_t strip);

bool name_is_null(struct str line);     /* /dev/null */
bool name_is_at_epoch(struct str line); /* the date indicates that the file did not exist */

#endif
