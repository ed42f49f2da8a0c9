/* Interrupted sessions, as by SIGKILL. From the start of a command until the check after it, a file
 * has the state of the repositories (repo/protect_state.h), locked by the session. The next session
 * that finds a file without a lock checks those repositories as the first one would have, and
 * removes the file.
 *
 *     unfinished_check(p);                    before p searches the repositories itself
 *     unfinished_write(p);                     before a command
 *     unfinished_remove(p);                      after the check
 *
 * Nothing waits for the disk: a file may be lost or empty after the machine has stopped. A file
 * that can't be read, belongs to another user, or is about a directory that is no longer the same
 * is reported and kept.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_UNFINISHED_H
#define REPO_UNFINISHED_H

#include "repo/protect.h"

enum {
    UNFINISHED_FILES_MAX = 1000,
    UNFINISHED_DAYS = 30, /* days that a file is kept if its directories are gone or unclear */
};

/* Sets aside the remains of interrupted sessions in these roots and in directories above and below
 * them, and lists them in p->held. */
void unfinished_check(struct protect *p);

/* Writes the file unless it exists; sets p->unkept on failure. */
void unfinished_write(struct protect *p);

/* Removes the file, unless commands ran that were not checked: then only releases the lock. */
void unfinished_remove(struct protect *p);

#endif
