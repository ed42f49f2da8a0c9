/* Key of a service from a command in the user's settings, such as a password manager. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LLM_KEY_COMMAND_H
#define LLM_KEY_COMMAND_H

#include "base/arena.h"
#include "base/err.h"

enum {
    KEY_COMMAND_MAX = 4096,
    KEY_COMMAND_TIMEOUT_MS = 60 * 1000,
};

struct key_command {
    const char *line; /* for sh */
    int cancel_fd;
    /* In a program that is not ours: without its terminal, standard input and standard error, and
     * without changing attributes of the whole process. */
    bool hosted;
};

/* Returns the first line printed by the command line, which sh runs with the user's terminal and
 * rights. Fails with E_CONFIG if it fails, prints nothing or times out, and with E_CANCELED if
 * cancel_fd becomes readable. */
MUST_USE bool key_command_run(
    const struct key_command *k, struct arena *a, struct str *ret_key, struct err *err);

#endif
