/* The journal: durable record of a change in progress, and its recovery by the next command if it
 * was interrupted.
 *
 *     journal_open(dir, &change, &j, err)       intent on disk; now names may be created
 *     journal_made(&j, &change, err)            our directories are recorded on disk
 *     journal_commit(&j, &change, err)          staged files are also; now files may be replaced
 *     journal_finish(&j, &change, err)          all replaced: removes old versions and the journal
 *     journal_recover(dir, root_fd, &report, err)   at the start of the next command in that root
 *
 * A journal is one file in a directory owned by the user (0700, created on first use, and removed
 * again by the writer that created it): `<id>.new` until the intent is on disk, then
 * `<id>.journal`. So a `.journal` with an incomplete intent is damaged, and a `.new` file has
 * created nothing. Its writer holds a lock on it as long as it lives, so a journal that can be
 * locked has no writer any more. While files are being replaced or restored, the directory itself
 * is also locked: two changes never interleave their renames.
 *
 * Each state determines what may be on disk, and recovery needs nothing else:
 *
 *     staging   temporary files, new directories: they are removed. A temporary name that holds the
 *               old version of a file shows that lines are missing: damage, nothing is touched.
 *     commit    each file old or new. If every file that is still old is as it was when the change
 *               was made, the rest is completed; otherwise everything is undone. Concurrent changes
 *               of other programs are never lost.
 *     done      all new: old versions are removed.
 *     undo      each file old or new: everything is undone. This is a mark on a journal in the
 *               state commit or done, and overrides both; it needs no space on a full disk.
 *
 * Undoing first sets the mark, then restores all files, then truncates the journal to "staging",
 * then removes the leftovers. So recovery can also be interrupted at any point, and a change that
 * was reported as failed is never completed later. If the mark can't be set, a journal that may say
 * "done" is truncated to "commit" before the first file moves; if that also fails, nothing moves,
 * and the error tells the user that the next command decides.
 *
 * A file whose directory can't be found, or whose old version was removed by another program, is
 * lost to an undo: the others are restored, and the journal is kept as `<id>.lost`. That file is
 * never read again, it is for people. A live writer finds directories that were moved, since it
 * holds them open (the first CHANGE_HELD of them).
 *
 * For a single file in an existing directory, neither its temporary name nor "done" is synced:
 * without them it is still either the old file or the new one. If a removed journal reappears after
 * a power failure, it says "done" or has nothing left to do.
 *
 * A directory that the change created is removed only under its temporary name, or if it has the
 * inode that "made" recorded.
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
    size_t made_n; /* length of the path up to its first created level; 0: none */
    size_t staging_n;
    size_t commit_n;
    uint64_t hash;
    bool commit_tried; /* these lines may be on disk even if writing them failed */
    bool done_tried;
    bool marked; /* the undo mark is on disk */
};

/* Assigns the change its id and writes the intent. Leaves nothing behind on failure. */
MUST_USE bool journal_open(
    const char *dir_path, struct change *c, struct journal *ret_journal, struct err *err);
/* Records the inodes of the directories, which don't have their final names yet. */
MUST_USE bool journal_made(struct journal *j, const struct change *c, struct err *err);
/* Takes the lock, and records the old and new state of every file. */
MUST_USE bool journal_commit(struct journal *j, const struct change *c, struct err *err);
/* Every file has its new state. After a failure the change can still be undone. */
MUST_USE bool journal_done(struct journal *j, const struct change *c, struct err *err);
/* Removes old versions and the journal. A failure only leaves work for the next command. */
MUST_USE bool journal_finish(struct journal *j, struct change *c, struct err *err);
/* Removes the staged files; no file has been replaced yet. */
MUST_USE bool journal_drop(struct journal *j, struct change *c, struct err *err);
/* Restores every file, then does the same. A failure leaves the journal for the next command. Lost
 * files are not a failure, but are counted in the change. */
MUST_USE bool journal_undo(struct journal *j, struct change *c, struct err *err);
/* Whether the next command will undo, not complete, a change left behind by a failure. */
bool journal_goes_back(const struct journal *j);
/* Building blocks for recovery: tries to lock the file (*ret_taken: another process holds the
 * lock); waits for the directory's lock; removes the file. */
MUST_USE bool journal_lock_file(int fd, bool *ret_taken, struct err *err);
MUST_USE bool journal_lock(const struct journal *j, struct err *err);
MUST_USE bool journal_remove(struct journal *j, struct err *err);
/* Closes it without touching the file. */
void journal_close(struct journal *j);

struct journal_report {
    size_t finished;
    size_t undone;
    size_t live;               /* skipped: their writers are running */
    size_t elsewhere;          /* skipped: of other roots */
    size_t kept;               /* old versions that can't be restored: their names are in use */
    char first_kept[PATH_MAX]; /* relative to the root */
    size_t lost;               /* files that could be neither completed nor undone */
    char first_lost[PATH_MAX]; /* relative to the root */
    char lost_journal[JOURNAL_NAME]; /* `<id>.lost`, which has the details */
    size_t damaged;                  /* skipped: their root is unknown */
    char first_damaged[JOURNAL_NAME];
    char why_damaged[JOURNAL_WHY];
};

/* Completes or undoes each interrupted change of this root. A damaged journal of this root is
 * E_CONFIG, after all others have been processed; nothing that it names is touched. A journal that
 * can't be attributed to this root (damaged further up, another user's file, not a file, or no part
 * of the change is here) is only counted. Does nothing if the journal directory does not exist. */
MUST_USE bool journal_recover(
    const char *dir_path, int root_fd, struct journal_report *ret_report, struct err *err);

#endif
