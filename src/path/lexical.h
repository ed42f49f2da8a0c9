/* Lexical path operations: joining, cleaning, "is below". For names that are shown or compared; the
 * kernel decides whether a path may be opened (path/boundary.h). */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_LEXICAL_H
#define PATH_LEXICAL_H

#include "base/arena.h"
#include "base/err.h"

enum {
    LEXICAL_MAX = 64 * 1024, /* longest path that is processed, in bytes */
};

/* Whether path is dir or below it, by whole components; both absolute and clean. */
bool lexical_is_below(struct str dir, struct str path);

/* The part of path below dir ("" for dir itself); path must be below it. */
struct str lexical_rest(struct str dir, struct str path);

/* base/path, or path alone if it is absolute; removes "." and empty components, and resolves ".."
 * lexically. The base must be absolute. */
MUST_USE struct str lexical_absolute(struct arena *a, struct str base, struct str path);

/* Next component of a path: skips slashes; false at the end. */
bool lexical_next(struct str *rest, struct str *ret_component);

/* Whether ".." is among the components: resolved lexically, it may name something else. */
bool lexical_has_dots(struct str path);

/* The last component ("" for "/" and ""). */
struct str lexical_name(struct str path);

/* The current directory, absolute and without symlinks. */
MUST_USE bool lexical_cwd(struct arena *a, struct str *ret_cwd, struct err *err);

#endif
