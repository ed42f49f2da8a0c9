/* The git directory of a copy: an independent repository without references to the original. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "change/copy_list.h"
#include "io/file.h"
#include "path/gitdir.h"
#include "path/walk.h"

#include <errno.h>
#include <fcntl.h>

enum {
    SMALL_MAX = 256 * 1024,
};

/* One git directory, copied to `.git` of the copy. */
struct copy_git_part {
    int fd;            /* owned by the list */
    struct str prefix; /* "sub/.git/" */
    bool from_file;    /* `.git` is a file that points here */
    bool linked;       /* the directory shared by several work trees */
    bool own;          /* the private directory of one of several work trees */
    int over_fd;       /* directory whose files take precedence, or -1 */
};

/* Entries that concern other work trees or belong to one of them. */
static const struct {
    const char *name;
    bool in_common; /* omitted when copying the shared part of a linked work tree */
    bool in_own;    /* omitted when copying its private part */
    bool always;
} apart[] = {
    {"worktrees", true, true, true},
    {"commondir", true, true, true},
    {"gitdir", true, true, true},
    {"locked", false, true, false},
    {"HEAD", true, false, false},
    {"ORIG_HEAD", true, false, false},
    {"FETCH_HEAD", true, false, false},
    {"MERGE_HEAD", true, false, false},
    {"index", true, false, false},
    {"modules", true, true, false},
};

static bool stays_behind(const struct copy_git_part *p, struct str path)
{
    for (size_t i = 0; i < ARRAY_LEN(apart); i++)
        if (str_is(path, apart[i].name))
            return apart[i].always || (p->own ? apart[i].in_own : p->linked && apart[i].in_common);
    return false;
}

static bool copy_git_add_entry(struct copy_list *list, const struct copy_git_part *p,
    struct walk *w, const struct walk_entry *e, struct err *err)
{
    struct stat st;
    if (stays_behind(p, e->path)) {
        walk_skip(w);
        return true;
    }
    bool covered = p->over_fd >= 0 && e->type != DT_DIR &&
                   fstatat(p->over_fd, e->path.p, &st, AT_SYMLINK_NOFOLLOW) == 0;
    if (covered || fstatat(e->dir_fd, e->name.p, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return true;
    struct str to = copy_list_join(list, p->prefix, e->path);
    if (str_is(e->path, "objects/info/alternates") && !str_is(p->prefix, ".git/"))
        copy_list_note(list, to,
            "refers to objects of another repository, which the box sees only if --dir names them");
    if (S_ISDIR(st.st_mode))
        return copy_list_add_dir(list, to, &st, err);
    if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
        return true; /* git's sockets and pipes are useless in a copy */
    if (!copy_list_add(list, p->fd, arena_str(&list->arena, e->path), to, &st, err))
        return false;
    list->jobs[list->n_jobs - 1].settings =
        p->from_file && S_ISREG(st.st_mode) && str_is(e->path, "config");
    return true;
}

static bool copy_git_add_part(
    struct copy_list *list, const struct copy_git_part *p, struct err *err)
{
    AUTO_WALK struct walk *w = NULL;
    struct walk_options options = {.all_names = true};
    const struct walk_entry *e;
    if (!walk_open(p->fd, &options, &w, err))
        return false;
    for (;;) {
        if (!walk_next(w, &e, err))
            return false;
        if (!e)
            return true;
        if (!copy_git_add_entry(list, p, w, e, err))
            return false;
    }
}

static bool same_dir(int a, int b)
{
    struct stat s, t;
    return fstat(a, &s) == 0 && fstat(b, &t) == 0 && s.st_dev == t.st_dev && s.st_ino == t.st_ino;
}

static bool copy_git_add_parts(struct copy_list *list, int own_fd, int common_fd, bool is_file,
    struct str prefix, struct err *err)
{
    bool two = !same_dir(own_fd, common_fd);
    struct copy_git_part shared = {.fd = copy_list_keep(list, common_fd, err), .prefix = prefix};
    if (shared.fd < 0)
        return false;
    shared.linked = two;
    shared.from_file = is_file;
    shared.over_fd = two && is_file ? own_fd : -1;
    if (!copy_git_add_part(list, &shared, err))
        return false;
    if (!two || !is_file)
        return true;
    struct copy_git_part own = {
        .fd = copy_list_keep(list, own_fd, err), .prefix = prefix, .own = true, .over_fd = -1};
    return own.fd >= 0 && copy_git_add_part(list, &own, err);
}

/* Back references ----------------------------------------------------------------------------- */

/* Reads a file with one path, or a config; leaves `text` empty on failure. */
static void read_small(int dir_fd, const char *name, struct buf *text)
{
    AUTO_ERR struct err ignored = {0};
    struct stat st;
    AUTO_FD int fd = openat(dir_fd, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
        !file_read(fd, SMALL_MAX, name, text, &ignored))
        buf_reset(text);
}

/* For a linked work tree: <common>/worktrees/<id>/gitdir names its `.git`. */
static bool names_file(int own_fd, int common_fd, const struct stat *file)
{
    AUTO_BUF struct buf text = BUF_INIT(2 * SMALL_MAX);
    struct stat st;
    AUTO_FD int above = openat(own_fd, "../..", O_PATH | O_DIRECTORY | O_CLOEXEC);
    read_small(own_fd, "gitdir", &text);
    while (text.n && text.p[text.n - 1] == '\n')
        buf_truncate(&text, text.n - 1);
    return above >= 0 && same_dir(above, common_fd) && text.n &&
           fstatat(own_fd, buf_z(&text), &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           st.st_dev == file->st_dev && st.st_ino == file->st_ino;
}

static struct str without_blanks(struct str text)
{
    while (text.n && (text.p[0] == ' ' || text.p[0] == '\t'))
        text = str_skip(text, 1);
    return str_trim_end(str_trim_end(text, '\t'), ' ');
}

/* For a submodule: core.worktree points to its directory. */
static bool names_dir(int own_fd, int dir_fd)
{
    AUTO_BUF struct buf text = BUF_INIT(2 * SMALL_MAX), path = BUF_INIT(SMALL_MAX);
    struct str line, rest, key;
    bool found = false;
    read_small(own_fd, "config", &text);
    for (rest = buf_str(&text); !found && str_cut(rest, '\n', &line, &rest);) {
        if (!str_cut(line, '=', &key, &line) || !str_is(without_blanks(key), "worktree"))
            continue;
        buf_reset(&path);
        buf_add_str(&path, without_blanks(line));
        AUTO_FD int fd = openat(own_fd, buf_z(&path), O_PATH | O_DIRECTORY | O_CLOEXEC);
        found = fd >= 0 && same_dir(fd, dir_fd);
    }
    return found;
}

/* `.git` may have been written by a `:rw` box: follow it out of the project only if the target
 * repository refers back to this directory, that is, if the user made it a work tree. */
static bool copy_git_refers_back(int dir_fd, int own_fd, int common_fd, const struct stat *git)
{
    bool one = same_dir(own_fd, common_fd);
    if (S_ISDIR(git->st_mode))
        return one;
    return one ? names_dir(own_fd, dir_fd) : names_file(own_fd, common_fd, git);
}

bool copy_git(struct copy_list *list, int dir_fd, struct str prefix, struct err *err)
{
    struct stat st;
    struct str name = copy_list_join(list, prefix, STR(".git"));
    if (fstatat(dir_fd, ".git", &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT || err_errno(err, E_IO, errno, "cannot stat '%s'", name.p);
    if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)) {
        copy_list_note(list, name, "is neither a git directory nor a file that points to one");
        return true;
    }
    AUTO_FD int own = -1, common = -1;
    if (!gitdir_open_own(dir_fd, &own, err) || !gitdir_open_common(dir_fd, &common, err))
        return false;
    if (own < 0 || common < 0 || !gitdir_is_repository(dir_fd)) {
        copy_list_note(list, name, "does not point to a repository");
        return true;
    }
    if (!copy_git_refers_back(dir_fd, own, common, &st)) {
        copy_list_note(list, name, "points to a repository that does not point back to it");
        return true;
    }
    int kept = copy_list_keep(list, own, err);
    if (kept < 0)
        return false;
    list->trees[list->n_trees++] =
        (struct copy_tree){.prefix = arena_str(&list->arena, prefix), .git_fd = kept};
    struct stat dir = {.st_mode = S_IFDIR | 0755, .st_mtim = st.st_mtim};
    struct str inside = copy_list_join(list, name, STR("/"));
    return copy_list_add_dir(list, name, &dir, err) &&
           copy_git_add_parts(list, own, common, S_ISREG(st.st_mode), inside, err);
}
