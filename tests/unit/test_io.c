/* Tests of io/dir: lists, limits, failures. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io/dir.h"
#include "test.h"
#include "tree.h"

/* Lowest free descriptor: larger after a leak. */
static int next_fd(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(fd);
    return fd;
}

static int count_names(struct dir *d)
{
    int bits = 0;
    while (dir_next(d))
        bits |= strcmp(d->name, "a") == 0 ? 1 : strcmp(d->name, ".b") == 0 ? 2 : 4;
    return bits;
}

TEST(dir_lists_without_dots)
{
    tree_file(test_path("d/a"), "x", 0644);
    tree_file(test_path("d/.b"), "x", 0644);
    AUTO_FD int top = tree_open(test_dir());
    AUTO_DIR struct dir d = DIR_INIT(2);
    if (!CHECK(dir_open(&d, top, "d")))
        return;
    CHECK_INT(count_names(&d), 3);
    CHECK_INT(d.n, 2);
    CHECK(dir_complete(&d));
    CHECK(!dir_next(&d)); /* also after its end */
    dir_rewind(&d);
    CHECK_INT(count_names(&d), 3);
    CHECK(dir_complete(&d));
    /* "." has a position of its own. */
    AUTO_DIR struct dir again = DIR_INIT(DIR_UNLIMITED);
    if (CHECK(dir_open(&again, d.fd, ".")))
        CHECK_INT(count_names(&again), 3);
}

TEST(dir_stops_at_its_limit)
{
    tree_file(test_path("d/a"), "x", 0644);
    tree_file(test_path("d/b"), "x", 0644);
    AUTO_DIR struct dir d = DIR_INIT(1);
    if (!CHECK(dir_open_path(&d, test_path("d"))))
        return;
    CHECK(dir_next(&d));
    CHECK(!dir_next(&d));
    CHECK(d.cut);
    CHECK(!dir_complete(&d));
    CHECK(!dir_next(&d));
    CHECK_INT(d.n, 1);
}

TEST(dir_open_fails_without_leaks)
{
    int before = next_fd();
    tree_file(test_path("file"), "x", 0644);
    CHECK_INT(symlink(".", test_path("link")), 0);
    AUTO_FD int top = tree_open(test_dir());
    AUTO_DIR struct dir d = DIR_INIT(DIR_UNLIMITED);
    CHECK(!dir_next(&d) && !dir_complete(&d)); /* never opened */
    CHECK(!dir_open(&d, top, "missing") && errno == ENOENT);
    CHECK(!dir_open(&d, top, "file") && errno == ENOTDIR);
    CHECK(!dir_open(&d, top, "link") && (errno == ENOTDIR || errno == ELOOP));
    CHECK(!dir_open_path(&d, test_path("missing")) && errno == ENOENT);
    CHECK(!dir_take(&d, open(test_path("file"), O_RDONLY | O_CLOEXEC)) && errno == ENOTDIR);
    CHECK(!dir_take(&d, open(test_path("missing"), O_RDONLY | O_CLOEXEC)) && errno == ENOENT);
    CHECK(!dir_next(&d));
    CHECK(dir_open_path(&d, test_path("link")));
    dir_close(&d);
    dir_close(&d);
    close(TAKE_FD(top));
    CHECK_INT(next_fd(), before);
}

static int list_without_getdents(void *arg)
{
    AUTO_DIR struct dir d = DIR_INIT(DIR_UNLIMITED);
    if (!dir_open_path(&d, arg) || !child_without_call(SYS_getdents64, EIO))
        return 1;
    return dir_next(&d) ? 2 : dir_complete(&d) ? 3 : d.errnum == EIO ? 0 : 4;
}

TEST(dir_reports_a_list_that_cannot_be_read)
{
    CHECK_INT(child_run(list_without_getdents, (void *)test_dir()), 0);
}
