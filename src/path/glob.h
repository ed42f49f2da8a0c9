/* Glob patterns for the files below a root: `*`, `?`, `[a-z]`, `**` for any directories, `{a,b}`.
 * They match whole characters, wildcards match names with a leading dot, and a pattern can't leave
 * the root.
 *
 *     struct glob *g;
 *     if (!glob_compile(STR("src/main.{c,h}"), &arena, &g, err)) ...
 *     if (!glob_find(root_fd, g, &(struct walk_options){.ignore = true}, found, ctx, err)) ...
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_GLOB_H
#define PATH_GLOB_H

#include "base/arena.h"
#include "base/err.h"
#include "path/walk.h"

enum {
    GLOB_LENGTH_MAX = 64 * 1024,
};

struct glob;

/* E_CLI_INVALID_ARG: empty, malformed, too long, too many braces. E_FS_VIOLATION: starts with '/'
 * or '~', or has a ".." component. The pattern need not outlive the call. */
MUST_USE bool glob_compile(
    struct str pattern, struct arena *a, struct glob **ret_glob, struct err *err);

/* Matches a path relative to the root, without a leading "./". */
bool glob_match(const struct glob *g, struct str path);

/* Whether something below this directory could match ("" is the root). */
bool glob_may_match_below(const struct glob *g, struct str dir);

/* Called for each file in byte order of the paths; returning false ends the search,
 * successfully. */
typedef bool (*glob_fn)(void *ctx, struct str path);

/* Finds regular files, and symlinks to regular files that stay below the root. Omits symlinks that
 * leave the root, are dangling or lead to a directory, and everything that a walk keeps closed
 * (path/walk.h). */
MUST_USE bool glob_find(int root_fd, const struct glob *g, const struct walk_options *options,
    glob_fn found, void *ctx, struct err *err);

#endif
