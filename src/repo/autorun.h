/* Files that take effect without being started (path/selfrun.h), other than those of repositories:
 * `.envrc`, `.vscode`, `.husky`, `.github/workflows`. Looked for by their names at the top of each
 * root and of each repository known before the command, not in the whole tree.
 *
 *     autorun_learn(p);                  before a command: the present ones are the user's
 *     for (size_t i = 0; i < p->autorun->n; i++) ... p->autorun->files[i].kept ...
 *     autorun_check(p);                  after it: finds new ones
 *     autorun_print(p, &text);           names them, each once
 *
 * New ones stay where they are: git makes them as well (checkout, merge), and moving one away would
 * turn the next `git commit -a` into its deletion.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_AUTORUN_H
#define REPO_AUTORUN_H

#include "repo/known.h"

enum {
    AUTORUN_FILES_MAX = 2000,
    AUTORUN_MADE_MAX = 200,
    AUTORUN_LINES_MAX = 64 << 10, /* bytes */
};

struct autorun_file {
    struct str path;        /* absolute */
    struct known_name then; /* as it was before the command */
    struct str kept;        /* the file, or a symlink's target, if it must not change */
};

/* A file that is not the user's, or that a tool is about to write. */
struct autorun_made {
    struct str path;
    bool expected; /* by a tool, with consent: the user's as soon as nothing runs */
};

struct autorun {
    struct arena arena; /* of the files */
    struct autorun_file *files;
    size_t n;
    struct autorun_made made[AUTORUN_MADE_MAX];
    size_t n_made;
    struct buf lines; /* of the last check */
    bool learned, cut;
};

void autorun_learn(struct protect *p);
void autorun_check(struct protect *p);
void autorun_print(const struct protect *p, struct buf *text);
void autorun_free(struct protect *p);

#endif
