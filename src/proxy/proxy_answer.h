/* Error replies of the proxy to a client. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_PROXY_ANSWER_H
#define PROXY_PROXY_ANSWER_H

#include "base/buf.h"

enum {
    ANSWER_MAX = 4 * 1024,
};

/* HTTP: a status with a message. Control characters in it are replaced. */
void answer_http(struct buf *out, unsigned status, struct str text);

/* SOCKS5: a reply code. */
void answer_socks(struct buf *out, uint8_t code);

/* "cordon: this box may not reach …", the reason, and the option that allows `entry` unless "". */
void answer_refusal(
    struct buf *text, struct str host, uint16_t port, const char *why, const char *entry);

#endif
