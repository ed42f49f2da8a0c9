/* Applies unified diffs.
 *
 * First all diffs are checked, in order: one that changes a file sees the result of an earlier one,
 * one that renames or copies sees the original file. Only then are old names removed and new ones
 * added, so that two files can be swapped.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/unified_apply.h"

#include "path/lexical.h"
#include "tool/image.h"

#include <strings.h>
#include <sys/stat.h>

enum {
    WANTED_MAX = 4096, /* lines of a failed hunk that are searched for elsewhere */
};

/* A checked diff. */
struct unified_outcome {
    const struct unified_patch *p;
    struct patch_file *old, *new; /* NULL: none */
    bool is_new;
    unsigned old_mode, new_mode;
    struct str content;
    size_t added, removed;
};

struct unified_apply_state {
    const struct unified *u;
    struct patch *patch;
    struct unified_outcome *all;
    bool moves; /* some diff renames or copies, and needs the original files */
    struct err *err;
};

static bool unified_apply_fail_at(struct unified_apply_state *a, size_t line)
{
    err_wrap(a->err, "line %zu of the patch", line);
    return err_ctx_int(a->err, "line", (int64_t)line);
}

#define REFUSE(a, line, ...) \
    (err_set((a)->err, E_PATCH_APPLY, __VA_ARGS__), unified_apply_fail_at((a), (line)))

static struct str unified_patch_name(const struct unified_patch *p)
{
    return p->old_name.p ? p->old_name : p->new_name;
}

/* Names -----------------------------------------------------------------------------------------
 */

static bool bad_name(struct unified_apply_state *a, size_t line, struct str name, const char *why)
{
    err_set(a->err, E_FS_VIOLATION, "'" STR_FMT "' %s", STR_ARG(name), why);
    err_ctx(a->err, "path", STR_FMT, STR_ARG(name));
    return unified_apply_fail_at(a, line);
}

/* Names in a diff must be plain: their meaning must not depend on the tree. */
static bool unified_check_name(struct unified_apply_state *a, size_t line, struct str name)
{
    struct str part, rest = name;
    if (name.n == 0 || name.p[0] == '/')
        return bad_name(a, line, name, "is absolute: names in a diff are relative to the root");
    if (name.p[name.n - 1] == '/')
        return bad_name(a, line, name, "names a directory");
    while (str_cut(rest, '/', &part, &rest)) {
        if (str_is(part, ".."))
            return bad_name(a, line, name, "contains '..', and could lead outside the root");
        if (part.n == 0 || str_is(part, "."))
            return bad_name(a, line, name, "contains '.' or an empty component");
        if (part.n == 4 && strncasecmp(part.p, ".git", 4) == 0)
            return bad_name(a, line, name, "is in a .git directory, which a patch cannot change");
    }
    return true;
}

static bool unified_find_file(
    struct unified_apply_state *a, size_t line, struct str name, struct patch_file **ret_file)
{
    struct patch_file *file;
    *ret_file = NULL;
    if (!name.p)
        return true;
    if (!unified_check_name(a, line, name))
        return false;
    if (!patch_file(a->patch, name, &file, a->err))
        return unified_apply_fail_at(a, line);
    if (file->beyond_link)
        return bad_name(a, line, name, "is reached through a symbolic link");
    *ret_file = file;
    return true;
}

static bool find_files(struct unified_apply_state *a, struct unified_outcome *j)
{
    const struct unified_patch *p = j->p;
    if (!unified_find_file(a, p->line, p->old_name, &j->old))
        return false;
    if (p->old_name.p && p->new_name.p && str_eq(p->old_name, p->new_name)) {
        j->new = j->old;
        return true;
    }
    return unified_find_file(a, p->line, p->new_name, &j->new);
}

/* Hunks -----------------------------------------------------------------------------------------
 */

static const char *verdict_words(enum image_verdict verdict)
{
    static const char *const words[] = {
        [IMAGE_DIFFERS] = "its lines are not there",
        [IMAGE_OVERLAPS] = "it overlaps a previous hunk",
        [IMAGE_NOT_FIRST] = "its old side begins at line 1, but its new side does not",
        [IMAGE_NOT_LAST] =
            "it has no context after its changes, and so must be at the end of the file",
        [IMAGE_TOO_FAR] = "the file has fewer lines",
        [IMAGE_TOO_MUCH] = "the hunks are too far out of order",
    };
    return words[verdict];
}

/* Returns a hunk's old lines without their line breaks. */
static size_t old_lines(struct arena *a, const struct unified_hunk *h, struct str **ret_lines)
{
    struct unified_line line;
    struct str body = h->body;
    size_t n = 0;
    struct str *lines = ARENA_NEW(a, struct str, WANTED_MAX);
    while (n < WANTED_MAX && unified_next(&body, &line))
        if (line.sign != '+')
            lines[n++] = str_ends_with(line.bytes, STR("\n"))
                             ? str_head(line.bytes, line.bytes.n - 1)
                             : line.bytes;
    *ret_lines = lines;
    return n;
}

/* Reports that the lines are elsewhere: only the line numbers are wrong. */
static bool say_elsewhere(struct unified_apply_state *a, const struct unified_hunk *h,
    const struct lines *lines, const struct str *wanted, size_t n)
{
    struct place_text text = {.lines = lines};
    size_t at, again;
    bool found = n > 0 && place_find_as(&text, wanted, n, 0, FOLD_EXACT, &at);
    bool unique = found && !place_find_as(&text, wanted, n, at + 1, FOLD_EXACT, &again);
    place_done(&text);
    if (!found || at + 1 == h->old_at)
        return false;
    AUTO_BUF struct buf words = BUF_INIT(4096);
    buf_printf(&words, "%s; the lines are at line %zu%s, not %llu: line numbers must be correct",
        a->err->message, at + 1, unique ? "" : " (and elsewhere)", (unsigned long long)h->old_at);
    free(a->err->message);
    a->err->message = buf_take(&words);
    json_t *nearest = json_object();
    json_put(nearest, "line", json_integer((json_int_t)at + 1));
    json_put(nearest, "difference", json_string("line_number"));
    tool_detail(a->patch->result, "nearest", nearest);
    return true;
}

static bool hunk_fails(struct unified_apply_state *a, const struct unified_outcome *j,
    const struct unified_hunk *h, const struct lines *lines, enum image_verdict verdict)
{
    AUTO_ARENA struct arena arena = ARENA_INIT(4 << 20);
    struct str name = unified_patch_name(j->p), *wanted;
    size_t n = old_lines(&arena, h, &wanted);
    err_set(a->err, E_PATCH_APPLY,
        "the hunk at line %zu of the patch does not apply to '" STR_FMT "' at line %llu: %s",
        h->line, STR_ARG(name), (unsigned long long)h->old_at, verdict_words(verdict));
    if (j->p->is_delete > 0 && verdict == IMAGE_NOT_LAST)
        err_set(a->err, E_PATCH_APPLY,
            "the hunk at line %zu of the patch deletes '" STR_FMT
            "', but the file has additional lines",
            h->line, STR_ARG(name));
    bool lost = verdict == IMAGE_DIFFERS || verdict == IMAGE_TOO_FAR || verdict == IMAGE_NOT_LAST ||
                verdict == IMAGE_NOT_FIRST;
    if (lost && !say_elsewhere(a, h, lines, wanted, n) && verdict != IMAGE_NOT_LAST) {
        size_t at = h->old_at ? h->old_at - 1 : 0;
        struct near near = near_find(lines, wanted, n, at);
        if (near.kind == NEAR_NOTHING && n > 0 && at < lines->n)
            near = near_at(lines, wanted, n, at);
        bool only_end = near.kind == NEAR_BLANKS && near.at + 1 == h->old_at &&
                        str_eq(wanted[near.first], lines_text(lines, near.at + near.first));
        if (only_end)
            err_wrap(a->err,
                "the end of a line differs (a missing newline at the end of the file, or CRLF)");
        else
            patch_tell_near(a->patch, &near, a->err);
    }
    err_ctx(a->err, "path", STR_FMT, STR_ARG(name));
    return err_ctx_int(a->err, "line", (int64_t)h->line);
}

static bool apply_hunks(
    struct unified_apply_state *a, struct unified_outcome *j, struct str content)
{
    AUTO_LINES struct lines lines = {0};
    struct image im;
    struct str name = unified_patch_name(j->p);
    if (!lines_split(content, LINES_LF, arena_strdup(&a->patch->arena, name), &lines, a->err))
        return false;
    enum image_verdict verdict = IMAGE_FITS;
    const struct unified_hunk *h = NULL;
    image_init(&im, &lines);
    for (size_t i = 0; i < j->p->n && verdict == IMAGE_FITS; i++) {
        h = &a->u->hunks[j->p->first + i];
        verdict = image_apply(&im, h);
        j->added += h->added;
        j->removed += h->removed;
        if (verdict == IMAGE_FITS)
            patch_tell_hunk(a->patch, j->new ? j->new : j->old, MAX(h->old_at, (uint64_t)1),
                fold_name(FOLD_EXACT));
    }
    AUTO_BUF struct buf out = BUF_INIT(PATCH_RESULT_MAX);
    if (verdict == IMAGE_FITS) {
        (void)buf_reserve(&out, MIN(content.n, (size_t)PATCH_RESULT_MAX));
        image_write(&im, &out);
    }
    image_done(&im);
    if (verdict != IMAGE_FITS)
        return hunk_fails(a, j, h, &lines, verdict);
    return patch_keep(a->patch, &out, &j->content, a->err);
}

/* Files -----------------------------------------------------------------------------------------
 */

static unsigned unified_git_mode(const struct patch_file *f)
{
    return f->stamp.mode & S_IXUSR ? S_IFREG | 0755 : S_IFREG | 0644;
}

static bool is_moved(const struct unified_outcome *j)
{
    return j->p->is_rename || j->p->is_copy;
}

/* Checks the file the diff starts from: the original, or the result of an earlier diff. */
static bool unified_check_old(struct unified_apply_state *a, struct unified_outcome *j)
{
    const struct unified_patch *p = j->p;
    struct patch_file *old = j->old;
    bool earlier = old && !is_moved(j) && old->fate == PATCH_FATE_PATCHED;
    if (!old)
        return true;
    if (!is_moved(j) && old->fate == PATCH_FATE_GONE)
        return REFUSE(a, p->line,
            "'" STR_FMT "' was renamed or deleted by an earlier part of the patch",
            STR_ARG(p->old_name));
    if (!earlier && !old->existed && p->is_new < 0) {
        j->is_new = true;
        j->old = NULL;
        return true;
    }
    if (!earlier && !old->existed)
        return REFUSE(a, p->line, "there is no file '" STR_FMT "' to %s", STR_ARG(p->old_name),
            p->is_delete > 0 ? "delete"
            : p->is_rename   ? "rename"
            : p->is_copy     ? "copy"
                             : "change");
    unsigned mode = earlier ? old->git_mode : unified_git_mode(old);
    if (!j->old_mode)
        j->old_mode = mode;
    if ((mode ^ j->old_mode) & S_IFMT)
        return REFUSE(a, p->line,
            "'" STR_FMT "' is a regular file, but the diff gives its mode as %o",
            STR_ARG(p->old_name), j->old_mode);
    if (!j->new_mode && !p->is_delete)
        j->new_mode = mode;
    return true;
}

static bool check_new(struct unified_apply_state *a, struct unified_outcome *j)
{
    const struct unified_patch *p = j->p;
    struct patch_file *new = j->new;
    bool comes = new && (j->is_new || is_moved(j));
    bool will_be_free = new && (new->fate == PATCH_FATE_WILL_GO || new->fate == PATCH_FATE_GONE);
    if (comes && new->existed && !will_be_free)
        return REFUSE(a, p->line,
            "'" STR_FMT
            "' already exists, but the diff %s it: change it with a diff of its lines, or "
            "delete it first",
            STR_ARG(p->new_name),
            j->is_new    ? "creates"
            : p->is_copy ? "copies to"
                         : "renames to");
    if (comes && !j->new_mode)
        j->new_mode = j->is_new ? S_IFREG | 0644 : j->old_mode;
    if (new && j->old && !j->new_mode)
        j->new_mode = j->old_mode;
    if (new && j->old && ((j->old_mode ^ j->new_mode) & S_IFMT))
        return REFUSE(a, p->line,
            "'" STR_FMT "' would change from mode %o to %o, another file type",
            STR_ARG(p->new_name), j->old_mode, j->new_mode);
    if (new && (j->new_mode & S_IFMT) && !S_ISREG(j->new_mode))
        return REFUSE(a, p->line,
            "'" STR_FMT "' would become %s: patches create only regular files",
            STR_ARG(p->new_name), S_ISLNK(j->new_mode) ? "a symbolic link" : "a special file");
    return true;
}

static bool unified_load_old(
    struct unified_apply_state *a, struct unified_outcome *j, struct str *ret_content)
{
    *ret_content = STR("");
    if (!j->old)
        return true;
    if (!is_moved(j) && j->old->fate == PATCH_FATE_PATCHED) {
        *ret_content = j->old->content;
        return true;
    }
    if (!patch_load(a->patch, j->old, a->err))
        return false;
    *ret_content = buf_str(&j->old->old);
    return true;
}

/* Records the result for later diffs of the same file. */
static void note_fate(struct unified_outcome *j)
{
    if (j->new) {
        j->new->fate = PATCH_FATE_PATCHED;
        j->new->content = j->content;
        j->new->git_mode = j->new_mode;
    }
    if (j->old && (!j->new || j->p->is_rename))
        j->old->fate = PATCH_FATE_GONE;
}

/* Whether only its new state matters from now on. A diff between two names without a rename header
 * leaves the old file unchanged for later diffs. */
static bool unified_is_settled(const struct patch_file *f)
{
    return f->fate == PATCH_FATE_PATCHED || f->fate == PATCH_FATE_GONE;
}

static bool unified_evaluate(struct unified_apply_state *a, struct unified_outcome *j)
{
    const struct unified_patch *p = j->p;
    struct str content;
    j->is_new = p->is_new > 0;
    j->old_mode = p->old_mode;
    j->new_mode = p->new_mode;
    if (!find_files(a, j) || !unified_check_old(a, j) || !check_new(a, j) ||
        !unified_load_old(a, j, &content) || !apply_hunks(a, j, content))
        return false;
    note_fate(j);
    if (j->old && !a->moves && !a->patch->compares && unified_is_settled(j->old))
        buf_done(&j->old->old);
    if (p->is_delete > 0 && j->content.n)
        return REFUSE(a, p->line,
            "the diff deletes '" STR_FMT
            "', but does not remove all of its lines (%zu bytes are left)",
            STR_ARG(p->old_name), j->content.n);
    return true;
}

/* Marks files that some diff removes: another may create them again. */
static bool note_leaving(struct unified_apply_state *a)
{
    for (size_t i = 0; i < a->u->n_patches; i++) {
        const struct unified_patch *p = &a->u->patches[i];
        struct patch_file *file;
        if (p->new_name.p && !p->is_rename)
            continue;
        if (!unified_find_file(a, p->line, p->old_name, &file))
            return false;
        if (file)
            file->fate = PATCH_FATE_WILL_GO;
    }
    return true;
}

static void unified_remove_old(const struct unified_outcome *j)
{
    if (j->old && !j->is_new && !j->p->is_copy)
        patch_remove(j->old);
}

static void unified_put_new(const struct unified_outcome *j)
{
    if (!j->new || j->p->is_delete > 0)
        return;
    patch_put(j->new, j->content);
    j->new->exec = j->new_mode &S_IXUSR ? PATCH_EXEC_ON : PATCH_EXEC_OFF;
    j->new->like = is_moved(j) ? j->old : NULL;
    j->new->added += j->added;
    j->new->removed += j->removed;
}

bool unified_apply(const struct unified *u, struct patch *p, struct err *err)
{
    AUTO_FREE struct unified_outcome *all = base_alloc((u->n_patches + 1) * sizeof(*all));
    struct unified_apply_state a = {.u = u, .patch = p, .all = all, .err = err};
    for (size_t i = 0; i < u->n_patches; i++)
        a.moves |= u->patches[i].is_rename || u->patches[i].is_copy;
    if (!note_leaving(&a))
        return false;
    for (size_t i = 0; i < u->n_patches; i++) {
        all[i] = (struct unified_outcome){.p = &u->patches[i]};
        if (!unified_evaluate(&a, &all[i]))
            return false;
    }
    for (size_t i = 0; i < u->n_patches; i++) {
        unified_remove_old(&all[i]);
        if (u->patches[i].is_delete > 0)
            all[i].old->removed += all[i].removed;
    }
    for (size_t i = 0; i < u->n_patches; i++)
        unified_put_new(&all[i]);
    return true;
}
