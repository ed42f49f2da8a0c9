/* Path resolution through the boundary's roots: one openat2() call if the kernel accepts the path,
 * otherwise step by step. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/follow.h"

#include "base/buf.h"
#include "path/beneath.h"
#include "path/lexical.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <sys/vfs.h>

enum {
    LINKS_MAX = 40, /* same as the kernel's limit */
};

/* A path being resolved: in `root` at `rel` (free of symlinks) with `here` open; `todo` is the
 * remaining path. After a missing component the rest is only text: `missing` counts its
 * components. */
struct follow {
    struct boundary *b;
    struct str path; /* as given, for messages */
    struct arena *a;
    const struct boundary_root *root;
    int here;
    bool at_dir;      /* here is a directory */
    bool must_be_dir; /* the path, or a symlink at its end, ended in a slash */
    struct buf rel;
    struct buf todo;
    size_t missing;
    size_t links;
};

static void follow_done(struct follow *f)
{
    if (f->here >= 0)
        close(f->here);
    buf_done(&f->rel);
    buf_done(&f->todo);
}

/* The root that determines the result: the one with the longest path, a system directory only if no
 * other root contains it; the first of equals. */
static const struct boundary_root *follow_root_of(const struct boundary *b, struct str absolute)
{
    const struct boundary_root *best[2] = {NULL, NULL};
    for (size_t i = 0; i < b->n_roots; i++) {
        const struct boundary_root *root = &b->roots[i];
        bool system = root->class == BOUNDARY_SYSTEM_RESTRICTED;
        if (lexical_is_below(root->path, absolute) &&
            (!best[system] || root->path.n > best[system]->path.n))
            best[system] = root;
    }
    return best[0] ? best[0] : best[1];
}

/* The first accessible root, for messages. */
static const char *follow_accessible_root(const struct boundary *b)
{
    for (size_t i = 0; i < b->n_roots; i++)
        if (b->roots[i].access != BOUNDARY_NONE)
            return b->roots[i].path.p;
    return "(nothing)";
}

/* Outside, or in a root without access. Does not reveal the targets of symlinks outside. */
static bool follow_violation(const struct follow *f, struct str led_to, struct err *err)
{
    const struct boundary_root *root = follow_root_of(f->b, led_to);
    enum boundary_class class = root ? root->class : boundary_class_of(led_to);
    const char *inside = follow_accessible_root(f->b);
    if (str_eq(f->path, led_to))
        err_set(err, E_FS_VIOLATION, "'" STR_FMT "' is outside the boundary '%s'", STR_ARG(f->path),
            inside);
    else
        err_set(err, E_FS_VIOLATION,
            "'" STR_FMT "' is outside the boundary '%s': it leads to '" STR_FMT "'",
            STR_ARG(f->path), inside, STR_ARG(led_to));
    err_ctx(err, "path", STR_FMT, STR_ARG(f->path));
    err_ctx(err, "resolved", STR_FMT, STR_ARG(led_to));
    err_ctx(err, "class", "%s", boundary_class_name(class));
    return err_ctx(err, "access", "%s", boundary_access_name(BOUNDARY_NONE));
}

static bool io_error(const struct follow *f, int errnum, struct err *err)
{
    err_errno(err, E_IO, errnum, "cannot resolve '" STR_FMT "'", STR_ARG(f->path));
    return err_ctx(err, "path", STR_FMT, STR_ARG(f->path));
}

/* Fills in the deciding root, the path and the path below that root. */
static void follow_set_result(const struct follow *f, struct str absolute, struct resolved *ret)
{
    ret->root = follow_root_of(f->b, absolute);
    BUG_ON(!ret->root);
    ret->path = arena_str(f->a, absolute);
    ret->rel = lexical_rest(ret->root->path, ret->path);
}

/* Only names, separated by single slashes. */
static bool follow_is_plain(struct str rest)
{
    struct str part;
    while (str_cut(rest, '/', &part, &rest))
        if (part.n == 0 || str_is(part, ".") || str_is(part, ".."))
            return false;
    return true;
}

/* Fast path: a plain path without symlinks is its own result, so its name need not be looked up. */
static bool follow_plain(const struct follow *f, const struct boundary_root *root,
    struct str absolute, struct resolved *ret)
{
    struct str rest = lexical_rest(root->path, absolute);
    struct resolved r = {.exists = true};
    if (rest.n == 0 || rest.p[rest.n - 1] == '/' || !follow_is_plain(rest))
        return false;
    AUTO_FD int fd = beneath_open(root->fd, rest.p, O_PATH | O_NOFOLLOW, 0, BENEATH_NO_SYMLINKS);
    if (fd < 0 || fstat(fd, &r.st) != 0 || S_ISLNK(r.st.st_mode))
        return false;
    follow_set_result(f, absolute, &r);
    *ret = r;
    return true;
}

/* The whole path in one call. Returns false and sets errno if the kernel did not accept it. */
static bool follow_at_once(
    const struct follow *f, const struct boundary_root *root, struct str rest, struct resolved *ret)
{
    AUTO_FD int fd = beneath_open(root->fd, rest.n ? rest.p : ".", O_PATH, 0, 0);
    if (fd < 0)
        return false;
    struct resolved r = {.exists = true};
    AUTO_FREE char *name = fstat(fd, &r.st) == 0 ? beneath_name(fd) : NULL;
    if (!name || !follow_root_of(f->b, str_z(name))) {
        errno = EAGAIN; /* moved or removed since: let the slow path decide */
        return false;
    }
    follow_set_result(f, str_z(name), &r);
    *ret = r;
    return true;
}

/* The path as the kernel resolves it from outside, following symlinks as far as it exists: only to
 * find out whether it leads into a root after all. Nothing there is opened for use. */
static struct str seen_from_outside(struct follow *f, struct str clean)
{
    char *head = arena_strdup(f->a, clean);
    for (size_t n = clean.n; n > 1; n = (size_t)MAX(str_find_last(str_n(head, n), '/'), 0)) {
        head[n] = '\0';
        AUTO_FD int fd = n < PATH_MAX ? beneath_peek(head) : -1;
        AUTO_FREE char *name = fd >= 0 ? beneath_name(fd) : NULL;
        if (name)
            return str_z(arena_printf(f->a, "%s%s", name, clean.p + n));
    }
    return clean;
}

static bool follow_count_link(struct follow *f, struct err *err)
{
    return ++f->links <= LINKS_MAX ? true : io_error(f, ELOOP, err);
}

static void todo_set(struct follow *f, struct str text)
{
    struct str copy = arena_str(f->a, text); /* it may point into todo itself */
    buf_reset(&f->todo);
    buf_add_str(&f->todo, copy);
}

/* Restarts with an absolute path, in the root that contains it. */
static bool follow_restart(struct follow *f, struct str absolute, struct err *err)
{
    if (absolute.n > LEXICAL_MAX || arena_left(f->a) < 5 * absolute.n + 2 * PATH_MAX)
        return io_error(f, ENAMETOOLONG, err);
    const struct boundary_root *root = follow_root_of(f->b, absolute);
    if (!root) {
        struct str clean = lexical_absolute(f->a, STR("/"), absolute);
        absolute = follow_root_of(f->b, clean) ? clean : seen_from_outside(f, clean);
        root = follow_root_of(f->b, absolute);
        if (!root)
            return follow_violation(f, clean, err);
        if (!follow_count_link(f, err))
            return false;
    }
    int here = fcntl(root->fd, F_DUPFD_CLOEXEC, 0);
    if (here < 0)
        return io_error(f, errno, err);
    if (f->here >= 0)
        close(f->here);
    f->here = here;
    f->at_dir = true;
    f->root = root;
    f->missing = 0;
    buf_reset(&f->rel);
    todo_set(f, lexical_rest(root->path, absolute));
    return true;
}

static void rel_push(struct follow *f, struct str component)
{
    if (f->rel.n)
        buf_add_byte(&f->rel, '/');
    buf_add_str(&f->rel, component);
}

static void rel_pop(struct follow *f)
{
    ptrdiff_t slash = str_find_last(buf_str(&f->rel), '/');
    buf_truncate(&f->rel, slash < 0 ? 0 : (size_t)slash);
}

/* "..": reopens the parent from the root without symlinks; leaves the root if already at its
 * top. */
static bool step_up(struct follow *f, struct err *err)
{
    if (f->missing) {
        f->missing--;
        rel_pop(f);
        return true;
    }
    if (f->rel.n == 0 && f->root->path.n == 1)
        return true; /* the parent of / is / */
    if (f->rel.n == 0) {
        struct str root = f->root->path;
        struct str parent = str_head(root, (size_t)MAX(str_find_last(root, '/'), 0));
        const char *up = arena_printf(f->a, STR_FMT "/%s", STR_ARG(parent), buf_z(&f->todo));
        return follow_count_link(f, err) && follow_restart(f, str_z(up), err);
    }
    rel_pop(f);
    const char *rel = f->rel.n ? buf_z(&f->rel) : ".";
    int up = beneath_open(f->root->fd, rel, O_PATH | O_DIRECTORY, 0, BENEATH_NO_SYMLINKS);
    if (up < 0)
        return io_error(f, errno, err);
    close(f->here);
    f->here = up;
    f->at_dir = true;
    return true;
}

/* A symlink: prepends its target to the remaining path. */
static bool step_link(struct follow *f, int link, struct err *err)
{
    char target[PATH_MAX + 1];
    ssize_t n = readlinkat(link, "", target, sizeof(target) - 1);
    if (n <= 0)
        return io_error(f, n == 0 ? ENOENT : errno, err);
    target[n] = '\0';
    if (!follow_count_link(f, err))
        return false;
    if (f->todo.n + (size_t)n > LEXICAL_MAX || arena_left(f->a) < 3 * LEXICAL_MAX)
        return io_error(f, ENAMETOOLONG, err);
    if (f->todo.n == 0 && target[n - 1] == '/')
        f->must_be_dir = true;
    struct str todo = str_z(arena_printf(f->a, "%s/%s", target, buf_z(&f->todo)));
    if (target[0] == '/')
        return follow_restart(f, todo, err);
    todo_set(f, todo);
    return true;
}

/* A magic link of /proc (root, cwd, fd), which does not resolve by its text: never followed. */
static bool follow_is_magic(const struct follow *f, int link, const char *name)
{
    struct statfs fs;
    if (fstatfs(link, &fs) != 0 || fs.f_type != PROC_SUPER_MAGIC)
        return false;
    AUTO_FD int through = beneath_open(f->here, name, O_PATH, 0, 0);
    return through < 0 && errno == ELOOP;
}

static bool step_down(struct follow *f, struct str component, struct err *err)
{
    char name[NAME_MAX + 1];
    if (component.n > NAME_MAX)
        return io_error(f, ENAMETOOLONG, err);
    memcpy(name, component.p, component.n);
    name[component.n] = '\0';
    AUTO_FD int fd = f->missing ? -1 : beneath_open(f->here, name, O_PATH | O_NOFOLLOW, 0, 0);
    if (fd < 0) {
        if (!f->missing && errno != ENOENT)
            return io_error(f, errno, err);
        f->missing++;
        rel_push(f, component);
        return true;
    }
    struct stat st;
    if (fstat(fd, &st) != 0)
        return io_error(f, errno, err);
    if (S_ISLNK(st.st_mode) && follow_is_magic(f, fd, name)) {
        const char *at = arena_printf(f->a, "%s/%s/%s", f->root->path.p, buf_z(&f->rel), name);
        return follow_violation(f, lexical_absolute(f->a, STR("/"), str_z(at)), err);
    }
    if (S_ISLNK(st.st_mode))
        return step_link(f, fd, err);
    close(f->here);
    f->here = TAKE_FD(fd);
    f->at_dir = S_ISDIR(st.st_mode);
    rel_push(f, component);
    return true;
}

static bool follow_step(struct follow *f, struct str component, struct err *err)
{
    bool dot = str_is(component, "."), up = str_is(component, "..");
    if ((dot || up) && !f->missing && !f->at_dir)
        return io_error(f, ENOTDIR, err);
    if (dot)
        return true;
    return up ? step_up(f, err) : step_down(f, component, err);
}

/* Resolves the remaining path, one component at a time. */
static bool follow_steps(struct follow *f, struct err *err)
{
    /* Each symlink adds at most LEXICAL_MAX components, and there are at most LINKS_MAX of them. */
    for (;;) {
        struct str rest = buf_str(&f->todo), component;
        if (!lexical_next(&rest, &component))
            return true;
        char name[NAME_MAX + 2];
        size_t n = MIN(component.n, sizeof(name) - 1);
        memcpy(name, component.p, n);
        memmove(f->todo.p, rest.p, rest.n);
        buf_truncate(&f->todo, rest.n);
        if (!follow_step(f, str_n(name, n), err))
            return false;
    }
}

static bool follow_slowly(
    struct follow *f, struct str absolute, struct resolved *ret, struct err *err)
{
    f->must_be_dir = absolute.p[absolute.n - 1] == '/';
    if (!follow_restart(f, absolute, err) || !follow_steps(f, err))
        return false;
    struct resolved r = {.exists = f->missing == 0};
    if (r.exists && fstat(f->here, &r.st) != 0)
        return io_error(f, errno, err);
    if (r.exists && f->must_be_dir && !S_ISDIR(r.st.st_mode))
        return io_error(f, ENOTDIR, err);
    struct str root = str_trim_end(f->root->path, '/');
    const char *path = arena_printf(f->a, STR_FMT "/%s", STR_ARG(root), buf_z(&f->rel));
    follow_set_result(f, f->rel.n ? str_z(path) : f->root->path, &r);
    *ret = r;
    return true;
}

static bool follow_check_text(struct str path, struct err *err)
{
    const char *wrong = NULL;
    if (path.n == 0)
        wrong = "the path is empty";
    else if (str_find(path, '\0') >= 0)
        wrong = "the path contains a NUL byte";
    if (wrong)
        return err_set(err, E_CLI_INVALID_ARG, "%s", wrong);
    if (path.n > LEXICAL_MAX / 4)
        return err_set(err, E_IO, "a path is longer than %d bytes", LEXICAL_MAX / 4);
    if (path.p[0] != '~')
        return true;
    err_set(err, E_FS_VIOLATION,
        "'" STR_FMT
        "' starts with '~', the home directory, which is outside the boundary; for a file "
        "of that name use './" STR_FMT "'",
        STR_ARG(path), STR_ARG(path));
    err_ctx(err, "path", STR_FMT, STR_ARG(path));
    err_ctx(err, "class", "%s", boundary_class_name(BOUNDARY_OUTSIDE));
    return err_ctx(err, "access", "%s", boundary_access_name(BOUNDARY_NONE));
}

bool boundary_resolve(struct boundary *b, struct str path, struct arena *a,
    struct resolved *ret_resolved, struct err *err)
{
    BUG_ON(b->n_roots == 0);
    if (!follow_check_text(path, err))
        return false;
    AUTO_ARENA struct arena scratch = ARENA_INIT((LINKS_MAX + 4) * 8 * LEXICAL_MAX);
    AUTO(follow_done)
    struct follow f = {
        .b = b,
        .path = path,
        .a = &scratch,
        .here = -1,
        .rel = BUF_INIT(2 * LEXICAL_MAX),
        .todo = BUF_INIT(2 * LEXICAL_MAX),
    };
    const char *base = b->base ? b->base : b->roots[0].path.p;
    struct str absolute = path.p[0] == '/'
                              ? arena_str(&scratch, path)
                              : str_z(arena_printf(&scratch, "%s/" STR_FMT, base, STR_ARG(path)));
    const struct boundary_root *root = follow_root_of(b, absolute);
    struct resolved r;
    bool found = root && (follow_plain(&f, root, absolute, &r) ||
                             follow_at_once(&f, root, lexical_rest(root->path, absolute), &r));
    if (!found && !follow_slowly(&f, absolute, &r, err))
        return false;
    if (r.root->access == BOUNDARY_NONE)
        return follow_violation(&f, r.path, err);
    r.path = arena_str(a, r.path);
    r.rel = str_skip(r.path, r.path.n - r.rel.n);
    *ret_resolved = r;
    return true;
}
