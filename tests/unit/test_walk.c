/* The walk: order, odd names, deep trees, directories that can't be opened, symlinks that must not
 * be followed. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/buf.h"
#include "path/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

static int open_root(void)
{
    int fd = open(test_dir(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    BUG_ON(fd < 0);
    return fd;
}

/* All entries, one per line, '/' after directories, '@' after symlinks, '!' after unreadable
 * ones. */
static bool list(const struct walk_options *options, struct buf *out, struct err *err)
{
    AUTO_WALK struct walk *w = NULL;
    const struct walk_entry *e;
    AUTO_FD int fd = open_root();
    if (!walk_open(fd, options, &w, err))
        return false;
    for (;;) {
        if (!walk_next(w, &e, err))
            return false;
        if (!e)
            return true;
        CHECK(e->path.p[e->path.n] == '\0' && str_ends_with(e->path, e->name));
        buf_add_str(out, e->path);
        buf_add_z(out, e->type == DT_DIR ? "/" : e->type == DT_LNK ? "@" : "");
        buf_add_z(out, e->closed ? "!\n" : "\n");
    }
}

static void check_list(const struct walk_options *options, const char *want)
{
    AUTO_ERR struct err err = {0};
    AUTO_BUF struct buf out = BUF_INIT(1 << 20);
    CHECK_OK(list(options, &out, &err), &err);
    CHECK_Z(buf_z(&out), want);
}

TEST(walk_is_in_byte_order_of_paths)
{
    static const char *const files[] = {
        "a/x", "a-b", "a.c", "a0", "a/b/c", "a/b.c", "B", "\xFF", "é", "ab/z", " ", "n\nl"};
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        test_write(test_path("%s", files[i]), "");
    check_list(&(struct walk_options){0},
        " \nB\na-b\na.c\na/\na/b.c\na/b/\na/b/c\na/x\na0\nab/\nab/z\nn\nl\né\n\xFF\n");
}

TEST(walk_keeps_some_directories_closed)
{
    test_write(test_path(".git/HEAD"), "");
    test_write(test_path(".cordon/x"), "");
    test_write(test_path("sub/node_modules/x"), "");
    test_write(test_path("other/node_modules"), "");
    test_write(test_path("worktree/.git"), "");
    check_list(&(struct walk_options){0},
        ".cordon/!\n.git/!\nother/\nother/node_modules\nsub/\nsub/node_modules/!\nworktree/\n"
        "worktree/.git!\n");
    check_list(&(struct walk_options){.all_names = true},
        ".cordon/\n.cordon/x\n.git/\n.git/HEAD\nother/\nother/node_modules\nsub/\n"
        "sub/node_modules/\nsub/node_modules/x\nworktree/\nworktree/.git\n");
}

TEST(walk_honours_ignore_files)
{
    test_write(test_path(".gitignore"), "*.o\n/out/\n");
    test_write(test_path("sub/.gitignore"), "!keep.o\n");
    test_write(test_path("sub/.cordonignore"), "hidden\n");
    test_write(test_path("sub/keep.o"), "");
    test_write(test_path("sub/hidden"), "");
    test_write(test_path("a.o"), "");
    test_write(test_path("out/file"), "");
    test_write(test_path("z/hidden"), "");
    check_list(&(struct walk_options){.ignore = true},
        ".gitignore\nsub/\nsub/.cordonignore\nsub/.gitignore\nsub/keep.o\nz/\nz/hidden\n");
}

TEST(walk_never_follows_links)
{
    test_write(test_path("dir/file"), "");
    BUG_ON(symlink("dir", test_path("link")) != 0);
    BUG_ON(symlink("..", test_path("dir/loop")) != 0);
    BUG_ON(symlink("nowhere", test_path("dangling")) != 0);
    check_list(&(struct walk_options){0}, "dangling@\ndir/\ndir/file\ndir/loop@\nlink@\n");
}

/* Between the listing and the opening a directory becomes a symlink that leads out, or
 * disappears. */
TEST(walk_stays_inside_despite_a_swap)
{
    AUTO_ERR struct err err = {0};
    AUTO_WALK_PROBLEMS struct walk_problems problems = {0};
    AUTO_WALK struct walk *w = NULL;
    const struct walk_entry *e = NULL;
    test_write(test_path("a/file"), "");
    test_write(test_path("b/file"), "");
    test_write(test_path("c/file"), "");
    AUTO_FD int fd = open_root();
    CHECK_OK(walk_open(fd, &(struct walk_options){.problems = &problems}, &w, &err), &err);
    BUG_ON(rename(test_path("b"), test_path("moved")) != 0);
    BUG_ON(symlink("/", test_path("b")) != 0);
    BUG_ON(rename(test_path("c"), test_path("gone")) != 0);
    AUTO_BUF struct buf out = BUF_INIT(4096);
    while (CHECK_OK(walk_next(w, &e, &err), &err) && e)
        buf_printf(&out, STR_FMT "\n", STR_ARG(e->path));
    CHECK_Z(buf_z(&out), "a\na/file\nb\nc\n");
    CHECK_INT(problems.n, 0);
}

TEST(walk_skips_on_request)
{
    AUTO_ERR struct err err = {0};
    AUTO_WALK struct walk *w = NULL;
    const struct walk_entry *e = NULL;
    test_write(test_path("a/b/c"), "");
    test_write(test_path("d/e"), "");
    AUTO_FD int fd = open_root();
    AUTO_BUF struct buf out = BUF_INIT(4096);
    CHECK_OK(walk_open(fd, &(struct walk_options){0}, &w, &err), &err);
    while (CHECK_OK(walk_next(w, &e, &err), &err) && e) {
        buf_printf(&out, STR_FMT "\n", STR_ARG(e->path));
        if (str_is(e->path, "a"))
            walk_skip(w);
    }
    CHECK_Z(buf_z(&out), "a\nd\nd/e\n");
    CHECK_OK(walk_next(w, &e, &err), &err);
    CHECK(!e);
}

/* Names of the maximum length and a path that is too long for one system call. */
TEST(walk_goes_deep_with_long_names)
{
    enum {
        LEVELS = WALK_DEPTH_MAX + 10
    };
    AUTO_ERR struct err err = {0};
    AUTO_WALK_PROBLEMS struct walk_problems problems = {0};
    AUTO_WALK struct walk *w = NULL;
    const struct walk_entry *e = NULL;
    char name[256];
    memset(name, 'n', 255);
    name[255] = '\0';
    AUTO_FD int fd = open_root();
    AUTO_FD int at = dup(fd);
    for (size_t i = 0; i < LEVELS; i++) {
        BUG_ON(mkdirat(at, name, 0777) != 0);
        int next = openat(at, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
        close(at);
        at = next;
    }
    size_t n = 0, longest = 0;
    CHECK_OK(walk_open(fd, &(struct walk_options){.problems = &problems}, &w, &err), &err);
    while (CHECK_OK(walk_next(w, &e, &err), &err) && e) {
        n++;
        longest = e->path.n;
    }
    CHECK_INT(n, WALK_DEPTH_MAX);
    CHECK_INT(longest, WALK_DEPTH_MAX * 256 - 1);
    CHECK_INT(problems.n, 1);
    CHECK_INT(problems.kept[0].errnum, ELOOP);
    CHECK_INT(strlen(problems.kept[0].path), longest);
    for (size_t i = LEVELS; i-- > 0;) { /* too long for the test frame to remove */
        int up = openat(at, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        BUG_ON(unlinkat(up, name, AT_REMOVEDIR) != 0);
        close(at);
        at = up;
    }
}

TEST(walk_reports_unopenable_files)
{
    AUTO_WALK_PROBLEMS struct walk_problems problems = {0};
    bool root = geteuid() == 0;
    test_write(test_path("a/file"), "");
    test_write(test_path("locked/file"), "");
    test_write(test_path("z"), "");
    BUG_ON(chmod(test_path("locked"), 0) != 0);
    BUG_ON(chmod(test_dir(), 0755) != 0);
    if (root)
        BUG_ON(seteuid(65534) != 0);
    check_list(
        &(struct walk_options){.problems = &problems, .ignore = true}, "a/\na/file\nlocked/\nz\n");
    if (root)
        BUG_ON(seteuid(0) != 0);
    CHECK_INT(problems.n, 1);
    CHECK_Z(problems.kept[0].path, "locked");
    CHECK_INT(problems.kept[0].errnum, EACCES);
}

TEST(walk_keeps_only_the_first_problems)
{
    AUTO_WALK_PROBLEMS struct walk_problems problems = {0};
    AUTO_ERR struct err err = {0};
    AUTO_BUF struct buf out = BUF_INIT(1 << 20);
    bool root = geteuid() == 0;
    for (int i = 0; i < 3 * WALK_PROBLEMS_KEPT; i++)
        BUG_ON(mkdir(test_path("d%02d", i), 0) != 0);
    BUG_ON(chmod(test_dir(), 0755) != 0);
    if (root)
        BUG_ON(seteuid(65534) != 0);
    CHECK_OK(list(&(struct walk_options){.problems = &problems}, &out, &err), &err);
    if (root)
        BUG_ON(seteuid(0) != 0);
    CHECK_INT(problems.n, 3 * WALK_PROBLEMS_KEPT);
    CHECK_Z(problems.kept[WALK_PROBLEMS_KEPT - 1].path, "d15");
}

TEST(walk_has_a_limit_of_entries)
{
    AUTO_ERR struct err err = {0};
    AUTO_BUF struct buf out = BUF_INIT(1 << 20);
    for (int i = 0; i < 10; i++)
        test_write(test_path("d%d/f", i), "");
    CHECK(list(&(struct walk_options){.entries_max = 20}, &out, &err));
    CHECK(!list(&(struct walk_options){.entries_max = 19}, &out, &err));
    CHECK_ERR(&err, E_IO, "more than 19 entries");
}

TEST(walk_large_directory)
{
    AUTO_ERR struct err err = {0};
    AUTO_BUF struct buf out = BUF_INIT(1 << 20);
    AUTO_FD int fd = open_root();
    for (int i = 0; i < 3000; i++) {
        char name[64];
        snprintf(name, sizeof(name), "a-name-that-fills-the-buffer-of-one-call-%05d", i);
        AUTO_FD int file = openat(fd, name, O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
        BUG_ON(file < 0);
    }
    CHECK_OK(list(&(struct walk_options){0}, &out, &err), &err);
    struct str line, before = STR(""), rest = buf_str(&out);
    size_t n = 0;
    for (; str_cut(rest, '\n', &line, &rest); n++, before = line)
        CHECK(str_cmp(before, line) < 0);
    CHECK_INT(n, 3000);
}

TEST(walk_root_that_is_not_a_directory)
{
    AUTO_ERR struct err err = {0};
    AUTO_WALK struct walk *w = NULL;
    test_write(test_path("file"), "");
    AUTO_FD int fd = open(test_path("file"), O_RDONLY | O_CLOEXEC);
    CHECK(!walk_open(fd, &(struct walk_options){0}, &w, &err));
    CHECK_ERR(&err, E_IO, "root");
}

static bool never_again(void *context)
{
    int *left = context;
    return (*left)-- <= 0;
}

TEST(walk_called_off)
{
    for (int i = 0; i < 5; i++)
        test_write(test_path("d%d/x", i), "");
    for (int n = 0; n < 3; n++) {
        AUTO_ERR struct err err = {0};
        AUTO_BUF struct buf out = BUF_INIT(1 << 20);
        int left = 2 * n; /* twice for each directory: entries, and that there are no more */
        const struct walk_options options = {.called_off = never_again, .context = &left};
        test_row((size_t)n, "called off");
        CHECK(!list(&options, &out, &err));
        CHECK_ERR(&err, E_CANCELED, "interrupted");
        CHECK_Z(buf_z(&out), n == 0 ? "" : n == 1 ? "d0/\n" : "d0/\nd0/x\nd1/\n");
    }
}
