/* Writing with an end. */
#include "io/patience.h"

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

int patience_open(int fd)
{
    char path[PROC_PATH];
    struct stat st;
    if (fstat(fd, &st) != 0 || (!S_ISFIFO(st.st_mode) && !S_ISCHR(st.st_mode)))
        return -1;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
}

size_t patience_room(int fd)
{
    return isatty(fd) && !(fcntl(fd, F_GETFL) & O_NONBLOCK) ? 1 : PIPE_BUF;
}

/* A socket can't be opened again, but be asked not to block. */
static ssize_t put(int fd, struct str text)
{
    ssize_t n = send(fd, text.p, text.n, MSG_DONTWAIT | MSG_NOSIGNAL);
    return n < 0 && errno == ENOTSOCK ? write(fd, text.p, text.n) : n;
}

bool patience_write(int fd, struct str text, unsigned ms)
{
    uint64_t now = clock_mono_ms(), end = now + ms;
    AUTO_FD int own = patience_open(fd);
    int to = own >= 0 ? own : fd;
    size_t room = patience_room(to);
    for (bool ask = room == 1; text.n && now <= end; now = clock_mono_ms()) {
        struct pollfd sink = {.fd = to, .events = POLLOUT};
        if (ask && poll(&sink, 1, (int)(end - now)) <= 0)
            continue;
        ssize_t n = put(to, str_head(text, MIN(text.n, room)));
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return false;
        ask = n < 0 || room == 1;
        text = str_skip(text, n > 0 ? (size_t)n : 0);
    }
    return text.n == 0;
}
