/* cordon tools, cordon tool: list the tools, and call one. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "cli/agent_opts.h"
#include "cli/cmds.h"
#include "cli/out.h"
#include "io/timed_write.h"
#include "tool/call_arguments.h"
#include "tool/call_server.h"

/* tools --------------------------------------------------------------------------------------- */

static bool run_tools(struct cli *cli, const struct args *args, struct err *err)
{
    (void)args;
    if (cli->json)
        return out_json(cli, tool_specs(), err);
    for (size_t i = 0; i < n_tools; i++) {
        const struct tool *t = tools[i];
        out_styled(cli, OUT_BOLD, t->name);
        out_line(cli, "%s%s%s%s", t->alias ? " (" : "", t->alias ? t->alias : "",
            t->alias ? ")" : "", t->mutating ? ", makes changes" : "");
        out_line(cli, "  %s", t->about);
        for (size_t f = 0; f < t->args->n_fields; f++) {
            const struct field *field = &t->args->fields[f];
            out_line(cli, "    %-20s %s%s%s", field->name, field->help,
                field->def ? "; default " : "", field->def ? field->def : "");
        }
    }
    return true;
}

const struct cmd cmd_tools = {
    .name = "tools",
    .summary = "list the tools that a model may call",
    .about = "With --json: the specifications for a model's service, with JSON Schemas.",
    .usage = "",
    .minor = true,
    .run = run_tools,
};

/* tool ---------------------------------------------------------------------------------------- */

struct tool_options {
    struct tool_setup_options tools;
    const char *json;
    struct opt_words arg;
    bool serve;
};

static bool tools_read_pairs(
    const struct tool *tool, const struct opt_words *pairs, json_t *object, struct err *err)
{
    for (size_t i = 0; i < pairs->n; i++)
        if (!call_arguments_add(tool, pairs->v[i], object, err))
            return false;
    return true;
}

/* Prints text unchanged to a pipe or file; made printable on a terminal. */
static void print_content(struct cli *cli, struct str text)
{
    if (!cli->to_terminal) {
        out_text(cli, text);
        return;
    }
    struct str line, part;
    while (str_cut(text, '\n', &line, &text)) {
        while (str_cut(line, '\t', &part, &line)) {
            utf8_add_printable(&cli->stdout_buf, part);
            out_text(cli, line.n ? STR("\t") : STR(""));
        }
        out_text(cli, STR("\n"));
    }
}

/* Prints the result: completely as JSON, or only the content that a model would read. */
static bool tools_print_result(
    struct cli *cli, const struct tool_result *result, bool as_json, struct err *err)
{
    cli->status = result->error.code ? err_status(result->error.code) : 0;
    if (as_json)
        return out_json(cli, tool_result_json(result), err);
    if (result->error.code)
        out_say_error(cli, &result->error);
    if (!result->error.code || result->has_output)
        print_content(cli, buf_str(&result->content));
    return true;
}

/* The process is about to exit: a stalled stderr must not delay it. */
static void tools_report_canceled(void *context, const struct err *error)
{
    struct cli *cli = context;
    timed_write_end(&cli->deadline);
    out_say_error(cli, error);
}

static bool tools_serve(struct cli *cli, const struct args *args, struct err *err)
{
    const struct tool_options *options = args->options;
    struct tool_setup setup = TOOL_SETUP_INIT;
    if (args->n || options->json || options->arg.n)
        return err_set(err, E_CLI_INVALID_ARG,
            "--serve reads names and arguments of tools from standard input: it takes no "
            "NAME, --json or --arg");
    if (!tool_setup_open(cli->arena, &options->tools, out_notices(cli), &setup, err))
        return false;
    tool_setup_warn(&setup);
    const struct call_server_options server = {.box = setup.box,
        .toolbox = &setup.options,
        .on_canceled = tools_report_canceled,
        .context = cli};
    bool ok = call_server_run(&server, err);
    tool_setup_done(&setup);
    return ok;
}

/* State of a single call. */
struct one_call {
    struct cli *cli;
    const struct tool_options *options;
    struct str name;
    json_t *pairs;   /* from --arg */
    struct buf text; /* from --json */
    struct err bad;  /* error in reading either */
};

/* A signal interrupted a tool that does not poll. Writes the result with a short timeout, and
 * exits. */
static void tools_on_canceled(void *context, const struct tool_result *result)
{
    const struct one_call *c = context;
    AUTO_ERR struct err err = {0};
    struct write_deadline p = TIMED_WRITE_INIT;
    timed_write_end(&p);
    c->cli->deadline = p;
    if (tools_print_result(c->cli, result, c->options->json != NULL, &err))
        timed_write(STDOUT_FILENO, buf_str(&c->cli->stdout_buf), &p);
    _exit(c->cli->status);
}

static void run_call(struct one_call *c, struct tool_setup *setup, struct tool_result *ret_result)
{
    setup->options.one_call = true;
    setup->options.called_off = tools_on_canceled;
    setup->options.context = c;
    if (c->bad.code)
        tool_refuse(setup->box, c->name, &c->bad, ret_result);
    else if (c->options->json)
        tool_call(setup->box, c->name, buf_str(&c->text), ret_result);
    else
        tool_call_json(setup->box, c->name, c->pairs, ret_result);
}

/* Makes a result for a tool that could not be called. */
static void not_called(struct err *why, struct tool_result *ret_result)
{
    tool_result_init(ret_result);
    err_move(&ret_result->error, why);
    buf_printf(&ret_result->content, "error: %s", ret_result->error.message);
}

static bool call_one(struct one_call *c, struct err *err)
{
    const struct tool_options *options = c->options;
    struct tool_result result;
    struct tool_setup setup = TOOL_SETUP_INIT;
    AUTO_ERR struct err why = {0};
    /* Read before signals are blocked: the user may interrupt typing the arguments. */
    bool read UNUSED = tools_read_pairs(tool_find(c->name), &options->arg, c->pairs, &c->bad) &&
                       (!options->json || call_arguments_read(options->json, &c->text, &c->bad));
    if (tool_setup_open(c->cli->arena, &options->tools, out_notices(c->cli), &setup, &why)) {
        if (str_is(c->name, "shell"))
            tool_setup_warn(&setup);
        run_call(c, &setup, &result);
    } else if (options->json)
        not_called(&why, &result);
    else
        return err_move(err, &why);
    bool ok = tools_print_result(c->cli, &result, options->json != NULL, err);
    tool_result_done(&result);
    if (setup.box)
        tool_setup_done(&setup);
    return ok;
}

static bool run_tool(struct cli *cli, const struct args *args, struct err *err)
{
    const struct tool_options *options = args->options;
    if (options->serve)
        return tools_serve(cli, args, err);
    if (args->n == 0)
        return err_set(
            err, E_CLI_INVALID_ARG, "'cordon tool' needs NAME; 'cordon tools' lists the tools");
    if (options->json && options->arg.n)
        return err_set(err, E_CLI_INVALID_ARG, "--json and --arg cannot be combined");
    struct one_call c = {
        .cli = cli,
        .options = options,
        .name = str_z(args->v[0]),
        .pairs = json_object(),
        .text = BUF_INIT(2 * TOOL_ARGUMENTS_MAX),
    };
    bool ok = call_one(&c, err);
    json_decref(c.pairs);
    buf_done(&c.text);
    err_done(&c.bad);
    return ok;
}

static const struct opt tool_opts[] = {
    {
        .name = "json",
        .type = OPT_TEXT,
        .offset = OPT_OFFSET(const char *, struct tool_options, json),
        .value = "ARGS",
        .help = "arguments as JSON, or @FILE, or - for standard input; print the result as JSON",
        .replaces = true,
    },
    OPT_WORDS("arg", 0, struct tool_options, arg, "NAME=VALUE",
        "one argument; print the content; may be repeated"),
    OPT_SET("serve", 0, struct tool_options, serve,
        "read calls from standard input, one {\"name\", \"arguments\", \"request_id\"} "
        "per line, and print a result for each"),
    TOOL_SETUP_OPTS(struct tool_options, tools),
};

static const struct opt_group tool_groups[] = {{"fs-mode", "Files and commands"}};

static const struct example tool_examples[] = {
    {"cordon tool read_file --arg path=README.md --arg limit=20", "the first lines of a file"},
    {"cordon tool list_dir --json '{\"depth\": 1}'", "print the complete result as JSON"},
    {"cordon tool --serve < calls.jsonl",
        "several calls; sessions of exec_command stay alive between them"},
};

const struct cmd cmd_tool = {
    .name = "tool",
    .minor = true,
    .summary = "call a tool as a model would",
    .about = "Runs one of the tools that 'cordon tools' lists, with the same boundary, sandbox "
             "and approval as for a model's calls.",
    .usage = "NAME|--serve",
    .max_args = 1,
    CMD_OPTS(tool_opts, struct tool_options),
    CMD_GROUPS(tool_groups),
    CMD_EXAMPLES(tool_examples),
    .run = run_tool,
};
