/* The same for each of many files, by two threads where that pays.
 *
 *     split_run(n, stage_one, w, err)
 *
 * Each thread has one half, in order, and stops at its first failure; that of the first half wins.
 * What is done for one must not touch what belongs to another.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_SPLIT_H
#define PATH_SPLIT_H

#include "base/err.h"

enum {
    SPLIT_MIN = 64, /* fewer are done by one */
};

typedef bool (*split_fn)(void *context, size_t i, struct err *err);

MUST_USE bool split_run(size_t n, split_fn run, void *context, struct err *err);
/* Where not all take the same time: each thread takes the next few when it is done with its last
 * ones. It is the first failure that counts. */
MUST_USE bool split_share(size_t n, split_fn run, void *context, struct err *err);

#endif
