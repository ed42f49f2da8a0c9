/* Records the times of output. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/timing.h"

static void thin_out(struct timing *t)
{
    size_t n = 0;
    for (size_t i = 1; i < t->n; i += 2)
        t->reads[n++] = t->reads[i];
    t->n = n;
}

void timing_add(struct timing *t, uint64_t end, uint64_t ms)
{
    if (t->n && t->reads[t->n - 1].ms == ms) {
        t->reads[t->n - 1].end = end;
        return;
    }
    if (!t->reads)
        t->reads = base_alloc(TIMING_READS_MAX * sizeof(*t->reads));
    if (t->n == TIMING_READS_MAX)
        thin_out(t);
    t->reads[t->n++] = (struct timing_read){end, ms};
}

void timing_done(struct timing *t)
{
    free(t->reads);
    *t = (struct timing){0};
}

json_t *timing_take(struct timing *t, uint64_t from, uint64_t to)
{
    uint64_t n = to - from;
    uint64_t every =
        MAX((n + TIMING_PLACES_MAX - 1) / TIMING_PLACES_MAX, (uint64_t)TIMING_EVERY_MIN);
    size_t read = 0;
    if (n == 0 || t->n == 0)
        return NULL;
    json_t *object = json_object(), *times = json_array();
    for (uint64_t at = from; at < to; at += every) {
        while (read + 1 < t->n && t->reads[read].end <= at)
            read++;
        json_t *entry = json_object();
        json_put(entry, "timestamp_ms", json_integer((json_int_t)t->reads[read].ms));
        json_push(times, entry);
    }
    json_put(object, "every", json_integer((json_int_t)every));
    json_put(object, "times", times);
    t->n = 0;
    return object;
}
