/* Ignore rules. Most of it is data: every tests/ignore/NAME.case is a tree with ignore files and
 * their meaning. Lines of a case:
 *
 *     # a comment                     file sub/.gitignore     the lines with '|' are its content
 *     |*.o                            exclude                 the same for info/exclude
 *     ignored a.o                     a file that is ignored
 *     kept sub/                       '/' at the end: a directory, here one that is not ignored
 *     own                             git is not asked in this case (it has no .cordonignore)
 *
 * %XX is a byte in hex, in contents and paths; every '|' line ends in a newline. Each case is also
 * checked against git, if it is installed: a case can't be wrong about git.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "cases.h"
#include "git_oracle.h"
#include "path/ignore.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

enum {
    ASKED_MAX = 200,
};

struct asked {
    char path[1024];
    bool is_dir, ignored;
};

struct ignore_case {
    char dir[512];
    char file[1100]; /* that '|' lines are added to */
    struct asked asked[ASKED_MAX];
    size_t n;
    bool own;
};

static int hex_value(char c)
{
    const char *digits = "0123456789ABCDEF", *at = strchr(digits, c);
    return c && at ? (int)(at - digits) : -1;
}

static void decode(struct str text, struct buf *out)
{
    for (size_t i = 0; i < text.n; i++) {
        bool escape = text.p[i] == '%' && i + 2 < text.n;
        int high = escape ? hex_value(text.p[i + 1]) : -1;
        int low = escape ? hex_value(text.p[i + 2]) : -1;
        if (high >= 0 && low >= 0) {
            buf_add_byte(out, (char)(high * 16 + low));
            i += 2;
        } else {
            buf_add_byte(out, text.p[i]);
        }
    }
}

static void append_line(struct ignore_case *c, struct str text)
{
    AUTO_BUF struct buf line = BUF_INIT(64 * 1024);
    decode(text, &line);
    buf_add_byte(&line, '\n');
    AUTO_FD int fd = open(c->file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    BUG_ON(fd < 0 || write(fd, line.p, line.n) != (ssize_t)line.n);
}

static void start_file(struct ignore_case *c, struct str name)
{
    snprintf(c->file, sizeof(c->file), "%s/" STR_FMT, c->dir, STR_ARG(name));
    test_write(c->file, "");
}

/* Creates the path in question, since the type of an entry counts. */
static void make_entry(const struct ignore_case *c, const struct asked *asked)
{
    AUTO_BUF struct buf path = BUF_INIT(4096);
    buf_printf(&path, "%s/%s", c->dir, asked->path);
    struct stat st;
    if (asked->is_dir) {
        buf_add_z(&path, "/.made");
        test_write(buf_z(&path), "");
    } else if (lstat(buf_z(&path), &st) != 0) {
        test_write(buf_z(&path), "");
    }
}

static void add_asked(struct ignore_case *c, struct str path, bool ignored)
{
    BUG_ON(c->n == ASKED_MAX);
    struct asked *asked = &c->asked[c->n++];
    asked->is_dir = str_ends_with(path, STR("/"));
    asked->ignored = ignored;
    AUTO_BUF struct buf b = BUF_INIT(sizeof(asked->path) - 1);
    decode(str_trim_end(path, '/'), &b);
    BUG_ON(!buf_ok(&b));
    snprintf(asked->path, sizeof(asked->path), "%s", buf_z(&b));
    make_entry(c, asked);
}

static bool read_line(struct ignore_case *c, struct str line)
{
    if (line.n == 0 || line.p[0] == '#')
        return true;
    if (line.p[0] == '|')
        append_line(c, str_skip(line, 1));
    else if (str_starts_with(line, STR("file ")))
        start_file(c, str_skip(line, 5));
    else if (str_is(line, "exclude"))
        start_file(c, STR(".git/info/exclude"));
    else if (str_is(line, "own"))
        c->own = true;
    else if (str_starts_with(line, STR("ignored ")))
        add_asked(c, str_skip(line, 8), true);
    else if (str_starts_with(line, STR("kept ")))
        add_asked(c, str_skip(line, 5), false);
    else
        return CHECK_STR(line, STR("a line of a case"));
    return true;
}

static void check_with_git(const struct ignore_case *c)
{
    AUTO_BUF struct buf paths = BUF_INIT(1 << 20);
    bool ignored[ASKED_MAX];
    for (size_t i = 0; i < c->n; i++)
        buf_add(&paths, c->asked[i].path, strlen(c->asked[i].path) + 1);
    git_oracle_ask(c->dir, buf_str(&paths), c->n, ignored);
    for (size_t i = 0; i < c->n; i++)
        if (ignored[i] != c->asked[i].ignored)
            CHECK_Z(c->asked[i].path, "as git says");
}

static void check_case(struct ignore_case *c)
{
    AUTO_ERR struct err err = {0};
    AUTO_IGNORE struct ignore *ig = NULL;
    AUTO_FD int fd = open(c->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (!CHECK_OK(ignore_open(fd, &ig, &err), &err))
        return;
    for (size_t i = 0; i < c->n; i++) {
        struct asked *asked = &c->asked[i];
        bool ignored = false;
        CHECK_OK(ignore_path(ig, str_z(asked->path), asked->is_dir, &ignored, &err), &err);
        if (ignored != asked->ignored)
            CHECK_Z(asked->path, asked->ignored ? "ignored" : "kept");
    }
    if (!c->own)
        check_with_git(c);
}

static void run_case(void *context, struct str title, struct str text)
{
    size_t *index = context;
    AUTO_FREE struct ignore_case *c = base_alloc(sizeof(*c));
    struct str line, rest = text;
    (void)title;
    snprintf(c->dir, sizeof(c->dir), "%s", test_path("case-%zu", (*index)++));
    BUG_ON(mkdir(c->dir, 0777) != 0);
    CHECK(git_oracle_init(c->dir));
    while (str_cut(rest, '\n', &line, &rest))
        if (!read_line(c, line))
            return;
    CHECK(c->n > 0);
    check_case(c);
}

TEST(ignore_cases)
{
    size_t index = 0;
    CHECK(cases_run("ignore/*.case", run_case, &index) > 10);
}

static bool is_ignored(const char *root, const char *path, bool is_dir)
{
    AUTO_ERR struct err err = {0};
    AUTO_IGNORE struct ignore *ig = NULL;
    AUTO_FD int fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool ignored = false;
    CHECK_OK(ignore_open(fd, &ig, &err), &err);
    if (ig)
        CHECK_OK(ignore_path(ig, str_z(path), is_dir, &ignored, &err), &err);
    return ignored;
}

TEST(ignore_files_above_the_root)
{
    test_write(test_path("top/.git/info/exclude"), "excluded\n");
    test_write(test_path("top/.gitignore"), "*.o\n/sub/root/anchored\n/anchored\n");
    test_write(test_path("top/sub/.gitignore"), "from-sub\n!special.o\n");
    test_write(test_path("top/sub/.cordonignore"), "own\n");
    test_write(test_path("top/sub/root/.gitignore"), "local\n");
    const char *root = test_path("top/sub/root");
    CHECK(is_ignored(root, "a.o", false));
    CHECK(is_ignored(root, "deep/down/a.o", false));
    CHECK(is_ignored(root, "anchored", false));
    CHECK(!is_ignored(root, "deep/anchored", false));
    CHECK(is_ignored(root, "from-sub", false));
    CHECK(is_ignored(root, "own/file", false));
    CHECK(!is_ignored(root, "special.o", false));
    CHECK(is_ignored(root, "local", false));
    CHECK(is_ignored(root, "excluded", false));
    CHECK(!is_ignored(root, "other", false));
}

TEST(ignore_without_git_starts_at_the_root)
{
    test_write(test_path(".gitignore"), "from-above\n");
    test_write(test_path("root/.gitignore"), "here\n");
    CHECK(is_ignored(test_path("root"), "here", false));
    CHECK(is_ignored(test_path("root"), "sub/here", false));
    CHECK(!is_ignored(test_path("root"), "from-above", false));
}

/* A workspace that the project hides from git is not empty for its own users. */
TEST(ignore_root_that_is_itself_ignored)
{
    test_write(test_path("top/.git/HEAD"), "");
    test_write(test_path("top/.gitignore"), "*.o\n");
    test_write(test_path("top/hidden/.gitignore"), "*\n");
    test_write(test_path("top/hidden/work/.gitignore"), "local\n");
    CHECK(!is_ignored(test_path("top/hidden/work"), "file", false));
    CHECK(!is_ignored(test_path("top/hidden/work"), "a.o", false));
    CHECK(is_ignored(test_path("top/hidden/work"), "local", false));
    CHECK(is_ignored(test_path("top"), "hidden/work/file", false));
}

TEST(ignore_git_file_leads_to_the_common_directory)
{
    test_write(test_path("main/.git/info/exclude"), "excluded\n");
    test_write(test_path("main/.git/worktrees/w/commondir"), "../..\n");
    AUTO_BUF struct buf b = BUF_INIT(4096);
    buf_printf(&b, "gitdir: %s\n", test_path("main/.git/worktrees/w"));
    test_write(test_path("w/.git"), buf_z(&b));
    test_write(test_path("relative/.git"), "gitdir: ../main/.git/worktrees/w");
    test_write(test_path("nowhere/.git"), "gitdir: /nonexistent/gitdir\n");
    test_write(test_path("nowhere/.gitignore"), "local\n");
    test_write(test_path("nonsense/.git"), "hello\n");
    CHECK(is_ignored(test_path("w"), "sub/excluded", false));
    CHECK(is_ignored(test_path("relative"), "excluded", false));
    CHECK(!is_ignored(test_path("nowhere"), "excluded", false));
    CHECK(is_ignored(test_path("nowhere"), "local", false));
    CHECK(!is_ignored(test_path("nonsense"), "excluded", false));
}

TEST(ignore_file_that_is_a_link_is_not_read)
{
    test_write(test_path("rules"), "*\n");
    test_write(test_path("root/dir/.gitignore/file"), "");
    BUG_ON(symlink("../rules", test_path("root/.gitignore")) != 0);
    BUG_ON(mkfifo(test_path("root/.cordonignore"), 0600) != 0);
    CHECK(!is_ignored(test_path("root"), "file", false));
    CHECK(!is_ignored(test_path("root"), "dir/file", false));
}

static void check_fails(const char *root, const char *path, const char *part)
{
    AUTO_ERR struct err err = {0};
    AUTO_IGNORE struct ignore *ig = NULL;
    AUTO_FD int fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool ignored = false;
    CHECK_OK(ignore_open(fd, &ig, &err), &err);
    CHECK(!ignore_path(ig, str_z(path), false, &ignored, &err));
    CHECK_ERR(&err, E_IO, part);
}

/* Continuing without rules would show files that are meant to be hidden. */
TEST(ignore_file_that_cannot_be_used_is_an_error)
{
    test_write(test_path("big/sub/.gitignore"), "a\n");
    BUG_ON(truncate(test_path("big/sub/.gitignore"), RULES_FILE_MAX + 1) != 0);
    check_fails(test_path("big"), "sub/file", "sub/.gitignore");

    AUTO_BUF struct buf many = BUF_INIT(4 << 20);
    for (size_t i = 0; i <= RULES_COUNT_MAX; i++)
        buf_add_z(&many, "a\n");
    test_write(test_path("many/.gitignore"), buf_z(&many));
    check_fails(test_path("many"), "file", "more than 100000 rules");

    if (geteuid() != 0) {
        test_write(test_path("locked/.gitignore"), "a\n");
        BUG_ON(chmod(test_path("locked/.gitignore"), 0) != 0);
        check_fails(test_path("locked"), "file", ".gitignore");
    }
}

TEST(ignore_live_bytes_are_limited)
{
    AUTO_BUF struct buf path = BUF_INIT(4096);
    for (size_t i = 0; i < 17; i++) {
        AUTO_BUF struct buf file = BUF_INIT(4096);
        buf_printf(&file, "%s/%s.gitignore", test_dir(), buf_z(&path));
        test_write(buf_z(&file), "#");
        BUG_ON(truncate(buf_z(&file), RULES_FILE_MAX) != 0);
        buf_add_z(&path, "d/");
    }
    buf_add_z(&path, "file");
    check_fails(test_dir(), buf_z(&path), "of memory");
}

TEST(ignore_odd_paths)
{
    test_write(test_path(".gitignore"), "x\n");
    CHECK(is_ignored(test_dir(), "no/such/dir/x", false));
    CHECK(is_ignored(test_dir(), ".gitignore/x", false));
    AUTO_FREE char *longest = base_alloc(70000);
    memset(longest, 'a', 69990);
    for (size_t i = 1000; i < 69000; i += 1000)
        longest[i] = '/';
    memcpy(longest + 69990, "/x", 3);
    CHECK(is_ignored(test_dir(), longest, false));
}
