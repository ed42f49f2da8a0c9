/* Writing with an end. */
#include "io/patience.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
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
    while (text.n) {
        ssize_t n = put(to, text);
        if (n >= 0) {
            text = str_skip(text, (size_t)n);
            continue;
        }
        if (errno == EINTR)
            continue;
        now = clock_mono_ms();
        if (errno != EAGAIN || now >= end)
            return false;
        poll(&(struct pollfd){.fd = to, .events = POLLOUT}, 1, (int)(end - now));
    }
    return true;
}
