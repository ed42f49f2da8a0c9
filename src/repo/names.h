/* Private to src/repo: files and directories that settings of git name, and targets of links among
 * the hooks. git runs or reads them, so they are kept as the settings themselves are. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_NAMES_H
#define REPO_NAMES_H

#include "repo/known.h"

/* Whether an absolute path without links can be written inside. */
bool names_in_roots(const struct protect *p, struct str path);

/* A file of settings that is not there can't be mounted read-only: a command can make one. One that
 * is there is the caller's to keep. */
void names_settings(struct protect *p, struct protect_root *r);

/* Names that hold for a git directory. */
void names_place(struct protect *p, struct protect_root *r, const struct known *k);

#endif
