/* cordon trust: remember the user's consent to the policies of scenarios. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/utf8.h"
#include "cli/box_cmds.h"
#include "cli/cmds.h"
#include "config/config.h"
#include "job/trust_held.h"
#include "job/trust_scenario.h"
#include "path/lexical.h"
#include "tui/columns.h"

enum {
    FILES_MAX = 1000,
    STATE_COLUMNS = 8,
    WHEN_COLUMNS = 12,
    LINE_MAX_BYTES = 4 << 20,
    WORDS_SHOWN = 256 * 1024,   /* bytes of a command that are shown */
    HELD_SHOWN_MAX = 64 * 1024, /* bytes of a held file that are shown */
};

struct trust_options {
    bool yes, list, remove;
};

static bool open_store(struct cli *cli, bool make, struct trust_store *ret_store, struct err *err)
{
    const char *path;
    return config_state_path(cli->arena, "trust", &path, err) &&
           trust_open(path, make, ret_store, err);
}

/* Adding -------------------------------------------------------------------------------------- */

/* Prints a line on stdout. */
static void trust_print_file(struct cli *cli, const char *what, struct str file)
{
    out_text(cli, str_z(what));
    out_name(cli, file, '\n');
}

/* Shows what the user is asked to trust, on stderr like the question. */
static void trust_print_request(struct cli *cli, const struct scenario *s, const struct trust *t,
    const struct consent_needs *needs)
{
    AUTO_BUF struct buf command = BUF_INIT(LINE_MAX_BYTES);
    buf_add_str(&command, str_head(s->command, WORDS_SHOWN));
    for (size_t i = 0; i < s->args.n && command.n <= WORDS_SHOWN; i++) {
        buf_add_byte(&command, ' ');
        buf_add_str(&command, str_head(s->args.p[i], WORDS_SHOWN));
    }
    out_note(cli, STR_FMT ":", STR_ARG(t->file));
    out_note(cli, "  command: " STR_FMT "%s", STR_ARG(str_head(buf_str(&command), WORDS_SHOWN)),
        command.n > WORDS_SHOWN ? " [and more]" : "");
    for (size_t i = 0; i < t->n_named; i++)
        out_note(cli, "  names " STR_FMT, STR_ARG(t->named[i].path));
    for (size_t i = 0; i < needs->n; i++)
        out_note(cli, "  %s (%s; %s)", needs->p[i].what, needs->p[i].field, needs->p[i].flag);
}

static bool trust_confirm(struct cli *cli, const struct trust_options *o, const struct trust *t,
    const struct consent_needs *needs, const struct scenario *s, struct err *err)
{
    if (!cli->json)
        trust_print_request(cli, s, t, needs);
    if (o->yes)
        return true;
    const char *question = arena_printf(cli->arena,
        "Trust '" STR_FMT "' to do this on every run, until the file changes?", STR_ARG(t->file));
    if (box_use_consent(cli, question, "use --yes", err))
        return true;
    if (err->code == E_APPROVAL_REQUIRED)
        err_ctx(err, "missing", "--yes %s", consent_flags(needs, cli->arena));
    return false;
}

static bool trust_scenario(struct cli *cli, const struct trust_options *o, const char *path,
    const struct scenario *s, json_t *list, struct err *err)
{
    AUTO(trust_close) struct trust_store store = TRUST_STORE_NONE;
    struct consent_needs needs;
    struct trust t;
    if (!trust_find_needs(s, cli->arena, &needs, err))
        return false;
    if (needs.n == 0) {
        out_note(cli, "'%s' does not require trust: its policy does not reach beyond the scenario",
            path);
        return true;
    }
    if (!trust_identify(s, path, cli->arena, &t, err) ||
        !trust_confirm(cli, o, &t, &needs, s, err) || !open_store(cli, true, &store, err))
        return false;
    if (!trust_grant(&store, &needs, cli->arena, &t, err))
        return false;
    if (!cli->json)
        trust_print_file(cli, "trusted: ", t.file);
    json_push(list, field_write(&trust_shape, &t));
    return true;
}

/* Held files of a repository. */

static bool confirm_held(
    struct cli *cli, struct str path, struct str bytes, bool yes, struct err *err)
{
    AUTO_BUF struct buf shown = BUF_INIT(8 * HELD_SHOWN_MAX);
    struct str line, rest = str_head(bytes, HELD_SHOWN_MAX);
    if (yes)
        return true;
    out_note(cli, STR_FMT ":", STR_ARG(path));
    while (str_cut(rest, '\n', &line, &rest)) {
        buf_reset(&shown);
        utf8_add_printable(&shown, line);
        out_note(cli, "  %s", buf_z(&shown));
    }
    if (bytes.n > HELD_SHOWN_MAX)
        out_note(cli, "  [and %zu more bytes]", bytes.n - HELD_SHOWN_MAX);
    return box_use_consent(cli, "Restore this file, so that git uses it?", "use --yes", err);
}

static bool trust_held_file(
    struct cli *cli, const struct trust_options *o, struct str path, json_t *list, struct err *err)
{
    AUTO(trust_close) struct trust_store store = TRUST_STORE_NONE;
    AUTO(trust_held_done) struct trust_held h = TRUST_HELD_NONE;
    struct trust t;
    if (!open_store(cli, true, &store, err) || !trust_held_read(path, cli->arena, &h, err) ||
        !confirm_held(cli, path, buf_str(&h.bytes), o->yes, err) ||
        !trust_held_restore(&h, &store, cli->arena, &t, err))
        return false;
    if (!cli->json)
        trust_print_file(cli, "restored: ", h.place);
    json_push(list, field_write(&trust_shape, &t));
    return true;
}

static bool trust_files(struct cli *cli, const struct args *args, json_t *object, struct err *err)
{
    json_t *list = json_array();
    json_put(object, "trusted", list);
    struct str cwd;
    if (!lexical_cwd(cli->arena, &cwd, err))
        return false;
    for (size_t i = 0; i < args->n; i++) {
        struct scenario s = {0};
        struct str whole = lexical_absolute(cli->arena, cwd, str_z(args->v[i]));
        if (trust_held_is(whole)) {
            if (!trust_held_file(cli, args->options, whole, list, err))
                return false;
            continue;
        }
        if (!scenario_load(args->v[i], cli->arena, &s, err))
            return false;
        bool ok = trust_scenario(cli, args->options, args->v[i], &s, list, err);
        scenario_done(&s);
        if (!ok)
            return false;
    }
    return true;
}

/* List, remove -------------------------------------------------------------------------------- */

static void list_line(struct cli *cli, const struct trust *t, const char *state)
{
    AUTO_BUF struct buf line = BUF_INIT(LINE_MAX_BYTES);
    char when[COLUMNS_AGO];
    columns_ago(t->trusted_at_ms, clock_wall_ms(), when);
    columns_add(&line, str_z(state), STATE_COLUMNS);
    columns_add(&line, str_z(when), WHEN_COLUMNS);
    utf8_add_printable(&line, t->file);
    out_line(cli, "%s", buf_z(&line));
}

static bool list_entries(struct cli *cli, json_t *object, struct err *err)
{
    AUTO(trust_close) struct trust_store store = TRUST_STORE_NONE;
    json_t *list = json_array();
    struct trust *entries;
    size_t n = 0;
    json_put(object, "trusted", list);
    if (!open_store(cli, false, &store, err)) {
        if (err->code != E_NOT_FOUND)
            return false;
        err_done(err);
        *err = (struct err){0};
        return true;
    }
    if (!trust_list(&store, cli->arena, &entries, &n, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        const char *state = trust_entry_state(&entries[i], cli->arena);
        json_t *entry = field_write(&trust_shape, &entries[i]);
        json_put(entry, "state", json_string(state));
        json_push(list, entry);
        if (!cli->json)
            list_line(cli, &entries[i], state);
    }
    return true;
}

static bool trust_remove_files(
    struct cli *cli, const struct args *args, json_t *object, struct err *err)
{
    AUTO(trust_close) struct trust_store store = TRUST_STORE_NONE;
    json_t *list = json_array();
    struct str cwd;
    json_put(object, "removed", list);
    if (!lexical_cwd(cli->arena, &cwd, err) || !open_store(cli, false, &store, err))
        return false;
    for (size_t i = 0; i < args->n; i++) {
        size_t n;
        struct str file = trust_entry_path(cwd, args->v[i], cli->arena);
        if (!trust_remove(&store, file, &n, err))
            return false;
        if (n == 0)
            return err_set(err, E_NOT_FOUND,
                "'%s' is not trusted; 'cordon trust --list' lists trusted files", args->v[i]);
        json_push(list, json_text(file));
        if (!cli->json)
            trust_print_file(cli, "no longer trusted: ", file);
    }
    return true;
}

static bool run_trust(struct cli *cli, const struct args *args, struct err *err)
{
    const struct trust_options *o = args->options;
    AUTO_JSON json_t *object = json_object();
    if (o->list && (o->remove || args->n))
        return err_set(err, E_CLI_INVALID_ARG, "--list cannot be combined with --remove or a file");
    if (o->remove && args->n == 0)
        return err_set(err, E_CLI_INVALID_ARG, "--remove needs FILE…: cordon trust --remove FILE…");
    if (!o->list && args->n == 0)
        return err_set(err, E_CLI_INVALID_ARG,
            "'cordon trust' needs FILE or --list: cordon trust [OPTION…] FILE…|--list");
    bool ok = o->list     ? list_entries(cli, object, err)
              : o->remove ? trust_remove_files(cli, args, object, err)
                          : trust_files(cli, args, object, err);
    if (!ok)
        return false;
    return !cli->json || out_json(cli, json_take(&object), err);
}

static const struct opt trust_opts[] = {
    OPT_SET("list", 'l', struct trust_options, list,
        "list trusted files, and whether they have changed since"),
    OPT_SET("remove", 0, struct trust_options, remove, "no longer trust these files"),
    OPT_SET("yes", 'y', struct trust_options, yes, "do not ask for confirmation"),
};

static const struct example trust_examples[] = {
    {"cordon trust login.scenario.yaml", "show the requested access, ask, and save the answer"},
    {"cordon trust .git/cordon-held/hooks/pre-commit", "restore a hook that was set aside"},
    {"cordon trust --list", "list trusted files"},
    {"cordon trust --remove login.scenario.yaml", "end the trust"},
};

const struct cmd cmd_trust = {
    .name = "trust",
    .minor = true,
    .summary = "trust scenarios and the access that they request",
    .about = "A scenario's own policy may reach beyond the scenario (no sandbox, the network, "
             "Unix sockets, your environment, directories elsewhere) only with a flag at every "
             "run, or after this command. It shows the requested access, asks for "
             "confirmation, and saves the answer in $CORDON_HOME/trust, under the SHA-256 of "
             "the file and of the files that it names by path. If one of them changes, the "
             "trust ends. A file that was set aside in a git repository (in cordon-held) is "
             "shown and, after confirmation, moved back to its place. Exit status: 0, 2 if the "
             "policy is denied in any case, 18 if a file to remove is not trusted, 20 if "
             "confirmation is required and standard input is not a terminal, 130 if the answer is "
             "no.",
    .usage = "FILE…|--list",
    .max_args = FILES_MAX,
    .arg_kind = ARG_FILE,
    CMD_OPTS(trust_opts, struct trust_options),
    CMD_EXAMPLES(trust_examples),
    .run = run_trust,
};
