/* The directory for temporary files without mounts. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/tmpdir.h"

#include "path/beneath.h"
#include "path/lexical.h"
#include "sandbox/sysctl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum {
    ROUNDS_MAX = 1000 * 1000,
    LIST_BYTES = 4096,
    NAME_BYTES = 32,
    LIFT_TRIES = 100,
};

#define OPEN_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

static const char *base_dir(void)
{
    const char *base = getenv("TMPDIR");
    return base && base[0] == '/' ? base : "/tmp";
}

bool tmpdir_set_error(int errnum, struct err *err)
{
    err_errno(
        err, E_IO, errnum, "cannot create a directory for temporary files in '%s'", base_dir());
    return err_ctx(err, "remedy", "set TMPDIR to a directory that you can write to");
}

bool tmpdir_choose(struct tmpdir *ret_dir, struct err *err)
{
    uint64_t number;
    AUTO_BUF struct buf path = BUF_INIT(PATH_MAX);
    AUTO_FD int fd = open(base_dir(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    AUTO_FREE char *base = fd >= 0 ? beneath_name(fd) : NULL;
    if (!base || getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        return tmpdir_set_error(errno, err);
    buf_printf(
        &path, "%s/cordon-%016llx", strcmp(base, "/") == 0 ? "" : base, (unsigned long long)number);
    if (!buf_ok(&path))
        return tmpdir_set_error(ENAMETOOLONG, err);
    *ret_dir = (struct tmpdir){.path = buf_take(&path)};
    return true;
}

bool tmpdir_make(struct tmpdir *dir)
{
    struct stat st;
    if (mkdir(dir->path, 0700) != 0)
        return false;
    if (lstat(dir->path, &st) != 0) {
        rmdir(dir->path);
        return false;
    }
    dir->dev = st.st_dev;
    dir->ino = st.st_ino;
    return true;
}

void tmpdir_done(struct tmpdir *dir)
{
    free(dir->path);
    *dir = (struct tmpdir){0};
}

/* The environment ----------------------------------------------------------------------------- */

/* Whether the plan shows a directory of the host at this path. */
static bool tmpdir_is_shown(const struct plan *plan, struct str path)
{
    for (size_t i = 0; i < plan->n_steps; i++) {
        const struct plan_step *s = &plan->steps[i];
        if (s->kind == PLAN_BIND && lexical_is_below(s->at, path))
            return true;
    }
    return false;
}

static const char *move_value(
    const struct plan *plan, const char *dir, const char *word, struct arena *a)
{
    const char *value = strchr(word, '=');
    if (!value++ || !plan->own_tmp || !lexical_is_below(STR("/tmp"), str_z(value)) ||
        tmpdir_is_shown(plan, str_z(value)))
        return word;
    return arena_printf(a, "%.*s%s%s", (int)(value - word), word, dir, value + strlen("/tmp"));
}

static bool tmpdir_env_has_name(const char *const *envp, const char *word)
{
    size_t n = strcspn(word, "=") + 1;
    while (*envp && strncmp(*envp, word, n) != 0)
        envp++;
    return *envp;
}

const char *const *tmpdir_env(
    const struct plan *plan, const char *dir, const char *const *envp, struct arena *a)
{
    const char *const more[] = {arena_printf(a, "TMPDIR=%s", dir), "GIT_CONFIG_NOSYSTEM=1"};
    size_t n = 0;
    while (envp[n])
        n++;
    const char **list = ARENA_NEW(a, const char *, n + ARRAY_LEN(more) + 1);
    for (size_t i = 0; i < n; i++)
        list[i] = move_value(plan, dir, envp[i], a);
    for (size_t i = 0; i < ARRAY_LEN(more); i++)
        if (!tmpdir_env_has_name(envp, more[i]))
            list[n++] = more[i];
    return list;
}

const char *tmpdir_cwd(const struct plan *plan, const char *dir)
{
    return dir && plan->own_tmp && str_is(plan->cwd, "/tmp") ? dir : plan->cwd.p;
}

/* Removal ------------------------------------------------------------------------------------- */

/* The kernel's struct, for getdents64: readdir() allocates. */
struct tmpdir_entry {
    uint64_t ino;
    int64_t next;
    uint16_t size;
    uint8_t type;
    char name[];
};

/* Moves a directory that is not empty to the top, so that no tree is too deep. */
static bool tmpdir_lift(int dir, const char *name, int top)
{
    static unsigned number;
    for (int tries = 0; tries < LIFT_TRIES; tries++) {
        char to[NAME_BYTES] = {0}, *p = to + sizeof(to) - 1;
        for (unsigned left = ++number; left; left /= 10)
            *--p = (char)('0' + left % 10);
        *--p = '+';
        if (syscall(SYS_renameat2, dir, name, top, p, RENAME_NOREPLACE) == 0)
            return true;
        if (errno != EEXIST)
            return false;
    }
    return false;
}

/* Makes a directory of the user accessible, whatever its mode: by its file descriptor, since its
 * name may lead elsewhere by now. */
static void tmpdir_unlock(int fd)
{
    static const char dir[] = "/proc/self/fd/";
    char digits[SYSCTL_DIGITS], path[sizeof(dir) + SYSCTL_DIGITS] = {0};
    const char *number = sysctl_number((uint64_t)fd, 10, digits);
    memcpy(path, dir, sizeof(dir) - 1);
    memcpy(path + sizeof(dir) - 1, number, strlen(number));
    (void)!chmod(path, 0700);
}

static bool tmpdir_empty(int dir, int top);

/* Returns true if anything was removed or moved. */
static bool tmpdir_remove_entry(int dir, const char *name, int top)
{
    if (unlinkat(dir, name, 0) == 0 || unlinkat(dir, name, AT_REMOVEDIR) == 0)
        return true;
    if (errno != ENOTEMPTY && errno != EEXIST && errno != EACCES)
        return false;
    /* It is a directory, according to unlinkat(). */
    AUTO_FD int place = openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (place < 0)
        return false;
    tmpdir_unlock(place);
    if (dir != top)
        return tmpdir_lift(dir, name, top);
    AUTO_FD int below = openat(place, ".", OPEN_FLAGS);
    bool some = below >= 0 && tmpdir_empty(below, top);
    return unlinkat(dir, name, AT_REMOVEDIR) == 0 || some;
}

/* Makes one pass over a directory. */
static bool tmpdir_empty(int dir, int top)
{
    char list[LIST_BYTES] __attribute__((aligned(8)));
    bool some = false;
    lseek(dir, 0, SEEK_SET);
    for (long n; (n = syscall(SYS_getdents64, dir, list, sizeof(list))) > 0;) {
        for (long at = 0; at < n;) {
            const struct tmpdir_entry *e = (const struct tmpdir_entry *)(const void *)(list + at);
            at += e->size;
            if (strcmp(e->name, ".") != 0 && strcmp(e->name, "..") != 0)
                some |= tmpdir_remove_entry(dir, e->name, top);
        }
    }
    return some;
}

/* Opens the directory itself, whatever its mode is by now; -1 if it does not exist. */
static int tmpdir_reopen(const struct tmpdir *dir)
{
    struct stat st;
    AUTO_FD int fd = open(dir->path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0 || st.st_dev != dir->dev || st.st_ino != dir->ino)
        return -1;
    tmpdir_unlock(fd);
    return openat(fd, ".", OPEN_FLAGS);
}

void tmpdir_remove(const struct tmpdir *dir)
{
    if (dir->ino == 0) {
        rmdir(dir->path); /* still empty, if it exists at all */
        return;
    }
    AUTO_FD int top = tmpdir_reopen(dir);
    if (top < 0)
        return;
    for (int round = 0; round < ROUNDS_MAX && tmpdir_empty(top, top); round++)
        ;
    rmdir(dir->path);
}
