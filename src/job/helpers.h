/* The programs that a command needs besides itself: the interpreters of a script and, for a command
 * whose purpose is to start others or to run code (a shell, make, env, python3), the programs of
 * the developer's machine.
 *
 *     struct helpers h;
 *     helpers_find(&(struct helpers_input){.arena = &arena, .program = program, .cwd = cwd}, &h);
 *     ... h.exec may run; h.read may be read
 *
 * A program of the system that is neither a script nor in the table needs nothing: only its first
 * bytes are read.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JOB_HELPERS_H
#define JOB_HELPERS_H

#include "base/notice.h"
#include "path/script_line.h"
#include "policy/starter.h"

enum {
    HELPERS_MAX = 32,
};

struct helpers_input {
    struct arena *arena;
    struct str program; /* absolute, as program_find() returns it */
    struct str cwd;     /* programs below it belong to the project, not to a toolchain */
    struct notices warnings;
};

struct helpers {
    struct starter_path exec[HELPERS_MAX]; /* the program first */
    size_t n_exec;
    struct starter_path read[HELPERS_MAX];
    size_t n_read;
    bool shell; /* the program is a shell, or a shell script */
    /* It starts other programs, or belongs to a toolchain outside the system's directories: it
     * needs the developer's machine (policy/developer.h). */
    bool developer;
};

void helpers_find(const struct helpers_input *input, struct helpers *ret_helpers);

/* Whether a program of this name, with or without a version ("gcc-12"), is in the table of programs
 * that start others. Pure. */
bool helpers_starts_others(struct str name);

#endif
