/* The durable record of a change under way, and what the next command does with one that was cut
 * off.
 *
 *     journal_open(dir, &change, &j, err)       intent on disk; now names may be created
 *     journal_made(&j, &change, err)            which directories are ours is on disk
 *     journal_commit(&j, &change, err)          what is staged is, too; now files may be replaced
 *     journal_finish(&j, &change, err)          all replaced: old versions and record go
 *     journal_recover(dir, root_fd, &report, err)   at the start of the next command in that root
 *
 * A journal is one file in a directory of the user's (0700, made on first use, and removed again by
 * the writer that made it): `<id>.new` until the intent is on disk, then `<id>.journal`. So one
 * whose intent isn't whole is damaged, and what is still `.new` has created nothing. Its writer
 * holds a lock on it as long as it lives, so a journal that can be locked has no writer any more.
 * While files are being replaced or put back the directory itself is locked too: two changes never
 * interleave their renames.
 *
 * Each state says what may be on disk, and recovery needs nothing else:
 *
 *     staging   temporary files, new directories: they go. A temporary name that holds the old
 *               version of a file shows that lines are missing: damage, nothing is touched.
 *     commit    each file old or new. If every file that is still old is as it was when the change
 *               was made, the rest is done too; otherwise all is undone. What somebody else
 *               did meanwhile is never lost.
 *     done      all new: old versions go.
 *     undo      each file old or new: all is undone. This one is a mark on a journal in the state
 *               commit or done, and wins over both; it takes no room on a full disk.
 *
 * Undoing first sets the mark, then puts all files back, then cuts the journal back to "staging",
 * then removes what is left. So recovery can be cut off at any point, too, and a change that was
 * reported as failed is never finished later. Where the mark can't be set, a journal that may say
 * "done" is cut back to "commit" before the first file moves; where that fails too nothing moves,
 * and the error says that the next command decides.
 *
 * A file whose directory can't be found, or whose old version somebody removed, is lost to an undo:
 * the others are put back, and the journal stays under the name `<id>.lost`. Nobody reads that one
 * again, it is for people. A living writer finds directories that were moved, since it holds them
 * open (the first CHANGE_HELD of them).
 *
 * Of one file, in a directory that is there, neither its temporary name nor "done" is synced:
 * without them it is still the old file or the new one. What a power failure brings back of a
 * journal that was removed says "done", or has nothing left to do.
 *
 * A directory that the change made is removed only under its temporary name, or if it has the inode
 * that "made" recorded.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_JOURNAL_H
#define PATH_JOURNAL_H

#include "path/change.h"

enum {
    JOURNAL_NAME = CHANGE_ID - 1 + sizeof(".journal"),
    JOURNAL_WHY = 200,
};

struct journal {
    int dir_fd;
    int fd; /* locked */
    char name[JOURNAL_NAME];
    char *dir_path;
    size_t made_n; /* the directory was made below this much of its path; 0: it was there */
    size_t staging_n;
    size_t commit_n;
    uint64_t hash;
    bool commit_tried; /* these lines may be on disk, also if writing them failed */
    bool done_tried;
    bool marked; /* to be undone: on disk */
};

/* Gives the change its id and writes the intent. Nothing is left behind on failure. */
MUST_USE bool journal_open(
    const char *dir_path, struct change *c, struct journal *ret_journal, struct err *err);
/* The directories have inodes, but not their names yet. */
MUST_USE bool journal_made(struct journal *j, const struct change *c, struct err *err);
/* Takes the lock, and writes what every file was and will be. */
MUST_USE bool journal_commit(struct journal *j, const struct change *c, struct err *err);
/* Every file has its new state. After a failure the change can still be undone. */
MUST_USE bool journal_done(struct journal *j, const struct change *c, struct err *err);
/* Old versions and record go. A failure only leaves work for the next command. */
MUST_USE bool journal_finish(struct journal *j, struct change *c, struct err *err);
/* What was staged goes; no file has been replaced yet. */
MUST_USE bool journal_drop(struct journal *j, struct change *c, struct err *err);
/* Every file as it was, then the same. A failure leaves the record for the next command. Files that
 * are lost are no failure, but counted in the change. */
MUST_USE bool journal_undo(struct journal *j, struct change *c, struct err *err);
/* What is left after a failure will be undone, not finished, by the next command. */
bool journal_goes_back(const struct journal *j);
/* The single parts, for recovery: tries to lock the file; waits for the directory's lock; removes
 * the file. */
MUST_USE bool journal_lock_file(int fd, bool *ret_taken, struct err *err);
MUST_USE bool journal_lock(const struct journal *j, struct err *err);
MUST_USE bool journal_remove(struct journal *j, struct err *err);
/* Lets go of it without touching the file. */
void journal_close(struct journal *j);

struct journal_report {
    size_t finished;
    size_t undone;
    size_t live;               /* left alone: their writers are at work */
    size_t elsewhere;          /* left alone: of other roots */
    size_t kept;               /* old versions that could not go back: somebody uses their place */
    char first_kept[PATH_MAX]; /* relative to the root */
    size_t lost;               /* files that could be neither finished nor undone */
    char first_lost[PATH_MAX]; /* relative to the root */
    char lost_journal[JOURNAL_NAME]; /* `<id>.lost`, which says more about it */
    size_t damaged;                  /* left alone: nobody knows whose they are */
    char first_damaged[JOURNAL_NAME];
    char why_damaged[JOURNAL_WHY];
};

/* Finishes or undoes each change of this root that was cut off. A damaged journal of this root is
 * E_CONFIG, after all others have been dealt with; nothing that it names is touched. What can't be
 * told to be of this root (damage further up, another user's file, no file at all, or nothing of
 * the change is here) is only counted. No journal directory: nothing to do. */
MUST_USE bool journal_recover(
    const char *dir_path, int root_fd, struct journal_report *ret_report, struct err *err);

#endif
