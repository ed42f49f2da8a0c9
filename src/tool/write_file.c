/* write_file: a whole file, new or instead of what is there. */
#include "base/utf8.h"
#include "tool/tool.h"

enum {
    NAME_MAX_SHOWN = 64 << 10,
};

struct write_file_args {
    struct str path;
    struct str content;
};

static const struct field fields[] = {
    FIELD_STR("path", struct write_file_args, path, "the file; directories on the way are made",
        .alias = "file_path", .flags = FIELD_REQUIRED),
    FIELD_STR(
        "content", struct write_file_args, content, "all of its text", .flags = FIELD_REQUIRED),
};

static const struct shape shape =
    SHAPE("write_file", struct write_file_args, fields, "arguments of write_file");

static bool check_path(struct str path, struct err *err)
{
    if (!str_ends_with(path, STR("/")))
        return true;
    return err_set(err, E_TOOL_VALIDATION,
        "path: '" STR_FMT "' names a directory, as it ends in '/'; name the file in it, such as "
        "\"notes.txt\"",
        STR_ARG(path));
}

static bool subject(struct toolbox *box, const void *arguments, struct buf *text, struct err *err)
{
    const struct write_file_args *args = arguments;
    return check_path(args->path, err) && tool_subject_path(box, args->path, text, err);
}

static bool run(
    struct toolbox *box, const void *arguments, struct tool_result *result, struct err *err)
{
    const struct write_file_args *args = arguments;
    struct resolved where;
    struct writer_result written;
    if (!check_path(args->path, err) ||
        !toolbox_resolve(box, args->path, true, &result->arena, &where, err) ||
        !tool_looks_twice(box, &tool_write_file, &where, result, err))
        return false;
    AUTO_WRITER struct writer *w = NULL;
    if (!toolbox_writer(box, &where, &w, err) ||
        !writer_put(w, where.rel, args->content, &(struct writer_options){.keep_eol = true}, err) ||
        !toolbox_commit(box, w, &written, err))
        return false;
    AUTO_BUF struct buf name = BUF_INIT(NAME_MAX_SHOWN);
    utf8_add_printable(&name, toolbox_name(box, &where));
    tool_changed(result, &written);
    result->changes[0].path = toolbox_name(box, &where);
    tool_says(result, "%s '%s': %zu bytes", where.exists ? "replaced" : "created", buf_z(&name),
        args->content.n);
    buf_add_str(&result->content, buf_str(&result->message));
    return true;
}

const struct tool tool_write_file = {
    .name = "write_file",
    .alias = "write",
    .about = "Writes a whole file, atomically: a new one, or all of an old one. To change a part "
             "of a file use edit_file.",
    .args = &shape,
    .example = "{\"path\": \"notes.txt\", \"content\": \"first line\\n\"}",
    .mutating = true,
    .run = run,
    .subject = subject,
};
