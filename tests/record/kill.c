/* Preloaded into cordon: kills the process before the Nth call that changes a file, as SIGKILL at
 * that moment would, or in the middle of it. KILL_AT=N, KILL_HALF=1. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static pid_t owner; /* only this process, not its children */
static long left = -1;
static int half;

__attribute__((constructor)) static void start(void)
{
    const char *at = getenv("KILL_AT");
    owner = getpid();
    left = at ? atol(at) : -1;
    half = getenv("KILL_HALF") != NULL;
}

static int is_time(void)
{
    return getpid() == owner && left > 0 && --left == 0;
}

static void end(void)
{
    kill(owner, SIGKILL);
    for (;;)
        pause();
}

#define SHOWN                 __attribute__((visibility("default")))
#define NEXT(type, name, ...) ((type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name))

static int is_file(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

SHOWN ssize_t write(int fd, const void *bytes, size_t n)
{
    ssize_t (*next)(int, const void *, size_t) = NEXT(ssize_t, "write", int, const void *, size_t);
    if (is_file(fd) && is_time()) {
        if (half && n > 1)
            (void)!next(fd, bytes, n / 2);
        end();
    }
    return next(fd, bytes, n);
}

SHOWN int openat(int dir, const char *name, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
    va_end(list);
    if (flags & O_CREAT && is_time())
        end();
    return NEXT(int, "openat", int, const char *, int, ...)(dir, name, flags, mode);
}

SHOWN int renameat(int from, const char *name, int to, const char *other)
{
    if (is_time())
        end();
    return NEXT(int, "renameat", int, const char *, int, const char *)(from, name, to, other);
}

SHOWN int renameat2(int from, const char *name, int to, const char *other, unsigned flags)
{
    if (is_time())
        end();
    return NEXT(int, "renameat2", int, const char *, int, const char *, unsigned)(
        from, name, to, other, flags);
}

SHOWN int ftruncate(int fd, off_t length)
{
    if (is_time())
        end();
    return NEXT(int, "ftruncate", int, off_t)(fd, length);
}

SHOWN int fdatasync(int fd)
{
    if (is_time())
        end();
    return NEXT(int, "fdatasync", int)(fd);
}

SHOWN int mkdirat(int dir, const char *name, mode_t mode)
{
    if (is_time())
        end();
    return NEXT(int, "mkdirat", int, const char *, mode_t)(dir, name, mode);
}

SHOWN int fsync(int fd)
{
    if (is_time())
        end();
    return NEXT(int, "fsync", int)(fd);
}
