/* The safe part of the user's git settings, for commands that do not see the rest: name and e-mail
 * address, the default branch, aliases that are not shell commands.
 *
 *     struct str text = identity_read("/home/me", NULL, &arena);     a git configuration file
 *
 * Read without git from ~/.gitconfig and git/config in the configuration directory, with the files
 * that they include unconditionally. A file that git would refuse, or that is too large, is left
 * out.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_IDENTITY_H
#define REPO_IDENTITY_H

#include "base/arena.h"
#include "base/str.h"

/* `config`: $XDG_CONFIG_HOME; NULL: ~/.config. Returns an empty text if there is nothing to pass
 * on. */
struct str identity_read(const char *home, const char *config, struct arena *arena);

#endif
