/* cordon record: record a user's session with a program as a scenario. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "cli/cmds.h"
#include "cli/prepare.h"
#include "io/interrupt.h"
#include "io/replace.h"
#include "path/lexical.h"
#include "policy/preset.h"
#include "run/recorder.h"
#include "run/wait.h"
#include "tui/display.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>

enum {
    COMMAND_WORDS_MAX = 1000 * 1000,
    DOCUMENT_MAX = 64 << 20,
    INPUT_MAX = 2 << 20,
    READ_SIZE = 64 * 1024,
    FRAME_MS = 15,
    ESCAPE_MS = 50,     /* after this, ESC is a key by itself */
    UNSETTLED_MS = 500, /* a screen that has not settled by then never does */
    LEAVE_KEY = 0x1D,   /* Ctrl+] */
};

struct record_options {
    struct prepare_options prepare;
    const char *output;
    bool force;
};

struct record_ctx {
    struct cli *cli;
    const struct record_options *options;
    struct prepared p;
    const char *file;
    struct session *session;
    struct display display;
    struct recorder recorder;
    struct typed_keys *keys;
    struct buf input; /* typed, but not sent yet */
    uint64_t came_ms; /* time at which its first byte arrived */
    uint64_t drawn_ms;
    struct tty_size size;
    bool dirty, leaving; /* leaving: Ctrl+] was typed */
    bool over, canceled;
};

/* File ---------------------------------------------------------------------------------------- */

static const char *record_dir_of(struct record_ctx *r, const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? arena_strdup(r->cli->arena, str_n(file, (size_t)(slash - file) + 1)) : ".";
}

/* Checked before anything runs, so that an unwritable file does not waste the recording. */
static bool record_check_file(struct record_ctx *r, struct err *err)
{
    struct arena *a = r->cli->arena;
    const char *name = r->options->output;
    if (!name)
        name =
            arena_printf(a, STR_FMT ".scenario.yaml", STR_ARG(lexical_name(str_z(r->p.argv[0]))));
    r->file = name;
    const char *dir = record_dir_of(r, name);
    if (access(dir, W_OK | X_OK) != 0)
        return err_errno(err, E_IO, errno, "cannot write to the directory '%s'", dir);
    if (!r->options->force && access(name, F_OK) == 0)
        return err_set(err, E_CONFLICT,
            "'%s' exists already: give another name with -o, or --force to replace it", name);
    return true;
}

static bool record_write_file(struct record_ctx *r, struct str text, struct err *err)
{
    AUTO_FD int dir = open(record_dir_of(r, r->file), O_PATH | O_DIRECTORY | O_CLOEXEC);
    const struct replace_options o = {.dir = dir,
        .name = lexical_name(str_z(r->file)).p,
        .mode = 0666,
        .flags = r->options->force ? 0 : REPLACE_NEW};
    if (dir >= 0 && replace_file(&o, text))
        return true;
    if (errno == EEXIST)
        return err_set(err, E_CONFLICT, "'%s' was made meanwhile, and is not replaced", r->file);
    return err_errno(err, E_IO, errno, "cannot write '%s'", r->file);
}

/* Scenario ------------------------------------------------------------------------------------ */

static bool has_own_policy(const struct record_ctx *r)
{
    const struct prepare_options *o = &r->options->prepare;
    return o->policy || o->preset || o->sandbox || o->no_sandbox || o->network;
}

static json_t *scenario_of(struct record_ctx *r)
{
    json_t *object = json_object(), *metadata = json_object(), *run = json_object();
    json_t *args = json_array(), *size = json_object();
    json_put(object, "scenario_version", json_integer(SCENARIO_VERSION));
    json_put(metadata, "recorded_by", json_string("cordon record"));
    json_put(object, "metadata", metadata);
    json_put(run, "command", json_text(str_z(r->p.program)));
    for (size_t i = 1; r->p.argv[i]; i++)
        json_push(args, json_text(str_z(r->p.argv[i])));
    json_put(run, "args", args);
    if (r->p.confined.verdict.cwd.given.p)
        json_put(run, "cwd", json_text(r->p.confined.verdict.cwd.given));
    json_put(size, "rows", json_integer(r->size.rows));
    json_put(size, "cols", json_integer(r->size.cols));
    json_put(run, "initial_size", size);
    struct policy policy = r->p.confined.policy;
    if (r->p.by_settings) { /* the settings are for this machine only */
        policy.sandbox = POLICY_NATIVE;
        policy.sandbox_unsafe_ack = false;
    }
    if (has_own_policy(r))
        json_put(run, "policy", policy_to_json(&policy));
    json_put(object, "run", run);
    json_put(object, "steps", json_incref(r->recorder.steps));
    return object;
}

static bool record_save(struct record_ctx *r, struct err *err)
{
    AUTO_BUF struct buf text = BUF_INIT(DOCUMENT_MAX);
    AUTO_JSON json_t *object = scenario_of(r);
    struct scenario check;
    if (str_ends_with(str_z(r->file), STR(".json"))) {
        json_add_pretty(&text, object);
        buf_add_byte(&text, '\n');
    } else {
        recorder_yaml(object, &text);
    }
    if (!buf_ok(&text))
        return err_set(err, E_IO, "the scenario would be too large");
    if (!scenario_parse(buf_str(&text), r->file, r->cli->arena, &check, err))
        return err_wrap(err, "the scenario that was recorded");
    scenario_done(&check);
    return record_write_file(r, buf_str(&text), err);
}

/* Flags that are needed to run the scenario again, if it contains a policy. */
static const char *flags_of(const struct record_ctx *r)
{
    static const struct consent none;
    struct arena *a = r->cli->arena;
    struct str file = lexical_absolute(a, r->p.cwd, str_z(r->file));
    const struct consent_input in = {
        .author = CONSENT_SCENARIO,
        .given = &none,
        .dir = arena_str(a, str_head(file, (size_t)MAX(str_find_last(file, '/'), 1))),
        .cwd = r->p.cwd,
        .network = r->p.confined.policy.network_unsafe_ack,
    };
    struct consent_needs needs = {0};
    if (has_own_policy(r))
        consent_find(&in, &r->p.confined.verdict, &needs);
    return needs.n ? arena_printf(a, " %s", consent_flags(&needs, a)) : "";
}

static bool record_save_and_report(struct record_ctx *r, struct err *err)
{
    const struct recorder *rec = &r->recorder;
    if (!record_save(r, err))
        return false;
    if (rec->secrets)
        out_warn(r->cli,
            "%zu input%s that the program hid %s not recorded: put the text in place of '%s'",
            rec->secrets, rec->secrets == 1 ? "" : "s", rec->secrets == 1 ? "was" : "were",
            RECORDER_SECRET);
    if (rec->lost)
        out_warn(r->cli, "%zu bytes that were typed are no text, and not recorded", rec->lost);
    out_note(r->cli, "%zu action%s recorded in '%s'; 'cordon run %s%s' does them again",
        rec->actions, rec->actions == 1 ? "" : "s", r->file, r->file, flags_of(r));
    return true;
}

/* Typing -------------------------------------------------------------------------------------- */

/* The same condition as in the runner after a step without assertions. */
static bool is_settled(const struct record_ctx *r, uint64_t now)
{
    uint64_t last = MAX(session_changed_ms(r->session), session_sent_ms(r->session));
    return now - MIN(now, last) >= WAIT_SETTLE_MS && !term_in_frame(session_term(r->session));
}

static bool record_add_input(
    struct record_ctx *r, const struct typed *typed, bool settled, struct err *err)
{
    return recorder_take(&r->recorder, r->session, typed, settled, err);
}

/* Handles Ctrl+] and the key after it. Returns true if the input is for the program. */
static bool is_for_program(struct record_ctx *r, const struct typed *typed, size_t *ret_taken)
{
    bool is_leave = typed->kind == TYPED_KEY && r->input.p[0] == LEAVE_KEY;
    if (!r->leaving) {
        r->leaving = is_leave;
        return !is_leave;
    }
    r->leaving = false;
    if (is_leave)
        return true; /* typed twice: send it to the program */
    if (typed->kind == TYPED_TEXT)
        *ret_taken = 1;
    r->over |= typed->kind == TYPED_TEXT && typed->bytes.p[0] == 'q';
    return false;
}

static void drop_input(struct record_ctx *r, size_t n)
{
    memmove(r->input.p, r->input.p + n, r->input.n - n);
    buf_truncate(&r->input, r->input.n - n);
    r->came_ms = clock_mono_ms();
}

/* Sends typed input item by item, each after the screen has settled from the one before, so that
 * the recorded wait matches what the user saw. */
static bool record_process_input(struct record_ctx *r, struct err *err)
{
    struct typed typed;
    while (r->input.n && !r->over) {
        uint64_t now = clock_mono_ms();
        bool settled = is_settled(r, now);
        size_t n = typed_next(r->keys, buf_str(&r->input), now - r->came_ms >= ESCAPE_MS, &typed);
        if (n == 0)
            return true;
        if (!settled && now - r->came_ms < UNSETTLED_MS &&
            !recorder_joins(&r->recorder, r->session, &typed))
            return true;
        if (is_for_program(r, &typed, &n) && !record_add_input(r, &typed, settled, err))
            return false;
        drop_input(r, n);
    }
    return true;
}

static void record_read_input(struct record_ctx *r)
{
    char *to = buf_reserve(&r->input, READ_SIZE);
    ssize_t n = to ? read(r->display.in, to, READ_SIZE) : -1;
    if (n > 0) {
        if (r->input.n == 0)
            r->came_ms = clock_mono_ms();
        buf_grown(&r->input, (size_t)n);
    } else if (n == 0 || errno != EINTR) {
        r->over = r->canceled = true; /* the terminal is gone */
    }
}

/* Terminal output ----------------------------------------------------------------------------- */

static void record_draw(struct record_ctx *r)
{
    const struct term *t = session_term(r->session);
    struct term_cursor cursor = term_cursor(t);
    struct canvas *c = r->display.canvas;
    struct term_input input;
    const struct canvas_cursor at = {cursor.visible, cursor.row, cursor.col, cursor.shape};
    canvas_clear(c);
    canvas_show(c, t, &(struct canvas_part){0, 0, canvas_rows(c), canvas_cols(c), 0, 0});
    canvas_set_cursor(c, &at);
    term_input(t, &input);
    display_want_mouse(&r->display, input.mouse);
    display_draw(&r->display);
    r->drawn_ms = clock_mono_ms();
    r->dirty = false;
}

static struct tty_size child_size(const struct record_ctx *r)
{
    return (struct tty_size){(uint16_t)MIN(canvas_rows(r->display.canvas), SESSION_ROWS_MAX),
        (uint16_t)MIN(canvas_cols(r->display.canvas), SESSION_COLS_MAX)};
}

static bool record_read_signal(struct record_ctx *r, int signals, struct err *err)
{
    struct signalfd_siginfo info;
    if (read(signals, &info, sizeof(info)) != sizeof(info))
        return true;
    if (info.ssi_signo != SIGWINCH) {
        r->over = r->canceled = true;
        return true;
    }
    if (!display_resize(&r->display))
        return true;
    struct tty_size size = child_size(r);
    r->dirty = true;
    return recorder_resize(
        &r->recorder, r->session, size.rows, size.cols, is_settled(r, clock_mono_ms()), err);
}

/* Loop ---------------------------------------------------------------------------------------- */

/* Time for the next iteration if nothing happens before. */
static uint64_t record_next_wakeup(const struct record_ctx *r, uint64_t now)
{
    if (r->input.n || display_waits(&r->display))
        return now + 5;
    return r->dirty ? MAX(now, r->drawn_ms + FRAME_MS) : UINT64_MAX;
}

static bool record_loop(struct record_ctx *r, int signals, struct err *err)
{
    while (!r->over) {
        uint64_t now = clock_mono_ms();
        if (r->dirty && now - r->drawn_ms >= FRAME_MS && !term_in_frame(session_term(r->session)))
            record_draw(r);
        display_pump(&r->display);
        session_watch(r->session, r->input.n < INPUT_MAX / 2 ? r->display.in : -1);
        enum session_news news = session_next(r->session, record_next_wakeup(r, now));
        r->dirty |= news == SESSION_SCREEN || news == SESSION_FRAME;
        if (news == SESSION_INPUT)
            record_read_input(r);
        if (news == SESSION_CANCELED && !record_read_signal(r, signals, err))
            return false;
        if (news == SESSION_EXITED)
            return true;
        if (news == SESSION_FAILED) {
            err_copy(err, session_error(r->session));
            return false;
        }
        if (!record_process_input(r, err))
            return false;
    }
    return true;
}

static bool record_open_session(struct record_ctx *r, int signals, struct err *err)
{
    const struct policy_budgets *b = &r->p.confined.policy.budgets;
    bool timed = r->options->prepare.policy || r->options->prepare.preset;
    r->size = child_size(r);
    const struct session_options options = {
        .plan = &r->p.confined.plan,
        .argv = r->p.argv,
        .envp = r->p.confined.envp,
        .rows = r->size.rows,
        .cols = r->size.cols,
        /* Users take time to think: apply only a time limit that was requested. */
        .budgets = {timed ? b->max_runtime_ms : UINT64_MAX, b->max_output_bytes},
        .cancel = signals,
    };
    return session_open(&options, &r->session, err);
}

static bool record_run_session(struct record_ctx *r, struct err *err)
{
    sigset_t set;
    AUTO_FD int signals = interrupt_open(true, &set);
    prepare_warn(r->cli, &r->p);
    signal(SIGPIPE, SIG_IGN);
    bool ok = display_open(&r->display, r->cli->color, err);
    if (ok) {
        display_want_pastes(&r->display);
        ok = record_open_session(r, signals, err) && record_loop(r, signals, err);
    }
    if (r->session && (ok || r->recorder.actions)) {
        recorder_end(&r->recorder, r->session, is_settled(r, clock_mono_ms()));
        AUTO_ERR struct err second = {0};
        display_close(&r->display);
        if (!record_save_and_report(r, ok ? err : &second))
            ok = false;
    }
    display_close(&r->display);
    session_close(r->session);
    interrupt_close(&set);
    return ok;
}

static bool run_record(struct cli *cli, const struct args *args, struct err *err)
{
    const struct record_options *options = args->options;
    struct record_ctx r = {.cli = cli,
        .options = options,
        .display = DISPLAY_NONE,
        .input = BUF_INIT(INPUT_MAX + READ_SIZE)};
    const char **argv = ARENA_NEW(cli->arena, const char *, args->n + 1);
    memcpy(argv, args->v, args->n * sizeof(*argv));
    r.p = (struct prepared){.arena = cli->arena, .options = &options->prepare, .argv = argv};
    prepare_own(cli, &r.p);
    if (!prepare_settings(cli, &r.p, err) || !prepare_policy(&r.p, err))
        return false;
    if (options->prepare.explain)
        return prepare_explain(cli, &r.p, err);
    if (!display_check(err) || !record_check_file(&r, err))
        return false;
    r.keys = typed_keys_new();
    recorder_init(&r.recorder);
    bool ok = prepare_run(&r.p, err) && record_run_session(&r, err);
    prepare_check(&r.p);
    prepare_tell_held(cli, &r.p);
    if (ok && r.canceled)
        cli->status = err_status(E_CANCELED);
    recorder_done(&r.recorder);
    typed_keys_free(r.keys);
    buf_done(&r.input);
    prepared_done(&r.p);
    return ok;
}

static const struct opt record_opts[] = {
    OPT_STRING("output", 'o', struct record_options, output, "FILE", ARG_FILE,
        "where to write it: YAML, or JSON if the name ends in .json; default: "
        "COMMAND.scenario.yaml"),
    OPT_SET("force", 'f', struct record_options, force, "replace the file if it exists"),
    PREPARE_OPTS(struct record_options),
    PREPARE_UNSAFE_OPTS(struct record_options),
};

static const struct example record_examples[] = {
    {"cordon record -- vim notes.txt", "use vim; vim.scenario.yaml is written when it ends"},
    {"cordon record -o login.yaml --policy p.yaml -- /usr/bin/ssh host", "under a policy"},
};

const struct cmd cmd_record = {
    .name = "record",
    .summary = "write a scenario from what you do in a program",
    .about =
        "Use the program as always; it runs under its policy in a terminal of the same size. When "
        "it ends, or after Ctrl+] q, a scenario is written that does the same again with 'cordon "
        "run': what was typed, and before each action a wait for what the screen showed then. "
        "Ctrl+] twice sends one Ctrl+].\n"
        "What is typed while the terminal does not echo, or after a word like 'Password:', is not "
        "written: a placeholder stands for it.",
    .usage = "-- COMMAND [ARGUMENT…]",
    .min_args = 1,
    .max_args = COMMAND_WORDS_MAX,
    .arg_kind = ARG_FILE,
    CMD_OPTS(record_opts, struct record_options),
    CMD_EXAMPLES(record_examples),
    .run = run_record,
};
