/* Copying of file content. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/clone.h"

#include <errno.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

enum {
    SMALL = 64 * 1024, /* copied with read and write: less work for the kernel */
    BLOCK = 4096,      /* no search for holes in less */
};

static bool clone_share(struct clone *how, int from, int to)
{
    if (atomic_load(&how->cannot_share))
        return false;
    if (ioctl(to, FICLONE, from) == 0) {
        atomic_store(&how->shared, true);
        return true;
    }
    atomic_store(&how->cannot_share, true);
    return false;
}

static bool clone_write_at(int to, const char *bytes, size_t n, off_t at)
{
    while (n) {
        ssize_t put = pwrite(to, bytes, n, at);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return false;
        bytes += put;
        n -= (size_t)put;
        at += put;
    }
    return true;
}

static bool move_bytes(int from, off_t at, int to, off_t to_at, uint64_t left)
{
    char bytes[SMALL];
    bool kernel = left > SMALL;
    while (left) {
        ssize_t n = kernel ? copy_file_range(from, &at, to, &to_at, left, 0)
                           : pread(from, bytes, (size_t)MIN(left, (uint64_t)SMALL), at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && kernel && errno != ENOSPC && errno != EIO && errno != EDQUOT) {
            kernel = false;
            continue;
        }
        if (n < 0)
            return false;
        if (n == 0)
            return true; /* shorter by now */
        if (!kernel) {
            if (!clone_write_at(to, bytes, (size_t)n, to_at))
                return false;
            at += n;
            to_at += n;
        }
        left -= (uint64_t)n;
    }
    return true;
}

uint64_t clone_next_data(int fd, uint64_t at, uint64_t end)
{
    off_t data = lseek(fd, (off_t)at, SEEK_DATA);
    if (data < 0)
        return errno == ENXIO ? end : at;
    return MIN((uint64_t)data, end);
}

static uint64_t next_hole(int fd, uint64_t at, uint64_t end)
{
    off_t hole = lseek(fd, (off_t)at, SEEK_HOLE);
    return hole < 0 || (uint64_t)hole > end ? end : (uint64_t)hole;
}

/* Extends the file over a trailing hole, which was not written. */
static bool clone_extend(const struct clone_part *p)
{
    struct stat from, to;
    if (fstat(p->from, &from) != 0 || fstat(p->to, &to) != 0)
        return false;
    uint64_t there = MAX((uint64_t)from.st_size, p->at) - p->at;
    uint64_t end = p->to_at + MIN(p->size, there);
    return (uint64_t)to.st_size >= end || ftruncate(p->to, (off_t)end) == 0;
}

static bool move_part(const struct clone_part *p)
{
    uint64_t end = p->at + p->size, at = p->at;
    if (p->size <= BLOCK || next_hole(p->from, at, end) == end)
        return move_bytes(p->from, (off_t)at, p->to, (off_t)p->to_at, p->size);
    while ((at = clone_next_data(p->from, at, end)) < end) {
        uint64_t hole = next_hole(p->from, at, end);
        uint64_t to_at = p->to_at + (at - p->at);
        if (!move_bytes(p->from, (off_t)at, p->to, (off_t)to_at, hole - at))
            return false;
        at = MAX(hole, at + 1); /* a hole was punched there since */
    }
    return clone_extend(p);
}

/* Only whole blocks can be shared: rounds up to the alignment and truncates the excess. */
static bool share_part(struct clone *how, const struct clone_part *p)
{
    struct stat st;
    if (atomic_load(&how->cannot_share) || p->at % CLONE_ALIGN || p->to_at % CLONE_ALIGN ||
        fstat(p->from, &st) != 0)
        return false;
    uint64_t whole = (p->size + CLONE_ALIGN - 1) / CLONE_ALIGN * CLONE_ALIGN;
    bool to_end = p->at + whole >= (uint64_t)st.st_size;
    struct file_clone_range range = {
        .src_fd = p->from,
        .src_offset = p->at,
        .src_length = to_end ? 0 : whole,
        .dest_offset = p->to_at,
    };
    if (ioctl(p->to, FICLONERANGE, &range) != 0) {
        atomic_store(&how->cannot_share, true);
        return false;
    }
    if (fstat(p->to, &st) != 0 || ((uint64_t)st.st_size > p->to_at + p->size &&
                                      ftruncate(p->to, (off_t)(p->to_at + p->size)) != 0))
        return false;
    atomic_store(&how->shared, true);
    return true;
}

bool clone_content(struct clone *how, int from, int to, uint64_t size)
{
    const struct clone_part whole = {.from = from, .to = to, .size = size};
    return size == 0 || clone_share(how, from, to) || move_part(&whole);
}

bool clone_part(struct clone *how, const struct clone_part *part)
{
    return part->size == 0 || share_part(how, part) || move_part(part);
}
