/* Entries and extensions of git's index. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/gitindex.h"

enum {
    HEAD = 12,
    MODE_AT = 24,     /* offset in an entry */
    BEFORE_HASH = 40, /* bytes of an entry before the hash */
    FLAGS = 2,        /* bytes of flags, after the hash and before the name */
    EXTENDED = 0x4000,
    STAGE_AT = 12, /* bit in the flags */
    STAGE = 3,
    NAME_LENGTH = 0xfff,    /* in the flags; also set to this value for longer names */
    EXTENSION_HEAD = 4 + 4, /* name and size */
};

uint32_t gitindex_number(const char *p, size_t bytes)
{
    uint32_t n = 0;
    for (size_t i = 0; i < bytes; i++)
        n = n << 8 | (unsigned char)p[i];
    return n;
}

bool gitindex_damaged(struct err *err, const char *what)
{
    return err_set(err, E_IO, "cannot read git's index: %s", what);
}

bool gitindex_start(
    struct str bytes, size_t hash, struct gitindex_reader *ret_reader, struct err *err)
{
    if (bytes.n < HEAD || !str_starts_with(bytes, STR("DIRC")))
        return gitindex_damaged(err, "it has no valid header");
    uint32_t version = gitindex_number(bytes.p + 4, 4), n = gitindex_number(bytes.p + 8, 4);
    if (version < 2 || version > 4)
        return gitindex_damaged(err, "its version is unknown");
    if (n > GITINDEX_ENTRIES_MAX || n > bytes.n / BEFORE_HASH)
        return gitindex_damaged(err, "its number of entries is too large");
    *ret_reader = (struct gitindex_reader){.in = bytes,
        .at = HEAD,
        .version = version,
        .left = n,
        .hash = hash,
        .name = BUF_INIT(GITINDEX_NAME_MAX)};
    return true;
}

void gitindex_done(struct gitindex_reader *r)
{
    buf_done(&r->name);
}

/* Version 4 stores how many bytes of the last name to drop, in git's variable-length encoding. */
static bool gitindex_read_varint(struct gitindex_reader *r, size_t *ret_drop)
{
    size_t n = 0;
    for (int i = 0; i < 5 && r->at < r->in.n; i++) {
        unsigned char c = (unsigned char)r->in.p[r->at++];
        n = (i ? (n + 1) << 7 : 0) | (c & 0x7f);
        if (!(c & 0x80)) {
            *ret_drop = n;
            return true;
        }
    }
    return false;
}

static bool gitindex_read_name(struct gitindex_reader *r, size_t start, bool *ret_whole)
{
    size_t drop = r->name.n;
    if (r->version == 4 && (!gitindex_read_varint(r, &drop) || drop > r->name.n))
        return false;
    struct str rest = str_skip(r->in, r->at);
    ptrdiff_t n = str_find(rest, '\0');
    if (n < 0)
        return false;
    *ret_whole = drop == r->name.n;
    buf_truncate(&r->name, r->name.n - drop);
    buf_add(&r->name, rest.p, (size_t)n);
    r->at += (size_t)n + 1;
    /* Other versions pad with NULs to a multiple of eight. */
    if (r->version != 4)
        r->at = start + ((r->at - start - 1 + 8) & ~(size_t)7);
    return buf_ok(&r->name) && r->at <= r->in.n;
}

bool gitindex_entry(struct gitindex_reader *r, struct gitindex_entry *ret_entry, struct err *err)
{
    struct str rest = str_skip(r->in, r->at);
    size_t start = r->at, fixed = BEFORE_HASH + r->hash + FLAGS;
    bool whole = false;
    BUG_ON(r->left == 0);
    if (rest.n < fixed)
        return gitindex_damaged(err, "it is truncated");
    uint32_t flags = gitindex_number(rest.p + fixed - FLAGS, FLAGS);
    size_t head = fixed + (flags & EXTENDED ? (size_t)FLAGS : 0);
    r->at += head;
    if (r->at > r->in.n || !gitindex_read_name(r, start, &whole))
        return gitindex_damaged(err, "an entry is damaged");
    struct str name = buf_str(&r->name);
    /* This also distinguishes the two hash algorithms. */
    if ((flags & NAME_LENGTH) != MIN(name.n, (size_t)NAME_LENGTH))
        return gitindex_damaged(err, "an entry is damaged");
    r->left--;
    *ret_entry = (struct gitindex_entry){.all = str_head(rest, r->at - start),
        .head = str_head(rest, head),
        .id = str_n(rest.p + BEFORE_HASH, r->hash),
        .name = name,
        .mode = gitindex_number(rest.p + MODE_AT, 4),
        .stage = flags >> STAGE_AT & STAGE,
        .whole = whole};
    return true;
}

/* Checks the end of the entries where git reads it: before the hash, whichever extension that is
 * in. */
static bool gitindex_end_matches(const struct gitindex_reader *r)
{
    size_t content = 4 + r->hash, n = EXTENSION_HEAD + content + r->hash;
    if (r->in.n < n)
        return true;
    const char *p = r->in.p + r->in.n - n;
    return memcmp(p, "EOIE", 4) != 0 || gitindex_number(p + 4, 4) != content ||
           gitindex_number(p + EXTENSION_HEAD, 4) == r->end;
}

/* Blocks of entries, by offset and count: a thread reads the first name of a block without the name
 * before it. */
static bool gitindex_blocks_match(const struct gitindex_reader *r, struct str table)
{
    AUTO_GITINDEX struct gitindex_reader again = {0};
    AUTO_ERR struct err err = {0};
    struct gitindex_entry entry;
    if (!gitindex_start(r->in, r->hash, &again, &err))
        return false;
    for (table = str_skip(table, 4); table.n >= 8; table = str_skip(table, 8)) {
        uint32_t n = gitindex_number(table.p + 4, 4);
        if (gitindex_number(table.p, 4) != again.at || n > again.left)
            return false;
        for (uint32_t i = 0; i < n; i++)
            if (!gitindex_entry(&again, &entry, &err) || (i == 0 && !entry.whole))
                return false;
    }
    return again.left == 0;
}

bool gitindex_at_end(const struct gitindex_reader *r)
{
    return r->in.n - r->at < EXTENSION_HEAD + r->hash;
}

bool gitindex_extension(
    struct gitindex_reader *r, struct gitindex_extension *ret_extension, struct err *err)
{
    struct str rest = str_skip(r->in, r->at);
    BUG_ON(r->left || gitindex_at_end(r));
    if (r->end == 0) {
        r->end = r->at;
        if (!gitindex_end_matches(r))
            return gitindex_damaged(err, "it has two end positions");
    }
    uint32_t n = gitindex_number(rest.p + 4, 4);
    if (n > rest.n - EXTENSION_HEAD)
        return gitindex_damaged(err, "it is truncated");
    r->at += EXTENSION_HEAD + (size_t)n;
    *ret_extension = (struct gitindex_extension){.all = str_head(rest, EXTENSION_HEAD + (size_t)n),
        .name = str_head(rest, 4),
        .content = str_head(str_skip(rest, EXTENSION_HEAD), n)};
    if (!str_is(ret_extension->name, "IEOT"))
        return true;
    bool fits = !r->has_blocks && gitindex_blocks_match(r, ret_extension->content);
    r->has_blocks = true;
    return fits || gitindex_damaged(err, "its entries do not match their offsets");
}
