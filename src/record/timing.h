/* When output came. The times stand at places that depend on the output alone, so that two runs
 * that print the same differ in nothing but times.
 *
 *     timing_add(&t, bytes_so_far, ms);                  for each read
 *     json_t *output = timing_take(&t, from, to);        {"every": 4, "times": [{"timestamp_ms"}]}
 *     timing_done(&t);
 *
 * Entry i is when byte from + i * every came; it holds for those up to the next one. So a few bytes
 * may seem to come a little early, but what ends a burst, as a prompt does, never late.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_TIMING_H
#define RECORD_TIMING_H

#include "base/json.h"

enum {
    TIMING_READS_MAX = 4096,  /* that are kept; when there are more, neighbours become one */
    TIMING_PLACES_MAX = 1024, /* of one observation */
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

/* A new object about the bytes from..to, or NULL if there are none; begins anew. */
MUST_USE json_t *timing_take(struct timing *t, uint64_t from, uint64_t to);

#endif
