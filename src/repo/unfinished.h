/* Sessions that were cut off, as by SIGKILL. From the beginning of a command to the check after it
 * a file has the state of the repositories (repo/state.h), locked by the session. The next session
 * finds a file without a lock, checks those repositories as the first one would have, and removes
 * it.
 *
 *     unfinished_check(p);                    before p looks at the repositories itself
 *     unfinished_note(p);                     before a command
 *     unfinished_end(p);                      after the check
 *
 * Nothing waits for the disk: a file may be lost or empty after the machine has stopped. One that
 * can't be read, of another user, or of a directory that is not the same one is named and kept.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_UNFINISHED_H
#define REPO_UNFINISHED_H

#include "repo/protect.h"

enum {
    UNFINISHED_FILES_MAX = 1000,
    UNFINISHED_DAYS = 30, /* that a file is kept whose directories are gone or can't be told */
};

/* Sets aside what sessions left in these roots, in what is above them and in what is below them. It
 * is listed in p->held. */
void unfinished_check(struct protect *p);

/* Writes the file, if there is none yet; p->unkept if that can't be done. */
void unfinished_note(struct protect *p);

/* Removes it, unless commands ran that nothing has looked after: then only the lock goes. */
void unfinished_end(struct protect *p);

#endif
