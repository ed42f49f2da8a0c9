/* Private to src/repo: files that a command in git's settings runs, parsed as a shell would. Only
 * words in program position, and scripts of interpreters, are files; arguments are not. After an
 * option that is not known, the next word and the one after it are files.
 *
 *     words_each(STR("env A=b sh $PWD/tools/clean.sh %f"), visit, context);    tools/clean.sh
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_WORDS_H
#define REPO_WORDS_H

#include "base/str.h"

/* The base directory of a word; several may have to be tried. */
enum word_base {
    WORD_TOP = 1,    /* top of the work tree */
    WORD_GITDIR = 2, /* the git directory */
    WORD_HOME = 4,   /* the user's home directory */
    WORD_ROOT = 8,   /* an absolute path */
};

struct word {
    struct str text;
    unsigned bases;
    bool is_script; /* of an interpreter; otherwise a program whose name has a slash */
    bool is_bare;   /* it has no slash */
};

typedef void words_fn(void *context, const struct word *word);

void words_each(struct str line, words_fn *visit, void *context);

#endif
