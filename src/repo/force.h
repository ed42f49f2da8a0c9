/* Opens directories whose mode a hostile tree has set to deny their owner access.
 *
 *     AUTO_FD int fd = force_open(dir, "hooks", true);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_FORCE_H
#define REPO_FORCE_H

#include "base/base.h"

/* Opens a directory below another one; refuses symlinks. If only its mode prevents that and it is
 * ours, first grants the owner all permissions, if `force` is set. Returns -1 and sets errno on
 * failure. */
MUST_USE int force_open(int dir, const char *path, bool force);

/* Grants the owner all permissions if this is a directory and ours: only such a directory can be
 * moved. */
void force_mode(int dir, const char *name);

#endif
