/* Resolving `.git`: the directory, the file with "gitdir:", and the common directory. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/gitdir.h"

#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <strings.h>
#include <sys/stat.h>

enum {
    POINTER_MAX = PATH_MAX + 64, /* bytes of a file that contains one path */
    COMMIT_SHOWN = 8,            /* digits of an abbreviated hash */
};

bool gitdir_present(int dir_fd)
{
    struct stat st;
    return fstatat(dir_fd, ".git", &st, 0) == 0 && (S_ISDIR(st.st_mode) || S_ISREG(st.st_mode));
}

bool gitdir_stands_for_git(struct str name)
{
    ptrdiff_t colon = str_find(name, ':');
    name = str_head(name, colon < 0 ? name.n : (size_t)colon);
    while (name.n && (name.p[name.n - 1] == '.' || name.p[name.n - 1] == ' '))
        name.n--;
    return (name.n == 4 && strncasecmp(name.p, ".git", 4) == 0) ||
           (name.n == 5 && strncasecmp(name.p, "git~1", 5) == 0);
}

struct str gitdir_line(struct str content, struct str prefix)
{
    while (content.n && (content.p[content.n - 1] == '\n' || content.p[content.n - 1] == '\r'))
        content.n--;
    ptrdiff_t nul = str_find(content, '\0');
    content = nul < 0 ? content : str_head(content, (size_t)nul);
    return str_starts_with(content, prefix) ? str_skip(content, prefix.n) : STR("");
}

/* Reads the path after the given words from a file of one line. Empty: no such file, or other
 * content. O_NONBLOCK, so that a FIFO in its place can't block us. */
static bool read_pointer(
    int dir_fd, const char *name, struct str words, struct buf *path, struct err *err)
{
    AUTO_FD int fd = openat(dir_fd, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return true;
    if (fd < 0 || fstat(fd, &st) != 0)
        return err_errno(err, E_IO, errno, "cannot read '%s'", name);
    if (!S_ISREG(st.st_mode))
        return true;
    AUTO_BUF struct buf content = BUF_INIT(2 * POINTER_MAX);
    if (!file_read(fd, POINTER_MAX, name, &content, err))
        return false;
    if (str_find(buf_str(&content), '\0') < 0)
        buf_add_str(path, gitdir_line(buf_str(&content), words));
    return true;
}

static int gitdir_open_dir(int dir_fd, const char *path)
{
    return openat(dir_fd, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

bool gitdir_open_own(int dir_fd, int *ret_fd, struct err *err)
{
    AUTO_BUF struct buf path = BUF_INIT(POINTER_MAX);
    AUTO_FD int git = gitdir_open_dir(dir_fd, ".git");
    if (git < 0) {
        if (!read_pointer(dir_fd, ".git", STR("gitdir: "), &path, err))
            return false;
        git = path.n ? gitdir_open_dir(dir_fd, buf_z(&path)) : -1;
    }
    *ret_fd = TAKE_FD(git);
    return true;
}

bool gitdir_open_common(int dir_fd, int *ret_fd, struct err *err)
{
    AUTO_BUF struct buf path = BUF_INIT(POINTER_MAX);
    AUTO_FD int git = -1;
    if (!gitdir_open_own(dir_fd, &git, err))
        return false;
    if (git >= 0 && !read_pointer(git, "commondir", STR(""), &path, err))
        return err_wrap(err, "in '.git'");
    *ret_fd = path.n ? gitdir_open_dir(git, buf_z(&path)) : TAKE_FD(git);
    return true;
}

bool gitdir_is_repository(int dir_fd)
{
    AUTO_ERR struct err ignored = {0};
    AUTO_FD int common = -1;
    if (!gitdir_open_common(dir_fd, &common, &ignored) || common < 0)
        return false;
    struct stat st;
    return fstatat(common, "HEAD", &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           fstatat(common, "objects", &st, 0) == 0 && S_ISDIR(st.st_mode) &&
           fstatat(common, "refs", &st, 0) == 0 && S_ISDIR(st.st_mode);
}

void gitdir_add_head(int dir_fd, struct buf *name)
{
    AUTO_ERR struct err ignored = {0};
    AUTO_BUF struct buf head = BUF_INIT(POINTER_MAX);
    AUTO_FD int git = -1;
    if (!gitdir_open_own(dir_fd, &git, &ignored) || git < 0 ||
        !read_pointer(git, "HEAD", STR(""), &head, &ignored))
        return;
    struct str ref = STR("ref: refs/heads/");
    struct str line = buf_str(&head);
    buf_add_str(
        name, str_starts_with(line, ref) ? str_skip(line, ref.n) : str_head(line, COMMIT_SHOWN));
}
