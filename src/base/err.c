/* The common error type and its table of codes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>

enum {
    MESSAGE_MAX = ERR_BYTES_MAX,
};

static const struct {
    const char *name;
    const char *about;
    int status;
} codes[ERR_COUNT] = {[ERR_NONE] = {"", "no error", 0},
#define ERR_ROW(code, exit_status, text) [code] = {#code, text, exit_status},
    ERR_CODES(ERR_ROW)
#undef ERR_ROW
};

const char *err_name(enum err_code code)
{
    BUG_ON(code >= ERR_COUNT);
    return codes[code].name;
}

const char *err_about(enum err_code code)
{
    BUG_ON(code >= ERR_COUNT);
    return codes[code].about;
}

int err_status(enum err_code code)
{
    BUG_ON(code >= ERR_COUNT);
    return codes[code].status;
}

void err_done(struct err *err)
{
    free(err->message);
    for (size_t i = 0; i < err->n_ctx; i++) {
        free(err->ctx[i].key);
        free(err->ctx[i].text);
    }
    *err = (struct err){0};
}

static char *err_format(const char *format, va_list args)
{
    AUTO_BUF struct buf b = BUF_INIT(MESSAGE_MAX);
    buf_vprintf(&b, format, args);
    if (!buf_ok(&b)) {
        buf_reset(&b);
        buf_add_z(&b, "(a message too long to show)");
    }
    return buf_take(&b);
}

bool err_set(struct err *err, enum err_code code, const char *format, ...)
{
    BUG_ON(code == ERR_NONE);
    va_list args;
    va_start(args, format);
    char *message = err_format(format, args); /* first: arguments may point into *err */
    va_end(args);
    err_done(err);
    err->code = code;
    err->message = message;
    return false;
}

bool err_errno(struct err *err, enum err_code code, int errnum, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    AUTO_FREE char *what = err_format(format, args);
    va_end(args);
    err_set(err, code, "%s: %s", what, strerror(errnum));
    const char *name = strerrorname_np(errnum);
    return err_ctx(err, "errno", "%s", name ? name : "unknown");
}

bool err_wrap(struct err *err, const char *format, ...)
{
    BUG_ON(err->code == ERR_NONE);
    va_list args;
    va_start(args, format);
    AUTO_FREE char *what = err_format(format, args);
    va_end(args);
    AUTO_FREE char *old = err->message;
    AUTO_BUF struct buf b = BUF_INIT(2 * MESSAGE_MAX);
    buf_printf(&b, "%s: %s", what, old);
    if (!buf_ok(&b)) {
        buf_reset(&b);
        buf_add_z(&b, what);
    }
    err->message = buf_take(&b);
    return false;
}

static struct err_pair *err_slot(struct err *err, const char *key)
{
    BUG_ON(err->code == ERR_NONE);
    for (size_t i = 0; i < err->n_ctx; i++)
        if (strcmp(err->ctx[i].key, key) == 0)
            return &err->ctx[i];
    BUG_ON(err->n_ctx == ERR_CTX_MAX);
    struct err_pair *pair = &err->ctx[err->n_ctx++];
    pair->key = strdup(key);
    BUG_ON(!pair->key);
    return pair;
}

bool err_ctx(struct err *err, const char *key, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = err_format(format, args);
    va_end(args);
    struct err_pair *pair = err_slot(err, key);
    free(pair->text);
    pair->text = text;
    return false;
}

bool err_ctx_int(struct err *err, const char *key, int64_t number)
{
    struct err_pair *pair = err_slot(err, key);
    free(pair->text);
    pair->text = NULL;
    pair->number = number;
    return false;
}

void err_copy(struct err *to, const struct err *from)
{
    err_set(to, from->code, "%s", from->message);
    for (size_t i = 0; i < from->n_ctx; i++)
        if (from->ctx[i].text)
            err_ctx(to, from->ctx[i].key, "%s", from->ctx[i].text);
        else
            err_ctx_int(to, from->ctx[i].key, from->ctx[i].number);
}

bool err_move(struct err *to, struct err *from)
{
    BUG_ON(from->code == ERR_NONE);
    err_done(to);
    *to = *from;
    *from = (struct err){0};
    return false;
}

const struct err_pair *err_ctx_get(const struct err *err, const char *key)
{
    for (size_t i = 0; i < err->n_ctx; i++)
        if (strcmp(err->ctx[i].key, key) == 0)
            return &err->ctx[i];
    return NULL;
}
