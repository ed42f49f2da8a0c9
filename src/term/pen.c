/* The current style as part of a cell. It is looked up when used, not when it changes: programs
 * often change it several times per character. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/term_state.h"

void pen_changed(struct term *t)
{
    t->pen_known = false;
    t->blank_known = false;
}

uint16_t pen_intern(struct term *t, const struct style *style)
{
    uint16_t id = style_intern(&t->styles, style);
    if (id != 0 || !style_table_full(&t->styles) || !term_may_compact(t))
        return id;
    struct style copy = *style; /* may point into the table */
    t->held = &copy;
    term_compact(t);
    t->held = NULL;
    return style_intern(&t->styles, &copy);
}

cell pen_find(struct term *t)
{
    t->template = cell_of(pen_intern(t, &t->pen));
    t->pen_known = true;
    return t->template;
}

cell pen_find_blank(struct term *t)
{
    const struct style style = {.bg = t->pen.bg};
    t->blank = cell_of(pen_intern(t, &style));
    t->blank_known = true;
    return t->blank;
}
