/* HTTP requests as a server reads them, responses as a client does: whole, byte by byte, in
 * sequence. And where a URL leads. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/http_way.h"
#include "llm/intake.h"
#include "test.h"

static const struct {
    const char *name, *bytes;
    const char *body; /* NULL: malformed */
    unsigned status;
    enum intake_state state; /* if it is incomplete */
} rows[] = {
    {"no body", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", ""},
    {"bare line feeds", "GET / HTTP/1.1\nHost: a\n\n", ""},
    {"empty lines before", "\r\n\r\nGET / HTTP/1.1\r\n\r\n", ""},
    {"a length", "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", "hello"},
    {"a length in other letters", "POST / HTTP/1.1\r\ncontent-LENGTH:5\r\n\r\nhello", "hello"},
    {"no bytes", "POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n", ""},
    {"chunks",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n",
        "hello"},
    {"chunks with a trailer",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nA\r\n0123456789\r\n0\r\nX: y\r\n\r\n",
        "0123456789"},
    {"TLS", "\x16\x03\x01", NULL, 400},
    {"no HTTP", "hello\r\n\r\n", NULL, 400},
    {"another HTTP", "GET / HTTP/2.0\r\n\r\n", NULL, 400},
    {"no number", "POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n", NULL, 400},
    {"less than nothing", "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", NULL, 400},
    {"too long", "POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", NULL, 413},
    {"both", "POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", NULL,
        400},
    {"another encoding", "POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", NULL, 501},
    {"no chunk", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nz\r\n", NULL, 400},
    {"an empty size", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\r\n", NULL, 400},
    {"a size too long", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n111111111\r\n", NULL,
        400},
    {"a chunk without its end", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
        NULL, 400},
};

static void push(struct intake *in, struct str bytes, size_t step)
{
    for (size_t at = 0; at < bytes.n; at += step)
        intake_push(in, str_head(str_skip(bytes, at), step));
}

TEST(intake_requests)
{
    static const size_t steps[] = {1, 2, 7, 1000};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        for (size_t j = 0; j < ARRAY_LEN(steps); j++) {
            struct intake in;
            intake_init(&in);
            test_row(i, rows[i].name);
            push(&in, str_z(rows[i].bytes), steps[j]);
            CHECK_INT(in.state, rows[i].body ? INTAKE_WHOLE : INTAKE_BAD);
            CHECK_INT(in.status, rows[i].status);
            if (rows[i].body)
                CHECK_STR(buf_str(&in.body), str_z(rows[i].body));
            intake_done(&in);
        }
}

TEST(intake_one_after_the_other)
{
    struct intake in;
    intake_init(&in);
    intake_push(
        &in, STR("POST /a HTTP/1.1\r\nContent-Length: 1\r\n\r\n1GET /b HTTP/1.1\r\n\r\nGET"));
    CHECK_STR(in.target, STR("/a"));
    CHECK_STR(buf_str(&in.body), STR("1"));
    intake_next(&in);
    CHECK_INT(in.state, INTAKE_WHOLE);
    CHECK_STR(in.target, STR("/b"));
    CHECK_STR(buf_str(&in.body), STR(""));
    intake_next(&in);
    CHECK_INT(in.state, INTAKE_HEAD);
    intake_done(&in);
}

TEST(intake_bounded)
{
    struct intake in;
    intake_init(&in);
    for (size_t i = 0; i < 100; i++)
        intake_push(
            &in, STR("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
    CHECK_INT(in.state, INTAKE_HEAD);
    for (size_t i = 0; i < 10000; i++)
        intake_push(
            &in, STR("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
    CHECK_INT(in.state, INTAKE_BAD);
    CHECK_INT(in.status, 431);
    CHECK(in.in.cap < 512 * 1024);
    intake_done(&in);
}

/* Whole: before the connection ends; cut: never; ended: when it ends. */
static const struct {
    const char *name, *bytes;
    const char *body; /* NULL: malformed */
    long code;
    enum {
        WHOLE,
        CUT,
        ENDED
    } when;
} answers[] = {
    {"a length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello", 200, WHOLE},
    {"no reason", "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", "", 200, WHOLE},
    {"too few bytes", "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello", "hello", 200, CUT},
    {"chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "hello", 200, WHOLE},
    {"chunks without the last",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", "hello", 200, CUT},
    {"chunks beside a length",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "",
        200, WHOLE},
    {"no length", "HTTP/1.1 200 OK\r\n\r\nhello", "hello", 200, ENDED},
    {"an old one", "HTTP/1.0 500 No\r\n\r\n", "", 500, ENDED},
    {"nothing to say", "HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\n", "", 204, WHOLE},
    {"not modified", "HTTP/1.1 304 Same\r\n\r\n", "", 304, WHOLE},
    {"not yet", "HTTP/1.1 100 Continue\r\n\r\n", "", 100, WHOLE},
    {"no end of the head", "HTTP/1.1 200 OK\r\nA: b\r\n", "", 0, CUT},
    {"a greeting", "SSH-2.0-OpenSSH_9.2\r\n", NULL, 0, CUT},
    {"a request", "GET / HTTP/1.1\r\n", NULL, 0, CUT},
    {"another HTTP", "HTTP/2 200\r\n\r\n", NULL, 0, CUT},
    {"no status", "HTTP/1.1 OK\r\n\r\n", NULL, 0, CUT},
    {"a long status", "HTTP/1.1 0200 OK\r\n\r\n", NULL, 0, CUT},
    {"no number", "HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\n", NULL, 200, CUT},
};

TEST(intake_answers)
{
    static const size_t steps[] = {1, 2, 7, 1000};
    for (size_t i = 0; i < ARRAY_LEN(answers); i++)
        for (size_t j = 0; j < ARRAY_LEN(steps); j++) {
            struct intake in;
            intake_init(&in);
            in.answers = true;
            test_row(i, answers[i].name);
            push(&in, str_z(answers[i].bytes), steps[j]);
            CHECK_INT(in.state == INTAKE_BAD, !answers[i].body);
            CHECK_INT(in.state == INTAKE_WHOLE, answers[i].body && answers[i].when == WHOLE);
            CHECK_INT(in.code, answers[i].code);
            if (answers[i].body)
                CHECK_STR(buf_str(&in.body), str_z(answers[i].body));
            CHECK_INT(intake_end(&in), answers[i].when != CUT);
            intake_done(&in);
        }
}

static const struct {
    const char *url;
    bool loopback;
    const char *place; /* host, authority, port, path; NULL: left to libcurl */
} urls[] = {
    {"http://127.0.0.1:8080/v1/x", true, "127.0.0.1 127.0.0.1:8080 8080 /v1/x"},
    {"http://127.3.2.1/x", true, "127.3.2.1 127.3.2.1 80 /x"},
    {"HTTP://LocalHost:1", true, "LocalHost LocalHost:1 1 "},
    {"http://[::1]:9/", true, "[::1] [::1]:9 9 /"},
    {"https://127.0.0.1:8080/", true, NULL},
    {"http://a.localhost:8080/", true, NULL},
    {"http://127.1:8080/", true, NULL},
    {"http://127.0.0.1.example/", false, NULL},
    {"http://localhost.example/", false, NULL},
    {"http://notlocalhost/", false, NULL},
    {"http://[::2]/", false, NULL},
    {"http://[::1/", false, NULL},
    {"http://127.0.0.1:0/", true, NULL},
    {"http://127.0.0.1:65536/", true, NULL},
    {"http://127.0.0.1:x/", true, NULL},
    {"http://10.0.0.1/127.0.0.1", false, NULL},
};

TEST(http_places)
{
    for (size_t i = 0; i < ARRAY_LEN(urls); i++) {
        struct http_place p;
        AUTO_BUF struct buf text = BUF_INIT(1000);
        test_row(i, urls[i].url);
        CHECK_INT(http_is_loopback(urls[i].url), urls[i].loopback);
        bool found = http_find_place(urls[i].url, &p);
        if (CHECK_INT(found, urls[i].place != NULL) && found) {
            buf_printf(&text, STR_FMT " " STR_FMT " %u " STR_FMT, STR_ARG(p.host),
                STR_ARG(p.authority), p.port, STR_ARG(p.path));
            CHECK_STR(buf_str(&text), str_z(urls[i].place));
        }
    }
}
