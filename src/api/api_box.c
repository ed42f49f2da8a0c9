/* Boxes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

#include "box/facts.h"
#include "box/list.h"
#include "boxes/box_apply.h"
#include "boxes/box_create.h"
#include "boxes/box_destroy.h"
#include "boxes/box_diff.h"
#include "boxes/box_exec.h"
#include "config/boxes.h"
#include "job/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>

enum {
    ROWS = 24,
    COLS = 80,
    PATHS_MAX = 10 * 1000,
    NOTES_SENT = 5,
};

static const struct api_shape options_shape = API_SHAPE(cordon_box_options, context);
static const struct api_shape command_shape = API_SHAPE(cordon_box_command, program);
static const struct api_shape apply_shape = API_SHAPE(cordon_box_apply_options, allow_executed);

/* A call about one box by its name. */
struct api_box {
    struct arena arena;
    struct box_use use;
};

static bool api_box_open(struct api_box *b, const char *name, unsigned purpose, struct err *err)
{
    *b = (struct api_box){.arena = ARENA_INIT((size_t)API_ARENA_MAX), .use = BOX_USE_NONE};
    return api_given("name", name, err) && config_box_open(&b->arena, name, purpose, &b->use, err);
}

static void api_box_done(struct api_box *b)
{
    box_use_done(&b->use);
    arena_done(&b->arena);
}

/* The supervisor is a fork of this program; in the box, cordon(1) is another one. */
static struct start_options api_box_start(
    struct arena *a, const struct box *box, const char *program)
{
    AUTO_ERR struct err ignored = {0};
    struct str found = STR("");
    if (!program && !program_find(a, STR("cordon"), STR("/"), &found, &ignored))
        found = STR("");
    return (struct start_options){.box = box,
        .environ = (const char *const *)environ,
        .home = getenv("HOME"),
        .rows = ROWS,
        .cols = COLS,
        .self = program ? program : found.p};
}

/* New ----------------------------------------------------------------------------------------- */

static void api_box_warn(void *context, struct str warning)
{
    const struct cordon_box_options *o = context;
    AUTO_BUF struct buf given = BUF_INIT(warning.n + 1), text = BUF_INIT(3 * warning.n + 64);
    buf_add_str(&given, warning);
    api_name_members_text(buf_z(&given), &text);
    o->warning(o->context, buf_z(&text));
}

static bool api_box_words(
    const char *const *list, const char *member, struct box_create_words *ret, struct err *err)
{
    ret->v = list;
    return api_count_words(list, member, API_WORDS_MAX, &ret->n, err);
}

static bool api_box_take(struct cordon_box_options *o, struct box_create_options *create,
    const struct cordon_box_options *given, struct err *err)
{
    if (!api_take(&options_shape, given, o, err))
        return false;
    if (!o->name || !o->dir)
        return err_set(err, E_CLI_INVALID_ARG, "a box needs a name and a directory");
    if (o->ack_unsafe & ~(uint64_t)CORDON_ACK_LIMITS)
        return err_set(err, E_CLI_INVALID_ARG,
            "struct cordon_box_options: ack_unsafe has a bit that boxes do not use");
    if (o->processes > 4000000 || o->cpu_seconds > INT32_MAX)
        return err_set(err, E_CLI_INVALID_ARG,
            "struct cordon_box_options: at most 4000000 processes and %d CPU seconds", INT32_MAX);
    if (!api_check_terminal(o->rows, o->cols, err))
        return false;
    if (o->network && strcmp(o->network, "none") != 0 && strcmp(o->network, "on") != 0)
        return err_set(
            err, E_CLI_INVALID_ARG, "struct cordon_box_options: invalid network '%s'", o->network);
    *create = (struct box_create_options){
        .name = o->name,
        .dir = o->dir,
        .agent = o->agent,
        .model = o->model,
        .prompt = o->prompt,
        .network = o->network,
        .memory = o->memory,
        .cpus = o->cpus,
        .disk = o->disk,
        .processes = (int64_t)o->processes,
        .cpu = (int64_t)o->cpu_seconds,
        .include_ignored = o->include_ignored != 0,
        .ack_inexact = o->ack_unsafe & CORDON_ACK_LIMITS,
        .replace = o->replace != 0,
        .abandon = o->abandon_unapplied != 0,
        .start = o->start != 0,
        .yes = o->uncommitted != 0,
        .warnings = {o->warning ? api_box_warn : NULL, o},
    };
    return api_box_words(o->args, "args", &create->args, err) &&
           api_box_words(o->dirs, "dirs", &create->dirs, err) &&
           api_box_words(o->hosts, "hosts", &create->hosts, err) &&
           api_box_words(o->ports, "ports", &create->ports, err);
}

static void api_box_send_notes(const struct box_create *c)
{
    const struct copy_report *r = &c->report.copied;
    for (size_t i = 0; i < MIN(r->n_notes, (size_t)NOTES_SENT); i++)
        notice_send(c->o->warnings, "omitted: '" STR_FMT "' %s", STR_ARG(r->notes[i].path),
            r->notes[i].why);
    if (r->n_notes > NOTES_SENT)
        notice_send(c->o->warnings, "omitted: %zu more", r->n_notes - NOTES_SENT);
}

static bool api_box_new(
    struct arena *a, const struct cordon_box_options *given, json_t **ret_json, struct err *err)
{
    struct cordon_box_options own;
    struct box_create_options options;
    if (!api_box_take(&own, &options, given, err))
        return false;
    struct box_create c = BOX_CREATE_INIT(a, &options);
    struct start_options start = api_box_start(a, NULL, own.program);
    start.rows = own.rows ? own.rows : ROWS;
    start.cols = own.cols ? own.cols : COLS;
    bool ok = box_create_make(&c, err);
    if (ok) {
        api_box_send_notes(&c);
        ok = box_create_start(&c, start, err);
    }
    if (ok)
        *ret_json = box_create_json(&c);
    box_create_done(&c);
    return ok;
}

char *cordon_box_new(const struct cordon_box_options *options, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    AUTO_ARENA struct arena a = ARENA_INIT((size_t)API_ARENA_MAX);
    json_t *json = NULL;
    bool ok = api_box_new(&a, options, &json, &err);
    return api_return_json(ok, json, &err, error);
}

/* List, show, start, stop, destroy ------------------------------------------------------------ */

char *cordon_box_list(struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    AUTO_ARENA struct arena a = ARENA_INIT((size_t)API_ARENA_MAX);
    AUTO(boxes_close) struct boxes boxes = BOXES_NONE;
    AUTO(list_done) struct box_list list = {0};
    struct agent_rows rows;
    struct str_list names;
    bool ok = config_boxes(&a, BOXES_LOOK, &boxes, &err) && boxes_list(&boxes, &a, &names, &err) &&
              config_box_rows(&a, &rows, &err);
    if (ok)
        list_inspect(&boxes, &names, &rows, &a, &list);
    return api_return_json(ok, ok ? list_all_json(&list) : NULL, &err, error);
}

char *cordon_box_show(const char *name, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    AUTO(api_box_done) struct api_box b;
    bool ok = api_box_open(&b, name, BOX_USE_NO_AGENT, &err);
    if (!ok)
        return api_return_json(false, NULL, &err, error);
    struct box_facts *facts = ARENA_NEW(&b.arena, struct box_facts, 1);
    facts_gather(&b.arena, &b.use.box, facts);
    return api_return_json(true, facts_json(facts, &b.arena), &err, error);
}

int cordon_box_start(const char *name, int without_prompt, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    AUTO(api_box_done) struct api_box b;
    bool ok = api_box_open(&b, name, BOX_USE_CHANGE, &err);
    if (ok) {
        const struct start_options start = api_box_start(&b.arena, &b.use.box, NULL);
        ok = start_agent(&start, !without_prompt, &err);
    }
    return api_return(ok, &err, error);
}

int cordon_box_stop(const char *name, uint64_t grace_ms, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    AUTO(api_box_done) struct api_box b;
    bool ran = false;
    bool ok = api_box_open(&b, name, BOX_USE_LOOK, &err) &&
              client_stop_box(&b.use.box, MIN(grace_ms, (uint64_t)INT32_MAX), &ran, &err);
    return api_return(ok, &err, error) == 0 ? ran : -1;
}

int cordon_box_destroy(const char *name, int abandon_unapplied, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    AUTO_ARENA struct arena a = ARENA_INIT((size_t)API_ARENA_MAX);
    struct box_destroy d = BOX_DESTROY_INIT(&a);
    struct str one = str_z(name);
    d.abandon = abandon_unapplied != 0;
    bool ok =
        api_given("name", name, &err) && box_destroy_run(&d, &(struct str_list){&one, 1}, &err);
    box_destroy_done(&d);
    return api_return(ok, &err, error);
}

/* Exec ---------------------------------------------------------------------------------------- */

static void api_box_output(void *context, int stream, struct str bytes)
{
    const struct cordon_box_command *c = context;
    c->output(c->context, stream, bytes.p, bytes.n);
}

static bool api_box_check_output(const char *member, const int *fd, struct err *err)
{
    int flags = fd ? fcntl(*fd, F_GETFL) : O_WRONLY;
    if (flags < 0 || (flags & O_PATH))
        return err_set(err, E_CLI_INVALID_ARG, "%s is not an open descriptor: %d", member, *fd);
    return (flags & O_ACCMODE) != O_RDONLY ||
           err_set(err, E_CLI_INVALID_ARG, "%s is not open for writing: %d", member, *fd);
}

static bool api_box_run(struct api_box *b, struct cordon_box_command *c, int interrupts,
    int *ret_status, struct err *err)
{
    AUTO_FD int bytes = -1;
    int input = -1;
    size_t n = 0;
    if (!api_count_words(c->argv, "argv", API_BOX_WORDS_MAX, &n, err) ||
        !api_box_check_output("output_fd", c->output_fd, err) ||
        !api_box_check_output("error_fd", c->error_fd, err))
        return false;
    if (n == 0)
        return err_set(err, E_CLI_INVALID_ARG, "no command: argv is empty");
    if (!api_open_input(
            &(struct api_input){c->input, c->input_size, c->input_fd}, &bytes, &input, err))
        return false;
    const struct box_exec x = {
        .exec = {.argv = c->argv,
            .input = input,
            .output = c->output_fd ? *c->output_fd : -1,
            .error = c->error_fd ? *c->error_fd : -1,
            .check_output = true,
            .signals = interrupts,
            .seen = c->output ? api_box_output : NULL,
            .context = c},
        .start = api_box_start(&b->arena, &b->use.box, c->program),
    };
    return box_exec_run(&b->arena, &b->use, &x, ret_status, err);
}

static struct cordon_exit api_box_exit(int status)
{
    bool killed = WIFSIGNALED(status);
    return (struct cordon_exit){
        .code = killed ? -1 : WEXITSTATUS(status), .signal = killed ? WTERMSIG(status) : 0};
}

/* A set, because the client would take the descriptor of a cancellation for a signalfd. */
static bool api_box_interrupts(const struct cordon_cancel *cancel, int *ret_set, struct err *err)
{
    if (!cancel)
        return true;
    if (!api_cancel_check(cancel, err))
        return false;
    AUTO_FD int set = interrupt_set_new();
    if (set < 0 || !interrupt_set_add(set, api_cancel_descriptor(cancel)))
        return err_errno(err, E_IO, errno, "cannot watch for a cancellation");
    *ret_set = TAKE_FD(set);
    return true;
}

int cordon_box_exec(const char *name, const struct cordon_box_command *command,
    struct cordon_exit *ret_exit, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    AUTO(api_box_done) struct api_box b;
    AUTO_FD int interrupts = -1;
    struct cordon_box_command own;
    int status = 0;
    bool ok = api_box_open(&b, name, BOX_USE_LOOK, &err) &&
              api_take(&command_shape, command, &own, &err) &&
              api_box_interrupts(own.cancel, &interrupts, &err) &&
              api_box_run(&b, &own, interrupts, &status, &err);
    if (ok && ret_exit)
        *ret_exit = api_box_exit(status);
    return api_return(ok, &err, error);
}

/* Changes ------------------------------------------------------------------------------------- */

static bool api_box_paths(const char *const *paths, size_t *ret_n, struct err *err)
{
    return api_count_words(paths, "paths", API_WORDS_MAX, ret_n, err) &&
           (*ret_n <= PATHS_MAX ||
               err_set(err, E_CLI_INVALID_ARG, "more than %d paths", PATHS_MAX)) &&
           changes_check_paths(paths, *ret_n, err);
}

char *cordon_box_diff(
    const char *name, const char *const *paths, int patch, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    AUTO(api_box_done) struct api_box b;
    json_t *json = NULL;
    size_t n = 0;
    bool ok = api_box_open(&b, name, BOX_USE_NO_AGENT, &err) && api_box_paths(paths, &n, &err);
    if (ok) {
        struct box_diff d = BOX_DIFF_INIT(&b.arena, &b.use.box, paths, n);
        ok = box_diff_object(&d, patch != 0, (struct notices){0}, &json, &err);
        box_diff_done(&d);
    }
    return api_return_json(ok, json, &err, error);
}

/* The error with the files that caused it, as the command prints it. */
static void api_box_refuse(const struct box_apply *a, struct err *err, struct cordon_error *error)
{
    if (!error)
        return;
    err_copy(err, &a->why);
    api_give_error(err, error);
    AUTO_JSON json_t *object = err_to_json(err), *more = box_apply_json(a);
    AUTO_BUF struct buf text = BUF_INIT(API_JSON_MAX);
    BUG_ON(json_object_update(object, more) != 0);
    json_add_compact(&text, object);
    free(error->json);
    error->json = buf_take(&text);
}

char *cordon_box_apply(
    const char *name, const struct cordon_box_apply_options *options, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    AUTO(api_box_done) struct api_box b;
    struct cordon_box_apply_options own;
    size_t n = 0;
    bool ok = api_box_open(&b, name, BOX_USE_CHANGE | BOX_USE_NO_AGENT, &err) &&
              api_take(&apply_shape, options, &own, &err) && api_box_paths(own.paths, &n, &err);
    if (!ok)
        return api_return_json(false, NULL, &err, error);
    struct box_apply a = BOX_APPLY_INIT(&b.arena, &b.use.box, own.paths, n);
    a.dry_run = own.dry_run != 0;
    a.allow_executed = own.allow_executed != 0;
    ok = box_apply_run(&a, &err);
    char *text = NULL;
    if (ok && a.end == BOX_APPLY_REFUSED)
        api_box_refuse(&a, &err, error);
    else
        text = api_return_json(ok, ok ? box_apply_json(&a) : NULL, &err, error);
    box_apply_done(&a);
    return text;
}
