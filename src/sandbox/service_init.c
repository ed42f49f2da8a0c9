/* The service in process 1, after it has dropped its privileges. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/service_init.h"

#include "io/packet.h"
#include "sandbox/plan.h"
#include "sandbox/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>

enum {
    BACKLOG = 128,
};

/* Requests ------------------------------------------------------------------------------------ */

void serve_drop(struct serve_request *r)
{
    for (size_t i = 0; i < r->n_fds; i++)
        auto_fd(&r->fds[i]);
    r->n_fds = 0;
}

/* Whether it has as many file descriptors as it announces. */
static bool serve_is_whole(const struct serve_request *r)
{
    size_t want = 0;
    if (r->wire.word == WIRE_SPAWN) {
        want = 1;
        for (unsigned bits = r->wire.streams; bits; bits >>= 1)
            want += bits & 1;
    }
    return r->n_fds == want;
}

/* Every valid request is answered, also one whose descriptors did not fit in our table. */
static void refuse_request(struct serve *s, const struct wire_request *wire, int errnum)
{
    const bool wants =
        wire->word == WIRE_SPAWN || wire->word == WIRE_LISTEN || wire->word == WIRE_CONNECT;
    if (wants && wire->id)
        serve_answer(s, &(struct wire_answer){SERVICE_REFUSED, wire->id, errnum, STAGE_EXEC}, -1);
}

bool serve_next(struct serve *s, struct serve_request *r)
{
    char space[CMSG_SPACE(WIRE_REQUEST_FDS * sizeof(int))] __attribute__((aligned(8)));
    struct iovec iov = {&r->wire, sizeof(r->wire)};
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof(space)};
    r->n_fds = 0;
    ssize_t n = recvmsg(s->socket, &msg, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&msg) : NULL;
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
        r->n_fds = MIN((c->cmsg_len - CMSG_LEN(0)) / sizeof(int), (size_t)WIRE_REQUEST_FDS);
        memcpy(r->fds, CMSG_DATA(c), r->n_fds * sizeof(int));
    }
    const bool valid = n == (ssize_t)sizeof(r->wire) && !(msg.msg_flags & MSG_TRUNC);
    if (valid && !(msg.msg_flags & MSG_CTRUNC) && serve_is_whole(r))
        return true;
    serve_drop(r);
    if (valid)
        refuse_request(s, &r->wire, msg.msg_flags & MSG_CTRUNC ? EMFILE : EINVAL);
    return false;
}

/* Answers ------------------------------------------------------------------------------------- */

/* Returns 0, or the reason why it was not sent to a supervisor that is there. */
static int send_answer(const struct serve *s, const struct wire_answer *answer, int fd)
{
    const struct iovec part = {(void *)answer, sizeof(*answer)};
    ssize_t n = packet_send(s->socket, &part, 1, &fd, fd >= 0, MSG_DONTWAIT);
    return n < 0 && (errno == EAGAIN || errno == ETOOMANYREFS) ? errno : 0;
}

/* Ends a command whose terminal can't be passed on. */
static void drop_command(struct serve *s, uint32_t id)
{
    struct serve_command *c = serve_find(s, id);
    if (!c)
        return;
    if (c->has_ended)
        s->n_ended--;
    else
        kill(-c->pid, SIGKILL);
    *c = (struct serve_command){0};
}

/* Returns false if it does not fit now. If the user's processes have too many descriptors in flight
 * already, the answer becomes a refusal: waiting would take as long as a command likes. */
static bool serve_send(struct serve *s, struct wire_answer *answer, int *fd)
{
    int failed = send_answer(s, answer, *fd);
    if (failed == ETOOMANYREFS) {
        const bool spawned = answer->word == SERVICE_SPAWNED;
        close(TAKE_FD(*fd));
        if (spawned)
            drop_command(s, answer->id);
        *answer = (struct wire_answer){
            SERVICE_REFUSED, answer->id, failed, spawned ? STAGE_TERMINAL : STAGE_LOOPBACK};
        failed = send_answer(s, answer, -1);
    }
    if (failed)
        return false;
    auto_fd(fd);
    *fd = -1;
    return true;
}

void serve_answer(struct serve *s, const struct wire_answer *answer, int fd)
{
    struct wire_answer own = *answer;
    if (serve_send(s, &own, &fd))
        return;
    s->owed = own;
    s->owed_fd = fd;
}

bool serve_flush(struct serve *s)
{
    if (s->owed.id && !serve_send(s, &s->owed, &s->owed_fd))
        return false;
    s->owed.id = 0;
    for (size_t i = 0; s->n_ended && i < SERVICE_COMMANDS_MAX; i++) {
        struct serve_command *c = &s->commands[i];
        if (!c->has_ended)
            continue;
        const uint32_t stage = c->too_many ? STAGE_FORK : c->large ? STAGE_LIMITS : 0;
        if (send_answer(s, &(struct wire_answer){SERVICE_ENDED, c->id, c->status, stage}, -1) != 0)
            return false;
        *c = (struct serve_command){0};
        s->n_ended--;
    }
    return true;
}

/* Commands ------------------------------------------------------------------------------------ */

struct serve_command *serve_find(struct serve *s, uint32_t id)
{
    for (size_t i = 0; i < SERVICE_COMMANDS_MAX; i++)
        if (s->commands[i].id == id)
            return &s->commands[i];
    return NULL;
}

struct serve_command *serve_free_place(struct serve *s)
{
    return serve_find(s, 0);
}

void serve_note_end(struct serve *s, pid_t pid, int status)
{
    for (size_t i = 0; i < SERVICE_COMMANDS_MAX; i++) {
        struct serve_command *c = &s->commands[i];
        if (!c->id || c->has_ended || c->pid != pid)
            continue;
        c->has_ended = true;
        c->status = status;
        s->n_ended++;
        return;
    }
}

void serve_note_too_many(struct serve *s)
{
    for (size_t i = 0; i < SERVICE_COMMANDS_MAX; i++)
        if (s->commands[i].id && !s->commands[i].has_ended)
            s->commands[i].too_many = true;
}

void serve_note_large(struct serve *s, pid_t pid)
{
    for (size_t i = 0; i < SERVICE_COMMANDS_MAX; i++)
        if (s->commands[i].id && s->commands[i].pid == pid)
            s->commands[i].large = true;
}

/* Converts offsets of texts to pointers. */
static bool serve_to_pointers(const struct serve_words *w, uint64_t *at, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (at[i] >= w->size)
            return false;
        at[i] = (uint64_t)(uintptr_t)(w->map + at[i]);
    }
    return at[n] == 0;
}

static bool serve_read_words(struct serve_words *w)
{
    struct wire_words *words = (struct wire_words *)(void *)w->map;
    size_t room = (w->size - sizeof(*words)) / sizeof(uint64_t);
    uint64_t *env = words->at + words->n_args + 1;
    _Static_assert(sizeof(char *) == sizeof(uint64_t), "an address becomes a pointer");
    if (w->map[w->size - 1] != '\0' || (size_t)words->n_args + words->n_env + 2 > room ||
        words->path >= w->size || words->cwd >= w->size ||
        !serve_to_pointers(w, words->at, words->n_args) || !serve_to_pointers(w, env, words->n_env))
        return false;
    w->argv = (char **)(void *)words->at;
    w->envp = (char **)(void *)env;
    w->path = w->map + words->path;
    w->cwd = w->map + words->cwd;
    return true;
}

bool serve_map_words(int fd, struct serve_words *ret_words)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return false;
    errno = E2BIG;
    if (st.st_size <= (off_t)sizeof(struct wire_words) || st.st_size > SERVICE_WORDS_MAX)
        return false;
    struct serve_words w = {.size = (size_t)st.st_size};
    w.map = mmap(NULL, w.size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (w.map == MAP_FAILED)
        return false;
    if (!serve_read_words(&w)) {
        serve_unmap_words(&w);
        errno = EINVAL;
        return false;
    }
    *ret_words = w;
    return true;
}

void serve_unmap_words(struct serve_words *w)
{
    munmap(w->map, w->size);
}

/* Sockets ------------------------------------------------------------------------------------- */

/* SO_REUSEADDR: connections of a previous listener may still be in TIME_WAIT. */
int serve_listen(uint16_t port, uint16_t *ret_port)
{
    struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int on = 1;
    socklen_t size = sizeof(at);
    AUTO_FD int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
        bind(fd, (struct sockaddr *)&at, size) != 0 || listen(fd, BACKLOG) != 0 ||
        getsockname(fd, (struct sockaddr *)&at, &size) != 0)
        return -1;
    *ret_port = ntohs(at.sin_port);
    return TAKE_FD(fd);
}

bool serve_proxy(int control)
{
    const struct init_message message = {.word = INIT_LISTENS, .step = -1};
    const struct iovec part = {(void *)&message, sizeof(message)};
    uint16_t port;
    AUTO_FD int fd = serve_listen(PLAN_PROXY_PORT, &port);
    return fd >= 0 && packet_send(control, &part, 1, &fd, 1, 0) >= 0;
}

/* On the loopback a refusal is nearly always known by the time connect() returns. */
static int serve_connect_to(const struct sockaddr *at, socklen_t size)
{
    int failed = 0;
    socklen_t n = sizeof(failed);
    AUTO_FD int fd = socket(at->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || (connect(fd, at, size) != 0 && errno != EINPROGRESS) ||
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &n) != 0)
        return -1;
    errno = failed;
    return failed ? -1 : TAKE_FD(fd);
}

/* Servers that listen on "localhost" may have resolved it to ::1. */
int serve_connect(uint16_t port)
{
    const struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct sockaddr_in6 at6 = {
        .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int fd = serve_connect_to((const struct sockaddr *)&at, sizeof(at));
    if (fd >= 0 || errno != ECONNREFUSED)
        return fd;
    fd = serve_connect_to((const struct sockaddr *)&at6, sizeof(at6));
    if (fd < 0)
        errno = ECONNREFUSED;
    return fd;
}

/* Terminals ----------------------------------------------------------------------------------- */

bool serve_make_terminal(int devpts, const struct winsize *size, int ret_ends[2])
{
    struct termios mode;
    int unlocked = 0;
    AUTO_FD int master = devpts >= 0 ? openat(devpts, "ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
                                     : open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0 || ioctl(master, TIOCSPTLCK, &unlocked) != 0)
        return false;
    AUTO_FD int slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (slave < 0 || ioctl(master, TIOCSWINSZ, size) != 0 || tcgetattr(slave, &mode) != 0)
        return false;
    mode.c_iflag |= IUTF8;
    if (tcsetattr(slave, TCSANOW, &mode) != 0)
        return false;
    ret_ends[0] = TAKE_FD(master);
    ret_ends[1] = TAKE_FD(slave);
    return true;
}
