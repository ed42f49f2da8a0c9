/* Sends one packet with file descriptors attached. Does not allocate, so a freshly cloned process
 * may use it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IO_PACKET_H
#define IO_PACKET_H

#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

enum {
    PACKET_FDS = 8, /* maximum per packet */
};

/* Returns the result of sendmsg(), without SIGPIPE. The flags are those of sendmsg(), such as
 * MSG_DONTWAIT. The caller keeps ownership of the descriptors. */
ssize_t packet_send(
    int socket, const struct iovec *parts, size_t n_parts, const int *fds, size_t n_fds, int flags);

#endif
