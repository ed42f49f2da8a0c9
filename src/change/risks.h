/* Determines which changes of a box take effect automatically (path/selfrun.h), with symlinks
 * followed, and which symlinks lead out of the project.
 *
 *     struct risks_input in = {.project_fd = p, .top = path, .delta = &d, .targets = targets};
 *     AUTO_RISKS struct risks a = RISKS_INIT;
 *     if (!risks_find(&a, &in, err)) ...
 *     if (a.rows[i].class == SELFRUN_RUNS || a.rows[i].leads_out) ...
 *
 * The project is examined as it would be with the changes applied. In addition to the path of a
 * change, these count:
 *
 *     - a symlink in place of a directory that has such files (`.github -> x`)
 *     - a file at or below the target of a symlink with such a name: `c/config.toml`, if
 *       `.cargo -> c` is in the project or among the changes; also through several symlinks
 *     - a symlink on the path to it: `x -> y`, if `.cargo -> x`
 *     - a symlink to such a file, or out of the project
 *     - a repository of any name: a directory with HEAD, objects and refs
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHANGE_RISKS_H
#define CHANGE_RISKS_H

#include "change/delta.h"
#include "path/selfrun.h"

enum {
    RISKS_LINKS_MAX = 1000 * 1000,
    RISKS_VIEWS_MAX = 200 * 1000,        /* paths that refer to something through symlinks */
    RISKS_STEPS_MAX = 100 * 1000 * 1000, /* paths examined in all views */
};

struct risks_row {
    enum selfrun_class class;
    const char *reason; /* NULL: an ordinary file, or only a symlink that leads out */
    struct str as;      /* the path under which it takes effect, if not its own; or no value */
    bool leads_out;     /* a symlink whose target is outside the project */
    struct str target;  /* target of such a symlink, verbatim */
};

struct risks {
    struct arena arena;
    struct risks_row *rows; /* one per change */
    size_t n;
};

#define RISKS_INIT ((struct risks){.arena = ARENA_INIT((size_t)1 << 30)})
#define AUTO_RISKS AUTO(risks_done)

struct risks_input {
    int project_fd; /* -1: the project no longer exists */
    struct str top; /* absolute path: links to it stay inside; no value: absolute links lead out */
    const struct delta *delta;
    const struct str *targets; /* target of each change that creates a symlink */
};

/* E_IO if there are too many symlinks to decide: no change passes unchecked. */
MUST_USE bool risks_find(struct risks *a, const struct risks_input *in, struct err *err);
void risks_done(struct risks *a);

#endif
