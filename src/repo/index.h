/* The format of git's index: its entries and extensions, one after the other.
 *
 *     AUTO_INDEX struct index_reader r = {0};
 *     if (!index_start(bytes, INDEX_SHA1, &r, err)) ...
 *     while (r.left)
 *         if (!index_entry(&r, &entry, err)) ...
 *     while (!index_at_end(&r))
 *         if (!index_extension(&r, &extension, err)) ...
 *
 * Reads versions 2, 3 and 4. The index does not record its hash algorithm: reading it with the
 * wrong one fails at the first entry, unless the index was crafted to be readable both ways.
 *
 * git may start in the middle, with several threads: extensions hold the offsets of entries and
 * extensions. An index in which these give another list than reading from the start is damaged.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_INDEX_H
#define REPO_INDEX_H

#include "base/buf.h"
#include "base/err.h"

enum {
    INDEX_ENTRIES_MAX = 4 * 1000 * 1000,
    INDEX_NAME_MAX = 64 * 1024,
    INDEX_SHA1 = 20,
    INDEX_SHA256 = 32,
    INDEX_TYPE = 0170000, /* type bits of a mode */
    INDEX_GITLINK = 0160000,
    INDEX_DIRECTORY = 0040000, /* in a sparse index */
};

struct index_reader {
    struct str in;
    size_t at;
    uint32_t version;
    uint32_t left;   /* number of entries left */
    size_t hash;     /* size of a hash in bytes */
    struct buf name; /* name of the last entry */
    size_t end;      /* offset of the end of the entries; 0: not reached yet */
    bool has_blocks; /* the extension with the offsets of entries was seen */
};

struct index_entry {
    struct str all;  /* all bytes of the entry */
    struct str head; /* the bytes before the name */
    struct str id;
    struct str name; /* until the next one is read; "" in a split index: a shared entry changed */
    uint32_t mode;
    unsigned stage; /* merge stage, of a conflict */
    bool whole;     /* the name does not depend on the previous one */
};

struct index_extension {
    struct str all;
    struct str name; /* four letters */
    struct str content;
};

#define AUTO_INDEX AUTO(index_done)

/* Each of these fails with E_IO for a damaged index. */
MUST_USE bool index_start(
    struct str bytes, size_t hash, struct index_reader *ret_reader, struct err *err);
MUST_USE bool index_entry(struct index_reader *r, struct index_entry *ret_entry, struct err *err);
MUST_USE bool index_extension(
    struct index_reader *r, struct index_extension *ret_extension, struct err *err);
void index_done(struct index_reader *r);

/* Returns true after the last extension: only the hash fits in the remaining bytes. */
bool index_at_end(const struct index_reader *r);

/* Sets E_IO with this text. */
bool index_damaged(struct err *err, const char *what);

uint32_t index_number(const char *p, size_t bytes);

#endif
