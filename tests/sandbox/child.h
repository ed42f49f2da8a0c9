/* Shared by the parts of the program in the sandbox. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_SANDBOX_CHILD_H
#define TESTS_SANDBOX_CHILD_H

#include <stddef.h>

enum {
    BLOCK = 65536,
};

int fail(const char *what);
long long number(const char *text);
void say(const char *text);
void nap(void);
int report(const char *what, long long done, int errnum);
int put_bytes(const char *block, size_t block_size, long long max);

int do_lines(char **args);
int do_reopen(char **args);
int do_resize(char **args);
int do_namespace(char **args);
int do_without(char **args);

#endif
