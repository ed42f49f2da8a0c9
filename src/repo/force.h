/* Directories that a hostile tree has closed to its owner, opened again.
 *
 *     AUTO_FD int fd = force_open(dir, "hooks", true);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_FORCE_H
#define REPO_FORCE_H

#include "base/base.h"

/* Opens a directory below another one, links refused. If only its mode is against that and it is
 * ours, the owner gets all rights first; `force` says whether that may be done. -1 and errno. */
MUST_USE int force_open(int dir, const char *path, bool force);

/* Gives the owner all rights of a directory, if it is one and ours: only such can be moved. */
void force_mode(int dir, const char *name);

#endif
