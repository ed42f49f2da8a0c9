/* Whether a path leads through directories that other users can change, symlinks included: there
 * it could be redirected to any other file.
 *
 *     if (through_dirs(path, &writable, &arena)) ... its target must not be shown ...
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_THROUGH_H
#define PATH_THROUGH_H

#include "base/arena.h"
#include "base/field.h"

/* `path` is absolute, `dirs` are resolved. True if the file, or a symlink on the way to it, is in
 * one of them; also after too many symlinks. */
bool through_dirs(struct str path, const struct str_list *dirs, struct arena *arena);

#endif
