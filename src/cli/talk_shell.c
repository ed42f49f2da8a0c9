/* `!command`: run a command of the user where tools run. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/talk.h"
#include "tool/confine.h"

/* Reports the command to the model with the next prompt. */
static void talk_shell_notify_model(struct talk *t, const struct tool_result *result)
{
    struct buf *b = &t->aside;
    const json_t *status = json_object_get(result->details, "exit_code");
    buf_printf(b, "[The user ran a command: %s", buf_z(&t->typed));
    if (json_is_integer(status))
        buf_printf(b, "\nexit status %lld", (long long)json_integer_value(status));
    buf_add_z(b, "\n");
    buf_add_str(b, str_trim_end(buf_str(&result->content), '\n'));
    buf_add_z(b, "]\n\n");
}

static void talk_shell_show_result(struct talk *t, const struct tool_result *result)
{
    AUTO_BUF struct buf masked = BUF_INIT(64 << 20);
    bool failed = result->error.code;
    mask_add_text(&t->job.mask, buf_str(&result->content), &masked);
    pthread_mutex_lock(&t->lock);
    chat_rows_result(t->chat, STR("!"), failed, buf_str(&masked));
    pthread_mutex_unlock(&t->lock);
    if (!failed && masked.n) /* failed output is not collapsed */
        talk_show_block(t, "", buf_str(&result->content));
}

/* Needs no approval, since the user typed the command; uses the sandbox of the tools. */
static bool talk_shell_run_command(struct talk *t, struct err *err)
{
    struct toolbox *box = t->job.bench.box;
    struct tool_result result;
    AUTO_JSON json_t *arguments = json_object();
    json_put(arguments, "command", json_text(buf_str(&t->typed)));
    json_put(arguments, "timeout_ms", json_integer(CONFINE_RUNTIME_MAX_MS));
    box->by_user = true;
    tool_call_json(box, STR("shell"), arguments, &result);
    box->by_user = false;
    talk_shell_show_result(t, &result);
    talk_shell_notify_model(t, &result);
    bool canceled = result.error.code == E_CANCELED;
    tool_result_done(&result);
    return !canceled || err_set(err, E_CANCELED, "interrupted");
}

void talk_shell(struct talk *t, struct str command)
{
    if (command.n == 0) {
        talk_note(t, "!COMMAND runs it where tools run, and tells the model with the next prompt");
        return;
    }
    buf_reset(&t->typed);
    buf_add_str(&t->typed, command);
    pthread_mutex_lock(&t->lock);
    chat_rows_call(t->chat, STR("!"), STR("!"), command);
    pthread_mutex_unlock(&t->lock);
    (void)talk_start_work(t, talk_shell_run_command);
}
