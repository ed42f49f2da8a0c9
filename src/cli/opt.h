/* Parsing a command line by its tables. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_OPT_H
#define CLI_OPT_H

#include "cli/cmd.h"

struct parsed {
    const struct cmd *cmd; /* the deepest command named */
    struct global_options global;
    struct args args;
};

/* Parses the words after the program's name. Fails only with E_CLI_INVALID_ARG, naming the wrong
 * word and the closest match; ret_parsed->cmd and .global then contain what was parsed so far. */
MUST_USE bool opt_parse(const char *const *words, size_t n, struct arena *a,
    struct parsed *ret_parsed, struct err *err);

/* Whether --json or --verbose is among the words, even if they cannot be parsed, so that a usage
 * error can be JSON, or have its code. */
bool opt_wants_json(const char *const *words, size_t n);
bool opt_wants_verbose(const char *const *words, size_t n);

#endif
