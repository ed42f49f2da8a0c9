/* Our emulator, to be measured. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/term.h"

#include "term_engine.h"

struct engine {
    struct term *term;
};

struct engine *engine_new(unsigned rows, unsigned cols)
{
    struct engine *e = base_alloc(sizeof(*e));
    e->term = term_new(
        &(struct term_options){.rows = rows, .cols = cols, .scrollback = ENGINE_SCROLLBACK});
    return e;
}

void engine_free(struct engine *e)
{
    term_free(e->term);
    free(e);
}

void engine_feed(struct engine *e, const char *bytes, size_t n)
{
    term_feed(e->term, str_n(bytes, n));
    term_drop_replies(e->term, term_replies(e->term).n);
}
