/* Packets between supervisor and clients. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "boxd/link.h"

#include "base/json.h"
#include "io/packet.h"
#include "sandbox/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

enum {
    BACKLOG = 64,
    ERR_TEXT_MAX = 60 * 1000,
    PATH_SIZE = sizeof(((struct sockaddr_un *)0)->sun_path),
};

static const char socket_name[] = "socket";

struct link_head {
    uint32_t version, word;
};
_Static_assert(sizeof(struct link_head) == 8, "the packet has space for the head");

/* Sending and receiving ----------------------------------------------------------------------- */

static size_t count_fds(const int *fds)
{
    size_t n = 0;
    while (fds && n < LINK_FDS && fds[n] >= 0)
        n++;
    return n;
}

enum link_sent link_send(
    int fd, enum link_word word, const void *head, size_t n_head, struct str tail, const int *fds)
{
    struct link_head h = {LINK_VERSION, word};
    const struct iovec parts[] = {
        {&h, sizeof(h)}, {(void *)(uintptr_t)head, n_head}, {(void *)(uintptr_t)tail.p, tail.n}};
    BUG_ON(n_head + tail.n > LINK_PACKET_MAX);
    ssize_t n = packet_send(fd, parts, ARRAY_LEN(parts), fds, count_fds(fds), MSG_DONTWAIT);
    if (n >= 0)
        return LINK_SENT;
    if (errno == ETOOMANYREFS)
        return LINK_CROWDED;
    return errno == EAGAIN || errno == ENOBUFS ? LINK_FULL : LINK_LOST;
}

bool link_crowded(const char *what, struct err *err)
{
    err_errno(err, E_IO, ETOOMANYREFS, "cannot pass %s to the other process", what);
    return err_ctx(err, "remedy", "%s", machine_files_remedy(ETOOMANYREFS));
}

static void link_read_fds(struct msghdr *msg, struct link_packet *p)
{
    size_t n = 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
            if (n < LINK_FDS)
                p->fds[n++] = fd;
            else
                close(fd);
        }
    }
}

enum link_got link_receive(int fd, struct link_packet *p)
{
    char space[CMSG_SPACE(LINK_FDS * sizeof(int))] __attribute__((aligned(8)));
    struct iovec iov = {p->bytes, sizeof(p->bytes)};
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof(space)};
    struct link_head head;
    ssize_t n;
    for (size_t i = 0; i < LINK_FDS; i++)
        p->fds[i] = -1;
    while ((n = recvmsg(fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
        ;
    if (n < 0)
        return errno == EAGAIN ? LINK_NOTHING : LINK_CLOSED;
    link_read_fds(&msg, p);
    if ((size_t)n < sizeof(head) || msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) {
        link_drop_fds(p);
        return LINK_CLOSED;
    }
    memcpy(&head, p->bytes, sizeof(head));
    p->word = (enum link_word)head.word;
    p->body = str_n(p->bytes + sizeof(head), (size_t)n - sizeof(head));
    if (head.version == LINK_VERSION)
        return LINK_GOT;
    link_drop_fds(p);
    return LINK_CLOSED;
}

void link_drop_fds(struct link_packet *p)
{
    for (size_t i = 0; i < LINK_FDS; i++)
        if (p->fds[i] >= 0)
            close(TAKE_FD(p->fds[i]));
}

bool link_body(const struct link_packet *p, void *ret_value, size_t size)
{
    if (p->body.n != size)
        return false;
    memcpy(ret_value, p->body.p, size);
    return true;
}

/* Connecting ---------------------------------------------------------------------------------- */

static struct sockaddr_un address_of(int host_fd)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, PATH_SIZE, "/proc/self/fd/%d/%s", host_fd, socket_name);
    return address;
}

static int new_socket(void)
{
    return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

void link_remove(int host_fd)
{
    unlinkat(host_fd, socket_name, 0);
}

bool link_listen(int host_fd, int *ret_fd, struct err *err)
{
    const struct sockaddr_un address = address_of(host_fd);
    AUTO_FD int fd = new_socket();
    link_remove(host_fd);
    mode_t mask = umask(0177);
    bool ok = fd >= 0 && bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 &&
              listen(fd, BACKLOG) == 0;
    int errnum = errno;
    umask(mask);
    if (!ok)
        return err_errno(err, E_IO, errnum, "cannot listen on the box's socket");
    *ret_fd = TAKE_FD(fd);
    return true;
}

bool link_connect(int host_fd, int *ret_fd, struct err *err)
{
    const struct sockaddr_un address = address_of(host_fd);
    AUTO_FD int fd = new_socket();
    if (fd < 0)
        return err_errno(err, E_IO, errno, "cannot create a socket");
    if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0) {
        if (errno == ENOENT || errno == ECONNREFUSED)
            return err_set(err, E_NOT_FOUND, "the box is not running");
        if (errno == EAGAIN)
            return err_set(
                err, E_CONFLICT, "too many commands are waiting for the box's supervisor");
        return err_errno(err, E_IO, errno, "cannot reach the box's supervisor");
    }
    *ret_fd = TAKE_FD(fd);
    return true;
}

int link_accept(int listener)
{
    struct ucred who;
    socklen_t n = sizeof(who);
    AUTO_FD int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) != 0 || who.uid != geteuid())
        return -1;
    return TAKE_FD(fd);
}

/* Errors -------------------------------------------------------------------------------------- */

char *link_put_err(const struct err *err)
{
    AUTO_JSON json_t *tree = err_to_json(err);
    struct buf text = BUF_INIT(ERR_TEXT_MAX);
    json_add_compact(&text, tree);
    if (!buf_ok(&text)) {
        buf_done(&text);
        text = BUF_INIT(ERR_TEXT_MAX);
        buf_printf(&text, "{\"code\":\"%s\",\"message\":\"the error message is too long\"}",
            err_name(err->code));
    }
    return buf_take(&text);
}

static enum err_code code_of(struct str name)
{
    for (int code = ERR_NONE + 1; code < ERR_COUNT; code++)
        if (str_is(name, err_name((enum err_code)code)))
            return (enum err_code)code;
    return E_PROTOCOL;
}

bool link_get_err(struct str text, struct err *err)
{
    AUTO_JSON json_t *tree = NULL;
    const char *key;
    json_t *value;
    if (!json_parse(text, "the supervisor's answer", E_PROTOCOL, &tree, err))
        return false;
    struct str message = json_str(json_object_get(tree, "message"));
    err_set(err, code_of(json_str(json_object_get(tree, "code"))), STR_FMT, STR_ARG(message));
    json_object_foreach(json_object_get(tree, "context"), key, value)
    {
        if (json_is_integer(value))
            err_ctx_int(err, key, json_integer_value(value));
        else if (json_is_string(value))
            err_ctx(err, key, "%s", json_string_value(value));
    }
    return false;
}
