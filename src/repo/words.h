/* Private to src/repo: words of a command in git's settings that may be files.
 *
 *     struct words words = {.line = STR("sh $PWD/tools/clean.sh %f")};
 *     struct word w;
 *     while (words_next(&words, &w)) ... w.text ...     sh, tools/clean.sh, %f
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_WORDS_H
#define REPO_WORDS_H

#include "base/str.h"

/* The directory where a word begins; more than one may have to be tried. */
enum word_base {
    WORD_TOP = 1,    /* of the work tree */
    WORD_GITDIR = 2, /* the git directory */
    WORD_HOME = 4,   /* of the user */
    WORD_ROOT = 8,   /* an absolute path */
};

struct word {
    struct str text;
    unsigned bases;
    bool is_file; /* it looks like a file; else it may be an option, a program, a branch */
};

struct words {
    struct str line;
    size_t at;
    bool begun; /* a word was there */
};

bool words_next(struct words *words, struct word *ret_word);

/* Whether git itself writes a file of this path in a git directory, or may: a command only reads
 * it. */
bool words_is_gits(struct str path);

#endif
