/* Fuzzes a box's input to its proxy: heads of HTTP, SOCKS, and bodies in pieces. Accepted input is
 * one request for the host that was judged, however it was cut. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/host.h"
#include "proxy/head.h"
#include "proxy/proxy.h"

#include <strings.h>

enum {
    INPUT_MAX = 4096,
    OUT_MAX = 64 * 1024,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef enum head_state parse_fn(struct str bytes, struct proxy_request *ret_request);

static void check_host(const struct proxy_request *r)
{
    struct proxy_host host, again;
    const char *why;
    if (!host_parse(r->host, &host, &why))
        return;
    if (host.is_addr)
        return;
    BUG_ON(strlen(host.name) > HOST_NAME_MAX_BYTES ||
           strspn(host.name, "0123456789.") == strlen(host.name));
    BUG_ON(!host_parse(str_z(host.name), &again, &why) || !host_eq(&host, &again));
}

/* As a server reads it, more leniently than we do: splits at line feeds. */
static void check_sent(const struct proxy_request *r)
{
    AUTO_BUF struct buf out = BUF_INIT(OUT_MAX);
    struct str line, rest;
    size_t hosts = 0, ends = 0, closes = 0, empty = 0;
    head_rewrite(r, &out);
    BUG_ON(!buf_ok(&out));
    rest = buf_str(&out);
    while (str_cut(rest, '\n', &line, &rest)) {
        BUG_ON(line.n == 0 || line.p[line.n - 1] != '\r' || memchr(line.p, '\r', line.n - 1));
        BUG_ON(line.p[0] == ' ' || line.p[0] == '\t' || memchr(line.p, 0, line.n));
        hosts += line.n > 5 && strncasecmp(line.p, "host:", 5) == 0;
        ends += line.n > 15 && strncasecmp(line.p, "content-length:", 15) == 0;
        ends += line.n > 18 && strncasecmp(line.p, "transfer-encoding:", 18) == 0;
        closes += line.n > 11 && strncasecmp(line.p, "connection:", 11) == 0;
        empty += line.n == 1;
    }
    BUG_ON(hosts != 1 || ends > 1 || closes != 1 || empty != 1);
    BUG_ON(ends == 0 && r->body.state != BODY_END);
}

static void check_parse(struct str bytes, parse_fn *parse)
{
    struct proxy_request whole, part;
    enum head_state state = parse(bytes, &whole);
    for (size_t n = 0; n < bytes.n; n++) {
        enum head_state now = parse(str_head(bytes, n), &part);
        if (state == HEAD_WHOLE)
            BUG_ON(now != (n < whole.used ? HEAD_MORE : HEAD_WHOLE));
        else
            BUG_ON(now != HEAD_MORE && now != state);
    }
    BUG_ON(state == HEAD_BAD && (!whole.why || !whole.status));
    if (state != HEAD_WHOLE)
        return;
    BUG_ON(whole.used > bytes.n || whole.used == 0);
    check_host(&whole);
    if (whole.kind == PROXY_PLAIN)
        check_sent(&whole);
}

static void check_body(struct str bytes, struct proxy_body body)
{
    struct proxy_body bytewise = body;
    size_t mine = 0, whole = body_take(&body, bytes);
    for (size_t i = 0; i < bytes.n; i++)
        mine += body_take(&bytewise, str_n(bytes.p + i, 1));
    BUG_ON(mine != whole || body.state != bytewise.state || body.left != bytewise.left);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str bytes = str_n((const char *)data, size);
    struct socks_greeting greeting;
    if (size > INPUT_MAX)
        return 0;
    check_parse(bytes, head_parse);
    check_parse(bytes, socks_parse);
    if (socks_greet(bytes, &greeting) == HEAD_WHOLE)
        check_parse(str_skip(bytes, greeting.used), socks_parse);
    check_body(bytes, (struct proxy_body){.state = BODY_SIZE});
    check_body(bytes, (struct proxy_body){.state = BODY_LENGTH, .left = size / 2 + 1});
    return 0;
}
