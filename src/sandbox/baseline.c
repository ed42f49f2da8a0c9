/* Collecting the baseline: tables of names, and what is there of them. */
#include "sandbox/baseline.h"

#include "path/beneath.h"
#include "path/file.h"
#include "path/lexical.h"
#include "sandbox/elf.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

enum {
    HEAD_MAX = 4096, /* of a program, to find its interpreter */
};

/* Directories, or links to them as on a system with a merged /usr. */
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
    {"/usr/share", false},
    {"/etc/ssl/certs", false},
    {"/etc/terminfo", false},
};

/* Only as links: their directories are for the policy to name. */
static const char *const links[] = {"/bin", "/sbin", "/etc/localtime", "/etc/os-release"};

/* Copied: the loader's cache, names, locale, time zone, certificates. */
static const char *const files[] = {
    "/etc/gai.conf",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/ld.so.cache",
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

/* Loaders that programs of this machine ask for. */
static const char *const loaders[] = {
#if defined __x86_64__
    "/lib64/ld-linux-x86-64.so.2",
    "/lib/ld-musl-x86_64.so.1",
#elif defined __aarch64__
    "/lib/ld-linux-aarch64.so.1",
    "/lib/ld-musl-aarch64.so.1",
#endif
};

_Static_assert(ARRAY_LEN(dirs) + ARRAY_LEN(links) <= BASELINE_MAX, "links and directories fit");
_Static_assert(ARRAY_LEN(files) <= BASELINE_MAX, "files fit");

static bool add_link(struct baseline *base, struct arena *arena, const char *path)
{
    char target[PATH_MAX];
    ssize_t n = readlink(path, target, sizeof(target));
    if (n <= 0 || (size_t)n == sizeof(target))
        return false;
    base->links[base->n_links++] =
        (struct baseline_link){str_z(path), arena_str(arena, str_n(target, (size_t)n))};
    return true;
}

static void add_dir(struct baseline *base, struct arena *arena, const char *path, bool libraries)
{
    struct stat st;
    if (lstat(path, &st) != 0)
        return;
    if (S_ISLNK(st.st_mode))
        add_link(base, arena, path);
    if (S_ISDIR(st.st_mode))
        base->dirs[base->n_dirs++] =
            (struct baseline_dir){str_z(path), st.st_dev, st.st_ino, libraries};
}

/* All bytes of a regular file; "no value" if there is none that can be read, or it is too long. */
static struct str read_whole(struct arena *arena, const char *path)
{
    struct stat st;
    AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > BASELINE_FILE_MAX)
        return (struct str){0};
    size_t size = (size_t)st.st_size, n = 0;
    char *bytes = arena_alloc(arena, size + 1);
    while (n < size) {
        ssize_t got = read(fd, bytes + n, size - n);
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    return str_n(bytes, n);
}

static bool has_link(const struct baseline *base, const char *path)
{
    for (size_t i = 0; i < base->n_links; i++)
        if (str_is(base->links[i].path, path))
            return true;
    return false;
}

static void add_file(struct baseline *base, struct arena *arena, const char *path)
{
    if (has_link(base, path))
        return;
    struct str bytes = read_whole(arena, path);
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

static bool add_loader(
    struct baseline *base, struct arena *arena, const char *path, struct err *err)
{
    AUTO_FD int fd = beneath_peek(path);
    AUTO_FREE char *name = fd >= 0 ? beneath_name(fd) : NULL;
    if (!name || !is_library(base, str_z(name)) || base->n_loaders == BASELINE_MAX)
        return true;
    for (size_t i = 0; i < base->n_loaders; i++)
        if (str_is(base->loaders[i].path, name))
            return true;
    struct str bytes = read_whole(arena, name);
    AUTO_BUF struct buf changed = BUF_INIT(BASELINE_FILE_MAX + 4096);
    if (!bytes.p || !elf_no_start(bytes, &changed))
        return err_set(err, E_SANDBOX_UNAVAILABLE,
            "the dynamic loader '%s' can't be kept from starting programs by itself", name);
    base->loaders[base->n_loaders++] = (struct baseline_loader){
        arena_str(arena, str_z(name)), arena_str(arena, buf_str(&changed))};
    return true;
}

bool baseline_add_interpreter(
    struct baseline *base, struct arena *arena, const char *program, struct err *err)
{
    char head[HEAD_MAX];
    AUTO_FD int fd = open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd >= 0 ? pread(fd, head, sizeof(head), 0) : -1;
    struct str interpreter = elf_interpreter(str_n(head, n > 0 ? (size_t)n : 0));
    if (!interpreter.p)
        return true;
    return add_loader(base, arena, interpreter.p, err);
}

bool baseline_collect(struct arena *arena, struct baseline *ret_base, struct err *err)
{
    struct baseline base = {0};
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
        add_dir(&base, arena, dirs[i].path, dirs[i].libraries);
    for (size_t i = 0; i < ARRAY_LEN(links); i++)
        add_link(&base, arena, links[i]);
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        add_file(&base, arena, files[i]);
    for (size_t i = 0; i < ARRAY_LEN(loaders); i++)
        if (!add_loader(&base, arena, loaders[i], err))
            return false;
    *ret_base = base;
    return true;
}
