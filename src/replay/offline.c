/* Feeds transcripts again. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/offline.h"

#include "record/refeed.h"
#include "replay/replay_events.h"

/* Feeds a new terminal, which the caller frees. */
static struct refeed offline_refeed(
    const struct record_files *files, const struct timeline *timeline)
{
    return (struct refeed){.timeline = timeline,
        .bytes = buf_str(&files->transcript),
        .term = refeed_term(timeline, NULL, NULL)};
}

static bool check_mark(int dir, struct refeed *r, size_t i, const struct normalization *n,
    struct mismatch *m, struct err *err)
{
    const struct compare_place place = {i, &r->timeline->marks[i]};
    AUTO_JSON json_t *expected = NULL;
    if (!source_snapshot(dir, i, &expected, m, err))
        return false;
    if (m->kind)
        return true;
    refeed_to(r, i);
    AUTO_JSON json_t *actual =
        compare_screen_of(r->term, json_object_get(expected, "cells") != NULL);
    return compare_screens(n, &place, expected, actual, m, err);
}

/* Not checked if some events are unknown. */
static bool check_events(const struct record_files *files, const struct timeline *timeline,
    const struct normalization *n, struct mismatch *m, struct err *err)
{
    struct source_events recorded;
    if (!source_events(files->dir, &recorded, err))
        return false;
    AUTO_JSON json_t *all = recorded.list, *was = events_of_terminal(all), *is = NULL;
    if (recorded.known && !recorded.dropped)
        is = events_of(timeline, buf_str(&files->transcript));
    return !is || events_compare(n, was, is, m, err);
}

bool offline_check(const struct record_files *files, const struct timeline *timeline,
    const struct normalization *n, struct mismatch *m, struct err *err)
{
    bool ok = true;
    if (timeline->plain)
        return true;
    struct refeed r = offline_refeed(files, timeline);
    for (size_t i = 0; ok && !m->kind && i < timeline->n; i++)
        ok = check_mark(files->dir, &r, i, n, m, err);
    term_free(r.term);
    return ok && (m->kind || check_events(files, timeline, n, m, err));
}

void offline_explain(struct replay_source *s, struct mismatch *m)
{
    static const struct normalization none = {.strict = true, .source = "none"};
    AUTO_ERR struct err ignored = {0};
    AUTO(timeline_done) struct timeline timeline = TIMELINE_NONE;
    const struct record_files *files = &s->files;
    struct mismatch found = {0}, unread = {0};
    if (m->index < 0 || !replay_source_read(s, &unread, &ignored) || unread.kind ||
        !timeline_read_steps(files->run, files->transcript.n, &timeline, &ignored) ||
        timeline.plain || (size_t)m->index >= timeline.n) {
        mismatch_done(&unread);
        return;
    }
    struct refeed r = offline_refeed(files, &timeline);
    if (check_mark(files->dir, &r, (size_t)m->index, &none, &found, &ignored) && found.kind) {
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
    term_free(r.term);
    mismatch_done(&found);
}
