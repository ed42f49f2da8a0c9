/* Private to src/repo: programs that run others or read scripts, as far as commands of git's
 * settings need them.
 *
 *     const struct shell_program *p = shell_programs_find(STR("/usr/bin/python3.11"));    python
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_SHELL_PROGRAMS_H
#define REPO_SHELL_PROGRAMS_H

#include "base/str.h"

/* The role of the next word. */
enum shell_words_role {
    PROGRAM,
    WRAPPED,  /* options of env, sudo, …, then a program */
    SHELL,    /* options of a shell, then its script */
    SCRIPT,   /* options of another interpreter, then its script */
    CODE,     /* commands */
    PASSED,   /* arguments of commands that run them: sh -c 'exec "$0"' */
    READER,   /* options of a program that reads its script from the file of one of them */
    FINDER,   /* a program runs after -exec */
    MOVER,    /* options of cd, then a directory */
    MODULE,   /* of Python: a.b is the file a/b.py */
    DATA,     /* an argument of a program that is not known */
    ARGUMENT, /* anything else */
};

/* Programs, by name, and letters of their options. After an option that is in none of the lists the
 * next word may be its value, or the program: both count as programs. */
struct shell_program {
    enum shell_words_role next;
    const char *names;
    const char *values; /* the next word is a value, and not a file that runs */
    const char *flags;  /* without a value; NULL: all others */
    const char *code;   /* the next word is a program itself; of a READER: the file with it */
    bool operand;       /* a word that is not run comes before the program */
};

/* Returns NULL for any other program. */
const struct shell_program *shell_programs_find(struct str text);

/* Returns true for programs that run none of their arguments. */
bool shell_programs_only_reads(struct str text);

/* Returns the program that a variable is named after: $SHELL, $PYTHON. NULL: any other. */
const struct shell_program *shell_programs_of_variable(struct str name);

/* Returns the program that commands find, such as `command -v sh`. NULL: other commands. */
const struct shell_program *shell_programs_of_search(struct str commands);

/* Returns true for names that a shell does not look for in PATH. */
bool shell_programs_is_builtin(struct str name);

/* Returns true for -exec and others of find. */
bool shell_programs_is_exec(struct str option);

#endif
