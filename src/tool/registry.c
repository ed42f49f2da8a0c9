/* The table of tools, and calling them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/choice.h"
#include "base/clock.h"
#include "path/warn.h"
#include "tool/guard.h"
#include "tool/limit.h"
#include "tool/remote.h"
#include "tool/tool.h"
#include "tool/tool_plan.h"

enum {
    SUBJECT_MAX = 1 << 20,
    NAME_SHOWN = 100,
    MESSAGE_MAX = 64 << 10,
    EDITED_SHOWN = 4 << 10,
};

const struct tool *const tools[] = {
    &tool_list_dir,
    &tool_read_file,
    &tool_grep_files,
    &tool_glob_files,
    &tool_write_file,
    &tool_edit_file,
    &tool_apply_patch_json,
    &tool_apply_patch_freeform,
    &tool_shell,
    &tool_exec_command,
    &tool_write_stdin,
};
const size_t n_tools = ARRAY_LEN(tools);

const struct tool *tool_find(struct str name)
{
    for (size_t i = 0; i < n_tools; i++)
        if (str_is(name, tools[i]->name) || (tools[i]->alias && str_is(name, tools[i]->alias)))
            return tools[i];
    return NULL;
}

/* Returns the format of free text in the form that providers expect. */
static json_t *registry_format_of(const struct tool *tool)
{
    json_t *format = json_object();
    json_put(format, "type", json_string("grammar"));
    json_put(format, "syntax", json_string("lark"));
    json_put(format, "definition", json_string(tool->grammar));
    return format;
}

json_t *tool_spec(const struct tool *tool)
{
    json_t *spec = json_object(), *aliases = json_array();
    if (tool->alias)
        json_push(aliases, json_string(tool->alias));
    json_put(spec, "name", json_string(tool->name));
    json_put(spec, "aliases", aliases);
    json_put(spec, "description", json_string(tool->about));
    json_put(spec, "parameters", field_schema(tool->args));
    if (tool->grammar)
        json_put(spec, "format", registry_format_of(tool));
    json_put(spec, "mutating", json_boolean(tool->mutating));
    return spec;
}

json_t *tool_specs(void)
{
    json_t *object = json_object(), *list = json_array();
    for (size_t i = 0; i < n_tools; i++)
        json_push(list, tool_spec(tools[i]));
    json_put(object, "tools", list);
    return object;
}

static bool unknown_tool(struct str name, struct err *err)
{
    AUTO_CHOICE struct choice c = CHOICE_INIT(name);
    for (size_t i = 0; i < n_tools; i++)
        choice_add(&c, tools[i]->name);
    AUTO_BUF struct buf hint = BUF_INIT(CHOICE_LIST_MAX + 100);
    choice_hint(&c, "", &hint);
    return err_set(err, E_TOOL_VALIDATION, "no such tool '" STR_FMT "'; available: %s%s",
        STR_ARG(name), choice_list(&c), buf_z(&hint));
}

/* Models that must give every argument pass null for none. */
static json_t *registry_without_nulls(const json_t *arguments)
{
    json_t *given = json_copy((json_t *)arguments);
    const char *key;
    json_t *value;
    void *next;
    json_object_foreach_safe(given, next, key, value)
    {
        if (json_is_null(value))
            json_object_del(given, key);
    }
    return given;
}

bool tool_read_arguments(const struct tool *tool, const json_t *arguments, struct arena *a,
    void *ret_args, struct err *err)
{
    BUG_ON(tool->args->size > TOOL_ARGS_SIZE);
    if (json_is_object(arguments)) {
        AUTO_JSON json_t *given = registry_without_nulls(arguments);
        if (field_read(tool->args, given, a, E_TOOL_VALIDATION, ret_args, err))
            return true;
    } else {
        err_set(err, E_TOOL_VALIDATION, "the arguments are %s, not an object",
            arguments ? json_kind(arguments) : "missing");
    }
    err_wrap(err, "%s", tool->name);
    AUTO_BUF struct buf message = BUF_INIT(MESSAGE_MAX);
    bool asks = str_ends_with(str_z(err->message), STR("?"));
    buf_printf(&message, "%s%s example %s", err->message, asks ? " For" : "; for", tool->example);
    free(err->message);
    err->message = buf_take(&message);
    return false;
}

/* Returns the first reason why one of these paths deserves a second look. */
static const char *warning_of(struct str paths)
{
    struct str path;
    const char *why = NULL;
    while (!why && str_cut(paths, '\n', &path, &paths))
        why = warn_about(path);
    return why;
}

/* A request for consent and its outcome. */
struct registry_consent {
    struct toolbox *box;
    const struct tool *tool;
    const void *args;
    struct tool_result *result;
    struct buf diff; /* diff that was shown */
    struct approve_edit edit;
    const json_t *arguments; /* current arguments */
    bool edited;             /* at least once */
};

/* Computes the diff for the question. If that fails, the call fails as if it had been executed. */
static bool registry_plan(void *context, struct str *ret_diff, struct err *err)
{
    struct registry_consent *c = context;
    buf_reset(&c->diff);
    if (!c->tool->plan(c->box, c->args, &c->diff, c->result, err))
        return false;
    if (!buf_ok(&c->diff))
        return err_set(err, E_APPROVAL_REQUIRED,
            "%s needs consent, but changes more than a person can review (%d bytes)", c->tool->name,
            PLAN_MAX);
    tool_result_done(c->result);
    tool_result_init(c->result);
    *ret_diff = buf_str(&c->diff);
    return true;
}

static bool registry_request_consent(struct registry_consent *c, struct arena *a, struct err *err)
{
    struct toolbox *box = c->box;
    const struct tool *tool = c->tool;
    if (!tool->mutating || box->by_user || box->options->approve.mode == APPROVE_NEVER)
        return true;
    AUTO_BUF struct buf subject = BUF_INIT(SUBJECT_MAX);
    box->guarded = NULL;
    if (!tool->subject(box, c->args, &subject, err))
        return false;
    struct approve_question question = {
        .tool = tool->name,
        .is_command = tool->is_command,
        .mutating = true,
        .edit = c->edit.text.p ? &c->edit : NULL,
        .plan = tool->plan && !box->options->remote ? registry_plan : NULL,
        .context = c,
        .arguments = c->arguments,
    };
    if (!buf_ok(&subject))
        return err_set(err, E_APPROVAL_REQUIRED,
            "%s needs consent, but names more than a person can review (%d bytes)", tool->name,
            SUBJECT_MAX);
    if (subject.n == 0)
        return true;
    question.subject = tool->is_command ? buf_str(&subject) : str_trim_end(buf_str(&subject), '\n');
    question.no_rules = tool->no_rules;
    if (!tool->is_command)
        question.warning = warning_of(question.subject);
    question.guarded = box->guarded;
    if (!approve_call(&box->approve, &question, err))
        return false;
    if (!tool->is_command)
        box->approved = arena_str(a, question.subject);
    if (c->diff.n)
        box->planned = buf_str(&c->diff);
    return true;
}

static void registry_notify(
    struct toolbox *box, const char *name, enum tool_phase phase, const struct tool_result *result)
{
    const struct tool_event_sink *sink = &box->options->events;
    if (!sink->tell)
        return;
    struct tool_event event = {
        .phase = phase,
        .tool = name,
        .run_id = box->id,
        .call = box->calls,
        .wall_ms = clock_wall_ms(),
    };
    if (result) {
        const json_t *exit = json_object_get(result->details, "exit_code");
        event.duration_us = result->duration_us;
        event.bytes = result->content.n;
        event.lines = limit_lines(buf_str(&result->content));
        event.truncated = result->truncated;
        event.has_exit = json_is_integer(exit);
        event.exit_status = (int)json_integer_value(exit);
        event.files_changed = result->n_changes;
        event.error = &result->error;
    }
    sink->tell(sink->context, &event);
}

struct registry_work {
    struct toolbox *box;
    const char *name;
    uint64_t begun_ns;
};

/* Reports that the call was interrupted; ends the process. */
static void call_off(void *context, int signal)
{
    const struct registry_work *w = context;
    struct tool_result result;
    tool_result_init(&result);
    guard_error(&result.error, signal);
    buf_printf(&result.content, "error: %s", result.error.message);
    result.duration_us = (clock_mono_ns() - w->begun_ns) / 1000;
    registry_notify(w->box, w->name, TOOL_ERROR, &result);
    w->box->options->called_off(w->box->options->context, &result);
}

/* Tools that wait for a command check for interruptions themselves. */
static bool run_here(struct toolbox *box, const struct tool *tool, const void *args,
    struct tool_result *result, struct err *err)
{
    struct guard guard;
    struct registry_work work = {box, tool->name, clock_mono_ns()};
    if (tool->is_command || !box->options->called_off)
        return tool->run(box, args, result, err);
    guard_begin(&guard, box->options->signals, call_off, &work);
    box->guard = &guard;
    bool ok = tool->run(box, args, result, err);
    box->guard = NULL;
    guard_done(&guard);
    return ok;
}

static const struct field *text_field(const struct tool *tool)
{
    const struct field *f = tool->args->fields;
    while (strcmp(f->name, tool->text) != 0)
        f++;
    return f;
}

static struct str registry_text(const struct tool *tool, const json_t *arguments)
{
    if (!tool->text)
        return (struct str){0};
    const struct field *f = text_field(tool);
    struct str text = json_str(json_object_get(arguments, f->name));
    return text.p || !f->alias ? text : json_str(json_object_get(arguments, f->alias));
}

static json_t *registry_with_text(const struct tool *tool, const json_t *arguments, struct str text)
{
    const struct field *f = text_field(tool);
    json_t *given = json_copy((json_t *)arguments);
    if (f->alias)
        json_object_del(given, f->alias);
    json_put(given, f->name, json_text(text));
    return given;
}

/* Asks, and applies the user's edit. An edited command is then run; for edited files the user is
 * asked again with the new diff. */
static bool registry_settle_consent(
    struct registry_consent *c, json_t **arguments, struct arena *a, struct err *err)
{
    do {
        c->edit.text = registry_text(c->tool, *arguments);
        c->edit.done = false;
        c->arguments = *arguments;
        if (!registry_request_consent(c, a, err))
            return false;
        if (!c->edit.done)
            return true;
        c->box->planned = (struct str){0};
        json_t *edited = registry_with_text(c->tool, *arguments, buf_str(&c->edit.now));
        json_decref(*arguments);
        *arguments = edited;
        c->edited = true;
        if (!tool_read_arguments(c->tool, edited, a, (void *)c->args, err))
            return false;
    } while (!c->tool->is_command);
    return true;
}

static bool registry_call(struct toolbox *box, const struct tool *tool, const json_t *arguments,
    struct tool_result *result, struct err *err)
{
    AUTO_ARENA struct arena a = ARENA_INIT(TOOL_ARGS_ARENA);
    _Alignas(max_align_t) unsigned char args[TOOL_ARGS_SIZE] = {0};
    AUTO_JSON json_t *given = json_incref((json_t *)arguments);
    struct remote *remote = box->options->remote;
    struct registry_consent c = {box, tool, args, result, .diff = BUF_INIT(PLAN_MAX)};
    c.edit = (struct approve_edit){.name = tool->text, .now = BUF_INIT(TOOL_ARGUMENTS_MAX)};
    bool ok = tool_read_arguments(tool, given, &a, args, err) &&
              registry_settle_consent(&c, &given, &a, err);
    if (ok && remote)
        ok = remote_call(remote, tool->name, given, box->options->signals, result, err);
    else if (ok)
        ok = run_here(box, tool, args, result, err);
    if (c.edited)
        result->edited =
            arena_str(&result->arena, str_head(buf_str(&c.edit.now), EDITED_SHOWN + 1));
    box->approved = box->planned = (struct str){0};
    buf_done(&c.diff);
    buf_done(&c.edit.now);
    return ok;
}

/* Tells the model that the executed call is not the one it requested. */
static void say_edited(const struct tool *tool, struct tool_result *result)
{
    AUTO_BUF struct buf content = BUF_INIT(TOOL_CONTENT_MAX);
    struct str shown = str_head(result->edited, EDITED_SHOWN);
    buf_printf(&content,
        "The user edited this call before it was run. The \"%s\" used was:\n" STR_FMT, tool->text,
        STR_ARG(shown));
    buf_printf(&content, "%s\n\n", shown.n < result->edited.n ? "\n[truncated]" : "");
    buf_add_str(&content, buf_str(&result->content));
    buf_done(&result->content);
    result->content = content;
    content = (struct buf){0};
}

/* The signal was consumed: others that wait on the same signalfd no longer see it. */
static void note_signal(struct toolbox *box, const struct err *err)
{
    const struct err_pair *taken = err->code == E_CANCELED ? err_ctx_get(err, "signal") : NULL;
    if (taken && !taken->text)
        box->signal = (int)taken->number;
}

/* Every call goes through here and gets one start event and one end or error event. */
static void registry_answer(struct toolbox *box, struct str name, const json_t *arguments,
    struct err *refused, struct tool_result *result)
{
    const struct tool *tool = tool_find(name);
    tool_result_init(result);
    box->calls++;
    const char *shown =
        tool ? tool->name : arena_strdup(&result->arena, str_head(name, NAME_SHOWN));
    registry_notify(box, shown, TOOL_START, NULL);
    uint64_t begun = clock_mono_ns();
    bool ok = false;
    if (!tool)
        unknown_tool(name, &result->error);
    else if (refused->code)
        err_move(&result->error, refused);
    else
        ok = registry_call(box, tool, arguments, result, &result->error);
    if (tool && tool->mutating)
        toolbox_check(box, result);
    note_signal(box, &result->error);
    result->duration_us = (clock_mono_ns() - begun) / 1000;
    if (!ok && result->content.n == 0) /* the model reads the content */
        buf_printf(&result->content, "error: %s", result->error.message);
    if (result->edited.p)
        say_edited(tool, result);
    if (result->truncated)
        registry_notify(box, shown, TOOL_TRUNCATION, result);
    registry_notify(box, shown, ok ? TOOL_END : TOOL_ERROR, result);
}

void tool_call_json(
    struct toolbox *box, struct str name, const json_t *arguments, struct tool_result *result)
{
    AUTO_ERR struct err none = {0};
    registry_answer(box, name, arguments, &none, result);
}

void tool_refuse(struct toolbox *box, struct str name, struct err *why, struct tool_result *result)
{
    registry_answer(box, name, NULL, why, result);
}

void tool_call(
    struct toolbox *box, struct str name, struct str arguments, struct tool_result *result)
{
    AUTO_JSON json_t *tree = NULL;
    AUTO_ERR struct err err = {0};
    if (arguments.n > TOOL_ARGUMENTS_MAX)
        err_set(
            &err, E_TOOL_VALIDATION, "the arguments are larger than %d bytes", TOOL_ARGUMENTS_MAX);
    else if (!json_parse(arguments, "arguments", E_TOOL_VALIDATION, &tree, &err))
        err_wrap(&err, "the arguments are not valid JSON");
    registry_answer(box, name, tree, &err, result);
}
