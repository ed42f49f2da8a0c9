/* A submodule removed from git's index: git reads the new one, and can restore the entry. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "git_oracle.h"
#include "repo/gitlink.h"
#include "tree.h"

#include <fcntl.h>
#include <sys/stat.h>

#define GIT   " && GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null git "
#define SHA   "1111111111111111111111111111111111111111"
#define OTHER "2222222222222222222222222222222222222222"
#define EMPTY "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
#define LINK  "update-index --add --cacheinfo 160000," SHA ","
#define V4    GIT "update-index --index-version 4"
#define MANY                                                                                    \
    "status >/dev/null && mkdir $(seq -f d%g 400) && touch $(seq -f d%g/sub 400) $(seq -f f%g " \
    "400)"
/* Longer than the flags can express, and than two bytes of the variable form. */
#define LONG "$(printf 'x%.0s' $(seq 17000))"
#define MADE "-c user.name=n -c user.email=e commit -qm m"

/* In a repository with the files a, k/c, m/b and z. */
static const struct {
    const char *name, *words, *path;
    int dropped; /* entries */
    char version;
} rows[] = {
    {"no index", "status >/dev/null", "sub", 0, 0},
    {"not there", "add .", "sub", 0, 2},
    {"a file", "add .", "a", 0, 2},
    {"a directory", "add .", "m", 0, 2},
    {"first", "add ." GIT LINK "1", "1", 1, 2},
    {"middle", "add ." GIT LINK "sub", "sub", 1, 2},
    {"last", "add ." GIT LINK "zz", "zz", 1, 2},
    {"alone", LINK "sub", "sub", 1, 2},
    {"alone, version 4", LINK "sub" V4, "sub", 1, 4},
    {"one of two", "add ." GIT LINK "m/sub" GIT LINK "m/sub2", "m/sub", 1, 2},
    {"two of three", "add ." GIT LINK "m/a" GIT LINK "m/ba" GIT LINK "zz", "a|m/a|zz", 2, 2},
    {"version 4, two of three", "add ." GIT LINK "m/a" GIT LINK "m/ba" GIT LINK "zz" V4,
        "m/a|m/ba|q", 2, 4},
    {"many files", MANY GIT "add ." GIT LINK "d200/m", "d200/m", 1, 2},
    {"version 3", "add -N ." GIT LINK "sub", "sub", 1, 3},
    {"version 3, partly", "add a" GIT "add -N z" GIT LINK "m/sub", "m/sub", 1, 3},
    {"version 4, first", "add ." GIT LINK "1" V4, "1", 1, 4},
    {"version 4, middle", "add ." GIT LINK "m/ba" GIT LINK "m/bab" V4, "m/ba", 1, 4},
    {"version 4, last", "add ." GIT LINK "zz" V4, "zz", 1, 4},
    {"version 4, many files", MANY GIT "add ." GIT LINK "d200/sua" V4, "d200/sua", 1, 4},
    {"version 4, intent to add", "add -N ." GIT LINK "m/ba" V4, "m/ba", 1, 4},
    {"version 4, before a long name", "add ." GIT LINK "b" GIT LINK LONG V4, "b", 1, 4},
    {"version 4, behind a long name", "add ." GIT LINK LONG GIT LINK "y" V4, "y", 1, 4},
    {"version 2, beside a long name", "add ." GIT LINK LONG GIT LINK "y", "y", 1, 2},
    {"blocks of entries",
        MANY GIT "add ." GIT "config index.threads 3" GIT "config index.recordOffsetTable true" GIT
                 "config index.recordEndOfIndexEntries true" GIT LINK "d200/sua" V4,
        "d200/sua", 1, 4},
    {"a conflict of submodules",
        "add . && printf '160000 " SHA " %d\\tsub\\n' 1 2 3 | git update-index --index-info", "sub",
        3, 2},
    {"a conflict with a file",
        "add ." GIT "hash-object -w /dev/null >/dev/null && printf '%s %d\\tsub\\n' '100644 " EMPTY
        "' 1 '160000 " SHA "' 2 '160000 " OTHER "' 3 | git update-index --index-info" V4,
        "sub", 2, 4},
    {"cached trees", "add ." GIT LINK "sub" GIT MADE, "sub", 1, 2},
    {"untracked cache",
        "add ." GIT LINK "sub" GIT "update-index --force-untracked-cache" GIT
        "status -s >/dev/null",
        "sub", 1, 2},
    {"sparse", "add ." GIT LINK "sub" GIT MADE GIT "sparse-checkout set --cone --sparse-index k",
        "sub", 1, 3},
    {"a name in quotes", "add ." GIT LINK "'s\"u\\b\tx'", "s\"u\\b\tx", 1, 2},
    {"a name in UTF-8", "add ." GIT LINK "'s\303\274b'", "s\303\274b", 1, 2},
    {"a name with a blank", "add ." GIT LINK "'s b'", "s b", 1, 2},
};

static bool make(const char *name)
{
    test_write(test_path("%s/a", name), "a");
    test_write(test_path("%s/k/c", name), "c");
    test_write(test_path("%s/m/b", name), "b");
    test_write(test_path("%s/z", name), "z");
    if (git_oracle_init(test_path("%s", name)))
        return true;
    test_skip("git is not installed");
    return false;
}

static int open_git(const char *name)
{
    return open(test_path("%s/.git", name), O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static struct str read_whole(const char *path)
{
    static char bytes[1 << 20];
    AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, bytes, sizeof(bytes));
    BUG_ON(n < 0 || n == sizeof(bytes));
    return str_n(bytes, (size_t)n);
}

/* The parts of a text; sorted as they are there. */
static struct gitlink_paths split(struct str text, struct str words[4])
{
    struct gitlink_paths paths = {words, 0};
    while (paths.n < 4 && str_cut(text, '|', &words[paths.n], &text))
        paths.n++;
    return paths;
}

static bool drop_one(int fd, struct str path, bool *ret_dropped, struct err *err)
{
    struct str words[4];
    const struct gitlink_paths paths = split(path, words);
    return gitlink_drop(fd, &paths, ret_dropped, err);
}

static bool remove_one(
    struct str index, struct str path, struct buf *out, bool *ret_dropped, struct err *err)
{
    const struct gitlink_paths paths = {&path, 1};
    return gitlink_remove(index, &paths, out, ret_dropped, err);
}

/* The list of `ls-files -s -z` without these submodules. */
static int filter(struct str list, const char *path, struct buf *rest)
{
    struct str line, head, name, words[4];
    const struct gitlink_paths paths = split(str_z(path), words);
    int n = 0;
    while (str_cut(list, '\0', &line, &list)) {
        BUG_ON(!str_cut(line, '\t', &head, &name));
        bool gone = false;
        for (size_t i = 0; i < paths.n; i++)
            gone |= str_starts_with(head, STR("160000 ")) && str_eq(name, paths.p[i]);
        n += gone;
        if (gone)
            continue;
        buf_add_str(rest, line);
        buf_add_byte(rest, '\0');
    }
    return n;
}

static void check_git_takes_it(const char *dir)
{
    CHECK(git_oracle_run(dir, "status -s >/dev/null 2>&1")); /* it warns of long names */
    CHECK(git_oracle_run(dir, "diff --cached --raw >/dev/null 2>&1"));
    CHECK(git_oracle_run(dir, "fsck --no-progress >/dev/null 2>&1")); /* also checks the hash */
}

static void check_row(const char *dir, const char *name, size_t i)
{
    AUTO_BUF struct buf want = BUF_INIT(1 << 20);
    AUTO_ERR struct err err = {0};
    AUTO_FD int fd = open_git(name);
    const char *index = test_path("%s/.git/index", name);
    struct stat st;
    size_t n;
    bool dropped = rows[i].dropped == 0;
    CHECK(git_oracle_run(dir, rows[i].words));
    if (rows[i].version)
        CHECK_INT(chmod(index, 0640), 0);
    AUTO_FREE char *before = git_oracle_list(dir, "-s", &n);
    CHECK_INT(filter(str_n(before, n), rows[i].path, &want), rows[i].dropped);
    if (!CHECK_OK(drop_one(fd, str_z(rows[i].path), &dropped, &err), &err))
        return;
    CHECK_INT(dropped, rows[i].dropped > 0);
    CHECK(access(test_path("%s/.git/index.lock", name), F_OK) != 0);
    CHECK_INT(access(test_path("%s/.git/cordon-held", name), F_OK) == 0, dropped);
    if (rows[i].version) {
        CHECK(stat(index, &st) == 0 && (st.st_mode & 07777) == 0640);
        CHECK_INT(read_whole(index).p[7], rows[i].version);
    }
    size_t n_after, n_back;
    AUTO_FREE char *after = git_oracle_list(dir, "-s", &n_after);
    CHECK_STR(str_n(after, n_after), buf_str(&want));
    check_git_takes_it(dir);
    if (!dropped)
        return;
    CHECK(git_oracle_run(dir, "update-index --index-info <.git/cordon-held/gitlinks"));
    AUTO_FREE char *back = git_oracle_list(dir, "-s", &n_back);
    CHECK_STR(str_n(back, n_back), str_n(before, n));
}

TEST(gitlink_drop_matches_the_index_that_git_reads)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char name[32], dir[4096];
        test_row(i, rows[i].name);
        snprintf(name, sizeof(name), "r%zu", i);
        if (!make(name))
            return;
        snprintf(dir, sizeof(dir), "%s", test_path("%s", name));
        check_row(dir, name, i);
    }
}

/* In a repository with the submodule `sub`; afterwards nothing must have changed. */
static const struct {
    const char *name, *words;
    enum err_code code;
    const char *message;
} refused[] = {
    {"locked", "status && : >.git/index.lock", E_CONFLICT, "the index is locked"},
    {"locked by a link", "status && ln -s none .git/index.lock", E_CONFLICT, "the index is locked"},
    {"split", "update-index --split-index", E_CONFLICT, "is split"},
    {"a link", "status && mv .git/index .git/i && ln -s i .git/index", E_IO, "cannot read"},
    {"a pipe", "status && rm .git/index && mkfifo .git/index", E_IO, "not a regular file"},
    {"a directory", "status && rm .git/index && mkdir .git/index", E_IO, "not a regular file"},
    {"empty", "status && : >.git/index", E_IO, "has no valid header"},
};

TEST(gitlink_drop_leaves_all_as_it_was)
{
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        AUTO_ERR struct err err = {0};
        char name[32], words[4096];
        bool dropped = false;
        test_row(i, refused[i].name);
        snprintf(name, sizeof(name), "r%zu", i);
        if (!make(name))
            return;
        snprintf(words, sizeof(words), "add ." GIT LINK "sub && { git %s; } >/dev/null 2>&1",
            refused[i].words);
        CHECK(git_oracle_run(test_path("%s", name), words));
        AUTO_FD int fd = open_git(name);
        AUTO_FREE char *before = tree_describe(test_path("%s", name));
        CHECK(!drop_one(fd, STR("sub"), &dropped, &err));
        CHECK_ERR(&err, refused[i].code, refused[i].message);
        CHECK(!dropped);
        AUTO_FREE char *after = tree_describe(test_path("%s", name));
        CHECK_Z(after, before);
    }
}

/* A file at the place where the entry is kept is renamed, never followed or written. */
TEST(gitlink_drop_makes_its_place)
{
    static const char *const words[] = {
        "status && mkdir x && ln -s ../x .git/cordon-held",
        "status && : >.git/cordon-held",
        "status && mkdir .git/cordon-held && ln -s ../../a .git/cordon-held/gitlinks",
        "status && mkdir .git/cordon-held && ln a .git/cordon-held/gitlinks",
        "status && mkdir .git/cordon-held && mkfifo .git/cordon-held/gitlinks",
        "status && mkdir -p .git/cordon-held/gitlinks",
    };
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        AUTO_ERR struct err err = {0};
        char name[32], line[4096];
        bool dropped = false;
        struct stat before, after, held;
        test_row(i, words[i]);
        snprintf(name, sizeof(name), "r%zu", i);
        if (!make(name))
            return;
        snprintf(
            line, sizeof(line), "add ." GIT LINK "sub && { git %s; } >/dev/null 2>&1", words[i]);
        CHECK(git_oracle_run(test_path("%s", name), line));
        CHECK(stat(test_path("%s/a", name), &before) == 0);
        AUTO_FD int fd = open_git(name);
        CHECK(drop_one(fd, STR("sub"), &dropped, &err) && dropped);
        CHECK(stat(test_path("%s/a", name), &after) == 0 && after.st_size == before.st_size);
        CHECK(lstat(test_path("%s/.git/cordon-held/gitlinks", name), &held) == 0 &&
              S_ISREG(held.st_mode) && held.st_nlink == 1 && held.st_size > 0);
    }
}

TEST(gitlink_drop_has_a_limit)
{
    AUTO_ERR struct err err = {0};
    bool dropped = false;
    test_write(test_path("index"), "DIRC");
    CHECK_INT(truncate(test_path("index"), (off_t)GITLINK_INDEX_MAX + 1), 0);
    AUTO_FD int fd = open(test_dir(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    CHECK(!drop_one(fd, STR("sub"), &dropped, &err));
    CHECK_ERR(&err, E_IO, "larger than");
}

TEST(gitlink_drop_appends_to_the_held_file)
{
    AUTO_ERR struct err err = {0};
    bool one = false, two = false;
    if (!make("r"))
        return;
    CHECK(git_oracle_run(test_path("r"), "add ." GIT LINK "one" GIT LINK "two"));
    AUTO_FD int fd = open_git("r");
    CHECK_OK(drop_one(fd, STR("one"), &one, &err), &err);
    CHECK_OK(drop_one(fd, STR("two"), &two, &err), &err);
    CHECK(one && two);
    AUTO_FREE char *held = test_read(test_path("r/.git/cordon-held/gitlinks"));
    CHECK_Z(held, "160000 " SHA "\tone\n160000 " SHA "\ttwo\n");
}

TEST(gitlink_drop_reports_unhashable_indexes)
{
    AUTO_ERR struct err err = {0};
    bool dropped = true;
    const char *dir = test_dir();
    if (!git_oracle_run(dir, "init -q --object-format=sha256 . 2>/dev/null")) {
        test_skip("git has no SHA-256");
        return;
    }
    CHECK(git_oracle_run(
        dir, "update-index --add --cacheinfo 160000," SHA "111111111111111111111111,sub"));
    AUTO_FD int fd = open(test_path(".git"), O_PATH | O_DIRECTORY | O_CLOEXEC);
    CHECK_OK(drop_one(fd, STR("other"), &dropped, &err), &err);
    CHECK(!dropped);
    CHECK(!drop_one(fd, STR("sub"), &dropped, &err));
    CHECK_ERR(&err, E_CONFLICT, "SHA-256");
}

/* Memory of exactly this size, so that a sanitizer detects reads beyond it. A result is an index
 * without the entry. */
static void check_bytes(struct str index)
{
    AUTO_BUF struct buf out = BUF_INIT(1 << 20), again = BUF_INIT(1 << 20);
    AUTO_ERR struct err err = {0};
    AUTO_FREE char *copy = base_alloc(index.n + !index.n);
    bool dropped = false;
    memcpy(copy, index.p, index.n);
    if (!remove_one(str_n(copy, index.n), STR("m/ba"), &out, &dropped, &err)) {
        CHECK(err.code == E_IO || err.code == E_CONFLICT);
        return;
    }
    CHECK(dropped || out.n == 0);
    if (!dropped)
        return;
    CHECK_OK(remove_one(buf_str(&out), STR("m/ba"), &again, &dropped, &err), &err);
    CHECK(!dropped);
}

TEST(gitlink_remove_takes_any_bytes)
{
    static const char *versions[] = {"add .", "add -N .", "add ." V4};
    for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
        char words[1024], name[32];
        test_row(i, versions[i]);
        snprintf(name, sizeof(name), "r%zu", i);
        if (!make(name))
            return;
        snprintf(words, sizeof(words), "%s" GIT LINK "m/ba" GIT LINK "m/bab", versions[i]);
        CHECK(git_oracle_run(test_path("%s", name), words));
        struct str index = read_whole(test_path("%s/.git/index", name));
        AUTO_FREE char *copy = base_alloc(index.n);
        memcpy(copy, index.p, index.n);
        for (size_t n = 0; n <= index.n; n++)
            check_bytes(str_n(copy, n));
        for (size_t k = 0; k < index.n; k++)
            for (int bit = 0; bit < 8; bit++) {
                copy[k] = (char)(copy[k] ^ 1 << bit);
                check_bytes(str_n(copy, index.n));
                copy[k] = index.p[k];
            }
    }
}

TEST(gitlink_remove_refuses_required_extensions)
{
    static const char head[] = "DIRC\0\0\0\2\0\0\0\0", hash[20] = {0};
    static const struct {
        const char *name;
        bool ok;
    } extensions[] = {{"TREE", true}, {"XYZZ", true}, {"sdir", true}, {"link", false},
        {"abcd", false}, {"\0bcd", false}};
    for (size_t i = 0; i < ARRAY_LEN(extensions); i++) {
        AUTO_BUF struct buf in = BUF_INIT(4096), out = BUF_INIT(4096);
        AUTO_ERR struct err err = {0};
        bool dropped = true;
        test_row(i, extensions[i].name);
        buf_add(&in, head, sizeof(head) - 1);
        buf_add(&in, extensions[i].name, 4);
        buf_add(&in, "\0\0\0\3abc", 7);
        buf_add(&in, hash, sizeof(hash));
        bool ok = remove_one(buf_str(&in), STR("sub"), &out, &dropped, &err);
        CHECK_INT(ok, extensions[i].ok);
        if (!ok)
            CHECK_ERR(&err, E_CONFLICT, "cannot be changed");
    }
}
