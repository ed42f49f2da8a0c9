/* The user's home directory. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_HOME_H
#define PATH_HOME_H

#include "base/arena.h"

/* $HOME if it is absolute, otherwise what the system has for the user; NULL: none. */
const char *home_dir(struct arena *a);

#endif
