/* Locates an agent's program as installed on the host, and the files it needs in the box.
 *
 *     claude -> ~/.npm/bin/claude -> ~/.npm/lib/node_modules/…/cli.js, "#!/usr/bin/env node"
 *     shown: ~/.npm/lib/node_modules, and the files `node` needs
 *
 * Mounted read-only are: the tree of the node package, Python environment, version manager or
 * prefix that contains the file, or else its directory; the same for its interpreter. Never a whole
 * home directory, a directory that a policy must not name, a world-writable directory, or a parent
 * of the project: then only the file.
 *
 * Files that the box can write are not trusted: a symlink or an interpreter's name there could
 * refer to any directory of the user. It may refer only to files that are mounted anyway (otherwise
 * E_FS_VIOLATION).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_INSTALLED_H
#define BOX_INSTALLED_H

#include "base/field.h"

struct installed_input {
    const char *program;      /* a name to look up in PATH, or a path */
    struct str path;          /* PATH; may have no value */
    struct str cwd;           /* base of relative paths: the project */
    struct str home, state;   /* the user's home and $CORDON_HOME; resolved, may have no value */
    struct str_list inside;   /* resolved directories mounted at their own path: the project, … */
    struct str_list system;   /* mounted in every sandbox */
    struct str_list writable; /* resolved directories of the host that the box can write */
};

struct installed {
    struct str path;       /* in the box, NUL-terminated */
    struct str_list shown; /* files and directories to mount */
    struct str_list dirs;  /* directories of the program and its interpreters: for PATH */
};

/* E_NOT_FOUND names the program and the search path; E_FS_VIOLATION as above. */
MUST_USE bool installed_find(const struct installed_input *input, struct arena *arena,
    struct installed *ret_installed, struct err *err);

#endif
