/* Directories of the user's alone.
 *
 *     if (!private_make(path)) return err_errno(err, E_IO, errno, "cannot make '%s'", path);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_PRIVATE_H
#define PATH_PRIVATE_H

#include "base/base.h"

#include <sys/stat.h>

/* Makes a directory and those above it that are missing, mode 0700. False and errno. */
MUST_USE bool private_make(const char *path);

/* Whether only the user can have written a file or directory. */
bool private_is(const struct stat *st);

#endif
