/* The program that a script names in its first line: what the kernel runs in its place. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AUDIT_SCRIPT_H
#define AUDIT_SCRIPT_H

#include "base/arena.h"

enum {
    SCRIPT_LINE_MAX = 256, /* what the kernel looks at */
    SCRIPT_DEPTH_MAX = 5,  /* scripts whose interpreter is a script */
};

struct script_line {
    struct str interpreter; /* as it is written; NUL-terminated */
    struct str argument;    /* all that follows, as one word; no value: none */
};

/* Takes a file's first bytes apart: false if they don't begin a script. Pure. */
bool script_parse(struct str head, struct arena *a, struct script_line *ret_line);

/* The same for a file; false also if it can't be read. */
bool script_read(const char *path, struct arena *a, struct script_line *ret_line);

/* The program that env(1) runs with this argument ("python3", "-S python3 -u"): its name, or no
 * value. Pure. */
struct str script_env_program(struct str argument);

#endif
