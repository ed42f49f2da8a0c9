/* Rendering a turn of a script. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/script_render.h"

#include "base/grow.h"

void script_render_init(struct script_render *p)
{
    *p = (struct script_render){
        .status = 200, .headers = BUF_INIT(256 * 1024), .body = BUF_INIT(SCRIPT_RENDER_BODY_MAX)};
}

void script_render_done(struct script_render *p)
{
    buf_done(&p->headers);
    buf_done(&p->body);
    free(p->marks);
    p->marks = NULL;
}

/* Events -------------------------------------------------------------------------------------- */

static void script_render_add_mark(struct script_render *p, uint64_t delay_ms)
{
    GROW(p->marks, p->n_marks, p->cap_marks, GROW_MAX);
    p->marks[p->n_marks++] = (struct script_render_mark){p->body.n, delay_ms};
}

static void script_render_end_line(struct script_render *p)
{
    static const char *const ends[SCRIPT_LINE_ENDS] = {"\n", "\r\n", "\r"};
    buf_add_z(&p->body, ends[p->turn->line_end]);
}

void script_render_event_text(struct script_render *p, const char *name, struct str data)
{
    if (p->turn->comments) {
        buf_add_z(&p->body, ": still here");
        script_render_end_line(p);
        script_render_end_line(p);
    }
    if (name) {
        buf_printf(&p->body, "event: %s", name);
        script_render_end_line(p);
    }
    buf_add_z(&p->body, "data: ");
    buf_add_str(&p->body, data);
    script_render_end_line(p);
    script_render_end_line(p);
    script_render_add_mark(p, 0);
}

void script_render_event(struct script_render *p, const char *name, json_t *data)
{
    AUTO_BUF struct buf text = BUF_INIT(2 * (size_t)SCRIPT_TEXT_MAX);
    BUG_ON(!data);
    json_add_compact(&text, data);
    json_decref(data);
    script_render_event_text(p, name, buf_str(&text));
}

/* Faults -------------------------------------------------------------------------------------- */

static void add_garbage(struct script_render *p)
{
    uint32_t x = 12345;
    for (size_t i = 0; i < 4096; i++) {
        x = x * 1664525 + 1013904223;
        buf_add_byte(&p->body, (char)(x >> 24));
    }
    script_render_end_line(p);
    script_render_end_line(p);
    script_render_event_text(p, NULL, STR("}{ this is not JSON"));
}

/* Adds the fault to the stream; true: the stream continues after it. */
static bool do_fault(struct script_render *p, const struct script_dialect *dialect)
{
    switch (p->turn->fault) {
    case FAULT_DROP:
        p->end = SCRIPT_RENDER_RESET;
        return false;
    case FAULT_CLOSE:
        p->end = SCRIPT_RENDER_CLOSED;
        return false;
    case FAULT_STALL:
        p->end = SCRIPT_RENDER_STALLED;
        return false;
    case FAULT_END:
        return false;
    case FAULT_ENDLESS:
        buf_add_z(&p->body, "data: ");
        script_render_add_mark(p, 0);
        p->end = SCRIPT_RENDER_FILLED;
        return false;
    case FAULT_GARBAGE:
        add_garbage(p);
        return true;
    case FAULT_HALF_UTF8:
        script_render_event_text(p, NULL, str_z(dialect->half_text));
        return true;
    case FAULT_SECOND_START:
        dialect->start(p);
        return true;
    default:
        return true;
    }
}

/* Plays the error or fault if it is due; false: nothing follows. */
static bool check_fault(struct script_render *p, const struct script_dialect *dialect, bool at_end)
{
    const struct script_turn *t = p->turn;
    bool due = t->has_after ? p->deltas >= t->after : at_end;
    if (p->stopped || !due || (!t->error && !t->fault))
        return true;
    p->stopped = true;
    if (!t->error)
        return do_fault(p, dialect);
    dialect->error(p, t->error);
    return false;
}

/* Parts --------------------------------------------------------------------------------------- */

void script_render_call_id(struct script_render *p, const struct script_part *part, struct buf *id)
{
    if (p->turn->fault == FAULT_NO_IDS)
        return;
    if (p->turn->fault == FAULT_SAME_IDS)
        buf_add_z(id, "call_same");
    else
        script_call_id(p->script, part->call, id);
}

static bool script_render_deltas(struct script_render *p, const struct script_dialect *dialect,
    const struct script_part *part, struct str rest)
{
    struct str delta;
    while (script_delta(p->turn, &rest, &delta)) {
        dialect->delta(p, part, delta);
        p->deltas++;
        if (p->turn->fault == FAULT_REPEAT_USAGE)
            dialect->usage(p, p->deltas);
        if (!check_fault(p, dialect, false))
            return false;
    }
    return true;
}

static bool script_render_part(
    struct script_render *p, const struct script_dialect *dialect, const struct script_part *part)
{
    AUTO_BUF struct buf id = BUF_INIT(1024), arguments = BUF_INIT(2 * (size_t)SCRIPT_TEXT_MAX);
    if (part->has_delay) {
        script_render_add_mark(p, part->delay_ms);
        return true;
    }
    if (part->raw.p) {
        buf_add_str(&p->body, part->raw);
        script_render_add_mark(p, 0);
        return true;
    }
    struct str rest = part->text.p ? part->text : part->thinking;
    if (part->call) {
        script_render_call_id(p, part, &id);
        script_arguments(part->call, &arguments);
        rest = buf_str(&arguments);
    }
    dialect->begin(p, part, buf_z(&id));
    /* Services send one empty delta for empty input. */
    if (part->call && rest.n == 0)
        dialect->delta(p, part, rest);
    if (!part->redacted.p && !script_render_deltas(p, dialect, part, rest))
        return false;
    dialect->end(p, part);
    p->index++;
    p->calls += part->call != NULL;
    return true;
}

static void script_render_stream(struct script_render *p, const struct script_dialect *dialect)
{
    buf_add_z(&p->headers, "Content-Type: text/event-stream\r\nCache-Control: no-cache\r\n");
    dialect->start(p);
    if (!check_fault(p, dialect, false))
        return;
    for (size_t i = 0; i < p->turn->n_parts; i++)
        if (!script_render_part(p, dialect, &p->turn->parts[i]))
            return;
    if (check_fault(p, dialect, true))
        dialect->finish(p, p->turn->fault != FAULT_NO_STOP);
}

/* Answers without a stream -------------------------------------------------------------------- */

void script_render_json(struct script_render *p, unsigned status, json_t *object)
{
    p->status = status;
    buf_add_z(&p->headers, "Content-Type: application/json\r\n");
    json_add_compact(&p->body, object);
    json_decref(object);
}

static bool script_render_is_token(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < ' ' || s.p[i] == 0x7F)
            return false;
    return true;
}

static void script_render_add_header(struct script_render *p, struct str name, struct str value)
{
    if (!script_render_is_token(name) || !script_render_is_token(value))
        return;
    buf_add_str(&p->headers, name);
    buf_add_z(&p->headers, ": ");
    buf_add_str(&p->headers, value);
    buf_add_z(&p->headers, "\r\n");
}

static void script_render_status(
    struct script_render *p, const struct script_dialect *dialect, const char *request_id)
{
    const struct script_error *e = p->turn->error;
    if (e->retry_after.p)
        script_render_add_header(p, STR("retry-after"), e->retry_after);
    for (size_t i = 0; i < e->headers.n; i++)
        script_render_add_header(p, e->headers.p[i].key, e->headers.p[i].text);
    script_render_json(p, e->status, dialect->error_body(e, request_id));
}

static bool script_render_instead(struct script_render *p, uint16_t port)
{
    static const char zipped[] =
        "\x1f\x8b\x08\0\0\0\0\0\0\x03\xcb\x48\xcd\xc9\xc9\x07\0\x86\xa6\x10"
        "\x36\x05\0\0\0";
    switch (p->turn->fault) {
    case FAULT_REDIRECT:
        p->status = 307;
        buf_printf(&p->headers, "Location: http://localhost:%u/elsewhere\r\n", (unsigned)port);
        return true;
    case FAULT_GZIP:
        buf_add_z(&p->headers, "Content-Type: text/event-stream\r\nContent-Encoding: gzip\r\n");
        buf_add(&p->body, zipped, sizeof(zipped) - 1);
        return true;
    case FAULT_HTML:
        buf_add_z(&p->headers, "Content-Type: text/html; charset=utf-8\r\n");
        buf_add_z(&p->body, "<!doctype html><title>Welcome</title><p>Please log in.\n");
        return true;
    default:
        return false;
    }
}

void script_render_turn(struct script_render *p, const struct script_dialect *dialect,
    const struct script_render_spec *spec, const struct script_turn *turn)
{
    char request_id[32];
    snprintf(request_id, sizeof(request_id), "req_%llu", (unsigned long long)spec->number);
    p->turn = turn;
    p->script = spec->script;
    p->model = spec->model;
    p->number = spec->number;
    p->chunk_bytes = turn->chunk_bytes;
    buf_printf(&p->headers, "request-id: %s\r\n", request_id);
    if (turn->error && turn->error->status && !turn->has_after)
        script_render_status(p, dialect, request_id);
    else if (script_render_instead(p, spec->port))
        return;
    else if (spec->whole)
        script_render_json(p, 200, dialect->whole(p));
    else
        script_render_stream(p, dialect);
}
