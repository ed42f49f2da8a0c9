/* Host names in requests and in the allowlist. Pure.
 *
 *     struct proxy_host host;
 *     if (!host_parse(text, &host, &why)) refuse(why);
 *     if (!host_allowed(&list, &host, port)) …
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_HOST_H
#define PROXY_HOST_H

#include "base/field.h"
#include "proxy/addr.h"

enum {
    HOST_NAME_MAX_BYTES = 253,
    HOST_LABEL_MAX = 63,
};

/* Canonical form of a host: lower case, without trailing dot; addresses in binary. */
struct proxy_host {
    bool is_addr;
    struct proxy_addr addr;
    char name[HOST_NAME_MAX_BYTES + 1]; /* if it is not an address */
};

/* Parses a name of letters, digits, hyphens and underscores in labels, or an address
 * (proxy/addr.h). Rejects text that a resolver could take for an address in another notation
 * (127.1, 0x7f000001, 2130706433, 017700000001). Names beyond ASCII must be in punycode. */
bool host_parse(struct str text, struct proxy_host *ret_host, const char **ret_why);
bool host_eq(const struct proxy_host *a, const struct proxy_host *b);

/* Splits `host:port` or `host`; *ret_port is 0 without a port. Rejects userinfo. */
bool host_split(struct str text, struct str *ret_host, uint16_t *ret_port);

bool host_allowed(const struct str_list *hosts, const struct proxy_host *host, uint16_t port);

#endif
