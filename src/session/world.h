/* One sandbox for all commands of a session: they share its processes, its network with a loopback
 * of its own, /tmp and HOME. A server that one command starts answers the next.
 *
 *     struct world *w;
 *     if (!world_open(&plan, denied, &w, err))
 *         return false;
 *     process_open(&(struct process_options){.world = w, .launch = …}, &p, err);    for each
 *     world_close(w);                                       kills all that is left in it
 *
 * A command runs on its own terminal or pipes, in a session of its own. What it leaves behind lives
 * until the world ends; output that comes after the command's end is discarded. Killing a command
 * kills its session (sandbox/session_kill.h).
 *
 * The rest is for session/process.c.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SESSION_WORLD_H
#define SESSION_WORLD_H

#include "base/err.h"
#include "sandbox/launch.h"
#include "sandbox/service.h"

enum {
    WORLD_LEFT_MAX = 32, /* pipes of ended commands that are still read */
};

struct world;

/* The plan must outlive it, as must the list of denials (may be NULL). Only with namespaces of its
 * own (plan_is_native()). */
MUST_USE bool world_open(
    const struct plan *plan, struct denied *denied, struct world **ret_world, struct err *err);

/* Kills everything; commands that were not released end as killed. Accepts NULL. */
void world_close(struct world *w);

/* The sandbox was killed, or has failed: it runs no more commands. */
bool world_is_gone(const struct world *w);

/* The host's mounts in the directories that commands can write are no longer those that the world
 * shows: what was unmounted can still be written in it, and what was mounted is not there. */
bool world_is_stale(const struct world *w);

/* Whether a process of a command may still run, or its end was not read yet. */
bool world_is_busy(struct world *w);

/* Readable when there is something for world_handle_events(), which never blocks. */
int world_descriptor(const struct world *w);
void world_handle_events(struct world *w);
/* Whether processes of ended commands may be waiting for it. */
bool world_has_left(const struct world *w);

/* A command in it. Read-only for others. */
struct world_command {
    struct world *world;
    struct world_command *next;
    uint32_t id;
    struct service_event answer;
    bool answered, ended;
    int status;         /* a wait status */
    bool too_many;      /* there were too many processes in the world, and all were killed */
    bool large;         /* a process of it had too much memory, and was killed */
    uint64_t oom_kills; /* of the world, before it */
};

/* Starts a command under the launch's plan in this working directory. The ends of its streams are
 * stored in the child, which has nothing else. */
MUST_USE bool world_start(struct world *w, const struct launch *launch, const char *cwd,
    struct child *ret_ends, struct world_command **ret_command, struct err *err);

/* Its session, as the sandbox sees it: denied_style.session. */
pid_t world_session(const struct world_command *c);

void world_signal(const struct world_command *c, int sig);
/* Kills its session, and waits for its end; if that does not come, kills the world. */
void world_kill(struct world_command *c);

/* Keeps reading a pipe of a command that has ended, so that what it left behind does not fail. */
void world_adopt(struct world *w, int fd);

/* How processes were limited, with the kills for lack of memory since the command's start. */
struct limiter_kept world_kept(const struct world_command *c);

void world_release(struct world_command *c); /* accepts NULL */

#endif
