/* One packet with descriptors beside it. Nothing here allocates: a process that was just cloned may
 * use it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IO_PACKET_H
#define IO_PACKET_H

#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

enum {
    PACKET_FDS = 8, /* at most */
};

/* As sendmsg() answers; without SIGPIPE. The flags are its own, such as MSG_DONTWAIT. The
 * descriptors stay the caller's. */
ssize_t packet_send(
    int socket, const struct iovec *parts, size_t n_parts, const int *fds, size_t n_fds, int flags);

#endif
