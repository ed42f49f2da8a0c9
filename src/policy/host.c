/* Host names, and matching against the allowlist. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/host.h"

enum {
    PORT_HTTP = 80,
    PORT_HTTPS = 443,
};

static char host_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static bool host_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool host_is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || host_is_digit(c) || c == '-' || c == '_';
}

static bool label_ok(struct str label)
{
    if (label.n == 0 || label.n > HOST_LABEL_MAX)
        return false;
    for (size_t i = 0; i < label.n; i++)
        if (!host_is_name_byte(label.p[i]))
            return false;
    return label.p[0] != '-' && label.p[label.n - 1] != '-';
}

/* A name whose last label is a number is read as an address by resolvers. */
static bool host_is_number(struct str label)
{
    bool hex = str_starts_with(label, STR("0x"));
    for (size_t i = hex ? 2 : 0; i < label.n; i++)
        if (!host_is_digit(label.p[i]) && !(hex && label.p[i] >= 'a' && label.p[i] <= 'f'))
            return false;
    return true;
}

static const char *name_fault(struct str name)
{
    struct str label = STR(""), rest = name;
    for (bool more = true; more; rest = str_skip(rest, label.n + 1)) {
        ptrdiff_t dot = str_find(rest, '.');
        more = dot >= 0;
        label = more ? str_head(rest, (size_t)dot) : rest;
        if (!label_ok(label))
            return "it is not a valid host name";
    }
    return host_is_number(label) ? "it is an address in an unsupported form" : NULL;
}

bool host_parse(struct str text, struct proxy_host *ret_host, const char **ret_why)
{
    struct proxy_host host = {0};
    if (addr_parse(text, &host.addr)) {
        host.is_addr = true;
        *ret_host = host;
        return true;
    }
    if (text.n && text.p[0] == '[') {
        *ret_why = "it is not an IPv6 address in a supported form";
        return false;
    }
    if (text.n > 1 && text.p[text.n - 1] == '.')
        text.n--;
    *ret_why = "it is not a valid host name";
    if (text.n == 0 || text.n > HOST_NAME_MAX_BYTES)
        return false;
    for (size_t i = 0; i < text.n; i++)
        host.name[i] = host_lower(text.p[i]);
    const char *fault = name_fault(str_n(host.name, text.n));
    if (fault) {
        *ret_why = fault;
        return false;
    }
    *ret_host = host;
    return true;
}

bool host_eq(const struct proxy_host *a, const struct proxy_host *b)
{
    if (a->is_addr || b->is_addr)
        return a->is_addr && b->is_addr && addr_eq(&a->addr, &b->addr);
    return str_eq(str_z(a->name), str_z(b->name));
}

bool host_split(struct str text, struct str *ret_host, uint16_t *ret_port)
{
    size_t end = 0;
    int64_t port = 0;
    if (text.n && text.p[0] == '[') {
        ptrdiff_t close = str_find(text, ']');
        end = close < 0 ? 0 : (size_t)close + 1;
    } else {
        ptrdiff_t colon = str_find(text, ':');
        end = colon < 0 ? text.n : (size_t)colon;
    }
    struct str rest = str_skip(text, end);
    if (end == 0 || str_find(text, '@') >= 0)
        return false;
    if (rest.n && (rest.p[0] != ':' || !str_to_int(str_skip(rest, 1), 1, UINT16_MAX, &port)))
        return false;
    *ret_host = str_head(text, end);
    *ret_port = (uint16_t)port;
    return true;
}

/* Allowlist ------------------------------------------------------------------------------------ */

struct host_rule {
    bool below; /* `*.`: only names below it */
    struct proxy_host host;
    uint16_t port; /* 0: those of http and https */
};

static bool rule_parse(struct str text, struct host_rule *ret_rule, const char **ret_why)
{
    struct host_rule r = {0};
    struct str host;
    *ret_why = "expected example.com, *.example.com, example.com:8443, 192.0.2.7 or "
               "[2001:db8::7]";
    if (!host_split(text, &host, &r.port))
        return false;
    r.below = str_starts_with(host, STR("*."));
    if (!host_parse(r.below ? str_skip(host, 2) : host, &r.host, ret_why))
        return false;
    if (r.below && r.host.is_addr) {
        *ret_why = "'*.' cannot be combined with an address";
        return false;
    }
    *ret_rule = r;
    return true;
}

bool host_check(struct str host, const char *all, struct err *err)
{
    struct host_rule unused;
    const char *why = NULL;
    bool url = memmem(host.p ? host.p : "", host.n, "://", 3) != NULL;
    if (!url && rule_parse(host, &unused, &why))
        return true;
    if (url)
        why = "use only the host, without scheme and path";
    const bool every = str_is(host, "*");
    return err_set(err, E_CLI_INVALID_ARG, "'" STR_FMT "'" HOST_REFUSED "%s%s",
        STR_ARG(str_head(host, HOST_NAME_MAX_BYTES)), every ? "for access to all hosts, use " : why,
        every ? all : "");
}

static bool host_rule_matches(
    const struct host_rule *r, const struct proxy_host *host, uint16_t port)
{
    bool port_ok = r->port ? r->port == port : port == PORT_HTTP || port == PORT_HTTPS;
    if (!port_ok || !r->below)
        return port_ok && host_eq(&r->host, host);
    struct str name = str_z(host->name), end = str_z(r->host.name);
    return !host->is_addr && name.n > end.n && str_ends_with(name, end) &&
           name.p[name.n - end.n - 1] == '.';
}

bool host_allowed(const struct str_list *hosts, const struct proxy_host *host, uint16_t port)
{
    const char *why;
    for (size_t i = 0; i < hosts->n; i++) {
        struct host_rule r;
        if (rule_parse(hosts->p[i], &r, &why) && host_rule_matches(&r, host, port))
            return true;
    }
    return false;
}

void host_add_direct(const struct str_list *hosts, struct buf *text)
{
    static const char *const own[] = {"localhost", "127.0.0.1"};
    for (size_t i = 0; i < ARRAY_LEN(own); i++) {
        bool listed = false;
        for (size_t k = 0; k < hosts->n; k++) {
            struct str name = hosts->p[k], port;
            (void)str_cut(name, ':', &name, &port);
            listed = listed || str_is(name, own[i]);
        }
        if (!listed)
            buf_printf(text, "%s%s", text->n ? "," : "", own[i]);
    }
}
