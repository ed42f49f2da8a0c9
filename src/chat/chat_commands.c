/* Input other than prompts. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/prose.h"
#include "base/choice.h"
#include "chat/chat.h"
#include "path/walk.h"

#include <fcntl.h>

enum {
    FILES_SEEN = 20000, /* directory entries visited for a completion */
    KEYS_MAX = 64 << 10,
    NAME_SHOWN = 40,
};

static void say_help(struct chat *chat, struct str words);

static void chat_commands_quit(struct chat *chat, struct str words)
{
    (void)words;
    chat->leave = true;
}

static const struct chat_command {
    const char *name, *words, *help;
    void (*run)(struct chat *chat, struct str words);
    bool idle; /* deferred until the turn is over */
} commands[] = {
    {"/help", "", "list commands and keys", say_help, false},
    {"/model", "[NAME]", "show or change the model", chat_session_model, true},
    {"/session", "[ID|TITLE|new]", "show this session, or switch to another", chat_session_run,
        true},
    {"/fork", "[N]", "start a new session with all or the first N messages", chat_session_fork,
        true},
    {"/compact", "", "summarize the conversation and continue", chat_session_compact, true},
    {"/diff", "", "show the changes that tools made in this session", chat_undo_diff, true},
    {"/undo", "", "undo the file changes of the last turn", chat_undo_run, true},
    {"/approve", "[MODE|[-]RULE]", "show or change when to ask, and what is allowed",
        chat_consent_run, false},
    {"/export", "[--force] [FILE]", "write the conversation to FILE.md or FILE.json",
        chat_session_export, true},
    {"/open", "", "print the last collapsed item, then earlier ones", chat_look_open, false},
    {"/quit", "", "quit", chat_commands_quit, false},
};

/* Lists the keys, as bound by the settings. */
static void add_keys(const struct chat *chat, struct buf *b)
{
    static const struct {
        const char *action, *help;
        bool plain; /* also in plain mode, as a signal or end of input */
    } rows[] = {
        {"new-line", "insert a line break", false},
        {"open", "view collapsed items, the last one first", false},
        {"send-waiting", "interrupt and send queued messages", false},
        {"interrupt", "interrupt; twice: quit", true},
        {"delete-or-leave", "quit", true},
    };
    AUTO_BUF struct buf tab = BUF_INIT(KEYS_MAX);
    config_add_keys(&chat->setup.config, &chat->bindings, "complete", &tab);
    if (tab.n && !chat->console.plain)
        buf_printf(b, "@FILE                    a file name; %s completes it\n", buf_z(&tab));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_BUF struct buf keys = BUF_INIT(KEYS_MAX);
        config_add_keys(&chat->setup.config, &chat->bindings, rows[i].action, &keys);
        if (keys.n && (rows[i].plain || !chat->console.plain))
            buf_printf(b, "\n%-11s %s", buf_z(&keys), rows[i].help);
    }
}

static void say_help(struct chat *chat, struct str words)
{
    AUTO_BUF struct buf b = BUF_INIT(8192), name = BUF_INIT(100);
    (void)words;
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        buf_reset(&name);
        buf_printf(&name, "%s %s", commands[i].name, commands[i].words);
        buf_printf(&b, "%-24s %s\n", buf_z(&name), commands[i].help);
    }
    buf_add_z(&b, "!COMMAND                 run it as a tool; output goes with the next message\n");
    if (!chat->console.lines) /* line mode has no keys */
        add_keys(chat, &b);
    chat_note(chat, buf_z(&b));
}

/* Removes backslash escapes, as a shell does. */
static void add_plain(struct str word, struct buf *path)
{
    for (size_t i = 0; i < word.n; i++) {
        i += word.p[i] == '\\' && i + 1 < word.n;
        buf_add_byte(path, word.p[i]);
    }
}

static void offer_file(struct str path, bool dir, struct editor_list *list)
{
    AUTO_BUF struct buf word = BUF_INIT(EDITOR_CANDIDATE_BYTES);
    buf_add_byte(&word, '@');
    for (size_t i = 0; i < path.n; i++) {
        if ((uint8_t)path.p[i] < ' ' || path.p[i] == 0x7F)
            return; /* cannot be typed */
        if (memchr(" \\'\"", path.p[i], 4))
            buf_add_byte(&word, '\\');
        buf_add_byte(&word, path.p[i]);
    }
    buf_add_z(&word, dir ? "/" : "");
    if (buf_ok(&word))
        editor_offer(list, buf_str(&word), STR(""));
}

/* Offers files of the project with this prefix, one directory level at a time, without files that
 * git ignores. */
static void complete_file(struct str word, struct editor_list *list)
{
    AUTO_BUF struct buf plain = BUF_INIT(EDITOR_CANDIDATE_BYTES);
    AUTO_ERR struct err ignored = {0};
    AUTO_FD int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    AUTO_WALK struct walk *w = NULL;
    const struct walk_entry *e;
    size_t n = 0, seen = 0;
    add_plain(word, &plain);
    struct str start = buf_str(&plain);
    if (here < 0 || !walk_open(here, &(struct walk_options){.ignore = true}, &w, &ignored))
        return;
    while (n <= EDITOR_CANDIDATES && seen++ < FILES_SEEN && walk_next(w, &e, &ignored) && e) {
        bool dir = e->type == DT_DIR;
        bool on_the_way = dir && str_starts_with(start, e->path) && start.n > e->path.n &&
                          start.p[e->path.n] == '/';
        if (dir && !on_the_way)
            walk_skip(w);
        if (e->closed || !str_starts_with(e->path, start))
            continue;
        offer_file(e->path, dir, list);
        n++;
    }
}

void chat_commands_complete(void *context, struct str word, struct editor_list *list)
{
    const struct chat *chat = context;
    if (chat->question.editing)
        return;
    if (str_starts_with(word, STR("@"))) {
        complete_file(str_skip(word, 1), list);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        if (str_starts_with(str_z(commands[i].name), word))
            editor_offer(list, str_z(commands[i].name), str_z(commands[i].help));
}

void chat_commands_show_block(struct chat *chat, const char *language, struct str text)
{
    AUTO_BUF struct buf b = BUF_INIT(64 << 20), masked = BUF_INIT(64 << 20);
    mask_add_text(&chat->setup.mask, text, &masked);
    prose_add_block(&b, language, str_trim_end(buf_str(&masked), '\n'));
    pthread_mutex_lock(&chat->lock);
    chat_rows_text(chat->rows, buf_str(&b));
    chat_rows_end(chat->rows);
    pthread_mutex_unlock(&chat->lock);
}

static struct str chat_commands_trim(struct str s)
{
    while (s.n && (s.p[0] == ' ' || s.p[0] == '\n'))
        s = str_skip(s, 1);
    return str_trim_end(str_trim_end(s, '\n'), ' ');
}

/* Queues a command that must not run during a turn. */
static void wait_for_turn(struct chat *chat, const char *name, struct str words)
{
    AUTO_BUF struct buf line = BUF_INIT(2 * EDITOR_MAX);
    buf_printf(&line, "%s%s" STR_FMT, name, words.n && name[0] == '/' ? " " : "", STR_ARG(words));
    buf_add_str(&chat->later, buf_str(&line));
    buf_add_byte(&chat->later, '\0');
    pthread_mutex_lock(&chat->lock);
    chat_rows_queue(chat->rows, buf_str(&line));
    pthread_mutex_unlock(&chat->lock);
}

void chat_commands_run_later(struct chat *chat)
{
    while (chat->later.n && !chat->busy) {
        AUTO_BUF struct buf line = BUF_INIT(2 * EDITOR_MAX);
        struct str first, rest;
        str_cut(buf_str(&chat->later), '\0', &first, &rest);
        buf_add_str(&line, first);
        memmove(chat->later.p, rest.p, rest.n);
        buf_truncate(&chat->later, rest.n);
        (void)chat_commands_take(chat, buf_str(&line));
    }
}

static void chat_commands_run(struct chat *chat, const struct chat_command *c, struct str words)
{
    AUTO_BUF struct buf b = BUF_INIT(4096);
    if (words.n && !c->words[0]) {
        buf_printf(&b, "%s takes no arguments", c->name);
        chat_note(chat, buf_z(&b));
    } else if (c->idle && chat->busy) {
        wait_for_turn(chat, c->name, words);
    } else {
        c->run(chat, words);
    }
}

/* A word that begins with / and contains no other /: a path is not a command. */
static bool is_command(struct str word)
{
    return str_starts_with(word, STR("/")) && str_find(str_skip(word, 1), '/') < 0 &&
           str_find(word, '\n') < 0;
}

static void say_unknown(struct chat *chat, struct str name)
{
    AUTO_CHOICE struct choice c = CHOICE_INIT(name);
    AUTO_BUF struct buf b = BUF_INIT(2 * CHOICE_LIST_MAX), hint = BUF_INIT(CHOICE_LIST_MAX);
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        choice_add(&c, commands[i].name);
    choice_hint(&c, "", &hint);
    buf_printf(&b, "no such command '" STR_FMT "'%s", STR_ARG(str_head(name, NAME_SHOWN)),
        hint.n ? buf_z(&hint) : "; /help lists the commands");
    chat_note(chat, buf_z(&b));
}

bool chat_commands_take(struct chat *chat, struct str text)
{
    ptrdiff_t blank = str_find(text, ' ');
    struct str name = blank < 0 ? text : str_head(text, (size_t)blank);
    if (str_starts_with(text, STR("!"))) {
        if (chat->busy)
            wait_for_turn(chat, "!", chat_commands_trim(str_skip(text, 1)));
        else
            chat_shell_run(chat, chat_commands_trim(str_skip(text, 1)));
        return true;
    }
    if (!is_command(name))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        if (str_is(name, commands[i].name)) {
            chat_commands_run(chat, &commands[i], chat_commands_trim(str_skip(text, name.n)));
            return true;
        }
    say_unknown(chat, name);
    return true;
}
