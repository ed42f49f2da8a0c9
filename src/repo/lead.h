/* Private to src/repo: the directories that git uses if it starts at a place: the git directory
 * that a `.git` file or link leads to, and the common directory, whose settings and hooks apply.
 *
 *     struct known_lead then = lead_of(r, place.kind, place.path);
 *     ...a command runs...
 *     if (lead_moved(&then, &now)) ...the place is as good as new...
 *
 * A `.git` file can stay the same and lead elsewhere: a directory on its way was replaced, or the
 * git directory got a `commondir`.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_LEAD_H
#define REPO_LEAD_H

#include "repo/known.h"

/* Follows symbolic links, as git does. Empty for kinds of places that lead nowhere. */
struct known_lead lead_of(const struct protect_root *r, enum scan_kind kind, struct str path);

/* Whether it leads somewhere now, and not where it led then. */
bool lead_moved(const struct known_lead *then, const struct known_lead *now);

/* The git directory that a `.git` file names, from the root, as the kernel finds it without
 * symbolic links; no value: it names none in the root, or has more than one line. */
struct str lead_pointer(const struct protect_root *r, struct str path, struct arena *a);

/* Whether a symbolic link leads to a git directory of the root that the search has found. */
bool lead_link_is_plain(const struct protect_root *r, struct str path);

#endif
