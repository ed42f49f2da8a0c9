/* Sessions that were cut off, as by SIGKILL. While a session lasts, a file has the state of its
 * repositories when it began (repo/known.h), locked by the session. The next session finds a file
 * without a lock, checks those repositories as the first one would have, and removes it.
 *
 *     unfinished_check(p);                    before p looks at the repositories itself
 *     unfinished_note(p);                     before the first command
 *     unfinished_end(p);                      after the last check
 *
 * Nothing is synced to disk: a machine that stops is no way out of a sandbox.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_UNFINISHED_H
#define REPO_UNFINISHED_H

#include "repo/protect.h"

enum {
    UNFINISHED_FILES_MAX = 1000,
    UNFINISHED_BYTES_MAX = 64 << 20,
};

/* Sets aside what sessions left in these roots, in what is above them and in what is below them. It
 * is listed in p->held. */
void unfinished_check(struct protect *p);

/* Writes the file; p->cut if that can't be done. */
void unfinished_note(struct protect *p);

/* Removes it, unless commands ran that nothing has looked after: then only the lock goes. */
void unfinished_end(struct protect *p);

#endif
