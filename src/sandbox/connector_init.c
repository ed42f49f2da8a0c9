/* Connecting in process 1. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/connector_init.h"

#include "io/packet.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    NAME_AT = offsetof(struct sockaddr_un, sun_path),
    FOREIGN = -1,      /* instead of an errno */
    STATE_LISTEN = 10, /* TCP_LISTEN of the kernel, also for Unix sockets */
    LIST_BYTES = 16 * 1024,
    ATTRIBUTE_HEAD = sizeof(struct nlattr), /* aligned */
};

/* The private network's sockets -----------------------------------------------------------------
 */

static int list = -1;

void connector_prepare(void)
{
    list = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
}

static bool list_request(void)
{
    const struct {
        struct nlmsghdr head;
        struct unix_diag_req body;
    } request = {{sizeof(request), SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, 0, 0},
        {.sdiag_family = AF_UNIX, .udiag_states = 1 << STATE_LISTEN, .udiag_show = UDIAG_SHOW_VFS}};
    return send(list, &request, sizeof(request), MSG_NOSIGNAL | MSG_DONTWAIT) ==
           (ssize_t)sizeof(request);
}

/* Whether an entry has this inode as its name. The kernel lists the low half of the number. */
static bool names_inode(const struct nlmsghdr *entry, ino_t ino)
{
    const size_t head = NLMSG_ALIGN(sizeof(struct unix_diag_msg));
    const char *at = (const char *)NLMSG_DATA(entry) + head;
    const char *end = (const char *)entry + entry->nlmsg_len;
    while (end - at >= (ptrdiff_t)sizeof(struct nlattr)) {
        const struct nlattr *a = (const struct nlattr *)(const void *)at;
        if (a->nla_len < sizeof(*a) || a->nla_len > end - at)
            return false;
        if (a->nla_type == UNIX_DIAG_VFS &&
            a->nla_len >= ATTRIBUTE_HEAD + sizeof(struct unix_diag_vfs))
            return ((const struct unix_diag_vfs *)(const void *)(at + ATTRIBUTE_HEAD))
                       ->udiag_vfs_ino == (uint32_t)ino;
        at += NLA_ALIGN(a->nla_len);
    }
    return false;
}

/* Reads the whole list, also after the name was found: the rest would be the next answer. */
static bool list_has(ino_t ino, bool *ret_known)
{
    static char bytes[LIST_BYTES] __attribute__((aligned(8)));
    bool found = false;
    *ret_known = false;
    for (;;) {
        ssize_t n = recv(list, bytes, sizeof(bytes), MSG_DONTWAIT);
        if (n <= 0)
            return found;
        size_t rest = (size_t)n;
        for (struct nlmsghdr *m = (struct nlmsghdr *)(void *)bytes; NLMSG_OK(m, rest);
             m = NLMSG_NEXT(m, rest)) {
            if (m->nlmsg_type == NLMSG_DONE || m->nlmsg_type == NLMSG_ERROR) {
                *ret_known = m->nlmsg_type == NLMSG_DONE;
                return found;
            }
            found |= m->nlmsg_type == SOCK_DIAG_BY_FAMILY && names_inode(m, ino);
        }
    }
}

/* Whether a path is a socket that nothing in the private network listens on: one of the host, or an
 * old one. Only saves the attempt: the peer is checked in any case. */
static bool is_elsewhere(const char *path)
{
    struct stat st;
    bool known, found;
    if (list < 0 || stat(path, &st) != 0 || !S_ISSOCK(st.st_mode) || !list_request())
        return false;
    found = list_has(st.st_ino, &known);
    return known && !found;
}

/* Connecting ------------------------------------------------------------------------------------
 */

/* A longer path is connected from its directory. */
static int connect_path(int fd, char *path, const char *cwd)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    char *name = path, *slash = strrchr(path, '/');
    bool moved = false;
    if (strlen(path) >= sizeof(at.sun_path) && slash && slash != path) {
        *slash = '\0';
        name = slash + 1;
        if (chdir(path) != 0)
            return errno;
        moved = true;
    }
    size_t n = strlen(name);
    int errnum = ENAMETOOLONG;
    if (is_elsewhere(name)) {
        errnum = FOREIGN; /* a program that finds an old socket expects ECONNREFUSED */
    } else if (n < sizeof(at.sun_path)) {
        memcpy(at.sun_path, name, n + 1);
        errnum = connect(fd, (struct sockaddr *)&at, (socklen_t)(NAME_AT + n + 1)) == 0 ? 0 : errno;
    }
    if (moved && chdir(cwd) != 0)
        (void)!chdir("/");
    return errnum;
}

static int connect_abstract(int fd, const char *name, size_t n)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    if (n > sizeof(at.sun_path))
        return EINVAL;
    memcpy(at.sun_path, name, n);
    return connect(fd, (struct sockaddr *)&at, (socklen_t)(NAME_AT + n)) == 0 ? 0 : errno;
}

/* The kernel translates the id of the process that listens to our pid namespace: 0 if it is not in
 * there. */
static bool connector_init_is_foreign(int fd)
{
    struct ucred peer = {0};
    socklen_t size = sizeof(peer);
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.pid == 0;
}

static void connector_reply(int to, struct connector_answer *answer, int fd)
{
    const struct iovec part = {answer, sizeof(*answer)};
    if (packet_send(to, &part, 1, &fd, answer->errnum == 0, MSG_DONTWAIT) >= 0)
        return;
    /* The user's processes may have too many descriptors in flight. */
    answer->errnum = EAGAIN;
    (void)!packet_send(to, &part, 1, NULL, 0, MSG_DONTWAIT);
}

void connector_serve(int from, const char *cwd)
{
    static struct connector_request request; /* too large for the stack */
    const size_t head = offsetof(struct connector_request, path);
    ssize_t got = recv(from, &request, sizeof(request) - 1, MSG_DONTWAIT);
    if (got <= (ssize_t)head)
        return;
    const size_t n = (size_t)got - head;
    request.path[n] = '\0';
    struct connector_answer answer = {.id = request.id};
    AUTO_FD int fd = socket(AF_UNIX, (int)request.type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        answer.errnum = errno;
    else if (request.path[0])
        answer.errnum = connect_path(fd, request.path, cwd);
    else
        answer.errnum = connect_abstract(fd, request.path, n);
    answer.foreign =
        answer.errnum == FOREIGN || (answer.errnum == 0 && connector_init_is_foreign(fd));
    if (answer.foreign)
        answer.errnum = ECONNREFUSED;
    connector_reply(from, &answer, fd);
}
