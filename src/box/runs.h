/* The recordings of a box's runs: host/runs/<n>/, where only we write. The newest are kept.
 *
 *     runs_prune(box->host, 0, &removed)     when a run has begun, and by `prune`
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_RUNS_H
#define BOX_RUNS_H

#include "base/err.h"

enum {
    RUNS_KEPT = 10,
    RUNS_LISTED_MAX = 4096, /* at once */
};

/* Their numbers, in order. There need not be any. */
MUST_USE bool runs_list(
    int host_fd, uint64_t numbers[RUNS_LISTED_MAX], size_t *ret_n, struct err *err);

/* Deletes all but the newest, and never the one of this number. What can't be deleted stays, and is
 * not counted. */
void runs_prune(int host_fd, uint64_t current, size_t *ret_removed);

/* How many runs_prune() would delete. */
size_t runs_surplus(int host_fd, uint64_t current);

#endif
