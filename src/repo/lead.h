/* Private to src/repo: the directories that git uses when it starts at a place: the git directory
 * that a `.git` file or symlink points to, and the common directory, whose settings and hooks
 * apply.
 *
 *     struct known_lead then = lead_of(r, place.kind, place.path);
 *     ...a command runs...
 *     if (lead_moved(&then, &now)) ...treat the place as new...
 *
 * The target of an unchanged `.git` file can change: a directory on its path was replaced, or the
 * git directory got a `commondir`.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_LEAD_H
#define REPO_LEAD_H

#include "repo/known.h"

/* Follows symlinks, as git does. Empty for kinds of places that point nowhere. */
struct known_lead lead_of(const struct protect_root *r, enum scan_kind kind, struct str path);

/* Returns true if the place has a target now, and it differs from the earlier one. */
bool lead_moved(const struct known_lead *then, const struct known_lead *now);

/* Returns the git directory that a `.git` file names, relative to the root, resolved as by the
 * kernel; no value: it names none in the root, its path has symlinks, or the file has more than one
 * line. */
struct str lead_pointer(const struct protect_root *r, struct str path, struct arena *a);

/* Returns the path in a `.git` or `commondir` file after the prefix, as git reads it: up to the
 * first NUL, without trailing line breaks. */
struct str lead_line(const struct buf *text, struct str prefix);

/* Returns true if a symlink points to a git directory of the root that the search has found. */
bool lead_link_is_plain(const struct protect_root *r, struct str path);

#endif
