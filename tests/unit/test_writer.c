/* The multi-file writer: what it changes, keeps and refuses. Its death on the way is tested in
 * test_crash.c. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "tree.h"

#include "path/journal.h"
#include "path/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>

/* A root with a writer; the journal is beside it. */
struct fixture {
    int root_fd;
    struct writer *w;
    struct writer_result result;
    struct err err;
};

static void fixture_done(struct fixture *f)
{
    writer_free(f->w);
    err_done(&f->err);
    if (f->root_fd >= 0)
        close(f->root_fd);
}

#define AUTO_FIXTURE AUTO(fixture_done)

static struct fixture fixture_new(void)
{
    struct fixture f = {.root_fd = -1};
    if (mkdir(test_path("root"), 0777) != 0)
        BUG_ON(errno != EEXIST);
    f.root_fd = tree_open(test_path("root"));
    BUG_ON(!writer_new(f.root_fd, test_path("home/journal"), &f.w, &f.err));
    return f;
}

/* Nothing of the writer's is left: no temporary name, no journal, and no directory for it. */
static bool nothing_left(void)
{
    AUTO_FREE char *root = tree_describe(test_path("root"));
    AUTO_FREE char *home = tree_describe(test_path("home"));
    return CHECK(!strstr(root, ".cordon-")) && CHECK_Z(home, "") &&
           CHECK(access(test_path("home"), F_OK) != 0);
}

static mode_t mode_of(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 ? st.st_mode & 07777 : (mode_t)-1;
}

static void check_file(const char *path, const char *content)
{
    AUTO_FREE char *now = test_read(path);
    CHECK_Z(now, content);
}

TEST(writer_creates_updates_and_deletes_together)
{
    tree_file(test_path("root/b/old"), "was", 0644);
    tree_file(test_path("root/gone"), "was", 0644);
    AUTO_FIXTURE struct fixture f = fixture_new();
    CHECK_OK(writer_put(f.w, STR("n/e/w"), STR("created"), NULL, &f.err), &f.err);
    CHECK_OK(writer_remove(f.w, STR("gone"), NULL, &f.err), &f.err);
    CHECK_OK(writer_put(f.w, STR("b/old"), STR("is"), NULL, &f.err), &f.err);
    CHECK_OK(writer_put(f.w, STR("b/empty"), STR(""), NULL, &f.err), &f.err);
    CHECK(access(test_path("home"), F_OK) != 0);
    if (!CHECK_OK(writer_commit(f.w, &f.result, &f.err), &f.err))
        return;
    static const struct {
        const char *path, *action;
        uint64_t bytes;
    } want[] = {
        {"b/empty", "created", 0},
        {"b/old", "updated", 2},
        {"gone", "deleted", 0},
        {"n/e/w", "created", 7},
    };
    CHECK_INT(f.result.n, ARRAY_LEN(want));
    for (size_t i = 0; i < MIN(f.result.n, ARRAY_LEN(want)); i++) {
        test_row(i, want[i].path);
        CHECK_STR(f.result.files[i].path, str_z(want[i].path));
        CHECK_Z(writer_action_name(f.result.files[i].action), want[i].action);
        CHECK_INT(f.result.files[i].bytes_written, want[i].bytes);
    }
    check_file(test_path("root/n/e/w"), "created");
    check_file(test_path("root/b/old"), "is");
    check_file(test_path("root/b/empty"), "");
    check_file(test_path("root/gone"), NULL);
    nothing_left();
}

TEST(writer_with_nothing_to_do_creates_nothing)
{
    AUTO_FIXTURE struct fixture f = fixture_new();
    CHECK_OK(writer_commit(f.w, &f.result, &f.err), &f.err);
    CHECK_INT(f.result.n, 0);
    nothing_left();
}

TEST(writer_keeps_modes)
{
    static const struct {
        const char *name;
        mode_t before, set, after; /* before 0: a new file; set 0: keep */
    } rows[] = {
        {"private", 0600, 0, 0600},
        {"usual", 0644, 0, 0644},
        {"program", 0755, 0, 0755},
        {"write-only for others", 0622, 0, 0622},
        {"sticky", 01644, 0, 01644},
        {"set-user-id goes", 04755, 0, 0755},
        {"set-group-id goes", 02755, 0, 0755},
        {"a mode that was asked for", 0644, 0700, 0700},
        {"new", 0, 0, 0640},
        {"new with a mode", 0, 0755, 0755},
        {"new with a narrow mode", 0, 0600, 0600},
    };
    mode_t umask_before = umask(0027);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].name);
        AUTO_FIXTURE struct fixture f = fixture_new();
        struct writer_options options = {.set_mode = rows[i].set != 0, .mode = rows[i].set};
        const char *path = test_path("root/%zu", i);
        char rel[8];
        snprintf(rel, sizeof(rel), "%zu", i);
        if (rows[i].before)
            tree_file(path, "old", rows[i].before);
        CHECK_OK(writer_put(f.w, str_z(rel), STR("new"), &options, &f.err), &f.err);
        CHECK_OK(writer_commit(f.w, &f.result, &f.err), &f.err);
        CHECK_INT(mode_of(path), rows[i].after);
        check_file(path, "new");
    }
    umask(umask_before);
    nothing_left();
}

TEST(writer_keeps_line_ends)
{
    static const struct {
        const char *name, *old, *new, *after;
        bool keep;
    } rows[] = {
        {"all CRLF", "a\r\nb\r\n", "a\nc\n", "a\r\nc\r\n", true},
        {"no doubling", "a\r\nb\r\n", "a\r\nc\n\r\n", "a\r\nc\r\n\r\n", true},
        {"no last end", "a\r\nb", "a\nc", "a\r\nc", true},
        {"a lone CR stays", "a\r\n", "x\ry\n", "x\ry\r\n", true},
        {"mixed", "a\r\nb\n", "a\nc\n", "a\nc\n", true},
        {"LF", "a\nb\n", "a\r\nc\n", "a\r\nc\n", true},
        {"no line at all", "a", "b\n", "b\n", true},
        {"not asked for", "a\r\n", "b\n", "b\n", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].name);
        AUTO_FIXTURE struct fixture f = fixture_new();
        struct writer_options options = {.keep_eol = rows[i].keep};
        tree_file(test_path("root/f"), rows[i].old, 0644);
        CHECK_OK(writer_put(f.w, STR("f"), str_z(rows[i].new), &options, &f.err), &f.err);
        if (!CHECK_OK(writer_commit(f.w, &f.result, &f.err), &f.err))
            continue;
        check_file(test_path("root/f"), rows[i].after);
        CHECK_INT(f.result.files[0].bytes_written, strlen(rows[i].after));
    }
}

TEST(writer_keeps_line_ends_across_chunks)
{
    enum {
        LINES = 50000,
    };
    AUTO_FIXTURE struct fixture f = fixture_new();
    AUTO_FREE char *lines = base_alloc(4 * LINES + 1);
    for (size_t i = 0; i < LINES; i++)
        memcpy(lines + 4 * i, i % 3 ? "abc\n" : "ab\r\n", 4);
    lines[4 * LINES] = '\0';
    tree_file(test_path("root/f"), "x\r\n", 0644);
    struct writer_options options = {.keep_eol = true};
    CHECK_OK(writer_put(f.w, STR("f"), str_z(lines), &options, &f.err), &f.err);
    CHECK_OK(writer_commit(f.w, &f.result, &f.err), &f.err);
    AUTO_FREE char *now = test_read(test_path("root/f"));
    size_t bare = 0, n = strlen(now);
    for (size_t i = 0; i < n; i++)
        bare += now[i] == '\n' && (i == 0 || now[i - 1] != '\r');
    CHECK_INT(bare, 0);
    CHECK_INT(n, 4 * LINES + LINES - (LINES + 2) / 3);
}

TEST(writer_keeps_attributes_and_breaks_hard_links)
{
    const char *path = test_path("root/f");
    char value[16] = "";
    tree_file(path, "old", 0644);
    bool has = tree_set_xattr(path, "user.note", "mine");
    BUG_ON(link(path, test_path("root/other")) != 0);
    AUTO_FIXTURE struct fixture f = fixture_new();
    CHECK_OK(writer_put(f.w, STR("f"), STR("new"), NULL, &f.err), &f.err);
    CHECK_OK(writer_commit(f.w, &f.result, &f.err), &f.err);
    check_file(path, "new");
    check_file(test_path("root/other"), "old");
    if (has) {
        CHECK_INT(getxattr(path, "user.note", value, sizeof(value)), 4);
        CHECK_Z(value, "mine");
    }
    nothing_left();
}

TEST(writer_keeps_the_owner)
{
    struct stat st;
    const char *path = test_path("root/f");
    tree_file(path, "old", 0664);
    if (chown(path, 12345, 23456) != 0) {
        printf("# only root can give files away\n");
        return;
    }
    AUTO_FIXTURE struct fixture f = fixture_new();
    CHECK_OK(writer_put(f.w, STR("f"), STR("new"), NULL, &f.err), &f.err);
    CHECK_OK(writer_commit(f.w, &f.result, &f.err), &f.err);
    CHECK(stat(path, &st) == 0);
    CHECK_INT(st.st_uid, 12345);
    CHECK_INT(st.st_gid, 23456);
    CHECK_INT(st.st_mode & 07777, 0664);
    check_file(path, "new");
}

/* Another user's file that may be written, in a directory that may be written. */
static int act_owner(void *arg)
{
    (void)arg;
    if (setgid(65534) != 0 || setuid(65534) != 0)
        return 2;
    AUTO_FIXTURE struct fixture f = fixture_new();
    bool ok = CHECK_OK(writer_put(f.w, STR("f"), STR("new"), NULL, &f.err), &f.err) &&
              CHECK(!writer_commit(f.w, &f.result, &f.err)) &&
              CHECK_ERR(&f.err, E_IO, "cannot preserve the owner of 'f' (user 12345");
    return ok && nothing_left() ? 0 : 1;
}

TEST(writer_refuses_where_the_owner_cannot_be_kept)
{
    tree_file(test_path("root/f"), "old", 0666);
    if (chown(test_path("root/f"), 12345, 23456) != 0)
        return;
    BUG_ON(chmod(test_path("root"), 0777) != 0 || chmod(test_dir(), 0777) != 0);
    CHECK_INT(child_run(act_owner, NULL), 0);
    check_file(test_path("root/f"), "old");
}

TEST(writer_moves_attributes_of_the_file)
{
    char value[16] = "";
    tree_file(test_path("root/a"), "x\r\n", 0750);
    bool has = tree_set_xattr(test_path("root/a"), "user.note", "mine");
    tree_file(test_path("root/c"), "there", 0644);
    AUTO_FIXTURE struct fixture f = fixture_new();
    struct writer_options options = {.keep_eol = true};
    CHECK(!writer_move(f.w, STR("a"), STR("c"), STR("y\n"), &options, &f.err));
    CHECK_ERR(&f.err, E_CONFLICT, "'c' already exists");
    CHECK_OK(writer_move(f.w, STR("a"), STR("d/b"), STR("y\n"), &options, &f.err), &f.err);
    CHECK_OK(writer_commit(f.w, &f.result, &f.err), &f.err);
    CHECK_INT(f.result.n, 2);
    check_file(test_path("root/a"), NULL);
    check_file(test_path("root/d/b"), "y\r\n");
    CHECK_INT(mode_of(test_path("root/d/b")), 0750);
    CHECK(!has || getxattr(test_path("root/d/b"), "user.note", value, sizeof(value)) == 4);
    nothing_left();
}

TEST(writer_refuses_paths_that_are_not_plain)
{
    static const struct str rows[] = {
        STR(""),
        STR("/etc/passwd"),
        STR(".."),
        STR("../a"),
        STR("a/../b"),
        STR("a/.."),
        STR("."),
        STR("./a"),
        STR("a/./b"),
        STR("a/"),
        STR("a//b"),
        STR("a\0b"),
        STR("/"),
    };
    AUTO_FIXTURE struct fixture f = fixture_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].p);
        CHECK(!writer_put(f.w, rows[i], STR("x"), NULL, &f.err));
        CHECK_ERR(&f.err, E_FS_VIOLATION, "not a plain path");
        CHECK(!writer_remove(f.w, rows[i], NULL, &f.err));
        CHECK_ERR(&f.err, E_FS_VIOLATION, "not a plain path");
    }
    char longer[257];
    memset(longer, 'a', 256);
    CHECK(!writer_put(f.w, str_n(longer, 256), STR("x"), NULL, &f.err));
    CHECK_OK(writer_put(f.w, STR("v1..alpha"), STR("x"), NULL, &f.err), &f.err);
}

TEST(writer_takes_any_name_that_a_file_can_have)
{
    char longest[256] = "";
    memset(longest, 'l', 255);
    const char *names[] = {"new\nline", "not \xff\xfe utf8", " blank ", "%41", longest, "-rf", "ü",
        ".cordon-0-0.tmp", "a\tb\\c\"d'"};
    for (int round = 0; round < 3; round++) {
        AUTO_FIXTURE struct fixture f = fixture_new();
        for (size_t i = 0; i < ARRAY_LEN(names); i++) {
            test_row(i, names[i]);
            struct str rel = str_z(names[i]);
            CHECK_OK(round == 2 ? writer_remove(f.w, rel, NULL, &f.err)
                                : writer_put(f.w, rel, str_z(round ? "two" : "one"), NULL, &f.err),
                &f.err);
        }
        CHECK_OK(writer_commit(f.w, &f.result, &f.err), &f.err);
        for (size_t i = 0; i < ARRAY_LEN(names); i++)
            check_file(test_path("root/%s", names[i]), round == 2 ? NULL : round ? "two" : "one");
    }
    AUTO_FREE char *root = tree_describe(test_path("root"));
    CHECK_Z(root, "");
}

static void make_kinds(void)
{
    tree_file(test_path("root/readonly"), "old", 0444);
    tree_file(test_path("root/none"), "old", 0000);
    tree_file(test_path("root/file"), "old", 0644);
    tree_file(test_path("root/dir/file"), "old", 0644);
    BUG_ON(symlink("file", test_path("root/link")) != 0);
    BUG_ON(symlink("dir", test_path("root/linkdir")) != 0);
    BUG_ON(symlink("/nowhere", test_path("root/dangling")) != 0);
    BUG_ON(mkfifo(test_path("root/fifo"), 0666) != 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", test_path("root/socket"));
    AUTO_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    BUG_ON(bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0);
}

TEST(writer_refuses_all_but_writable_regular_files)
{
    static const struct {
        const char *rel;
        enum err_code code;
        const char *part;
    } rows[] = {
        {"readonly", E_IO, "is read-only (mode 0444): make it writable first (chmod u+w)"},
        {"none", E_IO, "is read-only (mode 0000)"},
        {"dir", E_IO, "'dir' is a directory"},
        {"fifo", E_IO, "'fifo' is a named pipe"},
        {"socket", E_IO, "'socket' is a socket"},
        {"link", E_FS_VIOLATION, "'link' is a symbolic link"},
        {"dangling", E_FS_VIOLATION, "'dangling' is a symbolic link"},
        {"linkdir/file", E_FS_VIOLATION, "goes through a symbolic link"},
        {"linkdir/new", E_FS_VIOLATION, "goes through a symbolic link"},
        {"linkdir/new/newer", E_FS_VIOLATION, "goes through a symbolic link"},
        {"dangling/x", E_FS_VIOLATION, "goes through a symbolic link"},
        {"file/below", E_IO, "a parent of 'file/below' is not a directory"},
    };
    make_kinds();
    AUTO_FREE char *before = tree_describe(test_path("root"));
    AUTO_FIXTURE struct fixture f = fixture_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].rel);
        CHECK(!writer_put(f.w, str_z(rows[i].rel), STR("x"), NULL, &f.err));
        CHECK_ERR(&f.err, rows[i].code, rows[i].part);
        CHECK(!writer_remove(f.w, str_z(rows[i].rel), NULL, &f.err));
        CHECK_ERR(&f.err, rows[i].code, rows[i].part);
    }
    CHECK_OK(writer_commit(f.w, &f.result, &f.err), &f.err);
    AUTO_FREE char *after = tree_describe(test_path("root"));
    CHECK_Z(after, before);
    nothing_left();
}

TEST(writer_refuses_a_device)
{
    if (mknod(test_path("device"), S_IFCHR | 0666, 0x103) != 0)
        return;
    AUTO_FIXTURE struct fixture f = fixture_new();
    BUG_ON(rename(test_path("device"), test_path("root/device")) != 0);
    CHECK(!writer_put(f.w, STR("device"), STR("x"), NULL, &f.err));
    CHECK_ERR(&f.err, E_IO, "'device' is a device");
}

TEST(writer_refuses_contradictory_changes)
{
    struct writer_options must = {.must_exist = true}, must_not = {.must_not_exist = true};
    tree_file(test_path("root/a"), "old", 0644);
    AUTO_FIXTURE struct fixture f = fixture_new();
    CHECK(!writer_put(f.w, STR("b"), STR("x"), &must, &f.err));
    CHECK_ERR(&f.err, E_CONFLICT, "'b' does not exist");
    CHECK(!writer_put(f.w, STR("no/b"), STR("x"), &must, &f.err));
    CHECK_ERR(&f.err, E_CONFLICT, "'no/b' does not exist");
    CHECK(!writer_remove(f.w, STR("b"), NULL, &f.err));
    CHECK_ERR(&f.err, E_CONFLICT, "'b' does not exist");
    CHECK(!writer_put(f.w, STR("a"), STR("x"), &must_not, &f.err));
    CHECK_ERR(&f.err, E_CONFLICT, "'a' already exists");
    CHECK_OK(writer_put(f.w, STR("n"), STR("x"), NULL, &f.err), &f.err);
    CHECK(!writer_put(f.w, STR("n"), STR("y"), NULL, &f.err));
    CHECK_ERR(&f.err, E_CONFLICT, "'n' is already in this change");
    CHECK_OK(writer_put(f.w, STR("n-o"), STR("x"), NULL, &f.err), &f.err);
    CHECK_OK(writer_put(f.w, STR("n/m"), STR("x"), NULL, &f.err), &f.err);
    CHECK(!writer_commit(f.w, &f.result, &f.err));
    CHECK_ERR(&f.err, E_CONFLICT, "'n' cannot be both a file and a directory");
    check_file(test_path("root/n-o"), NULL);
    nothing_left();
}

TEST(writer_has_limits)
{
    AUTO_FIXTURE struct fixture f = fixture_new();
    struct str huge = str_n("", WRITER_MAX_BYTES + 1);
    CHECK(!writer_put(f.w, STR("big"), huge, NULL, &f.err));
    CHECK_ERR(&f.err, E_IO, "more than 1073741824 bytes");
    for (int i = 0; i < WRITER_MAX_FILES; i++) {
        char rel[16];
        snprintf(rel, sizeof(rel), "f%d", i);
        BUG_ON(!writer_put(f.w, str_z(rel), STR("x"), NULL, &f.err));
    }
    CHECK(!writer_put(f.w, STR("one too many"), STR("x"), NULL, &f.err));
    CHECK_ERR(&f.err, E_IO, "more than 10000 files");
    writer_allow_many(f.w);
    CHECK(writer_put(f.w, STR("one more"), STR("x"), NULL, &f.err));
}

enum {
    DEPTH = 1900,
    CHAINS = 6,
};

/* Nested directories until a path can't be much longer; returns the deepest. */
static int make_chain(int root_fd, const char *name)
{
    int at = dup(root_fd);
    for (int i = 0; i < DEPTH; i++) {
        BUG_ON(mkdirat(at, i == 0 ? name : "a", 0777) != 0);
        int below = openat(at, i == 0 ? name : "a", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        BUG_ON(below < 0);
        close(at);
        at = below;
    }
    return at;
}

/* From the bottom up, step by step: by path, each step would resolve all of it. */
static void drop_chain(int at, const char *name)
{
    unlinkat(at, "new/f", 0);
    unlinkat(at, "new", AT_REMOVEDIR);
    for (int i = DEPTH; i-- > 0;) {
        int above = openat(at, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        BUG_ON(above < 0 || unlinkat(above, i == 0 ? name : "a", AT_REMOVEDIR) != 0);
        close(at);
        at = above;
    }
    close(at);
}

/* In a child, whose memory is not yet used up by other tests. */
static int act_far_down(void *arg)
{
    AUTO_FIXTURE struct fixture f = {.root_fd = tree_open(arg)};
    struct rusage before, after;
    char rel[2 * DEPTH + 20];
    static const char *const names[CHAINS] = {"a", "b", "c", "d", "e", "f"};
    int fds[CHAINS];
    BUG_ON(!writer_new(f.root_fd, test_path("home/journal"), &f.w, &f.err));
    memset(rel, 'a', sizeof(rel));
    for (size_t i = 1; i < sizeof(rel); i += 2)
        rel[i] = '/';
    BUG_ON(getrusage(RUSAGE_SELF, &before) != 0);
    for (int i = 0; i < CHAINS; i++) {
        fds[i] = make_chain(f.root_fd, names[i]);
        rel[0] = names[i][0];
        int n = 2 * DEPTH + snprintf(rel + 2 * DEPTH, 20, "new/f");
        CHECK_OK(writer_put(f.w, str_n(rel, (size_t)n), STR("x"), NULL, &f.err), &f.err);
    }
    bool ok = CHECK_OK(writer_commit(f.w, &f.result, &f.err), &f.err);
    BUG_ON(getrusage(RUSAGE_SELF, &after) != 0);
    ok = CHECK(after.ru_maxrss - before.ru_maxrss < 10 * 1024) && ok;
    for (int i = 0; i < CHAINS; i++) {
        ok = CHECK(faccessat(fds[i], "new/f", F_OK, 0) == 0) && ok;
        drop_chain(fds[i], names[i]);
    }
    return ok ? 0 : 1;
}

/* Copying the path of each directory on the way would take 20 MB here. */
TEST(writer_far_down_creates_only_missing_directories)
{
    char dir[300] = "/dev/shm/cordon-deep-XXXXXX"; /* in memory if possible: thousands of them */
    if (!mkdtemp(dir)) {
        snprintf(dir, sizeof(dir), "%s", test_path("root"));
        BUG_ON(mkdir(dir, 0777) != 0);
    }
    test_dir();
    CHECK_INT(child_run(act_far_down, dir), 0);
    rmdir(dir);
}

/* Changes two files, one of which is touched between writer_put() and the commit. */
static void check_touched(const char *name, void (*touch)(void), const char *part)
{
    AUTO_FREE char *before = NULL;
    test_row(0, name);
    tree_remove(test_path("root"));
    tree_file(test_path("root/a"), "old a", 0644);
    tree_file(test_path("root/m"), "old m", 0644);
    tree_file(test_path("root/z"), "old z", 0644);
    AUTO_FIXTURE struct fixture f = fixture_new();
    CHECK_OK(writer_put(f.w, STR("a"), STR("new a"), NULL, &f.err), &f.err);
    CHECK_OK(writer_put(f.w, STR("d/e/new"), STR("new"), NULL, &f.err), &f.err);
    CHECK_OK(writer_put(f.w, STR("m"), STR("new m"), NULL, &f.err), &f.err);
    CHECK_OK(writer_remove(f.w, STR("z"), NULL, &f.err), &f.err);
    touch();
    before = tree_describe(test_path("root"));
    CHECK(!writer_commit(f.w, &f.result, &f.err));
    CHECK_ERR(&f.err, E_CONFLICT, part);
    AUTO_FREE char *after = tree_describe(test_path("root"));
    CHECK_Z(after, before);
    nothing_left();
}

static void touch_write(void)
{
    tree_file(test_path("root/m"), "user's m", 0644);
}

static void touch_replace(void)
{
    tree_file(test_path("root/t"), "old m", 0644);
    BUG_ON(rename(test_path("root/t"), test_path("root/m")) != 0);
}

static void touch_delete(void)
{
    BUG_ON(unlink(test_path("root/m")) != 0);
}

static void touch_victim(void)
{
    tree_file(test_path("root/z"), "user's z", 0644);
}

static void touch_victim_gone(void)
{
    BUG_ON(unlink(test_path("root/z")) != 0);
}

static void touch_create(void)
{
    tree_file(test_path("root/d/e/new"), "user's", 0644);
}

static void touch_link(void)
{
    BUG_ON(unlink(test_path("root/m")) != 0);
    BUG_ON(symlink("/etc/passwd", test_path("root/m")) != 0);
}

static void touch_mode(void)
{
    BUG_ON(chmod(test_path("root/m"), 0600) != 0);
}

static void touch_protect(void)
{
    BUG_ON(chmod(test_path("root/m"), 0444) != 0);
}

static void touch_protect_victim(void)
{
    BUG_ON(chmod(test_path("root/z"), 0444) != 0);
}

static void touch_owner(void)
{
    if (chown(test_path("root/m"), 12345, 12345) != 0)
        touch_mode(); /* only root can give files away */
}

TEST(writer_detects_changes_by_others)
{
    check_touched("mode", touch_mode, "'m' was changed in the meantime");
    check_touched("owner", touch_owner, "'m' was changed in the meantime");
    check_touched("read-only", touch_protect, "'m' was changed in the meantime");
    check_touched(
        "the victim is read-only", touch_protect_victim, "'z' was changed in the meantime");
    check_touched("written", touch_write, "'m' was changed in the meantime");
    check_touched("replaced", touch_replace, "'m' was changed in the meantime");
    check_touched("deleted", touch_delete, "'m' was changed in the meantime");
    check_touched("a link", touch_link, "'m' was changed in the meantime");
    check_touched("the victim", touch_victim, "'z' was changed in the meantime");
    check_touched("the victim is gone", touch_victim_gone, "'z' no longer exists");
    check_touched("created", touch_create, "'d/e/new' was created in the meantime");
}

/* The only directory of a change disappears before the commit: nothing was created, and nothing
 * stays. */
TEST(writer_whose_directory_was_deleted_leaves_nothing)
{
    tree_file(test_path("root/d/a"), "old", 0644);
    AUTO_FIXTURE struct fixture f = fixture_new();
    CHECK_OK(writer_put(f.w, STR("d/a"), STR("new"), NULL, &f.err), &f.err);
    tree_remove(test_path("root/d"));
    CHECK(!writer_commit(f.w, &f.result, &f.err));
    CHECK_ERR(&f.err, E_CONFLICT, "the directory of 'd/a' no longer exists");
    CHECK(!strstr(f.err.message, "undone"));
    nothing_left();
}

TEST(writer_expects_the_contents_that_were_read)
{
    struct stat st;
    tree_file(test_path("root/a"), "old", 0644);
    AUTO_FIXTURE struct fixture f = fixture_new();
    BUG_ON(stat(test_path("root/a"), &st) != 0);
    struct stamp read = stamp_of(&st), other = read;
    other.size++;
    struct writer_options good = {.expect = &read}, bad = {.expect = &other};
    CHECK(!writer_put(f.w, STR("a"), STR("new"), &bad, &f.err));
    CHECK_ERR(&f.err, E_CONFLICT, "'a' was changed in the meantime");
    CHECK(!writer_put(f.w, STR("b"), STR("new"), &good, &f.err));
    CHECK_ERR(&f.err, E_CONFLICT, "'b' does not exist");
    CHECK(!writer_remove(f.w, STR("a"), &other, &f.err));
    CHECK_ERR(&f.err, E_CONFLICT, "'a' was changed in the meantime");
    CHECK_OK(writer_put(f.w, STR("a"), STR("new"), &good, &f.err), &f.err);
    CHECK_OK(writer_commit(f.w, &f.result, &f.err), &f.err);
    check_file(test_path("root/a"), "new");
}

TEST(writer_needs_a_journal)
{
    tree_file(test_path("root/a"), "old", 0644);
    test_write(test_path("home"), "a file");
    AUTO_FIXTURE struct fixture f = fixture_new();
    CHECK_OK(writer_put(f.w, STR("a"), STR("new"), NULL, &f.err), &f.err);
    CHECK_OK(writer_put(f.w, STR("n/b"), STR("new"), NULL, &f.err), &f.err);
    CHECK(!writer_commit(f.w, &f.result, &f.err));
    CHECK_ERR(&f.err, E_IO, "journal");
    AUTO_FREE char *root = tree_describe(test_path("root"));
    CHECK_Z(root, "a 100644 [old]\n");
    check_file(test_path("home"), "a file");
}

/* More files than one thread handles: all of them, or, if one of the last was changed, none. */
TEST(writer_with_hundreds_of_files)
{
    enum {
        FILES = 300
    };
    static const bool disturbed[] = {false, true};
    for (size_t k = 0; k < ARRAY_LEN(disturbed); k++) {
        char rel[40], path[80];
        test_row(k, disturbed[k] ? "one is changed" : "none is changed");
        AUTO_FIXTURE struct fixture f = fixture_new();
        for (int i = 0; i < FILES; i++) {
            snprintf(rel, sizeof(rel), "d%d/f%d", i / 10, i);
            snprintf(path, sizeof(path), "root/%s", rel);
            tree_file(test_path("%s", path), "old", 0640);
            CHECK_OK(writer_put(f.w, str_z(rel), STR("the new text"), NULL, &f.err), &f.err);
        }
        AUTO_FREE char *before = NULL;
        if (disturbed[k])
            tree_file(test_path("root/d9/f99"), "somebody else's", 0640);
        before = tree_describe(test_path("root"));
        CHECK_INT(writer_commit(f.w, &f.result, &f.err), !disturbed[k]);
        AUTO_FREE char *after = tree_describe(test_path("root"));
        if (disturbed[k])
            CHECK_ERR(&f.err, E_CONFLICT, "'d9/f99' was changed in the meantime");
        CHECK_INT(strcmp(before, after) == 0, disturbed[k]);
        size_t n_new = 0;
        for (const char *at = after; (at = strstr(at, "the new text")); at++)
            n_new++;
        CHECK_INT(n_new, disturbed[k] ? 0 : FILES);
        CHECK_INT(mode_of(test_path("root/d0/f0")), 0640);
        nothing_left();
    }
}

static struct stamp stamp_at(const char *path)
{
    struct stat st;
    BUG_ON(lstat(path, &st) != 0);
    return stamp_of(&st);
}

/* Symlinks that the caller knows of: created, replaced, removed, and never followed. */
TEST(writer_changes_links_themselves)
{
    char target[16] = "";
    tree_file(test_path("root/file"), "was", 0644);
    tree_file(test_path("root/behind"), "kept", 0644);
    static const char *const names[] = {"gone", "to-file", "to-link"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        BUG_ON(symlink("behind", test_path("root/%s", names[i])) != 0);
    AUTO_FIXTURE struct fixture f = fixture_new();
    struct stamp gone = stamp_at(test_path("root/gone"));
    struct stamp to_file = stamp_at(test_path("root/to-file"));
    struct stamp to_link = stamp_at(test_path("root/to-link"));
    struct stamp file = stamp_at(test_path("root/file"));
    CHECK_OK(writer_remove(f.w, STR("gone"), &gone, &f.err), &f.err);
    CHECK_OK(writer_put(f.w, STR("to-file"), STR("is"),
                 &(struct writer_options){.expect = &to_file}, &f.err),
        &f.err);
    CHECK_OK(writer_put(f.w, STR("to-link"), STR("new"),
                 &(struct writer_options){.expect = &to_link, .link = true}, &f.err),
        &f.err);
    CHECK_OK(writer_put(f.w, STR("file"), STR("x"),
                 &(struct writer_options){.expect = &file, .link = true}, &f.err),
        &f.err);
    CHECK_OK(writer_put(f.w, STR("d/made"), STR("y"),
                 &(struct writer_options){.link = true, .must_not_exist = true}, &f.err),
        &f.err);
    if (!CHECK_OK(writer_commit(f.w, &f.result, &f.err), &f.err))
        return;
    CHECK(access(test_path("root/gone"), F_OK) != 0);
    check_file(test_path("root/behind"), "kept");
    CHECK(S_ISREG(stamp_at(test_path("root/to-file")).mode));
    check_file(test_path("root/to-file"), "is");
    static const struct {
        const char *name, *target;
    } links[] = {{"to-link", "new"}, {"file", "x"}, {"d/made", "y"}};
    for (size_t i = 0; i < ARRAY_LEN(links); i++) {
        test_row(i, links[i].name);
        memset(target, 0, sizeof(target));
        CHECK(readlink(test_path("root/%s", links[i].name), target, sizeof(target) - 1) > 0);
        CHECK_Z(target, links[i].target);
    }
    nothing_left();
}

TEST(writer_refuses_links_that_can_not_be)
{
    tree_file(test_path("root/file"), "was", 0644);
    BUG_ON(symlink("file", test_path("root/link")) != 0);
    AUTO_FIXTURE struct fixture f = fixture_new();
    struct writer_options link = {.link = true};
    struct stamp file = stamp_at(test_path("root/file"));
    CHECK(!writer_put(f.w, STR("new"), STR(""), &link, &f.err));
    CHECK_ERR(&f.err, E_IO, "invalid target for the link 'new'");
    CHECK(!writer_put(f.w, STR("new"), STR("a\0b"), &link, &f.err));
    /* A stamp of a file is not one of a symlink. */
    CHECK(
        !writer_put(f.w, STR("link"), STR("x"), &(struct writer_options){.expect = &file}, &f.err));
    CHECK_ERR(&f.err, E_FS_VIOLATION, "is a symbolic link");
    CHECK(!writer_put(f.w, STR("link"), STR("x"), &link, &f.err));
    CHECK_ERR(&f.err, E_FS_VIOLATION, "is a symbolic link");
}
