/* Addresses as the proxy takes them: one written form each, and which of them lie on the open
 * network.
 *
 *     struct proxy_addr a;
 *     if (addr_parse(STR("[::1]"), &a) && (why = addr_not_public(&a))) …   "this machine"
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_PROXY_ADDR_H
#define BOX_PROXY_ADDR_H

#include "base/str.h"

#include <netinet/in.h>

enum {
    ADDR_TEXT = INET6_ADDRSTRLEN + 2, /* with brackets */
};

struct proxy_addr {
    uint8_t bytes[16]; /* of IPv4 the first four; the rest is 0 */
    bool v6;
};

/* Four decimal numbers without leading zeros, or IPv6 in brackets. An IPv4 address in IPv6's
 * clothes
 * (::ffff:127.0.0.1) is none: it has a form of its own already. */
bool addr_parse(struct str text, struct proxy_addr *ret_addr);
void addr_text(const struct proxy_addr *addr, char text[ADDR_TEXT]);
bool addr_eq(const struct proxy_addr *a, const struct proxy_addr *b);

/* NULL: an address of the open network. Otherwise what it is instead, such as "a private network".
 */
const char *addr_not_public(const struct proxy_addr *addr);

/* False: of neither family. A mapped IPv4 address becomes IPv4, which it is for the kernel. */
bool addr_from_sockaddr(const struct sockaddr *from, struct proxy_addr *ret_addr);
socklen_t addr_to_sockaddr(
    const struct proxy_addr *addr, uint16_t port, struct sockaddr_storage *ret_to);

#endif
