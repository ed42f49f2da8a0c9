/* Records when output arrived. The positions of the time stamps depend only on the output, so that
 * the records of two runs with the same output differ only in the times.
 *
 *     timing_add(&t, bytes_so_far, ms);                  for each read
 *     json_t *output = timing_take(&t, from, to);        {"every": 4, "times": [{"timestamp_ms"}]}
 *     timing_done(&t);
 *
 * Entry i is the time of byte from + i * every, and applies to all bytes up to the next entry. So a
 * few bytes may seem early, but the end of a burst, such as a prompt, is never late.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_TIMING_H
#define RECORD_TIMING_H

#include "base/json.h"

enum {
    TIMING_READS_MAX = 4096,  /* reads kept; beyond that, neighbours are merged */
    TIMING_PLACES_MAX = 1024, /* entries in one observation */
    TIMING_EVERY_MIN = 4,
};

struct timing {
    struct timing_read {
        uint64_t end, ms;
    } * reads;
    size_t n;
};

void timing_add(struct timing *t, uint64_t end, uint64_t ms);
void timing_done(struct timing *t);

/* Returns a new object for the bytes from..to, or NULL if from == to. Starts over. */
MUST_USE json_t *timing_take(struct timing *t, uint64_t from, uint64_t to);

#endif
