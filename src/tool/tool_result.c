/* The result of a tool call. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/exact.h"
#include "tool/tool.h"

enum {
    RESULT_ARENA = 64 << 20,
    MESSAGE_MAX = 64 * 1024,
};

void tool_result_init(struct tool_result *r)
{
    *r = (struct tool_result){
        .arena = ARENA_INIT(RESULT_ARENA),
        .message = BUF_INIT(MESSAGE_MAX),
        .content = BUF_INIT(TOOL_CONTENT_MAX),
        .details = json_object(),
    };
}

void tool_result_done(struct tool_result *r)
{
    buf_done(&r->message);
    buf_done(&r->content);
    json_decref(r->details);
    r->details = NULL;
    err_done(&r->error);
    arena_done(&r->arena);
}

void tool_says(struct tool_result *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    buf_reset(&r->message);
    buf_vprintf(&r->message, format, args);
    va_end(args);
}

void tool_detail(struct tool_result *r, const char *key, json_t *value)
{
    json_put(r->details, key, value);
}

bool tool_not_started(struct tool_result *r, struct err *err)
{
    tool_detail(r, "exit_code", json_null());
    err->code = E_COMMAND_FAILED;
    return err_wrap(err, "the command did not start");
}

void tool_warns(struct tool_result *r, const char *format, ...)
{
    AUTO_BUF struct buf text = BUF_INIT(MESSAGE_MAX);
    va_list args;
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    if (!json_object_get(r->details, "warnings"))
        tool_detail(r, "warnings", json_array());
    json_push(json_object_get(r->details, "warnings"), json_text(buf_str(&text)));
}

void tool_changed(struct tool_result *r, const struct writer_result *written)
{
    r->changes = ARENA_NEW(&r->arena, struct tool_change, written->n);
    r->n_changes = written->n;
    for (size_t i = 0; i < written->n; i++) {
        const struct writer_file *f = &written->files[i];
        r->changes[i] = (struct tool_change){
            .path = arena_str(&r->arena, f->path),
            .action = f->action,
            .bytes_written = f->bytes_written,
        };
    }
}

static json_t *tool_result_changes_json(const struct tool_result *r)
{
    json_t *files = json_array();
    for (size_t i = 0; i < r->n_changes; i++) {
        const struct tool_change *c = &r->changes[i];
        json_t *file = json_object();
        exact_put(file, "path", c->path);
        json_put(file, "action", json_string(writer_action_name(c->action)));
        json_put(file, "bytes_written", json_integer((json_int_t)c->bytes_written));
        json_push(files, file);
    }
    json_t *changes = json_object();
    json_put(changes, "files", files);
    return changes;
}

json_t *tool_result_json(const struct tool_result *r)
{
    bool failed = r->error.code != ERR_NONE;
    json_t *object = json_object();
    json_put(object, "status", json_string(failed ? "error" : "ok"));
    if (failed)
        json_put(object, "code", json_string(err_name(r->error.code)));
    json_put(object, "message", json_text(failed ? str_z(r->error.message) : buf_str(&r->message)));
    json_put(object, "truncated", json_boolean(r->truncated));
    json_put(object, "content", json_text(buf_str(&r->content)));
    json_t *details = json_copy(r->details);
    if (r->error.n_ctx) {
        AUTO_JSON json_t *error = err_to_json(&r->error);
        json_put(details, "context", json_incref(json_object_get(error, "context")));
    }
    json_put(object, "details", details);
    if (r->n_changes)
        json_put(object, "changes", tool_result_changes_json(r));
    return object;
}
