/* Shared by the parts of the escape probe: how an attempt is named, and how it reports its result.
 * Every line of output is written at once, since the process may be killed at any moment. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROBE_H
#define PROBE_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

struct attempt {
    const char *name;
    int args; /* number of required arguments; more are passed on */
    void (*run)(int argc, char **argv);
};

extern const struct attempt probe_fs[];
extern const struct attempt probe_limit[];
extern const struct attempt probe_dir[];
extern const struct attempt probe_mount[];
extern const struct attempt probe_proc[];
extern const struct attempt probe_priv[];
extern const struct attempt probe_exec[];
extern const struct attempt probe_net[];
extern const struct attempt probe_tty[];

/* "did WHAT": it worked. */
void did(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "got WHAT errno=N NAME": it was refused. */
void got(const char *what);

/* "data BYTES": what was read, with everything unprintable as a dot. */
void data(const void *bytes, size_t n);

/* `did` or `got`, by the result of a system call. Returns whether it worked. */
bool report(const char *what, long result);

/* Prints everything that can be read from the descriptor. */
void read_out(const char *what, int fd);

/* Writes all of the file SRC to the descriptor. */
bool copy_into(const char *src, int fd);

/* A number in any base, also above the signed range. */
unsigned long number(const char *text);

#endif
