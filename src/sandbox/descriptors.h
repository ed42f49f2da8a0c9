/* The file descriptors of process 1, with fixed numbers. Safe after clone() in a multithreaded
 * process. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_DESCRIPTORS_H
#define SANDBOX_DESCRIPTORS_H

#include "sandbox/init.h"

enum {
    FD_CONTROL = 3,  /* the control socket, once the rest is closed */
    FD_IO = 4,       /* the command's standard streams */
    FD_SERVICE = 7,  /* the service socket, if it serves */
    FD_CONNECTS = 8, /* the socket of sandbox/connector_init.h, if there is one */
    FD_FREE = 9,     /* the first number for anything else */
};

/* Keeps only the descriptors of the input, under the numbers above, and input->open. Returns 0 or
 * an error number: the limit of open files may be too low, or a filter may refuse it. FD_CONTROL is
 * open in any case. */
int descriptors_keep(const struct init_input *input);

/* Copies a descriptor to a number that is at least `from`; returns -1 and errno on failure: EMFILE
 * also if the limit of open files is below that number. */
int descriptors_lift(int fd, int from);

/* Raises our limit of open files to the highest that is allowed, and returns it; 0 and errno on
 * failure. It is also the number of descriptors in flight, of all processes of the user, beyond
 * which the kernel refuses to pass ours on. */
uint64_t descriptors_raise(void);

#endif
