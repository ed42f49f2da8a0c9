/* The user's home directory. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_HOME_H
#define PATH_HOME_H

#include "base/arena.h"

/* $HOME if it is absolute, otherwise the user's entry in passwd; NULL: none. */
const char *home_dir(struct arena *a);

/* The home directory of a user in passwd, without a name the current one; NULL: none. */
const char *home_of(struct arena *a, const char *user);

#endif
