/* The one process that a running box has: keeps its terminal, its screen and its recording, takes
 * whoever attaches, delivers the prompt, runs `exec`'s commands, and forwards the network.
 *
 *     struct supervisor_options o = {.box = &box, .mode = SUPERVISE_AGENT, …};
 *     if (!supervisor_start(&o, err)) return false;      it runs, and we are somebody else
 *
 * It is a child of nobody after that: it ends with the box, and if it is killed the kernel ends
 * everything in the box. It writes only to host/ of its box.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_SUPERVISOR_H
#define BOX_SUPERVISOR_H

#include "box/box.h"
#include "box/view.h"

enum supervise {
    SUPERVISE_AGENT,
    SUPERVISE_WITHOUT_PROMPT,
    SUPERVISE_COMMANDS, /* no agent: ends when the last command of `exec` has, and nobody waits */
};

struct supervisor_options {
    const struct box *box;
    enum supervise mode;
    const char *const *environ; /* the caller's */
    const char *home;           /* the user's, or NULL */
    uint16_t rows, cols;        /* of the screen before anybody attaches */
};

/* Returns when its sandbox is built and the command has begun; what failed until then is told as
 * it was. E_CONFLICT: the box runs already. */
MUST_USE bool supervisor_start(const struct supervisor_options *options, struct err *err);

#endif
