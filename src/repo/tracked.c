/* Reads git's index as far as needed to know which paths are tracked. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/tracked.h"

#include "io/file.h"
#include "repo/gitindex.h"
#include "repo/gitname.h"

#include <errno.h>
#include <fcntl.h>

enum {
    NAME_SHARED = sizeof("sharedindex.") + 2 * GITINDEX_SHA256,
};

enum tracked_kind {
    KIND_FILE,
    KIND_LINK,  /* a submodule */
    KIND_OTHER, /* a directory of a sparse index */
};

/* In the order of the file: a split index refers to them by position. */
struct tracked_entry {
    struct str path; /* "" in a split index: a shared entry that was changed */
    enum tracked_kind kind;
    bool unmerged; /* one of the stages of a conflict */
};

struct tracked_entries {
    struct arena arena;
    struct tracked_entry *all;
    size_t n;
    struct str link; /* the part of a split index about the shared one */
    size_t hash;
};

static enum tracked_kind tracked_kind_of(uint32_t mode)
{
    switch (mode & GITINDEX_TYPE) {
    case GITINDEX_GITLINK:
        return KIND_LINK;
    case GITINDEX_DIRECTORY:
        return KIND_OTHER;
    default:
        return KIND_FILE;
    }
}

static bool tracked_keep_entry(
    struct tracked_entries *e, const struct gitindex_entry *entry, struct err *err)
{
    enum tracked_kind kind = tracked_kind_of(entry->mode);
    if (entry->name.n && !gitname_is_plain(entry->name, kind == KIND_OTHER))
        return gitindex_damaged(err, "it contains a name that git refuses");
    if (arena_left(&e->arena) < entry->name.n + 64)
        return gitindex_damaged(err, "it is too large");
    e->all[e->n++] =
        (struct tracked_entry){arena_str(&e->arena, entry->name), kind, entry->stage != 0};
    return true;
}

static bool read_extensions(struct gitindex_reader *r, struct tracked_entries *e, struct err *err)
{
    struct gitindex_extension extension;
    while (!gitindex_at_end(r)) {
        if (!gitindex_extension(r, &extension, err))
            return false;
        if (str_is(extension.name, "link"))
            e->link = extension.content;
    }
    return r->in.n - r->at == r->hash || gitindex_damaged(err, "its end is damaged");
}

static bool tracked_parse_with_hash(
    struct str index, size_t hash, struct tracked_entries *e, struct err *err)
{
    AUTO_GITINDEX struct gitindex_reader r = {0};
    struct gitindex_entry entry;
    *e = (struct tracked_entries){.arena = ARENA_INIT((size_t)TRACKED_BYTES_MAX), .hash = hash};
    if (!gitindex_start(index, hash, &r, err))
        return false;
    e->all = ARENA_NEW(&e->arena, struct tracked_entry, (size_t)r.left + 1);
    while (r.left)
        if (!gitindex_entry(&r, &entry, err) || !tracked_keep_entry(e, &entry, err))
            return false;
    return read_extensions(&r, e, err);
}

static bool have_names(const struct tracked_entries *e, struct err *err)
{
    for (size_t i = 0; i < e->n; i++)
        if (e->all[i].path.n == 0)
            return gitindex_damaged(err, "an entry has no name");
    return true;
}

static void tracked_entries_done(struct tracked_entries *e)
{
    arena_done(&e->arena);
}

/* Returns true if an index has the format for hashes of this size, whatever its names are. */
static bool fits(struct str index, size_t hash)
{
    AUTO_GITINDEX struct gitindex_reader r = {0};
    AUTO_ERR struct err ignored = {0};
    struct gitindex_entry entry;
    struct tracked_entries unused = {0};
    if (!gitindex_start(index, hash, &r, &ignored))
        return false;
    while (r.left)
        if (!gitindex_entry(&r, &entry, &ignored))
            return false;
    return read_extensions(&r, &unused, &ignored);
}

/* The settings say which hash git uses, and a command can write those. */
static bool parse_entries(struct str index, struct tracked_entries *e, struct err *err)
{
    if (!fits(index, GITINDEX_SHA256))
        return tracked_parse_with_hash(index, GITINDEX_SHA1, e, err);
    if (fits(index, GITINDEX_SHA1))
        return gitindex_damaged(err, "it is ambiguous: it can be read with two hash sizes");
    return tracked_parse_with_hash(index, GITINDEX_SHA256, e, err);
}

/* Split indexes ----------------------------------------------------------------------------------
 */

/* Marks the bits of git's compressed bitmap (EWAH): runs of equal words, then literal words. Bits
 * past the last entry mean damage. */
static bool mark_bits(struct str bits, bool *marks, size_t n, struct str *ret_rest)
{
    size_t at = 8, bit = 0;
    if (bits.n < 12 || gitindex_number(bits.p, 4) > n)
        return false;
    size_t words = gitindex_number(bits.p + 4, 4);
    if (words > (bits.n - 12) / 8)
        return false;
    for (size_t end = at + 8 * words; at < end;) {
        uint64_t head =
            (uint64_t)gitindex_number(bits.p + at, 4) << 32 | gitindex_number(bits.p + at + 4, 4);
        uint64_t run = (head >> 1 & UINT32_MAX) * 64, literals = head >> 33;
        at += 8;
        if ((head & 1) && run > n - MIN(bit, n) + 63)
            return false;
        for (uint64_t k = 0; (head & 1) && k < run; k++)
            if (bit + k < n)
                marks[bit + k] = true;
        bit += MIN(run, (uint64_t)n + 64);
        for (; literals && at < end; literals--, at += 8) {
            uint64_t word = (uint64_t)gitindex_number(bits.p + at, 4) << 32 |
                            gitindex_number(bits.p + at + 4, 4);
            for (size_t k = 0; k < 64 && word; k++)
                if (word >> k & 1) {
                    if (bit + k >= n)
                        return false;
                    marks[bit + k] = true;
                }
            bit += 64;
        }
        if (literals)
            return false;
    }
    *ret_rest = str_skip(bits, 12 + 8 * words);
    return true;
}

/* Applies changes to shared entries: their new state is in the first entries of the split index,
 * which have no name. A file may have become a submodule; the name of a directory ends in a slash,
 * so it stays one. */
static bool change_shared(
    const struct tracked_entries *own, struct tracked_entries *base, const bool *changed)
{
    size_t used = 0;
    for (size_t i = 0; i < base->n; i++) {
        if (!changed[i])
            continue;
        if (used == own->n || own->all[used].path.n ||
            (own->all[used].kind == KIND_OTHER) != (base->all[i].kind == KIND_OTHER))
            return false;
        base->all[i].kind = own->all[used].kind;
        base->all[i].unmerged = own->all[used++].unmerged;
    }
    for (; used < own->n; used++)
        if (own->all[used].path.n == 0)
            return false;
    return true;
}

/* After the hash: the shared entries that are deleted, then those that were changed. */
static bool read_bitmaps(
    struct str bits, const struct tracked_entries *own, struct tracked_entries *base, bool *gone)
{
    AUTO_FREE bool *changed = base_alloc(base->n + 1);
    if (bits.n && (!mark_bits(bits, gone, base->n, &bits) ||
                      !mark_bits(bits, changed, base->n, &bits) || bits.n))
        return false;
    return change_shared(own, base, changed);
}

static void shared_name(struct str hash, char name[NAME_SHARED])
{
    size_t n = (size_t)snprintf(name, NAME_SHARED, "sharedindex.");
    for (size_t i = 0; i < hash.n; i++)
        n += (size_t)snprintf(name + n, NAME_SHARED - n, "%02x", (unsigned char)hash.p[i]);
}

static bool all_zero(struct str s)
{
    size_t i = 0;
    while (i < s.n && s.p[i] == 0)
        i++;
    return i == s.n;
}

/* Reads the shared entries; `gone` marks the deleted ones. */
static bool read_shared(const struct tracked_entries *own, tracked_shared_fn shared, void *context,
    struct tracked_entries *ret_base, bool **ret_gone, struct err *err)
{
    AUTO_BUF struct buf bytes = BUF_INIT((size_t)TRACKED_BYTES_MAX + 1);
    struct str link = own->link, hash = str_head(link, own->hash);
    char name[NAME_SHARED];
    if (!link.p || (hash.n == own->hash && all_zero(hash)))
        return have_names(own, err);
    if (hash.n < own->hash)
        return gitindex_damaged(err, "it is split, and its shared index is not specified");
    shared_name(hash, name);
    if (!shared(context, name, &bytes, err) || !parse_entries(buf_str(&bytes), ret_base, err))
        return false;
    if (ret_base->link.p || ret_base->hash != own->hash)
        return gitindex_damaged(err, "its shared index is not a complete index");
    if (!have_names(ret_base, err))
        return false;
    *ret_gone = base_alloc(ret_base->n + 1);
    return read_bitmaps(str_skip(link, hash.n), own, ret_base, *ret_gone) ||
           gitindex_damaged(err, "it is split, and damaged");
}

/* The list ---------------------------------------------------------------------------------------
 */

static int tracked_compare_paths(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static size_t count_links(const struct tracked_entries *e)
{
    size_t n = 0;
    for (size_t i = 0; i < e->n; i++)
        n += e->all[i].kind == KIND_LINK;
    return n;
}

static size_t count_unmerged(const struct tracked_entries *e)
{
    size_t n = 0;
    for (size_t i = 0; i < e->n; i++)
        n += e->all[i].unmerged;
    return n;
}

static void tracked_add_all(struct tracked *t, const struct tracked_entries *e, const bool *gone)
{
    for (size_t i = 0; i < e->n; i++) {
        const struct tracked_entry *entry = &e->all[i];
        if (entry->path.n == 0 || (gone && gone[i]))
            continue;
        struct str path = arena_str(&t->arena, entry->path);
        if (entry->kind == KIND_FILE)
            t->paths[t->n++] = path;
        if (entry->kind == KIND_LINK)
            t->links[t->n_links++] = path;
        if (entry->unmerged)
            t->unmerged[t->n_unmerged++] = path;
    }
}

static bool is_sorted(const struct str *paths, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (tracked_compare_paths(&paths[i - 1], &paths[i]) > 0)
            return false;
    return true;
}

/* Returns how many are left. git writes them in this order. */
static size_t tracked_sort_unique(struct str *paths, size_t count)
{
    size_t n = 0;
    if (!is_sorted(paths, count))
        qsort(paths, count, sizeof(*paths), tracked_compare_paths);
    for (size_t i = 0; i < count; i++) /* the stages of a merge have the same name */
        if (n == 0 || !str_eq(paths[n - 1], paths[i]))
            paths[n++] = paths[i];
    return n;
}

bool tracked_parse(struct str index, tracked_shared_fn shared, void *context,
    struct tracked *ret_tracked, struct err *err)
{
    AUTO(tracked_entries_done) struct tracked_entries own = {0}, base = {0};
    AUTO_FREE bool *gone = NULL;
    if (!parse_entries(index, &own, err) || !read_shared(&own, shared, context, &base, &gone, err))
        return false;
    struct tracked t = {.arena = ARENA_INIT((size_t)2 * TRACKED_BYTES_MAX)};
    t.paths = ARENA_NEW(&t.arena, struct str, own.n + base.n + 1);
    t.links = ARENA_NEW(&t.arena, struct str, count_links(&own) + count_links(&base) + 1);
    t.unmerged = ARENA_NEW(&t.arena, struct str, count_unmerged(&own) + count_unmerged(&base) + 1);
    tracked_add_all(&t, &base, gone);
    tracked_add_all(&t, &own, NULL);
    t.n = tracked_sort_unique(t.paths, t.n);
    t.n_links = tracked_sort_unique(t.links, t.n_links);
    t.n_unmerged = tracked_sort_unique(t.unmerged, t.n_unmerged);
    *ret_tracked = t;
    return true;
}

static bool tracked_read_index(void *git_fd, const char *name, struct buf *bytes, struct err *err)
{
    AUTO_FD int fd = openat(*(int *)git_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return err_errno(err, E_IO, errno, "cannot read git's '%s'", name);
    return file_read(fd, TRACKED_BYTES_MAX, name, bytes, err);
}

bool tracked_read(int git_fd, struct tracked *ret_tracked, struct err *err)
{
    AUTO_BUF struct buf content = BUF_INIT((size_t)TRACKED_BYTES_MAX + 1);
    if (faccessat(git_fd, "index", F_OK, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT) {
        *ret_tracked = (struct tracked){0};
        return true;
    }
    return tracked_read_index(&git_fd, "index", &content, err) &&
           tracked_parse(buf_str(&content), tracked_read_index, &git_fd, ret_tracked, err);
}

void tracked_done(struct tracked *t)
{
    arena_done(&t->arena);
    *t = (struct tracked){0};
}

bool tracked_has(const struct tracked *t, struct str path)
{
    size_t i = str_lower_bound(t->paths, t->n, path);
    return i < t->n && str_eq(t->paths[i], path);
}

bool tracked_is_unmerged(const struct tracked *t, struct str path)
{
    return t->n_unmerged &&
           bsearch(&path, t->unmerged, t->n_unmerged, sizeof(path), tracked_compare_paths);
}
