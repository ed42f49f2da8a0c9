/* write_file: creates a file or replaces its whole content. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "tool/tool.h"
#include "tool/tool_plan.h"

enum {
    NAME_MAX_SHOWN = 64 << 10,
    ARENA_MAX = 8 << 20,
};

struct write_file_args {
    struct str path;
    struct str content;
};

static const struct field fields[] = {
    FIELD_STR("path", struct write_file_args, path, "the file; missing directories are created",
        .alias = "file_path", .flags = FIELD_REQUIRED),
    FIELD_STR(
        "content", struct write_file_args, content, "complete content", .flags = FIELD_REQUIRED),
};

static const struct shape shape =
    SHAPE("write_file", struct write_file_args, fields, "arguments of write_file");

static bool check_path(struct str path, struct err *err)
{
    if (!str_ends_with(path, STR("/")))
        return true;
    return err_set(err, E_TOOL_VALIDATION,
        "path: '" STR_FMT "' names a directory, because it ends in '/'; name a file in it, such as "
        "\"notes.txt\"",
        STR_ARG(path));
}

static bool write_file_subject(
    struct toolbox *box, const void *arguments, struct buf *text, struct err *err)
{
    const struct write_file_args *args = arguments;
    return check_path(args->path, err) && tool_subject_path(box, args->path, text, err);
}

/* Whether there are lines and all end in CRLF: then new lines also get CRLF (writer_options). */
static bool write_file_all_crlf(struct str text)
{
    struct str line;
    bool any = false;
    while (str_find(text, '\n') >= 0 && str_cut(text, '\n', &line, &text)) {
        if (!str_ends_with(line, STR("\r")))
            return false;
        any = true;
    }
    return any;
}

static void add_crlf(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '\n' && (i == 0 || text.p[i - 1] != '\r'))
            buf_add_byte(out, '\r');
        buf_add_byte(out, text.p[i]);
    }
}

/* Adds the diff from the current content to the new one; returns the stamp of the old file. */
static bool write_file_diff(struct toolbox *box, const struct write_file_args *args,
    struct buf *diff, struct stamp *ret_stamp, struct err *err)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    AUTO_TOOL_FILE struct tool_file old = {0};
    AUTO_BUF struct buf crlf = BUF_INIT(2 * (size_t)TOOL_ARGUMENTS_MAX);
    int64_t budget = PLAN_BUDGET;
    struct resolved where;
    if (!toolbox_resolve(box, args->path, true, &a, &where, err) ||
        (where.exists && !toolbox_read(box, args->path, true, &a, &old, err)))
        return false;
    struct plan_file file = {.name = toolbox_name(box, &where),
        .existed = where.exists,
        .exists = true,
        .old = where.exists ? buf_str(&old.content) : STR(""),
        .new = args->content};
    if (write_file_all_crlf(file.old)) {
        add_crlf(&crlf, args->content);
        file.new = buf_str(&crlf);
    }
    plan_add(diff, &budget, &file);
    *ret_stamp = old.stamp;
    return true;
}

static bool write_file_plan(struct toolbox *box, const void *arguments, struct buf *diff,
    struct tool_result *result, struct err *err)
{
    struct stamp ignored;
    (void)result;
    return write_file_diff(box, arguments, diff, &ignored, err);
}

/* If a diff is needed, computes and checks it; then ret_stamp is the stamp of the file compared. */
static bool write_file_check(struct toolbox *box, const struct write_file_args *args,
    struct buf *diff, struct stamp *ret_stamp, bool *ret_checked, struct err *err)
{
    AUTO_ERR struct err ignored = {0};
    *ret_checked = false;
    if (!plan_is_wanted(box))
        return true;
    *ret_checked = write_file_diff(box, args, diff, ret_stamp, &ignored);
    if (!*ret_checked && box->planned.p)
        return err_move(err, &ignored);
    return !*ret_checked || plan_check(box, diff, err);
}

static bool write_file_run(
    struct toolbox *box, const void *arguments, struct tool_result *result, struct err *err)
{
    const struct write_file_args *args = arguments;
    struct writer_options options = {.keep_eol = true};
    AUTO_BUF struct buf diff = BUF_INIT(PLAN_MAX);
    AUTO_WRITER struct writer *w = NULL;
    struct resolved where;
    struct writer_result written;
    struct stamp stamp = {0};
    bool checked;
    if (!check_path(args->path, err) ||
        !toolbox_resolve(box, args->path, true, &result->arena, &where, err) ||
        !tool_looks_twice(box, &tool_write_file, &where, result, err) ||
        !write_file_check(box, args, &diff, &stamp, &checked, err))
        return false;
    options.expect = checked && stamp.ino ? &stamp : NULL;
    options.must_not_exist = checked && !stamp.ino;
    if (!toolbox_writer(box, &where, &w, err) ||
        !writer_put(w, where.rel, args->content, &options, err) ||
        !toolbox_commit(box, w, &written, err))
        return false;
    AUTO_BUF struct buf name = BUF_INIT(NAME_MAX_SHOWN);
    utf8_add_printable(&name, toolbox_name(box, &where));
    tool_changed(result, &written);
    plan_tell(box, &diff);
    result->changes[0].path = toolbox_name(box, &where);
    tool_says(result, "%s '%s': %zu bytes", where.exists ? "replaced" : "created", buf_z(&name),
        args->content.n);
    buf_add_str(&result->content, buf_str(&result->message));
    return true;
}

const struct tool tool_write_file = {
    .name = "write_file",
    .alias = "write",
    .about = "Creates a file or replaces its whole content, atomically. To change a part, use "
             "edit_file.",
    .args = &shape,
    .example = "{\"path\": \"notes.txt\", \"content\": \"first line\\n\"}",
    .mutating = true,
    .text = "content",
    .run = write_file_run,
    .subject = write_file_subject,
    .plan = write_file_plan,
};
