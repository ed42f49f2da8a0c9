/* write_stdin: types into a session, or only reads its new output. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/poll.h"

struct stdin_args {
    uint32_t session_id;
    struct str chars;
    struct poll_args poll;
};

static const struct field fields[] = {
    FIELD_U32("session_id", struct stdin_args, session_id, "as returned by exec_command",
        .flags = FIELD_REQUIRED | FIELD_FROM_TEXT),
    FIELD_STR("chars", struct stdin_args, chars,
        "characters to type: \\n is Enter, \\u0003 Ctrl-C, \\u0004 Ctrl-D, \\u001b Escape; empty: "
        "only read",
        FIELD_RANGE(0, 1000000)),
    POLL_FIELDS(struct stdin_args),
};

static const struct shape shape =
    SHAPE("write_stdin", struct stdin_args, fields, "arguments of write_stdin");

/* Reading changes nothing, and neither does Ctrl-C. The effect of typed text depends on the running
 * program, so no rule can judge it. */
static bool write_stdin_subject(
    struct toolbox *box, const void *arguments, struct buf *text, struct err *err)
{
    const struct stdin_args *args = arguments;
    struct str chars = args->chars;
    (void)box;
    (void)err;
    while (chars.n && chars.p[0] == '\003')
        chars = str_skip(chars, 1);
    buf_add_str(text, chars);
    return true;
}

static bool write_stdin_run(
    struct toolbox *box, const void *arguments, struct tool_result *result, struct err *err)
{
    const struct stdin_args *args = arguments;
    struct tool_session *s = sessions_find(box, args->session_id, err);
    if (!s)
        return false;
    if (args->chars.n && s->over)
        tool_warns(result, "nothing was typed: the command has ended");
    else if (args->chars.n && !session_send(s->session, args->chars, err))
        return false;
    bool ok = poll_session(box, s, &args->poll, result, err);
    if (s->reports >= SESSIONS_REPORTS)
        sessions_forget(box, s);
    return ok;
}

const struct tool tool_write_stdin = {
    .name = "write_stdin",
    .about = "Types characters into a session of exec_command, or without chars only reads its new "
             "output. Waits for yield_time_ms or until the command ends; the result has exit_code "
             "if it has ended, otherwise session_id.",
    .args = &shape,
    .example = "{\"session_id\": 1, \"chars\": \"print(1)\\n\"}",
    .mutating = true,
    .text = "chars",
    .is_command = true,
    .no_rules = true,
    .run = write_stdin_run,
    .subject = write_stdin_subject,
};
