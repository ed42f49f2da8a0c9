/* Parses freeform patches. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/tool_envelope.h"

#include "base/grow.h"
#include "tool/fold.h"

enum {
    SHOWN = 80, /* bytes of a line shown in messages */
};

static const char begin_mark[] = "*** Begin Patch";
static const char end_mark[] = "*** End Patch";
static const char eof_mark[] = "*** End of File";

const char envelope_grammar[] =
    "start: begin_patch hunk+ end_patch\nbegin_patch: \"*** Begin Patch\" "
    "LF\nend_patch: \"*** End Patch\" LF?\n\nhunk: add_file | delete_file | "
    "update_file\nadd_file: \"*** Add File: \" path LF added+\ndelete_file: \"*** "
    "Delete File: \" path LF\nupdate_file: \"*** Update File: \" path LF move? "
    "change+\nmove: \"*** Move to: \" path LF\nchange: place? line+ at_end?\nplace: "
    "(\"@@\" | \"@@ \" /(.+)/) LF\nadded: \"+\" /(.*)/ LF\nline: (\"+\" | \"-\" | \" "
    "\") /(.*)/ LF\nat_end: \"*** End of File\" LF\npath: /(.+)/\n\n%import "
    "common.LF\n";

enum envelope_state {
    BEFORE,
    STARTED,
    IN_ADD,
    IN_DELETE,
    IN_UPDATE,
    ENDED,
};

struct envelope_reader {
    struct envelope e;
    enum envelope_state state;
    size_t line; /* current line number, from 1 */
    struct err *err;
};

void envelope_done(struct envelope *e)
{
    free(e->lines);
    free(e->hunks);
    free(e->files);
    *e = (struct envelope){0};
}

#define PUSH(e, what, ...)                                         \
    do {                                                           \
        GROW((e)->what, (e)->n_##what, (e)->cap_##what, GROW_MAX); \
        (e)->what[(e)->n_##what++] = __VA_ARGS__;                  \
    } while (0)

static bool envelope_fail_at(struct err *err, size_t line)
{
    err_wrap(err, "line %zu of the patch", line);
    return err_ctx_int(err, "line", (int64_t)line);
}

static bool wrong_header(struct envelope_reader *r, struct str line)
{
    struct str shown = str_head(line, SHOWN);
    err_set(r->err, E_PATCH_PARSE,
        "'" STR_FMT "' is unexpected: expected '*** Add File: PATH', '*** Delete File: PATH', '*** "
        "Update File: PATH' or '*** End Patch'",
        STR_ARG(shown));
    return envelope_fail_at(r->err, r->line);
}

static bool wrong_line(struct envelope_reader *r, struct str line)
{
    struct str shown = str_head(line, SHOWN);
    err_set(r->err, E_PATCH_PARSE,
        "'" STR_FMT
        "' is not a valid line of a hunk: lines start with ' ' (kept), '-' (removed) or "
        "'+' (added), a new hunk with '@@'",
        STR_ARG(shown));
    return envelope_fail_at(r->err, r->line);
}

static struct envelope_hunk *last_hunk(struct envelope_reader *r)
{
    struct envelope *e = &r->e;
    struct envelope_file *f = e->n_files ? &e->files[e->n_files - 1] : NULL;
    return f && f->kind == ENVELOPE_UPDATE && f->n ? &e->hunks[e->n_hunks - 1] : NULL;
}

static bool envelope_is_empty(const struct envelope_hunk *h)
{
    return h && h->n == 0;
}

/* Checks that the update or hunk that ends here is not empty. */
static bool check_ended(struct envelope_reader *r)
{
    const struct envelope *e = &r->e;
    if (r->state == IN_UPDATE && e->files[e->n_files - 1].n == 0) {
        const struct envelope_file *f = &e->files[e->n_files - 1];
        struct str shown = str_head(f->path, SHOWN);
        err_set(r->err, E_PATCH_PARSE, "the update of '" STR_FMT "' has no hunk", STR_ARG(shown));
        return envelope_fail_at(r->err, f->line);
    }
    if (r->state == IN_UPDATE && envelope_is_empty(last_hunk(r))) {
        err_set(r->err, E_PATCH_PARSE, "the hunk that ends here has no lines");
        return envelope_fail_at(r->err, r->line);
    }
    return true;
}

/* Takes a marker that ends the current section. *ret_taken: the line was one. */
static bool envelope_read_header(struct envelope_reader *r, struct str line, bool *ret_taken)
{
    static const struct {
        struct str mark;
        enum envelope_kind kind;
        enum envelope_state state;
    } headers[] = {
        {STR("*** Add File: "), ENVELOPE_ADD, IN_ADD},
        {STR("*** Delete File: "), ENVELOPE_DELETE, IN_DELETE},
        {STR("*** Update File: "), ENVELOPE_UPDATE, IN_UPDATE},
    };
    *ret_taken = false;
    if (str_is(line, end_mark)) {
        *ret_taken = true;
        if (!check_ended(r))
            return false;
        r->state = ENDED;
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(headers); i++) {
        if (!str_starts_with(line, headers[i].mark))
            continue;
        *ret_taken = true;
        if (!check_ended(r))
            return false;
        struct envelope_file f = {.kind = headers[i].kind,
            .path = str_skip(line, headers[i].mark.n),
            .first = headers[i].kind == ENVELOPE_ADD ? r->e.n_lines : r->e.n_hunks,
            .line = r->line};
        PUSH(&r->e, files, f);
        r->state = headers[i].state;
        return true;
    }
    return true;
}

static void envelope_push_hunk(struct envelope_reader *r, struct str context)
{
    struct envelope_hunk h = {.context = context, .first = r->e.n_lines, .line = r->line};
    PUSH(&r->e, hunks, h);
    r->e.files[r->e.n_files - 1].n++;
}

static void push_line(struct envelope_reader *r, char sign, struct str text)
{
    if (!last_hunk(r))
        envelope_push_hunk(r, (struct str){0});
    struct envelope_line line = {sign, text};
    PUSH(&r->e, lines, line);
    struct envelope_hunk *h = last_hunk(r);
    h->n++;
    h->n_old += sign != '+';
    h->n_new += sign != '-';
}

static bool is_place(struct str line)
{
    return str_is(line, "@@") || str_starts_with(line, STR("@@ "));
}

static bool take_place(struct envelope_reader *r, struct str line)
{
    if (envelope_is_empty(last_hunk(r)))
        return wrong_line(r, line);
    envelope_push_hunk(r, line.n > 2 ? str_skip(line, 3) : (struct str){0});
    return true;
}

static bool take_end_of_file(struct envelope_reader *r)
{
    struct envelope_hunk *h = last_hunk(r);
    if (envelope_is_empty(h)) {
        err_set(r->err, E_PATCH_PARSE, "'%s' ends a hunk that has no lines", eof_mark);
        return envelope_fail_at(r->err, r->line);
    }
    if (h)
        h->at_end = true;
    return true;
}

static bool take_update_line(struct envelope_reader *r, struct str line)
{
    struct str end_trimmed = fold_trim_end(line);
    struct envelope_file *f = &r->e.files[r->e.n_files - 1];
    const struct envelope_hunk *h = last_hunk(r);
    if (h && h->at_end && end_trimmed.n == 0)
        return true;
    if (h && h->at_end && !is_place(end_trimmed))
        return wrong_line(r, line);
    if (f->n == 0 && !f->move_to.p && str_starts_with(end_trimmed, STR("*** Move to: "))) {
        f->move_to = str_skip(end_trimmed, sizeof("*** Move to: ") - 1);
        return true;
    }
    if (is_place(end_trimmed))
        return take_place(r, end_trimmed);
    if (str_is(end_trimmed, eof_mark))
        return take_end_of_file(r);
    if (line.n == 0)
        push_line(r, ' ', line);
    else if (line.p[0] == ' ' || line.p[0] == '-' || line.p[0] == '+')
        push_line(r, line.p[0], str_skip(line, 1));
    else
        return wrong_line(r, line);
    return true;
}

static bool take_add_line(struct envelope_reader *r, struct str line)
{
    if (!str_starts_with(line, STR("+"))) {
        struct str shown = str_head(line, SHOWN);
        err_set(r->err, E_PATCH_PARSE,
            "'" STR_FMT "' is not a valid line of a new file: each line must start with '+'",
            STR_ARG(shown));
        return envelope_fail_at(r->err, r->line);
    }
    struct envelope_line added = {'+', str_skip(line, 1)};
    PUSH(&r->e, lines, added);
    r->e.files[r->e.n_files - 1].n++;
    return true;
}

static bool envelope_read_line(struct envelope_reader *r, struct str line)
{
    bool taken;
    if (r->state == BEFORE) { /* the Begin marker, already checked */
        r->state = STARTED;
        return true;
    }
    if (r->state == ENDED) {
        if (fold_trim(line).n == 0)
            return true;
        err_set(r->err, E_PATCH_PARSE, "unexpected text after '%s'", end_mark);
        return envelope_fail_at(r->err, r->line);
    }
    struct str trimmed = r->state == IN_UPDATE ? fold_trim_end(line) : fold_trim(line);
    if (!envelope_read_header(r, trimmed, &taken))
        return false;
    if (taken)
        return true;
    if (r->state == IN_UPDATE)
        return take_update_line(r, line);
    return r->state == IN_ADD ? take_add_line(r, line) : wrong_header(r, trimmed);
}

/* Markers ---------------------------------------------------------------------------------------
 */

static struct str strip_cr(struct str line)
{
    return str_ends_with(line, STR("\r")) ? str_head(line, line.n - 1) : line;
}

static struct str envelope_first_line(struct str text)
{
    ptrdiff_t lf = str_find(text, '\n');
    return lf < 0 ? text : strip_cr(str_head(text, (size_t)lf));
}

static struct str envelope_last_line(struct str text)
{
    ptrdiff_t lf = str_find_last(text, '\n');
    return str_skip(text, (size_t)(lf + 1));
}

static bool is_framed(struct str text)
{
    return str_is(fold_trim(envelope_first_line(text)), begin_mark) &&
           str_is(fold_trim(envelope_last_line(text)), end_mark);
}

/* Strips <<EOF before and EOF after the patch. */
static bool strip_heredoc(struct str text, struct str *ret_inner)
{
    static const char *const openers[] = {"<<EOF", "<<'EOF'", "<<\"EOF\""};
    ptrdiff_t lf = str_find(text, '\n'), last = str_find_last(text, '\n');
    bool opened = false;
    for (size_t i = 0; i < ARRAY_LEN(openers); i++)
        opened = opened || str_is(envelope_first_line(text), openers[i]);
    if (!opened || last <= lf || !str_ends_with(envelope_last_line(text), STR("EOF")))
        return false;
    *ret_inner = strip_cr(str_skip(str_head(text, (size_t)last), (size_t)lf + 1));
    return true;
}

static bool not_framed(struct str text, struct err *err)
{
    if (!str_is(fold_trim(envelope_first_line(text)), begin_mark)) {
        bool diff = str_starts_with(text, STR("diff ")) || str_starts_with(text, STR("--- "));
        err_set(err, E_PATCH_PARSE, "the first line must be '%s'%s", begin_mark,
            diff ? "; this looks like a unified diff: use apply_patch_json" : "");
        return envelope_fail_at(err, 1);
    }
    return err_set(err, E_PATCH_PARSE, "the last line must be '%s'", end_mark);
}

static size_t envelope_count_lines(struct str text)
{
    size_t n = 0;
    for (const char *p = text.p, *end = text.p + text.n;
         p < end && (p = memchr(p, '\n', (size_t)(end - p))); p++)
        n++;
    return n;
}

static bool envelope_read_lines(struct envelope_reader *r, struct str patch)
{
    struct str rest = patch;
    for (bool last = false; !last; r->line++) {
        ptrdiff_t lf = str_find(rest, '\n');
        last = lf < 0;
        if (last && str_is(fold_trim(rest), end_mark))
            return check_ended(r);
        /* Two CRs: one is from the text's line breaks, another from those of the patch in it. */
        struct str line = last ? rest : strip_cr(strip_cr(str_head(rest, (size_t)lf)));
        if (!envelope_read_line(r, line))
            return false;
        rest = last ? rest : str_skip(rest, (size_t)lf + 1);
    }
    return true;
}

bool envelope_parse(struct str text, struct envelope *ret_envelope, struct err *err)
{
    struct str patch = fold_trim(text), inner;
    if (envelope_count_lines(text) > ENVELOPE_LINES_MAX)
        return err_set(err, E_PATCH_PARSE, "the patch has more than %d lines", ENVELOPE_LINES_MAX);
    if (!is_framed(patch) && strip_heredoc(patch, &inner))
        patch = inner;
    if (!is_framed(patch))
        return not_framed(patch, err);
    struct envelope_reader r = {.err = err};
    r.line = 1 + envelope_count_lines(str_head(text, (size_t)(patch.p - text.p)));
    if (!envelope_read_lines(&r, patch)) {
        envelope_done(&r.e);
        return false;
    }
    if (r.e.n_files == 0) {
        envelope_done(&r.e);
        return err_set(
            err, E_PATCH_PARSE, "the patch is empty: no file is added, deleted or updated");
    }
    *ret_envelope = r.e;
    return true;
}
