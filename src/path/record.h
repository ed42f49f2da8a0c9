/* The written form of a change, as the journal keeps it. Pure: bytes in, bytes out.
 *
 *     record_add_staging(&b, &hash, &change);          before anything is created
 *     record_add_commit(&b, &hash, &change);           before the first file is replaced
 *     record_parse(text, &arena, &change, &tail, err)  after a crash
 *
 * One line is a word, its fields, and a checksum, with single blanks between:
 *
 *     cordon-journal 1 <sum>
 *     way + <sum>
 *     root <device> <inode> <file system> <birth: seconds nanoseconds> <path> <sum>
 *     id <16 hex digits> <sum>
 *     tidy <sum>                            directories that are empty at the end go; or no such
 * line dir <path> <sum>                      a directory that will be made, parents first op
 * create|update|delete|to-dir|to-file <inode of the old file> <path> <sum> staging <dirs> <ops>
 * <sum>            all names are known; nothing has been created yet made <n> <inode> <sum> a
 * directory that was made, but has no name yet file <n> <old: inode seconds nanoseconds size mode
 * user group> <new: the same> <sum> commit <sum>                          everything is staged;
 * files may be replaced from here done <sum>                            every file has its new
 * state
 *
 * Bytes of a path other than letters, digits and "._-/" are written %XX, so a name can't contain
 * a blank or the end of a line. The checksum (FNV-1a) runs over all lines up to here: a line that
 * was lost, changed or moved shows. A line that was cut off, or never reached the disk and reads
 * as zeros, is as good as not written; anything else that isn't exactly this form is damage.
 *
 * One byte is ever overwritten: the '+', with a '-' when the change is to be undone, whatever comes
 * after it. It needs no room on a full disk and can't be half written. Its line's checksum is that
 * with the '+'.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_RECORD_H
#define PATH_RECORD_H

#include "base/arena.h"
#include "base/buf.h"
#include "path/change.h"

#define RECORD_MAX ((size_t)256 << 20)

enum record_state {
    RECORD_CUT, /* not even the intent is whole */
    RECORD_STAGING,
    RECORD_COMMIT,
    RECORD_DONE,
    RECORD_UNDO, /* commit or done, and then the mark */
};

enum {
    RECORD_WAY_AT = 38, /* where the '+' stands */
};

struct record_tail {
    enum record_state state;
    size_t staging_n; /* bytes of the part up to "staging", or to the last "made" */
    size_t whole_n;   /* bytes of all whole lines */
    uint64_t hash;    /* to write more lines after them */
};

void record_add_staging(struct buf *b, uint64_t *hash, const struct change *c);
void record_add_made(struct buf *b, uint64_t *hash, const struct change *c);
void record_add_commit(struct buf *b, uint64_t *hash, const struct change *c);
void record_add_done(struct buf *b, uint64_t *hash);

/* Reads it back; damage is E_CONFIG. Every path in the change is one that change_rel_ok() takes.
 * The strings are in the arena, which needs room for RECORD_MAX. */
MUST_USE bool record_parse(struct str text, struct arena *a, struct change *ret_change,
    struct record_tail *ret_tail, struct err *err);

/* Of a record that may be damaged: which root it is about. False: that can't be read. */
MUST_USE bool record_peek(struct str text, struct arena *a, struct change *ret_change);

#endif
