/* Asks git itself what it ignores: the oracle for ignore rules.
 *
 *     if (!git_oracle_init(dir)) ...no git here...
 *     git_oracle_ask(dir, paths, n, ignored);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_GIT_ORACLE_H
#define TESTS_UNIT_GIT_ORACLE_H

#include "base/buf.h"

/* Creates an empty repository, independent of the user's configuration. False: git is not
 * installed. */
bool git_oracle_init(const char *dir);

/* Runs git there with words for the shell, independent of the user's configuration; returns false
 * if it fails. */
bool git_oracle_run(const char *dir, const char *words);

/* `git check-ignore` for paths relative to dir, each ending in NUL in one buffer. */
void git_oracle_ask(const char *dir, struct str paths, size_t n, bool *ignored);

/* The output of `git ls-files` with these options, NUL after each path; for free(). */
char *git_oracle_list(const char *dir, const char *options, size_t *ret_n);

#endif
