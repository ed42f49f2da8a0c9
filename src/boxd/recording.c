/* Records the output of a box's agent on disk. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "boxd/recording.h"

#include "base/clock.h"
#include "box/box_runs.h"
#include "run/run_result.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum {
    HELD_MAX = 2 * MASK_KEY_MAX,
    PIECE_MAX = 4 << 20,
    NUMBER_TEXT = 24,
};

/* Values of the agent's key variables in the caller's environment. */
static void find_keys(const struct recording_input *in, struct mask *mask)
{
    const struct str_list *names = &in->box->agent->keys;
    for (size_t i = 0; i < names->n; i++)
        for (const char *const *e = in->environ; e && *e; e++) {
            struct str one = str_z(*e);
            if (str_starts_with(one, names->p[i]) && one.n > names->p[i].n &&
                one.p[names->p[i].n] == '=')
                mask_add(mask, str_skip(one, names->p[i].n + 1));
        }
}

static bool recording_open_next(struct recording *r, int runs, uint64_t after, struct err *err)
{
    char name[NUMBER_TEXT];
    struct stat st;
    for (uint64_t n = after + 1; n < after + RECORDING_MISS_MAX; n++) {
        snprintf(name, sizeof(name), "%llu", (unsigned long long)n);
        if (fstatat(runs, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
            continue;
        r->number = n;
        return artifacts_open_below(runs, name, true, &r->artifacts, err) ||
               err_wrap(err, "cannot record the agent's screen");
    }
    return err_set(err, E_IO, "no free number for a recording in host/runs");
}

/* An unused number may belong to a recording that was pruned, so continue after the newest. */
static uint64_t recording_newest(int host_fd)
{
    AUTO_ERR struct err ignored = {0};
    AUTO_FREE uint64_t *numbers = base_alloc(RUNS_LISTED_MAX * sizeof(*numbers));
    size_t n;
    return runs_list(host_fd, numbers, &n, &ignored) && n ? numbers[n - 1] : 0;
}

bool recording_open(struct recording *r, const struct recording_input *in, struct err *err)
{
    *r = (struct recording){.artifacts = ARTIFACTS_NONE,
        .held = BUF_INIT(HELD_MAX),
        .rows = in->rows,
        .cols = in->cols};
    if (mkdirat(in->box->host, "runs", 0700) != 0 && errno != EEXIST)
        return err_errno(err, E_IO, errno, "cannot create 'runs' of the box");
    AUTO_FD int runs =
        openat(in->box->host, "runs", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (runs < 0)
        return err_errno(err, E_IO, errno, "cannot open 'runs' of the box");
    if (!recording_open_next(r, runs, MAX(in->after, recording_newest(in->box->host)), err))
        return false;
    size_t removed;
    runs_prune(in->box->host, r->number, &removed);
    find_keys(in, &r->mask);
    observer_init(&r->observer, NULL);
    r->observer.artifacts = &r->artifacts;
    if (r->mask.n)
        r->shown = term_new(&(struct term_options){.rows = in->rows, .cols = in->cols});
    r->looked_ms = clock_mono_ms();
    r->open = true;
    return true;
}

/* Output -------------------------------------------------------------------------------------- */

static void recording_write(struct recording *r, struct str bytes)
{
    if (r->shown) {
        term_feed(r->shown, bytes);
        term_drop_replies(r->shown, term_replies(r->shown).n);
    }
    observer_output(&r->observer, bytes);
    r->full = r->observer.bytes >= RECORDING_BYTES_MAX || r->looks >= RECORDING_LOOKS_MAX;
    if (r->full)
        r->observer.artifacts = NULL;
}

/* Holds back the start of a key until the rest arrives. */
static void recording_write_masked(struct recording *r, struct str bytes)
{
    AUTO_BUF struct buf whole = BUF_INIT(PIECE_MAX), clean = BUF_INIT(2 * PIECE_MAX);
    buf_add_str(&whole, buf_str(&r->held));
    buf_add_str(&whole, bytes);
    size_t left = mask_add_part(&r->mask, buf_str(&whole), &clean);
    buf_reset(&r->held);
    buf_add_str(&r->held, str_skip(buf_str(&whole), whole.n - left));
    recording_write(r, buf_str(&clean));
}

void recording_output(void *context, struct str bytes)
{
    struct recording *r = context;
    r->printed_ms = clock_mono_ms();
    if (!r->open || r->full)
        return;
    if (r->mask.n)
        recording_write_masked(r, bytes);
    else
        recording_write(r, bytes);
}

void recording_event(void *context, const struct session_event *event)
{
    struct recording *r = context;
    r->rang |= event->type == SESSION_EVENT_TERM && event->term == TERM_EVENT_BELL;
    if (!r->open)
        return;
    if (event->type == SESSION_EVENT_RESIZE && r->shown)
        term_resize(r->shown, event->value >> 16, event->value & 0xFFFF);
    /* Skip terminal events: a title may contain a key; the transcript has it, masked. */
    if (event->type != SESSION_EVENT_TERM)
        observer_event(&r->observer, event);
}

/* Observations -------------------------------------------------------------------------------- */

uint64_t recording_due(const struct recording *r)
{
    if (!r->open || r->full || r->observer.bytes == r->looked_bytes)
        return UINT64_MAX;
    return MIN(r->printed_ms + RECORDING_QUIET_MS, r->looked_ms + RECORDING_LOOK_MS);
}

static const struct term *recording_screen(const struct recording *r)
{
    return r->shown ? r->shown : session_term(r->from);
}

/* On the screen a key is contiguous even if printed between escape sequences: mask again. */
static json_t *recording_observe(struct recording *r)
{
    AUTO_JSON json_t *seen = observer_take(&r->observer, recording_screen(r), OBSERVER_FULL);
    json_t *observation = r->mask.n ? mask_tree(&r->mask, seen) : json_incref(seen);
    observer_record(&r->observer, observation, NULL);
    r->looked_bytes = r->observer.bytes;
    r->looks++;
    return observation;
}

void recording_look(struct recording *r, uint64_t now)
{
    if (now < recording_due(r))
        return;
    r->looked_ms = now;
    json_decref(recording_observe(r));
}

/* End ----------------------------------------------------------------------------------------- */

static void flush_held(struct recording *r)
{
    AUTO_BUF struct buf clean = BUF_INIT(2 * PIECE_MAX);
    mask_add_text(&r->mask, buf_str(&r->held), &clean);
    buf_reset(&r->held);
    if (clean.n && !r->full)
        recording_write(r, buf_str(&clean));
}

static bool recording_write_last(
    struct recording *r, const struct recording_end *end, json_t *observation)
{
    AUTO_ERR struct err err = {0};
    char name[ARTIFACTS_NAME];
    struct exec_result result = {
        .status = end->error->code       ? EXEC_ERRORED
                  : end->exit->code == 0 ? EXEC_PASSED
                  : end->stopped         ? EXEC_CANCELED
                                         : EXEC_FAILED,
        .exit = *end->exit,
        .started_ms = end->started_ms,
        .ended_ms = clock_mono_ms(),
        .output_bytes = r->observer.bytes,
    };
    if (end->error->code)
        err_copy(&result.error, end->error);
    AUTO_JSON json_t *run = result_json(&(struct result_input){
        .mode = "box",
        .run_id = r->observer.run_id,
        .confined = &end->view->confined,
        .argv = end->argv,
        .result = &result,
        .rows = r->rows,
        .cols = r->cols,
        .observation = observation,
    });
    AUTO_JSON json_t *clean = mask_tree(&r->mask, run);
    AUTO_JSON json_t *policy = policy_to_json(&end->view->confined.policy);
    AUTO_JSON json_t *clean_policy = mask_tree(&r->mask, policy);
    err_done(&result.error);
    struct artifacts *a = &r->artifacts;
    bool whole = artifacts_snapshot(a, json_object_get(observation, "screen"), name, &err);
    whole = artifacts_settle(a, &err) && whole;
    return artifacts_put_json(a, "policy.json", clean_policy, &err) &&
           artifacts_put_json(a, "run.json", clean, &err) && artifacts_seal(a, &err) && whole;
}

void recording_end(struct recording *r, const struct recording_end *end)
{
    if (!r->open)
        return;
    flush_held(r);
    r->observer.artifacts = &r->artifacts;
    AUTO_JSON json_t *observation = recording_observe(r);
    (void)!recording_write_last(r, end, observation);
    r->open = false;
}

void recording_abandon(struct recording *r, int host_fd)
{
    char name[NUMBER_TEXT + 8];
    if (!r->open)
        return;
    r->open = false;
    snprintf(name, sizeof(name), "runs/%llu", (unsigned long long)r->number);
    unlinkat(r->artifacts.dir, "transcript.log", 0);
    unlinkat(r->artifacts.dir, "events.jsonl", 0);
    unlinkat(host_fd, name, AT_REMOVEDIR);
}
