/* glob_files: finds files by a pattern for their paths. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "path/glob.h"
#include "tool/limit.h"
#include "tool/tool.h"

#include <fcntl.h>

enum {
    LIMIT_MAX = 10 * 1000,
    PROBLEMS_TOLD = 3,
    LINE_MAX_BYTES = 1 << 20, /* for a path with unprintable bytes escaped */
};

struct glob_files_args {
    struct str pattern, path;
    uint32_t limit;
};

static const struct field fields[] = {
    FIELD_STR("pattern", struct glob_files_args, pattern,
        "glob: *, ?, [a-z], {a,b}, and ** for any directories", .flags = FIELD_REQUIRED),
    FIELD_STR("path", struct glob_files_args, path, "the directory", .alias = "file_path",
        .def = "\".\""),
    FIELD_U32("limit", struct glob_files_args, limit, "maximum number of files", .def = "200",
        FIELD_RANGE(1, LIMIT_MAX)),
};

static const struct shape shape =
    SHAPE("glob_files", struct glob_files_args, fields, "arguments of glob_files");

struct glob_files_listing {
    const struct glob_files_args *args;
    struct str dir; /* prefix of the paths */
    struct buf *content, line;
    size_t n, shown;
    bool more;
    bool cut; /* the first line was too long */
};

static bool glob_files_add(void *context, struct str path)
{
    struct glob_files_listing *l = context;
    l->more = l->n == l->args->limit;
    if (l->more)
        return false;
    l->n++;
    if (l->shown + 1 < l->n || l->shown == LIMIT_LINES)
        return true; /* only counted after the first that did not fit */
    buf_reset(&l->line);
    utf8_add_printable(&l->line, l->dir);
    if (l->dir.n && l->dir.p[l->dir.n - 1] != '/')
        buf_add_byte(&l->line, '/');
    utf8_add_printable(&l->line, path);
    l->shown += limit_add_line(l->content, buf_str(&l->line), &l->cut);
    return true;
}

static void glob_files_report(
    const struct glob_files_listing *l, const struct walk_problems *problems, struct tool_result *r)
{
    r->truncated |= l->cut;
    if (l->more || l->shown < l->n) {
        r->truncated = true;
        buf_printf(l->content,
            "[truncated] %zu of %s%zu files shown; narrow the pattern or the path%s\n", l->shown,
            l->more ? "more than " : "", l->n,
            l->more && l->shown == l->n ? ", or raise limit" : "");
    }
    struct str pattern = l->args->pattern;
    bool top_only = str_find(pattern, '/') < 0 && str_find(pattern, '*') >= 0 &&
                    !memmem(pattern.p, pattern.n, "**", 2);
    if (l->n == 0)
        buf_printf(l->content, "(no file matches%s)\n",
            top_only ? "; without a leading **/ only the directory itself is searched" : "");
    for (size_t i = 0; i < MIN(problems->n, (size_t)PROBLEMS_TOLD); i++)
        tool_warns(r, "%s: %s", problems->kept[i].path, walk_problem_text(&problems->kept[i]));
    if (problems->n > PROBLEMS_TOLD)
        tool_warns(r, "%zu more cannot be read", problems->n - PROBLEMS_TOLD);
    tool_detail(r, "files", json_integer((json_int_t)l->n));
    tool_detail(r, "shown", json_integer((json_int_t)l->shown));
    tool_says(r, "%s%zu %s", l->more ? "more than " : "", l->n, l->n == 1 ? "file" : "files");
}

static bool glob_files_find(struct toolbox *box, const struct glob_files_args *args,
    struct glob *glob, struct tool_result *result, struct err *err)
{
    struct resolved where;
    AUTO_FD int fd = toolbox_open_dir(box, args->path, O_RDONLY, "", &result->arena, &where, err);
    if (fd < 0)
        return false;
    struct str name = toolbox_name(box, &where);
    struct glob_files_listing l = {
        .args = args,
        .dir = str_is(name, ".") ? str_n("", 0) : name,
        .content = &result->content,
        .line = BUF_INIT(LINE_MAX_BYTES),
    };
    AUTO_WALK_PROBLEMS struct walk_problems problems = {0};
    struct walk_options walk = {
        .ignore = true, .problems = &problems, .called_off = toolbox_called_off, .context = box};
    bool ok = glob_find(fd, glob, &walk, glob_files_add, &l, err);
    if (ok)
        glob_files_report(&l, &problems, result);
    buf_done(&l.line);
    return ok;
}

static bool glob_files_run(
    struct toolbox *box, const void *arguments, struct tool_result *result, struct err *err)
{
    const struct glob_files_args *args = arguments;
    struct glob *glob;
    if (!glob_compile(args->pattern, &result->arena, &glob, err)) {
        if (err->code == E_CLI_INVALID_ARG)
            err->code = E_TOOL_VALIDATION;
        return false;
    }
    return glob_files_find(box, args, glob, result, err);
}

const struct tool tool_glob_files = {
    .name = "glob_files",
    .alias = "glob",
    .about = "Lists files whose paths match a pattern, sorted. Omits files that .gitignore etc. "
             "exclude. *.c searches the directory itself, **/*.c all directories below it.",
    .args = &shape,
    .example = "{\"pattern\": \"**/*.{c,h}\", \"path\": \"src\"}",
    .run = glob_files_run,
};
