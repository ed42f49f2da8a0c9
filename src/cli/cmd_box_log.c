/* cordon box log: print the output of an agent. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/box_runs.h"
#include "cli/box_cmds.h"
#include "io/interrupt.h"
#include "record/reader.h"
#include "record/refeed.h"
#include "trace/plain_text.h"
#include "trace/trace_source.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>

enum {
    FLUSH_BYTES = 1 << 20, /* flush when more is buffered */
    LOOK_MS = 100,         /* interval for polling a growing recording */
    RAW_PIECE = 64 * 1024,
    TEXT_MAX = 48 << 20, /* limit for --json */
    RUNS_MAX = 1000 * 1000,
};

struct log_options {
    int64_t run;
    bool raw, follow;
};

struct box_log_ctx {
    struct cli *cli;
    const struct log_options *o;
    const struct box *box;
    uint64_t run;
    const char *proxy; /* message about a proxy that ended; NULL: none */
    struct plain_text lines;
    struct buf text;
    bool cut;
    struct err error;
};

/* Lines --------------------------------------------------------------------------------------- */

static void on_line(void *context, struct str line)
{
    struct box_log_ctx *l = context;
    if (!l->cli->json)
        out_name(l->cli, line, '\n');
    else if (l->text.n + line.n < TEXT_MAX)
        buf_printf(&l->text, STR_FMT "\n", STR_ARG(line));
    else
        l->cut = true;
}

static void flush_lines(struct box_log_ctx *l)
{
    if (!l->cli->json && l->cli->stdout_buf.n > FLUSH_BYTES && !l->error.code)
        (void)!out_flush(l->cli, &l->error);
}

static void on_output(void *context, double at_ms, struct str bytes)
{
    struct box_log_ctx *l = context;
    (void)at_ms;
    plain_text_feed(&l->lines, bytes);
    flush_lines(l);
}

static void on_resize(void *context, double at_ms, unsigned rows, unsigned cols)
{
    struct box_log_ctx *l = context;
    (void)at_ms;
    plain_text_resize(&l->lines, rows, cols);
    flush_lines(l);
}

/* Follow -------------------------------------------------------------------------------------- */

static bool still_runs(const struct box_log_ctx *l)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    AUTO_ERR struct err ignored = {0};
    struct box_state state;
    bool held;
    return state_load(l->box->host, &a, &state, &held, &ignored) && held && state.run == l->run &&
           (state.status == BOX_RUNNING || state.status == BOX_IDLE);
}

static bool wait_for_more(int signals)
{
    struct pollfd fd = {.fd = signals, .events = POLLIN};
    return poll(&fd, 1, LOOK_MS) <= 0;
}

static void put_raw(struct box_log_ctx *l, struct str bytes)
{
    out_text(l->cli, bytes);
    if (l->cli->stdout_buf.n > FLUSH_BYTES && !l->error.code)
        (void)!out_flush(l->cli, &l->error);
}

/* Prints everything after an offset; with --follow, until the run ends. */
static void box_log_print_rest(struct box_log_ctx *l, int fd, off_t at, int signals)
{
    static char bytes[RAW_PIECE];
    for (;;) {
        /* Check before reading, so that output printed just before the end is not missed. */
        bool runs = l->o->follow && still_runs(l);
        ssize_t n;
        while (!l->error.code &&
               (n = pread(fd, bytes, l->o->raw ? sizeof(bytes) : PLAIN_TEXT_PIECE, at)) > 0) {
            at += n;
            if (l->o->raw)
                put_raw(l, str_n(bytes, (size_t)n));
            else
                on_output(l, 0, str_n(bytes, (size_t)n));
        }
        if (runs && !l->o->raw)
            plain_text_flush(&l->lines);
        if (!runs || l->error.code || !out_flush(l->cli, &l->error) || !wait_for_more(signals))
            return;
    }
}

/* Command ------------------------------------------------------------------------------------- */

static bool find_run(struct box_log_ctx *l, struct err *err)
{
    struct box_state state;
    bool held;
    if (!state_load(l->box->host, l->cli->arena, &state, &held, err))
        return false;
    l->run = l->o->run ? (uint64_t)l->o->run : state.run;
    l->proxy = l->run == state.run ? box_use_proxy_ended(&state, l->cli->arena) : NULL;
    if (l->run)
        return true;
    return err_set(
        err, E_NOT_FOUND, "the box '" STR_FMT "' has never been started", STR_ARG(l->box->name));
}

static bool box_log_print_text(struct box_log_ctx *l, const char *dir, int signals, struct err *err)
{
    AUTO(trace_close) struct trace t = TRACE_NONE;
    if (!trace_open(dir, &t, err))
        return false;
    plain_text_open(&l->lines, refeed_term(&t.timeline, NULL, NULL));
    struct refeed r = {.timeline = &t.timeline,
        .bytes = buf_str(&t.files.transcript),
        .term = l->lines.term,
        .piece = PLAIN_TEXT_PIECE,
        .output = on_output,
        .resize = on_resize,
        .context = l};
    refeed_run(&r);
    AUTO_FD int fd = record_file(t.files.dir, "transcript.log");
    if (l->o->follow && fd >= 0)
        box_log_print_rest(l, fd, (off_t)t.files.transcript.n, signals);
    plain_text_end(&l->lines);
    return true;
}

static bool print_raw(struct box_log_ctx *l, const char *path, int signals, struct err *err)
{
    AUTO_FD int dir = record_open(path, err);
    if (dir < 0)
        return false;
    AUTO_FD int fd = record_file(dir, "transcript.log");
    if (fd < 0)
        return record_unreadable("transcript.log", err);
    box_log_print_rest(l, fd, 0, signals);
    return true;
}

static bool box_log_print(struct box_log_ctx *l, int signals, struct err *err)
{
    const char *dir = arena_printf(l->cli->arena, STR_FMT "/host/runs/%llu", STR_ARG(l->box->path),
        (unsigned long long)l->run);
    if (access(dir, F_OK) != 0)
        return err_set(err, E_NOT_FOUND,
            "the box '" STR_FMT "' has no run %llu (the newest %d are kept)", STR_ARG(l->box->name),
            (unsigned long long)l->run, RUNS_KEPT);
    bool ok =
        l->o->raw ? print_raw(l, dir, signals, err) : box_log_print_text(l, dir, signals, err);
    if (!ok || l->error.code)
        return ok ? err_move(err, &l->error) : false;
    if (l->proxy)
        out_warn(l->cli, "%s", l->proxy);
    if (!l->cli->json)
        return true;
    json_t *object = json_object();
    json_put(object, "name", json_text(l->box->name));
    json_put(object, "run", json_integer((json_int_t)l->run));
    json_put(object, "text", json_text(buf_str(&l->text)));
    json_put(object, "cut", json_boolean(l->cut));
    return out_json(l->cli, object, err);
}

static bool run_log(struct cli *cli, const struct args *args, struct err *err)
{
    AUTO(box_use_done) struct box_use use = BOX_USE_NONE;
    struct box_log_ctx l = {.cli = cli,
        .o = args->options,
        .lines = PLAIN_TEXT_INIT,
        .text = BUF_INIT(TEXT_MAX + 4 * PLAIN_TEXT_LINE_MAX)};
    l.lines.put = on_line;
    l.lines.context = &l;
    sigset_t set;
    if (cli->json && (l.o->raw || l.o->follow))
        return err_set(err, E_CLI_INVALID_ARG, "--json cannot be combined with --raw or --follow");
    if (!config_box_open(cli->arena, args->v[0], BOX_USE_LOOK, &use, err))
        return false;
    l.box = &use.box;
    AUTO_FD int signals = l.o->follow ? interrupt_open(false, &set) : -1;
    bool ok = find_run(&l, err) && box_log_print(&l, signals, err);
    if (signals >= 0)
        interrupt_close(&set);
    plain_text_done(&l.lines);
    buf_done(&l.text);
    err_done(&l.error);
    return ok;
}

static const struct opt log_opts[] = {
    OPT_INT("run", 0, struct log_options, run, "N", 1, RUNS_MAX,
        "number of the run, starting at 1; default: the last"),
    OPT_SET("follow", 'f', struct log_options, follow, "continue while the agent runs"),
    OPT_SET("raw", 0, struct log_options, raw,
        "print the exact bytes, including escape sequences, which is unsafe on a terminal"),
};

static const struct example log_examples[] = {
    {"cordon box log fix-login", "as text"},
    {"cordon box log fix-login -f", "follow the output"},
    {"cordon box log fix-login --raw | cordon render", "the final screen"},
};

const struct cmd cmd_box_log = {
    .name = "log",
    .summary = "print the output of a box's agent",
    .about = "Prints plain text: every line that the agent's terminal has shown, without "
             "escape sequences. Of a full-screen program, only the last screen is printed; "
             "'cordon trace' shows all screens, from the recordings that 'cordon box show' "
             "lists.",
    .usage = "NAME",
    .min_args = 1,
    .max_args = 1,
    .arg_kind = ARG_BOX,
    CMD_OPTS(log_opts, struct log_options),
    CMD_EXAMPLES(log_examples),
    .run = run_log,
};
