/* Files that often hold secrets or settings: using one deserves a second look. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_WARN_H
#define PATH_WARN_H

#include "base/str.h"

/* Why this path deserves one, or NULL. Judged by the last components, in any case. */
const char *warn_about(struct str path);

#endif
