/* A service as the source of an answer: HTTP, server-sent events, and its dialect. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mask.h"
#include "llm/dialect.h"
#include "llm/http.h"
#include "llm/source.h"
#include "llm/status.h"

#include <strings.h>

enum {
    ERROR_BODY_MAX = 64 * 1024,
    ERROR_BODY_MS = 5 * 1000, /* not worth a longer wait: the status is known */
    FOREIGN_MAX = 4 * 1024,   /* of an answer that is not an event stream */
    URL_LENGTH_MAX = 8 * 1024,
    HEADERS_LENGTH_MAX = 64 * 1024,
};

struct service_call {
    struct attempt *attempt;
    const struct dialect *dialect;
    struct http *http;
    struct buf url, headers, body;
    struct sse sse;
    struct dialect_state state;
    bool head_read;
    bool foreign;      /* the content type is not that of events */
    struct buf answer; /* the start of the body, if foreign */
    bool refused;      /* the dialect rejected an event, not the framing */
};

static bool on_event(void *context, const struct sse_event *event, struct err *err)
{
    struct service_call *c = context;
    if (c->state.complete || c->dialect->read(c->attempt->answer, &c->state, event, err))
        return true;
    c->refused = true;
    return false;
}

/* Accepts both "https://host" and "https://host/v1" for a path that begins with /v1. */
static void add_url(const char *base, const char *path, struct buf *url)
{
    static const struct str version = {"/v1", 3};
    struct str b = str_z(base), p = str_z(path);
    if (str_ends_with(b, version) && str_starts_with(p, STR("/v1/")))
        p = str_skip(p, version.n);
    buf_add_str(url, b);
    buf_add_str(url, p);
}

static bool service_start_call(struct attempt *a, struct err *err)
{
    const struct provider *p = a->provider;
    struct service_call *c = base_alloc(sizeof(*c));
    *c = (struct service_call){.attempt = a,
        .dialect = p->dialect,
        .url = BUF_INIT(URL_LENGTH_MAX),
        .headers = BUF_INIT(HEADERS_LENGTH_MAX),
        .body = BUF_INIT(DIALECT_BODY_MAX),
        .answer = BUF_INIT(2 * FOREIGN_MAX)};
    a->state = c;
    sse_init(&c->sse, on_event, c);
    struct llm_request request = *a->request;
    if (!request.model.p)
        request.model = str_z(p->model);
    add_url(p->base_url, c->dialect->path, &c->url);
    c->dialect->headers(str_z(p->key), &c->headers);
    c->dialect->write(&request, &c->body);
    if (!buf_ok(&c->body))
        return err_set(err, E_PROVIDER, "the request is larger than %d MB and was not sent",
            DIALECT_BODY_MAX >> 20);
    const struct http_spec spec = {
        .client = p->client,
        .url = buf_z(&c->url),
        .headers = buf_str(&c->headers),
        .body = buf_str(&c->body),
        .waiter = a->waiter,
        .idle_timeout_ms = p->options.idle_timeout_ms,
    };
    return http_open(&spec, &c->http, err);
}

static void service_close_call(struct attempt *a)
{
    struct service_call *c = a->state;
    if (!c)
        return;
    http_close(c->http);
    sse_done(&c->sse);
    buf_done(&c->url);
    buf_done(&c->headers);
    buf_done(&c->body);
    buf_done(&c->answer);
    free(c);
    a->state = NULL;
}

/* Failures ------------------------------------------------------------------------------------ */

static void copy_header(struct service_call *c, const char *name, char *to, size_t size)
{
    struct str value = http_header(c->http, name);
    size_t n = 0;
    for (size_t i = 0; i < value.n && n + 1 < size; i++)
        if (value.p[i] >= ' ' && value.p[i] < 0x7F)
            to[n++] = value.p[i];
    to[n] = 0;
}

static void note_headers(struct service_call *c)
{
    struct source_failure *f = &c->attempt->failure;
    copy_header(c, "x-should-retry", f->should_retry, sizeof(f->should_retry));
    copy_header(c, "retry-after-ms", f->retry_after_ms, sizeof(f->retry_after_ms));
    copy_header(c, "retry-after", f->retry_after, sizeof(f->retry_after));
    copy_header(c, "request-id", f->request_id, sizeof(f->request_id));
    if (!f->request_id[0])
        copy_header(c, "x-request-id", f->request_id, sizeof(f->request_id));
}

/* Transport failures may be retried, except permanent ones. */
static bool fail_transport(struct attempt *a, const struct err *err)
{
    const struct err_pair *kind = err_ctx_get(err, "transport");
    a->failure.broken = kind && strcmp(kind->text, "tls") != 0 && strcmp(kind->text, "url") != 0;
    return false;
}

/* Reads the body of an error, as far as it comes. False: interrupted. */
static bool service_read_error_body(struct service_call *c, struct buf *body, struct err *err)
{
    AUTO_ERR struct err ignored = {0};
    struct str bytes;
    http_hurry(c->http, ERROR_BODY_MS);
    while (body->n < ERROR_BODY_MAX && http_read(c->http, &bytes, &ignored) && bytes.n)
        buf_add_str(body, str_head(bytes, ERROR_BODY_MAX - body->n));
    return waiter_check(&c->attempt->waiter, err);
}

static bool fail_status(struct service_call *c, long status, struct err *err)
{
    AUTO_BUF struct buf body = BUF_INIT(2 * ERROR_BODY_MAX), words = BUF_INIT(ERROR_BODY_MAX),
                        kind = BUF_INIT(256);
    c->attempt->failure.status = status;
    if (!service_read_error_body(c, &body, err))
        return false;
    c->dialect->explain(buf_str(&body), &words, &kind);
    return status_fail(c->attempt->provider, status,
        &(struct status_words){buf_str(&words), buf_str(&kind), http_header(c->http, "location")},
        err);
}

static bool is_type(struct str header, struct str type)
{
    return header.n >= type.n && strncasecmp(header.p, type.p, type.n) == 0;
}

/* Rejects bodies that cannot be an answer, despite the status. */
static bool service_check_content_type(struct service_call *c, struct err *err)
{
    struct str encoding = http_header(c->http, "content-encoding");
    struct str type = http_header(c->http, "content-type");
    if (encoding.n && !str_is(encoding, "identity"))
        return err_set(err, E_PROVIDER,
            "%s sent a compressed answer (" STR_FMT "), which was not requested",
            c->attempt->provider->name, STR_ARG(str_head(encoding, 40)));
    c->foreign = type.n && !is_type(type, STR("text/event-stream"));
    if (is_type(type, STR("text/html")))
        return err_set(err, E_PROVIDER,
            "%s is not a model service: it sent a web page; check the base URL",
            c->attempt->provider->base_url);
    return true;
}

static bool service_read_head(struct service_call *c, struct err *err)
{
    long status = 0;
    if (!http_head(c->http, &status, err))
        return fail_transport(c->attempt, err);
    c->head_read = true;
    note_headers(c);
    if (status != 200)
        return fail_status(c, status, err);
    return service_check_content_type(c, err);
}

/* An error event reports whether a retry can help; invalid events are retried, oversized ones are
 * not. */
static bool fail_event(struct service_call *c, struct err *err)
{
    struct source_failure *f = &c->attempt->failure;
    const struct err_pair *again = err_ctx_get(err, "retry");
    f->broken = c->refused;
    f->decided = again != NULL;
    f->again = again && (again->text ? strcmp(again->text, "true") == 0 : again->number != 0);
    return false;
}

/* Body ---------------------------------------------------------------------------------------- */

/* Not a single event: a retry would yield (and cost) the same. */
static bool fail_foreign(struct service_call *c, struct err *err)
{
    AUTO_BUF struct buf words = BUF_INIT(ERROR_BODY_MAX), kind = BUF_INIT(256);
    struct str type = str_head(http_header(c->http, "content-type"), 80);
    c->dialect->explain(buf_str(&c->answer), &words, &kind);
    err_set(err, E_PROVIDER, "%s sent '" STR_FMT "', not a stream of events%s%s",
        c->attempt->provider->base_url, STR_ARG(type), words.n ? ": " : "", buf_z(&words));
    return kind.n ? err_ctx(err, "provider_error", "%s", buf_z(&kind)) : false;
}

static bool service_finish(struct service_call *c, struct err *err)
{
    if (c->foreign && !c->state.begun)
        return fail_foreign(c, err);
    if (c->dialect->finish(c->attempt->answer, &c->state, err))
        return true;
    c->attempt->failure.broken = true;
    return false;
}

static enum source_step read_more(struct service_call *c, struct err *err)
{
    struct str bytes;
    if (!http_read(c->http, &bytes, err)) {
        fail_transport(c->attempt, err);
        return SOURCE_FAILED;
    }
    if (bytes.n == 0)
        return service_finish(c, err) ? SOURCE_WHOLE : SOURCE_FAILED;
    if (c->foreign && !c->state.begun)
        buf_add_str(&c->answer, str_head(bytes, FOREIGN_MAX - c->answer.n));
    if (!sse_push(&c->sse, bytes, err)) {
        fail_event(c, err);
        return SOURCE_FAILED;
    }
    if (!c->state.complete)
        return SOURCE_MORE;
    http_finish(c->http);
    return service_finish(c, err) ? SOURCE_WHOLE : SOURCE_FAILED;
}

/* The service may echo the key in an error message. */
static void mask_key(const struct provider *p, struct err *err)
{
    struct mask m = {0};
    mask_add(&m, provider_key(p));
    mask_err(&m, err);
    mask_done(&m);
}

static enum source_step service_advance(struct attempt *a, struct err *err)
{
    if (!a->state && !service_start_call(a, err))
        return SOURCE_FAILED;
    struct service_call *c = a->state;
    if (!c->head_read)
        return service_read_head(c, err) ? SOURCE_MORE : SOURCE_FAILED;
    return read_more(c, err);
}

static enum source_step service_pull(struct attempt *a, struct err *err)
{
    enum source_step step = service_advance(a, err);
    if (step == SOURCE_FAILED)
        mask_key(a->provider, err);
    return step;
}

const struct source source_service = {.pull = service_pull, .end = service_close_call};
