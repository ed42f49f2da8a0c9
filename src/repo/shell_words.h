/* Private to src/repo: files that a command in git's settings runs, parsed as a shell would. Words
 * in program position and scripts of interpreters are files; arguments are where the output of a
 * command is run (cat a | sh), and may be if the program is not known. After an option that is not
 * known, the next word and the one after it are files. After `cd t` a word is tried at the top and
 * in t.
 *
 *     shell_words_each(STR("env A=b sh $PWD/tools/clean.sh %f"), visit, context);    tools/clean.sh
 *
 * Not the parser of tool/cmdline.h, although both read the shell's words. That one decides whether
 * a command line is plain: it stops at anything whose value is known only at run time, and drops
 * it. Here such a command must be followed as far as possible, because a file that is missed is not
 * protected: a variable or substitution at the start of a word is a directory to try, a default in
 * ${X:-a} is read, options of interpreters are known, and a syntax error ends nothing. A file too
 * many does no harm here, and a command too few does there. tests/tool/bash_oracle.py compares both
 * with bash.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_SHELL_WORDS_H
#define REPO_SHELL_WORDS_H

#include "base/str.h"

/* The base directory of a word; several may have to be tried. */
enum word_base {
    WORD_TOP = 1,    /* top of the work tree */
    WORD_GITDIR = 2, /* the git directory */
    WORD_HOME = 4,   /* the user's home directory */
    WORD_ROOT = 8,   /* an absolute path */
};

struct shell_word {
    struct str text;
    unsigned bases;
    bool is_script;   /* of an interpreter; otherwise a program whose name has a slash */
    bool is_bare;     /* it has no slash */
    bool is_argument; /* of a command whose output is run: the word may be anything else */
    bool is_data;     /* an argument of a program that is not known, which may run it */
};

typedef void shell_words_fn(void *context, const struct shell_word *word);

/* Returns false if the line is too deeply nested or too long to find all. */
bool shell_words_each(struct str line, shell_words_fn *visit, void *context);

#endif
