/* Careful lookups on the host. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/outside.h"

#include "path/lexical.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>

enum {
    OUTSIDE_LINKS_MAX = 16,
    CHUNK = 16 * 1024,
    FIELD_POINT = 4, /* of mountinfo, from 0 */
};

/* Mounts -------------------------------------------------------------------------------------- */

static bool is_local(struct str type)
{
    static const char *const types[] = {"ext2", "ext3", "ext4", "xfs", "btrfs", "bcachefs", "zfs",
        "f2fs", "jfs", "reiserfs", "tmpfs", "ramfs", "devtmpfs", "overlay", "aufs", "squashfs",
        "erofs", "vfat", "exfat", "ntfs3", "iso9660", "udf", "rootfs"};
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (str_is(type, types[i]))
            return true;
    return false;
}

static unsigned octal(const char *p)
{
    return (unsigned)((p[0] - '0') << 6 | (p[1] - '0') << 3 | (p[2] - '0'));
}

/* "36 35 98:0 /root /point options - type source options": blanks in it are \040 and the like. */
void outside_add_mount(struct outside *o, struct str line)
{
    struct str word = {0}, point = {0}, rest = line, type = {0};
    for (size_t i = 0; rest.n && str_cut(rest, ' ', &word, &rest); i++) {
        if (i == FIELD_POINT)
            point = word;
        if (i > FIELD_POINT && str_is(word, "-")) {
            (void)str_cut(rest, ' ', &type, &rest);
            break;
        }
    }
    if (!point.n || is_local(type))
        return;
    if (o->n + point.n + 1 > sizeof(o->mounts)) {
        o->too_many = true;
        return;
    }
    for (size_t i = 0; i < point.n; i++) {
        bool escaped = point.p[i] == '\\' && i + 3 < point.n;
        o->mounts[o->n++] = escaped ? (char)octal(point.p + i + 1) : point.p[i];
        i += escaped ? 3 : 0;
    }
    o->mounts[o->n++] = '\0';
}

static void outside_read_mounts(struct outside *o)
{
    char bytes[CHUNK];
    size_t have = 0;
    AUTO_FD int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
    o->read = true;
    o->too_many = fd < 0;
    for (ssize_t n; !o->too_many && (n = read(fd, bytes + have, sizeof(bytes) - have)) > 0;) {
        struct str line, rest = str_n(bytes, have + (size_t)n);
        ptrdiff_t end;
        while ((end = str_find(rest, '\n')) >= 0) {
            line = str_head(rest, (size_t)end);
            rest = str_skip(rest, (size_t)end + 1);
            outside_add_mount(o, line);
        }
        have = rest.n;
        memmove(bytes, rest.p, have);
        o->too_many |= have == sizeof(bytes);
    }
}

static bool outside_is_foreign(const struct outside *o, const char *path)
{
    for (size_t at = 0; at < o->n; at += strlen(o->mounts + at) + 1)
        if (strcmp(o->mounts + at, path) == 0)
            return true;
    return false;
}

/* Walking ------------------------------------------------------------------------------------- */

struct outside_walk {
    char done[PATH_MAX]; /* without symlinks; "" is the root */
    size_t n;
    char rest[2 * PATH_MAX];
    int fd;
    unsigned links;
};

static void outside_walk_close(struct outside_walk *w)
{
    auto_fd(&w->fd);
}

static bool outside_enter(struct outside_walk *w, const char *path)
{
    int fd =
        openat(path[0] ? w->fd : AT_FDCWD, path[0] ? path : "/", O_PATH | O_NOFOLLOW | O_CLOEXEC);
    auto_fd(&w->fd);
    w->fd = fd;
    return fd >= 0;
}

/* Goes back to the root, and continues with the whole path again. */
static bool outside_restart(struct outside_walk *w, const char *target, struct str rest)
{
    char joined[2 * PATH_MAX];
    int n =
        target[0] == '/'
            ? snprintf(joined, sizeof(joined), "%s/" STR_FMT, target, STR_ARG(rest))
            : snprintf(joined, sizeof(joined), "%s/%s/" STR_FMT, w->done, target, STR_ARG(rest));
    if (n < 0 || n >= (int)sizeof(joined) || ++w->links > OUTSIDE_LINKS_MAX)
        return false;
    memcpy(w->rest, joined, (size_t)n + 1);
    w->n = 0;
    w->done[0] = '\0';
    return outside_enter(w, "");
}

/* Removes the last component by restarting without it: ".." of a directory is the host's. */
static bool outside_leave(struct outside_walk *w, struct str rest)
{
    ptrdiff_t slash = str_find_last(str_n(w->done, w->n), '/');
    w->done[MAX(slash, 0)] = '\0';
    w->n = (size_t)MAX(slash, 0);
    return outside_restart(w, ".", rest);
}

/* Takes one component; `rest` follows it. */
static bool outside_step(
    const struct outside *o, struct outside_walk *w, struct str part, struct str *rest)
{
    char name[NAME_MAX + 1], target[PATH_MAX];
    struct stat st;
    if (str_is(part, "."))
        return true;
    if (str_is(part, "..")) {
        bool ok = outside_leave(w, *rest);
        *rest = str_z(w->rest);
        return ok;
    }
    if (part.n > NAME_MAX || w->n + part.n + 2 > sizeof(w->done))
        return false;
    memcpy(name, part.p, part.n);
    name[part.n] = '\0';
    size_t before = w->n;
    w->n += (size_t)snprintf(w->done + w->n, sizeof(w->done) - w->n, "/%s", name);
    if (outside_is_foreign(o, w->done) || !outside_enter(w, name) || fstat(w->fd, &st) != 0)
        return false;
    if (!S_ISLNK(st.st_mode))
        return true;
    ssize_t n = readlinkat(w->fd, "", target, sizeof(target) - 1);
    target[MAX(n, 0)] = '\0';
    w->done[before] = '\0';
    bool ok = n > 0 && outside_restart(w, target, *rest);
    *rest = str_z(w->rest);
    return ok;
}

int outside_open(struct outside *o, const char *path, struct stat *ret_st)
{
    AUTO(outside_walk_close) struct outside_walk w = {.fd = -1};
    size_t n = strlen(path);
    struct str part, rest;
    if (!o->read)
        outside_read_mounts(o);
    if (o->too_many || path[0] != '/' || n >= sizeof(w.rest) || !outside_enter(&w, ""))
        return -1;
    memcpy(w.rest, path, n + 1);
    rest = str_z(w.rest);
    while (lexical_next(&rest, &part))
        if (!outside_step(o, &w, part, &rest))
            return -1;
    return fstat(w.fd, ret_st) == 0 ? base_take_fd(&w.fd) : -1;
}
