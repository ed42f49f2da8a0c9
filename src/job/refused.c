/* Lists refused hosts. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "job/refused.h"

enum {
    PORT_HTTP = 80,
    PORT_HTTPS = 443,
    TARGET_MAX = 1024,
};

/* The proxy's reason, for its clients; and the rule, as other denials have it. */
#define REFUSED_UNLISTED "it is not in the list of hosts"
#define REFUSED_RULE     "not in allowed_hosts"

static const char *refused_fix(const struct refused_host *r, struct arena *a)
{
    if (!str_is(r->why, REFUSED_RULE) || !r->host.n)
        return NULL;
    if (r->port == PORT_HTTP || r->port == PORT_HTTPS)
        return arena_printf(a, "--allow-host " STR_FMT, STR_ARG(r->host));
    return arena_printf(a, "--allow-host " STR_FMT ":%u", STR_ARG(r->host), r->port);
}

static void refused_add(struct refused_hosts *list, struct refused_host r, struct arena *a)
{
    if (str_is(r.why, REFUSED_UNLISTED))
        r.why = STR(REFUSED_RULE);
    for (size_t i = 0; i < list->n; i++) {
        struct refused_host *known = &list->p[i];
        if (!str_eq(known->host, r.host) || known->port != r.port || !str_eq(known->why, r.why))
            continue;
        known->count++;
        return;
    }
    if (list->n == REFUSED_HOSTS_MAX)
        return;
    r.host = arena_str(a, r.host);
    r.why = arena_str(a, r.why);
    r.fix = refused_fix(&r, a);
    list->p[list->n++] = r;
}

void refused_list(struct str report, struct arena *a, struct refused_hosts *ret_list)
{
    struct str line;
    *ret_list = (struct refused_hosts){.n = 0};
    while (str_cut(report, '\n', &line, &report)) {
        AUTO_JSON json_t *entry = NULL;
        AUTO_ERR struct err ignored = {0};
        if (!line.n || !json_parse(line, "report", E_IO, &entry, &ignored))
            continue;
        refused_add(ret_list,
            (struct refused_host){.host = json_str(json_object_get(entry, "host")),
                .port = (uint16_t)json_integer_value(json_object_get(entry, "port")),
                .why = json_str(json_object_get(entry, "why")),
                .count = 1},
            a);
    }
}

void refused_add_json(const struct refused_hosts *list, json_t *result)
{
    json_t *denied = json_object_get(result, "denied");
    if (!denied && list->n) {
        json_put(result, "denied", json_array());
        denied = json_object_get(result, "denied");
    }
    for (size_t i = 0; i < list->n; i++) {
        const struct refused_host *r = &list->p[i];
        AUTO_BUF struct buf target = BUF_INIT(TARGET_MAX);
        buf_printf(&target, STR_FMT ":%u", STR_ARG(r->host), r->port);
        json_t *entry = json_object();
        json_put(entry, "op", json_string("host"));
        json_put(entry, "target", json_text(buf_str(&target)));
        json_put(entry, "program", json_string(""));
        json_put(entry, "rule", json_text(r->why));
        json_put(entry, "fix", json_string(r->fix ? r->fix : ""));
        json_put(entry, "count", json_integer((json_int_t)r->count));
        json_push(denied, entry);
    }
}
