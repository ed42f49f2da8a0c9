/* Writes asciicast v2. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/cast.h"

#include "base/utf8.h"
#include "record/refeed.h"

enum {
    PIECE = 4096,
};

struct cast {
    const struct trace *t;
    struct buf *out;
    struct buf held; /* incomplete character at the end of the output */
    size_t step;
};

static void cast_add_line(struct cast *c, double at_ms, char kind, struct str text)
{
    buf_printf(c->out, "[%.6f,\"%c\",", at_ms / 1000, kind);
    json_add_text(c->out, text);
    buf_add_z(c->out, "]\n");
}

/* Returns the number of bytes at the end that may begin an incomplete character. */
static size_t cast_incomplete_tail(struct str s)
{
    for (size_t n = 1; n < UTF8_MAX && n <= s.n; n++) {
        struct str end = str_skip(s, s.n - n);
        unsigned char c = (unsigned char)end.p[0];
        if (c < 0x80)
            return 0;
        if (c >= 0xF5)
            return 0;
        if (c >= 0xC0) {
            uint32_t cp;
            size_t length = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
            return !utf8_decode(end, &cp) && n < length && utf8_invalid_length(end) == n ? n : 0;
        }
    }
    return 0;
}

static void cast_on_output(void *context, double at_ms, struct str bytes)
{
    struct cast *c = context;
    buf_add_str(&c->held, bytes);
    size_t keep = cast_incomplete_tail(buf_str(&c->held));
    struct str whole = str_head(buf_str(&c->held), c->held.n - keep);
    if (whole.n)
        cast_add_line(c, at_ms, 'o', whole);
    memmove(c->held.p, c->held.p + whole.n, keep);
    buf_truncate(&c->held, keep);
}

static void cast_on_resize(void *context, double at_ms, unsigned rows, unsigned cols)
{
    char text[32];
    snprintf(text, sizeof(text), "%ux%u", cols, rows);
    cast_add_line(context, at_ms, 'r', str_z(text));
}

/* Writes a marker at the end of a step. */
static void cast_on_mark(void *context, size_t index)
{
    struct cast *c = context;
    const json_t *step = json_array_get(trace_steps(c->t), index);
    struct str name =
        trace_is_skipped(step) ? (struct str){0} : json_str(json_object_get(step, "name"));
    if (index + 1 == c->t->timeline.n && c->held.n) {
        cast_add_line(c, (double)c->t->timeline.marks[index].at_ms, 'o', buf_str(&c->held));
        buf_reset(&c->held);
    }
    if (name.p)
        cast_add_line(c, (double)c->t->timeline.marks[index].at_ms, 'm', name);
}

static json_t *cast_header(const struct trace *t)
{
    json_t *object = json_object(), *env = json_object();
    const json_t *run = t->files.run ? t->files.run : json_object_get(t->scenario, "run");
    json_t *command = json_object_get(run, "command"), *name = json_object_get(t->scenario, "name");
    json_put(object, "version", json_integer(2));
    json_put(object, "width", json_integer(t->timeline.cols));
    json_put(object, "height", json_integer(t->timeline.rows));
    json_put(object, "duration", json_real((double)t->timeline.end_ms / 1000));
    if (json_is_string(command))
        json_put(object, "command", json_incref(command));
    if (json_is_string(name))
        json_put(object, "title", json_incref(name));
    json_put(env, "TERM", json_string("xterm-256color"));
    json_put(object, "env", env);
    return object;
}

void cast_write(const struct trace *t, struct buf *out)
{
    struct cast c = {.t = t, .out = out, .held = BUF_INIT(2 * PIECE)};
    json_t *head = cast_header(t);
    json_add_compact(out, head);
    json_decref(head);
    buf_add_byte(out, '\n');
    refeed_run(&(struct refeed){.timeline = &t->timeline,
        .bytes = buf_str(&t->files.transcript),
        .piece = PIECE,
        .output = cast_on_output,
        .resize = cast_on_resize,
        .mark = cast_on_mark,
        .context = &c});
    buf_done(&c.held);
}
