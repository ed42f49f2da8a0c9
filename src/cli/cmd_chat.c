/* cordon chat: a conversation with an agent in a terminal. The agent runs in a separate thread; its
 * events are added to the rows of the conversation under a lock, and the main thread draws them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmds.h"
#include "cli/talk.h"
#include "tui/leaf.h"
#include "tui/theme.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>

enum {
    QUEUE_MAX = 2 * EDITOR_MAX,
    ASIDE_MAX = 8 << 20,
    PAST_SHOWN = 20, /* messages shown of a resumed conversation */
    ROWS_AT_ONCE = 128,
};

/* Applies display settings. Precedence: --color, settings, environment. */
static bool set_look(struct talk *t, struct console_options *o, struct err *err)
{
    static const enum live_colors colors[CONFIG_COLORS] = {[CONFIG_COLORS_NONE] = LIVE_NO_COLORS,
        [CONFIG_COLORS_16] = LIVE_16,
        [CONFIG_COLORS_256] = LIVE_256,
        [CONFIG_COLORS_RGB] = LIVE_RGB};
    const struct config *c = &t->job.config;
    const char *asked = t->job.cli->color_asked;
    o->set_colors = c->colors != CONFIG_COLORS_AUTO;
    o->colors = colors[c->colors];
    if (asked && strcmp(asked, "never") == 0) {
        o->set_colors = true;
        o->colors = LIVE_NO_COLORS;
    }
    o->force_colors = asked && strcmp(asked, "always") == 0;
    if (o->force_colors && c->colors == CONFIG_COLORS_NONE)
        o->set_colors = false;
    o->bindings = &t->bindings;
    for (size_t i = 0; i < c->theme.n; i++) {
        enum theme what;
        struct style style;
        if (!theme_find(c->theme.p[i].key, &what, err) ||
            !theme_parse(c->theme.p[i].text, &style, err))
            return false;
        theme_change(what, &style);
    }
    return config_bindings(c, &t->bindings, err);
}

static bool open_console(struct talk *t, struct err *err)
{
    struct console_options o = {.plain = t->job.options->plain};
    if (!set_look(t, &o, err) || !console_open(&t->console, &o, err))
        return false;
    if (t->console.lines) {
        signal(SIGPIPE, SIG_IGN); /* reported as a write error */
        return true;              /* questions are asked on the terminal, if there is one */
    }
    t->job.bench.options.approve.ask = talk_ask;
    t->job.bench.options.approve.context = t;
    return true;
}

/* Handles SIGTSTP, to restore the terminal before stopping, if we control the terminal. */
static void watch_stops(struct talk *t, sigset_t *set)
{
    struct sigaction now;
    if (t->console.plain || sigaction(SIGTSTP, NULL, &now) != 0 || now.sa_handler == SIG_IGN)
        return;
    sigaddset(set, SIGTSTP);
    if (signalfd(t->resized, set, SFD_CLOEXEC | SFD_NONBLOCK) >= 0)
        sigprocmask(SIG_BLOCK, set, NULL);
}

static bool open_talk(struct talk *t, struct err *err)
{
    const struct agent_options *o = t->job.options;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGWINCH);
    t->job.drop_empty = true;
    t->job.session_later = !o->session && !o->fork && !o->go_on;
    if (!agent_job_open(&t->job, err) || !agent_job_prepare(&t->job, err))
        return false;
    sigprocmask(SIG_BLOCK, &set, NULL);
    t->resized = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    t->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    t->answered = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    t->job.bench.options.tell_diff = talk_tell_diff;
    t->job.bench.options.diff_context = t;
    if (!open_console(t, err))
        return false;
    watch_stops(t, &set);
    t->chat = chat_rows_new(&(struct chat_rows_options){.width = t->console.look.cols,
        .rows = t->console.look.rows,
        .show_links = t->console.look.no_links || t->console.plain,
        .whole_prompts = t->console.lines,
        .most = ROWS_AT_ONCE});
    /* If the terminal itself edits lines, input is taken literally: no completion. */
    t->editor = editor_new(&(struct editor_options){
        .complete = t->console.plain ? NULL : talk_complete, .context = t});
    return true;
}

/* Prompt history ------------------------------------------------------------------------------- */

static void remember_old(void *editor, struct str entry)
{
    editor_remember(editor, entry);
}

static void open_history(struct talk *t)
{
    const char *path;
    AUTO_ERR struct err ignored = {0};
    if (t->console.plain || !config_state_path(t->job.cli->arena, "history", &path, &ignored))
        return;
    history_open(&t->history, path, (size_t)t->job.config.history);
    history_read(&t->history, remember_old, t->editor);
}

void talk_remember(struct talk *t, struct str words)
{
    history_add(&t->history, &t->job.mask, words);
}

static void close_talk(struct talk *t)
{
    const int fds[] = {t->wake, t->answered, t->resized};
    console_close(&t->console);
    chat_rows_free(t->chat);
    editor_free(t->editor);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        if (fds[i] >= 0)
            close(fds[i]);
    buf_done(&t->held);
    buf_done(&t->queue);
    buf_done(&t->typed);
    buf_done(&t->later);
    buf_done(&t->aside);
    buf_done(&t->consent);
    buf_done(&t->question.rule);
    buf_done(&t->question.draft);
    buf_done(&t->place.branch);
    text_done(&t->stay);
    err_done(&t->err);
    err_done(&t->end);
}

static bool chat_check_no_json(const struct cli *cli, struct err *err)
{
    return !cli->json ||
           err_set(err, E_CLI_INVALID_ARG, "a conversation has no JSON; 'cordon agent' has");
}

/* The typed text is the last text block; context added for the model comes before it. */
void talk_add_typed(const json_t *message, struct buf *text)
{
    const json_t *content = json_object_get(message, "content");
    if (message_type(message) != MESSAGE_USER) {
        message_add_text(message, text);
        return;
    }
    for (size_t i = json_array_size(content); i-- > 0 && text->n == 0;)
        buf_add_str(text, json_str(json_object_get(json_array_get(content, i), "text")));
}

/* Shows the end of a resumed conversation; all its prompts are added to the editor's history. */
void talk_show_past(struct talk *t, const json_t *messages)
{
    size_t i, n = json_array_size(messages);
    const json_t *message, *asked = NULL;
    json_array_foreach((json_t *)messages, i, message)
    {
        AUTO_BUF struct buf text = BUF_INIT(64 << 20), masked = BUF_INIT(64 << 20);
        enum message_type type = message_type(message);
        if (type == MESSAGE_TOOL_RESULT && i + PAST_SHOWN >= n)
            talk_tell_past(t, asked, message);
        if (type == MESSAGE_TOOL_RESULT)
            continue;
        asked = message;
        talk_add_typed(message, &text);
        mask_add_text(&t->job.mask, buf_str(&text), &masked);
        if (type == MESSAGE_USER)
            editor_remember(t->editor, buf_str(&masked));
        if (i + PAST_SHOWN < n || masked.n == 0)
            continue;
        if (type == MESSAGE_USER)
            chat_rows_user(t->chat, buf_str(&masked));
        else
            chat_rows_text(t->chat, buf_str(&masked));
        chat_rows_end(t->chat);
    }
}

static void say_hello(struct talk *t)
{
    AUTO_BUF struct buf b = BUF_INIT(4096);
    AUTO_JSON json_t *messages = store_messages(t->job.store);
    AUTO_ERR struct err missing = {0};
    t->window = agent_job_agent(&t->job).window;
    if (json_array_size(messages)) {
        buf_printf(&b, "session %s goes on, with %zu message%s", store_id(t->job.store),
            json_array_size(messages), json_array_size(messages) == 1 ? "" : "s");
        talk_note(t, buf_z(&b));
        talk_show_past(t, messages);
    }
    if (!leaf_check(&missing))
        talk_note(t, missing.message);
    if (provider_is_default_script(t->job.provider))
        talk_note(t, "no key is set: a script that comes with cordon answers, not a model");
}

static void say_goodbye(struct talk *t)
{
    AUTO_JSON json_t *messages = store_messages(t->job.store);
    if (json_array_size(messages))
        out_note(t->job.cli, "cordon: 'cordon chat --session %s' goes on", store_id(t->job.store));
}

static bool run_chat(struct cli *cli, const struct args *args, struct err *err)
{
    struct talk t = {
        .job = AGENT_JOB_INIT(cli, args->options),
        .console = CONSOLE_NONE,
        .lock = PTHREAD_MUTEX_INITIALIZER,
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
    t.job.on_retry = talk_tell_retry;
    t.job.retry_context = &t;
    if (!chat_check_no_json(cli, err))
        return false;
    bool ok = open_talk(&t, err);
    if (ok) {
        talk_draw(&t); /* before creating a new session, which waits for the disk */
        ok = agent_job_session(&t.job, err);
    }
    if (ok) {
        open_history(&t);
        say_hello(&t);
        talk_loop(&t);
        ok = !t.end.code || err_move(err, &t.end);
    }
    close_talk(&t);
    if (t.job.store)
        say_goodbye(&t);
    ok = agent_job_finish(&t.job, ok, err);
    agent_job_done(&t.job);
    return ok;
}

static const struct opt chat_opts[] = {
    OPT_SET("plain", 0, struct agent_options, plain,
        "only lines, nothing is redrawn: for a screen reader; also where TERM is dumb"),
    AGENT_JOB_OPTS(struct agent_options),
    BENCH_OPTS(struct agent_options),
};

static const struct example chat_examples[] = {
    {"cordon chat", "in this directory"},
    {"cordon chat < prompts.txt > answers.txt", "a prompt a line, without a terminal"},
    {"cordon chat --continue --approval on-request", "goes on, and asks before changes"},
};

const struct cmd cmd_chat = {
    .name = "chat",
    .summary = "talk to a model that works with the tools",
    .about = "A conversation in the terminal. What is said stays in the terminal's own scrollback; "
             "below it are what is at work and an editor. /help says which keys and commands there "
             "are.",
    .usage = "",
    CMD_OPTS(chat_opts, struct agent_options),
    CMD_EXAMPLES(chat_examples),
    .run = run_chat,
};
