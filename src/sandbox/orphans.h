/* Kills the remaining processes of a sandbox that has no pid namespace. The caller must be a child
 * subreaper (PR_SET_CHILD_SUBREAPER) that blocks SIGCHLD. Allocates nothing. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_ORPHANS_H
#define SANDBOX_ORPHANS_H

/* Kills and reaps the children of this process until none are left, including processes that are
 * reparented to it while it runs. Gives up after 5 s: they may fork faster than they are killed. */
void orphans_kill(void);

#endif
