/* The supervisor process of a running box: owns its terminal, screen and recording, serves attached
 * clients, delivers the prompt, runs commands for `exec`, and forwards network ports.
 *
 *     struct supervisor_options o = {.box = &box, .mode = SUPERVISE_AGENT, …};
 *     if (!supervisor_start(&o, err)) return false;      runs as a separate process
 *
 * It is a daemon, reparented to init: it exits with the box, and if it is killed the kernel kills
 * everything in the box. It writes only to host/ of its box.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOXD_SUPERVISOR_H
#define BOXD_SUPERVISOR_H

#include "box/box.h"
#include "box/view.h"

enum supervise {
    SUPERVISE_AGENT,
    SUPERVISE_WITHOUT_PROMPT,
    SUPERVISE_COMMANDS, /* no agent: exits after the last `exec` command when no client waits */
};

struct supervisor_options {
    const struct box *box;
    enum supervise mode;
    const char *const *environ; /* the caller's environment */
    const char *home;           /* the user's home, or NULL */
    uint16_t rows, cols;        /* screen size until a client attaches */
    const char *self;           /* see struct view_input */
    bool no_denials;            /* do not collect what is denied */
};

/* Returns when the sandbox is set up and the command has started; earlier errors are passed through
 * unchanged. E_CONFLICT: the box is already running. */
MUST_USE bool supervisor_start(const struct supervisor_options *options, struct err *err);

#endif
