/* Descending component by component, with openat2() as the oracle. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "tree.h"

#include "path/beneath.h"
#include "path/descend.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static const struct {
    const char *link, *target;
} links[] = {
    {"a/up", ".."},
    {"a/out", "../.."},
    {"a/b/top", "../../f"},
    {"loop", "loop2"},
    {"loop2", "loop"},
    {"dangling", "nothing"},
    {"far", "a/b/new"},
    {"abs", "/etc"},
    {"self", "."},
    {"slash", "a/"},
    {"fslash", "f/"},
    {"chain", "a/up/a/up/f"},
    {"procself", "/proc/self"},
};

static const char *const words[] = {"a", "b", "c", "f", "..", ".", "up", "out", "top", "loop",
    "dangling", "far", "abs", "self", "slash", "fslash", "chain", "none", "new", "procself", "fd",
    "0", "exe", "cwd", "root"};

static const int all_flags[] = {O_RDONLY, O_PATH, O_PATH | O_NOFOLLOW, O_RDONLY | O_NOFOLLOW,
    O_RDONLY | O_DIRECTORY, O_PATH | O_DIRECTORY, O_PATH | O_DIRECTORY | O_NOFOLLOW, O_WRONLY,
    O_WRONLY | O_CREAT, O_WRONLY | O_CREAT | O_EXCL};

static int oracle(int dir, const char *path, const struct descend_how *how)
{
    struct open_how o = {
        .flags = (unsigned)(how->flags | O_CLOEXEC),
        .mode = how->flags & O_CREAT ? how->mode : 0,
        .resolve = RESOLVE_NO_MAGICLINKS | (how->beneath ? (unsigned)RESOLVE_BENEATH : 0u) |
                   (how->no_symlinks ? (unsigned)RESOLVE_NO_SYMLINKS : 0u),
    };
    int fd = -1;
    for (int i = 0; i < 1000; i++) /* EAGAIN: a concurrent rename, anywhere */
        if ((fd = (int)syscall(SYS_openat2, dir, path, &o, sizeof(o))) >= 0 || errno != EAGAIN)
            break;
    return fd;
}

struct answer {
    int errnum;
    dev_t dev;
    ino_t ino;
    mode_t mode;
};

/* Removes created files, so that both see the same. */
static struct answer ask(int (*how_to)(int, const char *, const struct descend_how *), int dir,
    const char *path, const struct descend_how *how)
{
    struct answer a = {0};
    struct stat st;
    int fd = how_to(dir, path, how);
    if (fd < 0)
        return (struct answer){.errnum = errno};
    CHECK(fstat(fd, &st) == 0);
    bool made = how->flags & O_CREAT && st.st_size == 0;
    a = (struct answer){0, st.st_dev, made ? 0 : st.st_ino, st.st_mode};
    AUTO_FREE char *name = made ? beneath_name(fd) : NULL;
    CHECK(!made || unlink(name) == 0);
    close(fd);
    return a;
}

static void random_path(unsigned *seed, char path[512])
{
    size_t n = strlen(path), count = 1 + (unsigned)rand_r(seed) % 6;
    if (rand_r(seed) % 16 == 0)
        path[n++] = '/';
    for (size_t i = 0; i < count; i++)
        n += (size_t)snprintf(path + n, 512 - n, "%s%s",
            words[(size_t)rand_r(seed) % ARRAY_LEN(words)],
            i + 1 < count || rand_r(seed) % 8 == 0 ? (rand_r(seed) % 8 ? "/" : "//") : "");
}

TEST(descend_answers_as_the_kernel)
{
    unsigned seed = 1;
    tree_file(test_path("r/f"), "x", 0644);
    tree_file(test_path("r/a/b/f"), "y", 0644);
    tree_file(test_path("r/a/c/f"), "z", 0644);
    AUTO_FD int root = tree_open(test_path("r"));
    for (size_t i = 0; i < ARRAY_LEN(links); i++)
        CHECK(symlinkat(links[i].target, root, links[i].link) == 0);
    for (int i = 0; i < 20000; i++) {
        char path[512];
        const struct descend_how how = {
            .flags = all_flags[(size_t)rand_r(&seed) % ARRAY_LEN(all_flags)],
            .mode = 0600,
            .beneath = rand_r(&seed) % 4,
            .no_symlinks = rand_r(&seed) % 4 == 0,
        };
        snprintf(path, sizeof(path), "%s", how.beneath ? "" : test_path("r/"));
        random_path(&seed, path);
        if (!how.beneath && how.flags & O_CREAT)
            continue; /* do not create files outside */
        struct answer want = ask(oracle, root, path, &how), got = ask(descend, root, path, &how);
        test_row((size_t)i, path);
        CHECK_INT(got.errnum, want.errnum);
        CHECK(got.dev == want.dev && got.ino == want.ino && got.mode == want.mode);
    }
}
