/* Parses unified diffs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/unified.h"

#include "base/grow.h"
#include "tool/unified_name.h"

enum {
    ARENA_MAX = 512 << 20,
    SHOWN = 80,
    MARK_MIN = 12, /* minimum length of "\ No newline…" in any language */
};

enum unified_found {
    FOUND_NOTHING,
    FOUND_PATCH,
    FOUND_ERROR,
};

struct unified_reader {
    struct unified u;
    struct str rest;
    size_t line; /* line number of the start of `rest`, from 1 */
    size_t strip;
    bool strip_known;
    struct err *err;
};

void unified_done(struct unified *u)
{
    free(u->patches);
    free(u->hunks);
    arena_done(&u->arena);
    *u = (struct unified){0};
}

/* Returns the first line, including its line break if it has one. */
static struct str unified_first_line(struct str text)
{
    ptrdiff_t lf = str_find(text, '\n');
    return lf < 0 ? text : str_head(text, (size_t)lf + 1);
}

static bool unified_is_whole(struct str line)
{
    return str_ends_with(line, STR("\n"));
}

static void unified_skip_line(struct unified_reader *r, struct str line)
{
    r->rest = str_skip(r->rest, line.n);
    r->line++;
}

static bool unified_fail_at(struct unified_reader *r, size_t line)
{
    err_wrap(r->err, "line %zu of the patch", line);
    return err_ctx_int(r->err, "line", (int64_t)line);
}

#define WRONG(r, ...) \
    (err_set((r)->err, E_PATCH_PARSE, __VA_ARGS__), unified_fail_at((r), (r)->line))

/* Hunks -----------------------------------------------------------------------------------------
 */

static bool unified_read_number(struct str *s, uint64_t *ret_value)
{
    size_t n = 0;
    uint64_t value = 0;
    while (n < s->n && n < 18 && s->p[n] >= '0' && s->p[n] <= '9')
        value = 10 * value + (uint64_t)(s->p[n++] - '0');
    *s = str_skip(*s, n);
    *ret_value = value;
    return n > 0;
}

static bool read_range(struct str *s, struct str behind, uint64_t *ret_at, uint64_t *ret_n)
{
    *ret_n = 1;
    if (!unified_read_number(s, ret_at))
        return false;
    if (s->n && s->p[0] == ',') {
        *s = str_skip(*s, 1);
        if (!unified_read_number(s, ret_n))
            return false;
    }
    if (!str_starts_with(*s, behind))
        return false;
    *s = str_skip(*s, behind.n);
    return true;
}

/* @@ -1,2 +3,4 @@ */
static bool read_hunk_header(struct str line, struct unified_hunk *h)
{
    struct str s = str_skip(line, 4);
    return unified_is_whole(line) && read_range(&s, STR(" +"), &h->old_at, &h->old_n) &&
           read_range(&s, STR(" @@"), &h->new_at, &h->new_n);
}

static bool is_no_newline(struct str line)
{
    return line.n >= MARK_MIN && str_starts_with(line, STR("\\ "));
}

/* Counts a line of the body; returns false if it cannot belong to it. */
static bool count_line(struct unified_hunk *h, struct str line, uint64_t *old, uint64_t *new)
{
    switch (line.p[0]) {
    case ' ':
    case '\n':
        h->leading += !h->added && !h->removed;
        h->trailing++;
        if (*old == 0 || *new == 0)
            return false;
        --*old;
        --*new;
        return true;
    case '-':
        h->removed++;
        h->trailing = 0;
        return (*old)-- > 0;
    case '+':
        h->added++;
        h->trailing = 0;
        return (*new)-- > 0;
    case '\\':
        return is_no_newline(line);
    default:
        return false;
    }
}

static bool corrupt_line(struct unified_reader *r, const struct unified_hunk *h, struct str line)
{
    struct str shown = str_head(str_trim_end(line, '\n'), SHOWN);
    if (!unified_is_whole(line) && line.n)
        return WRONG(r, "the last line is not terminated: add a newline to the patch");
    return WRONG(r,
        "'" STR_FMT
        "' is not valid in the hunk of line %zu, whose header announces %llu old and %llu "
        "new lines: each line must start with ' ', '-' or '+', and the numbers must be "
        "correct",
        STR_ARG(shown), h->line, (unsigned long long)h->old_n, (unsigned long long)h->new_n);
}

static bool short_hunk(
    struct unified_reader *r, const struct unified_hunk *h, uint64_t old, uint64_t new)
{
    return WRONG(r,
        "the hunk of line %zu ends too early: %llu old and %llu new lines are missing; "
        "check the numbers after @@",
        h->line, (unsigned long long)old, (unsigned long long)new);
}

static bool unified_read_body(struct unified_reader *r, struct unified_hunk *h)
{
    uint64_t old = h->old_n, new = h->new_n;
    const char *begin = r->rest.p;
    while ((old || new) && r->rest.n) {
        struct str line = unified_first_line(r->rest);
        if (!unified_is_whole(line) || !count_line(h, line, &old, &new))
            return corrupt_line(r, h, line);
        unified_skip_line(r, line);
    }
    if (old || new)
        return short_hunk(r, h, old, new);
    if (!h->added && !h->removed)
        return WRONG(r, "the hunk of line %zu changes nothing", h->line);
    struct str mark = unified_first_line(r->rest);
    if (r->rest.n > MARK_MIN && str_starts_with(mark, STR("\\ ")))
        unified_skip_line(r, mark);
    h->body = str_n(begin, (size_t)(r->rest.p - begin));
    return true;
}

static void unified_push_hunk(struct unified *u, const struct unified_hunk *h)
{
    GROW(u->hunks, u->n_hunks, u->cap_hunks, GROW_MAX);
    u->hunks[u->n_hunks++] = *h;
}

static bool read_hunks(struct unified_reader *r, struct unified_patch *p)
{
    uint64_t old = 0, new = 0;
    p->first = r->u.n_hunks;
    while (r->rest.n > 4 && str_starts_with(r->rest, STR("@@ -"))) {
        struct unified_hunk h = {.line = r->line};
        struct str line = unified_first_line(r->rest);
        if (!read_hunk_header(line, &h))
            return WRONG(r, "invalid hunk header: expected a line such as '@@ -1,2 +1,3 @@'");
        unified_skip_line(r, line);
        if (!unified_read_body(r, &h))
            return false;
        old += h.old_n;
        new += h.new_n;
        unified_push_hunk(&r->u, &h);
        p->n++;
    }
    /* A single hunk that only adds may create the file, one that only removes may delete it. */
    if (p->is_new < 0 && (old || p->n > 1))
        p->is_new = 0;
    if (p->is_delete < 0 && (new || p->n > 1))
        p->is_delete = 0;
    if (p->is_new > 0 && old)
        return WRONG(r, "the new file '" STR_FMT "' depends on old lines", STR_ARG(p->new_name));
    if (p->is_delete > 0 && new)
        return WRONG(r, "the deleted file '" STR_FMT "' still has lines", STR_ARG(p->old_name));
    return true;
}

/* Git headers -----------------------------------------------------------------------------------
 */

struct unified_header {
    struct unified_reader *r;
    struct unified_patch *p;
    struct str twice; /* the name in "diff --git a/x b/x", or unset */
};

/* Returns 1 if the header ends before this line, 0 to continue, -1 on error. */
typedef int (*header_fn)(struct unified_header *h, struct str text);

static int take_end(struct unified_header *h, struct str text)
{
    (void)h;
    (void)text;
    return 1;
}

static int verify_name(
    struct unified_header *h, struct str text, bool is_null, struct str *name, const char *side)
{
    struct arena *a = &h->r->u.arena;
    if (!name->p && !is_null) {
        *name = name_read(a, text, h->r->strip, NAME_TAB_ENDS);
        return 0;
    }
    if (!name->p || is_null) {
        if (!name->p && name_is_null(text))
            return 0;
        WRONG(h->r, "expected /dev/null as the %s name", side);
        return -1;
    }
    struct str another = name_read(a, text, h->r->strip, NAME_TAB_ENDS);
    if (another.p && str_eq(another, *name))
        return 0;
    WRONG(h->r, "the %s name differs from the one above ('" STR_FMT "')", side, STR_ARG(*name));
    return -1;
}

static int take_old_name(struct unified_header *h, struct str text)
{
    return verify_name(h, text, h->p->is_new > 0, &h->p->old_name, "old");
}

static int take_new_name(struct unified_header *h, struct str text)
{
    return verify_name(h, text, h->p->is_delete > 0, &h->p->new_name, "new");
}

static int read_mode(struct unified_header *h, struct str text, unsigned *ret_mode)
{
    unsigned mode = 0;
    size_t n = 0;
    while (n < text.n && n < 9 && text.p[n] >= '0' && text.p[n] <= '7')
        mode = 8 * mode + (unsigned)(text.p[n++] - '0');
    if (n == 0 || n >= text.n || !strchr(" \t\r\n", text.p[n])) {
        WRONG(h->r, "the mode is not an octal number");
        return -1;
    }
    *ret_mode = mode;
    return 0;
}

static int take_old_mode(struct unified_header *h, struct str text)
{
    return read_mode(h, text, &h->p->old_mode);
}

static int take_new_mode(struct unified_header *h, struct str text)
{
    return read_mode(h, text, &h->p->new_mode);
}

static int take_deleted(struct unified_header *h, struct str text)
{
    h->p->is_delete = 1;
    h->p->old_name = h->twice;
    return take_old_mode(h, text);
}

static int take_created(struct unified_header *h, struct str text)
{
    h->p->is_new = 1;
    h->p->new_name = h->twice;
    return take_new_mode(h, text);
}

static struct str moved_name(struct unified_header *h, struct str text)
{
    size_t strip = h->r->strip ? h->r->strip - 1 : 0;
    return name_read(&h->r->u.arena, text, strip, 0);
}

static int take_copy_from(struct unified_header *h, struct str text)
{
    h->p->is_copy = true;
    h->p->old_name = moved_name(h, text);
    return 0;
}

static int take_copy_to(struct unified_header *h, struct str text)
{
    h->p->is_copy = true;
    h->p->new_name = moved_name(h, text);
    return 0;
}

static int take_rename_from(struct unified_header *h, struct str text)
{
    h->p->is_rename = true;
    h->p->old_name = moved_name(h, text);
    return 0;
}

static int take_rename_to(struct unified_header *h, struct str text)
{
    h->p->is_rename = true;
    h->p->new_name = moved_name(h, text);
    return 0;
}

static int take_nothing(struct unified_header *h, struct str text)
{
    (void)h;
    (void)text;
    return 0;
}

/* index 1234..5678 100644: only the mode is used. */
static int take_index(struct unified_header *h, struct str text)
{
    ptrdiff_t dot = str_find(text, '.');
    if (dot < 0 || dot > 64 || (size_t)dot + 1 >= text.n || text.p[dot + 1] != '.')
        return 0;
    struct str second = str_skip(text, (size_t)dot + 2);
    ptrdiff_t blank = str_find(second, ' ');
    return blank >= 0 && blank <= 64 ? take_old_mode(h, str_skip(second, (size_t)blank + 1)) : 0;
}

static int take_header_line(struct unified_header *h, struct str line)
{
    static const struct {
        struct str mark;
        header_fn take;
    } marks[] = {
        {STR("@@ -"), take_end},
        {STR("--- "), take_old_name},
        {STR("+++ "), take_new_name},
        {STR("old mode "), take_old_mode},
        {STR("new mode "), take_new_mode},
        {STR("deleted file mode "), take_deleted},
        {STR("new file mode "), take_created},
        {STR("copy from "), take_copy_from},
        {STR("copy to "), take_copy_to},
        {STR("rename old "), take_rename_from},
        {STR("rename new "), take_rename_to},
        {STR("rename from "), take_rename_from},
        {STR("rename to "), take_rename_to},
        {STR("similarity index "), take_nothing},
        {STR("dissimilarity index "), take_nothing},
        {STR("index "), take_index},
    };
    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        if (str_starts_with(line, marks[i].mark))
            return marks[i].take(h, str_skip(line, marks[i].mark.n));
    return 1;
}

static bool check_header(struct unified_header *h)
{
    const struct unified_patch *p = h->p;
    int said = (p->is_delete == 1) + (p->is_new == 1) + p->is_rename + p->is_copy;
    if (said > 1)
        return WRONG(h->r,
            "this contradicts line %zu: a file can be only one of created, deleted, renamed "
            "and copied",
            p->header_line);
    if (said && !p->header_line)
        h->p->header_line = h->r->line;
    return true;
}

static bool name_missing(struct unified_header *h)
{
    struct unified_patch *p = h->p;
    if (!p->old_name.p && !p->new_name.p)
        p->old_name = p->new_name = h->twice;
    bool missing = (!p->new_name.p && p->is_delete <= 0) || (!p->old_name.p && p->is_new <= 0);
    if (!missing)
        return false;
    err_set(h->r->err, E_PATCH_PARSE, "the header has no file name (names look like a/x and b/x)");
    unified_fail_at(h->r, p->line);
    return true;
}

/* Reads the header after "diff --git ". *ret_lines: lines of the header, including this one. */
static enum unified_found read_git_header(
    struct unified_reader *r, struct str line, struct unified_patch *p, size_t *ret_lines)
{
    struct unified_header h = {.r = r, .p = p};
    size_t begin = r->line;
    p->is_new = p->is_delete = 0;
    p->line = r->line;
    h.twice = name_read_twice(&r->u.arena, str_skip(line, sizeof("diff --git ") - 1), r->strip);
    unified_skip_line(r, line);
    while (r->rest.n) {
        line = unified_first_line(r->rest);
        if (!unified_is_whole(line))
            break;
        int res = take_header_line(&h, line);
        if (res < 0 || !check_header(&h))
            return FOUND_ERROR;
        if (res > 0)
            break;
        unified_skip_line(r, line);
    }
    *ret_lines = r->line - begin;
    return name_missing(&h) ? FOUND_ERROR : FOUND_PATCH;
}

/* Plain headers ---------------------------------------------------------------------------------
 */

/* Returns the number of components to strip; -1 if unknown. */
static int guess_strip(struct unified_reader *r, struct str line)
{
    if (name_is_null(line))
        return -1;
    struct str name = name_read_dated(&r->u.arena, line, (struct str){0}, 0);
    return name.p && str_find(name, '/') < 0 ? 0 : -1;
}

static void learn_strip(struct unified_reader *r, struct str old, struct str new)
{
    if (r->strip_known)
        return;
    int p = guess_strip(r, old), q = guess_strip(r, new);
    if (p < 0)
        p = q;
    if (p < 0 || p != q)
        return;
    r->strip = (size_t)p;
    r->strip_known = true;
}

static bool read_plain_header(
    struct unified_reader *r, struct str old, struct str new, struct unified_patch *p)
{
    struct arena *a = &r->u.arena;
    struct str name, no = {0};
    p->line = r->line;
    old = str_skip(old, 4);
    new = str_skip(new, 4);
    learn_strip(r, old, new);
    bool create = name_is_null(old), delete = !create && name_is_null(new);
    if (create) {
        name = name_read_dated(a, new, no, r->strip);
    } else if (delete) {
        name = name_read_dated(a, old, no, r->strip);
    } else {
        name = name_read_dated(a, new, name_read_dated(a, old, no, r->strip), r->strip);
        create = name_is_at_epoch(old);
        delete = !create && name_is_at_epoch(new);
    }
    if (create || delete) {
        p->is_new = create;
        p->is_delete = delete;
    }
    if (!delete)
        p->new_name = name;
    if (!create)
        p->old_name = name;
    return name.p || WRONG(r, "the file name is missing");
}

/* Finding patches -------------------------------------------------------------------------------
 */

static bool is_plain_header(struct str rest, struct str line)
{
    struct str after = str_skip(rest, line.n), second = unified_first_line(after);
    return str_starts_with(line, STR("--- ")) && str_starts_with(after, STR("+++ ")) &&
           rest.n >= second.n + 14 && str_starts_with(str_skip(after, second.n), STR("@@ -"));
}

/* Skips text that is not a diff, and the header. */
static enum unified_found find_header(struct unified_reader *r, struct unified_patch *p)
{
    /* Set only once: git keeps the data of a header without content for the next one. */
    *p = (struct unified_patch){.is_new = -1, .is_delete = -1};
    while (r->rest.n) {
        struct str line = unified_first_line(r->rest);
        struct unified_hunk h = {0};
        if (line.n < 6) {
            unified_skip_line(r, line);
            continue;
        }
        if (str_starts_with(line, STR("@@ -")) && read_hunk_header(line, &h)) {
            WRONG(r, "a hunk without a file name before it");
            return FOUND_ERROR;
        }
        if (r->rest.n < line.n + 6)
            break;
        if (str_starts_with(line, STR("diff --git "))) {
            size_t lines;
            struct unified_reader before = *r;
            enum unified_found found = read_git_header(r, line, p, &lines);
            if (found == FOUND_ERROR || lines > 1)
                return found;
            before.u = r->u;
            *r = before;
        } else if (is_plain_header(r->rest, line)) {
            struct str second = unified_first_line(str_skip(r->rest, line.n));
            if (!read_plain_header(r, line, second, p))
                return FOUND_ERROR;
            unified_skip_line(r, line);
            unified_skip_line(r, second);
            return FOUND_PATCH;
        }
        unified_skip_line(r, line);
    }
    return FOUND_NOTHING;
}

static bool has_metadata(const struct unified_patch *p)
{
    return p->is_rename || p->is_copy || p->is_new > 0 || p->is_delete ||
           (p->old_mode && p->new_mode && p->old_mode != p->new_mode);
}

/* Checks a header without hunks. */
static bool check_empty(struct unified_reader *r, struct unified_patch *p)
{
    struct str line = unified_first_line(r->rest);
    p->is_binary =
        str_is(line, "GIT binary patch\n") ||
        ((str_starts_with(line, STR("Binary files ")) || str_starts_with(line, STR("Files "))) &&
            str_ends_with(line, STR(" differ\n")));
    if (p->is_binary) {
        struct str name = p->new_name.p ? p->new_name : p->old_name;
        return WRONG(r,
            "'" STR_FMT
            "' is changed as binary, which is not supported: write the file with a command "
            "instead",
            STR_ARG(name));
    }
    return has_metadata(p) ||
           WRONG(r,
               "the diff at line %zu changes nothing: there is no hunk (@@ -1,2 +1,3 @@) after "
               "its header",
               p->line);
}

static bool nothing_found(struct str text, struct err *err)
{
    static const char mark[] = "*** Begin Patch";
    bool freeform = memmem(text.p, text.n, mark, sizeof(mark) - 1) != NULL;
    return err_set(err, E_PATCH_PARSE,
        "no diff found: expected 'diff --git a/x b/x', or '--- a/x', '+++ b/x' and '@@ "
        "-1,2 +1,3 @@'%s",
        freeform ? "; this looks like a freeform patch: use apply_patch_freeform" : "");
}

static bool unified_read_all(struct unified_reader *r)
{
    for (;;) {
        struct unified_patch p;
        if (arena_left(&r->u.arena) < (size_t)1 << 20)
            return WRONG(r, "the patch has too many names");
        enum unified_found found = find_header(r, &p);
        if (found != FOUND_PATCH)
            return found == FOUND_NOTHING;
        if (!read_hunks(r, &p) || (p.n == 0 && !check_empty(r, &p)))
            return false;
        GROW(r->u.patches, r->u.n_patches, r->u.cap_patches, GROW_MAX);
        r->u.patches[r->u.n_patches++] = p;
    }
}

bool unified_parse(struct str text, struct unified *ret_unified, struct err *err)
{
    struct unified_reader r = {
        .u.arena = ARENA_INIT(ARENA_MAX), .rest = text, .line = 1, .strip = 1, .err = err};
    bool ok = unified_read_all(&r);
    if (ok && r.u.n_patches == 0)
        ok = nothing_found(text, err);
    if (!ok) {
        unified_done(&r.u);
        return false;
    }
    *ret_unified = r.u;
    return true;
}

bool unified_next(struct str *body, struct unified_line *ret_line)
{
    while (body->n) {
        struct str line = unified_first_line(*body);
        *body = str_skip(*body, line.n);
        if (line.p[0] == '\\')
            continue;
        bool open = body->n && body->p[0] == '\\';
        if (open && line.n == 1)
            continue; /* an empty line without a line break: nothing */
        *ret_line = (struct unified_line){line.p[0], str_skip(line, 1)};
        if (line.p[0] == '\n')
            *ret_line = (struct unified_line){' ', line};
        if (open && ret_line->bytes.n)
            ret_line->bytes.n--;
        return true;
    }
    return false;
}
