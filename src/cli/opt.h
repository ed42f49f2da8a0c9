/* Parsing a command line by its tables. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_OPT_H
#define CLI_OPT_H

#include "cli/cmd.h"

struct parsed {
    const struct cmd *cmd; /* the deepest command that was named */
    struct global_options global;
    struct args args;
};

/* Words after the program's name. Everything is E_CLI_INVALID_ARG: it names the wrong word and
 * the nearest right one; ret_parsed->cmd and .global hold what was understood, also then. */
MUST_USE bool opt_parse(const char *const *words, size_t n, struct arena *a,
    struct parsed *ret_parsed, struct err *err);

/* Whether --json stands among the words: asked before parsing, so that a usage error can be JSON.
 */
bool opt_wants_json(const char *const *words, size_t n);

#endif
