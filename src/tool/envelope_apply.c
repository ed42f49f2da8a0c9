/* Applies freeform patches: hunks are located by their lines, each after the end of the previous
 * one.
 *
 * All hunks of a file are placed in the original text, which is then written once from start to
 * end. Context lines are kept byte for byte, even if they matched only with blanks ignored; new
 * lines get the line break of the file's first line.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/envelope_apply.h"

#include "base/grow.h"
#include "base/utf8.h"

enum {
    SHOWN = 80,
    ARENA_MAX = 512 << 20,
};

/* Lines to remove and their replacement. */
struct envelope_edit {
    size_t at, n_old;
    const struct str *new;
    size_t n_new;
    size_t order;
};

struct envelope_update {
    const struct envelope *e;
    struct patch *p;
    struct patch_file *file;
    struct arena arena;
    struct lines lines;
    struct place_text text;
    size_t from; /* start line of the search for the next hunk */
    struct envelope_edit *edits;
    size_t n_edits, cap_edits;
    struct err *err;
};

/* The two sides of a hunk, and the lines they have in common. */
struct envelope_sides {
    struct str *old, *new;
    size_t n_old, n_new;
    struct pair {
        size_t old, new;
    } * common;
    size_t n_common;
};

static struct envelope_sides sides_of(struct envelope_update *u, const struct envelope_hunk *h)
{
    struct envelope_sides s = {
        .old = ARENA_NEW(&u->arena, struct str, h->n_old + 1),
        .new = ARENA_NEW(&u->arena, struct str, h->n_new + 1),
        .common = ARENA_NEW(&u->arena, struct pair, MIN(h->n_old, h->n_new) + 1),
    };
    for (size_t i = h->first; i < h->first + h->n; i++) {
        const struct envelope_line *line = &u->e->lines[i];
        if (line->sign == ' ')
            s.common[s.n_common++] = (struct pair){s.n_old, s.n_new};
        if (line->sign != '+')
            s.old[s.n_old++] = line->text;
        if (line->sign != '-')
            s.new[s.n_new++] = line->text;
    }
    return s;
}

static void add_edit(struct envelope_update *u, struct envelope_edit edit)
{
    GROW(u->edits, u->n_edits, u->cap_edits, GROW_MAX);
    edit.order = u->n_edits;
    u->edits[u->n_edits++] = edit;
}

/* Adds an edit for each stretch between lines that both sides have in common. */
static void add_edits(struct envelope_update *u, const struct envelope_sides *s, size_t at)
{
    size_t old = 0, new = 0;
    for (size_t i = 0; i < s->n_common; i++) {
        struct pair c = s->common[i];
        if (c.old >= s->n_old || c.new >= s->n_new)
            break;
        if (old != c.old || new != c.new)
            add_edit(
                u, (struct envelope_edit){at + old, c.old - old, s->new + new, c.new - new, 0});
        old = c.old + 1;
        new = c.new + 1;
    }
    if (old != s->n_old || new != s->n_new)
        add_edit(
            u, (struct envelope_edit){at + old, s->n_old - old, s->new + new, s->n_new - new, 0});
}

/* Errors ----------------------------------------------------------------------------------------
 */

static bool envelope_fail_hunk(struct envelope_update *u, const struct envelope_hunk *h)
{
    err_ctx(u->err, "path", STR_FMT, STR_ARG(u->file->name));
    return err_ctx_int(u->err, "line", (int64_t)h->line);
}

static bool too_much(struct envelope_update *u, const struct envelope_hunk *h)
{
    err_set(u->err, E_PATCH_APPLY,
        "'" STR_FMT
        "': finding the hunks takes too long; split the patch, or quote the file's lines "
        "exactly",
        STR_ARG(u->file->name));
    return envelope_fail_hunk(u, h);
}

static bool envelope_not_found(struct envelope_update *u, const struct envelope_hunk *h,
    const struct str *wanted, size_t n, const char *what)
{
    struct place early;
    struct near near;
    bool plural = str_starts_with(str_z(what), STR("lines"));
    if (place_is_spent(&u->text))
        return too_much(u, h);
    if (u->from > 0 && place_find(&u->text, wanted, n, 0, h->at_end && n == h->n_old, &early)) {
        err_set(u->err, E_PATCH_APPLY,
            "the %s of the hunk at line %zu of the patch %s in '" STR_FMT
            "' only at line %zu, before the position of the previous hunk (line %zu): put "
            "hunks in the order of the file",
            what, h->line, plural ? "occur" : "occurs", STR_ARG(u->file->name), early.at + 1,
            u->from);
        return envelope_fail_hunk(u, h);
    }
    err_set(u->err, E_PATCH_APPLY,
        "the %s of the hunk at line %zu of the patch %s in '" STR_FMT "'%s", what, h->line,
        plural ? "are not" : "is not", STR_ARG(u->file->name),
        h->at_end && n == h->n_old ? " at its end" : "");
    near = near_find(&u->lines, wanted, n, u->from);
    patch_tell_near(u->p, &near, u->err);
    return envelope_fail_hunk(u, h);
}

/* In strict mode the match must be exact and unique. */
static bool check_strict(struct envelope_update *u, const struct envelope_hunk *h,
    const struct str *wanted, size_t n, struct place place, const char *what)
{
    size_t again;
    if (!u->p->options.strict)
        return true;
    if (place.how != FOLD_EXACT) {
        err_set(u->err, E_PATCH_APPLY,
            "strict: the %s of the hunk at line %zu of the patch match '" STR_FMT
            "' at line %zu only %s",
            what, h->line, STR_ARG(u->file->name), place.at + 1, fold_words(place.how));
        struct near near = near_at(&u->lines, wanted, n, place.at);
        patch_tell_near(u->p, &near, u->err);
        return envelope_fail_hunk(u, h);
    }
    if (h->at_end && n == h->n_old)
        return true;
    if (n > 0 && !place_find_as(&u->text, wanted, n, place.at + 1, FOLD_EXACT, &again))
        return !place_is_spent(&u->text) || too_much(u, h);
    err_set(u->err, E_PATCH_APPLY,
        n ? "strict: the %s of the hunk at line %zu of the patch match '" STR_FMT
            "' at line %zu and again at line %zu: add context"
          : "strict: the %s of the hunk at line %zu of the patch have no position in '" STR_FMT "'",
        what, h->line, STR_ARG(u->file->name), place.at + 1, n ? again + 1 : 0);
    return envelope_fail_hunk(u, h);
}

/* Placing ---------------------------------------------------------------------------------------
 */

static bool is_range(struct str context)
{
    return str_starts_with(context, STR("-")) && str_find(context, '+') > 0;
}

static bool seek_context(struct envelope_update *u, const struct envelope_hunk *h)
{
    struct place place;
    if (!h->context.p)
        return true;
    if (!place_find(&u->text, &h->context, 1, u->from, false, &place)) {
        envelope_not_found(u, h, &h->context, 1, "line after @@");
        if (is_range(h->context))
            err_wrap(u->err,
                "'@@' must be followed by a line of the file, not by line numbers (for a unified "
                "diff, use apply_patch_json)");
        return false;
    }
    if (!check_strict(u, h, &h->context, 1, place, "line after @@"))
        return false;
    u->from = place.at + 1;
    return true;
}

/* A hunk that only adds lines goes to the end. */
static bool place_addition(
    struct envelope_update *u, const struct envelope_hunk *h, const struct envelope_sides *s)
{
    if (u->p->options.strict && h->context.p) {
        err_set(u->err, E_PATCH_APPLY,
            "strict: the hunk at line %zu of the patch only adds lines, which go to the end of "
            "'" STR_FMT "' and not after its @@ line: add a line of context",
            h->line, STR_ARG(u->file->name));
        return envelope_fail_hunk(u, h);
    }
    add_edit(u, (struct envelope_edit){u->lines.n, 0, s->new, s->n_new, 0});
    patch_tell_hunk(u->p, u->file, u->lines.n + 1, "end_of_file");
    return true;
}

static void tell_place(struct envelope_update *u, const struct envelope_hunk *h, struct place place)
{
    patch_tell_hunk(u->p, u->file, place.at + 1, fold_name(place.how));
    if (place.how == FOLD_EXACT || u->p->n_hunks > PATCH_HUNKS_TOLD)
        return;
    struct buf *text = &u->p->notes;
    buf_printf(text, "the hunk at line %zu of the patch matched '", h->line);
    utf8_add_printable(text, u->file->name);
    buf_printf(text, "' at line %zu %s\n", place.at + 1, fold_words(place.how));
}

static bool place_hunk(struct envelope_update *u, const struct envelope_hunk *h)
{
    struct place place;
    struct envelope_sides s = sides_of(u, h);
    if (!seek_context(u, h))
        return false;
    if (s.n_old == 0)
        return place_addition(u, h, &s);
    bool found = place_find(&u->text, s.old, s.n_old, u->from, h->at_end, &place);
    if (!found && s.old[s.n_old - 1].n == 0 && !u->p->options.strict) {
        /* An empty line at the end may represent the line break of the last line. */
        s.n_old--;
        if (s.n_new && s.new[s.n_new - 1].n == 0)
            s.n_new--;
        found = place_find(&u->text, s.old, s.n_old, u->from, h->at_end, &place);
    }
    if (!found)
        return envelope_not_found(u, h, s.old, h->n_old, "lines");
    if (!check_strict(u, h, s.old, s.n_old, place, "lines"))
        return false;
    add_edits(u, &s, place.at);
    u->from = place.at + s.n_old;
    tell_place(u, h, place);
    return true;
}

/* Writing ---------------------------------------------------------------------------------------
 */

static int envelope_by_place(const void *a, const void *b)
{
    const struct envelope_edit *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

static void add_old(const struct lines *l, size_t from, size_t to, struct str end, struct buf *out)
{
    if (from >= to)
        return;
    buf_add_str(out, lines_range(l, from, to));
    if (to == l->n && lines_end(l, l->n - 1).n == 0)
        buf_add_str(out, end);
}

static void write_out(struct envelope_update *u, struct buf *out)
{
    struct str end = u->lines.n ? lines_end(&u->lines, 0) : STR("");
    size_t at = 0;
    if (end.n == 0)
        end = STR("\n");
    if (u->n_edits)
        qsort(u->edits, u->n_edits, sizeof(*u->edits), envelope_by_place);
    for (size_t i = 0; i < u->n_edits; i++) {
        const struct envelope_edit *edit = &u->edits[i];
        add_old(&u->lines, at, edit->at, end, out);
        for (size_t k = 0; k < edit->n_new; k++) {
            buf_add_str(out, edit->new[k]);
            buf_add_str(out, end);
        }
        at = edit->at + edit->n_old;
    }
    add_old(&u->lines, at, u->lines.n, end, out);
}

static bool update_text(
    struct envelope_update *u, const struct envelope_file *f, struct str *ret_text)
{
    for (size_t i = f->first; i < f->first + f->n; i++) {
        const struct envelope_hunk *h = &u->e->hunks[i];
        if (arena_left(&u->arena) < (h->n + 3) * 2 * (sizeof(struct str) + sizeof(struct pair)))
            return too_much(u, h);
        if (!place_hunk(u, h))
            return false;
    }
    AUTO_BUF struct buf out = BUF_INIT(PATCH_RESULT_MAX);
    write_out(u, &out);
    return patch_keep(u->p, &out, ret_text, u->err);
}

static bool update_content(const struct envelope *e, const struct envelope_file *f, struct patch *p,
    struct patch_file *file, struct str *ret_text, struct err *err)
{
    struct str content;
    struct envelope_update u = {
        .e = e, .p = p, .file = file, .arena = ARENA_INIT(ARENA_MAX), .err = err};
    if (!patch_content(p, file, &content, err) ||
        !lines_split(content, LINES_ANY_END, file->where.path.p, &u.lines, err))
        return false;
    u.text.lines = &u.lines;
    bool ok = update_text(&u, f, ret_text);
    place_done(&u.text);
    lines_done(&u.lines);
    free(u.edits);
    arena_done(&u.arena);
    return ok;
}

/* Files -----------------------------------------------------------------------------------------
 */

static bool envelope_apply_fail_at(struct err *err, size_t line)
{
    err_wrap(err, "line %zu of the patch", line);
    return err_ctx_int(err, "line", (int64_t)line);
}

static bool envelope_fail_missing(const struct envelope_file *f, const char *what, struct err *err)
{
    err_set(err, E_PATCH_APPLY, "there is no file '" STR_FMT "' to %s", STR_ARG(f->path), what);
    err_ctx(err, "path", STR_FMT, STR_ARG(f->path));
    return envelope_apply_fail_at(err, f->line);
}

static void envelope_count_changes(
    const struct envelope *e, const struct envelope_file *f, struct patch_file *file)
{
    for (size_t i = f->first; i < f->first + f->n; i++) {
        const struct envelope_hunk *h = &e->hunks[i];
        for (size_t k = h->first; k < h->first + h->n; k++) {
            file->added += e->lines[k].sign == '+';
            file->removed += e->lines[k].sign == '-';
        }
    }
}

static bool apply_add(const struct envelope *e, const struct envelope_file *f, struct patch *p,
    struct patch_file *file, struct err *err)
{
    AUTO_BUF struct buf out = BUF_INIT(PATCH_RESULT_MAX);
    struct str text;
    for (size_t i = f->first; i < f->first + f->n; i++) {
        buf_add_str(&out, e->lines[i].text);
        buf_add_byte(&out, '\n');
    }
    if (!patch_keep(p, &out, &text, err))
        return false;
    if (file->exists && p->options.strict) {
        err_set(err, E_PATCH_APPLY, "strict: '" STR_FMT "' already exists", STR_ARG(f->path));
        return envelope_apply_fail_at(err, f->line);
    }
    if (file->existed)
        file->note = "replaced the existing file";
    file->added += f->n;
    patch_put(file, text);
    return true;
}

static bool apply_move(const struct envelope_file *f, struct patch *p, struct patch_file *file,
    struct str text, struct err *err)
{
    struct patch_file *to;
    if (!patch_file(p, f->move_to, &to, err))
        return envelope_apply_fail_at(err, f->line);
    if (to == file) {
        patch_put(file, text);
        return true;
    }
    if (to->exists && p->options.strict) {
        err_set(err, E_PATCH_APPLY, "strict: '" STR_FMT "' already exists", STR_ARG(f->move_to));
        return envelope_apply_fail_at(err, f->line);
    }
    if (to->existed)
        to->note = "replaced the existing file";
    const struct patch_file *from = file->existed ? file : file->like;
    patch_remove(file);
    patch_put(to, text);
    to->like = to->existed ? NULL : from;
    to->added += file->added;
    to->removed += file->removed;
    file->added = file->removed = 0;
    return true;
}

static bool apply_update(const struct envelope *e, const struct envelope_file *f, struct patch *p,
    struct patch_file *file, struct err *err)
{
    struct str text;
    if (!file->exists)
        return envelope_fail_missing(f, "update", err);
    if (!update_content(e, f, p, file, &text, err))
        return false;
    envelope_count_changes(e, f, file);
    if (f->move_to.p)
        return apply_move(f, p, file, text, err);
    patch_put(file, text);
    return true;
}

static bool apply_delete(
    const struct envelope_file *f, struct patch *p, struct patch_file *file, struct err *err)
{
    struct str content;
    AUTO_LINES struct lines lines = {0};
    if (!file->exists)
        return envelope_fail_missing(f, "delete", err);
    /* Only to count its lines; a file too large to be read can still be deleted. */
    bool readable = file->touched || file->stamp.size <= TOOLBOX_FILE_MAX;
    if (readable && (!patch_content(p, file, &content, err) ||
                        !lines_split(content, LINES_LF, file->where.path.p, &lines, err)))
        return false;
    file->removed += lines.n;
    patch_remove(file);
    return true;
}

static bool apply_file(
    const struct envelope *e, const struct envelope_file *f, struct patch *p, struct err *err)
{
    struct patch_file *file;
    if (!patch_file(p, f->path, &file, err))
        return envelope_apply_fail_at(err, f->line);
    switch (f->kind) {
    case ENVELOPE_ADD:
        return apply_add(e, f, p, file, err);
    case ENVELOPE_DELETE:
        return apply_delete(f, p, file, err);
    case ENVELOPE_UPDATE:
        return apply_update(e, f, p, file, err);
    }
    BUG_ON(true);
}

bool envelope_apply(const struct envelope *e, struct patch *p, struct err *err)
{
    for (size_t i = 0; i < e->n_files; i++)
        if (!apply_file(e, &e->files[i], p, err))
            return false;
    return true;
}
