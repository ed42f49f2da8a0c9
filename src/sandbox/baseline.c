/* Collects the baseline: tables of names, and which of them exist. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/baseline.h"

#include "path/beneath.h"
#include "path/lexical.h"
#include "sandbox/etc_text.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

enum {
    HEAD_MAX = 4096, /* of a program or loader: its program headers */
    FILE_MAX = 4 << 20,
};

/* Directories, or symlinks to them as on a system with a merged /usr. */
static const struct {
    const char *path;
    bool libraries;
} dirs[] = {
    {"/lib", true},
    {"/lib32", true},
    {"/lib64", true},
    {"/libx32", true},
    {"/usr/lib", true},
    {"/usr/lib32", true},
    {"/usr/lib64", true},
    {"/usr/libx32", true},
    {"/usr/libexec", false},
    {"/usr/libexec/gcc", true}, /* the linker's plugin, from Debian 13 on */
    {"/usr/share", false},
    {"/etc/ssl/certs", false},
    {"/etc/terminfo", false},
};

/* Only as symlinks: the policy must name their directories. */
static const char *const links[] = {"/bin", "/sbin", "/etc/localtime", "/etc/os-release"};

/* Copied: names, locale, time zone, certificates. */
static const char *const files[] = {
    "/etc/gai.conf",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/locale.alias",
    "/etc/locale.conf",
    "/etc/localtime",
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl/openssl.cnf",
    "/etc/timezone",
};

/* Useful only to a loader. */
static const char loader_cache[] = "/etc/ld.so.cache";

/* Loaders that programs of this machine ask for. */
static const char *const loaders[] = {
#if defined __x86_64__
    "/lib64/ld-linux-x86-64.so.2",
    "/lib/ld-musl-x86_64.so.1",
#elif defined __aarch64__
    "/lib/ld-linux-aarch64.so.1",
    "/lib/ld-musl-aarch64.so.1",
#elif defined __riscv
    "/lib/ld-linux-riscv64-lp64d.so.1",
    "/lib/ld-musl-riscv64.so.1",
#endif
};

_Static_assert(ARRAY_LEN(dirs) + ARRAY_LEN(links) <= BASELINE_MAX, "links and directories fit");
_Static_assert(ARRAY_LEN(files) < BASELINE_MAX, "files fit");

static bool baseline_add_link(struct baseline *base, struct arena *arena, const char *path)
{
    char target[PATH_MAX];
    ssize_t n = readlink(path, target, sizeof(target));
    if (n <= 0 || (size_t)n == sizeof(target))
        return false;
    base->links[base->n_links++] =
        (struct baseline_link){str_z(path), arena_str(arena, str_n(target, (size_t)n))};
    return true;
}

static void baseline_add_dir(
    struct baseline *base, struct arena *arena, const char *path, bool libraries)
{
    struct stat st;
    if (lstat(path, &st) != 0)
        return;
    if (S_ISLNK(st.st_mode))
        baseline_add_link(base, arena, path);
    /* Without a subdirectory it contains no terminal descriptions. */
    if (strcmp(path, "/etc/terminfo") == 0 && st.st_nlink == 2)
        return;
    if (S_ISDIR(st.st_mode))
        base->dirs[base->n_dirs++] =
            (struct baseline_dir){str_z(path), st.st_dev, st.st_ino, libraries};
}

/* Reads a small regular file; "no value" if it does not exist or can't be read. */
static struct str baseline_read_file(struct arena *arena, const char *path)
{
    struct stat st;
    AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > FILE_MAX)
        return (struct str){0};
    char *bytes = arena_alloc(arena, (size_t)st.st_size + 1);
    ssize_t n = read(fd, bytes, (size_t)st.st_size);
    return n == st.st_size ? str_n(bytes, (size_t)n) : (struct str){0};
}

/* The first bytes of an open file; "no value" if it can't be read. */
static struct str baseline_read_head(int fd, char head[HEAD_MAX])
{
    ssize_t n = fd >= 0 ? pread(fd, head, HEAD_MAX, 0) : -1;
    return str_n(n > 0 ? head : NULL, n > 0 ? (size_t)n : 0);
}

static bool baseline_has_link(const struct baseline *base, const char *path)
{
    for (size_t i = 0; i < base->n_links; i++)
        if (str_is(base->links[i].path, path))
            return true;
    return false;
}

static void baseline_add_file(struct baseline *base, struct arena *arena, const char *path)
{
    struct str bytes =
        baseline_has_link(base, path) ? (struct str){0} : baseline_read_file(arena, path);
    if (bytes.p)
        base->files[base->n_files++] = (struct baseline_file){str_z(path), bytes};
}

static bool is_library(const struct baseline *base, struct str path)
{
    for (size_t i = 0; i < base->n_dirs; i++)
        if (base->dirs[i].libraries && lexical_is_below(base->dirs[i].path, path))
            return true;
    return false;
}

static bool baseline_add_loader(
    struct baseline *base, struct arena *arena, const char *path, struct err *err)
{
    struct baseline_loader loader;
    struct stat st;
    char head[HEAD_MAX];
    AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    AUTO_FREE char *name = fd >= 0 ? beneath_name(fd) : NULL;
    if (base->n_loaders == BASELINE_MAX || !name || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
        !is_library(base, str_z(name)))
        return true;
    for (size_t i = 0; i < base->n_loaders; i++)
        if (str_is(base->loaders[i].path, name))
            return true;
    if (!elf_prevent_start(baseline_read_head(fd, head), &loader.patch))
        return err_set(err, E_SANDBOX_UNAVAILABLE,
            "cannot prevent the dynamic loader '%s' from starting programs", name);
    loader.path = arena_str(arena, str_z(name));
    loader.dev = st.st_dev;
    loader.ino = st.st_ino;
    if (base->n_loaders == 0)
        baseline_add_file(base, arena, loader_cache);
    base->loaders[base->n_loaders++] = loader;
    return true;
}

bool baseline_add_interpreter(
    struct baseline *base, struct arena *arena, const char *program, struct err *err)
{
    char head[HEAD_MAX];
    AUTO_FD int fd = open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct str interpreter = elf_interpreter(baseline_read_head(fd, head));
    if (!interpreter.p)
        return true;
    return baseline_add_loader(base, arena, interpreter.p, err);
}

bool baseline_add_loaders(struct baseline *base, struct arena *arena, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(loaders); i++)
        if (!baseline_add_loader(base, arena, loaders[i], err))
            return false;
    return true;
}

void baseline_collect(struct arena *arena, struct baseline *ret_base)
{
    struct baseline base = {0};
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
        baseline_add_dir(&base, arena, dirs[i].path, dirs[i].libraries);
    for (size_t i = 0; i < ARRAY_LEN(links); i++)
        baseline_add_link(&base, arena, links[i]);
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        baseline_add_file(&base, arena, files[i]);
    *ret_base = base;
}

void baseline_fit_etc(struct baseline *base, struct arena *arena, struct str home)
{
    for (size_t i = 0; i < base->n_files; i++) {
        struct baseline_file *f = &base->files[i];
        if (str_is(f->path, "/etc/hosts"))
            f->bytes = etc_hosts(arena, f->bytes);
        if (str_is(f->path, "/etc/passwd") && home.n)
            f->bytes = etc_passwd(arena, f->bytes, geteuid(), home);
    }
}

bool baseline_shows(struct str path)
{
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
        if (lexical_is_below(str_z(dirs[i].path), path))
            return true;
    for (size_t i = 0; i < ARRAY_LEN(links); i++)
        if (str_is(path, links[i]))
            return true;
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        if (str_is(path, files[i]))
            return true;
    return str_is(path, loader_cache);
}
