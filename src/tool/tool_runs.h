/* Commands that run more than their words show: bash evaluates some words of its builtins a second
 * time, and options of ordinary programs start other programs. Only tables, no I/O.
 *
 *     const char *why = runs_more(command);
 *     if (why) ...a pattern does not cover it...
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_TOOL_RUNS_H
#define TOOL_TOOL_RUNS_H

#include "tool/cmdline.h"

/* Returns why no pattern covers the command, or NULL. Errs on the safe side: a word is treated as
 * an option anywhere, even after "--", and as any name that it may abbreviate. */
const char *runs_more(const struct cmdline_command *command);

/* Whether files in the working directory determine what the command runs: a Makefile, settings of a
 * repository, a script with a relative path. */
bool runs_by_directory(const struct cmdline_command *command);

/* A program that reads commands from its standard input, which the line redirects. */
enum runs_fed {
    RUNS_NOT_FED,
    RUNS_FED_INTERPRETER, /* python3, sqlite3, … */
    RUNS_FED_SHELL,
};
enum runs_fed runs_fed(const struct cmdline_command *command);

/* Parts of runs_more(): git; the scripts of sed and awk. */
const char *runs_git(const struct cmdline_command *command);
const char *runs_sed(const struct cmdline_command *command);
const char *runs_awk(const struct cmdline_command *command);

/* Whether the list, of words separated by blanks, contains the word. */
bool runs_listed(const char *list, struct str word);

/* Whether a word is an option with one of the letters, in any cluster, or an abbreviation of one of
 * the long names, with or without "=VALUE". Either may be NULL. */
bool runs_option(struct str word, const char *letters, const char *names);

#endif
