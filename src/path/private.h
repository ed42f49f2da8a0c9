/* Directories private to the user.
 *
 *     if (!private_make(path)) return err_errno(err, E_IO, errno, "cannot make '%s'", path);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_PRIVATE_H
#define PATH_PRIVATE_H

#include "base/base.h"

#include <sys/stat.h>

/* Creates a directory and its missing parents, mode 0700. Returns false and sets errno on
 * failure. */
MUST_USE bool private_make(const char *path);

/* Whether only the user can write to a file or directory. */
bool private_is(const struct stat *st);

#endif
