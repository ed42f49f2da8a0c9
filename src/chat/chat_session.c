/* /session, /fork, /export, /model, /compact: commands about the conversation and its model. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/conversations.h"
#include "agent/exchange.h"
#include "agent/line_file.h"
#include "agent/prose.h"
#include "base/utf8.h"
#include "chat/chat.h"
#include "io/replace.h"

#include <limits.h>

enum {
    OTHERS_SHOWN = 5,
    TITLE_SHOWN = 50,
};
#define CATALOG_ARENA ((size_t)1 << 30)

/* Switching sessions -------------------------------------------------------------------------- */

static void chat_session_print_notes(struct chat *chat)
{
    size_t i;
    const json_t *note;
    json_array_foreach(store_notes(chat->setup.store), i, note)
        chat_note(chat, json_string_value(note));
}

/* Continues with another session; takes ownership of it. */
static void chat_session_enter(struct chat *chat, struct store *store)
{
    AUTO_BUF struct buf b = BUF_INIT(4096);
    AUTO_ERR struct err late = {0};
    if (!agent_setup_enter(&chat->setup, store, &late))
        chat_note_error(chat, &late);
    AUTO_JSON json_t *messages = store_messages(chat->setup.store);
    size_t n = json_array_size(messages);
    pthread_mutex_lock(&chat->lock);
    chat->used = (struct usage){0};
    chat->context = 0;
    pthread_mutex_unlock(&chat->lock);
    buf_reset(&chat->aside);
    buf_printf(
        &b, "session %s, with %zu message%s", store_id(chat->setup.store), n, n == 1 ? "" : "s");
    chat_note(chat, buf_z(&b));
    chat_session_print_notes(chat);
}

void chat_session_fork(struct chat *chat, struct str words)
{
    AUTO_ERR struct err err = {0};
    struct store *fork = NULL;
    const char *dir;
    int64_t n = 0;
    size_t all = json_array_size(store_all(chat->setup.store));
    if (!all)
        err_set(&err, E_CLI_INVALID_ARG, "this session has no messages to fork");
    else if (words.n && !str_to_int(words, 0, (int64_t)all, &n))
        err_set(&err, E_CLI_INVALID_ARG,
            "invalid value for /fork: expected a number of messages from 0 to %zu, counted "
            "from the first",
            all);
    else if (conversations_dir(chat->setup.arena, &dir, &err) &&
             exchange_fork_open(
                 dir, chat->setup.store, words.n ? (size_t)n : SIZE_MAX, &fork, &err))
        chat_session_enter(chat, fork);
    if (err.code)
        chat_note_error(chat, &err);
}

/* /session ------------------------------------------------------------------------------------ */

static void chat_session_add_entry(struct buf *b, const struct catalog_entry *e)
{
    struct str title = e->title.p ? e->title : STR("");
    size_t n = utf8_cut(title, TITLE_SHOWN);
    buf_printf(b, "\n  " STR_FMT "  %3llu messages  " STR_FMT "%s", STR_ARG(str_head(e->id, 8)),
        (unsigned long long)e->messages, STR_ARG(str_head(title, n)), n < title.n ? "…" : "");
}

static void say_session(struct chat *chat, const struct catalog *c)
{
    AUTO_BUF struct buf b = BUF_INIT(64 << 10);
    struct str cwd = str_z(chat->setup.tools.options.cwd);
    size_t shown = 0;
    size_t n = json_array_size(store_all(chat->setup.store));
    buf_printf(&b, "session %s, with %zu message%s\n  %s", store_id(chat->setup.store), n,
        n == 1 ? "" : "s", store_path(chat->setup.store));
    for (size_t i = 0; i < c->n && shown < OTHERS_SHOWN; i++) {
        const struct catalog_entry *e = &c->entries[i];
        bool here = str_eq(e->cwd, cwd) && !e->imported;
        if (!here || str_is(e->id, store_id(chat->setup.store)) || !e->messages)
            continue;
        if (shown++ == 0)
            buf_add_z(&b, "\nother sessions of this directory, for /session ID:");
        chat_session_add_entry(&b, e);
    }
    chat_note(chat, buf_z(&b));
}

/* Finds a session by a title that no other session has. */
static const char *chat_session_find_title(
    const struct catalog *c, struct str words, struct arena *a)
{
    const struct catalog_entry *found = NULL;
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        if (str_eq(c->entries[i].title, words)) {
            found = &c->entries[i];
            n++;
        }
    return n == 1 ? arena_strdup(a, found->id) : NULL;
}

static bool open_other(struct chat *chat, struct str words, const char *dir,
    const struct catalog *c, struct store **ret_store, struct err *err)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    const char *id = chat_session_find_title(c, words, &a);
    if (str_is(words, "new"))
        return agent_setup_new_session(&chat->setup, ret_store, err);
    const char *word = id ? id : arena_strdup(&a, words);
    AUTO_STORE struct store *look = NULL;
    if (!store_open(dir, word, STORE_READ, &look, err))
        return false;
    if (strcmp(store_id(look), store_id(chat->setup.store)) == 0)
        return err_set(err, E_CONFLICT, "'%s' is the current session", store_id(look));
    return store_open(dir, word, STORE_WRITE, ret_store, err);
}

void chat_session_run(struct chat *chat, struct str words)
{
    AUTO_ERR struct err err = {0};
    AUTO_ARENA struct arena a = ARENA_INIT(CATALOG_ARENA);
    struct catalog c = {0};
    struct store *other = NULL;
    const char *dir;
    bool ok = conversations_dir(chat->setup.arena, &dir, &err) && catalog_load(dir, &a, &c, &err);
    if (ok && words.n == 0) {
        say_session(chat, &c);
        return;
    }
    if (ok && open_other(chat, words, dir, &c, &other, &err)) {
        chat_session_enter(chat, other);
        AUTO_JSON json_t *messages = store_messages(chat->setup.store);
        pthread_mutex_lock(&chat->lock);
        chat_past_show(chat, messages);
        pthread_mutex_unlock(&chat->lock);
        return;
    }
    chat_note_error(chat, &err);
}

/* /export ------------------------------------------------------------------------------------- */

/* Path of the export: expands "~/"; the default is a file in the working directory. */
static const char *export_path(struct chat *chat, struct str words, struct arena *a)
{
    const char *home = chat->setup.tools.options.home;
    if (words.n == 0)
        return arena_printf(a, "session-%.8s.md", store_id(chat->setup.store));
    if (str_starts_with(words, STR("~/")) && home)
        return arena_printf(a, "%s/" STR_FMT, home, STR_ARG(str_skip(words, 2)));
    return arena_strdup(a, words);
}

static bool write_export(struct chat *chat, const char *path, bool replace, struct err *err)
{
    AUTO_BUF struct buf text = BUF_INIT(4 * (size_t)STORE_BYTES_MAX);
    if (str_ends_with(str_z(path), STR(".json")))
        exchange_add(chat->setup.store, &text);
    else if (str_ends_with(str_z(path), STR(".md")))
        prose_add(chat->setup.store, &text);
    else
        return err_set(err, E_CLI_INVALID_ARG,
            "'%s' must end in .md (readable text) or .json (for 'cordon sessions import')", path);
    if (!buf_ok(&text))
        return err_set(err, E_IO, "the session is too large to write");
    if (replace_path(path, buf_str(&text), replace ? 0 : REPLACE_NEW, err))
        return true;
    if (err->code == E_CONFLICT)
        err_set(err, E_CONFLICT, "'%s' already exists: use '/export --force %s' to replace it",
            path, path);
    return false;
}

void chat_session_export(struct chat *chat, struct str words)
{
    AUTO_ERR struct err err = {0};
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    AUTO_BUF struct buf b = BUF_INIT(64 << 10);
    bool force = str_is(words, "--force") || str_starts_with(words, STR("--force "));
    if (force)
        words = str_skip(words, sizeof("--force") - 1);
    while (words.n && words.p[0] == ' ')
        words = str_skip(words, 1);
    if (words.n > PATH_MAX)
        err_set(&err, E_CLI_INVALID_ARG, "the file name is too long");
    const char *path = err.code ? NULL : export_path(chat, words, &a);
    if (!path || !write_export(chat, path, force, &err)) {
        chat_note_error(chat, &err);
        return;
    }
    buf_printf(&b, "written to %s, which only you can read", path);
    chat_note(chat, buf_z(&b));
}

/* /model -------------------------------------------------------------------------------------- */

void chat_session_model(struct chat *chat, struct str words)
{
    AUTO_ERR struct err err = {0};
    AUTO_BUF struct buf b = BUF_INIT(64 << 10);
    if (str_find(words, ' ') >= 0)
        err_set(&err, E_CLI_INVALID_ARG, "the name of a model must be one word");
    if (err.code || (words.n && !agent_setup_set_model(&chat->setup, words, &err))) {
        chat_note_error(chat, &err);
        return;
    }
    chat->window = agent_setup_agent(&chat->setup).window;
    buf_printf(&b, "model: %s (%s)", provider_model(chat->setup.provider),
        provider_name(chat->setup.provider));
    chat_note(chat, buf_z(&b));
}

/* /compact ------------------------------------------------------------------------------------ */

static bool run_compact(struct chat *chat, struct err *err)
{
    struct agent agent = agent_setup_agent(&chat->setup);
    struct agent_outcome outcome;
    agent.tell = chat_events_add;
    agent.context = chat;
    bool ok = agent_compact(&agent, &outcome, err);
    pthread_mutex_lock(&chat->lock);
    usage_add(&chat->used, &outcome.usage);
    pthread_mutex_unlock(&chat->lock);
    agent_outcome_done(&outcome);
    return ok;
}

void chat_session_compact(struct chat *chat, struct str words)
{
    (void)words;
    (void)chat_turn_start_work(chat, run_compact);
}
