/* The content of one file into another. */
#include "path/clone.h"

#include "path/file.h"

#include <errno.h>
#include <linux/fs.h>
#include <sys/ioctl.h>

enum {
    SMALL = 64 * 1024, /* read and written in one piece: less work for the kernel */
};

static bool share(struct clone *how, int from, int to)
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

static bool move_bytes(int from, int to, uint64_t left)
{
    char bytes[SMALL];
    bool kernel = left > SMALL;
    while (left) {
        ssize_t n = kernel ? copy_file_range(from, NULL, to, NULL, left, 0)
                           : read(from, bytes, (size_t)MIN(left, (uint64_t)SMALL));
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
        if (!kernel && !file_write_all(to, str_n(bytes, (size_t)n)))
            return false;
        left -= (uint64_t)n;
    }
    return true;
}

bool clone_content(struct clone *how, int from, int to, uint64_t size)
{
    return size == 0 || share(how, from, to) || move_bytes(from, to, size);
}
