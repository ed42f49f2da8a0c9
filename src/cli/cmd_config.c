/* cordon config: show and check the settings, their values and their sources. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmds.h"
#include "config/config_errors.h"
#include "config/config_sources.h"
#include "tui/bind.h"

enum {
    LINE_MAX_BYTES = 4 << 20,
    VALUE_WIDTH = 44,
    KEY_WIDTH = 16,
};

static bool no_home(struct err *err)
{
    return err_set(err, E_CONFIG, "there is no home directory: set HOME or XDG_CONFIG_HOME");
}

/* show ---------------------------------------------------------------------------------------- */

static void add_sources(struct buf *line, const json_t *from)
{
    const json_t *place;
    size_t i;
    json_array_foreach((json_t *)from, i, place)
    {
        const char *variable = json_string_value(json_object_get(place, "variable"));
        const char *file = json_string_value(json_object_get(place, "file"));
        buf_add_z(line, i ? ", " : "");
        if (variable)
            buf_printf(line, "$%s", variable);
        else
            buf_printf(line, "%s:%lld", file, json_integer_value(json_object_get(place, "line")));
    }
    if (i == 0)
        buf_add_z(line, "default");
}

/* Prints a line of YAML with its source as a comment. A setting without a value is commented
 * out. */
static void config_print_row(struct cli *cli, const json_t *row)
{
    AUTO_BUF struct buf line = BUF_INIT(LINE_MAX_BYTES);
    const json_t *value = json_object_get(row, "value"), *from = json_object_get(row, "from");
    bool none = json_is_null(value);
    buf_printf(&line, "%s%s:", none ? "# " : "", json_string_value(json_object_get(row, "key")));
    if (!none) {
        buf_add_byte(&line, ' ');
        json_add_compact(&line, value);
    }
    while (line.n < VALUE_WIDTH)
        buf_add_byte(&line, ' ');
    buf_add_z(&line, "  # ");
    if (none && json_array_size(from) == 0)
        buf_add_z(&line, "not set");
    else
        add_sources(&line, from);
    out_name(cli, buf_str(&line), '\n');
}

static bool config_run_show(struct cli *cli, const struct args *args, struct err *err)
{
    (void)args;
    AUTO(config_sources_done) struct config_sources s = {0};
    struct config config;
    if (!config_sources_load(".", cli->arena, &s, &config, err))
        return false;
    AUTO_JSON json_t *rows = config_sources_json(&s, &config);
    if (cli->json) {
        json_t *object = json_object();
        json_put(object, "settings", json_take(&rows));
        return out_json(cli, object, err);
    }
    size_t i;
    const json_t *row;
    json_array_foreach(rows, i, row)
    {
        config_print_row(cli, row);
    }
    return true;
}

static const struct example show_examples[] = {
    {"cordon config show", "every setting, with its file and line"},
    {"cordon config show --json", "the same as JSON"},
};

static const struct cmd cmd_show = {
    .name = "show",
    .summary = "print all settings in effect, and the source of each",
    .about = "A comment after each setting states whether it is a default, or the file and line "
             "or the environment variable that sets it. Options of a command override all of "
             "them. The output can be used as a settings file. API keys in variables are not "
             "shown.",
    .usage = "",
    CMD_EXAMPLES(show_examples),
    .run = config_run_show,
};

/* check --------------------------------------------------------------------------------------- */

struct config_check_options {
    bool project;
};

static void print_checked(struct cli *cli, const struct config_source *source, json_t *files)
{
    json_t *file = json_object();
    json_put(file, "file", json_text(str_z(source->path)));
    json_put(file, "is_there", json_boolean(source->is_there));
    json_push(files, file);
    if (cli->json)
        return;
    out_styled(cli, OUT_GREEN, source->is_there ? "ok      " : "absent  ");
    out_name(cli, str_z(source->path), '\n');
}

/* One file that is checked. */
struct checked_file {
    struct config_source source;
    const struct shape *shape;
};

static bool read_named(
    struct cli *cli, const struct args *args, struct checked_file *file, struct err *err)
{
    const struct config_check_options *o = args->options;
    struct config config;
    file->shape = o->project ? &config_project_shape : &config_user_shape;
    if (!config_read_file(args->v[0], cli->arena, &file->source, err))
        return false;
    if (!file->source.is_there)
        return err_set(err, E_IO, "no such file: '%s'", args->v[0]);
    return config_parse(&file->source, file->shape, cli->arena, &config, err);
}

static bool config_check_named(struct cli *cli, const struct args *args, json_t *files,
    struct checked_file *file, struct err *err)
{
    if (!read_named(cli, args, file, err))
        return false;
    print_checked(cli, &file->source, files);
    return true;
}

/* A project with invalid settings is not found: only the first error is known. */
static bool check_here(struct cli *cli, json_t *files, struct checked_file *file, struct err *err)
{
    AUTO(config_sources_done) struct config_sources s = {0};
    struct config config;
    bool ok = config_sources_load(".", cli->arena, &s, &config, err);
    *file = (struct checked_file){s.user, &config_user_shape};
    if (!ok)
        return false;
    if (s.user.path)
        print_checked(cli, &s.user, files);
    print_checked(cli, &s.project, files);
    return true;
}

static bool is_same_place(const struct err *a, const struct err *b)
{
    const struct err_pair *of_a = err_ctx_get(a, "field"), *of_b = err_ctx_get(b, "field");
    return of_a && of_b && of_a->text && of_b->text && strcmp(of_a->text, of_b->text) == 0;
}

/* The first error, then the others of the file. */
static bool report_errors(
    struct cli *cli, const struct checked_file *file, struct err *first, struct err *err)
{
    struct config_errors all = {0};
    AUTO_JSON json_t *list = json_array();
    json_push(list, err_to_json(first));
    if (first->code == E_CONFIG && file->source.path)
        config_find_errors(&file->source, file->shape, cli->arena, &all);
    AUTO_JSON json_t *more = json_object();
    for (size_t i = 0; i < all.n; i++)
        if (!is_same_place(&all.p[i], first))
            json_push(list, err_to_json(&all.p[i]));
    json_put(more, "errors", json_take(&list));
    bool ok = out_fail(cli, first, json_take(&more), err);
    for (size_t i = 0; i < all.n; i++)
        if (!is_same_place(&all.p[i], first))
            out_say_error(cli, &all.p[i]);
    if (all.more)
        out_note(cli, "%zu more errors are not shown", all.more);
    config_errors_done(&all);
    return ok;
}

static bool config_run_check(struct cli *cli, const struct args *args, struct err *err)
{
    const struct config_check_options *o = args->options;
    AUTO_JSON json_t *files = json_array();
    AUTO_ERR struct err failed = {0};
    struct checked_file file = {0};
    if (o->project && args->n == 0)
        return err_set(err, E_CLI_INVALID_ARG, "--project requires a FILE");
    if (!(args->n ? config_check_named(cli, args, files, &file, &failed)
                  : check_here(cli, files, &file, &failed)))
        return report_errors(cli, &file, &failed, err);
    if (!cli->json)
        return true;
    json_t *object = json_object();
    json_put(object, "files", json_take(&files));
    return out_json(cli, object, err);
}

static const struct opt check_opts[] = {
    OPT_SET(
        "project", 0, struct config_check_options, project, "FILE contains a project's settings"),
};

static const struct example check_examples[] = {
    {"cordon config check", "your settings, and those of the project in this directory"},
};

static const struct cmd cmd_check = {
    .name = "check",
    .summary = "check settings; report errors with their location",
    .about = "Without FILE, checks your settings and those of the project. All errors of a file "
             "are reported with file, line and column, with --json in \"errors\"; of text that "
             "is not YAML, and of the project's settings without FILE, only the first. Exit "
             "status: 0 if valid (also if your settings file does not exist), 10 if FILE cannot "
             "be read, 17 if it is invalid.",
    .usage = "[FILE]",
    .max_args = 1,
    .arg_kind = ARG_FILE,
    CMD_OPTS(check_opts, struct config_check_options),
    CMD_EXAMPLES(check_examples),
    .run = config_run_check,
};

/* path, schema, keys -------------------------------------------------------------------------- */

static bool config_run_path(struct cli *cli, const struct args *args, struct err *err)
{
    (void)args;
    const char *path = config_user_path(cli->arena);
    if (!path)
        return no_home(err);
    if (!cli->json) {
        out_name(cli, str_z(path), '\n');
        return true;
    }
    json_t *object = json_object();
    json_put(object, "path", json_text(str_z(path)));
    return out_json(cli, object, err);
}

static const struct cmd cmd_path_of = {
    .name = "path",
    .summary = "print the path of your settings file",
    .about = "The path is printed even if the file does not exist.",
    .usage = "",
    .run = config_run_path,
};

static bool config_run_schema(struct cli *cli, const struct args *args, struct err *err)
{
    (void)args;
    json_t *schema = field_schema(&config_user_shape);
    if (cli->json) {
        json_t *object = json_object();
        json_put(object, "schema", schema);
        return out_json(cli, object, err);
    }
    json_add_pretty(&cli->stdout_buf, schema);
    json_decref(schema);
    out_text(cli, STR("\n"));
    return true;
}

static const struct cmd cmd_schema = {
    .name = "schema",
    .summary = "print the JSON Schema of your settings",
    .about = "Draft 2020-12; describes every setting with its meaning and default, for editors "
             "that validate files.",
    .usage = "",
    .run = config_run_schema,
};

static void print_keys(struct cli *cli, const struct bind_action *action, const json_t *keys)
{
    AUTO_BUF struct buf line = BUF_INIT(LINE_MAX_BYTES);
    const json_t *key;
    size_t i;
    buf_printf(&line, "%-23s ", action->name);
    size_t start = line.n;
    json_array_foreach((json_t *)keys, i, key)
    {
        buf_printf(&line, "%s%s", i ? ", " : "", json_string_value(key));
    }
    while (line.n < start + KEY_WIDTH)
        buf_add_byte(&line, ' ');
    buf_printf(&line, " %s", action->help);
    out_name(cli, buf_str(&line), '\n');
}

static bool config_run_keys(struct cli *cli, const struct args *args, struct err *err)
{
    (void)args;
    struct config config;
    struct bindings b = {0};
    if (!config_load_user(cli->arena, &config, err) || !config_bindings(&config, &b, err))
        return false;
    json_t *rows = json_array();
    for (const struct bind_action *a = bind_actions; a->name; a++) {
        json_t *row = json_object(), *keys = config_keys(&config, &b, a);
        json_put(row, "action", json_string(a->name));
        json_put(row, "keys", keys);
        json_put(row, "help", json_string(a->help));
        json_push(rows, row);
        if (!cli->json)
            print_keys(cli, a, keys);
    }
    json_t *object = json_object();
    json_put(object, "actions", rows);
    if (cli->json)
        return out_json(cli, object, err);
    json_decref(object);
    return true;
}

static const struct cmd cmd_keys = {
    .name = "keys",
    .summary = "list actions for key bindings, and their keys",
    .about = "These actions are the possible values of 'keys' in the settings.",
    .usage = "",
    .run = config_run_keys,
};

static const struct cmd *const subs[] = {
    &cmd_show,
    &cmd_check,
    &cmd_path_of,
    &cmd_schema,
    &cmd_keys,
    NULL,
};

const struct cmd cmd_config = {
    .name = "config",
    .summary = "show and check settings",
    .about = "Settings are in your config.yaml; a project may add names of files that mark its "
             "root. See cordon-config(1) for each setting.",
    .minor = true,
    .subs = subs,
};
