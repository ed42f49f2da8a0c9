/* Heads of HTTP requests to a proxy. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "proxy/head.h"

#include "policy/host.h"
#include "proxy/proxy.h"

#include <strings.h>

enum {
    BAD_REQUEST = 400,
    TOO_LONG = 431,
    NO_VERSION = 505,
    PORT_HTTP = 80,
};

/* Relevant contents of a head's fields. */
struct head_noticed {
    size_t fields, hosts, lengths, codings;
    struct str host, connection;
    int64_t length;
    bool chunked;
};

static enum head_state head_reject(struct proxy_request *r, unsigned status, const char *why)
{
    r->status = status;
    r->why = why;
    return HEAD_BAD;
}

static bool head_name_is(struct str a, const char *z)
{
    return a.n == strlen(z) && strncasecmp(a.p, z, a.n) == 0;
}

static bool head_is_token(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] <= 0x20 || s.p[i] >= 0x7f || strchr("\"(),/:;<=>?@[\\]{}", s.p[i]))
            return false;
    return s.n > 0;
}

/* Size of the head, including the empty line. Every line must end in CR LF and contain no other
 * control characters. 0: incomplete; -1: malformed. */
static ptrdiff_t head_size(struct str bytes)
{
    size_t line = 0;
    for (size_t i = 0; i < bytes.n; i++) {
        unsigned char c = (unsigned char)bytes.p[i];
        if (c == '\n') {
            if (i == 0 || bytes.p[i - 1] != '\r')
                return -1;
            if (i - line == 1)
                return line == 0 ? -1 : (ptrdiff_t)i + 1;
            line = i + 1;
        } else if ((i > 0 && bytes.p[i - 1] == '\r') || (c < 0x20 && c != '\t' && c != '\r') ||
                   c == 0x7f) {
            return -1;
        }
    }
    return 0;
}

static bool head_next_line(struct str *rest, struct str *ret_line)
{
    ptrdiff_t lf = str_find(*rest, '\n');
    if (lf < 2)
        return false;
    *ret_line = str_head(*rest, (size_t)lf - 1);
    *rest = str_skip(*rest, (size_t)lf + 1);
    return true;
}

static bool split_field(struct str line, struct str *ret_name, struct str *ret_value)
{
    ptrdiff_t colon = str_find(line, ':');
    if (colon < 1 || !head_is_token(str_head(line, (size_t)colon)))
        return false;
    *ret_name = str_head(line, (size_t)colon);
    *ret_value = str_trim(str_skip(line, (size_t)colon + 1));
    return true;
}

/* Checks whether a comma-separated list contains a name. */
static bool head_list_has(struct str list, struct str name)
{
    struct str item, rest = list;
    while (str_cut(rest, ',', &item, &rest)) {
        item = str_trim(item);
        if (item.n == name.n && strncasecmp(item.p, name.p, name.n) == 0)
            return true;
    }
    return false;
}

static bool head_note_field(struct str name, struct str value, struct head_noticed *n)
{
    if (head_name_is(name, "host")) {
        n->hosts++;
        n->host = value;
    } else if (head_name_is(name, "content-length")) {
        n->lengths++;
        bool digits = value.n && value.p[0] >= '0' && value.p[0] <= '9';
        return digits && str_to_int(value, 0, INT64_MAX, &n->length);
    } else if (head_name_is(name, "transfer-encoding")) {
        n->codings++;
        n->chunked = head_name_is(value, "chunked");
        return n->chunked;
    } else if (head_name_is(name, "connection")) {
        /* It must not remove fields that define the destination or the end of the request. */
        return !head_list_has(value, STR("host")) && !head_list_has(value, STR("content-length")) &&
               !head_list_has(value, STR("transfer-encoding"));
    }
    return true;
}

static enum head_state read_fields(struct proxy_request *r, struct head_noticed *n)
{
    struct str line, name, value, rest = r->fields;
    while (head_next_line(&rest, &line)) {
        if (line.p[0] == ' ' || line.p[0] == '\t')
            return head_reject(r, BAD_REQUEST, "a header field continues on the next line");
        if (!split_field(line, &name, &value))
            return head_reject(r, BAD_REQUEST, "a line is not a header field");
        if (++n->fields > HEAD_FIELDS_MAX)
            return head_reject(r, TOO_LONG, "too many header fields");
        if (!head_note_field(name, value, n))
            return head_reject(
                r, BAD_REQUEST, "a field about the body or the host is invalid or not supported");
    }
    if (n->hosts > 1)
        return head_reject(r, BAD_REQUEST, "it has two Host fields");
    if (n->lengths > 1 || n->codings > 1 || (n->lengths && n->codings))
        return head_reject(r, BAD_REQUEST, "the length of its body is given more than once");
    if (n->codings && !str_is(r->version, "HTTP/1.1"))
        return head_reject(r, BAD_REQUEST, "HTTP/1.0 has no Transfer-Encoding");
    return HEAD_WHOLE;
}

static enum head_state finish_tunnel(struct proxy_request *r, struct str target)
{
    struct head_noticed n = {0};
    if (!host_split(target, &r->host, &r->port) || r->port == 0)
        return head_reject(r, BAD_REQUEST, "CONNECT requires host:port");
    if (read_fields(r, &n) == HEAD_BAD)
        return HEAD_BAD;
    if (n.codings || n.length)
        return head_reject(r, BAD_REQUEST, "CONNECT cannot have a body");
    r->kind = PROXY_TUNNEL;
    return HEAD_WHOLE;
}

/* The server uses the Host field, so it must agree with the address that is checked. */
static bool same_host(const struct proxy_request *r, struct str field)
{
    struct proxy_host a, b;
    struct str text;
    uint16_t port;
    const char *why;
    if (!host_split(field, &text, &port) || (port ? port : PORT_HTTP) != r->port)
        return false;
    if (str_eq(text, r->host))
        return true; /* an invalid name is refused later */
    return host_parse(r->host, &a, &why) && host_parse(text, &b, &why) && host_eq(&a, &b);
}

static enum head_state split_url(struct proxy_request *r, struct str target)
{
    static const struct str scheme = {"http://", 7};
    if (target.n >= 8 && strncasecmp(target.p, "https://", 8) == 0)
        return head_reject(r, BAD_REQUEST, "https:// needs CONNECT");
    if (target.n < scheme.n || strncasecmp(target.p, scheme.p, scheme.n) != 0)
        return head_reject(r, BAD_REQUEST, "expected CONNECT host:port or an http:// address");
    struct str rest = str_skip(target, scheme.n);
    size_t end = 0;
    while (end < rest.n && !strchr("/?#\\", rest.p[end]))
        end++;
    r->path = str_skip(rest, end);
    if (str_find(target, '#') >= 0 || (r->path.n && r->path.p[0] == '\\'))
        return head_reject(r, BAD_REQUEST, "the address contains a fragment or a backslash");
    if (!host_split(str_head(rest, end), &r->host, &r->port))
        return head_reject(
            r, BAD_REQUEST, "the address has no host, or more than a host and a port");
    r->port = r->port ? r->port : PORT_HTTP;
    return HEAD_WHOLE;
}

static enum head_state finish_plain(struct proxy_request *r, struct str target)
{
    struct head_noticed n = {0};
    if (split_url(r, target) == HEAD_BAD || read_fields(r, &n) == HEAD_BAD)
        return HEAD_BAD;
    if (n.hosts == 0 && str_is(r->version, "HTTP/1.1"))
        return head_reject(r, BAD_REQUEST, "it has no Host field");
    if (n.hosts && !same_host(r, n.host))
        return head_reject(r, BAD_REQUEST, "its Host field differs from the host in its address");
    r->kind = PROXY_PLAIN;
    r->body.state = n.chunked ? BODY_SIZE : n.length ? BODY_LENGTH : BODY_END;
    r->body.left = (uint64_t)n.length;
    return HEAD_WHOLE;
}

enum head_state head_parse(struct str bytes, struct proxy_request *ret_request)
{
    struct proxy_request *r = ret_request;
    struct str line, target, rest, head = str_head(bytes, PROXY_HEAD_MAX);
    *r = (struct proxy_request){0};
    ptrdiff_t size = head_size(head);
    if (size < 0)
        return head_reject(r, BAD_REQUEST, "a line does not end in CR LF, or has control bytes");
    if (size == 0)
        return bytes.n < PROXY_HEAD_MAX ? HEAD_MORE
                                        : head_reject(r, TOO_LONG, "its header is too long");
    r->used = (size_t)size;
    r->fields = str_head(head, r->used);
    if (!head_next_line(&r->fields, &line) || !str_cut(line, ' ', &r->method, &rest) ||
        !str_cut(rest, ' ', &target, &r->version) || !head_is_token(r->method) || target.n == 0)
        return head_reject(r, BAD_REQUEST, "its first line is not a valid request");
    if (!str_is(r->version, "HTTP/1.1") && !str_is(r->version, "HTTP/1.0"))
        return head_reject(r, NO_VERSION, "only HTTP/1.1 and HTTP/1.0 are supported");
    if (str_find(target, '\t') >= 0)
        return head_reject(r, BAD_REQUEST, "its first line is not a valid request");
    if (str_is(r->method, "CONNECT"))
        return finish_tunnel(r, target);
    return finish_plain(r, target);
}

/* Forwarded heads ----------------------------------------------------------------------------- */

/* Hop-by-hop fields (RFC 9110, 7.6.1), or fields for the proxy. */
static bool is_for_us(struct str name)
{
    static const char *const hop[] = {"connection", "host", "keep-alive", "proxy-authenticate",
        "proxy-authorization", "proxy-connection", "te", "trailer", "upgrade"};
    for (size_t i = 0; i < ARRAY_LEN(hop); i++)
        if (head_name_is(name, hop[i]))
            return true;
    return false;
}

static bool is_named(const struct proxy_request *r, struct str wanted)
{
    struct str line, name, value, rest = r->fields;
    while (head_next_line(&rest, &line))
        if (split_field(line, &name, &value) && head_name_is(name, "connection") &&
            head_list_has(value, wanted))
            return true;
    return false;
}

static void add_host(const struct proxy_request *r, struct buf *out)
{
    buf_add_z(out, "Host: ");
    buf_add_str(out, r->host);
    if (r->port != PORT_HTTP)
        buf_printf(out, ":%u", r->port);
    buf_add_z(out, "\r\n");
}

static void add_target(const struct proxy_request *r, struct buf *out)
{
    buf_add_str(out, r->method);
    buf_add_byte(out, ' ');
    if (r->path.n == 0 && str_is(r->method, "OPTIONS"))
        buf_add_byte(out, '*');
    else if (r->path.n == 0 || r->path.p[0] != '/')
        buf_add_byte(out, '/');
    buf_add_str(out, r->path);
    buf_add_byte(out, ' ');
    buf_add_str(out, r->version);
    buf_add_z(out, "\r\n");
}

void head_rewrite(const struct proxy_request *r, struct buf *out)
{
    struct str line, name, value, rest = r->fields;
    add_target(r, out);
    add_host(r, out);
    while (head_next_line(&rest, &line)) {
        if (!split_field(line, &name, &value) || is_for_us(name) || is_named(r, name))
            continue;
        buf_add_str(out, name);
        buf_add_z(out, ": ");
        buf_add_str(out, value);
        buf_add_z(out, "\r\n");
    }
    buf_add_z(out, "Connection: close\r\n\r\n");
}
