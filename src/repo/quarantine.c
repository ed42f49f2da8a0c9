/* Sets files aside. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/quarantine.h"

#include "io/file.h"
#include "io/replace.h"
#include "path/beneath.h"
#include "repo/force.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>

enum {
    TRIES = 16,
    BYTES_MAX = 1 << 20,
    BESIDE_MAX = NAME_MAX - 32, /* bytes of a name that gets two suffixes */
};

/* Opens the directory of a part, whose name may have leading directories. */
static int quarantine_open_parent(int dir, const char *part, const char **ret_name)
{
    char parent[PATH_MAX];
    const char *slash = strrchr(part, '/');
    *ret_name = slash ? slash + 1 : part;
    size_t n = slash ? (size_t)(slash - part) : 0;
    errno = ENAMETOOLONG;
    if (n >= PATH_MAX)
        return -1;
    memcpy(parent, part, n);
    parent[n] = '\0';
    return force_open(dir, n ? parent : ".", true);
}

/* Appends a suffix to a name, truncating the name if it is too long. */
static void quarantine_add_suffix(char name[NAME_MAX + 1], const char *base, const char *ending)
{
    size_t n = MIN(strlen(base), NAME_MAX - strlen(ending));
    snprintf(name, NAME_MAX + 1, "%.*s%s", (int)n, base, ending);
}

/* Returns a name that cannot have been taken before, not even on purpose. */
static bool fresh_name(char name[NAME_MAX + 1], const char *base)
{
    char ending[16];
    unsigned chance = 0;
    if (getrandom(&chance, sizeof(chance), 0) != sizeof(chance))
        return false;
    snprintf(ending, sizeof(ending), ".%08x", chance);
    quarantine_add_suffix(name, base, ending);
    return true;
}

/* A directory may have been made read-only to keep its contents from being moved. */
static void make_writable(int dir)
{
    struct stat st;
    if (fstat(dir, &st) == 0 && (st.st_mode & S_IRWXU) != S_IRWXU)
        (void)!fchmod(dir, (st.st_mode & 07777) | S_IRWXU);
}

static int rename_away(int from, const char *name, int to, const char *new_name)
{
    make_writable(from);
    force_mode(from, name);
    return file_rename_new(from, name, to, new_name) ? 0 : errno;
}

/* Moves a name to an unused one. */
static int quarantine_move_to_free_name(
    int from, const char *name, int to, const char *base, struct buf *ret_name)
{
    char other[NAME_MAX + 1];
    int errnum = rename_away(from, name, to, base);
    for (int i = 0; i < TRIES && errnum == EEXIST; i++) {
        if (!fresh_name(other, base))
            return errno;
        errnum = rename_away(from, name, to, other);
        base = errnum ? base : other;
    }
    if (errnum == 0)
        buf_add_z(ret_name, base);
    return errnum;
}

/* Creates a directory of ours: anything in its place that can't be used is itself set aside. */
static int quarantine_make_dir(int dir, const char *name)
{
    struct stat st;
    make_writable(dir);
    for (int i = 0; i < TRIES; i++) {
        if (mkdirat(dir, name, 0700) != 0 && errno != EEXIST)
            return -1;
        AUTO_FD int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
            ((st.st_mode & S_IRWXU) == S_IRWXU || fchmod(fd, 0700) == 0))
            return TAKE_FD(fd);
        char other[NAME_MAX + 1];
        if (!fresh_name(other, name) ||
            (!file_rename_new(dir, name, dir, other) && errno != ENOENT))
            return -1;
    }
    errno = EBUSY;
    return -1;
}

int quarantine_open(int gitdir)
{
    return quarantine_make_dir(gitdir, PARTS_HELD);
}

/* Opens or creates the directory for a part, including the leading directories of its name. */
static int quarantine_open_held(int gitdir, const char *part)
{
    char name[NAME_MAX + 1];
    AUTO_FD int held = quarantine_open(gitdir);
    for (const char *slash; held >= 0 && (slash = strchr(part, '/')); part = slash + 1) {
        snprintf(name, sizeof(name), "%.*s", (int)(slash - part), part);
        int inner = quarantine_make_dir(held, name);
        close(held);
        held = inner;
    }
    return TAKE_FD(held);
}

int quarantine_part(int gitdir, const char *part, struct buf *where)
{
    const char *name, *slash = strrchr(part, '/');
    AUTO_FD int from = quarantine_open_parent(gitdir, part, &name);
    if (from < 0)
        return errno;
    AUTO_FD int to = quarantine_open_held(gitdir, part);
    if (to < 0)
        return errno;
    buf_add_z(where, PARTS_HELD "/");
    buf_add(where, part, slash ? (size_t)(slash - part) + 1 : 0);
    return quarantine_move_to_free_name(from, name, to, name, where);
}

int quarantine_beside(int dir, const char *name, struct buf *where)
{
    char base[BESIDE_MAX + 1];
    snprintf(base, sizeof(base), "%s", name);
    char other[NAME_MAX + 1];
    quarantine_add_suffix(other, base, "." PARTS_HELD);
    return quarantine_move_to_free_name(dir, name, dir, other, where);
}

/* The new file is complete before it gets its name, and the old one always has a name. */
int quarantine_settings(int gitdir, const char *part, struct str plain, struct buf *where)
{
    char fresh[NAME_MAX + 1];
    struct stat st;
    make_writable(gitdir);
    bool is_file = fstatat(gitdir, part, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
    mode_t mode = is_file ? st.st_mode & 0666 : 0600;
    if (!fresh_name(fresh, part))
        return errno;
    const struct replace_options o = {.dir = gitdir,
        .name = part,
        .temp = fresh,
        .mode = mode,
        .flags = REPLACE_EXACT_MODE | REPLACE_NEW};
    AUTO_REPLACE struct replace r = REPLACE_NONE;
    if (!replace_open(&r, &o) || !replace_write(&r, plain) || fsync(r.fd) != 0)
        return errno;
    int errnum = quarantine_part(gitdir, part, where);
    if (errnum)
        return errnum;
    return replace_commit(&r) ? 0 : errno;
}

bool quarantine_read(int dir, const char *name, struct buf *bytes)
{
    return quarantine_read_max(dir, name, BYTES_MAX, bytes);
}

bool quarantine_read_max(int dir, const char *name, size_t max, struct buf *bytes)
{
    AUTO_ERR struct err ignored = {0};
    struct stat st;
    AUTO_FD int fd = beneath_open(
        dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0, BENEATH_NO_SYMLINKS);
    return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
           file_read(fd, max, name, bytes, &ignored);
}
