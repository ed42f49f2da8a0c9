/* Results and observations: the JSON of the contract, and accessors for its common parts. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

enum {
    JSON_TEXT_MAX = 1 << 30,
};

/* A tree, and texts generated from it on demand. */
struct result_data {
    json_t *tree;
    char *json, *screen;
};

struct cordon_result {
    struct result_data data;
};

struct cordon_observation {
    struct result_data data;
};

static void result_data_done(struct result_data *v)
{
    json_decref(v->tree);
    free(v->json);
    free(v->screen);
}

static const char *result_data_json(struct result_data *v)
{
    if (!v->json) {
        AUTO_BUF struct buf text = BUF_INIT((size_t)JSON_TEXT_MAX);
        json_add_compact(&text, v->tree);
        v->json = buf_take(&text);
    }
    return v->json;
}

static const char *result_data_screen(struct result_data *v, const json_t *observation)
{
    const json_t *lines = json_object_get(json_object_get(observation, "screen"), "lines");
    if (!v->screen && lines) {
        AUTO_BUF struct buf text = BUF_INIT((size_t)JSON_TEXT_MAX);
        for (size_t i = 0; i < json_array_size(lines); i++) {
            buf_add_str(&text, json_str(json_array_get(lines, i)));
            buf_add_byte(&text, '\n');
        }
        v->screen = buf_take(&text);
    }
    return v->screen;
}

static const char *text_at(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static uint64_t duration_of(const json_t *object)
{
    return (uint64_t)(json_integer_value(json_object_get(object, "ended_at_ms")) -
                      json_integer_value(json_object_get(object, "started_at_ms")));
}

/* Results ------------------------------------------------------------------------------------- */

struct cordon_result *api_result_new(json_t *tree)
{
    struct cordon_result *r = base_alloc(sizeof(*r));
    r->data.tree = tree;
    return r;
}

void cordon_result_free(struct cordon_result *r)
{
    if (r)
        result_data_done(&r->data);
    free(r);
}

const char *cordon_result_json(struct cordon_result *r)
{
    return result_data_json(&r->data);
}

const char *cordon_result_run_id(const struct cordon_result *r)
{
    return text_at(r->data.tree, "run_id");
}

const char *cordon_result_status(const struct cordon_result *r)
{
    return text_at(r->data.tree, "status");
}

uint64_t cordon_result_duration_ms(const struct cordon_result *r)
{
    return duration_of(r->data.tree);
}

const char *cordon_result_error_code(const struct cordon_result *r)
{
    return text_at(json_object_get(r->data.tree, "error"), "code");
}

const char *cordon_result_error_message(const struct cordon_result *r)
{
    return text_at(json_object_get(r->data.tree, "error"), "message");
}

struct cordon_exit cordon_result_exit(const struct cordon_result *r)
{
    const json_t *e = json_object_get(r->data.tree, "exit_status"),
                 *code = json_object_get(e, "exit_code");
    return (struct cordon_exit){
        .code = json_is_integer(code) ? (int)json_integer_value(code) : -1,
        .signal = (int)json_integer_value(json_object_get(e, "signal")),
        .terminated_by_harness = json_is_true(json_object_get(e, "terminated_by_harness")),
    };
}

const char *cordon_result_screen(struct cordon_result *r)
{
    return result_data_screen(&r->data, json_object_get(r->data.tree, "final_observation"));
}

const char *cordon_result_output(const struct cordon_result *r)
{
    return text_at(json_object_get(r->data.tree, "final_observation"), "transcript_delta");
}

/* Steps --------------------------------------------------------------------------------------- */

static const json_t *api_result_step_at(const struct cordon_result *r, size_t index)
{
    return json_array_get(json_object_get(r->data.tree, "steps"), index);
}

size_t cordon_result_steps(const struct cordon_result *r)
{
    return json_array_size(json_object_get(r->data.tree, "steps"));
}

const char *cordon_result_step_id(const struct cordon_result *r, size_t index)
{
    return text_at(api_result_step_at(r, index), "step_id");
}

const char *cordon_result_step_name(const struct cordon_result *r, size_t index)
{
    return text_at(api_result_step_at(r, index), "name");
}

const char *cordon_result_step_status(const struct cordon_result *r, size_t index)
{
    return text_at(api_result_step_at(r, index), "status");
}

uint64_t cordon_result_step_duration_ms(const struct cordon_result *r, size_t index)
{
    return duration_of(api_result_step_at(r, index));
}

const char *cordon_result_step_error_code(const struct cordon_result *r, size_t index)
{
    return text_at(json_object_get(api_result_step_at(r, index), "error"), "code");
}

const char *cordon_result_step_error_message(const struct cordon_result *r, size_t index)
{
    return text_at(json_object_get(api_result_step_at(r, index), "error"), "message");
}

/* Observations -------------------------------------------------------------------------------- */

struct cordon_observation *api_observation_new(json_t *tree)
{
    struct cordon_observation *o = base_alloc(sizeof(*o));
    o->data.tree = tree;
    return o;
}

void cordon_observation_free(struct cordon_observation *o)
{
    if (o)
        result_data_done(&o->data);
    free(o);
}

const char *cordon_observation_json(struct cordon_observation *o)
{
    return result_data_json(&o->data);
}

const char *cordon_observation_screen(struct cordon_observation *o)
{
    return result_data_screen(&o->data, o->data.tree);
}

const char *cordon_observation_output(const struct cordon_observation *o)
{
    return text_at(o->data.tree, "transcript_delta");
}

static int api_result_cursor_at(const struct cordon_observation *o, const char *key)
{
    const json_t *cursor = json_object_get(json_object_get(o->data.tree, "screen"), "cursor"),
                 *value = json_object_get(cursor, key);
    return json_is_integer(value) ? (int)json_integer_value(value) : -1;
}

int cordon_observation_cursor_row(const struct cordon_observation *o)
{
    return api_result_cursor_at(o, "row");
}

int cordon_observation_cursor_col(const struct cordon_observation *o)
{
    return api_result_cursor_at(o, "col");
}

size_t cordon_observation_events(const struct cordon_observation *o)
{
    return json_array_size(json_object_get(o->data.tree, "events"));
}

const char *cordon_observation_event_type(const struct cordon_observation *o, size_t index)
{
    return text_at(json_array_get(json_object_get(o->data.tree, "events"), index), "type");
}
