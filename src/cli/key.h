/* A service's key from a command that the user named in the settings: a password manager, a file.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_KEY_H
#define CLI_KEY_H

#include "base/arena.h"
#include "base/err.h"

enum {
    KEY_MAX = 4096,
    KEY_TIMEOUT_MS = 60 * 1000,
};

/* The first line that the command line prints; sh runs it, with the user's terminal and rights.
 * E_CONFIG: it fails, prints nothing, or takes too long; E_CANCELED: cancel_fd can be read. */
MUST_USE bool key_from_command(
    const char *command, int cancel_fd, struct arena *a, struct str *ret_key, struct err *err);

#endif
