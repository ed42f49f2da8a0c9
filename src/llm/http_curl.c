/* One HTTP request, on libcurl's multi interface. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "base/clock.h"
#include "llm/certs.h"
#include "llm/curl.h"
#include "llm/http_way.h"

#include <limits.h>

struct http_curl_request {
    struct http http;
    const struct curl *curl;
    CURLM *multi; /* the client's, or our own */
    CURL *easy;
    struct curl_slist *headers;
    struct buf head;          /* header lines of the response, with lower-case names */
    struct buf pending, read; /* received bytes; bytes returned to the caller */
    bool begun, body_begun;
    bool paused;
    bool done;
    bool has_certs; /* CA certificates were found */
    CURLcode result;
    curl_off_t sent; /* bytes of the request body sent */
    char words[CURL_ERROR_SIZE];
};

static struct http_curl_request *http_curl_of(const struct http *h)
{
    return (struct http_curl_request *)h;
}

void http_curl_forget(struct http_client *c)
{
    const struct curl *curl = NULL;
    AUTO_ERR struct err error = {0};
    if (c->multi && curl_get(&curl, &error))
        curl->multi_cleanup(c->multi);
}

/* Callbacks for libcurl -------------------------------------------------------------------------
 */

static size_t on_body(char *bytes, size_t size, size_t n, void *context)
{
    struct http_curl_request *r = context;
    r->http.last_ms = clock_mono_ms();
    r->body_begun = true;
    if (r->pending.n >= HTTP_PENDING_MAX) {
        r->paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    buf_add(&r->pending, bytes, size * n);
    return buf_ok(&r->pending) ? size * n : 0;
}

static size_t on_header(char *bytes, size_t size, size_t n, void *context)
{
    struct http_curl_request *r = context;
    struct str line = str_n(bytes, size * n), status = line;
    if (str_starts_with(line, STR("HTTP/"))) {
        buf_reset(&r->head); /* 100 Continue, or the response of a proxy, came before */
        str_cut(line, ' ', &(struct str){0}, &status);
        if (str_starts_with(status, STR("1")) && !http_note_interim(&r->http))
            return 0;
    }
    ptrdiff_t colon = str_find(line, ':');
    size_t at = r->head.n;
    buf_add_str(&r->head, line);
    if (!buf_ok(&r->head))
        return 0;
    for (size_t i = at; colon > 0 && i < at + (size_t)colon; i++)
        if (r->head.p[i] >= 'A' && r->head.p[i] <= 'Z')
            r->head.p[i] = (char)(r->head.p[i] | 0x20);
    return size * n;
}

/* Failures --------------------------------------------------------------------------------------
 */

struct http_curl_failure {
    CURLcode code;
    const char *kind;
    const char *words; /* %s: the host */
};

static const struct http_curl_failure transports[] = {
    {CURLE_URL_MALFORMAT, "url", "'%s' is not a valid address"},
    {CURLE_COULDNT_RESOLVE_PROXY, "resolve", "cannot resolve the host name of the proxy for %s"},
    {CURLE_COULDNT_RESOLVE_HOST, "resolve", "cannot resolve the host name %s; check the network"},
    {CURLE_COULDNT_CONNECT, "connect", "cannot connect to %s"},
    {CURLE_WEIRD_SERVER_REPLY, "protocol", "the answer of %s is not HTTP"},
    {CURLE_UNSUPPORTED_PROTOCOL, "protocol", "the answer of %s is not HTTP"},
    {CURLE_HTTP2, "reset", "%s closed the connection unexpectedly"},
    {CURLE_HTTP2_STREAM, "reset", "%s closed the connection unexpectedly"},
    {CURLE_PARTIAL_FILE, "reset", "%s closed the connection in the middle of the answer"},
    {CURLE_GOT_NOTHING, "reset", "%s closed the connection without an answer"},
    {CURLE_SEND_ERROR, "reset", "%s closed the connection while the request was being sent"},
    {CURLE_RECV_ERROR, "reset", "%s closed the connection unexpectedly"},
    {CURLE_OPERATION_TIMEDOUT, "timeout", "%s did not answer in time"},
    {CURLE_SSL_CONNECT_ERROR, "tls", "cannot establish a TLS connection to %s"},
    {CURLE_PEER_FAILED_VERIFICATION, "tls", "the certificate of %s is not trusted"},
    {CURLE_SSL_CACERT_BADFILE, "tls",
        "cannot read the CA certificates to verify %s (SSL_CERT_FILE, SSL_CERT_DIR); on "
        "Debian: apt install ca-certificates"},
};

static const struct http_curl_failure no_certs = {CURLE_PEER_FAILED_VERIFICATION, "tls",
    "no CA certificates to verify %s: install them (on Debian: apt install "
    "ca-certificates), or set SSL_CERT_FILE to a file that contains them"};

static bool http_curl_fail(struct http_curl_request *r, struct err *err)
{
    static const struct http_curl_failure other = {
        CURLE_OK, "other", "the connection to %s failed"};
    const struct http_curl_failure *t = &other;
    for (size_t i = 0; i < ARRAY_LEN(transports); i++)
        if (transports[i].code == r->result)
            t = &transports[i];
    if (r->result == no_certs.code && !r->has_certs)
        t = &no_certs;
    if (r->http.interim > HTTP_INTERIM_MAX)
        return http_too_many_interim(&r->http, err);
    bool said = strcmp(t->kind, "resolve") == 0; /* libcurl has nothing to add */
    return http_fail(&r->http, t->kind, t->words, said ? NULL : r->words, err);
}

/* The loop --------------------------------------------------------------------------------------
 */

static void take_messages(struct http_curl_request *r)
{
    int left;
    CURLMsg *m;
    while ((m = r->curl->multi_info_read(r->multi, &left)))
        if (m->msg == CURLMSG_DONE && m->easy_handle == r->easy) {
            r->done = true;
            r->result = m->data.result;
        }
}

static void http_curl_perform(struct http_curl_request *r)
{
    int running;
    curl_off_t sent = 0;
    if (r->curl->multi_perform(r->multi, &running) != CURLM_OK) {
        r->done = true;
        r->result = CURLE_RECV_ERROR;
    }
    take_messages(r);
    /* Uploading a large request over a slow connection is also progress. */
    r->curl->easy_getinfo(r->easy, CURLINFO_SIZE_UPLOAD_T, &sent);
    if (sent != r->sent)
        r->http.last_ms = clock_mono_ms();
    r->sent = sent;
}

static void poll_for(struct http_curl_request *r, uint64_t ms)
{
    struct curl_waitfd fds[2];
    unsigned n = 0;
    const int watched[] = {r->http.spec.waiter.cancel_fd, r->http.spec.waiter.close_fd};
    for (size_t i = 0; i < ARRAY_LEN(watched); i++)
        if (watched[i] >= 0)
            fds[n++] = (struct curl_waitfd){.fd = watched[i], .events = CURL_WAIT_POLLIN};
    int ready;
    r->curl->multi_poll(r->multi, fds, n, (int)MIN(ms, (uint64_t)INT_MAX), &ready);
}

/* 100 Continue is not a final response. */
static long http_curl_status(const struct http_curl_request *r)
{
    long status = 0;
    r->curl->easy_getinfo(r->easy, CURLINFO_RESPONSE_CODE, &status);
    return status >= 200 ? status : 0;
}

static bool http_curl_has_head(const struct http_curl_request *r)
{
    struct str head = buf_str(&r->head);
    bool ended = str_ends_with(head, STR("\r\n\r\n")) || str_ends_with(head, STR("\n\n"));
    return r->body_begun || (ended && http_curl_status(r));
}

/* Runs until `reached` returns true or the transfer ends. */
static bool http_curl_run_until(struct http_curl_request *r,
    bool (*reached)(const struct http_curl_request *r), struct err *err)
{
    for (;;) {
        uint64_t left_ms;
        if (!waiter_check(&r->http.spec.waiter, err))
            return false;
        if (!r->done)
            http_curl_perform(r);
        if (reached(r) || r->done)
            return true;
        if (!http_quiet(&r->http, &left_ms, err))
            return false;
        poll_for(r, left_ms);
    }
}

static bool has_bytes(const struct http_curl_request *r)
{
    return r->pending.n > 0;
}

static bool http_curl_read_body(struct http *h, struct str *ret_bytes, struct err *err)
{
    struct http_curl_request *r = http_curl_of(h);
    if (r->paused) {
        r->paused = false;
        r->curl->easy_pause(r->easy, CURLPAUSE_CONT);
    }
    if (!has_bytes(r) && !http_curl_run_until(r, has_bytes, err))
        return false;
    if (!has_bytes(r) && r->result != CURLE_OK)
        return http_curl_fail(r, err);
    struct buf read = r->read;
    r->read = r->pending;
    buf_reset(&read);
    r->pending = read;
    *ret_bytes = buf_str(&r->read);
    return true;
}

static void http_curl_finish(struct http *h)
{
    struct http_curl_request *r = http_curl_of(h);
    uint64_t end = clock_mono_ms() + HTTP_FINISH_MS;
    for (;;) {
        if (!r->done)
            http_curl_perform(r);
        uint64_t now = clock_mono_ms();
        if (r->done || r->paused || now >= end)
            return;
        poll_for(r, end - now);
    }
}

/* Opening and closing ---------------------------------------------------------------------------
 */

static void http_curl_add_header(struct http_curl_request *r, const char *line)
{
    struct curl_slist *longer = r->curl->slist_append(r->headers, line);
    BUG_ON(!longer);
    r->headers = longer;
}

static void add_headers(struct http_curl_request *r)
{
    struct str line, rest = r->http.spec.headers;
    while (str_cut(rest, '\n', &line, &rest)) {
        AUTO_FREE char *z = strndup(line.p, line.n);
        BUG_ON(!z);
        if (line.n)
            http_curl_add_header(r, z);
    }
    /* Never wait for a 100 Continue. */
    http_curl_add_header(r, "Expect:");
}

/* Sets every option, even to NULL: libcurl has default locations for each option that is not set,
 * which would be trusted in addition to the chosen ones. The same applies to a proxy reached by
 * TLS. */
static void configure_certs(struct http_curl_request *r)
{
    const struct certs certs = certs_find();
    r->has_certs = certs.any;
    r->curl->easy_setopt(r->easy, CURLOPT_CAINFO, certs.file);
    r->curl->easy_setopt(r->easy, CURLOPT_CAPATH, certs.dir);
    r->curl->easy_setopt(r->easy, CURLOPT_PROXY_CAINFO, certs.file);
    r->curl->easy_setopt(r->easy, CURLOPT_PROXY_CAPATH, certs.dir);
}

static void http_curl_configure(struct http_curl_request *r)
{
    const struct http_spec *s = &r->http.spec;
    uint64_t connect_ms = s->connect_timeout_ms ? s->connect_timeout_ms : HTTP_CONNECT_MS;
#define SET(option, value) r->curl->easy_setopt(r->easy, CURLOPT_##option, value)
    SET(URL, s->url);
    SET(POSTFIELDSIZE_LARGE, (curl_off_t)s->body.n);
    SET(POSTFIELDS, s->body.p ? s->body.p : "");
    SET(HTTPHEADER, r->headers);
    SET(USERAGENT, "cordon/" CORDON_VERSION);
    SET(WRITEFUNCTION, on_body);
    SET(WRITEDATA, r);
    SET(HEADERFUNCTION, on_header);
    SET(HEADERDATA, r);
    SET(ERRORBUFFER, r->words);
    SET(NOSIGNAL, 1L);
    SET(FOLLOWLOCATION, 0L);
    SET(NETRC, (long)CURL_NETRC_IGNORED);
    SET(PROTOCOLS_STR, "http,https");
    if (http_is_loopback(s->url))
        SET(PROXY, "");  /* regardless of the environment variables */
    SET(QUICK_EXIT, 1L); /* do not wait for the resolver thread on cancel */
    SET(SSL_VERIFYPEER, 1L);
    SET(SSL_VERIFYHOST, 2L);
    SET(CONNECTTIMEOUT_MS, (long)MIN(connect_ms, (uint64_t)INT_MAX));
    SET(BUFFERSIZE, (long)HTTP_READ_SIZE);
    SET(TCP_NODELAY, 1L);
#undef SET
}

static void http_curl_start(struct http_curl_request *r)
{
    struct http_client *c = r->http.client;
    r->begun = true;
    if (c && !c->multi)
        c->multi = r->curl->multi_init();
    r->multi = c ? c->multi : r->curl->multi_init();
    r->easy = r->curl->easy_init();
    BUG_ON(!r->multi || !r->easy);
    add_headers(r);
    http_curl_configure(r);
    configure_certs(r);
    CURLMcode added = r->curl->multi_add_handle(r->multi, r->easy);
    BUG_ON(added != CURLM_OK);
}

static bool http_curl_read_head(struct http *h, long *ret_status, struct err *err)
{
    struct http_curl_request *r = http_curl_of(h);
    if (!r->begun)
        http_curl_start(r);
    if (!http_curl_has_head(r) && !http_curl_run_until(r, http_curl_has_head, err))
        return false;
    long status = http_curl_status(r);
    if (!status)
        return http_curl_fail(r, err);
    r->http.last_ms = clock_mono_ms();
    *ret_status = status;
    return true;
}

static struct str http_curl_header(const struct http *h, const char *name)
{
    struct str line, rest = buf_str(&http_curl_of(h)->head), wanted = str_z(name);
    while (str_cut(rest, '\n', &line, &rest)) {
        if (!str_starts_with(line, wanted) || line.n <= wanted.n || line.p[wanted.n] != ':')
            continue;
        struct str value = str_trim_end(str_trim_end(str_skip(line, wanted.n + 1), '\r'), ' ');
        while (value.n && (value.p[0] == ' ' || value.p[0] == '\t'))
            value = str_skip(value, 1);
        return value;
    }
    return (struct str){0};
}

static bool http_curl_open(struct http **ret_http, struct err *err)
{
    const struct curl *curl;
    const size_t most = HTTP_PENDING_MAX + 2 * CURL_MAX_WRITE_SIZE + HTTP_READ_SIZE;
    if (!curl_get(&curl, err))
        return false;
    struct http_curl_request *r = base_alloc(sizeof(*r));
    *r = (struct http_curl_request){.curl = curl,
        .head = BUF_INIT(HTTP_HEADERS_MAX),
        .pending = BUF_INIT(most),
        .read = BUF_INIT(most)};
    *ret_http = &r->http;
    return true;
}

static void http_curl_close(struct http *h)
{
    struct http_curl_request *r = http_curl_of(h);
    if (r->begun) {
        r->curl->multi_remove_handle(r->multi, r->easy);
        r->curl->easy_cleanup(r->easy);
        r->curl->slist_free_all(r->headers);
        if (!h->client)
            r->curl->multi_cleanup(r->multi);
    }
    buf_done(&r->head);
    buf_done(&r->pending);
    buf_done(&r->read);
    free(r);
}

const struct http_way http_curl = {
    .open = http_curl_open,
    .head = http_curl_read_head,
    .header = http_curl_header,
    .read = http_curl_read_body,
    .finish = http_curl_finish,
    .close = http_curl_close,
};
