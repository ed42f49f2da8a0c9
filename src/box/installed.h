/* An agent's program as it is installed on the host, and what must be shown so that it runs.
 *
 *     claude -> ~/.npm/bin/claude -> ~/.npm/lib/node_modules/…/cli.js, "#!/usr/bin/env node"
 *     shown: ~/.npm/lib/node_modules, and what `node` needs
 *
 * Shown are, read-only: the tree of the node package, Python environment, version manager or prefix
 * that the file lies in, or else its directory; the same for its interpreter. Never all of a home
 * directory, a directory that no policy may name, one that anybody may write to, or what holds the
 * project: then only the file.
 *
 * What lies where the box may write says nothing that is believed: a link or an interpreter's name
 * there could lead to any directory of the user's. It may lead to what is shown anyway, and no
 * further (E_FS_VIOLATION).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_INSTALLED_H
#define BOX_INSTALLED_H

#include "base/field.h"

struct installed_input {
    const char *program;    /* a name for PATH, or a path */
    struct str path;        /* PATH; may have no value */
    struct str cwd;         /* what a relative path begins at: the project */
    struct str home, state; /* the user's home and ours; resolved, may have no value */
    struct str_list inside; /* resolved directories that are shown as they are: the project, … */
    struct str_list system; /* those of every sandbox */
    struct str_list writable; /* resolved directories of the host that the box may write to */
};

struct installed {
    struct str path;       /* inside, NUL-terminated */
    struct str_list shown; /* files and directories, as they were found */
    struct str_list dirs;  /* where it and its interpreters were found: for PATH */
};

/* E_NOT_FOUND with what was looked for and where; E_FS_VIOLATION. */
MUST_USE bool installed_find(const struct installed_input *input, struct arena *arena,
    struct installed *ret_installed, struct err *err);

#endif
