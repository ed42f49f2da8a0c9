/* The path boundary: its roots, and opening inside them. Path resolution is in follow.c. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/boundary.h"

#include "path/beneath.h"
#include "path/follow.h"
#include "path/lexical.h"

#include <errno.h>
#include <fcntl.h>

/* At or below these, a path that is in no root is "system_restricted". */
static const char *const system_dirs[] = {
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/proc",
    "/run",
    "/sbin",
    "/sys",
    "/usr",
    "/var",
};

static const char *const class_names[] = {
    [BOUNDARY_AGENT_WORKSPACE] = "agent_workspace",
    [BOUNDARY_USER_PROJECT] = "user_project",
    [BOUNDARY_SYSTEM_RESTRICTED] = "system_restricted",
    [BOUNDARY_OUTSIDE] = "outside_boundaries",
};
static const char *const access_names[] = {
    [BOUNDARY_NONE] = "none",
    [BOUNDARY_RO] = "ro",
    [BOUNDARY_RW] = "rw",
};

const char *boundary_class_name(enum boundary_class class)
{
    BUG_ON(class >= ARRAY_LEN(class_names));
    return class_names[class];
}

const char *boundary_access_name(enum boundary_access access)
{
    BUG_ON(access >= ARRAY_LEN(access_names));
    return access_names[access];
}

enum boundary_class boundary_class_of(struct str absolute)
{
    if (str_starts_with(absolute, STR("/lib"))) /* /lib, /lib64, /libx32 … */
        return BOUNDARY_SYSTEM_RESTRICTED;
    for (size_t i = 0; i < ARRAY_LEN(system_dirs); i++)
        if (lexical_is_below(str_z(system_dirs[i]), absolute))
            return BOUNDARY_SYSTEM_RESTRICTED;
    return BOUNDARY_OUTSIDE;
}

struct boundary *boundary_new(void)
{
    return base_alloc(sizeof(struct boundary));
}

void boundary_free(struct boundary *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < b->n_roots; i++) {
        close(b->roots[i].fd);
        free((char *)b->roots[i].path.p);
    }
    free(b->base);
    free(b);
}

void boundary_auto(struct boundary **b)
{
    boundary_free(*b);
}

/* Takes ownership of the descriptor, also on failure. */
static bool add_root(struct boundary *b, int owned_fd, const char *shown,
    enum boundary_access access, enum boundary_class class, struct err *err)
{
    AUTO_FD int fd = owned_fd;
    if (b->n_roots == BOUNDARY_ROOTS_MAX)
        return err_set(err, E_IO, "more than %d roots", BOUNDARY_ROOTS_MAX);
    char *name = beneath_name(fd);
    if (!name)
        return err_set(err, E_IO,
            "cannot determine the path of '%s' (was it removed, or is /proc not mounted?)", shown);
    b->roots[b->n_roots++] = (struct boundary_root){TAKE_FD(fd), str_z(name), access, class};
    return true;
}

bool boundary_add(struct boundary *b, const char *path, enum boundary_access access,
    enum boundary_class class, struct err *err)
{
    int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return err_errno(err, E_IO, errno, "cannot use '%s' as a directory", path);
    return add_root(b, fd, path, access, class, err);
}

bool boundary_add_fd(struct boundary *b, int fd, enum boundary_access access,
    enum boundary_class class, struct err *err)
{
    int own = openat(fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (own < 0)
        return err_errno(err, E_IO, errno, "cannot use a file descriptor as a directory");
    return add_root(b, own, "the directory", access, class, err);
}

bool boundary_add_system(struct boundary *b, struct err *err)
{
    static const char *const more[] = {"/lib", "/lib32", "/lib64", "/libx32"};
    for (size_t i = 0; i < ARRAY_LEN(system_dirs) + ARRAY_LEN(more); i++) {
        size_t n = ARRAY_LEN(system_dirs);
        const char *dir = i < n ? system_dirs[i] : more[i - n];
        struct stat st;
        /* If /bin is a symlink to /usr/bin, following it leads to the root of /usr. */
        if (lstat(dir, &st) != 0 || !S_ISDIR(st.st_mode))
            continue;
        if (!boundary_add(b, dir, BOUNDARY_RO, BOUNDARY_SYSTEM_RESTRICTED, err))
            return false;
    }
    return true;
}

bool boundary_has_roots(const struct boundary *b)
{
    return b->n_roots > 0;
}

const struct boundary_root *boundary_first_root(const struct boundary *b)
{
    BUG_ON(b->n_roots == 0);
    return &b->roots[0];
}

const struct boundary_root *boundary_last_root(const struct boundary *b)
{
    BUG_ON(b->n_roots == 0);
    return &b->roots[b->n_roots - 1];
}

bool boundary_set_base(struct boundary *b, const char *path, struct err *err)
{
    AUTO_FD int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return err_errno(err, E_IO, errno, "cannot use '%s' as a directory", path);
    char *name = beneath_name(fd);
    if (!name)
        return err_set(err, E_IO,
            "cannot determine the path of '%s' (was it removed, or is /proc not mounted?)", path);
    free(b->base);
    b->base = name;
    return true;
}

static bool check_access(const struct resolved *r, struct str path, int flags, struct err *err)
{
    bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC);
    if (r->root->access >= (writes ? BOUNDARY_RW : BOUNDARY_RO))
        return true;
    err_set(err, E_FS_VIOLATION, "'" STR_FMT "' cannot be %s: its access is '%s'", STR_ARG(path),
        writes ? "written" : "read", boundary_access_name(r->root->access));
    err_ctx(err, "path", STR_FMT, STR_ARG(path));
    err_ctx(err, "resolved", "%s", r->path.p);
    err_ctx(err, "class", "%s", boundary_class_name(r->root->class));
    return err_ctx(err, "access", "%s", boundary_access_name(r->root->access));
}

int boundary_open_resolved(const struct resolved *r, int flags, struct err *err)
{
    BUG_ON((flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE);
    /* The path is free of symlinks: one that is there now was put there since. */
    const char *rel = r->rel.n ? r->rel.p : ".";
    int fd = beneath_open(r->root->fd, rel, flags | O_NOFOLLOW, 0, BENEATH_NO_SYMLINKS);
    if (fd >= 0)
        return fd;
    if (errno == ELOOP || errno == EXDEV) {
        err_set(err, E_FS_VIOLATION, "'%s' was replaced by a link while it was being opened",
            r->path.p);
        err_ctx(err, "path", "%s", r->path.p);
    } else {
        err_errno(err, E_IO, errno, "cannot open '%s'", r->path.p);
    }
    return -1;
}

int boundary_open(struct boundary *b, struct str path, int flags, struct err *err)
{
    AUTO_ARENA struct arena a = ARENA_INIT(4 * LEXICAL_MAX);
    struct resolved r;
    if (!boundary_resolve(b, path, &a, &r, err) || !check_access(&r, path, flags, err))
        return -1;
    return boundary_open_resolved(&r, flags, err);
}
