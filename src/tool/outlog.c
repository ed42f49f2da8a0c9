/* The complete output of a command. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/outlog.h"

#include "base/id.h"
#include "io/file.h"
#include "path/private.h"
#include "tool/logs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

bool outlog_open(struct outlog *log, struct err *err)
{
    *log = (struct outlog){.fd = file_nameless()};
    return log->fd >= 0 || err_errno(err, E_IO, errno, "cannot store a command's output");
}

void outlog_close(struct outlog *log)
{
    if (log->fd >= 0)
        close(log->fd);
    free(log->path);
    *log = OUTLOG_NONE;
}

void outlog_add(struct outlog *log, struct str bytes)
{
    if (log->failed)
        return;
    log->failed = !file_write_all(log->fd, bytes);
    log->size += bytes.n;
}

void outlog_read(const struct outlog *log, uint64_t offset, size_t max, struct buf *bytes)
{
    while (max) {
        char *room = buf_reserve(bytes, max);
        if (!room)
            return;
        ssize_t n = pread(log->fd, room, max, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        buf_grown(bytes, (size_t)n);
        offset += (size_t)n;
        max -= (size_t)n;
    }
}

static bool outlog_copy(int from, int to, uint64_t n)
{
    off_t at = 0;
    while ((uint64_t)at < n) {
        ssize_t sent = sendfile(to, from, &at, n - (uint64_t)at);
        if (sent == 0 || (sent < 0 && errno != EINTR))
            return false;
    }
    return true;
}

bool outlog_save(struct outlog *log, const char *dir, struct err *err)
{
    if (log->path)
        return true;
    char id[ID_SIZE];
    id_new(id);
    AUTO_BUF struct buf path = BUF_INIT(PATH_MAX);
    buf_printf(&path, "%s/%s.log", dir, id);
    AUTO_FREE char *all = strndup(dir, (size_t)MAX(str_find_last(str_z(dir), '/'), (ptrdiff_t)0));
    BUG_ON(!all);
    logs_prune(all);
    if (!private_make(dir))
        return err_errno(err, E_IO, errno, "cannot create '%s' for the complete output", dir);
    AUTO_FD int fd = open(buf_z(&path), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return err_errno(
            err, E_IO, errno, "cannot create '%s' for the complete output", buf_z(&path));
    logs_lock(fd);
    if (!outlog_copy(log->fd, fd, log->size)) {
        err_errno(err, E_IO, errno, "cannot write the complete output to '%s'", buf_z(&path));
        unlink(buf_z(&path));
        return false;
    }
    close(log->fd);
    log->fd = TAKE_FD(fd);
    log->path = buf_take(&path);
    return true;
}
