/* Basics that every file uses: attributes, cleanup at scope exit, assertions.
 *
 *     AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
 *     BUG_ON(count > max);
 *     return TAKE_FD(fd);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_BASE_H
#define BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MUST_USE          __attribute__((warn_unused_result))
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a), nonnull(f)))
#define NORETURN          __attribute__((noreturn))
#define AUTO(done)        __attribute__((cleanup(done)))
#define UNUSED            __attribute__((unused))

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b)    ((a) < (b) ? (a) : (b))
#define MAX(a, b)    ((a) > (b) ? (a) : (b))

/* A broken invariant or failed allocation: prints the location and aborts. Nothing else aborts. */
NORETURN void base_bug(const char *file, int line, const char *what);
#define BUG_ON(cond)                             \
    do {                                         \
        if (__builtin_expect(!!(cond), 0))       \
            base_bug(__FILE__, __LINE__, #cond); \
    } while (0)

/* Allocation that can't fail: running out of memory is a BUG. */
MUST_USE void *base_alloc(size_t size);
MUST_USE void *base_realloc(void *p, size_t size);

static inline void auto_free(void *p)
{
    free(*(void **)p);
}

static inline void auto_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

static inline int base_take_fd(int *fd)
{
    int taken = *fd;
    *fd = -1;
    return taken;
}

#define AUTO_FREE   AUTO(auto_free)
#define AUTO_FD     AUTO(auto_fd)
#define TAKE_FD(fd) base_take_fd(&(fd))

/* Calls that have a better replacement here: using one is a compile error. */
#define BANNED(call) call##_is_banned_in_cordon
#undef strcpy
#define strcpy(...) BANNED(strcpy)
#undef strcat
#define strcat(...) BANNED(strcat)
#undef sprintf
#define sprintf(...) BANNED(sprintf)
#undef vsprintf
#define vsprintf(...) BANNED(vsprintf)
#undef strtok
#define strtok(...) BANNED(strtok)
#undef mktemp
#define mktemp(...) BANNED(mktemp)
#undef tmpnam
#define tmpnam(...) BANNED(tmpnam)
#undef atoi
#define atoi(...) BANNED(atoi)
#undef alloca
#define alloca(...) BANNED(alloca)

#endif
