/* Addresses: the IANA special-purpose registries as a table. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/addr.h"

#include <arpa/inet.h>

struct addr_block {
    uint8_t bytes[16];
    uint8_t bits;
    const char *what; /* NULL: public */
};

#define THIS_MACHINE "this machine"
#define PRIVATE      "a private network"
#define LINK_LOCAL   "a link-local network"
#define MULTICAST    "multicast"
#define RESERVED     "a reserved block"
#define METADATA     "a cloud's metadata service"
#define CLOUD        "a cloud's internal network"

/* The first block that contains an address decides. Clouds provide services for their machines,
 * with credentials, at addresses that look public; the others they use are in IANA's blocks:
 * 169.254.169.254, 100.100.100.200, 192.0.0.192, fd00:ec2::254, fd20:ce::254. */
static const struct addr_block blocks_v4[] = {
    {{0}, 8, THIS_MACHINE},
    {{10}, 8, PRIVATE},
    {{100, 64}, 10, PRIVATE}, /* carrier-grade NAT */
    {{127}, 8, THIS_MACHINE},
    {{161, 26}, 16, CLOUD},             /* IBM */
    {{166, 8}, 14, CLOUD},              /* IBM */
    {{168, 63, 129, 16}, 32, METADATA}, /* Azure: WireServer */
    {{169, 254}, 16, LINK_LOCAL},       /* includes cloud metadata services with credentials */
    {{172, 16}, 12, PRIVATE},
    {{192, 0, 0}, 24, RESERVED},
    {{192, 0, 2}, 24, RESERVED},
    {{192, 80, 8, 124}, 32, METADATA}, /* Equinix Metal */
    {{192, 88, 99}, 24, RESERVED},
    {{192, 168}, 16, PRIVATE},
    {{198, 18}, 15, PRIVATE}, /* benchmarking; used inside networks */
    {{198, 51, 100}, 24, RESERVED},
    {{203, 0, 113}, 24, RESERVED},
    {{224}, 4, MULTICAST},
    {{240}, 4, RESERVED},
    {{0}, 0, NULL},
};

/* Only 2000::/3 is allocated. Addresses that embed an IPv4 address (6to4, Teredo) could lead
 * anywhere. */
static const struct addr_block blocks_v6[] = {
    {{[15] = 0}, 128, THIS_MACHINE},
    {{[15] = 1}, 128, THIS_MACHINE},
    {{0x20, 0x01, 0x0d, 0xb8}, 32, RESERVED},
    {{0x20, 0x01}, 23, RESERVED},
    {{0x20, 0x02}, 16, RESERVED},
    {{0x3f, 0xff}, 20, RESERVED},
    {{0x20}, 3, NULL},
    {{0xfc}, 7, PRIVATE},
    {{0xfe, 0x80}, 10, LINK_LOCAL},
    {{0xfe, 0xc0}, 10, PRIVATE},
    {{0xff}, 8, MULTICAST},
    {{0}, 0, RESERVED},
};

/* NAT64 prefix, for networks without IPv4: only the last four bytes count. */
static const uint8_t nat64[12] = {0x00, 0x64, 0xff, 0x9b};
static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

static bool in_block(const uint8_t *bytes, const struct addr_block *b)
{
    size_t whole = b->bits / 8;
    unsigned rest = b->bits % 8u;
    if (memcmp(bytes, b->bytes, whole) != 0)
        return false;
    return rest == 0 || ((bytes[whole] ^ b->bytes[whole]) >> (8 - rest)) == 0;
}

const char *addr_not_public(const struct proxy_addr *addr)
{
    const struct addr_block *b = addr->v6 ? blocks_v6 : blocks_v4;
    if (addr->v6 && memcmp(addr->bytes, nat64, sizeof(nat64)) == 0) {
        struct proxy_addr inner = {0};
        memcpy(inner.bytes, addr->bytes + sizeof(nat64), 4);
        return addr_not_public(&inner);
    }
    while (!in_block(addr->bytes, b)) /* the last block matches everything */
        b++;
    return b->what;
}

bool addr_parse(struct str text, struct proxy_addr *ret_addr)
{
    struct proxy_addr a = {0};
    char z[INET6_ADDRSTRLEN];
    a.v6 = text.n > 2 && text.p[0] == '[' && text.p[text.n - 1] == ']';
    if (a.v6)
        text = str_n(text.p + 1, text.n - 2);
    if (text.n == 0 || text.n >= sizeof(z) || memchr(text.p, 0, text.n))
        return false;
    memcpy(z, text.p, text.n);
    z[text.n] = 0;
    if (inet_pton(a.v6 ? AF_INET6 : AF_INET, z, a.bytes) != 1)
        return false;
    if (a.v6 && memcmp(a.bytes, mapped, sizeof(mapped)) == 0)
        return false;
    *ret_addr = a;
    return true;
}

void addr_text(const struct proxy_addr *addr, char text[ADDR_TEXT])
{
    char z[INET6_ADDRSTRLEN] = "";
    inet_ntop(addr->v6 ? AF_INET6 : AF_INET, addr->bytes, z, sizeof(z));
    snprintf(text, ADDR_TEXT, addr->v6 ? "[%s]" : "%s", z);
}

bool addr_eq(const struct proxy_addr *a, const struct proxy_addr *b)
{
    return a->v6 == b->v6 && memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

bool addr_from_sockaddr(const struct sockaddr *from, struct proxy_addr *ret_addr)
{
    struct proxy_addr a = {0};
    struct sockaddr_in in4;
    struct sockaddr_in6 in6;
    if (from->sa_family == AF_INET) {
        memcpy(&in4, from, sizeof(in4));
        memcpy(a.bytes, &in4.sin_addr, sizeof(in4.sin_addr));
    } else if (from->sa_family == AF_INET6) {
        memcpy(&in6, from, sizeof(in6));
        a.v6 = memcmp(&in6.sin6_addr, mapped, sizeof(mapped)) != 0;
        if (a.v6)
            memcpy(a.bytes, &in6.sin6_addr, sizeof(a.bytes));
        else
            memcpy(a.bytes, in6.sin6_addr.s6_addr + sizeof(mapped), 4);
    } else {
        return false;
    }
    *ret_addr = a;
    return true;
}

socklen_t addr_to_sockaddr(
    const struct proxy_addr *addr, uint16_t port, struct sockaddr_storage *ret_to)
{
    struct sockaddr_in in4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    memset(ret_to, 0, sizeof(*ret_to));
    if (addr->v6) {
        memcpy(&in6.sin6_addr, addr->bytes, sizeof(in6.sin6_addr));
        memcpy(ret_to, &in6, sizeof(in6));
        return sizeof(in6);
    }
    memcpy(&in4.sin_addr, addr->bytes, sizeof(in4.sin_addr));
    memcpy(ret_to, &in4, sizeof(in4));
    return sizeof(in4);
}
