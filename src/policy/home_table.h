/* The home directory as the developer's machine shows it, as two tables: entries that are shown,
 * and files in them that stay hidden because they hold passwords, tokens or private keys.
 *
 *     const struct home_row *rows;
 *     for (size_t i = 0, n = home_table_hidden(&rows); i < n; i++)
 *         ... rows[i].path below the home directory ...
 *
 * policy/narrow.h applies them.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef POLICY_HOME_TABLE_H
#define POLICY_HOME_TABLE_H

#include "base/str.h"

struct home_row {
    /* Relative to the home directory. Of hidden ones a pattern: "*" stands for any bytes within one
     * component. */
    const char *path;
    const char *reason;    /* "shims and programs"; of hidden ones "npm's tokens" */
    const char *only_with; /* hidden only if this exists below it; NULL: always */
    bool has_password;     /* hidden only if that file has a URL with a user or a password */
};

size_t home_table_shown(const struct home_row **ret_rows);
/* Rows with the same first component are adjacent. */
size_t home_table_hidden(const struct home_row **ret_rows);

/* Names that are hidden in every directory of the home directory that is shown, not below it. */
size_t home_table_names(const char *const **ret_names);

/* Whether a text contains a URL of HTTP with a user or a password. Pure. */
bool home_table_has_password(struct str text);

#endif
