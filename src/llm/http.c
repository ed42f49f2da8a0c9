/* One HTTP request, on libcurl's multi interface. */
#include "llm/http.h"

#include "base/clock.h"
#include "base/utf8.h"
#include "llm/curl.h"

#include <limits.h>
#include <stdatomic.h>
#include <strings.h>

enum {
    HEADERS_MAX = 64 * 1024,
    READ_SIZE = 64 * 1024, /* of libcurl's own buffer */
    FINISH_MS = 20,
};

struct http_client {
    CURLM *multi;
    atomic_bool busy;
};

struct http {
    const struct curl *curl;
    struct http_spec spec;
    struct http_client *client;
    bool own_client;
    CURL *easy;
    struct curl_slist *headers;
    struct buf head;          /* the header lines of the answer, lower-case names */
    struct buf pending, read; /* what came; what the caller looks at */
    bool body_begun;
    bool paused;
    bool done;
    CURLcode result;
    uint64_t last_ms; /* when the last byte came, or went */
    curl_off_t sent;  /* bytes of the body */
    char words[CURL_ERROR_SIZE];
};

void http_prepare(void)
{
    curl_prepare();
}

struct http_client *http_client_new(void)
{
    struct http_client *c = base_alloc(sizeof(*c));
    c->multi = NULL;
    atomic_init(&c->busy, false);
    return c;
}

void http_client_free(struct http_client *c)
{
    const struct curl *curl = NULL;
    AUTO_ERR struct err error = {0};
    if (!c)
        return;
    if (c->multi && curl_get(&curl, &error))
        curl->multi_cleanup(c->multi);
    free(c);
}

/* What libcurl calls ----------------------------------------------------------------------------
 */

static size_t on_body(char *bytes, size_t size, size_t n, void *context)
{
    struct http *h = context;
    h->last_ms = clock_mono_ms();
    h->body_begun = true;
    if (h->pending.n >= HTTP_PENDING_MAX) {
        h->paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    buf_add(&h->pending, bytes, size * n);
    return buf_ok(&h->pending) ? size * n : 0;
}

static size_t on_header(char *bytes, size_t size, size_t n, void *context)
{
    struct http *h = context;
    struct str line = str_n(bytes, size * n);
    h->last_ms = clock_mono_ms();
    if (str_starts_with(line, STR("HTTP/")))
        buf_reset(&h->head); /* 100 Continue, or the answer of a proxy, came before */
    ptrdiff_t colon = str_find(line, ':');
    size_t at = h->head.n;
    buf_add_str(&h->head, line);
    if (!buf_ok(&h->head))
        return 0;
    for (size_t i = at; colon > 0 && i < at + (size_t)colon; i++)
        if (h->head.p[i] >= 'A' && h->head.p[i] <= 'Z')
            h->head.p[i] = (char)(h->head.p[i] | 0x20);
    return size * n;
}

/* Failures --------------------------------------------------------------------------------------
 */

static void host_of(const char *url, struct buf *host)
{
    const char *start = strstr(url, "://");
    start = start ? start + 3 : url;
    utf8_add_printable(host, str_n(start, strcspn(start, "/")));
}

struct transport {
    CURLcode code;
    const char *kind;
    const char *words; /* %s: the host */
};

static const struct transport transports[] = {
    {CURLE_URL_MALFORMAT, "url", "'%s' is no address that can be used"},
    {CURLE_COULDNT_RESOLVE_PROXY, "resolve", "the proxy for %s is not known by that name"},
    {CURLE_COULDNT_RESOLVE_HOST, "resolve", "no host is known by the name %s; is there a network?"},
    {CURLE_COULDNT_CONNECT, "connect", "cannot connect to %s"},
    {CURLE_WEIRD_SERVER_REPLY, "protocol", "%s does not speak HTTP"},
    {CURLE_UNSUPPORTED_PROTOCOL, "protocol", "%s does not speak HTTP"},
    {CURLE_HTTP2, "reset", "%s broke the connection off"},
    {CURLE_HTTP2_STREAM, "reset", "%s broke the connection off"},
    {CURLE_PARTIAL_FILE, "reset", "%s broke the answer off in the middle"},
    {CURLE_GOT_NOTHING, "reset", "%s closed the connection without an answer"},
    {CURLE_SEND_ERROR, "reset", "%s broke the connection off while the request was sent"},
    {CURLE_RECV_ERROR, "reset", "%s broke the connection off"},
    {CURLE_OPERATION_TIMEDOUT, "timeout", "%s did not answer in time"},
    {CURLE_SSL_CONNECT_ERROR, "tls", "no encrypted connection to %s: TLS fails"},
    {CURLE_PEER_FAILED_VERIFICATION, "tls", "%s shows a certificate that is not trusted"},
    {CURLE_SSL_CACERT_BADFILE, "tls",
        "the certificates for checking %s can't be read; on Debian: apt install ca-certificates"},
};

static bool fail_transport(struct http *h, struct err *err)
{
    const struct transport *t = NULL;
    AUTO_BUF struct buf host = BUF_INIT(512), text = BUF_INIT(2048);
    host_of(h->spec.url, &host);
    for (size_t i = 0; !t && i < ARRAY_LEN(transports); i++)
        if (transports[i].code == h->result)
            t = &transports[i];
    const char *mark = t ? strstr(t->words, "%s") : NULL;
    if (mark) {
        buf_add(&text, t->words, (size_t)(mark - t->words));
        buf_add_str(&text, buf_str(&host));
        buf_add_z(&text, mark + 2);
    } else {
        buf_printf(&text, "the connection to %s failed", buf_z(&host));
    }
    bool said = t && strcmp(t->kind, "resolve") == 0; /* libcurl has nothing to add */
    if (h->words[0] && !said) {
        buf_add_z(&text, " (");
        utf8_add_printable(&text, str_z(h->words));
        buf_add_byte(&text, ')');
    }
    err_set(err, E_PROVIDER, "%s", buf_z(&text));
    return err_ctx(err, "transport", "%s", t ? t->kind : "other");
}

static bool fail_idle(struct http *h, uint64_t idle_ms, struct err *err)
{
    AUTO_BUF struct buf host = BUF_INIT(512);
    host_of(h->spec.url, &host);
    err_set(err, E_PROVIDER, "%s sent nothing for %llu s", buf_z(&host),
        (unsigned long long)idle_ms / 1000);
    return err_ctx(err, "transport", "timeout");
}

/* The loop --------------------------------------------------------------------------------------
 */

static void take_messages(struct http *h)
{
    int left;
    CURLMsg *m;
    while ((m = h->curl->multi_info_read(h->client->multi, &left)))
        if (m->msg == CURLMSG_DONE && m->easy_handle == h->easy) {
            h->done = true;
            h->result = m->data.result;
        }
}

static void perform(struct http *h)
{
    int running;
    curl_off_t sent = 0;
    if (h->curl->multi_perform(h->client->multi, &running) != CURLM_OK) {
        h->done = true;
        h->result = CURLE_RECV_ERROR;
    }
    take_messages(h);
    /* A large request on a slow line is progress, too. */
    h->curl->easy_getinfo(h->easy, CURLINFO_SIZE_UPLOAD_T, &sent);
    if (sent != h->sent)
        h->last_ms = clock_mono_ms();
    h->sent = sent;
}

static void poll_for(struct http *h, uint64_t ms)
{
    struct curl_waitfd fds[2];
    unsigned n = 0;
    const int watched[] = {h->spec.waiter.cancel_fd, h->spec.waiter.close_fd};
    for (size_t i = 0; i < ARRAY_LEN(watched); i++)
        if (watched[i] >= 0)
            fds[n++] = (struct curl_waitfd){.fd = watched[i], .events = CURL_WAIT_POLLIN};
    int ready;
    h->curl->multi_poll(h->client->multi, fds, n, (int)MIN(ms, (uint64_t)INT_MAX), &ready);
}

/* 100 Continue is no answer yet. */
static long status_of(const struct http *h)
{
    long status = 0;
    h->curl->easy_getinfo(h->easy, CURLINFO_RESPONSE_CODE, &status);
    return status >= 200 ? status : 0;
}

static bool has_head(const struct http *h)
{
    struct str head = buf_str(&h->head);
    bool ended = str_ends_with(head, STR("\r\n\r\n")) || str_ends_with(head, STR("\n\n"));
    return h->body_begun || (ended && status_of(h));
}

/* Goes on until `reached`, or all is over. */
static bool go_on(struct http *h, bool (*reached)(const struct http *h), struct err *err)
{
    uint64_t idle_ms = h->spec.idle_timeout_ms ? h->spec.idle_timeout_ms : HTTP_IDLE_MS;
    for (;;) {
        if (!waiter_check(&h->spec.waiter, err))
            return false;
        if (!h->done)
            perform(h);
        if (reached(h) || h->done)
            return true;
        uint64_t quiet = clock_mono_ms() - h->last_ms;
        if (quiet >= idle_ms)
            return fail_idle(h, idle_ms, err);
        poll_for(h, waiter_left(&h->spec.waiter, idle_ms - quiet));
    }
}

bool http_head(struct http *h, long *ret_status, struct err *err)
{
    if (!has_head(h) && !go_on(h, has_head, err))
        return false;
    long status = status_of(h);
    if (!status)
        return fail_transport(h, err);
    *ret_status = status;
    return true;
}

struct str http_header(const struct http *h, const char *name)
{
    struct str line, rest = buf_str(&h->head), wanted = str_z(name);
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

static bool has_bytes(const struct http *h)
{
    return h->pending.n > 0;
}

bool http_read(struct http *h, struct str *ret_bytes, struct err *err)
{
    if (h->paused) {
        h->paused = false;
        h->curl->easy_pause(h->easy, CURLPAUSE_CONT);
    }
    if (!has_bytes(h) && !go_on(h, has_bytes, err))
        return false;
    if (!has_bytes(h) && h->result != CURLE_OK)
        return fail_transport(h, err);
    struct buf read = h->read;
    h->read = h->pending;
    buf_reset(&read);
    h->pending = read;
    *ret_bytes = buf_str(&h->read);
    return true;
}

void http_hurry(struct http *h, uint64_t ms)
{
    uint64_t end = clock_mono_ms() + ms;
    struct waiter *w = &h->spec.waiter;
    w->deadline_ms = w->deadline_ms ? MIN(w->deadline_ms, end) : end;
}

void http_finish(struct http *h)
{
    uint64_t end = clock_mono_ms() + FINISH_MS;
    for (;;) {
        if (!h->done)
            perform(h);
        uint64_t now = clock_mono_ms();
        if (h->done || h->paused || now >= end)
            return;
        poll_for(h, end - now);
    }
}

/* Opening and closing ---------------------------------------------------------------------------
 */

static void add_header(struct http *h, const char *line)
{
    struct curl_slist *longer = h->curl->slist_append(h->headers, line);
    BUG_ON(!longer);
    h->headers = longer;
}

static void add_headers(struct http *h)
{
    struct str line, rest = h->spec.headers;
    while (str_cut(rest, '\n', &line, &rest)) {
        AUTO_FREE char *z = strndup(line.p, line.n);
        BUG_ON(!z);
        if (line.n)
            add_header(h, z);
    }
    /* Nobody waits for a 100 Continue. */
    add_header(h, "Expect:");
}

/* This machine itself: "localhost", 127.x.x.x, [::1]. */
static bool is_loopback(const char *url)
{
    const char *start = strstr(url, "://");
    start = start ? start + 3 : url;
    if (start[0] == '[')
        return strncmp(start, "[::1]", 5) == 0;
    struct str host = str_n(start, strcspn(start, ":/"));
    bool named = host.n == 9 && strncasecmp(host.p, "localhost", 9) == 0;
    return named || (str_starts_with(host, STR("127.")) && strspn(host.p, "0123456789.") == host.n);
}

static void configure(struct http *h)
{
    const struct http_spec *s = &h->spec;
    uint64_t connect_ms = s->connect_timeout_ms ? s->connect_timeout_ms : HTTP_CONNECT_MS;
#define SET(option, value) h->curl->easy_setopt(h->easy, CURLOPT_##option, value)
    SET(URL, s->url);
    SET(POSTFIELDSIZE_LARGE, (curl_off_t)s->body.n);
    SET(POSTFIELDS, s->body.p ? s->body.p : "");
    SET(HTTPHEADER, h->headers);
    SET(USERAGENT, "cordon/" CORDON_VERSION);
    SET(WRITEFUNCTION, on_body);
    SET(WRITEDATA, h);
    SET(HEADERFUNCTION, on_header);
    SET(HEADERDATA, h);
    SET(ERRORBUFFER, h->words);
    SET(NOSIGNAL, 1L);
    SET(FOLLOWLOCATION, 0L);
    SET(NETRC, (long)CURL_NETRC_IGNORED);
    SET(PROTOCOLS_STR, "http,https");
    if (is_loopback(s->url))
        SET(PROXY, "");  /* whatever the variables say: it could not find the way back */
    SET(QUICK_EXIT, 1L); /* who cancels does not wait for the resolver's thread */
    SET(SSL_VERIFYPEER, 1L);
    SET(SSL_VERIFYHOST, 2L);
    SET(CONNECTTIMEOUT_MS, (long)MIN(connect_ms, (uint64_t)INT_MAX));
    SET(BUFFERSIZE, (long)READ_SIZE);
    SET(TCP_NODELAY, 1L);
#undef SET
}

bool http_open(const struct http_spec *spec, struct http **ret_http, struct err *err)
{
    const struct curl *curl;
    if (!curl_get(&curl, err))
        return false;
    struct http *h = base_alloc(sizeof(*h));
    *h = (struct http){.curl = curl,
        .spec = *spec,
        .head = BUF_INIT(HEADERS_MAX),
        .pending = BUF_INIT(HTTP_PENDING_MAX + 2 * CURL_MAX_WRITE_SIZE + READ_SIZE),
        .read = BUF_INIT(HTTP_PENDING_MAX + 2 * CURL_MAX_WRITE_SIZE + READ_SIZE),
        .last_ms = clock_mono_ms()};
    h->own_client = !spec->client || atomic_exchange(&spec->client->busy, true);
    h->client = h->own_client ? http_client_new() : spec->client;
    if (!h->client->multi)
        h->client->multi = curl->multi_init();
    h->easy = curl->easy_init();
    BUG_ON(!h->client->multi || !h->easy);
    add_headers(h);
    configure(h);
    CURLMcode added = curl->multi_add_handle(h->client->multi, h->easy);
    BUG_ON(added != CURLM_OK);
    *ret_http = h;
    return true;
}

void http_close(struct http *h)
{
    if (!h)
        return;
    h->curl->multi_remove_handle(h->client->multi, h->easy);
    h->curl->easy_cleanup(h->easy);
    h->curl->slist_free_all(h->headers);
    if (h->own_client)
        http_client_free(h->client);
    else
        h->client->busy = false;
    buf_done(&h->head);
    buf_done(&h->pending);
    buf_done(&h->read);
    free(h);
}
