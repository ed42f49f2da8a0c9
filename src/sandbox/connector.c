/* The supervisor's side of connect(). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/connector.h"

#include "base/clock.h"
#include "io/packet.h"
#include "sandbox/connector_init.h"
#include "sandbox/denied_calls.h"
#include "sandbox/proc_entry.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>

enum {
    RETRY_MS = 5,   /* a server whose queue is full */
    CHECK_MS = 500, /* whether callers are still there */
    STATUS_CLOEXEC = 02000000,
    BRIEF_US = 1000, /* a timeout that ends as soon as the kernel counts time */
};

enum connector_state {
    CONNECTOR_FREE,
    CONNECTOR_ASKED, /* process 1 */
    CONNECTOR_RETRY, /* of that */
    CONNECTOR_INET,  /* the kernel is connecting it */
};

struct connector_wait {
    enum connector_state state;
    struct seccomp_notif call;
    int fd; /* the command's socket */
    bool blocks;
    uint64_t end_ms;   /* of its send timeout */
    uint64_t retry_ms; /* when to ask process 1 again */
    struct sockaddr_storage address;
    socklen_t size;
    size_t n_request;
    struct connector_request request;
};

struct connector {
    int process_1;
    size_t n;
    uint32_t next_id;
    struct connector_wait waits[CONNECTOR_MAX];
};

struct connector *connector_new(int process_1)
{
    struct connector *c = calloc(1, sizeof(*c));
    BUG_ON(!c);
    c->process_1 = process_1;
    return c;
}

static void connector_drop(struct connector *c, struct connector_wait *w)
{
    auto_fd(&w->fd);
    w->state = CONNECTOR_FREE;
    c->n--;
}

void connector_free(struct connector *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < CONNECTOR_MAX; i++)
        if (c->waits[i].state != CONNECTOR_FREE)
            connector_drop(c, &c->waits[i]);
    auto_fd(&c->process_1);
    free(c);
}

static struct listener_reply refuse(int errnum)
{
    return (struct listener_reply){LISTENER_REFUSE, errnum};
}

/* The result of a call that was carried out. */
static struct listener_reply connected(int errnum)
{
    return errnum ? refuse(errnum) : (struct listener_reply){LISTENER_RETURN, 0};
}

/* The command's socket ------------------------------------------------------------------------ */

/* Returns the process of a thread, or 0. */
static pid_t find_caller(pid_t thread)
{
    char text[PROC_ENTRY_MAX];
    if (!proc_entry_read(thread, "status", text))
        return 0;
    return (pid_t)proc_entry_number(text, "\nTgid:", 10);
}

/* Returns a descriptor of ours for the command's, or -1 and errno. */
static int take_socket(const struct listener_call *call, pid_t pid)
{
    uint64_t id = call->request->id;
    AUTO_FD int process = (int)syscall(SYS_pidfd_open, pid, 0);
    AUTO_FD int fd =
        process >= 0 ? (int)syscall(SYS_pidfd_getfd, process, (int)call->request->data.args[0], 0)
                     : -1;
    if (fd >= 0 && ioctl(call->fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) != 0) {
        errno = ESRCH;
        return -1;
    }
    return TAKE_FD(fd);
}

static int get_option(int fd, int option)
{
    int value = -1;
    socklen_t size = sizeof(value);
    return getsockopt(fd, SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
}

static bool is_blocking(int fd)
{
    return !(fcntl(fd, F_GETFL) & O_NONBLOCK);
}

static uint64_t send_end(int fd)
{
    struct timeval time = {0};
    socklen_t size = sizeof(time);
    if (getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, &size) != 0 ||
        (!time.tv_sec && !time.tv_usec))
        return UINT64_MAX;
    return clock_mono_ms() + (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_usec / 1000;
}

/* Waiting ------------------------------------------------------------------------------------- */

static struct connector_wait *connector_find(
    struct connector *c, enum connector_state state, uint32_t id)
{
    for (size_t i = 0; i < CONNECTOR_MAX; i++)
        if (c->waits[i].state == state && (state == CONNECTOR_FREE || c->waits[i].request.id == id))
            return &c->waits[i];
    return NULL;
}

/* Takes the socket. Returns NULL if too many wait. */
static struct connector_wait *connector_keep(
    struct connector *c, const struct listener_call *call, enum connector_state state, int *fd)
{
    struct connector_wait *w = connector_find(c, CONNECTOR_FREE, 0);
    if (!w)
        return NULL;
    w->state = state;
    w->call = *call->request;
    w->fd = TAKE_FD(*fd);
    w->blocks = is_blocking(w->fd);
    w->end_ms = w->blocks ? send_end(w->fd) : 0;
    w->request.id = ++c->next_id;
    c->n++;
    return w;
}

static void connector_answer(
    struct connector *c, struct listener *l, struct connector_wait *w, struct listener_reply reply)
{
    listener_answer_later(l, w->call.id, reply);
    connector_drop(c, w);
}

/* Internet sockets ---------------------------------------------------------------------------- */

/* With a brief timeout the kernel continues to connect in the background. Returns 0 or an errno. */
static int connect_briefly(int fd, const struct sockaddr_storage *at, socklen_t size)
{
    struct timeval own = {0}, brief = {0, BRIEF_US};
    socklen_t length = sizeof(own);
    if (getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &own, &length) != 0 ||
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &brief, sizeof(brief)) != 0)
        return errno;
    int errnum = connect(fd, (const struct sockaddr *)at, size) == 0 ? 0 : errno;
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &own, sizeof(own));
    return errnum;
}

static bool is_under_way(int errnum)
{
    return errnum == EINPROGRESS || errnum == EALREADY || errnum == EAGAIN;
}

static struct listener_reply connect_inet(struct connector *c, const struct listener_call *call,
    int *fd, const struct sockaddr_storage *at, socklen_t size)
{
    if (!is_blocking(*fd))
        return connected(connect(*fd, (const struct sockaddr *)at, size) == 0 ? 0 : errno);
    int errnum = connect_briefly(*fd, at, size);
    if (!is_under_way(errnum))
        return connected(errnum);
    struct connector_wait *w = connector_keep(c, call, CONNECTOR_INET, fd);
    if (!w)
        return refuse(EAGAIN);
    w->address = *at;
    w->size = size;
    return (struct listener_reply){LISTENER_ANSWERED, 0};
}

/* The same call once more tells how it ended. */
static void continue_inet(struct connector *c, struct listener *l, struct connector_wait *w)
{
    struct pollfd ready = {.fd = w->fd, .events = POLLOUT};
    if (poll(&ready, 1, 0) <= 0) {
        if (clock_mono_ms() >= w->end_ms)
            connector_answer(c, l, w, refuse(EINPROGRESS));
        return;
    }
    int errnum = connect_briefly(w->fd, &w->address, w->size);
    if (!is_under_way(errnum))
        connector_answer(c, l, w, connected(errnum == EISCONN ? 0 : errnum));
}

/* Unix sockets -------------------------------------------------------------------------------- */

/* Asks process 1. Returns false if it is gone. */
static bool connector_ask(const struct connector *c, struct connector_wait *w)
{
    const struct iovec part = {&w->request, w->n_request};
    w->state = CONNECTOR_ASKED;
    return packet_send(c->process_1, &part, 1, NULL, 0, MSG_DONTWAIT) >= 0;
}

/* Sets the path of a request: absolute, or abstract. Returns its size, or 0 and errno. */
static size_t connector_set_path(
    char path[PATH_MAX], pid_t thread, const struct sockaddr_un *at, size_t n_address)
{
    const size_t n = n_address - offsetof(struct sockaddr_un, sun_path);
    if (!at->sun_path[0]) {
        memcpy(path, at->sun_path, n);
        return n;
    }
    const size_t length = strnlen(at->sun_path, n);
    size_t base = 0;
    if (at->sun_path[0] != '/') {
        base = proc_entry_link(thread, "cwd", path, PATH_MAX);
        errno = ENOENT;
        if (!base || path[0] != '/')
            return 0;
        path[base++] = '/';
    }
    errno = ENAMETOOLONG;
    if (base + length + 1 >= PATH_MAX)
        return 0;
    memcpy(path + base, at->sun_path, length);
    path[base + length] = '\0';
    return base + length + 1;
}

/* Why a socket can't be connected, as the kernel says it; 0: it can. */
static int check_unix(int fd, int type, const struct sockaddr_un *at, size_t n)
{
    struct sockaddr_un peer;
    socklen_t size = sizeof(peer);
    if (at->sun_family != AF_UNIX || n <= offsetof(struct sockaddr_un, sun_path) || n > sizeof(*at))
        return EINVAL;
    if (get_option(fd, SO_ACCEPTCONN) != 0)
        return EINVAL;
    if (getpeername(fd, (struct sockaddr *)&peer, &size) == 0)
        return EISCONN;
    return type == SOCK_STREAM || type == SOCK_SEQPACKET ? 0 : EPERM;
}

static struct listener_reply connect_unix(struct connector *c, const struct listener_call *call,
    int *fd, const struct sockaddr_storage *at, socklen_t size)
{
    const struct sockaddr_un *address = (const struct sockaddr_un *)at;
    const int type = get_option(*fd, SO_TYPE);
    int errnum = check_unix(*fd, type, address, size);
    if (errnum)
        return refuse(errnum);
    struct connector_wait *w = connector_keep(c, call, CONNECTOR_ASKED, fd);
    if (!w)
        return refuse(EAGAIN);
    size_t n = connector_set_path(w->request.path, (pid_t)call->request->pid, address, size);
    errnum = errno;
    w->request.type = (uint32_t)type;
    w->n_request = offsetof(struct connector_request, path) + n;
    if (n && connector_ask(c, w))
        return (struct listener_reply){LISTENER_ANSWERED, 0};
    connector_drop(c, w);
    return refuse(n ? ECONNREFUSED : errnum);
}

static void copy_option(int from, int to, int option, socklen_t size)
{
    struct timeval value;
    if (getsockopt(from, SOL_SOCKET, option, &value, &size) == 0)
        setsockopt(to, SOL_SOCKET, option, &value, size);
}

/* The kernel doubles a size that is set. */
static void copy_size(int from, int to, int option)
{
    int value = get_option(from, option) / 2;
    setsockopt(to, SOL_SOCKET, option, &value, sizeof(value));
}

/* Replaces the command's socket. Returns 0 or an errno. */
static int hand_over(int listener, const struct connector_wait *w, int fd)
{
    char what[32], text[PROC_ENTRY_MAX];
    const int number = (int)w->call.data.args[0];
    copy_option(w->fd, fd, SO_PASSCRED, sizeof(int));
    copy_option(w->fd, fd, SO_RCVTIMEO, sizeof(struct timeval));
    copy_option(w->fd, fd, SO_SNDTIMEO, sizeof(struct timeval));
    copy_size(w->fd, fd, SO_SNDBUF);
    copy_size(w->fd, fd, SO_RCVBUF);
    if (fcntl(fd, F_SETFL, fcntl(w->fd, F_GETFL)) != 0)
        return errno;
    snprintf(what, sizeof(what), "fdinfo/%d", number);
    if (!proc_entry_read((pid_t)w->call.pid, what, text))
        return EBADF;
    const bool cloexec = proc_entry_number(text, "flags:", 8) & STATUS_CLOEXEC;
    struct seccomp_notif_addfd add = {.id = w->call.id,
        .flags = SECCOMP_ADDFD_FLAG_SETFD,
        .srcfd = (unsigned)fd,
        .newfd = (unsigned)number,
        .newfd_flags = cloexec ? O_CLOEXEC : 0};
    while (ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add) < 0)
        if (errno != EINTR)
            return errno;
    return 0;
}

/* Receives an answer of process 1: 1, or 0 if there is none. */
static int receive_answer(
    const struct connector *c, struct connector_answer *ret_answer, int *ret_fd)
{
    char space[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8)));
    struct iovec iov = {ret_answer, sizeof(*ret_answer)};
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof(space)};
    ssize_t n = recvmsg(c->process_1, &msg, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    struct cmsghdr *found = n > 0 ? CMSG_FIRSTHDR(&msg) : NULL;
    *ret_fd = -1;
    if (found && found->cmsg_type == SCM_RIGHTS)
        memcpy(ret_fd, CMSG_DATA(found), sizeof(int));
    return n == (ssize_t)sizeof(*ret_answer);
}

static void take_answer(struct connector *c, struct listener *l, struct connector_wait *w,
    const struct connector_answer *answer, int fd)
{
    int errnum = answer->errnum;
    if (errnum == EAGAIN && w->blocks && clock_mono_ms() < w->end_ms) {
        w->state = CONNECTOR_RETRY;
        w->retry_ms = clock_mono_ms() + RETRY_MS;
        return;
    }
    if (answer->foreign)
        listener_report_socket(l, &w->call, w->request.path);
    if (errnum == 0)
        errnum = fd >= 0 ? hand_over(listener_fd(l), w, fd) : EMFILE;
    connector_answer(c, l, w, connected(errnum));
}

/* Calls --------------------------------------------------------------------------------------- */

struct listener_reply connector_handle(const struct listener_call *call)
{
    struct connector *c = call->connector;
    struct sockaddr_storage at = {0};
    const pid_t caller = find_caller((pid_t)call->request->pid);
    if (caller <= 0)
        return refuse(ESRCH);
    AUTO_FD int fd = take_socket(call, caller);
    if (fd < 0)
        return refuse(errno);
    const int family = get_option(fd, SO_DOMAIN);
    if (family < 0)
        return refuse(ENOTSOCK);
    const bool inet = family == AF_INET || family == AF_INET6;
    if (!inet && family != AF_UNIX)
        return refuse(EPERM);
    const int size = (int)call->request->data.args[2];
    if (size < 0 || (size_t)size > sizeof(at))
        return refuse(EINVAL);
    if (size && listener_read(call, call->request->data.args[1], &at, (size_t)size) != size)
        return refuse(EFAULT);
    return inet ? connect_inet(c, call, &fd, &at, (socklen_t)size)
                : connect_unix(c, call, &fd, &at, (socklen_t)size);
}

bool connector_waits(const struct connector *c)
{
    return c && c->n;
}

size_t connector_poll(
    const struct connector *c, struct pollfd fds[CONNECTOR_POLLED], int *ret_timeout_ms)
{
    size_t n = 0;
    *ret_timeout_ms = CHECK_MS;
    fds[n++] = (struct pollfd){.fd = c->process_1, .events = POLLIN};
    for (size_t i = 0; i < CONNECTOR_MAX; i++) {
        const struct connector_wait *w = &c->waits[i];
        if (w->state == CONNECTOR_INET)
            fds[n++] = (struct pollfd){.fd = w->fd, .events = POLLOUT};
        if (w->state == CONNECTOR_RETRY)
            *ret_timeout_ms = RETRY_MS;
    }
    return n;
}

void connector_continue(struct connector *c, struct listener *l)
{
    struct connector_answer answer;
    int got = -1;
    while (receive_answer(c, &answer, &got)) {
        AUTO_FD int fd = TAKE_FD(got);
        struct connector_wait *w = connector_find(c, CONNECTOR_ASKED, answer.id);
        if (w)
            take_answer(c, l, w, &answer, fd);
    }
    for (size_t i = 0; i < CONNECTOR_MAX; i++) {
        struct connector_wait *w = &c->waits[i];
        uint64_t id = w->call.id;
        if (w->state == CONNECTOR_FREE || w->state == CONNECTOR_ASKED)
            continue;
        if (ioctl(listener_fd(l), SECCOMP_IOCTL_NOTIF_ID_VALID, &id) != 0)
            connector_drop(c, w); /* the caller was killed */
        else if (w->state == CONNECTOR_INET)
            continue_inet(c, l, w);
        else if (clock_mono_ms() >= w->retry_ms && !connector_ask(c, w))
            connector_answer(c, l, w, refuse(ECONNREFUSED));
    }
}
