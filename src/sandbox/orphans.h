/* The end of a sandbox that no pid namespace ends: for a process that orphans fall to
 * (PR_SET_CHILD_SUBREAPER). Allocates nothing. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_ORPHANS_H
#define SANDBOX_ORPHANS_H

/* Kills and reaps children of this process until there is none, those included that become its
 * children meanwhile. */
void orphans_kill(void);

#endif
