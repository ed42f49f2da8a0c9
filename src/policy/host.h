/* Host names in requests to the proxy and in lists of allowed hosts. Pure.
 *
 *     struct proxy_host host;
 *     if (!host_parse(text, &host, &why)) refuse(why);
 *     if (!host_allowed(&list, &host, port)) …
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef POLICY_HOST_H
#define POLICY_HOST_H

#include "base/buf.h"
#include "base/err.h"
#include "base/field.h"
#include "policy/addr.h"

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
 * (policy/addr.h). Rejects text that a resolver could take for an address in another notation
 * (127.1, 0x7f000001, 2130706433, 017700000001). Names beyond ASCII must be in punycode. */
bool host_parse(struct str text, struct proxy_host *ret_host, const char **ret_why);
bool host_eq(const struct proxy_host *a, const struct proxy_host *b);

/* Splits `host:port` or `host`; *ret_port is 0 without a port. Rejects userinfo. */
bool host_split(struct str text, struct str *ret_host, uint16_t *ret_port);

/* Checks an entry of the list. E_CLI_INVALID_ARG; the reason follows HOST_REFUSED. `all` allows
 * every host, where the list is given: an option or a key. */
#define HOST_REFUSED " cannot be in the list of hosts: "
MUST_USE bool host_check(struct str host, const char *all, struct err *err);

/* Adds the value of NO_PROXY: the sandbox's own loopback, except for names in the list, which refer
 * to the host. */
void host_add_direct(const struct str_list *hosts, struct buf *text);

bool host_allowed(const struct str_list *hosts, const struct proxy_host *host, uint16_t port);

#endif
