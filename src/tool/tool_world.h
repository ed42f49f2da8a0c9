/* The sandbox that the commands of a toolbox share (session/world.h), and when it is replaced.
 *
 *     struct tool_world *w = tool_world_current(box);
 *     if (!w) {
 *         w = tool_world_new();
 *         ...make w->confined...
 *         tool_world_open(box, w, err)
 *     }
 *
 * A world's mounts protect the parts of repositories as they were when it was made. A part that
 * the user creates, or replaces, is not protected in it: then the next command gets a new world.
 * The old one stays as long as processes of it run.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_TOOL_WORLD_H
#define TOOL_TOOL_WORLD_H

#include "session/confined.h"
#include "session/world.h"
#include "tool/toolbox.h"

enum {
    TOOL_WORLDS_MAX = 8, /* with more, the oldest is killed */
};

struct world_stamp;

struct tool_world {
    struct arena arena;
    struct confined confined;
    struct world *world;
    struct world_stamp *stamps; /* of the protected paths */
    size_t n_stamps;
    struct tool_world *next; /* an older one with running commands */
};

/* Whether the commands of a box with these options share a world. */
bool tool_world_is_wanted(const struct toolbox_options *o);

/* Returns the present world, if it can run the next command; otherwise NULL. */
struct tool_world *tool_world_current(struct toolbox *box);

/* A new one, whose arena and confinement the caller fills; then opens it or drops it. */
struct tool_world *tool_world_new(void);
void tool_world_drop(struct toolbox *box, struct tool_world *w);
MUST_USE bool tool_world_open(struct toolbox *box, struct tool_world *w, struct err *err);

/* Whether processes of commands are left in any of them. Closes old ones without. */
bool tool_worlds_are_busy(struct toolbox *box);

/* The present one's world_descriptor() and world_handle_events(). */
int tool_world_descriptor(const struct toolbox *box);
void tool_world_handle_events(struct toolbox *box);
/* Whether that must be done even if no command is being waited for. */
bool tool_world_needs_tending(const struct toolbox *box);

/* Says in the result that commands run in a new world, once. */
void tool_world_tell(struct toolbox *box, struct tool_result *result);

/* Kills everything in them. */
void tool_worlds_close(struct toolbox *box);

#endif
