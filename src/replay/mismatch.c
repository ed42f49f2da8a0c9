/* Mismatches as data. */
#include "replay/mismatch.h"

#include <stdarg.h>

enum {
    MESSAGE_MAX = 4096,
};

void mismatch_done(struct mismatch *m)
{
    free(m->kind);
    err_done(&m->error);
    json_decref(m->rows);
    *m = (struct mismatch){0};
}

bool mismatch_set(struct mismatch *m, const char *kind, int64_t index, const char *format, ...)
{
    AUTO_BUF struct buf text = BUF_INIT(MESSAGE_MAX), name = BUF_INIT(64);
    va_list args;
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    buf_add_z(&name, kind);
    mismatch_done(m);
    m->kind = buf_take(&name);
    m->index = index;
    err_set(&m->error, E_REPLAY_MISMATCH, "%s", buf_z(&text));
    err_ctx(&m->error, "kind", "%s", kind);
    if (index >= 0)
        err_ctx_int(&m->error, "index", index);
    return false;
}

json_t *mismatch_json(const struct mismatch *m)
{
    if (!m->kind)
        return json_null();
    json_t *object = err_to_json(&m->error);
    json_put(object, "kind", json_string(m->kind));
    json_put(object, "index", m->index >= 0 ? json_integer(m->index) : json_null());
    json_put(object, "rows", m->rows ? json_incref(m->rows) : json_array());
    return object;
}

json_t *mismatch_summary(const struct mismatch *m, const struct normalization *n)
{
    static const struct normalization none = {.source = "none"};
    json_t *object = json_object(), *what = NULL;
    json_put(object, "replay_version", json_integer(REPLAY_VERSION));
    json_put(object, "status", json_string(m->kind ? "failed" : "passed"));
    normalization_put(n ? n : &none, object);
    if (m->kind) {
        what = json_object();
        json_put(what, "kind", json_string(m->kind));
        json_put(what, "index", m->index >= 0 ? json_integer(m->index) : json_null());
    }
    json_put(object, "mismatch", what ? what : json_null());
    return object;
}
