/* Tests of one program that survive a crash of one of them: they run in a child process, and after
 * a crash the next ones run in a new one. The crashed test is reported as
 * "not ok N - NAME # crashed by signal 11".
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_ISOLATE_H
#define TESTS_ISOLATE_H

#include "base/base.h"

/* Shared by both processes. */
struct isolated {
    size_t next; /* index of the first test that has not begun */
    size_t ran;  /* also the one that runs */
    size_t failed;
    char name[512]; /* the test that runs */
    char dir[256];  /* its directory, for the cleanup after a crash; empty: none */
};

/* Calls run(), which continues at `next` and returns when all tests are done; returns the exit
 * status of the program. ISOLATE=no in the environment: without a child process, for a debugger. */
int isolate_run(void (*run)(struct isolated *state), void (*clean)(struct isolated *state));
/* Called before each test. */
void isolate_begin(struct isolated *state, size_t index, const char *name);

#endif
