/* Files that often contain secrets or settings: using one deserves a warning. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_WARN_H
#define PATH_WARN_H

#include "base/str.h"

/* The reason for a warning about this path, or NULL. Decided by the last component, ignoring
 * case. */
const char *warn_about(struct str path);

#endif
