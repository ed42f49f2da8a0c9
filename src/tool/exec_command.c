/* exec_command: runs a command on its own terminal; it may keep running after the call. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/poll.h"

struct exec_args {
    struct str cmd, workdir;
    struct poll_args poll;
    uint16_t rows, cols;
};

static const struct field fields[] = {
    FIELD_STR("cmd", struct exec_args, cmd, "the command line", .alias = "command",
        .flags = FIELD_REQUIRED, FIELD_RANGE(1, 1000000)),
    FIELD_STR("workdir", struct exec_args, workdir, "working directory; default: the root"),
    POLL_FIELDS(struct exec_args),
    FIELD_U16("rows", struct exec_args, rows, "rows of the terminal", .def = "24",
        FIELD_RANGE(1, SESSION_ROWS_MAX)),
    FIELD_U16("cols", struct exec_args, cols, "columns of the terminal", .def = "80",
        FIELD_RANGE(1, SESSION_COLS_MAX)),
};

static const struct shape shape =
    SHAPE("exec_command", struct exec_args, fields, "arguments of exec_command");

static bool exec_command_subject(
    struct toolbox *box, const void *arguments, struct buf *text, struct err *err)
{
    const struct exec_args *args = arguments;
    (void)box;
    (void)err;
    confine_subject(args->cmd, args->workdir, text);
    return true;
}

static bool exec_command_run(
    struct toolbox *box, const void *arguments, struct tool_result *result, struct err *err)
{
    const struct exec_args *args = arguments;
    const struct session_request request = {args->cmd, args->workdir, args->rows, args->cols};
    struct tool_session *s;
    if (!sessions_start(box, &request, &s, err))
        return box->world && err->code == E_IO ? tool_not_started(result, err) : false;
    bool ok = poll_session(box, s, &args->poll, result, err);
    /* A session interrupted before its number was reported must not keep running. One that has
     * ended is kept, so that its end can be reported again. */
    if (!s->over && err->code == E_CANCELED)
        poll_tell_ended(result);
    if (box->options->one_call || (!s->over && err->code == E_CANCELED))
        sessions_forget(box, s);
    return ok;
}

const struct tool tool_exec_command = {
    .name = "exec_command",
    .about = "Runs a command line in bash on a terminal, in the same sandbox as shell. Returns the "
             "output of the first yield_time_ms, and exit_code if the command has ended by then; "
             "otherwise it keeps running and the result has a session_id: write_stdin types into "
             "it or gets more output.",
    .args = &shape,
    .example = "{\"cmd\": \"python3\", \"yield_time_ms\": 1000}",
    .mutating = true,
    .text = "cmd",
    .is_command = true,
    .run = exec_command_run,
    .subject = exec_command_subject,
};
