/* The home directory of a box. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/box_home.h"

#include "base/utf8.h"
#include "io/dir.h"
#include "io/file.h"
#include "path/beneath.h"
#include "path/lexical.h"
#include "policy/blocked.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

enum {
    EMPTY_DEPTH = 16, /* of directories without files that count as empty */
    EMPTY_ENTRIES = 1024,
};

/* Path ---------------------------------------------------------------------------------------- */

static bool home_is_system(struct str home)
{
    static const char *const others[] = {"/tmp", "/var/tmp", "/var/lib", "/usr/local"};
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (str_is(home, others[i]))
            return true;
    return !str_is(home, "/root") && blocked_path(home, BLOCKED_WRITE);
}

struct str box_home_choose(const struct box_home_choice *choice, struct arena *arena)
{
    struct stat st;
    AUTO_FD int fd = choice->home ? beneath_peek(choice->home) : -1;
    AUTO_FREE char *name = fd >= 0 ? beneath_name(fd) : NULL;
    struct str home = name ? str_z(name) : (struct str){0};
    bool usable = home.n > 1 && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode) && utf8_valid(home) &&
                  !home_is_system(home);
    for (size_t i = 0; usable && i < choice->shown.n; i++)
        usable = !lexical_is_below(choice->shown.p[i], home);
    if (!usable || agent_chooses_home(choice->agent))
        home = agent_home(choice->agent);
    return arena_str(arena, home);
}

/* Contents ------------------------------------------------------------------------------------ */

bool box_home_fill(int home_fd, const struct box_agent *agent, struct err *err)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 16);
    struct str name = agent_state_name(agent);
    return !name.n || mkdirat(home_fd, arena_strdup(&a, name), 0700) == 0 ||
           err_errno(err, E_IO, errno, "cannot create the agent's state directory");
}

bool box_home_identity(int home_fd, struct str text, struct err *err)
{
    static const char name[] = ".gitconfig";
    if (!text.n)
        return true;
    AUTO_FD int fd =
        openat(home_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0)
        return errno == EEXIST || err_errno(err, E_IO, errno, "cannot create '%s'", name);
    return file_write_all(fd, text) || err_errno(err, E_IO, errno, "cannot write '%s'", name);
}

/* Mount points -------------------------------------------------------------------------------- */

bool box_home_place(int home_fd, struct str rest, bool is_dir, struct arena *arena)
{
    struct str name, left = rest;
    AUTO_FD int dir = beneath_open(home_fd, ".", O_PATH | O_DIRECTORY, 0, BENEATH_NO_SYMLINKS);
    while (dir >= 0 && lexical_next(&left, &name)) {
        const char *text = arena_strdup(arena, name);
        bool last = str_trim_end(left, '/').n == 0;
        int made =
            last && !is_dir ? mknodat(dir, text, S_IFREG | 0600, 0) : mkdirat(dir, text, 0700);
        if (made != 0 && errno != EEXIST)
            return false;
        if (last)
            return true;
        int inner = beneath_open(dir, text, O_PATH | O_DIRECTORY, 0, BENEATH_NO_SYMLINKS);
        close(dir);
        dir = inner;
    }
    return dir >= 0;
}

void box_home_link(int home_fd, struct str rest, struct str target, struct arena *arena)
{
    struct stat st;
    ptrdiff_t slash = str_find_last(rest, '/');
    struct str parent = slash > 0 ? str_head(rest, (size_t)slash) : (struct str){0};
    const char *name = arena_strdup(arena, lexical_name(rest));
    const char *dir_name = parent.n ? arena_strdup(arena, parent) : ".";
    if (parent.n && !box_home_place(home_fd, parent, true, arena))
        return;
    AUTO_FD int dir = beneath_open(home_fd, dir_name, O_PATH | O_DIRECTORY, 0, BENEATH_NO_SYMLINKS);
    if (dir < 0)
        return;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        bool mount_point = S_ISDIR(st.st_mode) || (S_ISREG(st.st_mode) && st.st_size == 0);
        if (!S_ISLNK(st.st_mode) && !mount_point)
            return;
        unlinkat(dir, name, S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0); /* only an empty one */
    }
    (void)!symlinkat(target.p, dir, name); /* may fail: the box's own directory is there */
}

static bool home_link_is_same(int dir, const char *name, const char *host)
{
    char own[PATH_MAX], other[PATH_MAX];
    ssize_t n = readlinkat(dir, name, own, sizeof(own));
    return n > 0 && readlink(host, other, sizeof(other)) == n && memcmp(own, other, (size_t)n) == 0;
}

/* Empty files and directories are mount points of earlier runs, and symlinks as on the host were
 * also made for these. */
static bool home_entry_is_empty(int dir, const char *name, const char *host, unsigned depth)
{
    AUTO_DIR struct dir list = DIR_INIT(EMPTY_ENTRIES);
    char path[PATH_MAX];
    struct stat st;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    if (S_ISLNK(st.st_mode))
        return home_link_is_same(dir, name, host);
    if (S_ISREG(st.st_mode))
        return st.st_size == 0;
    if (!S_ISDIR(st.st_mode) || depth == EMPTY_DEPTH || !dir_open(&list, dir, name))
        return false;
    while (dir_next(&list)) {
        int n = snprintf(path, sizeof(path), "%s/%s", host, list.name);
        if (n < 0 || (size_t)n >= sizeof(path) ||
            !home_entry_is_empty(list.fd, list.name, path, depth + 1))
            return false;
    }
    return dir_complete(&list);
}

bool box_home_is_free(
    int home_fd, struct str rest, struct str host, bool is_dir, struct arena *arena)
{
    struct stat st;
    const char *path = arena_strdup(arena, rest);
    AUTO_FD int fd = beneath_open(home_fd, path, O_PATH | O_NOFOLLOW, 0, BENEATH_NO_SYMLINKS);
    if (fd < 0)
        return errno == ENOENT;
    if (fstat(fd, &st) != 0 || S_ISDIR(st.st_mode) != is_dir)
        return false;
    if (!is_dir)
        return S_ISREG(st.st_mode) && st.st_size == 0;
    AUTO_FD int dir = beneath_open(home_fd, path, O_RDONLY | O_DIRECTORY, 0, BENEATH_NO_SYMLINKS);
    return dir >= 0 && home_entry_is_empty(dir, ".", arena_strdup(arena, host), 0);
}
