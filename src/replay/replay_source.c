/* Reads recordings. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/replay_source.h"

#include "path/beneath.h"
#include "record/artifacts.h"

#include <fcntl.h>

enum {
    EVENTS_MAX = 1000 * 1000,
};

bool replay_source_open(const char *path, struct replay_source *ret_source, struct err *err)
{
    AUTO(record_files_close) struct record_files files = RECORD_FILES_NONE;
    if (!record_files_open(path, &files, err))
        return false;
    if (!record_has(files.dir, "run.json") && !record_has(files.dir, "checksums.json"))
        return err_set(err, E_NOT_FOUND,
            "'%s' does not contain a recording: it has no run.json, which is written at the "
            "end of a run",
            path);
    *ret_source = (struct replay_source){
        .files = files,
        .policy = BUF_INIT(2 * (size_t)JSON_SIZE_MAX),
        .scenario = BUF_INIT(2 * (size_t)JSON_SIZE_MAX),
    };
    files = RECORD_FILES_NONE;
    return true;
}

void replay_source_close(struct replay_source *s)
{
    record_files_close(&s->files);
    buf_done(&s->policy);
    buf_done(&s->scenario);
}

/* Contents ------------------------------------------------------------------------------------ */

/* Turns E_NOT_FOUND into a mismatch, which is a valid result. */
static bool or_missing(bool ok, const char *name, struct mismatch *m, struct err *err)
{
    if (ok || err->code != E_NOT_FOUND)
        return ok;
    err_done(err);
    *err = (struct err){0};
    return !mismatch_missing(m, name);
}

static bool source_read_text(const struct replay_source *s, const char *name, struct buf *text,
    struct mismatch *m, struct err *err)
{
    return m->kind ||
           or_missing(record_text(s->files.dir, name, JSON_SIZE_MAX, text, err), name, m, err);
}

bool replay_source_read(struct replay_source *s, struct mismatch *m, struct err *err)
{
    AUTO_JSON json_t *record = NULL;
    struct record_files *r = &s->files;
    if (!or_missing(record_versioned(r->dir, "run.json", "run_result_version", &r->run, err),
            "run.json", m, err))
        return false;
    if (m->kind)
        return true;
    if (!record_check_version(r->run, "run.json", "protocol_version", err))
        return false;
    s->has_scenario = json_object_get(r->run, "scenario") != NULL;
    if (record_has(r->dir, "normalization.json") &&
        !record_versioned(r->dir, "normalization.json", "normalization_version", &record, err))
        return false;
    return or_missing(record_files_read_transcript(r, RECORD_FILES_TRANSCRIPT_MAX, err),
               "transcript.log", m, err) &&
           source_read_text(s, "policy.json", &s->policy, m, err) &&
           (!s->has_scenario || source_read_text(s, "scenario.json", &s->scenario, m, err));
}

bool source_goldens(int dir, const struct scenario *scenario, struct err *err)
{
    struct golden *g;
    char name[64];
    AUTO_FD int inner =
        beneath_open(dir, "goldens", O_RDONLY | O_DIRECTORY, 0, BENEATH_NO_SYMLINKS);
    for (size_t i = 0; (g = scenario_golden(scenario, i)); i++) {
        AUTO_BUF struct buf text = BUF_INIT(2 * GOLDEN_BYTES_MAX);
        snprintf(name, sizeof(name), ARTIFACTS_GOLDEN, i + 1);
        bool there = inner >= 0 && record_has(dir, name);
        if (there && !record_text(dir, name, GOLDEN_BYTES_MAX, &text, err))
            return false;
        golden_set(g, there ? str_z(buf_z(&text)) : (struct str){0});
    }
    return true;
}

bool source_snapshot(
    int dir, size_t index, json_t **ret_snapshot, struct mismatch *m, struct err *err)
{
    char name[64];
    snprintf(name, sizeof(name), "snapshots/%04zu.json", index + 1);
    if (!or_missing(
            record_versioned(dir, name, "snapshot_version", ret_snapshot, err), name, m, err))
        return false;
    if (m->kind)
        m->index = (int64_t)index;
    return true;
}

/* Events -------------------------------------------------------------------------------------- */

static bool replay_source_take_observation(void *context, const json_t *o, struct err *err)
{
    struct source_events *e = context;
    const json_t *list = json_object_get(o, "events");
    size_t i;
    json_t *event;
    e->dropped |= json_object_get(o, "events_dropped") != NULL;
    json_array_foreach(list, i, event)
    {
        e->dropped |= json_array_size(e->list) >= EVENTS_MAX;
        if (e->dropped)
            continue;
        if (!record_count_values(event, "events.jsonl", &e->values, err))
            return false;
        json_push(e->list, json_incref(event));
    }
    return true;
}

bool source_events(int dir, struct source_events *ret_events, struct err *err)
{
    *ret_events = (struct source_events){.list = json_array()};
    ret_events->known = record_has(dir, "events.jsonl");
    if (!ret_events->known ||
        record_lines(dir, "events.jsonl", false, replay_source_take_observation, ret_events, err))
        return true;
    json_decrefp(&ret_events->list);
    return false;
}
