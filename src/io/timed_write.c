/* Writes with a timeout. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "io/timed_write.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

enum {
    PROC_PATH = 32,
};

int timed_write_open(int fd)
{
    char path[PROC_PATH];
    struct stat st;
    if (fstat(fd, &st) != 0 || (!S_ISFIFO(st.st_mode) && !S_ISCHR(st.st_mode)))
        return -1;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
}

size_t timed_write_room(int fd)
{
    return isatty(fd) && !(fcntl(fd, F_GETFL) & O_NONBLOCK) ? 1 : PIPE_BUF;
}

/* A socket can't be opened again through /proc, but send() can be asked not to block. */
ssize_t timed_write_put(int fd, struct str text)
{
    ssize_t n = send(fd, text.p, text.n, MSG_DONTWAIT | MSG_NOSIGNAL);
    return n < 0 && errno == ENOTSOCK ? write(fd, text.p, text.n) : n;
}

/* Waits for room until the deadline; returns whether there is room. */
static bool wait_for_room(int to, struct write_deadline *p)
{
    for (;;) {
        struct pollfd fds[] = {{.fd = to, .events = POLLOUT}, {.fd = p->cancel, .events = POLLIN}};
        uint64_t now = clock_mono_ms();
        uint64_t left = p->until_ms > now ? MIN(p->until_ms - now, (uint64_t)INT_MAX) : 0;
        int ready = poll(fds, ARRAY_LEN(fds), p->until_ms == TIMED_WRITE_ENDLESS ? -1 : (int)left);
        if (ready > 0 && fds[0].revents)
            return true;
        if (ready > 0)
            timed_write_end(p);
        else if (left == 0 && p->until_ms != TIMED_WRITE_ENDLESS)
            return false;
    }
}

void timed_write_end(struct write_deadline *p)
{
    *p = (struct write_deadline){MIN(p->until_ms, clock_mono_ms() + TIMED_WRITE_LAST_MS), -1};
}

bool timed_write(int fd, struct str text, struct write_deadline *p)
{
    AUTO_FD int own = timed_write_open(fd);
    int to = own >= 0 ? own : fd;
    size_t room = own >= 0 ? text.n : timed_write_room(to);
    /* Poll before every write that may block; otherwise only after EAGAIN. */
    bool blocks = own < 0;
    for (bool ask = blocks; text.n;) {
        if (ask && !wait_for_room(to, p))
            return false;
        ssize_t n = timed_write_put(to, str_head(text, MIN(text.n, room)));
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return false;
        ask = n < 0 || blocks;
        text = str_skip(text, n > 0 ? (size_t)n : 0);
    }
    return true;
}
