/* The format of git's index: its entries and extensions, one after the other.
 *
 *     AUTO_GITINDEX struct gitindex_reader r = {0};
 *     if (!gitindex_start(bytes, GITINDEX_SHA1, &r, err)) ...
 *     while (r.left)
 *         if (!gitindex_entry(&r, &entry, err)) ...
 *     while (!gitindex_at_end(&r))
 *         if (!gitindex_extension(&r, &extension, err)) ...
 *
 * Reads versions 2, 3 and 4. The index does not record its hash algorithm: reading it with the
 * wrong one fails at the first entry, unless the index was crafted to be readable both ways.
 *
 * git may start in the middle, with several threads: extensions hold the offsets of entries and
 * extensions. An index in which these give another list than reading from the start is damaged.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_GITINDEX_H
#define REPO_GITINDEX_H

#include "base/buf.h"
#include "base/err.h"

enum {
    GITINDEX_ENTRIES_MAX = 4 * 1000 * 1000,
    GITINDEX_NAME_MAX = 64 * 1024,
    GITINDEX_SHA1 = 20,
    GITINDEX_SHA256 = 32,
    GITINDEX_TYPE = 0170000, /* type bits of a mode */
    GITINDEX_GITLINK = 0160000,
    GITINDEX_DIRECTORY = 0040000, /* in a sparse index */
};

struct gitindex_reader {
    struct str in;
    size_t at;
    uint32_t version;
    uint32_t left;   /* number of entries left */
    size_t hash;     /* size of a hash in bytes */
    struct buf name; /* name of the last entry */
    size_t end;      /* offset of the end of the entries; 0: not reached yet */
    bool has_blocks; /* the extension with the offsets of entries was seen */
};

struct gitindex_entry {
    struct str all;  /* all bytes of the entry */
    struct str head; /* the bytes before the name */
    struct str id;
    struct str name; /* until the next one is read; "" in a split index: a shared entry changed */
    uint32_t mode;
    unsigned stage; /* merge stage, of a conflict */
    bool whole;     /* the name does not depend on the previous one */
};

struct gitindex_extension {
    struct str all;
    struct str name; /* four letters */
    struct str content;
};

#define AUTO_GITINDEX AUTO(gitindex_done)

/* Each of these fails with E_IO for a damaged index. */
MUST_USE bool gitindex_start(
    struct str bytes, size_t hash, struct gitindex_reader *ret_reader, struct err *err);
MUST_USE bool gitindex_entry(
    struct gitindex_reader *r, struct gitindex_entry *ret_entry, struct err *err);
MUST_USE bool gitindex_extension(
    struct gitindex_reader *r, struct gitindex_extension *ret_extension, struct err *err);
void gitindex_done(struct gitindex_reader *r);

/* Returns true after the last extension: only the hash fits in the remaining bytes. */
bool gitindex_at_end(const struct gitindex_reader *r);

/* Sets E_IO with this text. */
bool gitindex_damaged(struct err *err, const char *what);

uint32_t gitindex_number(const char *p, size_t bytes);

#endif
