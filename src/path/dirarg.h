/* A directory argument: a path with suffixes, as in `./app:rw:force`.
 *
 *     struct dirarg dir;
 *     if (!dirarg_parse(STR("./app:copy"), cwd, arena, &dir, err)) ...
 *
 * Suffixes are parsed from the right, in any order, as long as they are known; repeats are allowed,
 * two different modes are an error. Anything else stays part of the path. An empty path is the
 * current directory. Existence is not checked: that is left to the user of the directory.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_DIRARG_H
#define PATH_DIRARG_H

#include "base/arena.h"
#include "base/err.h"

enum dirarg_mode {
    DIRARG_DEFAULT, /* none was given: the caller decides */
    DIRARG_COPY,
    DIRARG_OVERLAY,
    DIRARG_RW,
};

struct dirarg {
    struct str path; /* absolute, cleaned lexically, NUL-terminated */
    enum dirarg_mode mode;
    bool force;
};

MUST_USE bool dirarg_parse(
    struct str arg, struct str cwd, struct arena *a, struct dirarg *ret_dir, struct err *err);

/* "", "copy", "overlay" or "rw". */
const char *dirarg_mode_name(enum dirarg_mode mode);

#endif
