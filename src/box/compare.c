/* Two contents, piece by piece. */
#include "box/compare.h"

#include "box/delta.h"

#include <errno.h>

enum {
    CHUNK = 128 * 1024,
};

static bool read_full(int fd, char *to, off_t at, size_t *ret_n)
{
    size_t n = 0;
    while (n < CHUNK) {
        ssize_t got = pread(fd, to + n, CHUNK - n, at + (off_t)n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return false;
        if (got == 0)
            break;
        n += (size_t)got;
    }
    *ret_n = n;
    return true;
}

static bool same_bytes(int a, int b, uint64_t *left, bool *ret_same, struct err *err)
{
    AUTO_FREE char *chunks = base_alloc(2 * (size_t)CHUNK);
    for (off_t at = 0;; at += CHUNK) {
        size_t n, m;
        if (!read_full(a, chunks, at, &n) || !read_full(b, chunks + CHUNK, at, &m))
            return err_errno(err, E_IO, errno, "cannot be read");
        if (*left < n)
            return err_set(err, E_IO, "the changed files are too large to compare");
        *left -= n;
        *ret_same = n == m && memcmp(chunks, chunks + CHUNK, n) == 0;
        if (!*ret_same || n < CHUNK)
            return true;
    }
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
        return same_bytes(a, b, left, ret_same, err);
    *ret_same = same_link(a, b);
    return true;
}
