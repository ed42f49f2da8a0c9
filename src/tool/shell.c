/* shell: runs a command line to completion. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/exec.h"
#include "tool/clean.h"
#include "tool/confine.h"
#include "tool/limit.h"
#include "tool/outlog.h"
#include "tool/sessions.h"
#include "tool/tool.h"

#include <limits.h>

enum {
    STREAMS = 2,
};

struct shell_args {
    struct str command, workdir;
    uint32_t timeout_ms;
};

static const struct field fields[] = {
    FIELD_STR("command", struct shell_args, command, "the command line", .alias = "cmd",
        .flags = FIELD_REQUIRED, FIELD_RANGE(1, 1000000)),
    FIELD_STR("workdir", struct shell_args, workdir, "working directory; default: the root"),
    FIELD_U32("timeout_ms", struct shell_args, timeout_ms,
        "timeout, after which the command is killed", .def = "60000",
        FIELD_RANGE(1, CONFINE_RUNTIME_MAX_MS)),
};

static const struct shape shape = SHAPE("shell", struct shell_args, fields, "arguments of shell");

struct shell {
    struct toolbox *box;
    const struct shell_args *args;
    struct tool_result *result;
    struct outlog all;              /* both streams, interleaved */
    struct outlog streams[STREAMS]; /* stdout, stderr */
    int sessions;                   /* readable: sessions of exec_command have output */
};

static bool shell_subject(
    struct toolbox *box, const void *arguments, struct buf *text, struct err *err)
{
    const struct shell_args *args = arguments;
    (void)box;
    (void)err;
    confine_subject(args->command, args->workdir, text);
    return true;
}

static void shell_on_output(void *context, struct str bytes)
{
    struct shell *s = context;
    outlog_add(&s->all, bytes);
}

static void shell_on_ready(void *context)
{
    struct shell *s = context;
    sessions_handle_events(s->box, s->sessions);
}

/* Saves the whole output to a file, as the model does not see all of it. */
static const char *shell_save_output(struct shell *s)
{
    AUTO_ERR struct err err = {0};
    if (!outlog_save(&s->all, s->box->options->log_dir, &err)) {
        tool_warns(s->result, "%s", err.message);
        return NULL;
    }
    toolbox_show_logs(s->box);
    tool_detail(s->result, "log", json_text(str_z(s->all.path)));
    return s->all.path;
}

static void show_stream(struct shell *s, size_t i, const char *title)
{
    static const struct limit cap = LIMIT_DEFAULT;
    struct buf *content = &s->result->content;
    AUTO_BUF struct buf raw = BUF_INIT(CONFINE_OUTPUT_MAX + 1), view = BUF_INIT(TOOL_CONTENT_MAX);
    AUTO_BUF struct buf text = BUF_INIT(4 * (size_t)CONFINE_OUTPUT_MAX);
    outlog_read(&s->streams[i], 0, s->streams[i].size, &raw);
    if (raw.n == 0)
        return;
    clean_text(buf_str(&raw), &text);
    if (limit_ends(&cap, buf_str(&text), NULL, &view)) {
        const char *path = s->all.path ? s->all.path : shell_save_output(s);
        AUTO_BUF struct buf where = BUF_INIT(PATH_MAX + 100);
        limit_where(path, &where);
        buf_reset(&view);
        s->result->truncated |= limit_ends(&cap, buf_str(&text), buf_z(&where), &view);
    }
    if (title)
        buf_printf(content, "%s[%s]\n", content->n ? "\n" : "", title);
    buf_add_str(content, buf_str(&view));
    if (content->n && content->p[content->n - 1] != '\n')
        buf_add_byte(content, '\n');
}

static bool shell_report_exit(struct shell *s, const struct exec_result *r, struct err *err)
{
    struct tool_result *result = s->result;
    bool late = r->status == EXEC_ERRORED && r->exit.by_harness &&
                r->ended_ms - r->started_ms >= s->args->timeout_ms;
    int code = r->exit.signal && !r->exit.by_harness ? 128 + r->exit.signal : r->exit.code;
    tool_detail(result, "exit_code", r->exit.known && code >= 0 ? json_integer(code) : json_null());
    if (r->exit.signal)
        tool_detail(result, "signal", json_integer(r->exit.signal));
    tool_detail(result, "duration_ms", json_integer((json_int_t)(r->ended_ms - r->started_ms)));
    tool_detail(result, "output_bytes", json_integer((json_int_t)r->output_bytes));
    if (r->status == EXEC_PASSED) {
        tool_says(result, "exit status 0");
        return true;
    }
    if (late)
        err_set(err, E_COMMAND_TIMEOUT, "timeout: the command ran longer than %u ms and was killed",
            s->args->timeout_ms);
    else if (r->status == EXEC_CANCELED)
        err_copy(err, &r->error);
    else if (!r->exit.known)
        err_copy(err, &r->error), tool_not_started(result, err);
    else
        err_set(err, E_COMMAND_FAILED, "%s", r->error.message);
    buf_printf(&result->content, "[%s]\n", err->message);
    return false;
}

static bool run_confined(struct shell *s, const struct confine *c, struct err *err)
{
    AUTO_FD int sessions = sessions_descriptor(s->box);
    s->sessions = sessions;
    const struct exec_options options = {
        .confined = &c->confined,
        .world = c->world,
        .cwd = c->cwd,
        .input = -1,
        .output = {s->streams[0].fd, s->streams[1].fd},
        .signals = s->box->options->signals,
        .cancel = -1,
        .seen = shell_on_output,
        .on_ready = sessions >= 0 ? shell_on_ready : NULL,
        .ready_fd = sessions,
        .context = s,
    };
    struct exec_result r;
    if (!exec_run(&options, &r, err))
        return c->world && err->code == E_IO ? tool_not_started(s->result, err) : false;
    for (size_t i = 0; i < STREAMS; i++)
        s->streams[i].size = (uint64_t)MAX(lseek(s->streams[i].fd, 0, SEEK_END), (off_t)0);
    s->result->has_output = true;
    show_stream(s, 0, NULL);
    show_stream(s, 1, "stderr");
    bool ok = shell_report_exit(s, &r, err);
    confine_tell_denied(s->box, c, r.session, !ok, s->result);
    if (r.left) {
        tool_detail(s->result, "left_running", json_true());
        buf_add_z(&s->result->content,
            "[processes of this command still run; their further output is not shown]\n");
    }
    err_done(&r.error);
    return ok;
}

static bool shell_run(
    struct toolbox *box, const void *arguments, struct tool_result *result, struct err *err)
{
    struct shell s = {.box = box,
        .args = arguments,
        .result = result,
        .all = OUTLOG_NONE,
        .streams = {OUTLOG_NONE, OUTLOG_NONE}};
    AUTO_ARENA struct arena a = ARENA_INIT(CONFINE_ARENA);
    struct confine *c = ARENA_NEW(&a, struct confine, 1);
    const struct confine_request request = {
        .command = s.args->command, .workdir = s.args->workdir, .runtime_ms = s.args->timeout_ms};
    bool ok = confine(box, &request, &a, c, err) && outlog_open(&s.all, err) &&
              outlog_open(&s.streams[0], err) && outlog_open(&s.streams[1], err) &&
              run_confined(&s, c, err);
    confine_done(c);
    outlog_close(&s.all);
    outlog_close(&s.streams[0]);
    outlog_close(&s.streams[1]);
    return ok;
}

const struct tool tool_shell = {
    .name = "shell",
    .alias = "bash",
    .about =
        "Runs a command line in bash, in a sandbox that all commands share, with /tmp, HOME and "
        "127.0.0.1: the root is writable, the system's programs run; no network, no input. "
        "Returns both streams and the exit code. For programs that wait for input or keep "
        "running, use exec_command.",
    .args = &shape,
    .example = "{\"command\": \"make test\", \"timeout_ms\": 60000}",
    .mutating = true,
    .text = "command",
    .is_command = true,
    .run = shell_run,
    .subject = shell_subject,
};
