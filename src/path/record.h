/* The serialized form of a change, as stored in the journal. Pure: bytes in, bytes out.
 *
 *     record_add_staging(&b, &hash, &change);          before anything is created
 *     record_add_commit(&b, &hash, &change);           before the first file is replaced
 *     record_parse(text, &arena, &change, &tail, err)  after a crash
 *
 * A line is a word, its fields, and a checksum, separated by single spaces:
 *
 *     cordon-journal 1 <sum>
 *     way + <sum>
 *     root <device> <inode> <file system> <birth: seconds nanoseconds> <path> <sum>
 *     id <16 hex digits> <sum>
 *     tidy <sum>                    optional: remove directories that are empty at the end
 *     dir <path> <sum>              a directory to be created, parents first
 *     op create|update|delete|to-dir|to-file <inode of the old file> <path> <sum>
 *     staging <dirs> <ops> <sum>    all names are known; nothing has been created yet
 *     made <n> <inode> <sum>        a created directory that has no final name yet
 *     file <n> <old: inode seconds nanoseconds size mode user group> <new: the same> <sum>
 *     commit <sum>                  everything is staged; files may be replaced from here on
 *     done <sum>                    every file has its new state
 *
 * Bytes of a path other than letters, digits and "._-/" are written %XX, so a name can't contain a
 * space or a line break. The checksum (FNV-1a) covers all lines up to here: a lost, changed or
 * moved line is detected. A line that is truncated, or never reached the disk and reads as zeros,
 * counts as not written; any other deviation from this format is damage.
 *
 * Only one byte is ever overwritten: the '+', with a '-' when the change is to be undone, whatever
 * comes after it. That needs no space on a full disk and can't be half written. The checksum of its
 * line is always the one with the '+'.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_RECORD_H
#define PATH_RECORD_H

#include "base/arena.h"
#include "base/buf.h"
#include "path/change.h"

#define RECORD_MAX ((size_t)256 << 20)

enum record_state {
    RECORD_CUT, /* even the intent is incomplete */
    RECORD_STAGING,
    RECORD_COMMIT,
    RECORD_DONE,
    RECORD_UNDO, /* commit or done, with the undo mark */
};

enum {
    RECORD_WAY_AT = 38, /* offset of the '+' */
};

struct record_tail {
    enum record_state state;
    size_t staging_n; /* bytes up to "staging", or to the last "made" */
    size_t whole_n;   /* bytes of all complete lines */
    uint64_t hash;    /* to append more lines */
};

void record_add_staging(struct buf *b, uint64_t *hash, const struct change *c);
void record_add_made(struct buf *b, uint64_t *hash, const struct change *c);
void record_add_commit(struct buf *b, uint64_t *hash, const struct change *c);
void record_add_done(struct buf *b, uint64_t *hash);

/* Parses a record; damage is E_CONFIG. Every path in the change satisfies change_rel_ok(). The
 * strings are in the arena, which needs room for RECORD_MAX. */
MUST_USE bool record_parse(struct str text, struct arena *a, struct change *ret_change,
    struct record_tail *ret_tail, struct err *err);

/* Reads only the root of a record that may be damaged. Returns false if it can't be read. */
MUST_USE bool record_peek(struct str text, struct arena *a, struct change *ret_change);

#endif
