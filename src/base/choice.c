/* "Did you mean" suggestions. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/choice.h"

void choice_done(struct choice *c)
{
    buf_done(&c->list);
}

void choice_add(struct choice *c, const char *name)
{
    struct str candidate = str_z(name);
    /* A prefix counts like a typo of one letter. */
    bool begins = c->written.n >= 2 && str_starts_with(candidate, c->written);
    size_t distance = begins ? 1 : str_distance(c->written, candidate);
    if (distance < c->distance) {
        c->distance = distance;
        c->nearest = name;
    }
    if (c->n++ < CHOICE_LISTED)
        buf_printf(&c->list, "%s'%s'", c->n > 1 ? ", " : "", name);
    else if (c->n == CHOICE_LISTED + 1)
        buf_add_z(&c->list, ", ...");
}

void choice_add_all(struct choice *c, const char *const *names)
{
    for (size_t i = 0; names[i]; i++)
        choice_add(c, names[i]);
}

void choice_hint(const struct choice *c, const char *prefix, struct buf *b)
{
    /* Up to a third of the word may be wrong. */
    if (c->nearest && c->distance <= MAX(c->written.n, (size_t)3) / 3)
        buf_printf(b, "; did you mean '%s%s'?", prefix, c->nearest);
}

const char *choice_list(const struct choice *c)
{
    return buf_z(&c->list);
}

void choice_join(const char *const *names, const char *last, struct buf *b)
{
    for (size_t i = 0; names[i]; i++)
        buf_printf(b, "%s%s", i == 0 ? "" : names[i + 1] ? ", " : last, names[i]);
}
