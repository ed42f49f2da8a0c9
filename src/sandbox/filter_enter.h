/* Installs the system call filter in the calling process, with or without a listener.
 *
 *     struct seccomp_options options = {.observe = true, …};
 *     filter_prepare(&options);
 *     if (!filter_enter(&listener, &errnum)) ...
 *
 * Does only what is safe after clone() in a multithreaded process.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_FILTER_ENTER_H
#define SANDBOX_FILTER_ENTER_H

#include "sandbox/seccomp.h"

/* Compiles the filter of this process. */
void filter_prepare(const struct seccomp_options *options);

/* Returns false and errno if there is no filter now. The listener is -1, and an error number is
 * returned, if the options ask for one and the kernel does not allow it: then the filter does not
 * need one. */
MUST_USE bool filter_enter(int *ret_listener, int *ret_errnum);

#endif
