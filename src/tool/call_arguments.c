/* Arguments of a tool call from words. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/call_arguments.h"

#include "base/utf8.h"
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>

enum {
    ARG_NAME_MAX = 100,
};

/* Arguments that are too long are read far enough for the call to refuse them, with an ordinary
 * result. */
static bool call_arguments_read_fd(int fd, const char *name, struct buf *text, struct err *err)
{
    if (file_read(fd, TOOL_ARGUMENTS_MAX, name, text, err))
        return true;
    if (text->n <= TOOL_ARGUMENTS_MAX)
        return false;
    err_done(err);
    return true;
}

bool call_arguments_read(const char *source, struct buf *text, struct err *err)
{
    if (strcmp(source, "-") == 0)
        return call_arguments_read_fd(STDIN_FILENO, "standard input", text, err);
    if (source[0] != '@') {
        buf_add_z(text, source);
        return true;
    }
    AUTO_FD int fd = open(source + 1, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return err_errno(err, E_IO, errno, "cannot open '%s'", source + 1);
    return call_arguments_read_fd(fd, source + 1, text, err);
}

static const struct field *call_arguments_find(const struct tool *tool, struct str name)
{
    for (size_t i = 0; tool && i < tool->args->n_fields; i++) {
        const struct field *f = &tool->args->fields[i];
        if (str_is(name, f->name) || (f->alias && str_is(name, f->alias)))
            return f;
    }
    return NULL;
}

/* Converts a word to the type of the argument. */
static json_t *call_arguments_value(const struct field *f, struct str word)
{
    int64_t number;
    switch (f ? f->kind : FIELD_KIND_STR) {
    case FIELD_KIND_BOOL:
        if (str_is(word, "true") || str_is(word, "false"))
            return json_boolean(str_is(word, "true"));
        break;
    case FIELD_KIND_I64:
    case FIELD_KIND_U64:
    case FIELD_KIND_U32:
    case FIELD_KIND_U16:
        if (str_to_int(word, INT64_MIN, INT64_MAX, &number))
            return json_integer(number);
        break;
    default:
        break;
    }
    return json_text(word);
}

bool call_arguments_add(const struct tool *tool, const char *pair, json_t *object, struct err *err)
{
    struct str name, word;
    if (str_find(str_z(pair), '=') <= 0)
        return err_set(
            err, E_CLI_INVALID_ARG, "invalid value for --arg: expected NAME=VALUE, not '%s'", pair);
    str_cut(str_z(pair), '=', &name, &word);
    AUTO_BUF struct buf key = BUF_INIT(ARG_NAME_MAX);
    buf_add_str(&key, name);
    if (!buf_ok(&key) || !utf8_valid(name))
        return err_set(err, E_CLI_INVALID_ARG, "invalid argument name in '%s'", pair);
    json_put(object, buf_z(&key), call_arguments_value(call_arguments_find(tool, name), word));
    return true;
}
