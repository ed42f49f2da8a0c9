/* Inspects a stopped process. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/tracee.h"

#include "path/lexical.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/uio.h>

enum {
    PAGE = 4096, /* smallest page size: a read never crosses into a page that may not be mapped */
    LINK_MAX_NAME = 64,
};

size_t tracee_read(pid_t tid, uint64_t address, void *bytes, size_t n)
{
    size_t done = 0;
    while (done < n) {
        uint64_t at = address + done;
        struct iovec local = {(char *)bytes + done, MIN(n - done, PAGE - (size_t)(at % PAGE))};
        struct iovec remote = {(void *)(uintptr_t)at, local.iov_len};
        ssize_t got = process_vm_readv(tid, &local, 1, &remote, 1, 0);
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    return done;
}

bool tracee_string(pid_t tid, uint64_t address, struct arena *a, struct str *ret_text)
{
    char text[PATH_MAX];
    size_t done = 0;
    while (done < sizeof(text)) {
        uint64_t at = address + done;
        size_t want = MIN(sizeof(text) - done, PAGE - (size_t)(at % PAGE));
        size_t got = tracee_read(tid, at, text + done, want);
        const char *end = memchr(text + done, '\0', got);
        if (end) {
            *ret_text = arena_str(a, str_n(text, (size_t)(end - text)));
            return true;
        }
        if (got < want)
            return false;
        done += got;
    }
    return false;
}

static struct str tracee_read_link(const char *path, struct arena *a)
{
    char target[PATH_MAX];
    ssize_t n = readlink(path, target, sizeof(target));
    if (n <= 0 || (size_t)n >= sizeof(target))
        return (struct str){0};
    return arena_str(a, str_n(target, (size_t)n));
}

struct str tracee_link(pid_t tid, const char *name, struct arena *a)
{
    char link[LINK_MAX_NAME];
    snprintf(link, sizeof(link), "/proc/%d/%s", (int)tid, name);
    return tracee_read_link(link, a);
}

/* Returns the start of the name's resolution: "root", "cwd" or "fd/3". */
static const char *tracee_start_dir(const struct tracee_name *name, struct arena *a)
{
    if (name->text.n && name->text.p[0] == '/')
        return "root";
    return name->dir == AT_FDCWD ? "cwd" : arena_printf(a, "fd/%d", name->dir);
}

struct str tracee_given(const struct tracee_name *name, struct arena *a)
{
    struct str base = tracee_link(name->tid, tracee_start_dir(name, a), a);
    if (!base.p || base.p[0] != '/' || lexical_has_dots(name->text))
        return (struct str){0};
    struct str rest = name->text;
    while (rest.n && rest.p[0] == '/')
        rest = str_skip(rest, 1);
    return lexical_absolute(a, base, rest);
}

/* Returns a path that we can open, starting where the process would start. */
static const char *our_path(const struct tracee_name *name, struct str text, struct arena *a)
{
    return arena_printf(
        a, "/proc/%d/%s/" STR_FMT, (int)name->tid, tracee_start_dir(name, a), STR_ARG(text));
}

static struct str tracee_resolve(const char *path, struct arena *a)
{
    char link[LINK_MAX_NAME];
    AUTO_FD int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return (struct str){0};
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    return tracee_read_link(link, a);
}

struct str tracee_follow(const struct tracee_name *name, struct arena *a)
{
    if (name->text.n == 0)
        return tracee_link(name->tid, tracee_start_dir(name, a), a);
    return tracee_resolve(our_path(name, name->text, a), a);
}

struct str tracee_entry(const struct tracee_name *name, struct arena *a, bool *ret_exists)
{
    struct str text = str_trim_end(name->text, '/'), last = lexical_name(text);
    if (last.n == 0 || str_is(last, ".") || str_is(last, ".."))
        return (struct str){0};
    struct str dir = tracee_resolve(our_path(name, str_head(text, text.n - last.n), a), a);
    if (!dir.p || dir.p[0] != '/')
        return (struct str){0};
    struct stat st;
    struct str path = lexical_absolute(a, dir, last);
    *ret_exists = lstat(path.p, &st) == 0;
    return path;
}
