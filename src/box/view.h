/* Contents of a box: its plan for the sandbox, and the environment of its processes.
 *
 *     struct box_view view;
 *     if (!view_make(&box, &input, &arena, &view, err)) return false;
 *     launch_start(&(struct launch){.plan = &view.confined.plan, …}, …)
 *
 * Inside: the system read-only, as in any sandbox; the project at its own path, under the box's
 * layer, executable; extra directories, read-only unless `:rw`; HOME at the user's own path, which
 * is the box's home/; a private /tmp; read-only the user's toolchains (box/toolchains.h), and the
 * agent's own program, wherever it is installed. Nothing else of $HOME or $CORDON_HOME.
 *
 * In a directory that the box writes directly (`:rw`), `.git` is read-only: the host's git would
 * run programs configured there.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_VIEW_H
#define BOX_VIEW_H

#include "box/box.h"
#include "session/confined.h"

struct view_input {
    const char *const *environ; /* the caller's: source of keys and PATH */
    const char *home;           /* the user's actual home, or NULL */
    const char *program;        /* argv[0] of the command; NULL: the agent's, if installed */
    uint16_t proxy_port;        /* in the box; 0: no proxy */
    const char *self;           /* path of cordon(1); NULL: this executable, "": none */
};

/* Must not be moved. */
struct box_view {
    struct confined confined; /* its environment holds the agent's keys: never logged */
    const char *program;      /* path in the box, absolute; or NULL */
};

/* E_NOT_FOUND: the agent's program is not installed; names the program and the search path. */
MUST_USE bool view_make(const struct box *box, const struct view_input *input, struct arena *arena,
    struct box_view *ret_view, struct err *err);

#endif
