/* cordon sessions: list, show, export, import, rm, fork. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/catalog.h"
#include "agent/exchange.h"
#include "agent/undo.h"
#include "cli/cmds.h"
#include "cli/session_view.h"
#include "config/config.h"
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum {
    LISTED = 50, /* entries shown on a terminal without --all */
    REMOVED_MAX = 10 * 1000,
    DAMAGE_SHOWN = 10,
};
#define LIST_ARENA ((size_t)1 << 30)

static bool sessions_dir(struct cli *cli, const char **ret_dir, struct err *err)
{
    return config_state_path(cli->arena, "sessions", ret_dir, err);
}

static void sessions_print_notes(struct cli *cli, const struct store *s)
{
    const json_t *note;
    size_t i;
    json_array_foreach(store_notes(s), i, note)
        out_warn(cli, "%s: %s", store_id(s), json_string_value(note));
}

static bool sessions_open_stored(
    struct cli *cli, const char *word, struct store **ret_store, struct err *err)
{
    const char *dir;
    if (!sessions_dir(cli, &dir, err) || !store_open(dir, word, STORE_READ, ret_store, err))
        return false;
    sessions_print_notes(cli, *ret_store);
    return true;
}

/* list ---------------------------------------------------------------------------------------- */

struct sessions_list_options {
    bool all, ids;
};

static bool list_json(struct cli *cli, const struct catalog *c, struct err *err)
{
    json_t *object = json_object(), *list = json_array();
    for (size_t i = 0; i < c->n; i++)
        json_push(list, field_write(&catalog_shape, &c->entries[i]));
    json_put(object, "sessions", list);
    return out_json(cli, object, err);
}

static void list_text(struct cli *cli, const struct catalog *c, bool all)
{
    size_t n = all || !cli->to_terminal ? c->n : MIN(c->n, (size_t)LISTED);
    session_view_list(cli, c, n);
    if (c->n == 0)
        out_note(cli, "there are no sessions yet");
    if (n < c->n)
        out_note(cli, "%zu more: --all shows them", c->n - n);
}

static void warn_of_damage(struct cli *cli, const struct catalog *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        if (c->entries[i].damage.n && n++ < DAMAGE_SHOWN)
            out_warn(cli, "damaged: " STR_FMT, STR_ARG(c->entries[i].damage));
    if (n > DAMAGE_SHOWN)
        out_warn(cli, "%zu more are damaged", n - DAMAGE_SHOWN);
}

static bool sessions_run_list(struct cli *cli, const struct args *args, struct err *err)
{
    const struct sessions_list_options *options = args->options;
    const char *dir;
    AUTO_ARENA struct arena a = ARENA_INIT(LIST_ARENA);
    struct catalog c = {0};
    if (!sessions_dir(cli, &dir, err) || !catalog_load(dir, &a, &c, err))
        return false;
    if (!options->ids)
        warn_of_damage(cli, &c);
    if (cli->json)
        return list_json(cli, &c, err);
    if (!options->ids)
        list_text(cli, &c, options->all);
    for (size_t i = 0; i < c.n && options->ids; i++)
        out_name(cli, c.entries[i].id, '\n');
    return true;
}

static const struct opt list_opts[] = {
    OPT_SET("all", 'a', struct sessions_list_options, all,
        "on a terminal, too, more than the newest 50"),
    OPT_SET("ids", 0, struct sessions_list_options, ids, "print the ids only, one on each line"),
};

static const struct example list_examples[] = {
    {"cordon sessions list", "the newest first"},
    {"cordon sessions list --json | jq -r '.sessions[0].id'", "the last one"},
};

static const struct cmd cmd_list = {
    .name = "list",
    .summary = "list sessions, the newest first",
    .about =
        "For each its id, when its last message was, how many messages it has, its title (or how "
        "its first question begins), and the directory that it worked in.",
    .usage = "",
    CMD_OPTS(list_opts, struct sessions_list_options),
    CMD_EXAMPLES(list_examples),
    .run = sessions_run_list,
};

/* show ---------------------------------------------------------------------------------------- */

struct sessions_show_options {
    bool full;
};

static bool sessions_show_json(struct cli *cli, const struct store *s, struct err *err)
{
    static const char *const keys[] = {
        "id", "created_at", "title", "cwd", "provider", "model", "system_prompt"};
    json_t *object = json_object();
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (store_text(s, keys[i]).p)
            json_put(object, keys[i], json_text(store_text(s, keys[i])));
    AUTO_JSON json_t *counting = store_messages(s);
    json_put(object, "updated_at", json_text(store_updated_at(s)));
    json_put(object, "file", json_text(str_z(store_path(s))));
    json_put(object, "messages", json_incref((json_t *)store_all(s)));
    json_put(object, "counting", json_integer((json_int_t)json_array_size(counting)));
    if (store_is_imported(s))
        json_put(object, "imported", json_true());
    json_put(object, "notes", json_incref((json_t *)store_notes(s)));
    return out_json(cli, object, err);
}

static bool sessions_run_show(struct cli *cli, const struct args *args, struct err *err)
{
    const struct sessions_show_options *options = args->options;
    AUTO_STORE struct store *s = NULL;
    if (!sessions_open_stored(cli, args->v[0], &s, err))
        return false;
    if (cli->json)
        return sessions_show_json(cli, s, err);
    session_view_show(cli, s, options->full);
    return true;
}

static const struct opt show_opts[] = {
    OPT_SET("full", 0, struct sessions_show_options, full, "results of tools in full"),
};

static const struct example show_examples[] = {
    {"cordon sessions show 3f2a91c0", "by the start of its id"},
};

static const struct cmd cmd_show = {
    .name = "show",
    .summary = "show a session's messages",
    .about = "A session is named by its id, by the start of one if there is only one such, or as a "
             "file: *.json or *.jsonl, or anything with a '/' in it.",
    .usage = "SESSION",
    .min_args = 1,
    .max_args = 1,
    .arg_kind = ARG_SESSION,
    CMD_OPTS(show_opts, struct sessions_show_options),
    CMD_EXAMPLES(show_examples),
    .run = sessions_run_show,
};

/* export -------------------------------------------------------------------------------------- */

struct sessions_export_options {
    const char *output;
    bool force;
};

static bool sessions_run_export(struct cli *cli, const struct args *args, struct err *err)
{
    const struct sessions_export_options *options = args->options;
    AUTO_STORE struct store *s = NULL;
    if (!sessions_open_stored(cli, args->v[0], &s, err))
        return false;
    if (!options->output) {
        exchange_add(s, &cli->stdout_buf);
        return buf_ok(&cli->stdout_buf) || err_set(err, E_IO, "the session is too large to print");
    }
    AUTO_BUF struct buf text = BUF_INIT(4 * (size_t)STORE_BYTES_MAX);
    exchange_add(s, &text);
    if (!exchange_put(options->output, buf_str(&text), options->force, err))
        return false;
    if (!cli->json)
        return true;
    json_t *object = json_object();
    json_put(object, "id", json_string(store_id(s)));
    json_put(object, "file", json_text(str_z(options->output)));
    return out_json(cli, object, err);
}

static const struct opt export_opts[] = {
    OPT_STRING("output", 'o', struct sessions_export_options, output, "FILE", ARG_FILE,
        "write to this file, which only you can read"),
    OPT_SET("force", 0, struct sessions_export_options, force, "replace the file if it exists"),
};

static const struct example export_examples[] = {
    {"cordon sessions export 3f2a91c0 -o login-bug.json", "to give it to somebody"},
};

static const struct cmd cmd_export = {
    .name = "export",
    .summary = "write a session as one JSON document",
    .about =
        "The v1 envelope: version, id, system_prompt, created_at, updated_at, messages, and all "
        "other keys that it came with. The same session always gives the same bytes, and so "
        "does one that was imported from them.",
    .usage = "SESSION",
    .min_args = 1,
    .max_args = 1,
    .arg_kind = ARG_SESSION,
    CMD_OPTS(export_opts, struct sessions_export_options),
    CMD_EXAMPLES(export_examples),
    .run = sessions_run_export,
};

/* import -------------------------------------------------------------------------------------- */

struct sessions_import_options {
    bool replace;
};

/* Input that is not a file, such as a pipe, is read into memory first. */
static bool open_input(const char *name, int *ret_fd, struct err *err)
{
    struct stat st;
    bool dash = strcmp(name, "-") == 0;
    AUTO_FD int fd = dash ? dup(STDIN_FILENO) : open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0 && errno == ENOENT)
        return err_errno(err, E_NOT_FOUND, errno, "cannot read '%s'", name);
    if (fd < 0 || fstat(fd, &st) != 0)
        return err_errno(err, E_IO, errno, "cannot read '%s'", name);
    if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) {
        *ret_fd = TAKE_FD(fd);
        return true;
    }
    AUTO_BUF struct buf text = BUF_INIT((size_t)STORE_BYTES_MAX + (1 << 20));
    AUTO_FD int memory = file_nameless();
    if (!file_read(fd, (size_t)STORE_BYTES_MAX, name, &text, err) ||
        !file_write(memory, buf_str(&text), name, err))
        return false;
    *ret_fd = TAKE_FD(memory);
    return true;
}

static bool sessions_run_import(struct cli *cli, const struct args *args, struct err *err)
{
    const struct sessions_import_options *options = args->options;
    const struct str hide[] = {
        str_z(getenv("ANTHROPIC_API_KEY") ? getenv("ANTHROPIC_API_KEY") : ""),
        str_z(getenv("OPENAI_API_KEY")), {0}};
    AUTO_STORE struct store *s = NULL;
    const char *dir;
    struct exchange_import import = {
        .name = strcmp(args->v[0], "-") ? args->v[0] : "standard input",
        .replace = options->replace,
        .hide = hide};
    if (!sessions_dir(cli, &dir, err) || !open_input(args->v[0], &import.fd, err) ||
        !exchange_import(dir, &import, &s, err))
        return false;
    sessions_print_notes(cli, s);
    if (!cli->json) {
        out_line(cli, "%s", store_id(s));
        return true;
    }
    json_t *object = json_object();
    json_put(object, "id", json_string(store_id(s)));
    json_put(object, "messages", json_integer((json_int_t)json_array_size(store_all(s))));
    return out_json(cli, object, err);
}

static const struct opt import_opts[] = {
    OPT_SET("replace", 0, struct sessions_import_options, replace,
        "take the place of a session with its id"),
};

static const struct example import_examples[] = {
    {"cordon sessions import login-bug.json", "prints its id, which is kept"},
};

static const struct cmd cmd_import = {
    .name = "import",
    .summary = "take a session from a file",
    .about = "The file is what export wrote, or a session file with lines; - is the standard "
             "input. Its id is "
             "kept, and so is every key that is not known here. A version that is not known, or "
             "messages that are not what they should be, are refused (E_CONFIG). Somebody else may "
             "have written it: --continue leaves it out until you have resumed it by its id, and "
             "its system prompt is exported again, but never used.",
    .usage = "FILE",
    .min_args = 1,
    .max_args = 1,
    .arg_kind = ARG_FILE,
    CMD_OPTS(import_opts, struct sessions_import_options),
    CMD_EXAMPLES(import_examples),
    .run = sessions_run_import,
};

/* rm ------------------------------------------------------------------------------------------ */

static bool sessions_run_rm(struct cli *cli, const struct args *args, struct err *err)
{
    const char *dir, *undo, *id;
    AUTO_JSON json_t *removed = json_array();
    if (!sessions_dir(cli, &dir, err) || !config_state_path(cli->arena, "undo", &undo, err))
        return false;
    for (size_t i = 0; i < args->n; i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(LIST_ARENA);
        if (!catalog_find(dir, str_z(args->v[i]), &a, &id, err) || !catalog_remove(dir, id, err))
            return false;
        undo_remove(undo, id);
        json_push(removed, json_string(id));
    }
    if (!cli->json)
        return true;
    json_t *object = json_object();
    json_put(object, "removed", json_take(&removed));
    return out_json(cli, object, err);
}

static const struct example rm_examples[] = {
    {"cordon sessions rm 3f2a91c0", "for good: there is no question"},
};

static const struct cmd cmd_rm = {
    .name = "rm",
    .summary = "remove sessions for good",
    .about = "One that is in use is refused (E_CONFLICT).",
    .usage = "SESSION…",
    .min_args = 1,
    .max_args = REMOVED_MAX,
    .arg_kind = ARG_SESSION,
    CMD_EXAMPLES(rm_examples),
    .run = sessions_run_rm,
};

/* fork ---------------------------------------------------------------------------------------- */

struct sessions_fork_options {
    const char *id;
};

static bool sessions_run_fork(struct cli *cli, const struct args *args, struct err *err)
{
    const struct sessions_fork_options *options = args->options;
    AUTO_STORE struct store *s = NULL;
    const char *dir, *word;
    size_t n;
    if (!sessions_dir(cli, &dir, err) ||
        !exchange_parse_fork(args->v[0], cli->arena, &word, &n, err) ||
        !exchange_fork(dir, word, n, options->id, &s, err))
        return false;
    sessions_print_notes(cli, s);
    if (!cli->json) {
        out_line(cli, "%s", store_id(s));
        return true;
    }
    json_t *object = json_object();
    json_put(object, "id", json_string(store_id(s)));
    json_put(object, "forked_from",
        json_incref(json_object_get((json_t *)store_header(s), "forked_from")));
    json_put(object, "messages", json_integer((json_int_t)json_array_size(store_all(s))));
    return out_json(cli, object, err);
}

static const struct opt fork_opts[] = {
    OPT_STRING("id", 0, struct sessions_fork_options, id, "ID", ARG_ANY, "the new session's id"),
};

static const struct example fork_examples[] = {
    {"cordon sessions fork 3f2a91c0@4", "its first four messages, as a session of its own"},
};

static const struct cmd cmd_fork = {
    .name = "fork",
    .summary = "begin a session with the first messages of another",
    .about =
        "Without @N all of them. Between tool calls and their results there is no cut: then the "
        "results are taken along. Prints the new id.",
    .usage = "SESSION[@N]",
    .min_args = 1,
    .max_args = 1,
    .arg_kind = ARG_SESSION,
    CMD_OPTS(fork_opts, struct sessions_fork_options),
    CMD_EXAMPLES(fork_examples),
    .run = sessions_run_fork,
};

static const struct cmd *const subs[] = {
    &cmd_list,
    &cmd_show,
    &cmd_export,
    &cmd_import,
    &cmd_rm,
    &cmd_fork,
    NULL,
};

const struct cmd cmd_sessions = {
    .name = "sessions",
    .summary = "list, show, export, import, remove and fork sessions",
    .about = "A session is a file of JSON lines in $CORDON_HOME/sessions, which only you can read. "
             "It only "
             "grows: a crash loses at most the line that was being written.",
    .subs = subs,
};
