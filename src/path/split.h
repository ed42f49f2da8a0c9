/* Runs the same function for many files, with two threads if that pays off.
 *
 *     split_run(n, stage_one, w, err)
 *
 * Each thread processes one half, in order, and stops at its first failure; an error of the first
 * half takes precedence. Calls for different files must not share mutable state.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_SPLIT_H
#define PATH_SPLIT_H

#include "base/err.h"

enum {
    SPLIT_MIN = 64, /* fewer are processed by one thread */
};

typedef bool (*split_fn)(void *context, size_t i, struct err *err);

MUST_USE bool split_run(size_t n, split_fn run, void *context, struct err *err);
/* For files of uneven cost: each thread takes the next batch when its last one is done. Reports the
 * first failure. */
MUST_USE bool split_share(size_t n, split_fn run, void *context, struct err *err);

#endif
