/* Feeds transcripts again. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/offline.h"

#include "replay/events.h"

static bool check_point(const struct source *s, struct refeed *r, size_t i,
    const struct normalization *n, struct mismatch *m, struct err *err)
{
    const struct compare_place place = {i, &r->points->p[i]};
    AUTO_JSON json_t *expected = NULL;
    if (!source_snapshot(s, i, &expected, m, err))
        return false;
    if (m->kind)
        return true;
    AUTO_JSON json_t *actual = refeed_screen(r, i, json_object_get(expected, "cells") != NULL);
    return compare_screens(n, &place, expected, actual, m, err);
}

/* Not checked if some events are unknown. */
static bool check_events(const struct source *s, const struct points *points,
    const struct normalization *n, struct mismatch *m, struct err *err)
{
    struct source_events recorded;
    if (!source_events(s, &recorded, err))
        return false;
    AUTO_JSON json_t *all = recorded.list, *was = events_of_terminal(all), *is = NULL;
    if (recorded.known && !recorded.dropped)
        is = events_of(points, buf_str(&s->transcript));
    return !is || events_compare(n, was, is, m, err);
}

bool offline_check(const struct source *s, const struct points *points,
    const struct normalization *n, struct mismatch *m, struct err *err)
{
    struct refeed r = {0};
    bool ok = true;
    if (!points->screen)
        return true;
    refeed_init(&r, points, buf_str(&s->transcript));
    for (size_t i = 0; ok && !m->kind && i < points->n; i++)
        ok = check_point(s, &r, i, n, m, err);
    refeed_done(&r);
    return ok && (m->kind || check_events(s, points, n, m, err));
}

void offline_explain(struct source *s, struct mismatch *m)
{
    static const struct normalization none = {.strict = true, .source = "none"};
    AUTO_ARENA struct arena arena = ARENA_INIT(64 << 20);
    AUTO_ERR struct err ignored = {0};
    struct mismatch found = {0}, unread = {0};
    struct points points;
    struct refeed r = {0};
    if (m->index < 0 || !source_read(s, &unread, &ignored) || unread.kind ||
        !points_read(s->run, s->transcript.n, &arena, &points, &ignored) || !points.screen ||
        (size_t)m->index >= points.n) {
        mismatch_done(&unread);
        return;
    }
    refeed_init(&r, &points, buf_str(&s->transcript));
    if (check_point(s, &r, (size_t)m->index, &none, &found, &ignored) && found.kind) {
        static const char *const keys[] = {"step_id", "step", "row", "snapshot", "field"};
        for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
            const struct err_pair *pair = err_ctx_get(&found.error, keys[i]);
            if (pair && pair->text)
                err_ctx(&m->error, keys[i], "%s", pair->text);
            else if (pair)
                err_ctx_int(&m->error, keys[i], pair->number);
        }
        err_ctx(&m->error, "difference", "%s", found.error.message);
        m->rows = found.rows ? json_incref(found.rows) : NULL;
    }
    refeed_done(&r);
    mismatch_done(&found);
}
