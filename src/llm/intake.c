/* Incremental HTTP/1.1 parser. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/intake.h"

#include <strings.h>

void intake_init(struct intake *in)
{
    *in = (struct intake){
        .in = BUF_INIT(INTAKE_HEAD_MAX + 2 * INTAKE_READ),
        .head = BUF_INIT(INTAKE_HEAD_MAX),
        .body = BUF_INIT(INTAKE_BODY_MAX),
    };
}

void intake_done(struct intake *in)
{
    buf_done(&in->in);
    buf_done(&in->head);
    buf_done(&in->body);
}

static void intake_reject(struct intake *in, unsigned status)
{
    in->state = INTAKE_BAD;
    in->status = status;
}

/* Headers ------------------------------------------------------------------------------------- */

bool intake_header(struct str *rest, struct str *ret_name, struct str *ret_value)
{
    struct str line;
    while (str_cut(*rest, '\n', &line, rest)) {
        ptrdiff_t colon = str_find(line, ':');
        if (colon <= 0)
            continue;
        *ret_name = str_head(line, (size_t)colon);
        *ret_value = str_trim(str_trim_end(str_skip(line, (size_t)colon + 1), '\r'));
        return true;
    }
    return false;
}

struct str intake_headers(const struct intake *in)
{
    struct str line, rest;
    return str_cut(buf_str(&in->head), '\n', &line, &rest) ? rest : STR("");
}

struct str intake_find(const struct intake *in, const char *name)
{
    struct str rest = intake_headers(in), key, value, wanted = str_z(name);
    while (intake_header(&rest, &key, &value))
        if (key.n == wanted.n && strncasecmp(key.p, wanted.p, wanted.n) == 0)
            return value;
    return (struct str){0};
}

/* States -------------------------------------------------------------------------------------- */

/* The next line, without its end; false: not complete yet. */
static bool intake_read_line(struct intake *in, struct str *ret_line)
{
    size_t from = MAX(in->looked, in->at);
    const char *end = in->in.n > from ? memchr(in->in.p + from, '\n', in->in.n - from) : NULL;
    if (!end) {
        in->looked = in->in.n;
        if (in->in.n - in->at > INTAKE_HEAD_MAX)
            intake_reject(in, 431);
        return false;
    }
    *ret_line = str_trim_end(str_n(in->in.p + in->at, (size_t)(end - in->in.p) - in->at), '\r');
    in->at = (size_t)(end - in->in.p) + 1;
    return true;
}

static void read_request_line(struct intake *in)
{
    struct str line, rest, version;
    if (!str_cut(buf_str(&in->head), '\n', &line, &rest) ||
        !str_cut(line, ' ', &in->method, &rest) || !str_cut(rest, ' ', &in->target, &version) ||
        !str_starts_with(version, STR("HTTP/1."))) {
        intake_reject(in, 400);
        return;
    }
    in->http_1_0 = str_is(version, "HTTP/1.0");
}

/* "HTTP/1.1 200 OK" */
static void read_status_line(struct intake *in)
{
    struct str line, rest, version = {0}, reason;
    int64_t code = 0;
    if (!str_cut(buf_str(&in->head), '\n', &line, &rest) || !str_cut(line, ' ', &version, &rest) ||
        !str_starts_with(version, STR("HTTP/1.")) || !str_cut(rest, ' ', &rest, &reason) ||
        rest.n != 3 || !str_to_int(rest, 100, 999, &code))
        intake_reject(in, 400);
    in->code = (long)code;
    in->http_1_0 = str_is(version, "HTTP/1.0");
}

/* State after the head of a message without a length: some answers have no body. */
static enum intake_state end_of_rest(const struct intake *in)
{
    bool none = in->code < 200 || in->code == 204 || in->code == 304;
    return in->answers && !none ? INTAKE_REST : INTAKE_WHOLE;
}

static void begin_body(struct intake *in)
{
    struct str encoding = intake_find(in, "transfer-encoding");
    struct str length = intake_find(in, "content-length");
    int64_t n = 0;
    if (in->answers && end_of_rest(in) == INTAKE_WHOLE)
        in->state = INTAKE_WHOLE;
    else if (encoding.p && length.p && !in->answers)
        intake_reject(in, 400); /* request smuggling: parsers could disagree about its end */
    else if (encoding.p && strncasecmp(encoding.p, "chunked", MAX(encoding.n, (size_t)7)) != 0)
        intake_reject(in, 501);
    else if (encoding.p)
        in->state = INTAKE_CHUNK_SIZE;
    else if (length.p && !str_to_int(length, 0, INT64_MAX, &n))
        intake_reject(in, 400);
    else if (n > INTAKE_BODY_MAX && !in->answers)
        intake_reject(in, 413);
    else if (length.p)
        in->state = n ? INTAKE_BODY : INTAKE_WHOLE;
    else
        in->state = end_of_rest(in);
    in->left = (uint64_t)n;
}

/* A first byte that cannot begin a request, such as TLS: fail at once, since the peer waits for an
 * answer before it sends more. */
static bool intake_is_foreign(const struct intake *in)
{
    unsigned char first = in->at < in->in.n ? (unsigned char)in->in.p[in->at] : '\n';
    return in->head.n == 0 && first != '\r' && first != '\n' && (first < ' ' || first > '~');
}

static bool step_head(struct intake *in)
{
    struct str line;
    if (intake_is_foreign(in)) {
        intake_reject(in, 400);
        return false;
    }
    if (!intake_read_line(in, &line))
        return false;
    if (line.n == 0 && in->head.n == 0)
        return true; /* ignore empty lines before a request */
    if (in->answers && in->head.n == 0 && !str_starts_with(line, STR("HTTP/"))) {
        intake_reject(in, 400); /* not HTTP: the server waits for us after its greeting */
        return false;
    }
    if (line.n) {
        buf_add_str(&in->head, line);
        buf_add_byte(&in->head, '\n');
        if (!buf_ok(&in->head))
            intake_reject(in, 431);
        return in->state == INTAKE_HEAD;
    }
    if (in->answers)
        read_status_line(in);
    else
        read_request_line(in);
    if (in->state == INTAKE_HEAD)
        begin_body(in);
    return in->state != INTAKE_BAD;
}

/* Consumes the available bytes of the body or chunk; INTAKE_REST has no known length. */
static bool step_bytes(struct intake *in, enum intake_state then)
{
    if (in->state == INTAKE_REST)
        in->left = UINT64_MAX;
    size_t n = (size_t)MIN(in->left, (uint64_t)(in->in.n - in->at));
    if (n == 0)
        return false;
    buf_add(&in->body, in->in.p + in->at, n);
    in->at += n;
    in->left -= n;
    if (!buf_ok(&in->body)) {
        intake_reject(in, 413);
        return false;
    }
    if (in->left == 0)
        in->state = then;
    return true;
}

static bool step_chunk_size(struct intake *in)
{
    struct str line;
    uint64_t size = 0;
    if (!intake_read_line(in, &line))
        return false;
    size_t i = 0;
    for (; i < line.n && line.p[i] != ';' && line.p[i] != ' '; i++) {
        char c = (char)(line.p[i] | 0x20);
        bool digit = line.p[i] >= '0' && line.p[i] <= '9';
        if (i >= 8 || (!digit && (c < 'a' || c > 'f'))) {
            intake_reject(in, 400);
            return false;
        }
        size = size * 16 + (uint64_t)(digit ? line.p[i] - '0' : c - 'a' + 10);
    }
    if (i == 0) {
        intake_reject(in, 400);
        return false;
    }
    in->left = size;
    in->state = size ? INTAKE_CHUNK : INTAKE_TRAILER;
    return true;
}

static bool step_line(struct intake *in, enum intake_state then)
{
    struct str line;
    if (!intake_read_line(in, &line))
        return false;
    if (line.n == 0)
        in->state = then;
    else if (in->state == INTAKE_CHUNK_END)
        intake_reject(in, 400);
    return true;
}

static bool intake_step(struct intake *in)
{
    switch (in->state) {
    case INTAKE_HEAD:
        return step_head(in);
    case INTAKE_BODY:
    case INTAKE_REST:
        return step_bytes(in, INTAKE_WHOLE);
    case INTAKE_CHUNK_SIZE:
        return step_chunk_size(in);
    case INTAKE_CHUNK:
        return step_bytes(in, INTAKE_CHUNK_END);
    case INTAKE_CHUNK_END:
        return step_line(in, INTAKE_CHUNK_SIZE);
    case INTAKE_TRAILER:
        return step_line(in, INTAKE_WHOLE);
    default:
        return false;
    }
}

static void intake_compact(struct intake *in)
{
    if (in->at == 0)
        return;
    memmove(in->in.p, in->in.p + in->at, in->in.n - in->at);
    buf_truncate(&in->in, in->in.n - in->at);
    in->looked -= MIN(in->looked, in->at);
    in->at = 0;
}

static void intake_process(struct intake *in)
{
    while (intake_step(in))
        continue;
    intake_compact(in);
}

void intake_push(struct intake *in, struct str bytes)
{
    if (in->state == INTAKE_BAD)
        return;
    buf_add_str(&in->in, bytes);
    if (!buf_ok(&in->in))
        intake_reject(in, 431);
    else
        intake_process(in);
}

bool intake_end(struct intake *in)
{
    if (in->state == INTAKE_REST)
        in->state = INTAKE_WHOLE;
    return in->state == INTAKE_WHOLE;
}

void intake_next(struct intake *in)
{
    buf_reset(&in->head);
    buf_done(&in->body);
    in->body = BUF_INIT(INTAKE_BODY_MAX);
    in->state = INTAKE_HEAD;
    intake_process(in);
}
