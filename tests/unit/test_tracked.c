/* Git's index, as git itself writes it: files and submodules. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "git_oracle.h"
#include "repo/gitname.h"
#include "repo/tracked.h"

#include <fcntl.h>

#define SHA  "1111111111111111111111111111111111111111"
#define LINK "update-index --add --cacheinfo 160000," SHA ","
#define GIT  " && GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null git "

/* One after the other, in an empty repository with the files a, sub2/b and z. */
static const struct {
    const char *name, *words, *paths, *links;
} rows[] = {
    {"nothing", "status -s >/dev/null", "", ""},
    {"files only", "add .", "a sub2/b z ", ""},
    {"version 2", "add ." GIT LINK "sub" GIT LINK "deep/er/sub", "a sub2/b z ", "deep/er/sub sub "},
    {"version 4", "add ." GIT LINK "sub" GIT LINK "suc" GIT "update-index --index-version 4",
        "a sub2/b z ", "sub suc "},
    {"blocks of entries",
        "config index.threads 3" GIT "config index.recordOffsetTable true" GIT
        "config index.recordEndOfIndexEntries true" GIT "add ." GIT LINK "sub" GIT
        "update-index --index-version 4",
        "a sub2/b z ", "sub "},
    {"split, link in the shared part", "add ." GIT LINK "sub" GIT "update-index --split-index",
        "a sub2/b z ", "sub "},
    {"split, link added since",
        "add ." GIT "update-index --split-index" GIT "-c splitIndex.maxPercentChange=100 " LINK
        "sub",
        "a sub2/b z ", "sub "},
    {"split, link removed since",
        "add ." GIT LINK "sub" GIT "update-index --split-index" GIT
        "-c splitIndex.maxPercentChange=100 update-index --force-remove sub",
        "a sub2/b z ", ""},
    {"split, file became a link since",
        "add ." GIT "update-index --split-index" GIT "-c splitIndex.maxPercentChange=100 " LINK "a",
        "sub2/b z ", "a "},
    {"split, link became a file since",
        "add ." GIT LINK "sub" GIT "update-index --split-index" GIT
        "-c splitIndex.maxPercentChange=100 update-index --add --cacheinfo 100644," SHA ",sub",
        "a sub sub2/b z ", ""},
    {"split, version 4",
        "add ." GIT "update-index --index-version 4 --split-index" GIT
        "-c splitIndex.maxPercentChange=100 " LINK "sub",
        "a sub2/b z ", "sub "},
};

static void check_list(const struct str *paths, size_t n, const char *want)
{
    AUTO_BUF struct buf got = BUF_INIT(4096);
    for (size_t i = 0; i < n; i++) {
        CHECK(paths[i].p[paths[i].n] == '\0');
        buf_add_str(&got, paths[i]);
        buf_add_byte(&got, ' ');
    }
    CHECK_Z(buf_z(&got), want);
}

TEST(tracked_has_files_and_links)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_TRACKED struct tracked t = {0};
        AUTO_ERR struct err err = {0};
        const char *dir = test_path("r%zu", i);
        test_row(i, rows[i].name);
        test_write(test_path("r%zu/a", i), "a");
        test_write(test_path("r%zu/sub2/b", i), "b");
        test_write(test_path("r%zu/z", i), "z");
        if (!git_oracle_init(dir)) {
            test_skip("git is not installed");
            return;
        }
        CHECK(git_oracle_run(dir, rows[i].words));
        AUTO_FD int fd = open(test_path("r%zu/.git", i), O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (!CHECK_OK(tracked_read(fd, &t, &err), &err))
            continue;
        check_list(t.paths, t.n, rows[i].paths);
        check_list(t.links, t.n_links, rows[i].links);
    }
}

/* Its bits name more shared entries than exist. */
TEST(tracked_refuses_a_split_index_with_gaps)
{
    AUTO_TRACKED struct tracked t = {0};
    AUTO_ERR struct err err = {0};
    const char *dir = test_path("r");
    test_write(test_path("r/a"), "a");
    if (!git_oracle_init(dir)) {
        test_skip("git is not installed");
        return;
    }
    CHECK(git_oracle_run(dir, "add ." GIT "update-index --split-index" GIT
                              "-c splitIndex.maxPercentChange=100 " LINK "a"));
    CHECK(git_oracle_run(dir, "read-tree --index-output=.git/none --empty; for f in "
                              ".git/sharedindex.*; do cp .git/none $f; done"));
    AUTO_FD int fd = open(test_path("r/.git"), O_PATH | O_DIRECTORY | O_CLOEXEC);
    CHECK(!tracked_read(fd, &t, &err));
    CHECK_ERR(&err, E_IO, "damaged");
}

static void add_number(struct buf *b, size_t n)
{
    for (int i = 0; i < 4; i++)
        buf_add_byte(b, (char)(n >> (24 - 8 * i)));
}

static void add_entry(struct buf *b, size_t mode, char name)
{
    static const char zero[24] = {0};
    buf_add(b, zero, 24);
    add_number(b, mode);
    buf_add(b, zero, 12);
    buf_add(b, SHA, 20);
    buf_add(b, "\0\1", 2);
    buf_add_byte(b, name);
    buf_add_byte(b, '\0');
}

static void add_extension(struct buf *b, const char *name, struct str content)
{
    buf_add(b, name, 4);
    add_number(b, content.n);
    buf_add_str(b, content);
}

/* A sequential reader sees two files; the threads of git see a submodule that is hidden in an
 * extension, or other extensions. */
TEST(tracked_refuses_an_index_of_two_lists)
{
    static const struct {
        const char *name;
        size_t second, n; /* the block: 0 is the correct place, otherwise bytes after the entries */
        size_t end;       /* too far, in bytes */
        const char *message;
    } lists[] = {
        {"honest", 0, 1, 0, NULL},
        {"entry in an extension", 8, 1, 0, "its entries do not match their offsets"},
        {"fewer entries", 0, 0, 0, "its entries do not match their offsets"},
        {"more entries", 0, 2, 0, "its entries do not match their offsets"},
        {"very many entries", 0, UINT32_MAX, 0, "its entries do not match their offsets"},
        {"other end", 0, 1, 8, "two end positions"},
    };
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        AUTO_BUF struct buf b = BUF_INIT(4096), hidden = BUF_INIT(4096), table = BUF_INIT(4096);
        AUTO_BUF struct buf end_at = BUF_INIT(4096);
        AUTO_TRACKED struct tracked t = {0};
        AUTO_ERR struct err err = {0};
        test_row(i, lists[i].name);
        buf_add(&b, "DIRC\0\0\0\2\0\0\0\2", 12);
        add_entry(&b, 0100644, 'a');
        size_t second = b.n;
        add_entry(&b, 0100644, 'b');
        size_t end = b.n;
        add_entry(&hidden, 0160000, 'b');
        add_extension(&b, "XXXX", buf_str(&hidden));
        add_number(&table, 1);
        add_number(&table, 12);
        add_number(&table, 1);
        add_number(&table, lists[i].second ? end + lists[i].second : second);
        add_number(&table, lists[i].n);
        add_extension(&b, "IEOT", buf_str(&table));
        add_number(&end_at, end + lists[i].end);
        buf_add(&end_at, SHA, 20);
        add_extension(&b, "EOIE", buf_str(&end_at));
        buf_add(&b, SHA, 20);
        CHECK_INT(tracked_parse(buf_str(&b), NULL, NULL, &t, &err), !lists[i].message);
        if (!lists[i].message)
            check_list(t.paths, t.n, "a b ");
        else
            CHECK_ERR(&err, E_IO, lists[i].message);
    }
}

/* The names that git's verify_path() refuses, with its options for all file systems on. */
TEST(names_that_git_refuses)
{
    static const struct {
        const char *name;
        bool directory, plain;
    } names[] = {
        {"a", false, true},
        {"a/.gitignore", false, true},
        {".gitmodules", false, true},
        {".github/x", false, true},
        {"a..b/...", false, true},
        {"git", false, true},
        {"git~10", false, true},
        {".gi\xe2\x80\x8cx", false, true},
        {"\xff\xfe/.gi", false, true},
        {"a\\b", false, true},
        {"a/", true, true},
        {"a/", false, false},
        {"a//", true, false},
        {"/", true, false},
        {"", false, false},
        {"/a", false, false},
        {"a//b", false, false},
        {".", false, false},
        {"a/./b", false, false},
        {"..", false, false},
        {"../a", false, false},
        {"a/../../b", false, false},
        {".git", false, false},
        {".git/", true, false},
        {"a/.git/hooks/x", false, false},
        {"a/.GiT", false, false},
        {"GIT~1/x", false, false},
        {".git./x", false, false},
        {".git . /x", false, false},
        {".git::$INDEX_ALLOCATION/x", false, false},
        {"a\\.git\\x", false, false},
        {".g\xe2\x80\x8cit/x", false, false},
        {"\xef\xbb\xbf.git", false, false},
        {".git\xc2\xad", false, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        test_row(i, names[i].name);
        CHECK_INT(gitname_is_plain(str_z(names[i].name), names[i].directory), names[i].plain);
    }
}
