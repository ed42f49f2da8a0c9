/* cordon render: print the screen that a program's output produces. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/id.h"
#include "cli/cmds.h"
#include "io/file.h"
#include "term/draw.h"
#include "term/snapshot_json.h"
#include "term/term_events.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum {
    ROWS = 24,
    COLS = 80,
    CHUNK = 64 * 1024,
    PIECE = 2048, /* bytes fed at once: the replies must fit into the terminal's buffer */
};

struct render_options {
    int64_t rows, cols; /* 0: not given */
    const char *format;
    bool cells;
    bool onlcr;
    const char *at, *scrollback; /* numbers; text because 0 differs from not given */
    const char *width;
    const char *replies, *output;
};

static const char *const formats[] = {"text", "json", "ansi", "html", "svg", NULL};
static const char *const widths[] = {"grapheme", "wcwidth", NULL};

static void (*const drawers[])(const struct snapshot *, struct buf *) = {
    draw_text, NULL, draw_ansi, draw_html, draw_svg};

/* State of a rendering. */
struct render_ctx {
    struct term *t;
    struct events *events;
    const char *name; /* name of the input */
    int in;
    const char *replies_name;
    int replies;   /* -1: replies are dropped */
    int output;    /* -1: stdout */
    uint64_t left; /* bytes left to read */
};

#define RENDER_INIT ((struct render_ctx){.in = -1, .replies = -1, .output = -1})

static void render_done(struct render_ctx *r)
{
    term_free(r->t);
    events_free(r->events);
    auto_fd(&r->in);
    auto_fd(&r->replies);
    auto_fd(&r->output);
}

static bool render_usage_error(struct err *err, const char *message)
{
    err_set(err, E_CLI_INVALID_ARG, "%s", message);
    return err_ctx(err, "command", "cordon render");
}

/* Parses a number that may be 0: an OPT_INT could not tell it from an option that is not given. */
static bool render_parse_number(
    const char *option, const char *text, int64_t max, int64_t *value, struct err *err)
{
    if (!text || str_to_int(str_z(text), 0, max, value))
        return true;
    err_set(err, E_CLI_INVALID_ARG,
        "invalid value '%s' for --%s: expected a whole number from 0 to %lld", text, option,
        (long long)max);
    err_ctx(err, "word", "%s", text);
    return err_ctx(err, "command", "cordon render");
}

static size_t render_format_of(const struct cli *cli, const struct render_options *o)
{
    const char *name = o->format ? o->format : cli->json ? "json" : "text";
    size_t i = 0;
    while (strcmp(formats[i], name) != 0)
        i++;
    return i;
}

static bool render_open_input(struct render_ctx *r, const struct args *args, struct err *err)
{
    r->name = args->n && strcmp(args->v[0], "-") != 0 ? args->v[0] : "/dev/stdin";
    if (r->name != args->v[0])
        r->in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    else
        r->in = open(r->name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (r->in < 0)
        return err_errno(err, E_IO, errno, "cannot read '%s'", r->name);
    return true;
}

static bool render_same_file(const struct stat *a, const struct stat *b)
{
    return S_ISREG(a->st_mode) && a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Opens and truncates an output file, but never the input, nor one file for both outputs. */
static bool open_output(const struct render_ctx *r, const char *name, int *ret_fd, struct err *err)
{
    if (!name)
        return true;
    struct stat in, out, replies;
    AUTO_FD int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
    if (fd < 0 || fstat(fd, &out) || fstat(r->in, &in))
        return err_errno(err, E_IO, errno, "cannot write '%s'", name);
    if (render_same_file(&out, &in))
        return err_set(err, E_CLI_INVALID_ARG, "'%s' is the input and would be overwritten", name);
    if (r->replies >= 0 && !fstat(r->replies, &replies) && render_same_file(&out, &replies))
        return err_set(err, E_CLI_INVALID_ARG, "'%s' is already used for replies", name);
    if (S_ISREG(out.st_mode) && ftruncate(fd, 0))
        return err_errno(err, E_IO, errno, "cannot write '%s'", name);
    *ret_fd = TAKE_FD(fd);
    return true;
}

static bool render_start(
    struct render_ctx *r, const struct render_options *o, const struct args *args, struct err *err)
{
    int64_t left = INT64_MAX, scrollback = TERM_SCROLLBACK;
    if (!render_parse_number("at", o->at, INT64_MAX, &left, err) ||
        !render_parse_number("scrollback", o->scrollback, TERM_SCROLLBACK_MAX, &scrollback, err) ||
        !render_open_input(r, args, err) || !open_output(r, o->replies, &r->replies, err) ||
        !open_output(r, o->output, &r->output, err))
        return false;
    r->left = (uint64_t)left;
    r->replies_name = o->replies;
    r->events = events_new();
    r->t = term_new(&(struct term_options){
        .rows = o->rows ? (unsigned)o->rows : ROWS,
        .cols = o->cols ? (unsigned)o->cols : COLS,
        .scrollback = (unsigned)scrollback,
        .width =
            o->width && strcmp(o->width, "wcwidth") == 0 ? TERM_WIDTH_WCWIDTH : TERM_WIDTH_GRAPHEME,
        .onlcr = o->onlcr,
        .event = events_add,
        .context = r->events,
    });
    return true;
}

static bool render_feed(struct render_ctx *r, struct str bytes, struct err *err)
{
    while (bytes.n) {
        struct str piece = str_head(bytes, PIECE);
        term_feed(r->t, piece);
        struct str answer = term_replies(r->t);
        if (r->replies >= 0 && !file_write(r->replies, answer, r->replies_name, err))
            return false;
        term_drop_replies(r->t, answer.n);
        bytes = str_skip(bytes, piece.n);
    }
    return true;
}

static bool feed_all(struct render_ctx *r, struct err *err)
{
    AUTO_FREE char *chunk = base_alloc(CHUNK);
    while (r->left > 0) {
        ssize_t n = read(r->in, chunk, MIN(r->left, (uint64_t)CHUNK));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(err, E_IO, errno, "cannot read '%s'", r->name);
        if (n == 0) {
            term_feed_end(r->t);
            return true;
        }
        if (!render_feed(r, str_n(chunk, (size_t)n), err))
            return false;
        r->left -= (uint64_t)n;
    }
    return true; /* stopped by --at: leave an incomplete sequence as it is */
}

static bool render_print_json(
    struct cli *cli, struct render_ctx *r, const struct snapshot *s, struct err *err)
{
    char id[ID_SIZE];
    id_new(id);
    json_t *object = snapshot_json(s, id);
    json_put(object, "events", events_json(r->events, r->t));
    json_put(object, "events_dropped", json_integer((json_int_t)events_dropped(r->events)));
    return out_json(cli, object, err);
}

static bool run_render(struct cli *cli, const struct args *args, struct err *err)
{
    const struct render_options *o = args->options;
    size_t format = render_format_of(cli, o);
    if (cli->json && drawers[format])
        return render_usage_error(err, "--json cannot be combined with a --format other than json");
    if (o->cells && drawers[format])
        return render_usage_error(err, "--cells requires --format json");
    cli->json = !drawers[format]; /* also for errors */
    AUTO(render_done) struct render_ctx r = RENDER_INIT;
    if (!render_start(&r, o, args, err) || !feed_all(&r, err))
        return false;
    struct snapshot s;
    bool cells = o->cells || (drawers[format] && drawers[format] != draw_text);
    snapshot_take(r.t, cli->arena, cells ? SNAPSHOT_CELLS : 0, &s);
    if (drawers[format]) {
        drawers[format](&s, &cli->stdout_buf);
        if (drawers[format] == draw_text || drawers[format] == draw_ansi)
            out_text(cli, STR("\n"));
    } else if (!render_print_json(cli, &r, &s, err)) {
        return false;
    }
    if (r.output < 0 || !buf_ok(&cli->stdout_buf))
        return true;
    if (!file_write(r.output, buf_str(&cli->stdout_buf), o->output, err))
        return false;
    buf_reset(&cli->stdout_buf);
    return true;
}

static const struct opt render_opts[] = {
    OPT_INT("rows", 0, struct render_options, rows, "N", 1, TERM_ROWS_MAX,
        "rows of the screen; default: 24"),
    OPT_INT("cols", 0, struct render_options, cols, "N", 1, TERM_COLS_MAX,
        "columns of the screen; default: 80"),
    OPT_ONE_OF("format", 0, struct render_options, format, "FORMAT", formats,
        "output format: text (default), json, ansi (text with escape sequences), html or "
        "svg"),
    OPT_SET("cells", 0, struct render_options, cells,
        "with JSON: include every cell with its character, width and style"),
    OPT_SET("onlcr", 0, struct render_options, onlcr,
        "a line feed also moves to the first column, as a tty does for program output"),
    OPT_STRING(
        "at", 0, struct render_options, at, "BYTE", ARG_ANY, "stop after this many bytes of input"),
    OPT_STRING("replies", 0, struct render_options, replies, "FILE", ARG_FILE,
        "write the terminal's replies to queries to this file, replacing it"),
    OPT_STRING("scrollback", 0, struct render_options, scrollback, "N", ARG_ANY,
        "lines that are kept above the screen, up to 100000; default: 1000"),
    OPT_ONE_OF("width", 0, struct render_options, width, "RULE", widths,
        "width of characters: grapheme (clusters as they are drawn) or wcwidth (each code "
        "point separately)"),
    OPT_STRING("output", 'o', struct render_options, output, "FILE", ARG_FILE,
        "write the result to this file, replacing it, instead of standard output"),
};

static const struct example render_examples[] = {
    {"script -qc 'htop' log; cordon render log --format svg -o htop.svg", "a picture of a session"},
    {"ls --color=always | cordon render --onlcr --format html", "a page"},
    {"cordon render log --at 4096 --json --cells", "the screen after 4096 bytes, as data"},
};

const struct cmd cmd_render = {
    .name = "render",
    .summary = "render terminal output as a screen",
    .about = "Feeds a file, or standard input, to a terminal of the given size and prints the "
             "final screen: as text, a JSON snapshot, text with escape sequences, an HTML page "
             "or an SVG drawing. Nothing is run. Any input is accepted.",
    .usage = "[FILE]",
    .max_args = 1,
    .arg_kind = ARG_FILE,
    CMD_OPTS(render_opts, struct render_options),
    CMD_EXAMPLES(render_examples),
    .minor = true,
    .run = run_render,
};
