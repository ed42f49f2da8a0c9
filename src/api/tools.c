/* The tools of a model. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

#include "agent/box_tools.h"
#include "path/lexical.h"
#include "policy/load.h"
#include "policy/preset.h"
#include "tool/sessions.h"

#include <errno.h>

static const struct api_shape options_shape = API_SHAPE(cordon_tools_options, context);

struct cordon_tools {
    struct arena arena;
    struct api_tools own;
    struct tool_setup setup;
    struct remote *remote;
    struct api_tending tending;
};

const char *api_copy(struct arena *a, const char *text)
{
    return text ? arena_strdup(a, str_z(text)) : NULL;
}

char *cordon_tools_specs(void)
{
    AUTO_ERR struct err err = {0};
    return api_return_json(true, tool_specs(), &err, NULL);
}

/* Callbacks ----------------------------------------------------------------------------------- */

static enum approve_answer api_tools_ask(
    void *context, const struct approve_question *question, struct str rule)
{
    static const enum approve_answer answers[] = {[CORDON_ANSWER_NO] = APPROVE_NO,
        [CORDON_ANSWER_YES] = APPROVE_YES,
        [CORDON_ANSWER_CANCELED] = APPROVE_CANCELED,
        [CORDON_ANSWER_ALWAYS] = APPROVE_YES_ALWAYS};
    const struct api_tools *t = context;
    AUTO_JSON json_t *tree = approve_question_json(question, rule);
    api_name_members_in(tree, "why");
    AUTO_BUF struct buf text = BUF_INIT(API_JSON_MAX);
    json_add_compact(&text, tree);
    unsigned answer = t->options.approve(t->options.context, buf_z(&text));
    if (answer == CORDON_ANSWER_ALWAYS && !rule.p)
        answer = CORDON_ANSWER_YES;
    return answer < ARRAY_LEN(answers) ? answers[answer] : APPROVE_NO;
}

static void api_tools_event(void *context, const struct tool_event *event)
{
    const struct api_tools *t = context;
    AUTO_JSON json_t *tree = tool_event_json(event);
    AUTO_BUF struct buf text = BUF_INIT(API_JSON_MAX);
    json_add_compact(&text, tree);
    t->options.event(t->options.context, buf_z(&text));
}

static void api_tools_warn(void *context, struct str warning)
{
    const struct api_tools *t = context;
    AUTO_BUF struct buf given = BUF_INIT(warning.n + 1), text = BUF_INIT(3 * warning.n + 64);
    buf_add_str(&given, warning);
    api_name_members_text(buf_z(&given), &text);
    t->options.warning(t->options.context, buf_z(&text));
}

/* Options ------------------------------------------------------------------------------------- */

static bool api_tools_check_word(
    const char *member, const char *word, const char *const *words, struct err *err)
{
    for (size_t i = 0; word && words[i]; i++)
        if (strcmp(words[i], word) == 0)
            return true;
    return !word || err_set(err, E_CLI_INVALID_ARG, "struct cordon_tools_options: invalid %s '%s'",
                        member, word);
}

static bool api_tools_load_policy(struct api_tools *t, struct err *err)
{
    const struct cordon_tools_options *o = &t->options;
    struct str cwd;
    if (o->policy && o->preset)
        return err_set(err, E_CLI_INVALID_ARG, "policy and preset cannot be combined");
    if (!o->policy && !o->preset)
        return true;
    t->host.policy = &t->policy;
    if (o->policy)
        return policy_parse(str_z(o->policy), "policy", t->arena, &t->policy, err);
    return lexical_cwd(t->arena, &cwd, err) &&
           preset_load(o->preset, lexical_absolute(t->arena, cwd, o->dir ? str_z(o->dir) : cwd),
               t->arena, &t->policy, err);
}

static void api_tools_fill_in(struct api_tools *t)
{
    const struct cordon_tools_options *o = &t->options;
    if (o->approve) {
        t->host.ask = api_tools_ask;
        t->host.ask_context = t;
    }
    if (o->event)
        t->host.events = (struct tool_event_sink){api_tools_event, t};
    if (o->warning)
        t->warnings = (struct notices){api_tools_warn, t};
    t->host.program = o->program;
    t->setup = (struct tool_setup_options){
        .host = &t->host,
        .dir = o->dir,
        .fs_mode = o->mode,
        .approval = o->approval,
        .workspace = o->workspace,
        .sandbox = o->sandbox,
        .ack_sandbox = o->ack_unsafe & CORDON_ACK_SANDBOX,
        .ack_network = o->ack_unsafe & CORDON_ACK_NETWORK,
    };
}

static void api_tools_copy(struct api_tools *t)
{
    struct cordon_tools_options *o = &t->options;
    const char **texts[] = {&o->dir, &o->mode, &o->workspace, &o->policy, &o->preset, &o->approval,
        &o->sandbox, &o->box, &o->program};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        *texts[i] = api_copy(t->arena, *texts[i]);
}

bool api_tools_take(struct api_tools *t, struct arena *arena,
    const struct cordon_tools_options *options, struct err *err)
{
    *t = (struct api_tools){.arena = arena, .host.interrupts = -1};
    if (!api_take(&options_shape, options, &t->options, err))
        return false;
    const struct cordon_tools_options *o = &t->options;
    api_tools_copy(t);
    if (o->ack_unsafe & ~(uint64_t)(CORDON_ACK_SANDBOX | CORDON_ACK_NETWORK))
        return err_set(err, E_CLI_INVALID_ARG,
            "struct cordon_tools_options: ack_unsafe has a bit that tools do not use");
    if (!api_not_empty("dir", o->dir, err))
        return false;
    if (!api_tools_check_word("mode", o->mode, toolbox_mode_names, err) ||
        !api_tools_check_word("approval", o->approval, approve_mode_names, err) ||
        !api_tools_check_word("sandbox", o->sandbox, POLICY_SANDBOX_OPTIONS, err) ||
        !api_tools_load_policy(t, err))
        return false;
    t->host.interrupts = interrupt_set_new();
    if (t->host.interrupts < 0)
        return err_errno(err, E_IO, errno, "cannot create a set of descriptors");
    api_tools_fill_in(t);
    return true;
}

void api_tools_done(struct api_tools *t)
{
    auto_fd(&t->host.interrupts);
    t->host.interrupts = -1;
}

bool api_tools_begin(const struct api_tools *t, const struct cordon_cancel *cancel, struct err *err)
{
    if (!cancel)
        return true;
    return api_cancel_check(cancel, err) &&
           (interrupt_set_add(t->host.interrupts, api_cancel_descriptor(cancel)) ||
               err_errno(err, E_IO, errno, "cannot watch for a cancellation"));
}

void api_tools_end(const struct api_tools *t, const struct cordon_cancel *cancel)
{
    if (cancel)
        interrupt_set_remove(t->host.interrupts, api_cancel_descriptor(cancel));
}

/* Calls --------------------------------------------------------------------------------------- */

bool api_tending_open(struct api_tending *t, struct err *err)
{
    t->set = interrupt_set_new();
    return t->set >= 0 || err_errno(err, E_IO, errno, "cannot create a set of descriptors");
}

void api_tending_close(struct api_tending *t)
{
    auto_fd(&t->set);
    auto_fd(&t->sessions);
    *t = API_TENDING_NONE;
}

void api_tending_update(struct api_tending *t, struct toolbox *box)
{
    auto_fd(&t->sessions);
    t->sessions = sessions_descriptor(box);
    if (t->sessions >= 0)
        (void)interrupt_set_add(t->set, t->sessions);
}

void api_tending_process(struct api_tending *t, struct toolbox *box)
{
    if (t->sessions < 0)
        return;
    sessions_handle_events(box, t->sessions);
    api_tending_update(t, box);
}

bool api_tools_check_box(const struct cordon_tools_options *o, struct err *err)
{
    return !o->box || !(o->dir || o->policy || o->preset) ||
           err_set(err, E_CLI_INVALID_ARG,
               "dir, policy and preset cannot be combined with box: the box itself is the "
               "boundary");
}

static bool api_tools_open_box(struct cordon_tools *t, struct err *err)
{
    const struct cordon_tools_options *o = &t->own.options;
    if (!o->box)
        return true;
    return api_tools_check_box(o, err) && box_tools_check(&t->own.setup, err) &&
           box_tools_start(&t->arena, o->box, o->program, &t->own.setup.dir, &t->remote, err);
}

static bool api_tools_open(
    struct cordon_tools *t, const struct cordon_tools_options *options, struct err *err)
{
    if (!api_tools_take(&t->own, &t->arena, options, err) || !api_tools_open_box(t, err) ||
        !tool_setup_open(&t->arena, &t->own.setup, t->own.warnings, &t->setup, err))
        return false;
    t->setup.options.remote = t->remote;
    tool_setup_warn(&t->setup);
    return api_tending_open(&t->tending, err);
}

struct cordon_tools *cordon_tools_open(
    const struct cordon_tools_options *options, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    struct cordon_tools *t = base_alloc(sizeof(*t));
    *t = (struct cordon_tools){.arena = ARENA_INIT((size_t)API_ARENA_MAX),
        .own.host.interrupts = -1,
        .setup = TOOL_SETUP_INIT,
        .tending = API_TENDING_NONE};
    if (api_tools_open(t, options, &err))
        return t;
    api_give_error(&err, error);
    cordon_tools_close(t);
    return NULL;
}

void cordon_tools_close(struct cordon_tools *t)
{
    if (!t)
        return;
    if (t->setup.box)
        tool_setup_done(&t->setup);
    remote_stop(t->remote);
    api_tools_done(&t->own);
    api_tending_close(&t->tending);
    arena_done(&t->arena);
    free(t);
}

/* The content of a refused call begins with the message; other contents are not ours. */
static void api_tools_name_members(const struct tool_result *result, json_t *tree)
{
    if (result->error.code != E_APPROVAL_REQUIRED)
        return;
    api_name_members_in(tree, "message");
    api_name_members_in(tree, "content");
    api_name_members_in(json_object_get(json_object_get(tree, "details"), "context"), "why");
}

char *cordon_tools_call(struct cordon_tools *t, const char *name, const char *arguments,
    struct cordon_cancel *cancel, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    struct tool_result result;
    if (!api_given("name", name, &err) || !api_given("arguments", arguments, &err) ||
        !api_tools_begin(&t->own, cancel, &err))
        return api_return_json(false, NULL, &err, error);
    tool_call(t->setup.box, str_z(name), str_z(arguments), &result);
    api_tools_end(&t->own, cancel);
    api_tending_update(&t->tending, t->setup.box);
    json_t *tree = tool_result_json(&result);
    api_tools_name_members(&result, tree);
    tool_result_done(&result);
    return api_return_json(true, tree, &err, error);
}

int cordon_tools_descriptor(const struct cordon_tools *t)
{
    return t->tending.set;
}

void cordon_tools_process(struct cordon_tools *t)
{
    api_tending_process(&t->tending, t->setup.box);
}
