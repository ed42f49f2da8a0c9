/* The list of denials. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/denial.h"

enum {
    SHOWN_VALUE = 200, /* bytes of a value in a message */
};

void denials_add(struct denials *d, const struct denial *denial)
{
    ARENA_GROW(d->arena, d->p, d->n, d->cap);
    d->p[d->n] = *denial;
    d->p[d->n].value = str_head(denial->value, DENIAL_VALUE_MAX);
    d->n++;
}

bool denial_error(const struct denial *denial, struct err *err)
{
    struct str shown = str_head(denial->value, SHOWN_VALUE);
    err_set(err, E_POLICY_DENIED, "%s: %s: '" STR_FMT "' (%s); %s", denial->field, denial->message,
        STR_ARG(shown), denial->reason, denial->fix);
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
