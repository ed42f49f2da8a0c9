/* Path resolution component by component. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/descend.h"

#include "base/base.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

enum {
    LINKS_MAX = 40,
    COMPONENT_MAX = NAME_MAX + 1,
    STEP = O_PATH | O_NOFOLLOW | O_CLOEXEC,
};

struct descend_way {
    const struct descend_how *how;
    int start;              /* borrowed; -1: "/" */
    int at;                 /* current directory */
    char done[PATH_MAX];    /* path from the start: names of directories only */
    char rest[2][PATH_MAX]; /* remaining path, alternating: a symlink's target is prepended to it */
    unsigned turn;
    const char *left;
    int links;
};

static bool descend_fail(int errnum)
{
    errno = errnum;
    return false;
}

static bool descend_restart(struct descend_way *w)
{
    if (w->at >= 0)
        close(TAKE_FD(w->at));
    w->at =
        w->start >= 0 ? openat(w->start, ".", STEP | O_DIRECTORY) : open("/", STEP | O_DIRECTORY);
    return w->at >= 0;
}

/* Gets the next name; returns false at the end. A trailing slash counts as more: then the name must
 * be a directory. */
static bool descend_next(struct descend_way *w, char name[COMPONENT_MAX], bool *ret_last)
{
    while (*w->left == '/')
        w->left++;
    size_t n = strcspn(w->left, "/");
    errno = 0;
    if (n == 0)
        return false;
    if (n >= COMPONENT_MAX)
        return descend_fail(ENAMETOOLONG);
    memcpy(name, w->left, n);
    name[n] = '\0';
    w->left += n;
    *ret_last = *w->left == '\0';
    return true;
}

static bool descend_enter(struct descend_way *w, const char *name)
{
    int fd = openat(w->at, name, STEP | O_DIRECTORY);
    if (fd < 0)
        return false;
    close(w->at);
    w->at = fd;
    return true;
}

static bool descend_down(struct descend_way *w, const char *name)
{
    size_t had = strlen(w->done), n = strlen(name);
    if (had + n + 2 > sizeof(w->done))
        return descend_fail(ENAMETOOLONG);
    if (!descend_enter(w, name))
        return false;
    w->done[had] = '/';
    memcpy(w->done + had + 1, name, n + 1);
    return true;
}

static bool descend_up(struct descend_way *w)
{
    char name[COMPONENT_MAX];
    char *last = strrchr(w->done, '/');
    if (!last)
        return w->how->beneath ? descend_fail(EXDEV) : true;
    *last = '\0';
    if (!descend_restart(w))
        return false;
    for (const char *p = w->done; *p; p += strlen(name) + 1) {
        size_t n = strcspn(p + 1, "/");
        memcpy(name, p + 1, n);
        name[n] = '\0';
        if (!descend_enter(w, name))
            return false;
    }
    return true;
}

/* Magic links of /proc, which are not text but refer to an object. */
static bool descend_is_magic(const struct descend_way *w, const char *target)
{
    struct statfs fs;
    bool in_proc = fstatfs(w->at, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
    return in_proc && (target[0] == '/' || strchr(target, ':'));
}

/* errnum: the reason why the name could not be opened, used if it is not a symlink. */
static bool descend_follow(struct descend_way *w, const char *name, int errnum)
{
    char target[PATH_MAX], *rest = w->rest[w->turn ^= 1];
    ssize_t n = readlinkat(w->at, name, target, sizeof(target) - 1);
    if (n < 0)
        return descend_fail(errnum);
    target[n] = '\0';
    if (w->how->no_symlinks || ++w->links > LINKS_MAX || descend_is_magic(w, target))
        return descend_fail(ELOOP);
    if (n == 0)
        return descend_fail(ENOENT);
    if (target[0] == '/' && w->how->beneath)
        return descend_fail(EXDEV);
    size_t left = strlen(w->left);
    if ((size_t)n + left + 1 > PATH_MAX)
        return descend_fail(ENAMETOOLONG);
    memcpy(rest, target, (size_t)n);
    memcpy(rest + n, w->left, left + 1);
    w->left = rest;
    if (target[0] != '/')
        return true;
    w->done[0] = '\0';
    w->start = -1;
    return descend_restart(w);
}

/* Opens the last name with the requested flags. Returns a descriptor, or -1; -1 and errno 0: a
 * symlink was followed. */
static int open_last(struct descend_way *w, const char *name)
{
    const struct descend_how *how = w->how;
    struct stat st;
    int fd = openat(w->at, name, how->flags | O_NOFOLLOW | O_CLOEXEC, how->mode), errnum = errno;
    if (how->flags & O_NOFOLLOW)
        return fd;
    if (fd >= 0 && (!(how->flags & O_PATH) || (fstat(fd, &st) == 0 && !S_ISLNK(st.st_mode))))
        return fd;
    if (fd >= 0) {
        close(fd);
        errnum = ELOOP;
    }
    if (errnum != ELOOP && errnum != ENOTDIR) {
        errno = errnum;
        return -1;
    }
    if (descend_follow(w, name, errnum))
        errno = 0;
    return -1;
}

static bool descend_step(struct descend_way *w, const char *name)
{
    if (strcmp(name, ".") == 0)
        return true;
    if (strcmp(name, "..") == 0)
        return descend_up(w);
    return descend_down(w, name) || (errno == ENOTDIR && descend_follow(w, name, ENOTDIR));
}

static int descend_walk(struct descend_way *w)
{
    char name[COMPONENT_MAX];
    bool last = false;
    while (descend_next(w, name, &last)) {
        bool dots = strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
        if (!last && !dots && w->how->flags & O_CREAT && w->left[strspn(w->left, "/")] == '\0') {
            errno = EISDIR;
            return -1;
        }
        if (last && !dots) {
            int fd = open_last(w, name);
            if (fd >= 0 || errno)
                return fd;
        } else if (!descend_step(w, name)) {
            return -1;
        }
    }
    if (errno)
        return -1;
    return openat(w->at, ".", w->how->flags | O_CLOEXEC, w->how->mode);
}

int descend(int dir_fd, const char *path, const struct descend_how *how)
{
    struct descend_way w = {.how = how, .start = dir_fd, .at = -1};
    size_t n = strlen(path);
    errno = n == 0                           ? ENOENT
            : n >= PATH_MAX                  ? ENAMETOOLONG
            : path[0] == '/' && how->beneath ? EXDEV
                                             : 0;
    if (errno)
        return -1;
    memcpy(w.rest[0], path, n + 1);
    w.left = w.rest[0];
    if (path[0] == '/')
        w.start = -1;
    int fd = descend_restart(&w) ? descend_walk(&w) : -1, errnum = errno;
    if (w.at >= 0)
        close(w.at);
    errno = errnum;
    return fd;
}
