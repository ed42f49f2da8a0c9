/* Recordings of a box's runs: host/runs/<n>/, written only by us. The newest are kept.
 *
 *     runs_prune(box->host, 0, &removed)     after a run has started, and by `prune`
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_BOX_RUNS_H
#define BOX_BOX_RUNS_H

#include "base/err.h"

enum {
    RUNS_KEPT = 10,
    RUNS_LISTED_MAX = 4096, /* per call */
};

/* Lists their numbers in ascending order; possibly none. */
MUST_USE bool runs_list(
    int host_fd, uint64_t numbers[RUNS_LISTED_MAX], size_t *ret_n, struct err *err);

/* Deletes all but the newest ones, and never `current`. Recordings that cannot be deleted stay and
 * are not counted. */
void runs_prune(int host_fd, uint64_t current, size_t *ret_removed);

/* Number of recordings that runs_prune() would delete. */
size_t runs_surplus(int host_fd, uint64_t current);

#endif
