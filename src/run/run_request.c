/* Reads requests and converts them to steps of the record. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run_request.h"

#include "run/run_result.h"
#include "run/runner.h"

enum {
    INPUT_SHOWN = 64 * 1024, /* bytes of a refused line that are kept */
};

static const char *const screens[] = {"full", "cells", "delta"}; /* by enum observer_screen */

#define R struct request
static const struct field request_fields[] = {
    FIELD_U32("protocol_version", R, version, "1", .flags = FIELD_REQUIRED, FIELD_RANGE(1, 1)),
    FIELD_JSON("action", R, action_json, "{\"type\", \"payload\"}", .flags = FIELD_REQUIRED),
    FIELD_JSON("request_id", R, request_id, "copied to the answer"),
    FIELD_U64("timeout_ms", R, timeout_ms,
        "timeout of a wait; for other actions: timeout for the first change; copied to "
        "the answer",
        .def = "5000", FIELD_RANGE(1, 24 * 3600 * 1000)),
    FIELD_U64("settle_ms", R, settle_ms, "answer only when nothing has changed for this time",
        .def = "0", FIELD_RANGE(0, 3600 * 1000)),
    FIELD_ENUM("screen", R, screen, screens,
        "full: the lines; cells: also every cell; delta: only the rows that have changed "
        "since the last answer",
        .def = "\"full\""),
};
static const struct shape request_shape =
    SHAPE("driver_input", R, request_fields, "one line of the driver's input");

static bool request_check_version(const json_t *tree, struct err *err)
{
    const json_t *version = json_object_get(tree, "protocol_version");
    if (!json_is_integer(version) || json_integer_value(version) == RUN_PROTOCOL_VERSION)
        return true;
    err_set(err, E_PROTOCOL_VERSION_MISMATCH, "protocol_version %lld is not supported: expected %d",
        (long long)json_integer_value(version), RUN_PROTOCOL_VERSION);
    err_ctx_int(err, "provided_version", (int64_t)json_integer_value(version));
    return err_ctx_int(err, "supported_version", RUN_PROTOCOL_VERSION);
}

bool request_read(
    struct str line, struct arena *arena, struct request *ret_request, struct err *err)
{
    struct request *r = ret_request;
    *r = (struct request){0};
    if (!json_parse(line, "input", E_PROTOCOL, &r->tree, err))
        return false;
    json_t *tree = r->tree, *id = json_object_get(tree, "request_id");
    bool ok = request_check_version(tree, err) &&
              field_read(&request_shape, tree, arena, E_PROTOCOL, r, err);
    /* field_read() has cleared the struct. */
    r->tree = tree;
    r->request_id = id;
    return ok && action_read(r->action_json, "action", arena, &r->action, err);
}

void request_done(struct request *r)
{
    action_done(&r->action);
    json_decref(r->tree);
    r->tree = NULL;
}

/* Steps --------------------------------------------------------------------------------------- */

static void request_put_number(json_t *object, const char *key, uint64_t number)
{
    json_put(object, key, json_integer((json_int_t)number));
}

static json_t *request_step_json(
    const struct request_result *result, const char *name, json_t *action)
{
    json_t *step = json_object();
    bool failed = result->error && result->error->code;
    json_put(step, "step_id", json_sprintf("%zu", result->index + 1));
    json_put(step, "name", json_string(name));
    json_put(step, "status", json_string(failed ? "errored" : "passed"));
    request_put_number(step, "attempts", 1);
    request_put_number(step, "started_at_ms", result->started_ms);
    request_put_number(step, "ended_at_ms", result->ended_ms);
    json_put(step, "action", action);
    json_put(step, "assertions", json_array());
    if (failed)
        json_put(step, "error", err_to_json(result->error));
    return step;
}

json_t *request_step(const struct request *r, const struct request_result *result)
{
    json_t *step =
        request_step_json(result, action_name(r->action.type), json_incref(r->action_json));
    runner_put_sent(step, result->sent);
    if (result->matched_by)
        json_put(step, "matched_by", json_string(result->matched_by));
    request_put_number(step, "timeout_ms", r->timeout_ms);
    request_put_number(step, "settle_ms", r->settle_ms);
    json_put(step, "screen", json_string(screens[r->screen]));
    request_put_number(step, "from_bytes", result->from_bytes);
    if (result->snapshot[0]) {
        json_put(step, "snapshot", json_string(result->snapshot));
        request_put_number(step, "transcript_bytes", result->end_bytes);
    }
    return step;
}

json_t *request_refused(struct str line, const struct request_result *result)
{
    json_t *step = request_step_json(result, "refused", json_null());
    json_put(step, "input", json_text(str_head(line, INPUT_SHOWN)));
    return step;
}

static void request_copy_field(json_t *to, const json_t *from, const char *key)
{
    json_t *value = json_object_get(from, key);
    if (value)
        json_put(to, key, json_incref(value));
}

bool request_line(const json_t *step, struct buf *out)
{
    struct str input = json_str(json_object_get(step, "input"));
    struct str screen = json_str(json_object_get(step, "screen"));
    if (!input.p && !json_is_object(json_object_get(step, "action")))
        return false;
    if (input.p) {
        buf_add_str(out, input);
    } else {
        AUTO_JSON json_t *line = json_object();
        request_put_number(line, "protocol_version", RUN_PROTOCOL_VERSION);
        request_copy_field(line, step, "action");
        request_copy_field(line, step, "timeout_ms");
        request_copy_field(line, step, "settle_ms");
        if (str_is(screen, screens[OBSERVER_CELLS]))
            request_copy_field(line, step, "screen");
        json_add_compact(out, line);
    }
    buf_add_byte(out, '\n');
    return true;
}

json_t *request_schema(void)
{
    return field_schema(&request_shape);
}
