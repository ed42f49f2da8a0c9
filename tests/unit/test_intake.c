/* HTTP requests as a server reads them: whole, byte by byte, one after the other. */
#include "llm/intake.h"
#include "test.h"

static const struct {
    const char *name, *bytes;
    const char *body; /* NULL: it is bad */
    unsigned status;
    enum intake_state state; /* if it is not whole */
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
