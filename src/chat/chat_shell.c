/* `!command`: run a command of the user where tools run. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "chat/chat.h"
#include "tool/confine.h"

/* Reports the command to the model with the next prompt. */
static void chat_shell_notify_model(struct chat *chat, const struct tool_result *result)
{
    struct buf *b = &chat->aside;
    const json_t *status = json_object_get(result->details, "exit_code");
    buf_printf(b, "[The user ran a command: %s", buf_z(&chat->typed));
    if (json_is_integer(status))
        buf_printf(b, "\nexit status %lld", (long long)json_integer_value(status));
    buf_add_z(b, "\n");
    buf_add_str(b, str_trim_end(buf_str(&result->content), '\n'));
    buf_add_z(b, "]\n\n");
}

static void chat_shell_show_result(struct chat *chat, const struct tool_result *result)
{
    AUTO_BUF struct buf masked = BUF_INIT(64 << 20);
    bool failed = result->error.code;
    mask_add_text(&chat->setup.mask, buf_str(&result->content), &masked);
    pthread_mutex_lock(&chat->lock);
    chat_rows_result(chat->rows, STR("!"), failed, buf_str(&masked));
    pthread_mutex_unlock(&chat->lock);
    if (!failed && masked.n) /* failed output is not collapsed */
        chat_commands_show_block(chat, "", buf_str(&result->content));
}

/* Needs no approval, since the user typed the command; uses the sandbox of the tools. */
static bool chat_shell_run_command(struct chat *chat, struct err *err)
{
    struct toolbox *box = chat->setup.tools.box;
    struct tool_result result;
    AUTO_JSON json_t *arguments = json_object();
    json_put(arguments, "command", json_text(buf_str(&chat->typed)));
    json_put(arguments, "timeout_ms", json_integer(CONFINE_RUNTIME_MAX_MS));
    box->by_user = true;
    tool_call_json(box, STR("shell"), arguments, &result);
    box->by_user = false;
    chat_shell_show_result(chat, &result);
    chat_shell_notify_model(chat, &result);
    bool canceled = result.error.code == E_CANCELED;
    tool_result_done(&result);
    return !canceled || err_set(err, E_CANCELED, "interrupted");
}

void chat_shell_run(struct chat *chat, struct str command)
{
    if (command.n == 0) {
        chat_note(chat,
            "!COMMAND runs a command like a tool; its output is sent to the model with the "
            "next message");
        return;
    }
    buf_reset(&chat->typed);
    buf_add_str(&chat->typed, command);
    pthread_mutex_lock(&chat->lock);
    chat_rows_call(chat->rows, STR("!"), STR("!"), command);
    pthread_mutex_unlock(&chat->lock);
    (void)chat_turn_start_work(chat, chat_shell_run_command);
}
