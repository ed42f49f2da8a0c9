/* Finds the program for a command name. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JOB_PROGRAM_H
#define JOB_PROGRAM_H

#include "base/arena.h"
#include "base/err.h"

/* Returns its absolute path: as given, relative to cwd, or from PATH. */
MUST_USE bool program_find(
    struct arena *a, struct str name, struct str cwd, struct str *ret_path, struct err *err);

#endif
