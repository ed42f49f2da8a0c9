/* /session, /fork, /export, /model, /compact: commands about the conversation and its model. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/catalog.h"
#include "agent/exchange.h"
#include "agent/prose.h"
#include "agent/tape.h"
#include "base/utf8.h"
#include "cli/talk.h"
#include "io/replace.h"

#include <limits.h>

enum {
    OTHERS_SHOWN = 5,
    TITLE_SHOWN = 50,
};
#define CATALOG_ARENA ((size_t)1 << 30)

static bool sessions_dir(struct talk *t, const char **ret_dir, struct err *err)
{
    return config_state_path(t->job.cli->arena, "sessions", ret_dir, err);
}

/* Switching sessions -------------------------------------------------------------------------- */

static void talk_session_print_notes(struct talk *t)
{
    size_t i;
    const json_t *note;
    json_array_foreach(store_notes(t->job.store), i, note) talk_note(t, json_string_value(note));
}

/* Continues with another session; takes ownership of it. */
static void talk_session_enter(struct talk *t, struct store *store)
{
    AUTO_BUF struct buf b = BUF_INIT(4096);
    AUTO_ERR struct err late = {0};
    if (!agent_job_enter(&t->job, store, &late))
        talk_note_error(t, &late);
    AUTO_JSON json_t *messages = store_messages(t->job.store);
    size_t n = json_array_size(messages);
    pthread_mutex_lock(&t->lock);
    t->used = (struct usage){0};
    t->context = 0;
    pthread_mutex_unlock(&t->lock);
    buf_reset(&t->aside);
    buf_printf(&b, "session %s, with %zu message%s", store_id(t->job.store), n, n == 1 ? "" : "s");
    talk_note(t, buf_z(&b));
    talk_session_print_notes(t);
}

void talk_fork(struct talk *t, struct str words)
{
    AUTO_ERR struct err err = {0};
    struct store *fork = NULL;
    const char *dir;
    int64_t n = 0;
    size_t all = json_array_size(store_all(t->job.store));
    if (words.n && !str_to_int(words, 0, (int64_t)all, &n))
        err_set(&err, E_CLI_INVALID_ARG,
            "/fork takes a number of messages from 0 to %zu, counted from the first", all);
    else if (sessions_dir(t, &dir, &err) &&
             exchange_fork_open(dir, t->job.store, words.n ? (size_t)n : SIZE_MAX, &fork, &err))
        talk_session_enter(t, fork);
    if (err.code)
        talk_note_error(t, &err);
}

/* /session ------------------------------------------------------------------------------------ */

static void talk_session_add_entry(struct buf *b, const struct catalog_entry *e)
{
    struct str title = e->title.p ? e->title : STR("");
    size_t n = utf8_cut(title, TITLE_SHOWN);
    buf_printf(b, "\n  " STR_FMT "  %3llu messages  " STR_FMT "%s", STR_ARG(str_head(e->id, 8)),
        (unsigned long long)e->messages, STR_ARG(str_head(title, n)), n < title.n ? "…" : "");
}

static void say_session(struct talk *t, const struct catalog *c)
{
    AUTO_BUF struct buf b = BUF_INIT(64 << 10);
    struct str cwd = str_z(t->job.bench.options.cwd);
    size_t shown = 0;
    size_t n = json_array_size(store_all(t->job.store));
    buf_printf(&b, "session %s, with %zu message%s\n  %s", store_id(t->job.store), n,
        n == 1 ? "" : "s", store_path(t->job.store));
    for (size_t i = 0; i < c->n && shown < OTHERS_SHOWN; i++) {
        const struct catalog_entry *e = &c->entries[i];
        bool here = str_eq(e->cwd, cwd) && !e->imported;
        if (!here || str_is(e->id, store_id(t->job.store)) || !e->messages)
            continue;
        if (shown++ == 0)
            buf_add_z(&b, "\nothers of this directory, for /session ID:");
        talk_session_add_entry(&b, e);
    }
    talk_note(t, buf_z(&b));
}

/* Finds a session by a title that no other session has. */
static const char *talk_session_find_title(
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

static bool open_other(struct talk *t, struct str words, const char *dir, const struct catalog *c,
    struct store **ret_store, struct err *err)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    const char *id = talk_session_find_title(c, words, &a);
    if (str_is(words, "new"))
        return agent_job_new_session(&t->job, ret_store, err);
    const char *word = id ? id : arena_strdup(&a, words);
    AUTO_STORE struct store *look = NULL;
    if (!store_open(dir, word, STORE_READ, &look, err))
        return false;
    if (strcmp(store_id(look), store_id(t->job.store)) == 0)
        return err_set(err, E_CONFLICT, "this is the session '%s'", store_id(look));
    return store_open(dir, word, STORE_WRITE, ret_store, err);
}

void talk_session(struct talk *t, struct str words)
{
    AUTO_ERR struct err err = {0};
    AUTO_ARENA struct arena a = ARENA_INIT(CATALOG_ARENA);
    struct catalog c = {0};
    struct store *other = NULL;
    const char *dir;
    bool ok = sessions_dir(t, &dir, &err) && catalog_load(dir, &a, &c, &err);
    if (ok && words.n == 0) {
        say_session(t, &c);
        return;
    }
    if (ok && open_other(t, words, dir, &c, &other, &err)) {
        talk_session_enter(t, other);
        AUTO_JSON json_t *messages = store_messages(t->job.store);
        pthread_mutex_lock(&t->lock);
        talk_show_past(t, messages);
        pthread_mutex_unlock(&t->lock);
        return;
    }
    talk_note_error(t, &err);
}

/* /export ------------------------------------------------------------------------------------- */

/* Path of the export: expands "~/"; the default is a file in the working directory. */
static const char *export_path(struct talk *t, struct str words, struct arena *a)
{
    const char *home = t->job.bench.options.home;
    if (words.n == 0)
        return arena_printf(a, "session-%.8s.md", store_id(t->job.store));
    if (str_starts_with(words, STR("~/")) && home)
        return arena_printf(a, "%s/" STR_FMT, home, STR_ARG(str_skip(words, 2)));
    return arena_strdup(a, words);
}

static bool write_export(struct talk *t, const char *path, bool replace, struct err *err)
{
    AUTO_BUF struct buf text = BUF_INIT(4 * (size_t)STORE_BYTES_MAX);
    if (str_ends_with(str_z(path), STR(".json")))
        exchange_add(t->job.store, &text);
    else if (str_ends_with(str_z(path), STR(".md")))
        prose_add(t->job.store, &text);
    else
        return err_set(err, E_CLI_INVALID_ARG,
            "'%s' ends neither in .md, for people, nor in .json, for 'cordon sessions import'",
            path);
    if (!buf_ok(&text))
        return err_set(err, E_IO, "the session is too large to write");
    if (replace_path(path, buf_str(&text), replace ? 0 : REPLACE_NEW, err))
        return true;
    if (err->code == E_CONFLICT)
        err_set(
            err, E_CONFLICT, "'%s' exists already: '/export --force %s' replaces it", path, path);
    return false;
}

void talk_export(struct talk *t, struct str words)
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
        err_set(&err, E_CLI_INVALID_ARG, "the name is too long");
    const char *path = err.code ? NULL : export_path(t, words, &a);
    if (!path || !write_export(t, path, force, &err)) {
        talk_note_error(t, &err);
        return;
    }
    buf_printf(&b, "written: %s, which only you can read", path);
    talk_note(t, buf_z(&b));
}

/* /model -------------------------------------------------------------------------------------- */

void talk_model(struct talk *t, struct str words)
{
    AUTO_ERR struct err err = {0};
    AUTO_BUF struct buf b = BUF_INIT(64 << 10);
    if (str_find(words, ' ') >= 0)
        err_set(&err, E_CLI_INVALID_ARG, "a model's name is one word");
    if (err.code || (words.n && !agent_job_set_model(&t->job, words, &err))) {
        talk_note_error(t, &err);
        return;
    }
    t->window = agent_job_agent(&t->job).window;
    buf_printf(&b, "%s %s, %s", provider_model(t->job.provider),
        words.n ? "answers from now on" : "answers", provider_name(t->job.provider));
    talk_note(t, buf_z(&b));
}

/* /compact ------------------------------------------------------------------------------------ */

static bool run_compact(struct talk *t, struct err *err)
{
    struct agent agent = agent_job_agent(&t->job);
    struct agent_outcome outcome;
    agent.tell = talk_tell;
    agent.context = t;
    bool ok = agent_compact(&agent, &outcome, err);
    pthread_mutex_lock(&t->lock);
    usage_add(&t->used, &outcome.usage);
    pthread_mutex_unlock(&t->lock);
    agent_outcome_done(&outcome);
    return ok;
}

void talk_compact(struct talk *t, struct str words)
{
    (void)words;
    (void)talk_start_work(t, run_compact);
}
