/* Output of the program. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/out.h"

#include "base/protocol.h"
#include "base/utf8.h"
#include "io/file.h"
#include "path/exact.h"

#include <errno.h>

enum {
    STDOUT_MAX = 1 << 30,
    PATH_HEAD = 40, /* bytes shown of a long path */
    PATH_TAIL = 60,
};

static const char *const style_codes[] = {
    [OUT_BOLD] = "1",
    [OUT_DIM] = "2",
    [OUT_RED] = "31",
    [OUT_GREEN] = "32",
    [OUT_YELLOW] = "33",
    [OUT_CYAN] = "36",
};

static bool want_color(const char *when, int fd)
{
    if (when && strcmp(when, "auto") != 0)
        return strcmp(when, "always") == 0;
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(fd) && !(no_color && no_color[0]) && term && strcmp(term, "dumb") != 0;
}

void out_init(struct cli *cli, struct arena *a, bool json, const char *color)
{
    *cli = (struct cli){
        .arena = a,
        .stdout_buf = BUF_INIT(STDOUT_MAX),
        .json = json,
        .color = !json && want_color(color, STDOUT_FILENO),
        .color_err = want_color(color, STDERR_FILENO),
        .to_terminal = isatty(STDOUT_FILENO),
        .color_asked = color,
        .deadline = TIMED_WRITE_INIT,
    };
}

void out_done(struct cli *cli)
{
    buf_done(&cli->stdout_buf);
}

void out_line(struct cli *cli, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    buf_vprintf(&cli->stdout_buf, format, args);
    va_end(args);
    buf_add_byte(&cli->stdout_buf, '\n');
}

void out_text(struct cli *cli, struct str text)
{
    buf_add_str(&cli->stdout_buf, text);
}

void out_name(struct cli *cli, struct str name, char end)
{
    if (cli->to_terminal)
        utf8_add_printable(&cli->stdout_buf, name);
    else
        buf_add_str(&cli->stdout_buf, name);
    buf_add_byte(&cli->stdout_buf, end);
}

static void add_styled(struct buf *b, bool color, enum out_style style, const char *text)
{
    if (color)
        buf_printf(b, "\033[%sm%s\033[0m", style_codes[style], text);
    else
        buf_add_z(b, text);
}

void out_styled(struct cli *cli, enum out_style style, const char *text)
{
    add_styled(&cli->stdout_buf, cli->color, style, text);
}

bool out_json(struct cli *cli, json_t *object, struct err *err)
{
    AUTO_JSON json_t *whole = json_object();
    json_object_set_new(whole, "protocol_version", json_integer(PROTOCOL_VERSION));
    int failed = json_object_update(whole, object);
    json_decref(object);
    BUG_ON(failed);
    json_add_compact(&cli->stdout_buf, whole);
    buf_add_byte(&cli->stdout_buf, '\n');
    if (!buf_ok(&cli->stdout_buf))
        return err_set(err, E_IO, "the result is larger than %d bytes", STDOUT_MAX);
    return true;
}

bool out_wrap(struct cli *cli, const char *key, struct err *err)
{
    if (!cli->json)
        return true;
    json_t *object = json_object();
    json_put(object, key, json_text(buf_str(&cli->stdout_buf)));
    buf_reset(&cli->stdout_buf);
    return out_json(cli, object, err);
}

bool out_flush(struct cli *cli, struct err *err)
{
    if (!buf_ok(&cli->stdout_buf))
        return err_set(err, E_IO, "the result is larger than %d bytes", STDOUT_MAX);
    bool ok = file_write_all(STDOUT_FILENO, buf_str(&cli->stdout_buf));
    int errnum = errno;
    buf_reset(&cli->stdout_buf);
    return ok ? true : err_errno(err, E_IO, errnum, "cannot write to standard output");
}

/* Write errors are ignored: without stderr they cannot be reported. */
static void out_write_line(struct cli *cli, const struct buf *line)
{
    const struct write_deadline *p = &cli->deadline;
    bool endless = p->until_ms == TIMED_WRITE_ENDLESS && p->cancel < 0;
    bool said UNUSED = endless ? file_write_all(STDERR_FILENO, buf_str(line))
                               : timed_write(STDERR_FILENO, buf_str(line), &cli->deadline);
}

/* Prints one line on stderr: prefix, message and, for an error, its code. */
static void out_print_message(
    struct cli *cli, enum out_style style, const char *kind, struct str message, const char *code)
{
    AUTO_BUF struct buf line = BUF_INIT(1 << 20);
    add_styled(&line, cli->color_err, style, "cordon:");
    buf_printf(&line, " %s", kind);
    utf8_add_printable(&line, message);
    if (code[0]) {
        buf_add_byte(&line, ' ');
        add_styled(&line, cli->color_err, OUT_DIM, code);
    }
    buf_add_byte(&line, '\n');
    out_write_line(cli, &line);
}

static void say_plain(struct cli *cli, const char *format, va_list args, const char *end)
{
    AUTO_BUF struct buf text = BUF_INIT(1 << 20), line = BUF_INIT(4 << 20);
    buf_vprintf(&text, format, args);
    utf8_add_printable(&line, buf_str(&text));
    buf_add_z(&line, end);
    out_write_line(cli, &line);
}

void out_note(struct cli *cli, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say_plain(cli, format, args, "\n");
    va_end(args);
}

void out_ask(struct cli *cli, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say_plain(cli, format, args, "");
    va_end(args);
}

/* The error as an object; context that is not UTF-8 has its exact bytes in context.inexact. */
static json_t *error_object(const struct err *err)
{
    json_t *error = err_to_json(err), *context = json_object_get(error, "context");
    for (size_t i = 0; i < err->n_ctx; i++)
        if (err->ctx[i].text)
            exact_put(context, err->ctx[i].key, str_z(err->ctx[i].text));
    json_t *object = json_object();
    json_put(object, "error", error);
    return object;
}

/* Prints the parts of the context that are meant for users, one line each. */
static void say_context(struct cli *cli, const struct err *err)
{
    static const char *const keys[] = {"found", "remedy", "weaker"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        const struct err_pair *pair = err_ctx_get(err, keys[i]);
        if (!pair || !pair->text)
            continue;
        AUTO_BUF struct buf line = BUF_INIT(64 * 1024);
        buf_printf(&line, "  %s: %s", keys[i], pair->text);
        out_print_message(cli, OUT_DIM, "", buf_str(&line), "");
    }
}

void out_say_error(struct cli *cli, const struct err *err)
{
    BUG_ON(err->code == ERR_NONE);
    char code[64] = "";
    if (cli->verbose || !isatty(STDERR_FILENO))
        snprintf(code, sizeof(code), "[%s]", err_name(err->code));
    out_print_message(cli, OUT_RED, "", str_z(err->message), code);
    const struct err_pair *command = err_ctx_get(err, "command");
    if (err->code == E_CLI_INVALID_ARG && command && command->text) {
        AUTO_BUF struct buf hint = BUF_INIT(1024);
        buf_printf(&hint, "try '%s --help'", command->text);
        out_print_message(cli, OUT_DIM, "", buf_str(&hint), "");
    }
    say_context(cli, err);
}

int out_error(struct cli *cli, const struct err *err)
{
    out_say_error(cli, err);
    if (cli->json) {
        AUTO_ERR struct err ignored = {0};
        buf_reset(&cli->stdout_buf); /* discard a partial result */
        bool said UNUSED = out_json(cli, error_object(err), &ignored) && out_flush(cli, &ignored);
    }
    return err_status(err->code);
}

bool out_fail(struct cli *cli, const struct err *failed, json_t *more, struct err *err)
{
    AUTO_JSON json_t *members = more;
    out_say_error(cli, failed);
    cli->status = err_status(failed->code);
    if (!cli->json)
        return true;
    json_t *object = error_object(failed);
    BUG_ON(json_object_update(object, members) != 0);
    return out_json(cli, object, err);
}

static bool within_character(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

struct str out_path(struct cli *cli, struct str path)
{
    size_t head = PATH_HEAD, tail = path.n - MIN(path.n, (size_t)PATH_TAIL);
    if (path.n <= PATH_HEAD + PATH_TAIL)
        return path;
    while (head && within_character(path.p[head]))
        head--;
    while (tail < path.n && within_character(path.p[tail]))
        tail++;
    return str_z(arena_printf(cli->arena, STR_FMT "\u2026" STR_FMT, STR_ARG(str_head(path, head)),
        STR_ARG(str_skip(path, tail))));
}

void out_warn(struct cli *cli, const char *format, ...)
{
    AUTO_BUF struct buf message = BUF_INIT(1 << 18);
    va_list args;
    va_start(args, format);
    buf_vprintf(&message, format, args);
    va_end(args);
    out_print_message(cli, OUT_YELLOW, "warning: ", buf_str(&message), "");
}

static void out_put_notice(void *cli, struct str text)
{
    out_warn(cli, STR_FMT, STR_ARG(text));
}

struct notices out_notices(struct cli *cli)
{
    return (struct notices){out_put_notice, cli};
}

static void out_put_note(void *cli, struct str text)
{
    out_note(cli, STR_FMT, STR_ARG(text));
}

struct notices out_notes(struct cli *cli)
{
    return (struct notices){out_put_note, cli};
}
