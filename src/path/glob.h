/* Patterns for the files below a root: `*`, `?`, `[a-z]`, `**` for any directories, `{a,b}`. They
 * compare whole characters, wildcards match names with a leading dot, and no pattern leads out.
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

/* E_CLI_INVALID_ARG: empty, malformed, too long, too many braces. E_FS_VIOLATION: it starts with
 * '/' or '~', or has a ".." component. The pattern may go away. */
MUST_USE bool glob_compile(
    struct str pattern, struct arena *a, struct glob **ret_glob, struct err *err);

/* A path relative to the root, without "./" in front. */
bool glob_match(const struct glob *g, struct str path);

/* Could something below this directory match? ("" is the root.) */
bool glob_may_match_below(const struct glob *g, struct str dir);

/* Gets each file in the order of the bytes; false ends the search, which is then a success. */
typedef bool (*glob_fn)(void *ctx, struct str path);

/* Gives regular files, and links to regular files that stay below the root. Links that leave, lead
 * nowhere or to a directory are left out, and so is what a walk keeps closed (path/walk.h). */
MUST_USE bool glob_find(int root_fd, const struct glob *g, const struct walk_options *options,
    glob_fn found, void *ctx, struct err *err);

#endif
