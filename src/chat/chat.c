/* A conversation with an agent in a terminal. The agent runs in a separate thread; its
 * events are added to the rows of the conversation under a lock, and the main thread draws them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "chat/chat.h"
#include "tui/leaf.h"
#include "tui/theme.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>

enum {
    QUEUE_MAX = 2 * EDITOR_MAX,
    ASIDE_MAX = 8 << 20,
    ROWS_AT_ONCE = 128,
};

void chat_signal(int fd)
{
    const uint64_t one = 1;
    (void)!write(fd, &one, sizeof(one));
}

void chat_drain(int fd)
{
    uint64_t n;
    (void)!read(fd, &n, sizeof(n));
}

void chat_note(struct chat *chat, const char *words)
{
    pthread_mutex_lock(&chat->lock);
    chat_rows_note(chat->rows, str_z(words));
    pthread_mutex_unlock(&chat->lock);
}

void chat_note_error(struct chat *chat, struct err *err)
{
    mask_err(&chat->setup.mask, err);
    pthread_mutex_lock(&chat->lock);
    chat_rows_error(chat->rows, str_z(err->message));
    pthread_mutex_unlock(&chat->lock);
}

/* Opening -------------------------------------------------------------------------------------- */

/* Applies display settings. Precedence: --color, settings, environment. */
static bool chat_set_look(struct chat *chat, struct console_options *o, struct err *err)
{
    static const enum live_colors colors[CONFIG_COLORS] = {[CONFIG_COLORS_NONE] = LIVE_NO_COLORS,
        [CONFIG_COLORS_16] = LIVE_16,
        [CONFIG_COLORS_256] = LIVE_256,
        [CONFIG_COLORS_RGB] = LIVE_RGB};
    const struct config *c = &chat->setup.config;
    const char *asked = chat->options->color;
    o->set_colors = c->colors != CONFIG_COLORS_AUTO;
    o->colors = colors[c->colors];
    if (asked && strcmp(asked, "never") == 0) {
        o->set_colors = true;
        o->colors = LIVE_NO_COLORS;
    }
    o->force_colors = asked && strcmp(asked, "always") == 0;
    if (o->force_colors && c->colors == CONFIG_COLORS_NONE)
        o->set_colors = false;
    o->bindings = &chat->bindings;
    for (size_t i = 0; i < c->theme.n; i++) {
        enum theme what;
        struct style style;
        if (!theme_find(c->theme.p[i].key, &what, err) ||
            !theme_parse(c->theme.p[i].text, &style, err))
            return false;
        theme_change(what, &style);
    }
    return config_bindings(c, &chat->bindings, err);
}

static bool chat_open_console(struct chat *chat, struct err *err)
{
    struct console_options o = {.plain = chat->options->plain};
    if (!chat_set_look(chat, &o, err) || !console_open(&chat->console, &o, err))
        return false;
    if (chat->console.lines) {
        signal(SIGPIPE, SIG_IGN); /* reported as a write error */
        return true;              /* questions are asked on the terminal, if there is one */
    }
    chat->setup.tools.options.approve.ask = chat_ask_user;
    chat->setup.tools.options.approve.context = chat;
    return true;
}

/* Handles SIGTSTP, to restore the terminal before stopping, if we control the terminal. */
static void chat_handle_stops(struct chat *chat, sigset_t *set)
{
    struct sigaction now;
    if (chat->console.plain || sigaction(SIGTSTP, NULL, &now) != 0 || now.sa_handler == SIG_IGN)
        return;
    sigaddset(set, SIGTSTP);
    if (signalfd(chat->resized, set, SFD_CLOEXEC | SFD_NONBLOCK) >= 0)
        sigprocmask(SIG_BLOCK, set, NULL);
}

static bool chat_open(struct chat *chat, struct err *err)
{
    const struct agent_options *o = chat->setup.options;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGWINCH);
    chat->setup.drop_empty = true;
    chat->setup.session_later = !o->session && !o->fork && !o->go_on;
    if (!agent_setup_open(&chat->setup, err) || !agent_setup_prepare(&chat->setup, err))
        return false;
    sigprocmask(SIG_BLOCK, &set, NULL);
    chat->resized = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    chat->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    chat->answered = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    chat->setup.tools.options.tell_diff = chat_ask_show_diff;
    chat->setup.tools.options.diff_context = chat;
    if (!chat_open_console(chat, err))
        return false;
    chat_handle_stops(chat, &set);
    chat->rows = chat_rows_new(&(struct chat_rows_options){.width = chat->console.look.cols,
        .rows = chat->console.look.rows,
        .show_links = chat->console.look.no_links || chat->console.plain,
        .whole_prompts = chat->console.lines,
        .most = ROWS_AT_ONCE});
    /* If the terminal itself edits lines, input is taken literally: no completion. */
    chat->editor = editor_new(&(struct editor_options){
        .complete = chat->console.plain ? NULL : chat_commands_complete, .context = chat});
    return true;
}

/* Prompt history ------------------------------------------------------------------------------- */

static void chat_remember_old(void *editor, struct str entry)
{
    editor_remember(editor, entry);
}

static void chat_open_history(struct chat *chat)
{
    const char *path;
    AUTO_ERR struct err ignored = {0};
    if (chat->console.plain || !config_state_path(chat->setup.arena, "history", &path, &ignored))
        return;
    history_open(&chat->history, path, (size_t)chat->setup.config.history);
    history_read(&chat->history, chat_remember_old, chat->editor);
}

void chat_remember(struct chat *chat, struct str words)
{
    history_add(&chat->history, &chat->setup.mask, words);
}

static void chat_close(struct chat *chat)
{
    const int fds[] = {chat->wake, chat->answered, chat->resized};
    console_close(&chat->console);
    chat_rows_free(chat->rows);
    editor_free(chat->editor);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        if (fds[i] >= 0)
            close(fds[i]);
    buf_done(&chat->held);
    buf_done(&chat->queue);
    buf_done(&chat->typed);
    buf_done(&chat->later);
    buf_done(&chat->aside);
    buf_done(&chat->consent);
    buf_done(&chat->question.rule);
    buf_done(&chat->question.draft);
    buf_done(&chat->place.branch);
    text_done(&chat->stay);
    err_done(&chat->err);
    err_done(&chat->end);
}

static void chat_say_hello(struct chat *chat)
{
    AUTO_BUF struct buf b = BUF_INIT(4096);
    AUTO_JSON json_t *messages = store_messages(chat->setup.store);
    AUTO_ERR struct err missing = {0};
    chat->window = agent_setup_agent(&chat->setup).window;
    if (json_array_size(messages)) {
        buf_printf(&b, "resumed session %s with %zu message%s", store_id(chat->setup.store),
            json_array_size(messages), json_array_size(messages) == 1 ? "" : "s");
        chat_note(chat, buf_z(&b));
        chat_past_show(chat, messages);
    }
    if (!leaf_check(&missing))
        chat_note(chat, missing.message);
    if (provider_is_default_script(chat->setup.provider))
        chat_note(chat, "no API key found: answering from the built-in demo script");
}

static void chat_say_goodbye(struct chat *chat)
{
    AUTO_JSON json_t *messages = store_messages(chat->setup.store);
    if (json_array_size(messages))
        notice_send(chat->options->notes, "To resume: cordon chat --session %s",
            store_id(chat->setup.store));
}

bool chat_run(const struct chat_options *options, struct err *err)
{
    struct chat chat = {
        .options = options,
        .setup = AGENT_SETUP_INIT(options->arena, &options->agent, options->warnings),
        .console = CONSOLE_NONE,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .news = PTHREAD_COND_INITIALIZER,
        .wake = -1,
        .answered = -1,
        .resized = -1,
        .question = {.rule = BUF_INIT(8 << 20), .draft = BUF_INIT(2 * EDITOR_MAX)},
        .place.branch = BUF_INIT(8 << 10),
        .held = BUF_INIT(16 << 20),
        .queue = BUF_INIT(QUEUE_MAX),
        .stay = TEXT_INIT,
        .typed = BUF_INIT(2 * EDITOR_MAX),
        .later = BUF_INIT(QUEUE_MAX),
        .aside = BUF_INIT(ASIDE_MAX),
        .consent = BUF_INIT(ASIDE_MAX),
    };
    chat.setup.on_retry = chat_events_add_retry;
    chat.setup.retry_context = &chat;
    bool ok = chat_open(&chat, err);
    if (ok) {
        chat_loop_draw(&chat); /* before creating a new session, which waits for the disk */
        ok = agent_setup_session(&chat.setup, err);
    }
    if (ok) {
        chat_open_history(&chat);
        chat_say_hello(&chat);
        chat_loop_run(&chat);
        ok = !chat.end.code || err_move(err, &chat.end);
    }
    chat_close(&chat);
    if (chat.setup.store)
        chat_say_goodbye(&chat);
    ok = agent_setup_finish(&chat.setup, ok, err);
    agent_setup_done(&chat.setup);
    return ok;
}
