/* cordon policy new: generate a policy for a program, or from a run of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/learn.h"
#include "audit/script.h"
#include "base/utf8.h"
#include "cli/cmds.h"
#include "config/config.h"
#include "job/program.h"
#include "path/beneath.h"
#include "path/exact.h"
#include "path/home.h"
#include "path/lexical.h"
#include "policy/load.h"
#include "policy/validate.h"

#include <sys/stat.h>

enum {
    COMMAND_WORDS_MAX = 100 * 1000,
    STARTER_MAX = 64 << 20,
    LOOK_ARENA = 1 << 20,
    SEARCH_PATH_MAX = 16 * 1024,
    PROGRAMS_MAX = 1 + 2 * SCRIPT_DEPTH_MAX,
};

struct policy_new_options {
    const char *program;
    bool learn;
    bool write_ack;
};

static struct policy_host policy_new_host(const struct cli *cli)
{
    return (struct policy_host){.home = home_dir(cli->arena)};
}

/* Programs ------------------------------------------------------------------------------------ */

/* Resolves symlinks in a path; returns the path itself on failure. */
static struct str policy_new_resolve(struct cli *cli, struct str path)
{
    AUTO_FD int fd = beneath_peek(path.p);
    AUTO_FREE char *name = fd < 0 ? NULL : beneath_name(fd);
    return name ? arena_str(cli->arena, str_z(name)) : path;
}

struct programs {
    struct starter_path p[PROGRAMS_MAX];
    size_t n;
    bool shell;
};

static void programs_add(struct programs *list, struct starter_path program)
{
    for (size_t i = 0; i < list->n; i++)
        if (str_eq(list->p[i].path, program.path))
            return;
    if (list->n < PROGRAMS_MAX && utf8_valid(program.path))
        list->p[list->n++] = program;
}

static void programs_add_interpreter(struct cli *cli, struct programs *list, struct str path)
{
    struct str target = policy_new_resolve(cli, path);
    struct starter_path program = {.path = path, .note = "runs the script"};
    if (!str_eq(path, target))
        program.target = target;
    list->shell |= policy_is_shell(path);
    programs_add(list, program);
}

/* Adds the interpreters of a script: the one in its first line, and the program that env(1) would
 * find. */
static void add_interpreters(
    struct cli *cli, struct programs *list, struct str script, struct str cwd)
{
    AUTO_ERR struct err ignored = {0};
    struct script_line line;
    for (int i = 0; i < SCRIPT_DEPTH_MAX && script_read(script.p, cli->arena, &line); i++) {
        script = lexical_absolute(cli->arena, cwd, line.interpreter);
        if (!program_find(cli->arena, script, cwd, &script, &ignored)) {
            out_warn(cli, "the script's interpreter '" STR_FMT "' is not there", STR_ARG(script));
            return;
        }
        programs_add_interpreter(cli, list, script);
        struct str name = script_env_program(line.argument), found;
        if (str_is(lexical_name(script), "env") && name.p &&
            program_find(cli->arena, name, cwd, &found, &ignored))
            programs_add_interpreter(cli, list, script = found);
    }
}

/* Policy text --------------------------------------------------------------------------------- */

/* Whether a policy may name this directory at all. */
static bool may_name(struct cli *cli, struct str dir)
{
    const struct policy_host user = policy_new_host(cli);
    struct policy policy = {.fs.allowed_read = {&dir, 1}};
    struct verdict v;
    policy_validate(&policy, &user, cli->arena, &v);
    return v.denials.n == 0 && utf8_valid(dir);
}

static void find_root(struct cli *cli, struct str cwd, struct starter *starter)
{
    if (may_name(cli, cwd))
        starter->root = cwd;
    else
        out_warn(cli, "the current directory is left out: a policy can't name '" STR_FMT "'",
            STR_ARG(cwd));
}

/* The generated policy must pass the check that its comments name. */
static bool check_starter(struct cli *cli, struct str text, const char *program, struct err *err)
{
    const struct policy_host user = policy_new_host(cli);
    struct policy policy;
    struct verdict v;
    if (!policy_parse(text, "new.yaml", cli->arena, &policy, err))
        return false;
    policy_validate(&policy, &user, cli->arena, &v);
    if (program)
        policy_validate_command(&v, &(struct policy_command){.path = program});
    return verdict_ok(&v, err);
}

static bool run_plain(
    struct cli *cli, const struct policy_new_options *options, struct str cwd, struct err *err)
{
    struct starter starter = {0};
    struct programs programs = {.n = 0};
    struct str program = {0};
    if (options->program) {
        if (!program_find(cli->arena, str_z(options->program), cwd, &program, err))
            return false;
        programs.shell = policy_is_shell(program);
        programs_add(&programs, (struct starter_path){.path = program});
        add_interpreters(cli, &programs, program, cwd);
    }
    AUTO_BUF struct buf text = BUF_INIT(STARTER_MAX);
    starter.exec = (struct starter_paths){programs.p, programs.n};
    starter.shell = programs.shell;
    find_root(cli, cwd, &starter);
    starter_write(&text, &starter);
    if (!check_starter(cli, buf_str(&text), program.p, err))
        return false;
    out_text(cli, buf_str(&text));
    return out_wrap(cli, "text", err);
}

/* --learn ------------------------------------------------------------------------------------- */

/* Callback of learn_host: the type of a path, and whether a policy may name it. */
static struct learn_look policy_new_inspect_path(void *arg, struct str path, enum blocked_use use)
{
    struct cli *cli = arg;
    const struct policy_host user = policy_new_host(cli);
    AUTO_ARENA struct arena scratch = ARENA_INIT(LOOK_ARENA);
    struct policy policy = {.fs_write_unsafe_ack = true};
    struct str_list list = {&path, 1};
    struct learn_look found = {.type = LEARN_GONE};
    struct verdict v;
    struct stat st;
    if (stat(path.p, &st) != 0)
        return found;
    found.type = S_ISDIR(st.st_mode) ? LEARN_DIR : LEARN_FILE;
    if (use == BLOCKED_WRITE)
        policy.fs.allowed_write = list;
    else
        policy.fs.allowed_read = list;
    policy_validate(&policy, &user, &scratch, &v);
    if (v.denials.n)
        found.why_not = arena_strdup(cli->arena, str_z(v.denials.p[0].reason));
    return found;
}

static struct str peers_text(struct cli *cli, const struct learn *l)
{
    AUTO_BUF struct buf b = BUF_INIT(LEARN_PEERS_MAX * 80);
    if (!l->network)
        return (struct str){0};
    for (size_t i = 0; i < l->n_peers; i++) {
        buf_add_z(&b, i ? ", " : "");
        buf_add_str(&b, l->peers[i]);
    }
    if (l->n_peers == LEARN_PEERS_MAX)
        buf_add_z(&b, ", ...");
    return arena_str(cli->arena, buf_str(&b));
}

static void warn_end(struct cli *cli, const struct learn *l, const struct trace_end *end)
{
    static const char lack[] = "the policy may lack what it would have used";
    if (end->interrupted)
        out_warn(cli, "interrupted by signal %d (%s): %s", end->interrupted,
            strsignal(end->interrupted), lack);
    else if (end->signal)
        out_warn(cli, "the command was ended by signal %d (%s): %s", end->signal,
            strsignal(end->signal), lack);
    else if (end->exit_code)
        out_warn(cli, "the command ended with exit code %d: %s", end->exit_code, lack);
    if (end->left)
        out_warn(cli, "processes that the command left running were ended");
    if (end->unseen)
        out_warn(cli, "some of what the command did could not be understood, and is missing");
    if (l->full)
        out_warn(cli, "the command used more than %d different paths: the rest is missing",
            LEARN_PATHS_MAX);
}

static json_t *paths_json(struct str first, const struct starter_paths *list)
{
    json_t *paths = json_array();
    if (first.p)
        json_push(paths, json_text(first));
    for (size_t i = 0; i < list->n; i++)
        json_push(paths, json_text(list->p[i].path));
    return paths;
}

static json_t *refused_json(const struct starter_paths *list)
{
    json_t *refused = json_array();
    for (size_t i = 0; i < list->n; i++) {
        json_t *object = json_object();
        exact_put(object, "path", list->p[i].path);
        json_put(object, "reason", json_string(list->p[i].note));
        json_push(refused, object);
    }
    return refused;
}

static json_t *end_json(const struct trace_end *end)
{
    json_t *object = json_object();
    json_put(object, "success", json_boolean(end->exit_code == 0 && !end->interrupted));
    json_put(object, "exit_code", end->exit_code < 0 ? json_null() : json_integer(end->exit_code));
    json_put(object, "signal", end->signal ? json_integer(end->signal) : json_null());
    json_put(object, "terminated_by_harness", json_boolean(end->interrupted));
    return object;
}

static json_t *learned_json(
    const struct starter *starter, const struct learn *l, const struct trace_end *end)
{
    static const struct str none = {0};
    json_t *object = json_object();
    json_put(object, "read", paths_json(starter->root, &starter->read));
    json_put(object, "write", paths_json(none, &starter->write));
    json_put(object, "exec", paths_json(none, &starter->exec));
    json_put(object, "made_and_run", paths_json(none, &starter->made));
    json_put(object, "network", json_boolean(l->network));
    json_put(object, "unix_sockets", json_boolean(starter->unix_sockets));
    json_put(object, "refused", refused_json(&starter->refused));
    json_put(object, "complete", json_boolean(!l->full && !end->unseen && !end->interrupted));
    return object;
}

static bool holds_program(const struct starter_paths *programs, struct str dir)
{
    for (size_t i = 0; i < programs->n; i++) {
        struct str path = programs->p[i].path;
        if (lexical_is_below(dir, path) && str_find(lexical_rest(dir, path), '/') < 0)
            return true;
    }
    return false;
}

/* Directories of PATH in which the command found programs, then the default ones. */
static struct str policy_new_search_path(struct cli *cli, const struct starter_paths *programs)
{
    AUTO_BUF struct buf b = BUF_INIT(SEARCH_PATH_MAX);
    struct str dir, rest = str_z(getenv("PATH")), usual = STR(STARTER_PATH), at;
    while (str_cut(rest, ':', &dir, &rest)) {
        bool known = false;
        for (struct str u = usual; !known && str_cut(u, ':', &at, &u);)
            known = str_eq(at, dir);
        if (known || dir.n == 0 || dir.p[0] != '/' || !holds_program(programs, dir))
            continue;
        buf_add_str(&b, dir);
        buf_add_byte(&b, ':');
    }
    buf_add_str(&b, usual);
    return buf_ok(&b) && utf8_valid(buf_str(&b)) ? arena_str(cli->arena, buf_str(&b)) : usual;
}

/* Converts what was learned to a policy. */
static void fill_starter(struct cli *cli, const struct learn *l, struct starter *starter)
{
    struct learned learned;
    const struct learn_host asked = {
        .root = starter->root, .look = policy_new_inspect_path, .arg = cli};
    learn_sum(l, &asked, &learned);
    starter->read = learned.read;
    starter->write = learned.write;
    starter->exec = learned.exec;
    starter->made = learned.made;
    starter->refused = learned.refused;
    starter->unix_sockets = learned.unix_sockets;
    starter->tmp = learned.tmp;
    starter->peers = peers_text(cli, l);
    starter->search_path = policy_new_search_path(cli, &learned.exec);
}

/* Whether the command is a shell or a shell script. */
static bool wants_shell(struct cli *cli, struct str program)
{
    struct script_line line;
    bool shell = policy_is_shell(program);
    struct programs interpreters = {.n = 0};
    if (!shell && script_read(program.p, cli->arena, &line))
        add_interpreters(cli, &interpreters, program, STR("/"));
    return shell || interpreters.shell;
}

static bool print_learned(struct cli *cli, struct str program, const struct starter *starter,
    const struct learn *l, const struct trace_end *end, struct err *err)
{
    AUTO_BUF struct buf text = BUF_INIT(STARTER_MAX);
    AUTO_ERR struct err denied = {0};
    starter_write(&text, starter);
    if (!buf_ok(&text))
        return err_set(err, E_IO, "the policy would be larger than %d bytes", STARTER_MAX);
    if (!check_starter(cli, buf_str(&text), program.p, &denied))
        out_warn(cli, "this policy does not allow the command as it is: %s", denied.message);
    if (!cli->json) {
        out_text(cli, buf_str(&text));
        return true;
    }
    json_t *object = json_object();
    json_put(object, "text", json_text(buf_str(&text)));
    json_put(object, "learned", learned_json(starter, l, end));
    json_put(object, "exit_status", end_json(end));
    return out_json(cli, object, err);
}

static bool run_learn(struct cli *cli, const struct args *args, struct str cwd, struct err *err)
{
    const struct policy_new_options *options = args->options;
    struct starter starter = {.write_ack = options->write_ack};
    struct trace_end end;
    struct str program;
    struct learn l;
    if (!program_find(cli->arena, str_z(args->v[0]), cwd, &program, err))
        return false;
    const char **argv = ARENA_NEW(cli->arena, const char *, args->n + 1);
    memcpy(argv, args->v, args->n * sizeof(*argv));
    find_root(cli, cwd, &starter);
    out_warn(cli, "'" STR_FMT "' runs UNCONFINED, to learn what it uses", STR_ARG(program));
    learn_init(&l, cli->arena);
    if (!trace_run(&(struct trace_command){program.p, argv}, learn_add, &l, &end, err))
        return false;
    warn_end(cli, &l, &end);
    fill_starter(cli, &l, &starter);
    starter.shell = wants_shell(cli, program);
    cli->status = end.interrupted ? err_status(E_CANCELED) : 0;
    return print_learned(cli, program, &starter, &l, &end, err);
}

static bool policy_new_run(struct cli *cli, const struct args *args, struct err *err)
{
    const struct policy_new_options *options = args->options;
    struct str cwd;
    if (options->learn && options->program)
        return err_set(err, E_CLI_INVALID_ARG,
            "--for or --learn, not both: --learn takes the program from the command after '--'");
    if (options->learn && args->n == 0)
        return err_set(
            err, E_CLI_INVALID_ARG, "--learn runs a command: give it after '--', as in -- make");
    if (!options->learn && args->n)
        return err_set(err, E_CLI_INVALID_ARG,
            "a command goes with --learn, which runs it; for a program alone: --for '%s'",
            args->v[0]);
    if (!options->learn && options->write_ack)
        return err_set(err, E_CLI_INVALID_ARG, "--ack-unsafe-write goes with --learn");
    if (!lexical_cwd(cli->arena, &cwd, err))
        return false;
    return options->learn ? run_learn(cli, args, cwd, err) : run_plain(cli, options, cwd, err);
}

static const struct opt new_opts[] = {
    OPT_STRING("for", 0, struct policy_new_options, program, "PROGRAM", ARG_FILE,
        "a program that may run: a path, or a name that is looked up in PATH"),
    OPT_SET("learn", 0, struct policy_new_options, learn,
        "run the command once, confined by nothing, and allow what it used"),
    OPT_SET("ack-unsafe-write", 0, struct policy_new_options, write_ack,
        "with --learn: allow the writes, too, instead of listing them in a comment"),
};

static const struct example new_examples[] = {
    {"cordon policy new --for make > policy.yaml", "make may run, and read this directory"},
    {"cordon policy new --learn -- make test > policy.yaml", "what 'make test' used just now"},
};

const struct cmd cmd_policy_new = {
    .name = "new",
    .summary = "print a policy to start from, with comments",
    .about = "It lets the program read the current directory and nothing else, and passes "
             "'cordon policy check' as it is; for a script its interpreter may run, too.\n\n"
             "With --learn the command is run once WITHOUT A SANDBOX, and the policy allows what "
             "it read and executed. What it wrote, and the network, are in it as comments. The "
             "command's output goes to stderr; it may fail, and its policy is printed all the "
             "same. Exit status 130: it was interrupted.",
    .usage = "[--learn -- COMMAND [ARGUMENT…]]",
    .max_args = COMMAND_WORDS_MAX,
    .arg_kind = ARG_FILE,
    CMD_OPTS(new_opts, struct policy_new_options),
    CMD_EXAMPLES(new_examples),
    .run = policy_new_run,
};
