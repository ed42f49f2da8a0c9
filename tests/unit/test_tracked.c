/* Git's index, as git itself writes it: files and submodules. */
#include "test.h"

#include "git_oracle.h"
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

/* Its bits name more shared entries than there are. */
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
