/* Error messages for HTTP statuses. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/status.h"

#include "base/utf8.h"
#include "llm/wire.h"

enum {
    WORDS_MAX = 600, /* of the service's message */
};

static void status_describe_key(const struct provider *p, struct buf *b)
{
    if (p->key)
        buf_printf(b, "the key in %s was not accepted by %s", p->key_variable, p->name);
    else
        buf_printf(b, "%s requires a key: set %s", p->base_url, p->key_variable);
}

static void status_describe_forbidden(const struct provider *p, struct buf *b)
{
    buf_printf(b, "the key in %s has no permission for this at %s", p->key_variable, p->name);
}

static void status_describe_missing(const struct provider *p, struct buf *b)
{
    buf_printf(b, "%s has no model '%s', or there is no service at that address; check --model",
        p->base_url, p->model);
}

struct status_row {
    long status;
    const char *words; /* follows the provider's name; NULL: use say */
    void (*say)(const struct provider *p, struct buf *b);
};

static const struct status_row rows[] = {
    {304, "sent 'not modified' instead of an answer", NULL},
    {400, "rejected the request", NULL},
    {401, NULL, status_describe_key},
    {402, "requires payment: the account has no credit", NULL},
    {403, NULL, status_describe_forbidden},
    {404, NULL, status_describe_missing},
    {408, "timed out waiting for the request", NULL},
    {409, "was busy with another request of this account", NULL},
    {413, "rejected the request as too large: shorten the conversation", NULL},
    {429, "is rate limiting requests: a limit of this account was reached", NULL},
    {500, "had an internal error", NULL},
    {502, "cannot be reached by its gateway", NULL},
    {503, "is temporarily unavailable", NULL},
    {504, "did not answer its gateway in time", NULL},
    {529, "is temporarily overloaded", NULL},
};

static void status_describe_redirect(const struct provider *p, struct str location, struct buf *b)
{
    buf_printf(b, "%s sent a redirect", p->base_url);
    if (location.n) {
        buf_add_z(b, ", to '");
        utf8_add_printable(b, str_head(location, 200));
        buf_add_byte(b, '\'');
    }
    buf_add_z(b, "; redirects are not followed, because the key would be sent along: set the base "
                 "URL instead");
}

static void status_describe(
    const struct provider *p, long status, const struct status_words *words, struct buf *b)
{
    if (status >= 300 && status < 400 && status != 304) {
        status_describe_redirect(p, words->location, b);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (rows[i].status != status)
            continue;
        if (rows[i].say)
            rows[i].say(p, b);
        else
            buf_printf(b, "%s %s", p->name, rows[i].words);
        return;
    }
    const char *words_for = status >= 500   ? "failed"
                            : status >= 300 ? "refused the request"
                                            : "sent no answer";
    buf_printf(b, "%s %s", p->name, words_for);
}

bool status_fail(
    const struct provider *p, long status, const struct status_words *words, struct err *err)
{
    AUTO_BUF struct buf b = BUF_INIT(16 * 1024), kind = BUF_INIT(1024);
    status_describe(p, status, words, &b);
    buf_printf(&b, " (HTTP %ld)", status);
    if (words->message.n) {
        buf_add_z(&b, ": ");
        utf8_add_printable(&b, str_head(words->message, WORDS_MAX));
    }
    err_set(err, E_PROVIDER, "%s", buf_z(&b));
    if (words->kind.n) {
        utf8_add_printable(&kind, str_head(words->kind, 100));
        err_ctx(err, "provider_error", "%s", buf_z(&kind));
    }
    wire_note_length(err, status, words->kind, words->message);
    return false;
}
