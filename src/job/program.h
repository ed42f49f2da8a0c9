/* Finding the program that a user means. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JOB_PROGRAM_H
#define JOB_PROGRAM_H

#include "base/arena.h"
#include "base/err.h"

/* Its whole path: as it is, from the current directory, or by PATH. */
MUST_USE bool program_find(
    struct arena *a, struct str name, struct str cwd, struct str *ret_path, struct err *err);

#endif
