/* cordon exec: one command under a policy. */
#include "base/id.h"
#include "cli/cmds.h"
#include "cli/config.h"
#include "cli/program.h"
#include "io/patience.h"
#include "io/tty.h"
#include "path/lexical.h"
#include "policy/grants.h"
#include "policy/load.h"
#include "policy/preset.h"
#include "record/artifacts.h"
#include "run/result.h"
#include "sandbox/env.h"
#include "sandbox/report.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/stat.h>

enum {
    COMMAND_WORDS_MAX = 1000 * 1000,
    SIGNAL_BASE = 128,
    LAST_WORDS_MS = 500,
};

struct exec_options {
    const char *policy;
    const char *preset;
    const char *root;
    const char *cwd;
    const char *artifacts;
    const char *exit_code;
    bool pty, pipes;
    bool explain;
    bool no_sandbox, ack_sandbox;
    bool network, ack_network;
    bool ack_write, strict_write;
};

/* Everything that a run of the command needs, in the order in which it becomes known. */
struct exec {
    struct cli *cli;
    const struct exec_options *options;
    const char *const *argv; /* as it was typed; ends in NULL */
    const char *program;     /* what argv[0] means */
    struct str cwd;          /* our own */
    struct policy policy;
    struct policy_host host;
    struct verdict verdict;
    struct plan plan;
    struct str hidden;
    struct artifacts artifacts;
    struct buf tail;
    char run_id[ID_SIZE], session_id[ID_SIZE];
};

/* The policy ---------------------------------------------------------------------------------- */

static bool check_usage(const struct exec_options *o, struct err *err)
{
    if (o->policy && o->preset)
        return err_set(err, E_CLI_INVALID_ARG, "--policy or --preset, not both");
    if (o->root && !o->preset)
        return err_set(err, E_CLI_INVALID_ARG, "--root goes with --preset");
    if (o->pty && o->pipes)
        return err_set(err, E_CLI_INVALID_ARG, "--pty or --pipes, not both");
    return true;
}

static struct str_list one(struct arena *a, struct str text)
{
    struct str *p = ARENA_NEW(a, struct str, 1);
    *p = text;
    return (struct str_list){p, 1};
}

/* To start in, and to read if it can be: what can't is denied as the working directory that it is,
 * not as an entry of a list that nobody wrote. One that no policy may name is left out. */
static void use_dir(struct exec *x, struct str dir)
{
    struct arena *a = x->cli->arena;
    struct policy policy = {.fs.allowed_read = one(a, dir)};
    struct verdict v;
    policy_validate(&policy, &x->host, a, &v);
    if (v.denials.n && v.denials.p[0].blocked)
        return;
    x->policy.fs.working_dir = dir;
    if (v.denials.n == 0)
        x->policy.fs.allowed_read = policy.fs.allowed_read;
}

/* Without a policy: this command, and the working directory to read. */
static bool default_policy(struct exec *x, struct err *err)
{
    struct arena *a = x->cli->arena;
    struct str program, dir = x->cwd;
    if (!policy_parse(STR("{\"policy_version\": 4}"), "default", a, &x->policy, err) ||
        !program_find(a, str_z(x->argv[0]), x->cwd, &program, err))
        return false;
    x->program = program.p;
    x->policy.exec.allowed_executables = one(a, program);
    x->policy.exec.allow_shell = policy_is_shell(program);
    if (x->options->cwd)
        dir = lexical_absolute(a, x->cwd, str_z(x->options->cwd));
    use_dir(x, dir);
    return true;
}

static bool has_policy(const struct exec *x)
{
    return x->options->policy || x->options->preset;
}

static bool load_policy(struct exec *x, struct err *err)
{
    const struct exec_options *o = x->options;
    struct arena *a = x->cli->arena;
    if (o->policy)
        return policy_load(o->policy, a, &x->policy, err);
    if (o->preset) {
        struct str root = lexical_absolute(a, x->cwd, o->root ? str_z(o->root) : x->cwd);
        return preset_load(o->preset, root, a, &x->policy, err);
    }
    return default_policy(x, err);
}

/* What the flags change in it. */
static void edit_policy(struct exec *x)
{
    const struct exec_options *o = x->options;
    struct policy *p = &x->policy;
    if (o->no_sandbox)
        p->sandbox = POLICY_NO_SANDBOX;
    if (o->network)
        p->network = POLICY_NETWORK_ENABLED;
    p->sandbox_unsafe_ack |= o->ack_sandbox;
    p->network_unsafe_ack |= o->ack_network;
    p->fs_write_unsafe_ack |= o->ack_write;
    p->fs_strict_write |= o->strict_write;
    if (o->artifacts && has_policy(x)) {
        p->artifacts.enabled = true;
        p->artifacts.dir = lexical_absolute(x->cli->arena, x->cwd, str_z(o->artifacts));
    }
}

static void validate(struct exec *x)
{
    const char *cwd = NULL;
    if (x->options->cwd && has_policy(x))
        cwd = lexical_absolute(x->cli->arena, x->cwd, str_z(x->options->cwd)).p;
    policy_validate(&x->policy, &x->host, x->cli->arena, &x->verdict);
    /* Without a policy of the user's the record is our own affair, and lies in no list. */
    if (x->options->artifacts && !has_policy(x) && x->policy.fs_strict_write &&
        !x->policy.fs_write_unsafe_ack)
        denials_add(&x->verdict.denials,
            &(struct denial){"fs_strict_write", "write access requires explicit acknowledgement",
                STR("true"), "artifacts are written",
                "add --ack-unsafe-write, or leave out --artifacts"});
    policy_validate_command(&x->verdict, &(struct policy_command){.path = x->program, .cwd = cwd});
}

static bool make_plan(struct exec *x, struct err *err)
{
    return exec_plan(&x->verdict, x->hidden, x->cli->arena, &x->plan, err);
}

/* --explain-policy ---------------------------------------------------------------------------- */

static bool explain(struct exec *x, struct err *err)
{
    struct cli *cli = x->cli;
    bool allowed = x->verdict.denials.n == 0;
    AUTO_JSON json_t *object = policy_explain(&x->verdict);
    json_put(object, "policy", policy_to_json(&x->policy));
    json_put(object, "sandbox_report", json_object());
    if (allowed) {
        if (!make_plan(x, err))
            return false;
        json_put(object, "sandbox_report", report_json(&x->verdict, &x->plan));
        json_put(object, "plan", plan_json(&x->plan));
    }
    cli->status = allowed ? 0 : err_status(E_POLICY_DENIED);
    if (cli->json)
        return out_json(cli, json_take(&object), err);
    json_add_pretty(&cli->stdout_buf, object);
    out_text(cli, STR("\n"));
    return true;
}

/* Running ------------------------------------------------------------------------------------- */

static void seen(void *context, struct str bytes)
{
    struct exec *x = context;
    artifacts_transcript(&x->artifacts, bytes);
    /* Twice as much as is kept, so that the end is moved to the front only now and then. */
    if (x->tail.n + bytes.n > x->tail.max) {
        size_t keep = MIN(x->tail.n, (size_t)RESULT_TAIL_MAX);
        memmove(x->tail.p, x->tail.p + x->tail.n - keep, keep);
        buf_truncate(&x->tail, keep);
    }
    buf_add_str(&x->tail, bytes);
}

static struct str tail_of(const struct exec *x)
{
    struct str all = buf_str(&x->tail);
    return all.n > RESULT_TAIL_MAX ? str_skip(all, all.n - RESULT_TAIL_MAX) : all;
}

static bool open_artifacts(struct exec *x, struct err *err)
{
    struct arena *a = x->cli->arena;
    const struct policy_artifacts *p = &x->policy.artifacts;
    struct str dir = {0};
    if (x->options->artifacts)
        dir = lexical_absolute(a, x->cwd, str_z(x->options->artifacts));
    else if (p->enabled)
        dir = x->verdict.artifacts_dir.resolved;
    if (!dir.p)
        return true;
    if (!artifacts_open(dir.p, p->overwrite, &x->artifacts, err))
        return false;
    struct str name;
    if (!artifacts_where(&x->artifacts, a, &name, err))
        return false;
    if (has_policy(x) && !verdict_holds(&x->verdict.write, name))
        return err_set(err, E_POLICY_DENIED,
            "the artifacts directory is not what was checked a moment ago: '" STR_FMT "'",
            STR_ARG(name));
    x->hidden = name;
    return true;
}

/* Interruptions come through a descriptor, so that the end is always orderly. */
static int open_signals(sigset_t *ret_set)
{
    sigset_t set;
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH};
    sigemptyset(&set);
    for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
        struct sigaction now;
        /* What we were told to ignore, as by nohup, stays ignored. */
        if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(&set, signals[i]);
    }
    sigprocmask(SIG_BLOCK, &set, NULL);
    *ret_set = set;
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* The run is over: what came too late for it is forgotten, and whoever does not want to wait until
 * the result is read can end us. */
static void close_signals(const sigset_t *set)
{
    const struct timespec now = {0};
    while (sigtimedwait(set, NULL, &now) > 0)
        ;
    sigprocmask(SIG_UNBLOCK, set, NULL);
}

/* A terminal that is not read would hold us up: a description of our own can be non-blocking. */
static int open_sink(int fd)
{
    int own = isatty(fd) ? patience_open(fd) : -1;
    return own >= 0 ? own : fd;
}

/* Whether standard input holds something to pass on: /dev/null does not. */
static bool has_input(void)
{
    struct stat st;
    return fstat(STDIN_FILENO, &st) == 0 && !S_ISCHR(st.st_mode);
}

static struct exec_job make_job(struct exec *x, int signals)
{
    const struct exec_options *o = x->options;
    bool json = x->cli->json, in_tty = isatty(STDIN_FILENO), out_tty = isatty(STDOUT_FILENO);
    bool terminal = !o->pipes && (o->pty || json || o->artifacts || out_tty);
    bool pass_keys = terminal && in_tty && out_tty && !json;
    struct tty_size size = tty_size(out_tty && !json ? STDOUT_FILENO : -1);
    return (struct exec_job){
        .verdict = &x->verdict,
        .plan = &x->plan,
        .argv = x->argv,
        .envp = env_make(&x->policy.env, (const char *const *)environ, x->cli->arena),
        .terminal = terminal,
        .pass_keys = pass_keys,
        .pipe_input = terminal && !pass_keys,
        .input = pass_keys || has_input() || (!terminal && !json) ? STDIN_FILENO : -1,
        .output = {json ? -1 : open_sink(STDOUT_FILENO), json ? -1 : open_sink(STDERR_FILENO)},
        .signals = signals,
        .rows = size.rows,
        .cols = size.cols,
        .seen = seen,
        .context = x,
    };
}

static bool finish_artifacts(struct exec *x, const json_t *result, struct err *err)
{
    AUTO_JSON json_t *policy = policy_to_json(&x->policy);
    return x->artifacts.dir < 0 ||
           (artifacts_stay(&x->artifacts, x->hidden, err) &&
               artifacts_put_json(&x->artifacts, "policy.json", policy, err) &&
               artifacts_put_json(&x->artifacts, "run.json", result, err) &&
               artifacts_seal(&x->artifacts, err));
}

static int exit_status(const struct exec *x, const struct exec_result *r)
{
    const char *how = x->options->exit_code;
    bool child = how && strcmp(how, "child") == 0;
    if (child && (r->status == EXEC_PASSED || r->status == EXEC_FAILED))
        return r->exit.signal ? SIGNAL_BASE + r->exit.signal : r->exit.code;
    return r->error.code ? err_status(r->error.code) : 0;
}

static bool tell(struct exec *x, struct exec_result *r, struct err *err)
{
    struct cli *cli = x->cli;
    const struct result_input input = {
        .run_id = x->run_id,
        .session_id = x->session_id,
        .verdict = &x->verdict,
        .plan = &x->plan,
        .argv = x->argv,
        .result = r,
        .tail = tail_of(x),
    };
    cli->status = exit_status(x, r);
    /* Whoever did not read what the command printed may not read us either: a run that was ended
     * has no time left for him. */
    if (r->status == EXEC_ERRORED || r->status == EXEC_CANCELED)
        cli->say_ms = LAST_WORDS_MS;
    bool own_code = cli->status != err_status(r->error.code ? r->error.code : E_INTERNAL);
    if (r->error.code && !(own_code && r->status == EXEC_FAILED))
        out_say_error(cli, &r->error);
    if (!cli->json && x->artifacts.dir < 0)
        return true;
    AUTO_JSON json_t *result = result_json(&input);
    if (!finish_artifacts(x, result, err))
        return false;
    return !cli->json || out_json(cli, json_take(&result), err);
}

static bool run_job(struct exec *x, struct err *err)
{
    sigset_t set;
    AUTO_FD int signals = open_signals(&set);
    const struct exec_job job = make_job(x, signals);
    struct exec_result result;
    id_new(x->run_id);
    id_new(x->session_id);
    x->tail = BUF_INIT(2 * RESULT_TAIL_MAX);
    if (!x->verdict.cwd.given.p)
        out_warn(x->cli, "no working directory is allowed: the command starts in its private /tmp");
    if (x->plan.mode == POLICY_NO_SANDBOX)
        out_warn(x->cli, "NO SANDBOX: nothing of the policy is enforced");
    signal(SIGPIPE, SIG_IGN);
    bool ok = exec_run(&job, &result, err);
    if (ok) {
        ok = tell(x, &result, err);
        if (result.output_closed && !x->cli->json && x->artifacts.dir < 0) {
            /* As any program whose reader went away. */
            signal(SIGPIPE, SIG_DFL);
            raise(SIGPIPE);
        }
        err_done(&result.error);
    }
    close_signals(&set);
    buf_done(&x->tail);
    return ok;
}

static bool run_exec(struct cli *cli, const struct args *args, struct err *err)
{
    const struct exec_options *options = args->options;
    struct exec *x = ARENA_NEW(cli->arena, struct exec, 1);
    *x = (struct exec){.cli = cli, .options = options, .artifacts = ARTIFACTS_NONE};
    x->host.home = config_home();
    const char **argv = ARENA_NEW(cli->arena, const char *, args->n + 1);
    memcpy(argv, args->v, args->n * sizeof(*argv));
    x->argv = argv;
    x->program = argv[0];
    if (!check_usage(options, err) || !lexical_cwd(cli->arena, &x->cwd, err) ||
        !load_policy(x, err))
        return false;
    edit_policy(x);
    validate(x);
    if (options->explain)
        return explain(x, err);
    if (!verdict_ok(&x->verdict, err))
        return false;
    bool ok = open_artifacts(x, err) && make_plan(x, err) && run_job(x, err);
    artifacts_close(&x->artifacts);
    return ok;
}

static const char *const exit_codes[] = {"cordon", "child", NULL};

static const struct opt exec_opts[] = {
    OPT_STRING("policy", 0, struct exec_options, policy, "FILE", ARG_FILE,
        "the policy, as JSON or YAML; default: this command alone, and the working directory to "
        "read"),
    OPT_ONE_OF("preset", 0, struct exec_options, preset, "NAME", preset_names,
        "a built-in policy: build, c, node, python, readonly or test"),
    OPT_STRING("root", 0, struct exec_options, root, "DIR", ARG_DIR,
        "the working root that the preset is for; default: the current directory"),
    OPT_STRING("cwd", 0, struct exec_options, cwd, "DIR", ARG_DIR, "where the command starts"),
    OPT_STRING("artifacts", 0, struct exec_options, artifacts, "DIR", ARG_DIR,
        "write a record of the run there"),
    OPT_SET("pty", 0, struct exec_options, pty, "run it on a terminal of its own"),
    OPT_SET("pipes", 0, struct exec_options, pipes, "run it on pipes"),
    OPT_ONE_OF("exit-code", 0, struct exec_options, exit_code, "WHOSE", exit_codes,
        "whose code to exit with if the command fails: cordon (6, the default) or child"),
    OPT_SET("explain-policy", 0, struct exec_options, explain,
        "print what would be granted, and by what; run nothing"),
    OPT_SET("no-sandbox", 0, struct exec_options, no_sandbox, "enforce nothing"),
    OPT_SET("ack-unsafe-sandbox", 0, struct exec_options, ack_sandbox,
        "yes, without a sandbox or with a weaker one"),
    OPT_SET("enable-network", 0, struct exec_options, network, "let it use the host's network"),
    OPT_SET("ack-unsafe-network", 0, struct exec_options, ack_network, "yes, with the network"),
    OPT_SET("ack-unsafe-write", 0, struct exec_options, ack_write,
        "yes, the policy's directories may be written"),
    OPT_SET("strict-write", 0, struct exec_options, strict_write,
        "artifacts, too, need the acknowledgement"),
};

static const struct example exec_examples[] = {
    {"cordon exec -- ls -la", "it sees this directory and the system's libraries, nothing else"},
    {"cordon exec --preset build -- /usr/bin/make -j4", "make may write here and run what it made"},
    {"cordon exec --policy policy.yaml --json -- /usr/bin/true", "the run's result as JSON"},
    {"cordon exec --explain-policy -- python3", "what it would be granted"},
};

const struct cmd cmd_exec = {
    .name = "exec",
    .summary = "run a command under a policy, enforced by the kernel",
    .about =
        "The command sees what the policy names and a small part of the system, can run what the "
        "policy lists, has no network and no capabilities, and nothing of it is left when it ends. "
        "On a terminal it is used as if it ran without cordon. Exit status: 0, or 6 if the command "
        "fails, 2 if the policy denies it, 3 if this machine can't enforce the policy, 4 if a "
        "budget is exceeded, 130 if it was interrupted.",
    .usage = "-- COMMAND [ARGUMENT…]",
    .min_args = 1,
    .max_args = COMMAND_WORDS_MAX,
    .arg_kind = ARG_FILE,
    CMD_OPTS(exec_opts, struct exec_options),
    CMD_EXAMPLES(exec_examples),
    .run = run_exec,
};
