/* Patches in git's format. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "change/gitpatch.h"

#include "base/linediff.h"
#include "change/literal.h"
#include "repo/gitname.h"
#include "repo/sha1.h"

static const char no_blob[] = "0000000000000000000000000000000000000000";

/* One side of a patch block. */
struct gitpatch_side {
    bool there;
    unsigned mode; /* git's file mode */
    struct str content;
    uint64_t size;
    bool unread; /* too large; content and blob are not set */
    char blob[SHA1_HEX];
};

struct gitpatch gitpatch_start(int old_fd, int new_fd)
{
    return (struct gitpatch){.old_fd = old_fd, .new_fd = new_fd, .budget = GITPATCH_BUDGET};
}

static unsigned gitpatch_mode(mode_t mode)
{
    return S_ISLNK(mode) ? 0120000 : mode & 0100 ? 0100755 : 0100644;
}

/* Headers ------------------------------------------------------------------------------------- */

static void gitpatch_add_header(struct buf *text, struct str path, const struct gitpatch_side *old,
    const struct gitpatch_side *new)
{
    buf_add_z(text, "diff --git ");
    gitname_add(text, "a/", path);
    buf_add_byte(text, ' ');
    gitname_add(text, "b/", path);
    buf_add_byte(text, '\n');
    if (!old->there)
        buf_printf(text, "new file mode %06o\n", new->mode);
    else if (!new->there)
        buf_printf(text, "deleted file mode %06o\n", old->mode);
    else if (old->mode != new->mode)
        buf_printf(text, "old mode %06o\nnew mode %06o\n", old->mode, new->mode);
    bool unread = old->unread || new->unread;
    if (!unread && strcmp(old->blob, new->blob) == 0)
        return;
    /* Abbreviated IDs make git apply refuse the incomplete patch; without any it misparses it. */
    if (unread)
        buf_add_z(text, "index 0000000..0000000");
    else
        buf_printf(text, "index %s..%s", old->blob, new->blob);
    if (old->there && new->there && old->mode == new->mode)
        buf_printf(text, " %06o", old->mode);
    buf_add_byte(text, '\n');
}

static void add_side_name(
    struct buf *text, const char *prefix, struct str path, const struct gitpatch_side *side)
{
    if (side->there)
        gitname_add(text, prefix, path);
    else
        buf_add_z(text, "/dev/null");
}

static void add_file_line(struct buf *text, const char *mark, const char *prefix, struct str path,
    const struct gitpatch_side *side)
{
    buf_add_z(text, mark);
    add_side_name(text, prefix, path, side);
    /* Otherwise git would end the name at the blank. */
    if (side->there && str_find(path, ' ') >= 0)
        buf_add_byte(text, '\t');
    buf_add_byte(text, '\n');
}

/* Blocks -------------------------------------------------------------------------------------- */

static bool gitpatch_is_binary(const struct gitpatch_side *s)
{
    return s->content.n > GITPATCH_TEXT_MAX || memchr(s->content.p, '\0', s->content.n);
}

static void add_omitted(struct buf *text, struct str path, const struct gitpatch_side *old,
    const struct gitpatch_side *new, struct gitpatch_count *count)
{
    buf_add_z(text, "Binary files ");
    add_side_name(text, "a/", path, old);
    buf_add_z(text, " and ");
    add_side_name(text, "b/", path, new);
    buf_add_z(text, " differ\n");
    count->binary = count->omitted = true;
    count->added = new->size;
    count->deleted = old->size;
}

static void gitpatch_add_block(struct gitpatch *p, struct str path, const struct gitpatch_side *old,
    const struct gitpatch_side *new, struct buf *text, struct gitpatch_count *count)
{
    gitpatch_add_header(text, path, old, new);
    count->shown = true;
    if (old->unread || new->unread) {
        add_omitted(text, path, old, new, count);
        return;
    }
    if (strcmp(old->blob, new->blob) == 0 || (old->content.n == 0 && new->content.n == 0))
        return;
    if (gitpatch_is_binary(old) || gitpatch_is_binary(new)) {
        buf_add_z(text, "GIT binary patch\n");
        if (!p->counts_only) {
            literal_add(text, new->content);
            literal_add(text, old->content);
        }
        count->binary = true;
        count->added = new->content.n;
        count->deleted = old->content.n;
        return;
    }
    AUTO_LINEDIFF struct linediff l = {0};
    int64_t most = MIN(p->budget, GITPATCH_BUDGET_FILE), left = most;
    linediff_make(old->content, new->content, &left, &l);
    p->budget -= most - left;
    add_file_line(text, "--- ", "a/", path, old);
    add_file_line(text, "+++ ", "b/", path, new);
    struct linediff_count lines = {0};
    linediff_add_hunks(&l, text, &lines);
    count->added = lines.added;
    count->deleted = lines.deleted;
}

static bool is_huge(const struct stamp *stamp)
{
    return S_ISREG(stamp->mode) && stamp->size > DELTA_FILE_MAX;
}

static bool read_content(const struct gitpatch *p, const struct delta_item *item,
    enum delta_side which, struct buf *content, struct err *err)
{
    if (which == DELTA_NEW && p->saved)
        return saved_read(p->saved, item, content, err);
    return delta_read(which == DELTA_OLD ? p->old_fd : p->new_fd, item, which, content, err);
}

static bool gitpatch_read_side(const struct gitpatch *p, const struct delta_item *item,
    enum delta_side which, struct buf *content, struct gitpatch_side *ret_side, struct err *err)
{
    const struct stamp *stamp = which == DELTA_OLD ? &item->old : &item->new;
    struct gitpatch_side s = {.there = stamp->ino != 0, .mode = gitpatch_mode(stamp->mode)};
    bool huge = is_huge(stamp);
    memcpy(s.blob, no_blob, sizeof(no_blob));
    s.size = s.there ? (uint64_t)stamp->size : 0;
    s.unread = huge && item->kind != DELTA_MODE; /* a mode change has the same content */
    if (!huge && !read_content(p, item, which, content, err))
        return false;
    s.content = buf_str(content);
    if (s.there && !huge)
        sha1_blob(s.content, s.blob);
    *ret_side = s;
    return true;
}

static void gitpatch_add_item(struct gitpatch *p, const struct delta_item *item,
    const struct gitpatch_side *old, const struct gitpatch_side *new, struct buf *text,
    struct gitpatch_count *count)
{
    struct gitpatch_side none = {.content = STR("")};
    memcpy(none.blob, no_blob, sizeof(no_blob));
    if (item->kind == DELTA_TYPE) {
        gitpatch_add_block(p, item->path, old, &none, text, count);
        gitpatch_add_block(p, item->path, &none, new, text, count);
    } else {
        gitpatch_add_block(p, item->path, old, new, text, count);
    }
}

bool gitpatch_item(struct gitpatch *p, const struct delta_item *item, struct buf *text,
    struct gitpatch_count *ret_count, struct err *err)
{
    AUTO_BUF struct buf before = BUF_INIT((size_t)DELTA_FILE_MAX + 1);
    AUTO_BUF struct buf after = BUF_INIT((size_t)DELTA_FILE_MAX + 1);
    struct gitpatch_side old, new;
    struct gitpatch_count count = {0};
    const size_t start = text->n;
    *ret_count = count;
    if (item->kind == DELTA_MODE && gitpatch_mode(item->old.mode) == gitpatch_mode(item->new.mode))
        return true;
    if (!gitpatch_read_side(p, item, DELTA_OLD, &before, &old, err) ||
        !gitpatch_read_side(p, item, DELTA_NEW, &after, &new, err))
        return false;
    gitpatch_add_item(p, item, &old, &new, text, &count);
    if (!buf_ok(text)) {
        buf_truncate(text, start);
        text->overflow = false;
        old.unread = new.unread = true;
        count = (struct gitpatch_count){0};
        gitpatch_add_item(p, item, &old, &new, text, &count);
    }
    if (!buf_ok(text))
        return err_set(err, E_IO, "the patch is too large at '%s'", item->path.p);
    *ret_count = count;
    return true;
}
