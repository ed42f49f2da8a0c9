/* Packets with file descriptors. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "io/packet.h"

#include "base/base.h"

#include <errno.h>
#include <sys/socket.h>

ssize_t packet_send(
    int socket, const struct iovec *parts, size_t n_parts, const int *fds, size_t n_fds, int flags)
{
    char space[CMSG_SPACE(PACKET_FDS * sizeof(int))] __attribute__((aligned(8))) = {0};
    struct msghdr msg = {.msg_iov = (struct iovec *)parts, .msg_iovlen = n_parts};
    BUG_ON(n_fds > PACKET_FDS);
    if (n_fds) {
        msg.msg_control = space;
        msg.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
        memcpy(CMSG_DATA(c), fds, n_fds * sizeof(int));
    }
    ssize_t n;
    while ((n = sendmsg(socket, &msg, flags | MSG_NOSIGNAL)) < 0 && errno == EINTR)
        ;
    return n;
}
