/* Hashes of files from git's index. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "change/former.h"

#include "io/file.h"
#include "io/replace.h"
#include "path/gitdir.h"
#include "repo/gitindex.h"
#include "repo/sha1.h"

#include <fcntl.h>

enum {
    INDEX_MAX = 128 << 20,
    CONTENT_MAX = 64 << 20, /* files above it are not hashed */
    WORD = 4,
};

/* Offsets in an entry of the index, in bytes. */
enum {
    AT_MTIME_S = 8,
    AT_MTIME_NS = 12,
    AT_INO = 20,
    AT_SIZE = 36,
    STAT_BYTES = 40,
};

void former_done(struct former *k)
{
    buf_done(&k->index);
    arena_done(&k->arena);
    *k = FORMER_INIT;
}

static bool former_read(int dir_fd, const char *name, struct former *k, struct stat *ret_st)
{
    AUTO_ERR struct err ignored = {0};
    AUTO_FD int fd = openat(dir_fd, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    return fd >= 0 && fstat(fd, ret_st) == 0 && S_ISREG(ret_st->st_mode) &&
           file_read(fd, INDEX_MAX, name, &k->index, &ignored);
}

/* The time at which git wrote the index goes with it. */
void former_save(int project_fd, int host_fd)
{
    AUTO_ERR struct err ignored = {0};
    AUTO_FORMER struct former k = FORMER_INIT;
    AUTO_FD int git = -1;
    struct stat st;
    (void)unlinkat(host_fd, FORMER_FILE, 0);
    if (!gitdir_open_own(project_fd, &git, &ignored) || git < 0 ||
        !former_read(git, "index", &k, &st) ||
        !replace_private(host_fd, FORMER_FILE, buf_str(&k.index), &ignored))
        return;
    const struct timespec times[2] = {st.st_mtim, st.st_mtim};
    if (utimensat(host_fd, FORMER_FILE, times, AT_SYMLINK_NOFOLLOW) != 0)
        (void)unlinkat(host_fd, FORMER_FILE, 0);
}

void former_load(int host_fd, struct former *k)
{
    struct stat st;
    if (!former_read(host_fd, FORMER_FILE, k, &st)) {
        former_done(k);
        return;
    }
    k->written_s = (uint64_t)st.st_mtim.tv_sec;
    k->written_ns = (uint64_t)st.st_mtim.tv_nsec;
}

struct former_file {
    struct str path;
    const char *stat; /* the entry's first STAT_BYTES */
    const char *id;
};

/* git sorts its entries by the bytes of their names. Of a file with conflicts nothing is known. */
static void former_parse(struct former *k)
{
    AUTO_ERR struct err ignored = {0};
    AUTO_GITINDEX struct gitindex_reader r = {0};
    struct gitindex_entry e;
    k->parsed = true;
    if (!k->index.n || !gitindex_start(buf_str(&k->index), GITINDEX_SHA1, &r, &ignored) ||
        r.left > GITINDEX_ENTRIES_MAX)
        return;
    k->files = ARENA_NEW(&k->arena, struct former_file, r.left + 1);
    while (r.left && gitindex_entry(&r, &e, &ignored))
        if (e.stage == 0 && S_ISREG(e.mode) && e.head.n >= STAT_BYTES && e.id.n == SHA1_BYTES &&
            arena_left(&k->arena) > e.name.n + 64)
            k->files[k->n++] = (struct former_file){arena_str(&k->arena, e.name), e.head.p, e.id.p};
}

static int former_order(const void *a, const void *b)
{
    return str_cmp(((const struct former_file *)a)->path, ((const struct former_file *)b)->path);
}

static uint32_t stat_word(const struct former_file *f, size_t at)
{
    return gitindex_number(f->stat + at, WORD);
}

/* Whether the index and the manifest saw the same file. git cannot tell whether a file was changed
 * in the same moment in which it wrote the index: the hash of such a file may be another one. */
static bool describes(
    const struct former *k, const struct former_file *f, const struct manifest_entry *m)
{
    uint32_t s = stat_word(f, AT_MTIME_S), ns = stat_word(f, AT_MTIME_NS);
    bool before = s < k->written_s || (s == k->written_s && ns < k->written_ns);
    return before && s == (uint32_t)m->mtime_s && ns == m->mtime_ns &&
           stat_word(f, AT_INO) == (uint32_t)m->ino && stat_word(f, AT_SIZE) == (uint32_t)m->size;
}

static const struct former_file *former_find(
    struct former *k, const struct manifest_entry *m, struct str path)
{
    const struct former_file key = {.path = path};
    if (!k->parsed)
        former_parse(k);
    const struct former_file *f =
        k->n ? bsearch(&key, k->files, k->n, sizeof(*k->files), former_order) : NULL;
    return f && describes(k, f, m) ? f : NULL;
}

static bool former_hash(int fd, unsigned char ret_id[SHA1_BYTES])
{
    AUTO_ERR struct err ignored = {0};
    AUTO_BUF struct buf text = BUF_INIT(CONTENT_MAX + 64);
    char hex[SHA1_HEX];
    if (!file_read(fd, CONTENT_MAX, "file", &text, &ignored))
        return false;
    sha1_blob(buf_str(&text), hex);
    for (size_t i = 0; i < SHA1_BYTES; i++) {
        const char pair[3] = {hex[2 * i], hex[2 * i + 1], '\0'};
        ret_id[i] = (unsigned char)strtoul(pair, NULL, 16);
    }
    return true;
}

bool former_is(struct former *k, const struct manifest_entry *e, struct str path, int fd,
    const struct stat *st)
{
    unsigned char now[SHA1_BYTES];
    if (!S_ISREG(st->st_mode) || !S_ISREG(e->mode) || (uint64_t)st->st_size != e->size ||
        ((st->st_mode ^ e->mode) & S_IXUSR) || st->st_size > CONTENT_MAX)
        return false;
    const struct former_file *then = former_find(k, e, path);
    return then && lseek(fd, 0, SEEK_SET) == 0 && former_hash(fd, now) &&
           memcmp(then->id, now, SHA1_BYTES) == 0;
}
