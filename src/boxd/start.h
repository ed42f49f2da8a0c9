/* Starting a box that is not running: with its agent, or only for commands of `exec`.
 *
 *     struct start_options o = {.box = &box, .environ = environ, .home = home, .rows = 24, …};
 *     if (!start_agent(&o, true, err)) return false;
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOXD_START_H
#define BOXD_START_H

#include "box/box.h"

struct start_options {
    const struct box *box;
    const char *const *environ; /* the caller's environment */
    const char *home;           /* the user's home, or NULL */
    uint16_t rows, cols;        /* screen size until a client attaches */
    const char *self;           /* see struct view_input */
    bool no_denials;            /* do not collect what is denied */
};

/* Starts the agent. Waits a moment if commands of `exec` or a supervisor that was killed still use
 * the box; E_CONFLICT if an agent does. */
MUST_USE bool start_agent(const struct start_options *o, bool with_prompt, struct err *err);

/* Starts the box without its agent; it ends with the last command. */
MUST_USE bool start_for_commands(const struct start_options *o, struct err *err);

#endif
