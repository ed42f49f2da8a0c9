/* Whole files through descriptors. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

enum {
    CHUNK = 64 * 1024,
};

/* Returns false if canceled. */
static bool file_wait(int fd, int cancel_fd)
{
    struct pollfd fds[] = {{.fd = cancel_fd, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    while (cancel_fd >= 0 && poll(fds, ARRAY_LEN(fds), -1) < 0 && errno == EINTR) {
    }
    return !fds[0].revents;
}

bool file_read_unless(
    int cancel_fd, int fd, size_t max, const char *name, struct buf *content, struct err *err)
{
    size_t start = content->n;
    for (;;) {
        /* A caller that reserved room knows the size: fill exactly that. */
        size_t room_n = content->cap - content->n;
        size_t want = MIN(room_n > 1 ? room_n - 1 : (size_t)CHUNK, content->max - content->n);
        if (want == 0 || content->n - start > max)
            return err_set(err, E_IO, "'%s' is larger than %zu bytes", name, max);
        char *room = buf_reserve(content, want);
        BUG_ON(!room);
        if (!file_wait(fd, cancel_fd))
            return err_set(err, E_CANCELED, "interrupted while reading '%s'", name);
        ssize_t n = read(fd, room, want);
        if (n == 0)
            return true;
        if (n > 0)
            buf_grown(content, (size_t)n);
        else if (errno != EINTR && (errno != EAGAIN || cancel_fd < 0))
            return err_errno(err, E_IO, errno, "cannot read '%s'", name);
    }
}

bool file_read(int fd, size_t max, const char *name, struct buf *content, struct err *err)
{
    return file_read_unless(-1, fd, max, name, content, err);
}

bool file_write_all(int fd, struct str content)
{
    while (content.n) {
        ssize_t n = write(fd, content.p, content.n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        content = str_skip(content, (size_t)n);
    }
    return true;
}

bool file_write(int fd, struct str content, const char *name, struct err *err)
{
    if (file_write_all(fd, content))
        return true;
    return err_errno(err, E_IO, errno, "cannot write '%s'", name);
}

bool file_rename_new(int from_dir, const char *from, int to_dir, const char *to)
{
    struct stat st;
    if (renameat2(from_dir, from, to_dir, to, RENAME_NOREPLACE) == 0)
        return true;
    if (errno != EINVAL && errno != ENOSYS)
        return false;
    if (fstatat(to_dir, to, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        errno = EEXIST;
        return false;
    }
    return errno == ENOENT && renameat(from_dir, from, to_dir, to) == 0;
}

bool file_is_program(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

int file_nameless(void)
{
    int fd = memfd_create("cordon", MFD_CLOEXEC);
    if (fd >= 0 || errno != ENOSYS)
        return fd;
    return open("/tmp", O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
}

/* The signal goes to the thread that writes. */
ssize_t file_write_quiet(int fd, struct str bytes)
{
    const struct timespec now = {0};
    sigset_t set, before, pending;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &set, &before);
    ssize_t n = write(fd, bytes.p, bytes.n);
    int failed = errno;
    if (n < 0 && failed == EPIPE && sigismember(&pending, SIGPIPE) == 0)
        (void)sigtimedwait(&set, NULL, &now);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = failed;
    return n;
}
