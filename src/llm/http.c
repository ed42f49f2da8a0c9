/* One HTTP request: choice of the transport, and code shared by both. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/http.h"

#include "base/clock.h"
#include "base/utf8.h"
#include "llm/curl.h"
#include "llm/http_way.h"

#include <arpa/inet.h>
#include <strings.h>

/* URLs ---------------------------------------------------------------------------------------- */

static struct str after_scheme(const char *url)
{
    const char *start = strstr(url, "://");
    return str_z(start ? start + 3 : url);
}

static struct str authority_of(const char *url)
{
    struct str rest = after_scheme(url);
    return str_head(rest, strcspn(rest.p, "/"));
}

static struct str host_of(const char *url)
{
    struct str authority = authority_of(url);
    const char *end = authority.p[0] == '[' ? strchr(authority.p, ']') : NULL;
    if (end && end < authority.p + authority.n)
        return str_head(authority, (size_t)(end + 1 - authority.p));
    return str_head(authority, strcspn(authority.p, ":/"));
}

static bool is_localhost(struct str host)
{
    return host.n == 9 && strncasecmp(host.p, "localhost", 9) == 0;
}

static bool http_is_loopback_ip(struct str host)
{
    char ip[INET_ADDRSTRLEN];
    struct in_addr unused;
    snprintf(ip, sizeof(ip), STR_FMT, STR_ARG(str_head(host, sizeof(ip))));
    return str_starts_with(host, STR("127.")) && inet_pton(AF_INET, ip, &unused) == 1;
}

bool http_is_loopback(const char *url)
{
    struct str host = host_of(url);
    bool below =
        host.n > 10 && is_localhost(str_skip(host, host.n - 9)) && host.p[host.n - 10] == '.';
    return below || is_localhost(host) || str_is(host, "[::1]") ||
           (str_starts_with(host, STR("127.")) && strspn(host.p, "0123456789.") == host.n);
}

bool http_find_place(const char *url, struct http_place *ret_place)
{
    struct http_place p = {.host = host_of(url), .authority = authority_of(url), .port = 80};
    struct str port = str_skip(p.authority, p.host.n);
    int64_t number = p.port;
    if (strncasecmp(url, "http://", 7) != 0 ||
        !(is_localhost(p.host) || http_is_loopback_ip(p.host) || str_is(p.host, "[::1]")))
        return false;
    if (port.n && (port.p[0] != ':' || !str_to_int(str_skip(port, 1), 1, UINT16_MAX, &number)))
        return false;
    p.port = (uint16_t)number;
    p.path = str_skip(after_scheme(url), p.authority.n);
    *ret_place = p;
    return true;
}

static const struct http_way *way_to(const char *url)
{
    struct http_place place;
    return http_find_place(url, &place) ? &http_plain : &http_curl;
}

void http_prepare(const char *url)
{
    if (way_to(url) == &http_curl)
        curl_prepare();
}

void http_settle(void)
{
    curl_settle();
}

/* Clients ------------------------------------------------------------------------------------- */

struct http_client *http_client_new(void)
{
    struct http_client *c = base_alloc(sizeof(*c));
    c->multi = NULL;
    c->fd = -1;
    atomic_init(&c->busy, false);
    return c;
}

void http_client_free(struct http_client *c)
{
    if (!c)
        return;
    http_curl_forget(c);
    if (c->fd >= 0)
        close(c->fd);
    free(c);
}

/* Failures ------------------------------------------------------------------------------------ */

bool http_fail(
    const struct http *h, const char *kind, const char *words, const char *more, struct err *err)
{
    AUTO_BUF struct buf text = BUF_INIT(2048);
    const char *mark = strstr(words, "%s");
    buf_add(&text, words, (size_t)(mark - words));
    utf8_add_printable(&text, str_head(authority_of(h->spec.url), 512));
    buf_add_z(&text, mark + 2);
    if (more && more[0]) {
        buf_add_z(&text, " (");
        utf8_add_printable(&text, str_z(more));
        buf_add_byte(&text, ')');
    }
    err_set(err, E_PROVIDER, "%s", buf_z(&text));
    return err_ctx(err, "transport", "%s", kind);
}

bool http_note_interim(struct http *h)
{
    return ++h->interim <= HTTP_INTERIM_MAX;
}

bool http_too_many_interim(const struct http *h, struct err *err)
{
    return http_fail(h, "protocol", "%s sends only interim responses (HTTP 1xx)", NULL, err);
}

bool http_quiet(const struct http *h, uint64_t *ret_left_ms, struct err *err)
{
    uint64_t most = h->spec.idle_timeout_ms ? h->spec.idle_timeout_ms : HTTP_IDLE_MS;
    uint64_t quiet = clock_mono_ms() - h->last_ms;
    char words[64];
    if (quiet < most) {
        *ret_left_ms = waiter_left(&h->spec.waiter, most - quiet);
        return true;
    }
    snprintf(words, sizeof(words), "%%s sent nothing for %llu s", (unsigned long long)most / 1000);
    return http_fail(h, "timeout", words, NULL, err);
}

/* Requests ------------------------------------------------------------------------------------ */

bool http_open(const struct http_spec *spec, struct http **ret_http, struct err *err)
{
    const struct http_way *way = way_to(spec->url);
    struct http *h;
    if (!way->open(&h, err))
        return false;
    h->way = way;
    h->spec = *spec;
    h->last_ms = clock_mono_ms();
    bool mine = spec->client && !atomic_exchange(&spec->client->busy, true);
    h->client = mine ? spec->client : NULL;
    *ret_http = h;
    return true;
}

void http_close(struct http *h)
{
    struct http_client *client = h ? h->client : NULL;
    if (h)
        h->way->close(h);
    if (client)
        client->busy = false;
}

bool http_head(struct http *h, long *ret_status, struct err *err)
{
    return h->way->head(h, ret_status, err);
}

struct str http_header(const struct http *h, const char *name)
{
    return h->way->header(h, name);
}

bool http_read(struct http *h, struct str *ret_bytes, struct err *err)
{
    return h->way->read(h, ret_bytes, err);
}

void http_hurry(struct http *h, uint64_t ms)
{
    uint64_t end = clock_mono_ms() + ms;
    struct waiter *w = &h->spec.waiter;
    w->deadline_ms = w->deadline_ms ? MIN(w->deadline_ms, end) : end;
}

void http_finish(struct http *h)
{
    h->way->finish(h);
}
