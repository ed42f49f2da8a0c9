/* Compares events. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/replay_events.h"

#include "record/refeed.h"
#include "run/observe.h"

enum {
    TEXT_MAX = 1 << 20,
    SHOWN = 200,
};

static bool events_has_type(const json_t *event, const char *const *types)
{
    struct str type = json_str(json_object_get(event, "type"));
    for (; *types; types++)
        if (str_is(type, *types))
            return true;
    return false;
}

static const char *const resizes[] = {"resize", NULL}, *const not_compared[] = {
                                                           "exit", "budget_near", NULL};

json_t *events_of_terminal(const json_t *list)
{
    json_t *out = json_array();
    size_t i;
    json_t *event;
    json_array_foreach((json_t *)list, i,
        event) if (!events_has_type(event, resizes) && !events_has_type(event, not_compared))
        json_push(out, json_incref(event));
    return out;
}

/* Returns the event as it is compared: with the transcript rules applied and without positions. */
static json_t *events_normalize(const struct normalization *n, const json_t *event, struct err *err)
{
    AUTO_BUF struct buf text = BUF_INIT(TEXT_MAX);
    struct str message = json_str(json_object_get(event, "message"));
    json_t *object = json_object(), *details = json_object_get(event, "details");
    json_t *type = json_object_get(event, "type");
    if (message.p && !normalization_text(n, POLICY_TARGET_TRANSCRIPT, message, &text, err)) {
        json_decref(object);
        return NULL;
    }
    if (type)
        json_put(object, "type", json_incref(type));
    if (message.p)
        json_put(object, "message", json_text(buf_str(&text)));
    if (json_is_object(details)) {
        json_put(object, "details", json_copy(details));
        json_object_del(json_object_get(object, "details"), "transcript_bytes");
    }
    return object;
}

static json_t *events_select(
    const struct normalization *n, const json_t *list, bool sizes, struct err *err)
{
    json_t *out = json_array();
    size_t i;
    json_t *event;
    json_array_foreach((json_t *)list, i, event)
    {
        if (events_has_type(event, not_compared) || events_has_type(event, resizes) != sizes)
            continue;
        json_t *object = events_normalize(n, event, err);
        if (!object) {
            json_decref(out);
            return NULL;
        }
        json_push(out, object);
    }
    return out;
}

static void events_describe(const json_t *event, struct buf *out)
{
    if (!event)
        buf_add_z(out, "nothing");
    else
        json_add_compact(out, event);
}

static void events_blame(
    size_t index, const json_t *expected, const json_t *actual, struct mismatch *m)
{
    AUTO_BUF struct buf was = BUF_INIT(TEXT_MAX), is = BUF_INIT(TEXT_MAX);
    events_describe(expected, &was);
    events_describe(actual, &is);
    mismatch_set(m, "events", (int64_t)index,
        "event %zu differs: expected " STR_FMT ", got " STR_FMT, index + 1,
        STR_ARG(str_head(buf_str(&was), SHOWN)), STR_ARG(str_head(buf_str(&is), SHOWN)));
    err_ctx(&m->error, "expected", "%s", buf_z(&was));
    err_ctx(&m->error, "actual", "%s", buf_z(&is));
}

static bool compare_some(const struct normalization *n, const json_t *expected,
    const json_t *actual, bool sizes, struct mismatch *m, struct err *err)
{
    AUTO_JSON json_t *was = events_select(n, expected, sizes, err);
    AUTO_JSON json_t *is = was ? events_select(n, actual, sizes, err) : NULL;
    if (!is)
        return false;
    size_t most = MAX(json_array_size(was), json_array_size(is));
    for (size_t i = 0; i < most && !m->kind; i++) {
        json_t *a = json_array_get(was, i), *b = json_array_get(is, i);
        if (!a || !b || !json_equal(a, b))
            events_blame(i, a, b, m);
    }
    return true;
}

bool events_compare(const struct normalization *n, const json_t *expected, const json_t *actual,
    struct mismatch *m, struct err *err)
{
    return compare_some(n, expected, actual, false, m, err) &&
           (m->kind || compare_some(n, expected, actual, true, m, err));
}

json_t *events_of(const struct timeline *timeline, struct str transcript)
{
    struct observer o;
    json_t *all = json_array();
    bool dropped = false;
    observer_init(&o, NULL);
    struct term *term = refeed_term(timeline, observer_term_event, &o);
    struct refeed r = {.timeline = timeline, .bytes = transcript, .term = term};
    for (size_t i = 0; i < timeline->n; i++) {
        refeed_to(&r, i);
        dropped |= o.dropped > 0;
        json_array_extend(all, o.events);
        json_array_clear(o.events);
    }
    term_free(term);
    observer_done(&o);
    if (dropped)
        json_decrefp(&all);
    return dropped ? NULL : all;
}
