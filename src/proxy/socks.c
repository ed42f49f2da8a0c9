/* SOCKS5 (RFC 1928): only the method without authentication, and only CONNECT. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "proxy/head.h"

enum {
    SOCKS_VERSION = 5,
    NO_PASSWORD = 0,
    NO_WAY = 0xff,
    COMMAND_CONNECT = 1,
    FORM_V4 = 1,
    FORM_NAME = 3,
    FORM_V6 = 4,
    FAILED = 1,
    NO_COMMAND = 7,
    NO_FORM = 8,
    REQUEST_FIXED = 4, /* version, command, reserved, address type */
};

static uint8_t byte_at(struct str s, size_t i)
{
    return (uint8_t)s.p[i];
}

enum head_state socks_greet(struct str bytes, struct socks_greeting *ret_greeting)
{
    struct socks_greeting g = {.answer = {SOCKS_VERSION, NO_WAY}, .refused = true};
    if (bytes.n >= 1 && byte_at(bytes, 0) != SOCKS_VERSION)
        return HEAD_BAD;
    if (bytes.n < 2 || bytes.n < 2u + byte_at(bytes, 1))
        return HEAD_MORE;
    g.used = 2u + byte_at(bytes, 1);
    for (size_t i = 2; i < g.used; i++)
        if (byte_at(bytes, i) == NO_PASSWORD) {
            g.answer[1] = NO_PASSWORD;
            g.refused = false;
        }
    *ret_greeting = g;
    return HEAD_WHOLE;
}

static enum head_state socks_reject(struct proxy_request *r, unsigned status, const char *why)
{
    r->status = status;
    r->why = why;
    return HEAD_BAD;
}

/* Offset and length of the address; length 0 if its type is unknown. */
static size_t address_size(struct str bytes, size_t *ret_at)
{
    uint8_t form = byte_at(bytes, 3);
    *ret_at = REQUEST_FIXED + (form == FORM_NAME);
    if (form == FORM_NAME)
        return byte_at(bytes, REQUEST_FIXED);
    return form == FORM_V4 ? 4 : form == FORM_V6 ? 16 : 0;
}

static void read_host(struct str address, uint8_t form, struct proxy_request *r)
{
    struct proxy_addr addr = {.v6 = form == FORM_V6};
    r->host = address;
    if (form == FORM_NAME)
        return;
    memcpy(addr.bytes, address.p, address.n);
    addr_text(&addr, r->text);
    r->host = str_z(r->text);
}

enum head_state socks_parse(struct str bytes, struct proxy_request *ret_request)
{
    struct proxy_request *r = ret_request;
    size_t at;
    *r = (struct proxy_request){.kind = PROXY_SOCKS};
    if (bytes.n >= 1 && byte_at(bytes, 0) != SOCKS_VERSION)
        return socks_reject(r, FAILED, "it is not a SOCKS5 request");
    if (bytes.n >= 2 && byte_at(bytes, 1) != COMMAND_CONNECT)
        return socks_reject(r, NO_COMMAND, "for SOCKS, only CONNECT is supported");
    if (bytes.n <= REQUEST_FIXED)
        return HEAD_MORE;
    size_t size = address_size(bytes, &at);
    if (size == 0)
        return socks_reject(r, NO_FORM, "the host is neither a name nor an address");
    r->used = at + size + 2;
    if (bytes.n < r->used)
        return HEAD_MORE;
    read_host(str_n(bytes.p + at, size), byte_at(bytes, 3), r);
    r->port = (uint16_t)(byte_at(bytes, r->used - 2) << 8 | byte_at(bytes, r->used - 1));
    return HEAD_WHOLE;
}
