/* The git directory of a copy: a repository of its own, which leads nowhere else. */
#include "box/copy_list.h"
#include "path/gitdir.h"
#include "path/walk.h"

#include <errno.h>
#include <fcntl.h>

/* One directory of git's, copied to `.git` of the copy. */
struct part {
    int fd;            /* kept by the list */
    struct str prefix; /* "sub/.git/" */
    bool from_file;    /* `.git` is a file that leads here */
    bool linked;       /* this is what several work trees share */
    bool own;          /* only what one of several work trees has for itself */
    int over_fd;       /* what this one has goes over it; -1: nothing does */
};

/* What is about other work trees, or belongs to one of them. */
static const struct {
    const char *name;
    bool in_common; /* stays behind when the shared part of a linked work tree is copied */
    bool in_own;    /* ...when the part of its own is */
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

static bool stays_behind(const struct part *p, struct str path)
{
    for (size_t i = 0; i < ARRAY_LEN(apart); i++)
        if (str_is(path, apart[i].name))
            return apart[i].always || (p->own ? apart[i].in_own : p->linked && apart[i].in_common);
    return false;
}

static bool take(struct copy_list *list, const struct part *p, struct walk *w,
    const struct walk_entry *e, struct err *err)
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
    if (str_is(e->path, "objects/info/alternates"))
        copy_list_note(list, to, "names objects of another repository, which a box doesn't see");
    if (S_ISDIR(st.st_mode))
        return copy_list_add_dir(list, to, &st, err);
    if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
        return true; /* git's own sockets and pipes are of no use to a copy */
    if (!copy_list_add(list, p->fd, arena_str(&list->arena, e->path), to, &st, err))
        return false;
    list->jobs[list->n_jobs - 1].settings =
        p->from_file && S_ISREG(st.st_mode) && str_is(e->path, "config");
    return true;
}

static bool take_part(struct copy_list *list, const struct part *p, struct err *err)
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
        if (!take(list, p, w, e, err))
            return false;
    }
}

static bool same_dir(int a, int b)
{
    struct stat s, t;
    return fstat(a, &s) == 0 && fstat(b, &t) == 0 && s.st_dev == t.st_dev && s.st_ino == t.st_ino;
}

static bool take_parts(struct copy_list *list, int own_fd, int common_fd, bool is_file,
    struct str prefix, struct err *err)
{
    bool two = !same_dir(own_fd, common_fd);
    struct part shared = {.fd = copy_list_keep(list, common_fd, err), .prefix = prefix};
    if (shared.fd < 0)
        return false;
    shared.linked = two;
    shared.from_file = is_file;
    shared.over_fd = two && is_file ? own_fd : -1;
    if (!take_part(list, &shared, err))
        return false;
    if (!two || !is_file)
        return true;
    struct part own = {
        .fd = copy_list_keep(list, own_fd, err), .prefix = prefix, .own = true, .over_fd = -1};
    return own.fd >= 0 && take_part(list, &own, err);
}

bool copy_git(struct copy_list *list, int dir_fd, struct str prefix, struct err *err)
{
    struct stat st;
    struct str name = copy_list_join(list, prefix, STR(".git"));
    if (fstatat(dir_fd, ".git", &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT || err_errno(err, E_IO, errno, "cannot look at '%s'", name.p);
    if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)) {
        copy_list_note(list, name, "is no directory of git's, and no file that names one");
        return true;
    }
    AUTO_FD int own = -1, common = -1;
    if (!gitdir_open_own(dir_fd, &own, err) || !gitdir_open_common(dir_fd, &common, err))
        return false;
    if (own < 0 || common < 0 || !gitdir_is_repository(dir_fd)) {
        copy_list_note(list, name, "leads to no repository");
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
           take_parts(list, own, common, S_ISREG(st.st_mode), inside, err);
}
