/* grep_files: finds matching lines in the files below a directory. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "path/glob.h"
#include "path/warn.h"
#include "search/search.h"
#include "tool/limit.h"
#include "tool/tool.h"

#include <fcntl.h>

enum {
    LIMIT_MAX = 10 * 1000,
    CONTEXT_MAX = 50,
    INCLUDES_MAX = 100,
    TIMEOUT_MS_MAX = 10 * 60 * 1000,
    INCLUDE_ROOM = 1 << 20, /* minimum memory for a glob */
    NAME_ROOM = 1 << 20,
    PROBLEMS_TOLD = 3,
    GAVE_UP_TOLD = 5,
};

struct grep_files_args {
    struct str pattern, path;
    struct str_list include;
    uint32_t limit, context, timeout_ms;
    bool ignore_case, literal;
};

static const struct field fields[] = {
    FIELD_STR("pattern", struct grep_files_args, pattern,
        "a regular expression (PCRE2), matched line by line", .flags = FIELD_REQUIRED,
        FIELD_RANGE(1, REGEX_PATTERN_MAX)),
    FIELD_STR("path", struct grep_files_args, path, "directory or file to search",
        .alias = "file_path", .def = "\".\""),
    FIELD_STRS("include", struct grep_files_args, include,
        "only these files: globs such as *.c or src/**; a leading ! excludes",
        .flags = FIELD_ONE_OR_MORE, FIELD_RANGE(0, INCLUDES_MAX)),
    FIELD_U32("limit", struct grep_files_args, limit, "maximum number of matching lines",
        .def = "200", FIELD_RANGE(1, LIMIT_MAX)),
    FIELD_U32("context", struct grep_files_args, context, "lines of context around each match",
        .def = "0", FIELD_RANGE(0, CONTEXT_MAX)),
    FIELD_BOOL("ignore_case", struct grep_files_args, ignore_case, "ignore case", .def = "false"),
    FIELD_BOOL("literal", struct grep_files_args, literal,
        "pattern is plain text, not a regular expression", .def = "false"),
    FIELD_U32("timeout_ms", struct grep_files_args, timeout_ms,
        "timeout; returns the matches found so far", .def = "20000",
        FIELD_RANGE(1, TIMEOUT_MS_MAX)),
};

static const struct shape shape =
    SHAPE("grep_files", struct grep_files_args, fields, "arguments of grep_files");

/* A file must match one of `only`, if there are any, and none of `not`. */
struct grep_files_includes {
    struct glob *only[INCLUDES_MAX], *not [INCLUDES_MAX];
    size_t n_only, n_not;
};

/* Collects the output while results arrive. */
struct grep_files_results {
    struct toolbox *box;
    const struct grep_files_args *args;
    struct tool_result *result;
    struct grep_files_includes includes;
    struct str dir; /* prefix of the paths, ending in '/', or "" */
    struct buf name, line;
    size_t matches, files; /* within the limit */
    size_t shown, lines;   /* matches shown, and all lines shown */
    size_t hidden;         /* files that need consent */
    size_t replaced, cut, gave_up;
    bool more; /* more matches than the limit */
    bool full; /* the output limits are reached */
    bool binary;
    uint64_t last_line; /* last line shown of this file; 0: none */
};

/* A pattern without '/' matches names at any depth. */
static bool compile_include(
    struct str text, struct arena *a, struct glob **ret_glob, struct err *err)
{
    AUTO_BUF struct buf pattern = BUF_INIT(GLOB_LENGTH_MAX + 4);
    if (str_find(text, '/') < 0)
        buf_add_z(&pattern, "**/");
    buf_add_str(&pattern, text);
    if (text.n == 0 || !buf_ok(&pattern) || arena_left(a) < INCLUDE_ROOM)
        return err_set(err, E_TOOL_VALIDATION, "the pattern is %s", text.n ? "too long" : "empty");
    if (glob_compile(buf_str(&pattern), a, ret_glob, err))
        return true;
    if (err->code == E_CLI_INVALID_ARG)
        err->code = E_TOOL_VALIDATION;
    return false;
}

static bool compile_includes(
    const struct str_list *list, struct arena *a, struct grep_files_includes *in, struct err *err)
{
    for (size_t i = 0; i < list->n; i++) {
        bool not = str_starts_with(list->p[i], STR("!"));
        struct glob **to = not ? &in->not [in->n_not++] : &in->only[in->n_only++];
        if (!compile_include(str_skip(list->p[i], not ), a, to, err)) {
            err_wrap(err, "include");
            return false;
        }
    }
    return true;
}

static bool grep_files_is_wanted(void *context, struct str path)
{
    const struct grep_files_includes *in = &((const struct grep_files_results *)context)->includes;
    bool yes = in->n_only == 0;
    for (size_t i = 0; i < in->n_only && !yes; i++)
        yes = glob_match(in->only[i], path);
    for (size_t i = 0; i < in->n_not && yes; i++)
        yes = !glob_match(in->not [i], path);
    return yes;
}

static void grep_files_add_line(
    struct grep_files_results *g, const struct found *found, const struct found_line *line)
{
    struct buf *content = &g->result->content;
    size_t before = content->n;
    bool gap = g->args->context && g->lines && line->number != g->last_line + 1;
    if (g->full)
        return;
    char mark = line->match ? ':' : '-';
    buf_reset(&g->line);
    buf_add_str(&g->line, buf_str(&g->name));
    buf_printf(&g->line, "%c%llu%c", mark, (unsigned long long)line->number, mark);
    buf_add(&g->line, found->text->p + line->at, line->n);
    buf_add_z(content, gap ? "--\n" : "");
    if (!limit_add_line(content, buf_str(&g->line), &g->result->truncated) ||
        g->lines + gap + 1 > LIMIT_LINES) {
        buf_truncate(content, before);
        g->full = true;
        return;
    }
    g->last_line = line->number;
    g->lines += 1 + gap;
    g->shown += line->match;
}

/* A file that often holds secrets is not shown if that would need consent. */
static bool may_show(struct grep_files_results *g, struct str name)
{
    const char *why = warn_about(name);
    if (!why)
        return true;
    bool ask = g->box->approve.options->mode == APPROVE_ON_REQUEST;
    tool_warns(g->result, STR_FMT ": %s%s", STR_ARG(name), why,
        ask ? "; its lines are omitted: read_file asks for consent" : "");
    g->hidden += ask;
    return !ask;
}

static void grep_files_note_file(
    struct grep_files_results *g, const struct found *found, struct str name)
{
    g->replaced += found->replaced;
    g->cut += found->cut_lines;
    if (found->gave_up && g->gave_up++ < GAVE_UP_TOLD)
        tool_warns(g->result,
            STR_FMT ": the pattern takes too much time at line %llu, so lines may be missing",
            STR_ARG(name), (unsigned long long)found->gave_up);
    if (found->end == SCAN_BINARY_LATER)
        tool_warns(g->result, STR_FMT ": contains binary data further on, which is not searched",
            STR_ARG(name));
}

static bool gather_file(void *context, const struct search_file *file)
{
    struct grep_files_results *g = context;
    const struct found *found = file->found;
    buf_reset(&g->name);
    utf8_add_printable(&g->name, g->dir);
    utf8_add_printable(&g->name, file->path);
    struct str name = buf_str(&g->name);
    g->binary |= found->end == SCAN_BINARY;
    grep_files_note_file(g, found, name);
    if (found->matches == 0 || !may_show(g, name))
        return true;
    size_t room = g->args->limit - g->matches, taken = 0;
    g->more = found->matches > room;
    g->matches += MIN(found->matches, room);
    g->files += room > 0;
    g->last_line = UINT64_MAX - 1; /* never adjacent to a line */
    for (size_t i = 0; i < found->n && room; i++) {
        taken += found->lines[i].match;
        if (taken > room)
            break;
        grep_files_add_line(g, found, &found->lines[i]);
    }
    return !g->more;
}

static void grep_files_report_left_out(struct grep_files_results *g, const struct search_summary *s)
{
    struct buf *content = &g->result->content;
    const char *unit = g->matches == 1 ? "line" : "lines";
    if (g->more || g->full)
        buf_printf(content,
            "[truncated] %zu of %s%zu matching %s shown; narrow the pattern, path or include%s\n",
            g->shown, g->more ? "more than " : "", g->matches, unit,
            g->more && !g->full ? ", or raise limit" : "");
    if (s->late || s->cancelled)
        buf_printf(content,
            "[truncated] stopped %s, with %llu files searched; narrow the path or include\n",
            s->late ? "at the timeout" : "by an interrupt", (unsigned long long)s->files);
    if (s->late)
        tool_detail(g->result, "timed_out", json_true());
    g->result->truncated |= g->more || g->full || s->late || s->cancelled || g->cut;
}

static void grep_files_report_warnings(struct grep_files_results *g, const struct search_summary *s)
{
    for (size_t i = 0; i < MIN(s->problems.n, (size_t)PROBLEMS_TOLD); i++)
        tool_warns(
            g->result, "%s: %s", s->problems.kept[i].path, walk_problem_text(&s->problems.kept[i]));
    if (s->problems.n > PROBLEMS_TOLD)
        tool_warns(g->result, "%zu more cannot be read", s->problems.n - PROBLEMS_TOLD);
    if (g->gave_up > GAVE_UP_TOLD)
        tool_warns(g->result, "the pattern takes too much time in %zu more files",
            g->gave_up - GAVE_UP_TOLD);
    if (g->replaced)
        tool_warns(g->result, "%zu parts that are not UTF-8 are shown as U+FFFD", g->replaced);
    if (g->cut)
        tool_warns(
            g->result, "%zu lines are longer than %d bytes and were cut", g->cut, SCAN_SHOWN);
}

static void grep_files_report(struct grep_files_results *g, const struct search_summary *s)
{
    struct tool_result *r = g->result;
    grep_files_report_left_out(g, s);
    grep_files_report_warnings(g, s);
    if (g->matches == 0 && !r->truncated)
        buf_printf(&r->content, "(no line matches; %llu files were searched)\n",
            (unsigned long long)s->files);
    tool_detail(r, "matches", json_integer((json_int_t)g->matches));
    tool_detail(r, "files", json_integer((json_int_t)g->files));
    tool_detail(r, "shown", json_integer((json_int_t)g->shown));
    tool_detail(r, "files_searched", json_integer((json_int_t)s->files));
    tool_says(r, "%s%zu matching %s in %zu %s", g->more ? "more than " : "", g->matches,
        g->matches == 1 ? "line" : "lines", g->files, g->files == 1 ? "file" : "files");
}

/* Returns the prefix of paths in results. */
static struct str dir_prefix(struct toolbox *box, const struct resolved *where, struct arena *a)
{
    struct str name = toolbox_name(box, where);
    bool whole = name.n == 0 || str_is(name, ".");
    if (whole || name.p[name.n - 1] == '/')
        return whole ? str_n("", 0) : name;
    return str_z(arena_printf(a, STR_FMT "/", STR_ARG(name)));
}

static bool grep_files_search_path(struct grep_files_results *g, const struct resolved *where,
    const struct search_options *options, struct search_summary *summary, struct err *err)
{
    struct str path = g->args->path;
    struct stat st;
    if (where->exists && S_ISDIR(where->st.st_mode)) {
        AUTO_FD int fd = boundary_open_resolved(where, O_RDONLY | O_DIRECTORY, err);
        g->dir = dir_prefix(g->box, where, &g->result->arena);
        return fd >= 0 && search_dir(fd, options, summary, err);
    }
    if (where->exists && !tool_looks_twice(g->box, &tool_grep_files, where, g->result, err))
        return false;
    AUTO_FD int fd = toolbox_open_file(where, path, &st, err);
    g->dir = str_n("", 0);
    if (fd < 0 || !search_one(fd, toolbox_name(g->box, where), options, summary, err))
        return false;
    if (g->binary)
        return err_set(err, E_TOOL_VALIDATION,
            "'" STR_FMT "' is a binary file: it has NUL bytes, and is not searched", STR_ARG(path));
    return true;
}

static bool grep_files_run(
    struct toolbox *box, const void *arguments, struct tool_result *result, struct err *err)
{
    const struct grep_files_args *args = arguments;
    struct resolved where;
    struct grep_files_results *g = ARENA_NEW(&result->arena, struct grep_files_results, 1);
    g->box = box;
    g->args = args;
    g->result = result;
    g->name = BUF_INIT(NAME_ROOM);
    g->line = BUF_INIT(2 * NAME_ROOM);
    struct search_options options = {
        .pattern = args->pattern,
        .how = {args->ignore_case, args->literal},
        .limit = args->limit,
        .context = args->context,
        .budget_ms = args->timeout_ms,
        .cancel = box->guard ? -1 : box->options->signals,
        .context_ptr = g,
        .wanted = args->include.n ? grep_files_is_wanted : NULL,
        .file = gather_file,
    };
    struct search_summary summary = {0};
    bool ok = compile_includes(&args->include, &result->arena, &g->includes, err) &&
              toolbox_resolve(box, args->path, false, &result->arena, &where, err) &&
              grep_files_search_path(g, &where, &options, &summary, err);
    if (ok)
        grep_files_report(g, &summary);
    walk_problems_done(&summary.problems);
    buf_done(&g->name);
    buf_done(&g->line);
    return ok;
}

const struct tool tool_grep_files = {
    .name = "grep_files",
    .alias = "grep",
    .about = "Searches files for lines that match a regular expression and prints file:line:text, "
             "sorted by path. Omits binary files and files that .gitignore etc. exclude.",
    .args = &shape,
    .example = "{\"pattern\": \"int main\\\\(\", \"path\": \"src\", \"include\": \"*.c\"}",
    .run = grep_files_run,
};
