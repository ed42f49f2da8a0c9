/* edit_file: replaces a text in a file by another and leaves all other bytes unchanged. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/limit.h"
#include "tool/patch.h"

enum {
    PLACES_SHOWN = 5,
    COUNT_MAX = 100, /* limit for counting occurrences if one is wanted */
    WANTED_MAX = 4096,
    ARENA_MAX = 4 << 20,
};

struct edit_file_args {
    struct str path;
    struct str old_string;
    struct str new_string;
    bool replace_all;
    bool dry_run;
};

static const struct field fields[] = {
    FIELD_STR("path", struct edit_file_args, path, "the file", .alias = "file_path",
        .flags = FIELD_REQUIRED),
    FIELD_STR("old_string", struct edit_file_args, old_string,
        "the text to replace, exactly as in the file, with enough context to occur only "
        "once",
        .flags = FIELD_REQUIRED),
    FIELD_STR("new_string", struct edit_file_args, new_string, "the replacement text",
        .flags = FIELD_REQUIRED),
    FIELD_BOOL("replace_all", struct edit_file_args, replace_all, "replace all occurrences",
        .def = "false"),
    FIELD_BOOL("dry_run", struct edit_file_args, dry_run, "only check whether the edit is possible",
        .def = "false"),
};

static const struct shape shape =
    SHAPE("edit_file", struct edit_file_args, fields, "arguments of edit_file");

/* Searches for the old string in the text, or in a copy with all line breaks converted to LF. */
struct edit_file_search {
    struct str text, old;
    struct str flat;         /* the text to search */
    struct buf copy;         /* buffer of `flat` if it is not the text itself */
    size_t flat_at, text_at; /* corresponding offsets in both */
};

struct edit_file_span {
    size_t at, n;
};

static bool edit_file_subject(
    struct toolbox *box, const void *arguments, struct buf *text, struct err *err)
{
    const struct edit_file_args *args = arguments;
    return tool_subject_path(box, args->path, text, err);
}

static bool any_end(const struct edit_file_search *s)
{
    return s->copy.p != NULL;
}

static void flatten(struct edit_file_search *s)
{
    s->copy = BUF_INIT(PATCH_RESULT_MAX);
    for (size_t i = 0; i < s->text.n; i++)
        if (s->text.p[i] != '\r' || i + 1 == s->text.n || s->text.p[i + 1] != '\n')
            buf_add_byte(&s->copy, s->text.p[i]);
    s->flat = buf_str(&s->copy);
}

/* Maps an offset in `flat` to the text. Fast if offsets are asked for in ascending order. */
static size_t in_text(struct edit_file_search *s, size_t flat_at)
{
    if (!any_end(s))
        return flat_at;
    if (flat_at < s->flat_at)
        s->flat_at = s->text_at = 0;
    for (; s->flat_at < flat_at; s->flat_at++, s->text_at++)
        if (s->text.p[s->text_at] != s->flat.p[s->flat_at])
            s->text_at++; /* the CR of a CRLF */
    return s->text_at;
}

/* Finds the next occurrence at or after `from`. */
static bool edit_file_next_place(const struct edit_file_search *s, size_t from, size_t *ret_at)
{
    struct str rest = str_skip(s->flat, from);
    const char *hit = memmem(rest.p, rest.n, s->old.p, s->old.n);
    if (hit)
        *ret_at = (size_t)(hit - s->flat.p);
    return hit != NULL;
}

static size_t line_at(struct str text, size_t at)
{
    size_t line = 1;
    for (const char *p = text.p, *end = text.p + at;
         p < end && (p = memchr(p, '\n', (size_t)(end - p))); p++)
        line++;
    return line;
}

static bool has_crlf(struct str text)
{
    ptrdiff_t lf = str_find(text, '\n');
    return lf > 0 && text.p[lf - 1] == '\r';
}

static bool has_bare_lf(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '\n' && (i == 0 || s.p[i - 1] != '\r'))
            return true;
    return false;
}

/* Adds the new text, optionally with LF converted to CRLF to match the file. */
static void add_new(struct buf *out, struct str new, bool to_crlf)
{
    for (size_t i = 0; i < new.n; i++) {
        if (to_crlf && new.p[i] == '\n' && (i == 0 || new.p[i - 1] != '\r'))
            buf_add_byte(out, '\r');
        buf_add_byte(out, new.p[i]);
    }
}

static bool check_args(const struct edit_file_args *args, struct err *err)
{
    if (args->old_string.n == 0)
        return err_set(err, E_TOOL_VALIDATION,
            "old_string is empty: give the text to replace, or use write_file for a new file");
    if (str_eq(args->old_string, args->new_string))
        return err_set(
            err, E_TOOL_VALIDATION, "old_string and new_string are the same: nothing would change");
    return true;
}

static bool not_there(struct patch *p, const struct edit_file_args *args,
    const struct patch_file *file, struct err *err)
{
    AUTO_LINES struct lines lines = {0};
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    struct str *wanted = ARENA_NEW(&a, struct str, WANTED_MAX), rest = args->old_string;
    size_t n = 0;
    if (!lines_split(buf_str(&file->old), LINES_ANY_END, file->where.path.p, &lines, err))
        return false;
    while (n < WANTED_MAX && str_cut(rest, '\n', &wanted[n], &rest)) {
        wanted[n] = str_trim_end(wanted[n], '\r');
        n++;
    }
    err_set(err, E_PATCH_APPLY, "old_string was not found in '" STR_FMT "'", STR_ARG(file->name));
    struct near near = near_find(&lines, wanted, n, SIZE_MAX);
    patch_tell_near(p, &near, err);
    return err_ctx(err, "path", STR_FMT, STR_ARG(file->name));
}

static bool edit_file_fail_ambiguous(
    struct edit_file_search *s, const struct patch_file *file, size_t n, struct err *err)
{
    AUTO_BUF struct buf lines = BUF_INIT(1024);
    size_t from = 0, at;
    for (size_t i = 0; i < PLACES_SHOWN && edit_file_next_place(s, from, &at); i++) {
        buf_printf(&lines, "%s%zu", i ? ", " : "", line_at(s->text, in_text(s, at)));
        from = at + 1;
    }
    if (n > PLACES_SHOWN)
        buf_add_z(&lines, ", …");
    err_set(err, E_PATCH_APPLY,
        "old_string occurs in '" STR_FMT
        "' %zu times%s (lines %s): add context to it, or set replace_all",
        STR_ARG(file->name), n, n == COUNT_MAX ? " or more" : "", buf_z(&lines));
    return err_ctx(err, "path", STR_FMT, STR_ARG(file->name));
}

/* Counts occurrences, including overlapping ones, because they are ambiguous. */
static size_t edit_file_count(const struct edit_file_search *s)
{
    size_t n = 0, at;
    for (size_t from = 0; n < COUNT_MAX && edit_file_next_place(s, from, &at); n++)
        from = at + 1;
    return n;
}

static void add_span(struct patch *p, const struct edit_file_args *args, struct edit_file_search *s,
    struct patch_file *file, struct edit_file_span span)
{
    /* Counting lines costs time, and only the first hunks are reported. */
    size_t line = p->n_hunks < PATCH_HUNKS_TOLD ? line_at(s->text, span.at) : 0;
    patch_tell_hunk(p, file, line, any_end(s) ? "line_ends" : fold_name(FOLD_EXACT));
    file->removed += limit_lines(args->old_string);
    file->added += limit_lines(args->new_string);
}

static bool edit_file_replace(struct patch *p, const struct edit_file_args *args,
    struct edit_file_search *s, struct patch_file *file, struct err *err)
{
    AUTO_BUF struct buf out = BUF_INIT(PATCH_RESULT_MAX);
    struct str content;
    size_t from = 0, done = 0, at;
    bool to_crlf = has_crlf(s->text) && (any_end(s) || str_find(s->old, '\n') < 0);
    while (buf_ok(&out) && edit_file_next_place(s, from, &at)) {
        struct edit_file_span span = {.at = in_text(s, at)};
        from = at + s->old.n;
        span.n = in_text(s, from) - span.at;
        buf_add_str(&out, str_head(str_skip(s->text, done), span.at - done));
        add_new(&out, args->new_string, to_crlf);
        add_span(p, args, s, file, span);
        done = span.at + span.n;
    }
    buf_add_str(&out, str_skip(s->text, done));
    if (!patch_keep(p, &out, &content, err))
        return false;
    patch_put(file, content);
    return true;
}

static bool edit_file_apply(struct patch *p, const struct edit_file_args *args, struct err *err)
{
    struct patch_file *file;
    if (!patch_file(p, args->path, &file, err) || !patch_load(p, file, err))
        return false;
    struct edit_file_search s = {.text = buf_str(&file->old), .old = args->old_string};
    s.flat = s.text;
    size_t n = edit_file_count(&s);
    if (n == 0 && has_bare_lf(s.old) && memmem(s.text.p, s.text.n, "\r\n", 2)) {
        flatten(&s);
        n = edit_file_count(&s);
    }
    bool ok = n == 0                        ? not_there(p, args, file, err)
              : n > 1 && !args->replace_all ? edit_file_fail_ambiguous(&s, file, n, err)
                                            : edit_file_replace(p, args, &s, file, err);
    buf_done(&s.copy);
    return ok;
}

static bool edit_file_execute(struct toolbox *box, const void *arguments, struct buf *diff,
    struct tool_result *result, struct err *err)
{
    const struct edit_file_args *args = arguments;
    struct patch_options options = {
        .tool = &tool_edit_file, .dry_run = args->dry_run, .plan = diff};
    struct patch p;
    if (!check_args(args, err) || !patch_init(&p, box, &options, result, err))
        return false;
    bool ok = edit_file_apply(&p, args, err) && patch_commit(&p, err);
    if (ok)
        tool_detail(result, "replacements", json_integer((json_int_t)p.n_hunks));
    patch_done(&p);
    return ok;
}

static bool edit_file_run(
    struct toolbox *box, const void *arguments, struct tool_result *result, struct err *err)
{
    return edit_file_execute(box, arguments, NULL, result, err);
}

const struct tool tool_edit_file = {
    .name = "edit_file",
    .alias = "edit",
    .about = "Replaces a text in a file. The old text must occur exactly once, unless replace_all "
             "is set; if it is not found, the most similar text is shown. Its line breaks may be "
             "LF even if the file has CRLF.",
    .args = &shape,
    .example = "{\"path\": \"src/main.c\", \"old_string\": \"return 1;\", \"new_string\": \"return "
               "0;\"}",
    .mutating = true,
    .text = "new_string",
    .run = edit_file_run,
    .subject = edit_file_subject,
    .plan = edit_file_execute,
};
