/* The pure parts of a box's proxy. Most of it is data: the tables in tests/box/proxy. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "policy/host.h"
#include "proxy/head.h"
#include "proxy/proxy.h"
#include "proxy/proxy_answer.h"

enum {
    BYTES_MAX = 64 * 1024,
    LIST_MAX = 8,
    COLUMNS = 4,
};

static int hex(char c)
{
    return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

static void unescape(struct str text, struct buf *bytes)
{
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c != '\\' || i + 1 == text.n) {
            buf_add_byte(bytes, c);
            continue;
        }
        c = text.p[++i];
        if (c == 'x' && i + 2 < text.n) {
            buf_add_byte(bytes, (char)(hex(text.p[i + 1]) << 4 | hex(text.p[i + 2])));
            i += 2;
        } else {
            buf_add_byte(bytes, c == 'r' ? '\r' : c == 'n' ? '\n' : c == 't' ? '\t' : c);
        }
    }
}

struct row {
    struct str column[COLUMNS];
};

/* Calls check() for each line; there must be at least this many. */
static void each_row(const char *file, size_t least, void (*check)(const struct row *row))
{
    char path[4096];
    snprintf(path, sizeof(path), TESTS_DIR "/box/proxy/%s", file);
    AUTO_FREE char *text = test_read(path);
    struct str line, rest = str_z(text);
    size_t n = 0;
    while (str_cut(rest, '\n', &line, &rest)) {
        struct row row = {0};
        if (line.n == 0 || line.p[0] == '#')
            continue;
        AUTO_FREE char *name = strndup(line.p, line.n);
        test_row(n++, name);
        for (size_t i = 0; i < COLUMNS; i++)
            str_cut(line, '\t', &row.column[i], &line);
        check(&row);
    }
    CHECK(n >= least);
}

static void check_name(const struct row *row)
{
    AUTO_BUF struct buf host = BUF_INIT(BYTES_MAX);
    struct str entries[LIST_MAX], rest = row->column[0];
    struct str_list list = {.p = entries};
    int64_t port = 0;
    while (list.n < LIST_MAX && str_cut(rest, ',', &entries[list.n], &rest))
        list.n++;
    unescape(row->column[1], &host);
    CHECK(str_to_int(row->column[2], 0, UINT16_MAX, &port));
    struct proxy_host parsed;
    const char *why;
    bool allowed =
        host_parse(buf_str(&host), &parsed, &why) && host_allowed(&list, &parsed, (uint16_t)port);
    CHECK_STR(allowed ? STR("yes") : STR("no"), row->column[3]);
}

TEST(proxy_names)
{
    each_row("names.tsv", 80, check_name);
}

TEST(proxy_name_limits)
{
    char label[HOST_LABEL_MAX + 2], name[HOST_NAME_MAX_BYTES + 3];
    struct proxy_host host;
    const char *why;
    memset(label, 'a', sizeof(label));
    CHECK(host_parse(str_n(label, HOST_LABEL_MAX), &host, &why));
    CHECK(!host_parse(str_n(label, HOST_LABEL_MAX + 1), &host, &why));
    for (size_t i = 0; i < sizeof(name); i++)
        name[i] = i % 2 ? '.' : 'a';
    CHECK(host_parse(str_n(name, HOST_NAME_MAX_BYTES), &host, &why));
    CHECK(host_parse(str_n(name, HOST_NAME_MAX_BYTES + 1), &host, &why)); /* with a trailing dot */
    CHECK(!host_parse(str_n(name, HOST_NAME_MAX_BYTES + 2), &host, &why));
}

TEST(proxy_entries)
{
    static const struct {
        const char *entry, *why; /* NULL: valid */
    } rows[] = {
        {"example.com", NULL},
        {"Example.com.", NULL},
        {"*.example.com:8443", NULL},
        {"192.0.2.7", NULL},
        {"192.0.2.7:22", NULL},
        {"[2001:db8::7]", NULL},
        {"[2001:db8::7]:22", NULL},
        {"xn--exmple-cua.com", NULL},
        {"", "expected example.com"},
        {"*", "for access to all hosts, use --everything"},
        {"*.", "not a valid host name"},
        {"*.*.example.com", "not a valid host name"},
        {"a.*.example.com", "not a valid host name"},
        {"*.192.0.2.7", "'*.' cannot be combined with an address"},
        {"https://example.com", "without scheme"},
        {"example.com/path", "not a valid host name"},
        {"user@example.com", "expected example.com"},
        {"example.com:0", "expected example.com"},
        {"example.com:65536", "expected example.com"},
        {"example.com:", "expected example.com"},
        {"example.com:http", "expected example.com"},
        {"2001:db8::7", "expected example.com"},
        {"[::ffff:127.0.0.1]", "not an IPv6 address in a supported form"},
        {"127.1", "in an unsupported form"},
        {"0x7f000001", "in an unsupported form"},
        {"192.0.2.0/24", "not a valid host name"},
        {"ex\xc3\xa4mple.com", "not a valid host name"},
        {"-a.com", "not a valid host name"},
        {"a-.com", "not a valid host name"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ERR struct err err = {0};
        test_row(i, rows[i].entry);
        bool ok = host_check(str_z(rows[i].entry), "--everything", &err);
        if (rows[i].why)
            CHECK(!ok && CHECK_ERR(&err, E_CLI_INVALID_ARG, rows[i].why));
        else
            CHECK_OK(ok, &err);
    }
}

/* An IPv4 address within an IPv6 one: the prefix, and its offset. */
static struct proxy_addr spelled(const struct proxy_addr *v4, const char *prefix, size_t at)
{
    struct proxy_addr addr;
    BUG_ON(!addr_parse(str_z(prefix), &addr));
    memcpy(addr.bytes + at, v4->bytes, 4);
    return addr;
}

/* An address that contains another one is at most as public as that one. */
static void check_spellings(const struct proxy_addr *v4, const char *what)
{
    struct sockaddr_in6 mapped = {.sin6_family = AF_INET6};
    struct proxy_addr again, nat64 = spelled(v4, "[64:ff9b::]", 12);
    mapped.sin6_addr.s6_addr[10] = mapped.sin6_addr.s6_addr[11] = 0xff;
    memcpy(mapped.sin6_addr.s6_addr + 12, v4->bytes, 4);
    CHECK(addr_from_sockaddr((const struct sockaddr *)&mapped, &again) && addr_eq(v4, &again));
    CHECK(addr_not_public(&nat64) == what);
    static const struct {
        const char *prefix;
        size_t at;
    } never[] = {{"[::]", 12}, {"[2002::]", 2}, {"[2001::]", 4}, {"[64:ff9b:1::]", 12},
        {"[::ffff:0:0:0]", 12}};
    for (size_t i = 0; i < ARRAY_LEN(never); i++) {
        struct proxy_addr addr = spelled(v4, never[i].prefix, never[i].at);
        CHECK(addr_not_public(&addr));
    }
}

static void check_addr(const struct row *row)
{
    struct proxy_addr addr, again;
    char text[ADDR_TEXT];
    if (!CHECK(addr_parse(row->column[0], &addr)))
        return;
    const char *what = addr_not_public(&addr);
    CHECK(memmem(what ? what : "public", strlen(what ? what : "public"), row->column[1].p,
        row->column[1].n));
    addr_text(&addr, text);
    CHECK(addr_parse(str_z(text), &again) && addr_eq(&addr, &again));
    struct sockaddr_storage to;
    addr_to_sockaddr(&addr, 80, &to);
    CHECK(addr_from_sockaddr((const struct sockaddr *)&to, &again) && addr_eq(&addr, &again));
    if (!addr.v6)
        check_spellings(&addr, what);
}

TEST(proxy_addresses)
{
    each_row("addrs.tsv", 80, check_addr);
}

/* Heads ---------------------------------------------------------------------------------------- */

static void describe(enum head_state state, const struct proxy_request *r, struct buf *out)
{
    static const char *const kinds[] = {"tunnel ", "plain ", ""};
    const char *body = r->body.state == BODY_END      ? "none"
                       : r->body.state == BODY_LENGTH ? "length"
                                                      : "chunked";
    if (state == HEAD_MORE)
        buf_add_z(out, "more");
    else if (state == HEAD_BAD)
        buf_printf(out, "bad %u", r->status);
    else
        buf_printf(out, "%s" STR_FMT " %u%s%s", kinds[r->kind], STR_ARG(r->host), r->port,
            r->kind == PROXY_PLAIN ? " " : "", r->kind == PROXY_PLAIN ? body : "");
}

/* Cut anywhere, it is the same request or not complete yet; memory of exactly that size. */
static void check_cuts(struct str bytes, enum head_state whole, size_t used,
    enum head_state (*parse)(struct str bytes, struct proxy_request *ret_request))
{
    for (size_t n = 0; n < bytes.n; n++) {
        struct proxy_request r;
        AUTO_FREE char *copy = base_alloc(n + 1);
        AUTO_FREE char *exact = n ? base_alloc(n) : NULL;
        memcpy(copy, bytes.p, n);
        if (n)
            memcpy(exact, bytes.p, n);
        enum head_state state = parse(str_n(n ? exact : copy, n), &r);
        if (whole == HEAD_WHOLE)
            CHECK_INT(state, n < used ? HEAD_MORE : HEAD_WHOLE);
        else
            CHECK(state == HEAD_MORE || state == whole);
    }
}

static void check_head(const struct row *row)
{
    AUTO_BUF struct buf bytes = BUF_INIT(BYTES_MAX), got = BUF_INIT(BYTES_MAX),
                        want = BUF_INIT(BYTES_MAX), sent = BUF_INIT(BYTES_MAX);
    struct proxy_request r;
    struct str what = row->column[2];
    unescape(row->column[1], &bytes);
    enum head_state state = head_parse(buf_str(&bytes), &r);
    describe(state, &r, &got);
    CHECK_STR(buf_str(&got), str_head(what, state == HEAD_BAD ? strlen("bad 400") : what.n));
    if (state == HEAD_BAD) {
        struct str part = str_skip(what, strlen("bad 400 "));
        CHECK(memmem(r.why, strlen(r.why), part.p, part.n));
    }
    check_cuts(buf_str(&bytes), state, r.used, head_parse);
    unescape(row->column[3], &want);
    if (state == HEAD_WHOLE && r.kind == PROXY_PLAIN)
        head_rewrite(&r, &sent);
    CHECK_STR(buf_str(&sent), buf_str(&want));
}

TEST(proxy_heads)
{
    each_row("heads.tsv", 90, check_head);
}

TEST(proxy_head_limits)
{
    AUTO_BUF struct buf head = BUF_INIT(BYTES_MAX), many = BUF_INIT(BYTES_MAX);
    struct proxy_request r;
    buf_add_z(&head, "GET http://a.com/");
    while (head.n < PROXY_HEAD_MAX - 1)
        buf_add_byte(&head, 'x');
    CHECK_INT(head_parse(buf_str(&head), &r), HEAD_MORE);
    buf_add_byte(&head, 'x');
    CHECK_INT(head_parse(buf_str(&head), &r), HEAD_BAD);
    CHECK_INT(r.status, 431);
    buf_add_z(&many, "GET http://a.com/ HTTP/1.1\r\nHost: a.com\r\n");
    for (int i = 1; i < HEAD_FIELDS_MAX; i++)
        buf_add_z(&many, "a: b\r\n");
    size_t fits = many.n;
    buf_add_z(&many, "\r\n");
    CHECK_INT(head_parse(buf_str(&many), &r), HEAD_WHOLE);
    buf_truncate(&many, fits);
    buf_add_z(&many, "a: b\r\n\r\n");
    CHECK_INT(head_parse(buf_str(&many), &r), HEAD_BAD);
    CHECK_INT(r.status, 431);
}

static void check_socks(const struct row *row)
{
    AUTO_BUF struct buf bytes = BUF_INIT(BYTES_MAX), got = BUF_INIT(BYTES_MAX);
    struct proxy_request r;
    unescape(row->column[1], &bytes);
    enum head_state state = socks_parse(buf_str(&bytes), &r);
    describe(state, &r, &got);
    CHECK_STR(buf_str(&got), row->column[2]);
    check_cuts(buf_str(&bytes), state, r.used, socks_parse);
}

TEST(proxy_socks)
{
    each_row("socks.tsv", 10, check_socks);
}

TEST(proxy_socks_greeting)
{
    static const struct {
        struct str bytes;
        enum head_state state;
        size_t used;
        bool refused;
    } rows[] = {
        {STR("\5"), HEAD_MORE, 0, false},
        {STR("\5\1"), HEAD_MORE, 0, false},
        {STR("\5\1\0"), HEAD_WHOLE, 3, false},
        {STR("\5\2\2\0more"), HEAD_WHOLE, 4, false},
        {STR("\5\1\2"), HEAD_WHOLE, 3, true},
        {STR("\5\0"), HEAD_WHOLE, 2, true},
        {STR("\4\1"), HEAD_BAD, 0, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct socks_greeting g = {0};
        test_row(i, "");
        CHECK_INT(socks_greet(rows[i].bytes, &g), rows[i].state);
        CHECK_INT(g.used, rows[i].used);
        CHECK_INT(g.refused, rows[i].refused);
        if (rows[i].state == HEAD_WHOLE)
            CHECK_INT(g.answer[1], rows[i].refused ? 0xff : 0);
    }
}

TEST(proxy_bodies)
{
    static const struct {
        enum body_state start;
        uint64_t left;
        struct str bytes;
        size_t mine;
        enum body_state end;
    } rows[] = {
        {BODY_END, 0, STR("GET"), 0, BODY_END},
        {BODY_LENGTH, 3, STR("abcGET"), 3, BODY_END},
        {BODY_LENGTH, 5, STR("abc"), 3, BODY_LENGTH},
        {BODY_SIZE, 0, STR("3\r\nabc\r\n0\r\n\r\nGET"), 13, BODY_END},
        {BODY_SIZE, 0, STR("3;a=b\r\nabc\r\n0\r\nX: y\r\n\r\nGET"), 23, BODY_END},
        {BODY_SIZE, 0, STR("0A\r\n0123456789\r\n"), 16, BODY_SIZE},
        {BODY_SIZE, 0, STR("3\nabc"), 1, BODY_BAD},
        {BODY_SIZE, 0, STR("3\r\nabcd\r\n"), 6, BODY_BAD},
        {BODY_SIZE, 0, STR("3\r\nabc\n0"), 6, BODY_BAD},
        {BODY_SIZE, 0, STR("3 \r\nabc"), 1, BODY_BAD},
        {BODY_SIZE, 0, STR("0x3\r\nabc"), 1, BODY_BAD},
        {BODY_SIZE, 0, STR("-3\r\nabc"), 0, BODY_BAD},
        {BODY_SIZE, 0, STR("\r\n"), 0, BODY_BAD},
        {BODY_SIZE, 0, STR("1000000000000000\r\n"), 15, BODY_BAD},
        {BODY_SIZE, 0, STR("0\r\n folded\r\n"), 3, BODY_BAD},
        {BODY_SIZE, 0, STR("0\r\nX: y\n"), 7, BODY_BAD},
        {BODY_SIZE, 0, STR("0\r\n\rX"), 4, BODY_BAD},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (size_t part = 1; part <= rows[i].bytes.n; part++) {
            struct proxy_body body = {.state = rows[i].start, .left = rows[i].left};
            size_t mine = 0;
            test_row(i, rows[i].bytes.p);
            for (size_t at = 0; at < rows[i].bytes.n; at += part)
                mine += body_take(&body, str_head(str_skip(rows[i].bytes, at), part));
            CHECK_INT(mine, rows[i].mine);
            CHECK_INT(body.state, rows[i].end);
        }
    }
}

TEST(proxy_answers)
{
    AUTO_BUF struct buf text = BUF_INIT(ANSWER_MAX), out = BUF_INIT(ANSWER_MAX);
    answer_refusal(&text, STR("a.com\r\nX: \x1b[1m"), 25, "it is not in the list", "a.com:25");
    CHECK_STR(buf_str(&text),
        STR("cordon: not allowed to reach a.com??X:??[1m:25: it is not in the list\n"
            "To allow it, start the box or the command with --allow-host a.com:25\n"));
    answer_http(&out, 403, STR("no\x1b\n"));
    CHECK_STR(buf_str(&out),
        STR("HTTP/1.1 403 Refused by cordon\r\nContent-Type: text/plain; charset=utf-8\r\n"
            "Content-Length: 4\r\nConnection: close\r\n\r\nno?\n"));
}
