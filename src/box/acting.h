/* Which changes of a box act by themselves (path/selfrun.h), links followed, and which links lead
 * out of the project.
 *
 *     struct acting_input in = {.project_fd = p, .top = path, .delta = &d, .targets = targets};
 *     AUTO_ACTING struct acting a = ACTING_INIT;
 *     if (!acting_find(&a, &in, err)) ...
 *     if (a.rows[i].class == SELFRUN_RUNS || a.rows[i].leads_out) ...
 *
 * Judged is the project as it would be with the changes. Beside the path of a change these count:
 *
 *   a link in the place of a directory that has such files (`.github -> x`)
 *   what lies behind a link with such a name, or below it: `c/config.toml`, if `.cargo -> c` is in
 *   the project or comes with the changes; through several links, too
 *   a link on the way there: `x -> y`, if `.cargo -> x`
 *   a link that leads to such a file, or out of the project
 *   a repository under any name: a directory with HEAD, objects and refs
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_ACTING_H
#define BOX_ACTING_H

#include "box/delta.h"
#include "path/selfrun.h"

enum {
    ACTING_LINKS_MAX = 1000 * 1000,
    ACTING_VIEWS_MAX = 200 * 1000,        /* names under which something is seen through links */
    ACTING_STEPS_MAX = 100 * 1000 * 1000, /* paths that are looked at in all of those */
};

struct acting_row {
    enum selfrun_class class;
    const char *reason; /* NULL: an ordinary file, or nothing but a link that leads out */
    struct str as;      /* the name under which it acts, if it is not its own; or no value */
    bool leads_out;     /* a link whose target is not in the project */
    struct str target;  /* of such a link, as it is in it */
};

struct acting {
    struct arena arena;
    struct acting_row *rows; /* one for each change */
    size_t n;
};

#define ACTING_INIT ((struct acting){.arena = ARENA_INIT((size_t)1 << 30)})
#define AUTO_ACTING AUTO(acting_done)

struct acting_input {
    int project_fd; /* -1: there is none any more */
    struct str top; /* its path, absolute: links to it stay inside; no value: none does */
    const struct delta *delta;
    const struct str *targets; /* of each change that makes a link */
};

/* E_IO if there are too many links to tell: nothing is let through unseen. */
MUST_USE bool acting_find(struct acting *a, const struct acting_input *in, struct err *err);
void acting_done(struct acting *a);

#endif
