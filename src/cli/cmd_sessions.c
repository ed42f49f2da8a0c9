/* cordon sessions: list, show, export, import, rm, fork. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/conversations.h"
#include "agent/exchange.h"
#include "chat/session_view.h"
#include "cli/cmds.h"
#include "cli/out.h"

enum {
    LISTED = 50, /* entries shown on a terminal without --all */
    REMOVED_MAX = 10 * 1000,
    DAMAGE_SHOWN = 10,
};
#define LIST_ARENA ((size_t)1 << 30)

/* list ---------------------------------------------------------------------------------------- */

struct sessions_list_options {
    bool all, ids;
};

static void list_text(struct cli *cli, const struct catalog *c, bool all)
{
    size_t n = all || !cli->to_terminal ? c->n : MIN(c->n, (size_t)LISTED);
    const struct session_view view = {&cli->stdout_buf, cli->to_terminal, cli->color};
    session_view_list(&view, c, n);
    if (c->n == 0)
        out_note(cli, "there are no sessions yet");
    if (n < c->n)
        out_note(cli, "%zu more: use --all to list them", c->n - n);
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
    if (!conversations_dir(cli->arena, &dir, err) || !catalog_load(dir, &a, &c, err))
        return false;
    if (!options->ids)
        warn_of_damage(cli, &c);
    if (cli->json)
        return out_json(cli, conversations_list_json(&c), err);
    if (!options->ids)
        list_text(cli, &c, options->all);
    for (size_t i = 0; i < c.n && options->ids; i++)
        out_name(cli, c.entries[i].id, '\n');
    return true;
}

static const struct opt list_opts[] = {
    OPT_SET("all", 'a', struct sessions_list_options, all,
        "on a terminal, list more than the newest 50"),
    OPT_SET("ids", 0, struct sessions_list_options, ids, "print only the ids, one per line"),
};

static const struct example list_examples[] = {
    {"cordon sessions list", "newest first"},
    {"cordon sessions list --json | jq -r '.sessions[0].id'", "the id of the newest"},
};

static const struct cmd cmd_list = {
    .name = "list",
    .summary = "list sessions, newest first",
    .about = "Prints for each session its id, the time of its last message, the number of "
             "messages, its title (or the start of its first prompt), and its working "
             "directory; on a terminal, with a header.",
    .usage = "",
    CMD_OPTS(list_opts, struct sessions_list_options),
    CMD_EXAMPLES(list_examples),
    .run = sessions_run_list,
};

/* show ---------------------------------------------------------------------------------------- */

struct sessions_show_options {
    bool full;
};

static bool sessions_run_show(struct cli *cli, const struct args *args, struct err *err)
{
    const struct sessions_show_options *options = args->options;
    AUTO_STORE struct store *s = NULL;
    if (!conversations_open(cli->arena, args->v[0], out_notices(cli), &s, err))
        return false;
    if (cli->json)
        return out_json(cli, conversations_json(s), err);
    const struct session_view view = {&cli->stdout_buf, cli->to_terminal, cli->color};
    session_view_show(&view, s, options->full);
    return true;
}

static const struct opt show_opts[] = {
    OPT_SET("full", 0, struct sessions_show_options, full, "print tool results in full"),
};

static const struct example show_examples[] = {
    {"cordon sessions show 3f2a91c0", "by a prefix of its id"},
};

static const struct cmd cmd_show = {
    .name = "show",
    .summary = "show a session's messages",
    .about = "Specify a session by its id, by a unique prefix of the id, or as a file: a name "
             "that ends in .json or .jsonl or contains '/'.",
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
    if (!conversations_open(cli->arena, args->v[0], out_notices(cli), &s, err))
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
    {"cordon sessions export 3f2a91c0 -o login-bug.json", "to share it"},
};

static const struct cmd cmd_export = {
    .name = "export",
    .summary = "write a session as one JSON document",
    .about = "The v1 envelope: version, id, system_prompt, created_at, updated_at, messages, "
             "and all other keys that were imported with it. The same session always gives the "
             "same bytes, also after an import.",
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

static bool sessions_run_import(struct cli *cli, const struct args *args, struct err *err)
{
    const struct sessions_import_options *options = args->options;
    AUTO_STORE struct store *s = NULL;
    if (!conversations_import(cli->arena, args->v[0], options->replace, out_notices(cli), &s, err))
        return false;
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
        "replace an existing session with the same id"),
};

static const struct example import_examples[] = {
    {"cordon sessions import login-bug.json", "keeps the id, and prints it"},
};

static const struct cmd cmd_import = {
    .name = "import",
    .summary = "import a session from a file",
    .about = "FILE is the output of export, or a session file of JSON lines; - is standard "
             "input. Its id and unknown keys are kept. An unsupported version or an invalid "
             "message is refused (E_CONFIG). The file is treated as untrusted: --continue "
             "ignores the session until you have resumed it by its id, and its system prompt "
             "is kept for export but never used.",
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
    AUTO_JSON json_t *removed = json_array();
    for (size_t i = 0; i < args->n; i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(LIST_ARENA);
        const char *id;
        if (!conversations_remove(&a, args->v[i], &id, err))
            return false;
        json_push(removed, json_string(id));
    }
    if (!cli->json)
        return true;
    json_t *object = json_object();
    json_put(object, "removed", json_take(&removed));
    return out_json(cli, object, err);
}

static const struct example rm_examples[] = {
    {"cordon sessions rm 3f2a91c0", "permanently, without asking"},
};

static const struct cmd cmd_rm = {
    .name = "rm",
    .summary = "delete sessions permanently",
    .about = "A session that is in use is refused (E_CONFLICT).",
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
    if (!conversations_fork(cli->arena, args->v[0], options->id, out_notices(cli), &s, err))
        return false;
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
    OPT_STRING("id", 0, struct sessions_fork_options, id, "ID", ARG_ANY, "id of the new session"),
};

static const struct example fork_examples[] = {
    {"cordon sessions fork 3f2a91c0@4", "a new session with its first four messages"},
};

static const struct cmd cmd_fork = {
    .name = "fork",
    .summary = "start a session with the first messages of another",
    .about = "Without @N, copies all messages. Tool calls are always copied with their "
             "results. Prints the new id.",
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
    .about = "A session is a file of JSON lines in $CORDON_HOME/sessions, which only you can "
             "read. Lines are only appended: a crash loses at most the line that was being "
             "written.",
    .subs = subs,
};
