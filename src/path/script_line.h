/* The interpreter named in a script's first line, which the kernel runs in its place. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_SCRIPT_LINE_H
#define PATH_SCRIPT_LINE_H

#include "base/arena.h"

enum {
    SCRIPT_LINE_MAX = 256, /* bytes that the kernel examines */
    SCRIPT_DEPTH_MAX = 5,  /* nesting of scripts whose interpreter is a script */
};

struct script_line {
    struct str interpreter; /* as written; NUL-terminated, unless split */
    struct str argument;    /* the rest of the line as one word; no value: none */
};

/* Splits the first bytes of a file, of which the result is a part, without NUL. Returns false if it
 * is not a script. Pure. */
bool script_split(struct str head, struct script_line *ret_line);

/* The same, in the arena. */
bool script_parse(struct str head, struct arena *a, struct script_line *ret_line);

/* The same for a file. Also returns false if it can't be read. */
bool script_read(const char *path, struct arena *a, struct script_line *ret_line);

/* Returns the name of the program that env(1) runs with this argument ("python3", "-S python3 -u"),
 * or no value. Pure. */
struct str script_env_program(struct str argument);

#endif
