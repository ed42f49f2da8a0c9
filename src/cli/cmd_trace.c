/* cordon trace: convert the record of a run for viewing. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmds.h"
#include "io/file.h"
#include "record/refeed.h"
#include "term/draw.h"
#include "trace/cast.h"
#include "trace/page.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum {
    CAST_BYTES_MAX = 1 << 30,
    SVG_BYTES_MAX = 256 << 20,
};

struct trace_options {
    const char *artifacts, *output, *format, *at;
};

static const char *const formats[] = {"html", "asciicast", "svg", NULL};

static bool trace_usage_error(struct err *err, const char *message)
{
    err_set(err, E_CLI_INVALID_ARG, "%s", message);
    return err_ctx(err, "command", "cordon trace");
}

/* Marks ---------------------------------------------------------------------------------------- */

static bool is_step(const json_t *step, struct str name)
{
    const json_t *id = json_object_get(step, "step_id");
    return str_eq(json_str(id ? id : json_object_get(step, "id")), name);
}

/* Finds the mark of a step, or the last one up to a time. */
static bool find_mark(
    const struct trace *t, const char *at, size_t *ret_mark, uint64_t *ret_ms, struct err *err)
{
    const json_t *step;
    size_t i, mark = 0;
    int64_t ms;
    json_array_foreach(trace_steps(t), i, step)
    {
        if (!is_step(step, str_z(at)))
            continue;
        const char *status = json_string_value(json_object_get(step, "status"));
        if ((status && strcmp(status, "skipped") == 0) || i >= t->timeline.n)
            return err_set(err, E_NOT_FOUND, "the step '%s' was not run and has no screen", at);
        *ret_mark = i;
        *ret_ms = t->timeline.marks[i].at_ms;
        return true;
    }
    struct str number = str_z(at);
    if (str_ends_with(number, STR("ms")))
        number.n -= 2;
    if (!str_to_int(number, 0, INT64_MAX, &ms)) {
        err_set(err, E_NOT_FOUND, "'%s' is neither a step of this run nor a number of milliseconds",
            at);
        return err_ctx(err, "word", "%s", at);
    }
    while (mark + 1 < t->timeline.n && t->timeline.marks[mark + 1].at_ms <= (uint64_t)ms)
        mark++;
    *ret_mark = mark;
    *ret_ms = (uint64_t)ms;
    return true;
}

/* Output --------------------------------------------------------------------------------------- */

static void write_svg(const struct trace *t, size_t mark, struct arena *arena, struct buf *out)
{
    struct term *term = refeed_term(&t->timeline, NULL, NULL);
    struct refeed r = {
        .timeline = &t->timeline, .bytes = buf_str(&t->files.transcript), .term = term};
    refeed_to(&r, mark);
    struct snapshot s;
    snapshot_take(term, arena, SNAPSHOT_CELLS, &s);
    draw_svg(&s, out);
    term_free(term);
}

static bool write_format(struct cli *cli, const struct trace *t, const struct trace_options *o,
    const char *format, struct buf *out, struct err *err)
{
    size_t mark = t->timeline.n - 1;
    uint64_t ms = PAGE_AT_END;
    if (o->at && !find_mark(t, o->at, &mark, &ms, err))
        return false;
    if (strcmp(format, "html") == 0)
        return page_write(t, ms, out, err);
    if (strcmp(format, "svg") == 0)
        write_svg(t, mark, cli->arena, out);
    else
        cast_write(t, out);
    return buf_ok(out) || err_set(err, E_IO, "the record is too large for this format");
}

/* Replaces the content of a file, but never of one that is part of the record. */
static bool trace_write_file(
    const struct trace *t, const char *name, struct str content, struct err *err)
{
    struct stat st;
    AUTO_FD int fd = open(name, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    bool made = fd < 0 && errno == ENOENT;
    if (made)
        fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
    if (fd < 0 || fstat(fd, &st) != 0)
        return err_errno(err, E_IO, errno, "cannot write '%s'", name);
    bool held = S_ISREG(st.st_mode) && trace_holds(t, fd);
    if (held && made)
        unlink(name);
    if (held)
        return err_set(
            err, E_CLI_INVALID_ARG, "'%s' is part of the record and would be overwritten", name);
    if (S_ISREG(st.st_mode) && ftruncate(fd, 0) != 0)
        return err_errno(err, E_IO, errno, "cannot write '%s'", name);
    return file_write(fd, content, name, err);
}

static bool trace_print_json(struct cli *cli, const struct trace *t, const char *format,
    const char *file, size_t bytes, struct err *err)
{
    json_t *object = json_object();
    json_put(object, "format", json_string(format));
    json_put(object, "file", json_text(str_z(file)));
    json_put(object, "bytes", json_integer((json_int_t)bytes));
    json_put(object, "ended_early", json_boolean(!t->files.run));
    return out_json(cli, object, err);
}

static void warn_damage(struct cli *cli, const struct trace *t)
{
    const json_t *text;
    size_t i;
    if (!t->files.run && json_array_size(t->damaged) == 0)
        out_warn(cli, "the run ended early: run.json is missing");
    json_array_foreach(t->damaged, i, text)
        out_warn(cli, "ignoring a damaged part of the record: %s", json_string_value(text));
}

static bool run_trace(struct cli *cli, const struct args *args, struct err *err)
{
    const struct trace_options *o = args->options;
    const char *format = o->format ? o->format : "html";
    const char *dir = args->n ? args->v[0] : o->artifacts;
    if (args->n && o->artifacts)
        return trace_usage_error(err, "DIR and --artifacts cannot be combined");
    if (!dir)
        return trace_usage_error(err, "'cordon trace' needs DIR: cordon trace [OPTION…] DIR");
    if (o->at && strcmp(format, "asciicast") == 0)
        return trace_usage_error(err, "--at requires --format html or svg");
    if (cli->json && !o->output)
        return trace_usage_error(err, "--json requires an output file: use -o");
    if (cli->to_terminal && !o->output)
        return trace_usage_error(
            err, "the output is not suitable for a terminal: give a file with -o");
    AUTO(trace_close) struct trace t = TRACE_NONE;
    AUTO_BUF struct buf out = BUF_INIT(strcmp(format, "html") == 0  ? 2 * (size_t)PAGE_BYTES_MAX
                                       : strcmp(format, "svg") == 0 ? (size_t)SVG_BYTES_MAX
                                                                    : (size_t)CAST_BYTES_MAX);
    if (!trace_open(dir, &t, err) || !write_format(cli, &t, o, format, &out, err))
        return false;
    warn_damage(cli, &t);
    if (!o->output)
        return file_write(STDOUT_FILENO, buf_str(&out), "/dev/stdout", err);
    return trace_write_file(&t, o->output, buf_str(&out), err) &&
           (!cli->json || trace_print_json(cli, &t, format, o->output, out.n, err));
}

static const struct opt trace_opts[] = {
    OPT_STRING("artifacts", 0, struct trace_options, artifacts, "DIR", ARG_DIR,
        "artifacts directory; same as the DIR argument"),
    OPT_STRING("output", 'o', struct trace_options, output, "FILE", ARG_FILE,
        "write to this file, replacing it, instead of standard output"),
    OPT_ONE_OF("format", 0, struct trace_options, format, "FORMAT", formats,
        "html (default): a page; asciicast: a recording, version 2; svg: a picture of one "
        "screen"),
    OPT_STRING("at", 0, struct trace_options, at, "STEP|MS", ARG_ANY,
        "a step id (its end) or a time in milliseconds: the screen that svg shows "
        "(default: the last), or the start position of the page (default: the beginning)"),
};

static const struct example trace_examples[] = {
    {"cordon trace out -o trace.html", "a page with a timeline, for a browser"},
    {"cordon trace out --format asciicast | asciinema play -", "play it in the terminal"},
    {"cordon trace out --format svg --at login -o login.svg", "the screen after the step login"},
};

const struct cmd cmd_trace = {
    .name = "trace",
    .summary = "convert the record of a run to a page or a picture",
    .about = "Reads an artifacts directory and writes one page that requires no network: "
             "timeline, steps, the terminal with its colours, input, events, transcript; or a "
             "recording; or a picture of one screen. The record of a run that was killed can "
             "also be used. Program output is only ever shown as text.",
    .usage = "DIR",
    .min_args = 0,
    .max_args = 1,
    .arg_kind = ARG_DIR,
    CMD_OPTS(trace_opts, struct trace_options),
    CMD_EXAMPLES(trace_examples),
    .run = run_trace,
};
