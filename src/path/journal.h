/* The durable record of a change under way, and what the next command does with one that was cut
 * off.
 *
 *     journal_open(dir, &change, &j, err)       intent on disk; now names may be created
 *     journal_commit(&j, &change, err)          what is staged is on disk; now files may be
 * replaced journal_finish(&j, &change, err)          all replaced: old versions and record go
 *     journal_recover(dir, root_fd, &report, err)   at the start of the next command in that root
 *
 * A journal is one file, `<id>.journal`, in a directory of the user's (0700, made on first use, and
 * removed again by the writer that made it). Its writer holds a lock on it as long as it lives, so
 * a journal that can be locked has no writer any more. While files are being replaced or put back
 * the directory itself is locked too: two changes never interleave their renames.
 *
 * Each state says what may be on disk, and recovery needs nothing else:
 *
 *     cut       nothing yet: the journal goes.
 *     staging   temporary files, new directories: they go.
 *     commit    each file old or new. If every file that is still old is as it was when the change
 *               was made, the rest is done too; otherwise all is undone. What somebody else
 *               did meanwhile is never lost.
 *     done      all new: old versions go.
 *
 * Undoing first puts all files back, then cuts the journal back to "staging" (which needs no room
 * on a full disk), then removes what is left. So recovery can be cut off at any point, too.
 */
#ifndef PATH_JOURNAL_H
#define PATH_JOURNAL_H

#include "path/change.h"

enum {
    JOURNAL_NAME = CHANGE_ID - 1 + sizeof(".journal"),
};

struct journal {
    int dir_fd;
    int fd; /* locked */
    char name[JOURNAL_NAME];
    char *dir_path;
    size_t made_n; /* the directory was made below this much of its path; 0: it was there */
    size_t staging_n;
    uint64_t hash;
};

/* Gives the change its id and writes the intent. Nothing is left behind on failure. */
MUST_USE bool journal_open(
    const char *dir_path, struct change *c, struct journal *ret_journal, struct err *err);
/* Takes the lock, and writes what every file was and will be. */
MUST_USE bool journal_commit(struct journal *j, const struct change *c, struct err *err);
/* Every file has its new state. After a failure the change can still be undone. */
MUST_USE bool journal_done(struct journal *j, const struct change *c, struct err *err);
/* Old versions and record go. A failure only leaves work for the next command. */
MUST_USE bool journal_finish(struct journal *j, const struct change *c, struct err *err);
/* What was staged goes; no file has been replaced yet. */
MUST_USE bool journal_drop(struct journal *j, const struct change *c, struct err *err);
/* Every file as it was, then the same. A failure leaves the record for the next command. */
MUST_USE bool journal_undo(struct journal *j, struct change *c, struct err *err);
/* The single parts, for recovery: waits for the directory's lock; removes the file. */
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
};

/* Finishes or undoes each change of this root that was cut off. A journal that is damaged or
 * belongs to another user is E_CONFIG, after all others have been dealt with; nothing that it names
 * is touched. No journal directory: nothing to do. */
MUST_USE bool journal_recover(
    const char *dir_path, int root_fd, struct journal_report *ret_report, struct err *err);

#endif
