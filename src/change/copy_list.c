/* Collects the files to copy. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "change/copy_list.h"

#include "base/grow.h"
#include "change/delta.h"
#include "path/beneath.h"
#include "path/gitdir.h"
#include "path/walk.h"
#include "repo/tracked.h"

#include <errno.h>
#include <fcntl.h>

void copy_list_done(struct copy_list *list)
{
    for (size_t i = 0; i < list->n_sources; i++)
        close(list->sources[i]);
    free(list->jobs);
    free(list->dirs);
    arena_done(&list->arena);
}

void copy_report_note(struct copy_report *r, struct str path, const char *why)
{
    size_t i = r->n_notes++;
    if (i >= COPY_NOTES_MAX || arena_left(&r->arena) < path.n + 64)
        return;
    if (!r->notes)
        r->notes = ARENA_NEW(&r->arena, struct copy_note, COPY_NOTES_MAX);
    r->notes[i] = (struct copy_note){arena_str(&r->arena, path), why};
}

void copy_list_note(struct copy_list *list, struct str path, const char *why)
{
    copy_report_note(list->report, path, why);
}

int copy_list_keep(struct copy_list *list, int fd, struct err *err)
{
    if (list->n_sources == COPY_SOURCES_MAX) {
        err_set(err, E_IO, "the project has more than %d git directories", COPY_SOURCES_MAX);
        return -1;
    }
    int kept = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (kept < 0)
        err_errno(err, E_IO, errno, "cannot duplicate the file descriptor of a directory");
    else
        list->sources[list->n_sources++] = kept;
    return kept;
}

struct str copy_list_join(struct copy_list *list, struct str prefix, struct str path)
{
    char *joined = arena_alloc(&list->arena, prefix.n + path.n + 1);
    if (prefix.n)
        memcpy(joined, prefix.p, prefix.n);
    memcpy(joined + prefix.n, path.p, path.n);
    return str_n(joined, prefix.n + path.n);
}

bool copy_list_add(struct copy_list *list, int from_fd, struct str from, struct str to,
    const struct stat *st, struct err *err)
{
    const struct copy_options *o = list->options;
    size_t files_max = o->files_max ? o->files_max : COPY_FILES_MAX;
    uint64_t bytes_max = o->bytes_max ? o->bytes_max : COPY_BYTES_MAX;
    uint64_t size = S_ISREG(st->st_mode) ? (uint64_t)st->st_size : 0;
    if (list->n_jobs == files_max)
        return err_set(err, E_IO, "the project has more than %zu files", files_max);
    if (size > bytes_max - list->bytes)
        return err_set(err, E_IO, "the project has more than %llu bytes: '%s' exceeds the limit",
            (unsigned long long)bytes_max, to.p);
    GROW(list->jobs, list->n_jobs, list->cap_jobs, files_max);
    list->bytes += size;
    list->jobs[list->n_jobs++] = (struct copy_job){
        .from_fd = from_fd, .from = from, .to = to, .mode = st->st_mode, .size = size};
    return true;
}

bool copy_list_add_dir(
    struct copy_list *list, struct str to, const struct stat *st, struct err *err)
{
    if (list->n_dirs == COPY_FILES_MAX)
        return err_set(err, E_IO, "the project has more than %d directories", COPY_FILES_MAX);
    GROW(list->dirs, list->n_dirs, list->cap_dirs, COPY_FILES_MAX);
    list->dirs[list->n_dirs++] =
        (struct copy_dir){.to = to, .mode = st->st_mode & 07777, .mtime = st->st_mtim};
    return true;
}

static bool copy_list_add_entry(struct copy_list *list, int root_fd, struct walk *w,
    const struct walk_entry *e, struct err *err)
{
    struct stat st;
    if (str_is(e->name, ".git")) {
        walk_skip(w);
        struct str prefix = str_head(e->path, e->path.n - e->name.n);
        return prefix.n == 0 || copy_git(list, e->dir_fd, prefix, err);
    }
    if (fstatat(e->dir_fd, e->name.p, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return true; /* deleted since */
    const struct copy_options *o = list->options;
    if (o->left_out_ino && st.st_ino == o->left_out_ino && st.st_dev == o->left_out_dev) {
        walk_skip(w);
        return true;
    }
    struct str path = arena_str(&list->arena, e->path);
    if (S_ISDIR(st.st_mode))
        return copy_list_add_dir(list, path, &st, err);
    if (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode))
        return copy_list_add(list, root_fd, path, path, &st, err);
    copy_list_note(list, path,
        S_ISSOCK(st.st_mode)   ? "is a socket"
        : S_ISFIFO(st.st_mode) ? "is a named pipe"
                               : "is a device");
    return true;
}

static bool copy_list_add_all(struct copy_list *list, int root_fd, struct err *err)
{
    AUTO_WALK struct walk *w = NULL;
    AUTO_WALK_PROBLEMS struct walk_problems problems = {0};
    struct walk_options options = {
        .ignore = !list->options->include_ignored, .all_names = true, .problems = &problems};
    const struct walk_entry *e;
    if (!walk_open(root_fd, &options, &w, err))
        return false;
    for (;;) {
        if (!walk_next(w, &e, err))
            return false;
        if (!e)
            break;
        if (!copy_list_add_entry(list, root_fd, w, e, err))
            return false;
    }
    for (size_t i = 0; i < problems.n; i++)
        copy_list_note(list, str_z(i < WALK_PROBLEMS_KEPT ? problems.kept[i].path : ""),
            "is a directory that cannot be read");
    return true;
}

/* Tracked files that an ignore rule hides ----------------------------------------------------- */

static bool add_parents(struct copy_list *list, int root_fd, struct str path, struct err *err)
{
    for (size_t i = 1; i < path.n; i++) {
        struct stat st;
        if (path.p[i] != '/')
            continue;
        struct str dir = arena_str(&list->arena, str_head(path, i));
        AUTO_FD int fd = beneath_open(root_fd, dir.p, O_PATH | O_DIRECTORY, 0, BENEATH_NO_SYMLINKS);
        if (fd >= 0 && fstat(fd, &st) == 0 && !copy_list_add_dir(list, dir, &st, err))
            return false;
    }
    return true;
}

static bool copy_list_add_tracked_path(
    struct copy_list *list, int root_fd, struct str path, struct err *err)
{
    struct stat st;
    AUTO_FD int fd = beneath_open(root_fd, path.p, O_PATH | O_NOFOLLOW, 0, BENEATH_NO_SYMLINKS);
    if (fd < 0 || fstat(fd, &st) != 0 || !(S_ISREG(st.st_mode) || S_ISLNK(st.st_mode)))
        return true; /* deleted from the work tree, or no longer a file */
    struct str kept = arena_str(&list->arena, path);
    if (delta_is_git(path))
        return true;
    return add_parents(list, root_fd, path, err) &&
           copy_list_add(list, root_fd, kept, kept, &st, err);
}

static int compare_from(const void *a, const void *b)
{
    return str_cmp(((const struct copy_job *)a)->from, ((const struct copy_job *)b)->from);
}

/* The n jobs starting at `first` come from the walk, sorted by path. */
static bool copy_list_add_tracked(struct copy_list *list, int root_fd, const struct copy_tree *tree,
    size_t first, size_t n, struct err *err)
{
    AUTO_TRACKED struct tracked t = {0};
    AUTO_ERR struct err why = {0};
    if (!tracked_read(tree->git_fd, &t, &why))
        copy_list_note(list, copy_list_join(list, tree->prefix, STR(".git/index")),
            "cannot be read: files that are both tracked and ignored by git are omitted");
    for (size_t i = 0; i < t.n; i++) {
        if (!str_starts_with(t.paths[i], tree->above))
            continue;
        struct str path = str_skip(t.paths[i], tree->above.n);
        struct copy_job key = {.from = copy_list_join(list, tree->prefix, path)};
        bool listed = n && bsearch(&key, list->jobs + first, n, sizeof(key), compare_from);
        if (!listed && !copy_list_add_tracked_path(list, root_fd, key.from, err))
            return false;
    }
    return true;
}

static bool copy_list_add_all_tracked(
    struct copy_list *list, int root_fd, size_t first, size_t end, struct err *err)
{
    for (size_t i = 0; i < list->n_trees; i++)
        if (!copy_list_add_tracked(list, root_fd, &list->trees[i], first, end - first, err))
            return false;
    return true;
}

/* Moves jobs of nested git directories, which are interleaved, behind the project's own. */
static size_t gather_own(struct copy_list *list, int root_fd, size_t first)
{
    size_t n = list->n_jobs - first, own = 0, other = 0;
    AUTO_FREE struct copy_job *rest = base_alloc((n + 1) * sizeof(*rest));
    for (size_t i = first; i < list->n_jobs; i++) {
        if (list->jobs[i].from_fd == root_fd)
            list->jobs[first + own++] = list->jobs[i];
        else
            rest[other++] = list->jobs[i];
    }
    if (other)
        memcpy(list->jobs + first + own, rest, other * sizeof(*rest));
    return first + own;
}

/* If the project is a subdirectory of a work tree, the index is that of the whole work tree. */
static bool find_above(struct copy_list *list, int root_fd, struct err *err)
{
    AUTO_FREE char *name = beneath_name(root_fd);
    AUTO_FD int at = fcntl(root_fd, F_DUPFD_CLOEXEC, 3);
    if (gitdir_present(root_fd) || !name || name[0] != '/' || at < 0)
        return true;
    struct str path = str_z(name);
    for (ptrdiff_t n = str_find_last(path, '/'); n >= 0;
         n = str_find_last(str_head(path, (size_t)n), '/')) {
        AUTO_FD int git = -1;
        int up = openat(at, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        close(at);
        at = up;
        if (at < 0)
            return true; /* no permission */
        if (!gitdir_present(at))
            continue;
        if (!gitdir_is_repository(at) || !gitdir_open_own(at, &git, err) || git < 0)
            return err->code == ERR_NONE;
        int kept = copy_list_keep(list, git, err);
        if (kept < 0)
            return false;
        list->trees[list->n_trees++] = (struct copy_tree){.prefix = STR(""),
            .above = copy_list_join(list, str_skip(path, (size_t)n + 1), STR("/")),
            .git_fd = kept};
        return true;
    }
    return true;
}

bool copy_list_project(struct copy_list *list, int project_fd, struct err *err)
{
    int root_fd = copy_list_keep(list, project_fd, err);
    if (root_fd < 0 || !copy_git(list, root_fd, STR(""), err) || !find_above(list, root_fd, err))
        return false;
    size_t first = list->n_jobs;
    if (!copy_list_add_all(list, root_fd, err))
        return false;
    size_t end = gather_own(list, root_fd, first);
    return list->options->include_ignored ||
           copy_list_add_all_tracked(list, root_fd, first, end, err);
}
