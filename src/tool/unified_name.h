/* File names in the headers of diffs: quoted or not, with a date behind them or not. Each takes
 * what stands behind the marker, up to and with the line's end. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_UNIFIED_NAME_H
#define TOOL_UNIFIED_NAME_H

#include "base/arena.h"

enum {
    NAME_TAB_ENDS = 1, /* otherwise a tab belongs to the name */
};

/* Without `strip` leading components; no value: there is none. */
struct str name_read(struct arena *a, struct str line, size_t strip, unsigned ends);
/* The same for a plain diff, where a date may follow. Of the name and the other side's (or no
 * value) the shorter one, if that is only the beginning of this. */
struct str name_read_dated(struct arena *a, struct str line, struct str other, size_t strip);
/* The name that "diff --git a/x b/x" gives twice. */
struct str name_read_twice(struct arena *a, struct str line, size_t strip);

bool name_is_null(struct str line);     /* /dev/null */
bool name_is_at_epoch(struct str line); /* the date says that there was no file */

#endif
