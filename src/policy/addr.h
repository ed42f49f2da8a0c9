/* Addresses for the proxy: exactly one accepted notation each, and classification of those that are
 * not public.
 *
 *     struct proxy_addr a;
 *     if (addr_parse(STR("[::1]"), &a) && (why = addr_not_public(&a))) …   "this machine"
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef POLICY_ADDR_H
#define POLICY_ADDR_H

#include "base/str.h"

#include <netinet/in.h>

enum {
    ADDR_TEXT = INET6_ADDRSTRLEN + 2, /* including brackets */
};

struct proxy_addr {
    uint8_t bytes[16]; /* IPv4: the first four; the rest is 0 */
    bool v6;
};

/* Four decimal numbers without leading zeros, or IPv6 in brackets. IPv4-mapped IPv6 addresses
 * (::ffff:127.0.0.1) are rejected: their notation is the IPv4 one. */
bool addr_parse(struct str text, struct proxy_addr *ret_addr);
void addr_text(const struct proxy_addr *addr, char text[ADDR_TEXT]);
bool addr_eq(const struct proxy_addr *a, const struct proxy_addr *b);

/* NULL: a public address. Otherwise its kind, such as "a private network". */
const char *addr_not_public(const struct proxy_addr *addr);

/* False if of neither family. An IPv4-mapped address becomes IPv4, as it is for the kernel. */
bool addr_from_sockaddr(const struct sockaddr *from, struct proxy_addr *ret_addr);
socklen_t addr_to_sockaddr(
    const struct proxy_addr *addr, uint16_t port, struct sockaddr_storage *ret_to);

#endif
