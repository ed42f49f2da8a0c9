/* Reads an upper layer. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "change/upper.h"

#include "change/compare.h"
#include "path/beneath.h"
#include "path/gitdir.h"
#include "path/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

struct upper_reader {
    int lower_fd, upper_fd;
    size_t entries_max;
    uint64_t compare_left;
    bool first_only; /* stop after the first change */
    bool whole;      /* a second copy: ignore attributes */
    const struct manifest *same;
    struct delta *delta;
    struct buf hidden; /* outermost opaque directory around the entry, with trailing '/' */
    bool is_hidden;
};

static bool upper_has_enough(const struct upper_reader *r)
{
    return r->first_only && r->delta->n > 0;
}

/* Attributes of overlayfs --------------------------------------------------------------------- */

enum {
    NAMES_MAX = 1024, /* size of the buffer for an attribute list */
    PROC_NAME_MAX = 64 + NAME_MAX,
};

/* By the directory's descriptor and a name, because a file need not be readable to have
 * attributes. */
static void attribute_path(char path[PROC_NAME_MAX], int dir_fd, const char *name)
{
    snprintf(path, PROC_NAME_MAX, "/proc/self/fd/%d/%s", dir_fd, name);
}

static ssize_t get_attribute(int dir_fd, const char *name, const char *attribute, char value[8])
{
    static const char *const spaces[] = {"user.overlay.", "trusted.overlay."};
    char path[PROC_NAME_MAX], full[64];
    attribute_path(path, dir_fd, name);
    for (size_t i = 0; i < ARRAY_LEN(spaces); i++) {
        snprintf(full, sizeof(full), "%s%s", spaces[i], attribute);
        ssize_t n = lgetxattr(path, full, value, 8);
        if (n >= 0 || errno == ERANGE)
            return MAX(n, (ssize_t)0);
    }
    return -1;
}

/* Few files have any, so one call usually settles it. Returns true if the list is too long. */
static bool may_have(int dir_fd, const char *name, const char *const attributes[], size_t n)
{
    char path[PROC_NAME_MAX], names[NAMES_MAX];
    attribute_path(path, dir_fd, name);
    ssize_t all = llistxattr(path, names, sizeof(names));
    if (all < 0)
        return true;
    for (size_t i = 0; i < n; i++)
        if (memmem(names, (size_t)all, attributes[i], strlen(attributes[i])))
            return true;
    return false;
}

static bool is_opaque(int dir_fd, const char *name)
{
    char value[8];
    return get_attribute(dir_fd, name, "opaque", value) == 1 && value[0] == 'y';
}

static bool is_whiteout(int dir_fd, const char *name, const struct stat *st)
{
    char value[8];
    if (S_ISCHR(st->st_mode))
        return major(st->st_rdev) == 0 && minor(st->st_rdev) == 0;
    return S_ISREG(st->st_mode) && st->st_size == 0 &&
           get_attribute(dir_fd, name, "whiteout", value) >= 0;
}

static bool check_plain(const struct walk_entry *e, const struct stat *st, struct err *err)
{
    static const char *const refused[] = {"redirect", "metacopy"};
    char value[8];
    if (!(S_ISDIR(st->st_mode) || S_ISREG(st->st_mode)) ||
        !may_have(e->dir_fd, e->name.p, refused, ARRAY_LEN(refused)))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        if (get_attribute(e->dir_fd, e->name.p, refused[i], value) >= 0)
            return err_set(err, E_FS_VIOLATION,
                "'%s' has the overlay attribute '%s', which boxes do not create", e->path.p,
                refused[i]);
    return true;
}

/* Comparison ---------------------------------------------------------------------------------- */

static bool add_if_changed(struct upper_reader *r, struct str path, const struct stat *old,
    int old_fd, const struct stat *new, int new_fd, struct err *err)
{
    bool same;
    if ((old->st_mode & S_IFMT) != (new->st_mode &S_IFMT))
        return delta_add(r->delta, path, DELTA_TYPE, old, new, err);
    if (!compare_content(old_fd, old, new_fd, new, &r->compare_left, &same, err))
        return err_wrap(err, "'%s'", path.p);
    if (!same)
        return delta_add(r->delta, path, DELTA_MODIFIED, old, new, err);
    /* The execute bit, as in git; also new set-id bits, so that apply can refuse them. */
    if (S_ISREG(new->st_mode) && (((old->st_mode ^ new->st_mode) & S_IXUSR) ||
                                     (new->st_mode & ~old->st_mode &(S_ISUID | S_ISGID))))
        return delta_add(r->delta, path, DELTA_MODE, old, new, err);
    return true;
}

static bool is_content(mode_t mode)
{
    return S_ISREG(mode) || S_ISLNK(mode);
}

static bool gone_on_the_way(int errnum)
{
    return errnum == ENOENT || errnum == ENOTDIR || errnum == ELOOP;
}

/* Opens the lower layer's entry at a path: *ret_fd is -1 if it does not exist. */
static bool open_lower(
    struct upper_reader *r, struct str path, struct stat *ret_st, int *ret_fd, struct err *err)
{
    AUTO_FD int fd = delta_open(r->lower_fd, path, ret_st);
    if (fd < 0 && !gone_on_the_way(errno))
        return err_errno(err, E_IO, errno, "cannot read '%s' of the baseline", path.p);
    *ret_fd = TAKE_FD(fd);
    return true;
}

/* Deletions ----------------------------------------------------------------------------------- */

/* Checks whether the upper layer has its own file or symlink there, which is handled separately. */
static bool upper_has(struct upper_reader *r, struct str path)
{
    ptrdiff_t slash = str_find_last(path, '/');
    char dir[PATH_MAX];
    struct stat st;
    if (path.n >= sizeof(dir))
        return false;
    memcpy(dir, path.p, path.n + 1);
    dir[slash < 0 ? 0 : slash] = '\0';
    AUTO_FD int fd = beneath_open(
        r->upper_fd, slash < 0 ? "." : dir, O_PATH | O_DIRECTORY, 0, BENEATH_NO_SYMLINKS);
    const char *name = path.p + slash + 1;
    return fd >= 0 && fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && is_content(st.st_mode) &&
           (r->whole || !is_whiteout(fd, name, &st));
}

static bool delete_one(
    struct upper_reader *r, struct str path, const struct stat *old, struct err *err)
{
    if (!is_content(old->st_mode) || delta_is_git(path) || upper_has(r, path))
        return true;
    return delta_add(r->delta, path, DELTA_DELETED, old, NULL, err);
}

/* Adds deletions for everything below a lower directory that the upper layer doesn't have. */
static bool delete_below(struct upper_reader *r, int dir_fd, struct str dir, struct err *err)
{
    AUTO_WALK struct walk *w = NULL;
    AUTO_WALK_PROBLEMS struct walk_problems problems = {0};
    AUTO_BUF struct buf path = BUF_INIT(1 << 20);
    struct walk_options options = {
        .all_names = true, .entries_max = r->entries_max, .problems = &problems};
    const struct walk_entry *e;
    if (!walk_open(dir_fd, &options, &w, err))
        return false;
    while (!upper_has_enough(r)) {
        struct stat st;
        if (!walk_next(w, &e, err))
            return false;
        if (!e)
            break;
        if (delta_is_git(e->name))
            walk_skip(w);
        buf_reset(&path);
        buf_printf(&path, "%s%s%s", dir.p, dir.n ? "/" : "", e->path.p);
        if (fstatat(e->dir_fd, e->name.p, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            !delete_one(r, buf_str(&path), &st, err))
            return false;
    }
    if (problems.n)
        return err_set(err, E_IO, "cannot read '%s' of the baseline: %s", problems.kept[0].path,
            walk_problem_text(&problems.kept[0]));
    return true;
}

/* Adds deletions for the hidden file, symlink or whole directory of the lower layer at a path. */
static bool delete_lower(struct upper_reader *r, struct str path, struct err *err)
{
    AUTO_FD int fd = beneath_open(
        r->lower_fd, path.n ? path.p : ".", O_PATH | O_NOFOLLOW, 0, BENEATH_NO_SYMLINKS);
    struct stat st;
    if (fd < 0 && gone_on_the_way(errno))
        return true;
    if (fd < 0 || fstat(fd, &st) != 0)
        return err_errno(err, E_IO, errno, "cannot read '%s' of the baseline", path.p);
    return S_ISDIR(st.st_mode) ? delete_below(r, fd, path, err) : delete_one(r, path, &st, err);
}

/* Entries of the upper layer ------------------------------------------------------------------ */

static bool under_hidden(const struct upper_reader *r, struct str path)
{
    return r->is_hidden && str_starts_with(path, buf_str(&r->hidden));
}

static bool upper_hide(struct upper_reader *r, struct str path, struct err *err)
{
    r->is_hidden = true;
    buf_reset(&r->hidden);
    if (path.n)
        buf_printf(&r->hidden, "%s/", path.p);
    return delete_lower(r, path, err);
}

static bool upper_read_dir(struct upper_reader *r, const struct walk_entry *e, struct err *err)
{
    struct stat old;
    if (r->whole || under_hidden(r, e->path))
        return true;
    if (is_opaque(e->dir_fd, e->name.p))
        return upper_hide(r, e->path, err);
    AUTO_FD int fd =
        beneath_open(r->lower_fd, e->path.p, O_PATH | O_NOFOLLOW, 0, BENEATH_NO_SYMLINKS);
    if (fd < 0 || fstat(fd, &old) != 0 || S_ISDIR(old.st_mode))
        return true;
    return delete_one(r, e->path, &old, err);
}

static bool upper_read_content(struct upper_reader *r, const struct walk_entry *e, struct err *err)
{
    struct stat old, new;
    AUTO_FD int old_fd = -1;
    AUTO_FD int new_fd = delta_open(r->upper_fd, e->path, &new);
    if (new_fd < 0 && gone_on_the_way(errno))
        return true;
    if (new_fd < 0) {
        delta_refuse(r->delta, e->path, errno == EAGAIN ? "is being replaced" : "is not readable");
        return true;
    }
    if (!open_lower(r, e->path, &old, &old_fd, err))
        return false;
    if (old_fd >= 0 && S_ISDIR(old.st_mode) && !under_hidden(r, e->path) &&
        !delete_lower(r, e->path, err))
        return false;
    if (old_fd < 0 || !is_content(old.st_mode))
        return delta_add(r->delta, e->path, DELTA_ADDED, NULL, &new, err);
    return add_if_changed(r, e->path, &old, old_fd, &new, new_fd, err);
}

/* Unchanged since it was found equal to the lower one, which is also unchanged: apply writes only
 * changed files. */
static bool upper_is_as_before(const struct upper_reader *r, struct str path, const struct stat *st)
{
    const struct manifest_entry *e = r->same ? manifest_find(r->same, path) : NULL;
    return e && manifest_same(e, st);
}

/* Sockets and pipes have no content that could be applied; test suites leave them behind. */
static void upper_note_special(struct upper_reader *r, struct str path, mode_t mode)
{
    if (S_ISFIFO(mode) || S_ISSOCK(mode))
        delta_leave_out(r->delta, path, S_ISFIFO(mode) ? "is a named pipe" : "is a socket");
    else
        delta_refuse(r->delta, path, "is a device");
}

static bool upper_read_entry(
    struct upper_reader *r, struct walk *w, const struct walk_entry *e, struct err *err)
{
    struct stat st;
    if (gitdir_stands_for_git(e->name)) {
        walk_skip(w);
        if (!str_is(e->name, ".git"))
            delta_refuse(
                r->delta, e->path, "has a name that is equivalent to .git on some file systems");
        return true;
    }
    if (fstatat(e->dir_fd, e->name.p, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return true; /* deleted since */
    if (!r->whole && is_whiteout(e->dir_fd, e->name.p, &st))
        return under_hidden(r, e->path) || delete_lower(r, e->path, err);
    if (!r->whole && !check_plain(e, &st, err))
        return false;
    if (upper_is_as_before(r, e->path, &st))
        return true;
    if (S_ISDIR(st.st_mode))
        return upper_read_dir(r, e, err);
    if (is_content(st.st_mode))
        return upper_read_content(r, e, err);
    upper_note_special(r, e->path, st.st_mode);
    return true;
}

static bool upper_read_all(struct upper_reader *r, bool opaque_root, struct err *err)
{
    AUTO_WALK struct walk *w = NULL;
    AUTO_WALK_PROBLEMS struct walk_problems problems = {0};
    struct walk_options options = {
        .all_names = true, .entries_max = r->entries_max, .problems = &problems};
    const struct walk_entry *e;
    if ((opaque_root || is_opaque(r->upper_fd, ".")) && !upper_hide(r, STR(""), err))
        return false;
    if (!walk_open(r->upper_fd, &options, &w, err))
        return err_wrap(err, "cannot read the changes of the box");
    while (!upper_has_enough(r)) {
        if (!walk_next(w, &e, err))
            return err_wrap(err, "cannot read the changes of the box");
        if (!e)
            break;
        if (!upper_read_entry(r, w, e, err))
            return false;
    }
    for (size_t i = 0; i < MIN(problems.n, (size_t)WALK_PROBLEMS_KEPT); i++)
        delta_refuse(r->delta, str_z(problems.kept[i].path),
            problems.kept[i].errnum == ELOOP ? "is nested too deeply" : "is not readable");
    return true;
}

static bool upper_collect(int lower_fd, int upper_fd, const struct upper_options *options,
    bool first_only, struct delta *delta, struct err *err)
{
    struct upper_reader r = {
        .lower_fd = lower_fd,
        .upper_fd = upper_fd,
        .entries_max = options->entries_max ? options->entries_max : UPPER_ENTRIES_MAX,
        .compare_left = options->compare_max ? options->compare_max : UPPER_COMPARE_MAX,
        .first_only = first_only,
        .whole = options->opaque_root,
        .same = options->same,
        .delta = delta,
        .hidden = BUF_INIT(1 << 20),
    };
    bool ok = upper_read_all(&r, options->opaque_root, err);
    buf_done(&r.hidden);
    if (ok)
        delta_sort(delta);
    return ok;
}

bool upper_read(int lower_fd, int upper_fd, const struct upper_options *options,
    struct delta *delta, struct err *err)
{
    BUG_ON(delta->n);
    return upper_collect(lower_fd, upper_fd, options, false, delta, err);
}

bool upper_any(
    int lower_fd, int upper_fd, const struct upper_options *options, bool *ret_any, struct err *err)
{
    AUTO_DELTA struct delta delta = DELTA_INIT;
    if (!upper_collect(lower_fd, upper_fd, options, true, &delta, err))
        return false;
    *ret_any = delta.n > 0 || delta.n_refused > 0;
    return true;
}
