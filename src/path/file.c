/* Whole files through descriptors. */
#include "path/file.h"

#include <errno.h>

enum {
    CHUNK = 64 * 1024,
};

bool file_read(int fd, size_t max, const char *name, struct buf *content, struct err *err)
{
    size_t start = content->n;
    for (;;) {
        /* Who reserved room knows how much comes. */
        size_t room_n = content->cap - content->n;
        size_t want = MIN(room_n > 1 ? room_n - 1 : (size_t)CHUNK, content->max - content->n);
        if (want == 0 || content->n - start > max)
            return err_set(err, E_IO, "'%s' is larger than %zu bytes", name, max);
        char *room = buf_reserve(content, want);
        BUG_ON(!room);
        ssize_t n = read(fd, room, want);
        if (n == 0)
            return true;
        if (n > 0)
            buf_grown(content, (size_t)n);
        else if (errno != EINTR)
            return err_errno(err, E_IO, errno, "cannot read '%s'", name);
    }
}

bool file_write_all(int fd, struct str content)
{
    while (content.n) {
        ssize_t n = write(fd, content.p, content.n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        content = str_skip(content, (size_t)n);
    }
    return true;
}

bool file_write(int fd, struct str content, const char *name, struct err *err)
{
    if (file_write_all(fd, content))
        return true;
    return err_errno(err, E_IO, errno, "cannot write '%s'", name);
}
