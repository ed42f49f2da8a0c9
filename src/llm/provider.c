/* Choosing a provider, its key and its address. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/choice.h"
#include "llm/dialect.h"
#include "llm/http.h"
#include "llm/script.h"
#include "llm/source.h"

enum {
    URL_MAX = 4096,
};

struct provider_service {
    const char *name;
    const struct dialect *dialect; /* NULL: scripted */
};

static const struct provider_service services[] = {
    {"anthropic", &dialect_anthropic},
    {"openai", &dialect_openai},
    {"scripted", NULL},
};

const char *const provider_names[] = {"anthropic", "openai", "scripted", NULL};

static const struct provider_service *const scripted = &services[ARRAY_LEN(services) - 1];

static const char *provider_variable(const char *name)
{
    const char *value = getenv(name);
    return value && value[0] ? value : NULL;
}

/* Choosing ------------------------------------------------------------------------------------ */

static bool provider_by_name(
    const char *name, const struct provider_service **ret_service, struct err *err)
{
    AUTO_CHOICE struct choice c = CHOICE_INIT(str_z(name));
    AUTO_BUF struct buf hint = BUF_INIT(256);
    for (size_t i = 0; i < ARRAY_LEN(services); i++) {
        if (strcmp(services[i].name, name) == 0) {
            *ret_service = &services[i];
            return true;
        }
        choice_add(&c, services[i].name);
    }
    choice_hint(&c, "", &hint);
    return err_set(err, E_CONFIG, "no such provider '%s'; available: %s%s", name, choice_list(&c),
        buf_z(&hint));
}

/* Finds a service whose variable is set; returns how many are set. */
static size_t provider_by_variable(bool keys, const struct provider_service **ret_service)
{
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(services); i++) {
        const struct dialect *d = services[i].dialect;
        if (!d || !provider_variable(keys ? d->key_variable : d->base_variable))
            continue;
        *ret_service = &services[i];
        n++;
    }
    return n;
}

static bool provider_choose_service(
    const struct provider_options *o, const struct provider_service **ret_service, struct err *err)
{
    if (o->name)
        return provider_by_name(o->name, ret_service, err);
    *ret_service = scripted;
    if (o->script)
        return true;
    size_t n = provider_by_variable(true, ret_service);
    if (n > 1)
        return err_set(err, E_CONFIG,
            "both ANTHROPIC_API_KEY and OPENAI_API_KEY are set; choose with --provider "
            "anthropic or --provider openai");
    if (n == 0 && (n = provider_by_variable(false, ret_service)) > 1)
        return err_set(err, E_CONFIG,
            "both ANTHROPIC_BASE_URL and OPENAI_BASE_URL are set; choose with --provider "
            "anthropic or --provider openai");
    if (n == 0 && (o->base_url || o->key.p))
        return err_set(err, E_CONFIG,
            "cannot infer the provider from a base URL or a key alone; add --provider "
            "anthropic or --provider openai");
    return true;
}

/* Addresses and keys -------------------------------------------------------------------------- */

bool provider_check_url(struct str url, struct err *err)
{
    size_t head = str_starts_with(url, STR("https://")) ? 8 : 7;
    bool ok = head == 8 || str_starts_with(url, STR("http://"));
    for (size_t i = 0; i < url.n; i++)
        ok = ok && url.p[i] > ' ' && url.p[i] < 0x7F;
    struct str host = str_skip(url, head);
    if (!ok || host.n == 0 || host.p[0] == '/' || url.n > URL_MAX)
        return err_set(err, E_CONFIG,
            "'" STR_FMT "' is not a valid base URL; expected one such as http://127.0.0.1:8080/v1",
            STR_ARG(str_head(url, 200)));
    ptrdiff_t slash = str_find(host, '/');
    if (str_find(str_head(host, slash < 0 ? host.n : (size_t)slash), '@') >= 0)
        return err_set(err, E_CONFIG,
            "a base URL must not contain a user name or password; keys come from an "
            "environment variable");
    if (str_find(url, '?') >= 0 || str_find(url, '#') >= 0)
        return err_set(err, E_CONFIG,
            "'" STR_FMT "' is not a valid base URL: '?' and '#' are not allowed",
            STR_ARG(str_head(url, 200)));
    return true;
}

/* A key is the value of a header: a line break in it would inject another header. */
static bool provider_check_key(struct str key, const char *name, struct err *err)
{
    for (size_t i = 0; i < key.n; i++)
        if (key.p[i] <= ' ' || key.p[i] >= 0x7F)
            return err_set(err, E_CONFIG,
                "the key in %s contains a blank, a line break or another invalid character", name);
    return true;
}

static const char *base_of(const struct provider_options *o, const struct dialect *d)
{
    const char *base = o->base_url ? o->base_url : provider_variable(d->base_variable);
    return base ? base : d->default_base;
}

static bool set_up_service(struct provider *p, const struct dialect *d, struct err *err)
{
    const struct provider_options *o = &p->options;
    struct str key = o->key.p ? o->key : str_z(provider_variable(d->key_variable));
    struct str url = str_trim_end(str_z(base_of(o, d)), '/');
    if (!provider_check_url(url, err))
        return err_wrap(err, "%s", o->base_url ? "--base-url" : d->base_variable);
    if (key.p && !provider_check_key(key, d->key_variable, err))
        return false;
    bool elsewhere = !str_eq(url, str_trim_end(str_z(d->default_base), '/'));
    if (!key.n && !elsewhere)
        return err_set(err, E_CONFIG,
            "no API key for %s: set %s, or use --provider scripted, which needs no key", p->name,
            d->key_variable);
    p->dialect = d;
    p->source = &source_service;
    p->client = http_client_new();
    p->key_variable = d->key_variable;
    p->base_url = strndup(url.p, url.n);
    p->key = key.n ? strndup(key.p, key.n) : NULL;
    const char *model = o->model ? o->model : provider_variable(d->model_variable);
    p->model = strdup(model ? model : d->default_model);
    BUG_ON(!p->base_url || !p->model || (key.n && !p->key));
    http_prepare(p->base_url);
    return true;
}

static bool set_up_script(struct provider *p, struct err *err)
{
    p->source = &source_script;
    p->default_script = !p->options.script;
    if (p->default_script)
        p->script = script_embedded();
    else if (!script_load(p->options.script, p->options.cancel_fd, &p->script, err))
        return false;
    struct str model = script_model(p->script);
    if (p->options.model)
        model = str_z(p->options.model);
    p->model = model.p ? strndup(model.p, model.n) : strdup("script");
    BUG_ON(!p->model);
    return true;
}

bool provider_open(
    const struct provider_options *options, struct provider **ret_provider, struct err *err)
{
    const struct provider_service *service = NULL;
    if (!provider_choose_service(options, &service, err))
        return false;
    if (service->dialect && options->script)
        return err_set(
            err, E_CONFIG, "a script requires --provider scripted, not '%s'", service->name);
    if (!service->dialect && options->base_url)
        return err_set(err, E_CONFIG, "a script has no address: omit the base URL");
    struct provider *p = base_alloc(sizeof(*p));
    *p = (struct provider){.name = service->name, .options = *options};
    bool ok = service->dialect ? set_up_service(p, service->dialect, err) : set_up_script(p, err);
    if (!ok) {
        provider_close(p);
        return false;
    }
    *ret_provider = p;
    return true;
}

void provider_prepare(const struct provider_options *options)
{
    const struct provider_service *service = NULL;
    AUTO_ERR struct err ignored = {0};
    if (provider_choose_service(options, &service, &ignored) && service->dialect)
        http_prepare(base_of(options, service->dialect));
}

void provider_close(struct provider *p)
{
    http_settle();
    if (!p)
        return;
    http_client_free(p->client);
    script_free(p->script);
    free(p->base_url);
    free(p->model);
    if (p->key)
        explicit_bzero(p->key, strlen(p->key));
    free(p->key);
    free(p);
}

const char *provider_name(const struct provider *p)
{
    return p->name;
}

const char *provider_model(const struct provider *p)
{
    return p->model;
}

struct str provider_key(const struct provider *p)
{
    return str_z(p->key);
}

bool provider_is_default_script(const struct provider *p)
{
    return p->default_script;
}
