/* Private to src/repo: the directories that git uses when it starts at a place: the git directory
 * that a `.git` file or symlink points to, and the common directory, whose settings and hooks
 * apply.
 *
 *     struct known_lead then = gitdir_target_of(r, place.kind, place.path);
 *     ...a command runs...
 *     if (gitdir_target_changed(&then, &now)) ...treat the place as new...
 *
 * The target of an unchanged `.git` file can change: a directory on its path was replaced, or the
 * git directory got a `commondir`.
 *
 * Not path/gitdir.h, which reads repositories: here the files may be an attack, so nothing that git
 * accepts is an error or leads nowhere (a NUL ends a path, a file may be longer than a path), a
 * symlink and a file are different kinds of places, and the directories are only identified.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_GITDIR_TARGET_H
#define REPO_GITDIR_TARGET_H

#include "repo/known.h"

/* Follows symlinks, as git does. Empty for kinds of places that point nowhere. */
struct known_lead gitdir_target_of(
    const struct protect_root *r, enum scan_kind kind, struct str path);

/* Returns true if the place has a target now, and it differs from the earlier one. */
bool gitdir_target_changed(const struct known_lead *then, const struct known_lead *now);

/* Returns the git directory that a `.git` file names, relative to the root, resolved as by the
 * kernel; no value: it names none in the root, its path has symlinks, or the file has more than one
 * line. */
struct str gitdir_target_of_file(const struct protect_root *r, struct str path, struct arena *a);

/* Returns true if a symlink points to a git directory of the root that the search has found. */
bool gitdir_target_link_is_plain(const struct protect_root *r, struct str path);

#endif
