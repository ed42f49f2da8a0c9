/* What a client is told when there is no connection for it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_PROXY_ANSWER_H
#define BOX_PROXY_ANSWER_H

#include "base/buf.h"

enum {
    ANSWER_MAX = 4 * 1024,
};

/* In HTTP: a status with a text for people. Whatever does not just show itself is replaced. */
void answer_http(struct buf *out, unsigned status, struct str text);

/* In SOCKS5: a code. */
void answer_socks(struct buf *out, uint8_t code);

/* "cordon: this box may not reach …", why, and what would allow `entry`; "": nothing would. */
void answer_refusal(
    struct buf *text, struct str host, uint16_t port, const char *why, const char *entry);

#endif
