/* cordon box log: print the output of an agent. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "box/runs.h"
#include "cli/box_cmds.h"
#include "io/interrupt.h"
#include "record/reader.h"
#include "term/draw.h"
#include "trace/refeed.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>

enum {
    PIECE = 256,           /* produces fewer lines than the scrollback holds */
    FLUSH_BYTES = 1 << 20, /* flush when more is buffered */
    LOOK_MS = 100,         /* interval for polling a growing recording */
    RAW_PIECE = 64 * 1024,
    TEXT_MAX = 48 << 20, /* limit for --json */
    RUNS_MAX = 1000 * 1000,
    LINE_MAX_BYTES = 1 << 20,
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
    struct term *term;
    unsigned shown; /* rows at the top of the screen that are already printed */
    struct buf line, text;
    bool cut;
    struct err error;
};

/* Lines --------------------------------------------------------------------------------------- */

/* Prints the finished line. Wrapped rows are parts of one line. */
static void box_log_end_line(struct box_log_ctx *l)
{
    if (!l->cli->json)
        out_name(l->cli, buf_str(&l->line), '\n');
    else if (l->text.n + l->line.n < TEXT_MAX)
        buf_printf(&l->text, STR_FMT "\n", STR_ARG(buf_str(&l->line)));
    else
        l->cut = true;
    buf_reset(&l->line);
}

static void box_log_add_row(struct box_log_ctx *l, int row)
{
    bool wraps = term_row_wraps(l->term, row);
    size_t end = l->line.n;
    for (unsigned col = 0; col < term_cols(l->term); col++) {
        struct term_cell cell;
        term_cell(l->term, row, col, &cell);
        for (unsigned i = 0; i < cell.n; i++) {
            char bytes[UTF8_MAX];
            buf_add(&l->line, bytes, utf8_write(cell.codepoints[i], bytes));
        }
        if (cell.n)
            end = l->line.n;
        else if (cell.width)
            buf_add_byte(&l->line, ' ');
    }
    if (wraps && l->line.n < LINE_MAX_BYTES)
        return;
    buf_truncate(&l->line, end);
    box_log_end_line(l);
}

/* Prints and clears the scrollback: rows that have left the screen no longer change. */
static void box_log_drain(struct box_log_ctx *l)
{
    unsigned n = term_scrollback(l->term);
    if (n == 0 || term_mid_sequence(l->term) || term_alternate(l->term))
        return;
    for (unsigned i = 0; i < n; i++) {
        if (l->shown)
            l->shown--;
        else
            box_log_add_row(l, (int)i - (int)n);
    }
    term_feed(l->term, STR("\033[3J"));
    if (!l->cli->json && l->cli->stdout_buf.n > FLUSH_BYTES && !l->error.code)
        (void)!out_flush(l->cli, &l->error);
}

static void on_output(void *context, double at_ms, struct str bytes)
{
    struct box_log_ctx *l = context;
    (void)at_ms;
    refeed_feed(l->term, bytes);
    box_log_drain(l);
}

static void on_resize(void *context, double at_ms, unsigned rows, unsigned cols)
{
    struct box_log_ctx *l = context;
    (void)at_ms;
    term_resize(l->term, rows, cols);
    box_log_drain(l);
}

static unsigned used_rows(const struct box_log_ctx *l)
{
    unsigned rows = term_rows(l->term);
    for (char *line = base_alloc(term_cols(l->term) + 1);; rows--)
        if (rows == 0 || term_row_ascii(l->term, (int)rows - 1, line) != 0) {
            free(line);
            return rows;
        }
}

/* Prints the rows of the screen above `end`. */
static void add_screen(struct box_log_ctx *l, unsigned end)
{
    for (; l->shown < end; l->shown++)
        box_log_add_row(l, (int)l->shown);
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
        while (
            !l->error.code && (n = pread(fd, bytes, l->o->raw ? sizeof(bytes) : PIECE, at)) > 0) {
            at += n;
            if (l->o->raw)
                put_raw(l, str_n(bytes, (size_t)n));
            else
                on_output(l, 0, str_n(bytes, (size_t)n));
        }
        if (runs && !l->o->raw && !term_alternate(l->term))
            add_screen(l, term_cursor(l->term).row);
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
    l->term = refeed_term(&t);
    const struct refeed r = {
        .piece = PIECE, .output = on_output, .resize = on_resize, .context = l};
    refeed_run(&t, &r);
    AUTO_FD int fd = record_file(t.dir, "transcript.log");
    if (l->o->follow && fd >= 0)
        box_log_print_rest(l, fd, (off_t)t.transcript.n, signals);
    add_screen(l, used_rows(l));
    if (l->line.n)
        box_log_end_line(l);
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
        .line = BUF_INIT(2 * LINE_MAX_BYTES),
        .text = BUF_INIT(TEXT_MAX + 4 * LINE_MAX_BYTES)};
    sigset_t set;
    if (cli->json && (l.o->raw || l.o->follow))
        return err_set(
            err, E_CLI_INVALID_ARG, "--json has the text as it is now: neither --raw nor --follow");
    if (!box_use_open(cli, args->v[0], BOX_USE_LOOK, &use, err))
        return false;
    l.box = &use.box;
    AUTO_FD int signals = l.o->follow ? interrupt_open(false, &set) : -1;
    bool ok = find_run(&l, err) && box_log_print(&l, signals, err);
    if (signals >= 0)
        interrupt_close(&set);
    term_free(l.term);
    buf_done(&l.text);
    buf_done(&l.line);
    err_done(&l.error);
    return ok;
}

static const struct opt log_opts[] = {
    OPT_INT("run", 0, struct log_options, run, "N", 1, RUNS_MAX,
        "which run: 1 is the first (default: the last)"),
    OPT_SET("follow", 'f', struct log_options, follow, "go on while the agent runs"),
    OPT_SET("raw", 0, struct log_options, raw,
        "the very bytes, escape sequences included: not for a terminal that you trust"),
};

static const struct example log_examples[] = {
    {"cordon box log fix-login", "as text"},
    {"cordon box log fix-login -f", "and what comes"},
    {"cordon box log fix-login --raw | cordon render", "the screen at the end"},
};

const struct cmd cmd_box_log = {
    .name = "log",
    .summary = "print what an agent printed",
    .about =
        "Plain text: every line that the agent's terminal has shown, without escape sequences. "
        "A program that draws a whole screen leaves its last one; 'cordon trace' shows all of "
        "them, from the recordings that 'cordon box show' names.",
    .usage = "NAME",
    .min_args = 1,
    .max_args = 1,
    .arg_kind = ARG_BOX,
    CMD_OPTS(log_opts, struct log_options),
    CMD_EXAMPLES(log_examples),
    .run = run_log,
};
