/* Chunk-wise comparison of two files. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "change/compare.h"

#include "change/delta.h"
#include "path/clone.h"

#include <errno.h>

enum {
    CHUNK = 128 * 1024,
};

static bool read_full(int fd, char *to, uint64_t at, size_t want, size_t *ret_n, struct err *err)
{
    size_t n = 0;
    while (n < want) {
        ssize_t got = pread(fd, to + n, want - n, (off_t)(at + n));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_errno(err, E_IO, errno, "cannot be read");
        if (got == 0)
            break;
        n += (size_t)got;
    }
    *ret_n = n;
    return true;
}

static bool compare_spend(uint64_t *left, size_t n, struct err *err)
{
    if (*left < n)
        return err_set(err, E_IO, "the changed files are too large to compare");
    *left -= n;
    return true;
}

/* Returns the next offset at which either file has data. */
static uint64_t skip_holes(
    const struct compare_part *a, const struct compare_part *b, uint64_t at, uint64_t size)
{
    uint64_t x = clone_next_data(a->fd, a->at + at, a->at + size) - a->at;
    return x == at ? at : MIN(x, clone_next_data(b->fd, b->at + at, b->at + size) - b->at);
}

bool compare_parts(const struct compare_part *a, const struct compare_part *b, uint64_t size,
    uint64_t *left, bool *ret_same, struct err *err)
{
    const size_t room = (size_t)MIN(size, (uint64_t)CHUNK);
    AUTO_FREE char *chunks = base_alloc(2 * room + 1);
    bool same = true;
    for (uint64_t at = 0; same && at < size;) {
        if (size > CHUNK && (at = skip_holes(a, b, at, size)) == size)
            break;
        size_t n, m, want = (size_t)MIN(size - at, (uint64_t)room);
        if (!read_full(a->fd, chunks, a->at + at, want, &n, err) ||
            !read_full(b->fd, chunks + room, b->at + at, want, &m, err) ||
            !compare_spend(left, n, err))
            return false;
        same = n == want && m == want && memcmp(chunks, chunks + room, n) == 0;
        at += want;
    }
    *ret_same = same;
    return true;
}

bool compare_text(int fd, struct str text, uint64_t *left, bool *ret_same, struct err *err)
{
    AUTO_FREE char *chunk = base_alloc(MIN(text.n, (size_t)CHUNK) + 1);
    bool same = true;
    for (size_t at = 0; same && at < text.n; at += CHUNK) {
        size_t n, want = MIN(text.n - at, (size_t)CHUNK);
        if (!read_full(fd, chunk, at, want, &n, err) || !compare_spend(left, n, err))
            return false;
        same = n == want && memcmp(chunk, text.p + at, n) == 0;
    }
    *ret_same = same;
    return true;
}

static bool same_link(int a, int b)
{
    char s[DELTA_LINK_MAX], t[DELTA_LINK_MAX];
    ssize_t n = readlinkat(a, "", s, sizeof(s)), m = readlinkat(b, "", t, sizeof(t));
    return n >= 0 && n == m && memcmp(s, t, (size_t)n) == 0;
}

bool compare_content(int a, const struct stat *sa, int b, const struct stat *sb, uint64_t *left,
    bool *ret_same, struct err *err)
{
    bool links = S_ISLNK(sa->st_mode);
    if ((sa->st_mode & S_IFMT) != (sb->st_mode & S_IFMT) || sa->st_size != sb->st_size) {
        *ret_same = false;
        return true;
    }
    if (!links)
        return compare_parts(&(struct compare_part){a, 0}, &(struct compare_part){b, 0},
            (uint64_t)sa->st_size, left, ret_same, err);
    *ret_same = same_link(a, b);
    return true;
}
