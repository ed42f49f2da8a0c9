/* The list of denials. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/denial.h"

enum {
    SHOWN_VALUE = 200, /* bytes of a value in a message */
    TEXT_MAX = 64 * 1024,
};

void denials_add(struct denials *d, const struct denial *denial)
{
    ARENA_GROW(d->arena, d->p, d->n, d->cap);
    d->p[d->n] = *denial;
    d->p[d->n].value = str_head(denial->value, DENIAL_VALUE_MAX);
    d->n++;
}

void denial_add_text(const struct denial *denial, struct str value, struct buf *text)
{
    buf_printf(text, "%s: ", denial->field);
    if (denial->value_first)
        buf_printf(text, "'" STR_FMT "' %s", STR_ARG(value), denial->message);
    else
        buf_printf(text, "%s: '" STR_FMT "'", denial->message, STR_ARG(value));
}

bool denial_error(const struct denial *denial, struct err *err)
{
    AUTO_BUF struct buf text = BUF_INIT(TEXT_MAX);
    denial_add_text(denial, str_head(denial->value, SHOWN_VALUE), &text);
    err_set(err, E_POLICY_DENIED, "%s (%s); %s", buf_z(&text), denial->reason, denial->fix);
    err_ctx(err, "field", "%s", denial->field);
    err_ctx(err, "value", STR_FMT, STR_ARG(denial->value));
    err_ctx(err, "reason", "%s", denial->reason);
    return err_ctx(err, "fix", "%s", denial->fix);
}

json_t *denials_json(const struct denials *d)
{
    json_t *list = json_array();
    for (size_t i = 0; i < d->n; i++) {
        AUTO_ERR struct err err = {0};
        denial_error(&d->p[i], &err);
        json_push(list, err_to_json(&err));
    }
    return list;
}
