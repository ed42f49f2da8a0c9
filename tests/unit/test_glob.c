/* File patterns: braces, matching, pruning, the boundary, and finding files in a tree. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "path/brace.h"
#include "path/glob.h"

#include <fcntl.h>
#include <sys/stat.h>

TEST(brace_table)
{
    static const struct {
        const char *pattern;
        const char *want; /* expansions, each followed by a blank */
    } rows[] = {
        {"abc", "abc "},
        {"{a,b}", "a b "},
        {"x{a,b}y", "xay xby "},
        {"{a,b}{c,d}", "ac bc ad bd "},
        {"{a,{b,c},d}", "a b c d "},
        {"{a,b{c,d}}e", "ae bce bde "},
        {"{,a}b", "b ab "},
        {"{a,,b}", "a  b "},
        {"{a,}", "a  "},
        {"{a}", "a "},
        {"{}", " "},
        {"{a,b", "{a,b "},
        {"a,b}", "a,b} "},
        {"a,b", "a,b "},
        {"}{", "}{ "},
        {"{a,{b,c}", "{a,b {a,c "},
        {"{a,b}}", "a} b} "},
        {"\\{a,b\\}", "\\{a,b\\} "},
        {"{a\\,b,c}", "a\\,b c "},
        {"{a,b\\}c}", "a b\\}c "},
        {"[{]a,b}", "[{]a,b} "},
        {"{[,],b}", "[,] b "},
        {"{[}],b}", "[}] b "},
        {"{[!]}],b}", "[!]}] b "},
        {"[{a,b}", "[a [b "},
        {"{{a,b},{c,d}}", "a b c d "},
        {"", " "},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ERR struct err err = {0};
        AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
        AUTO_BUF struct buf all = BUF_INIT(4096);
        struct brace *b;
        test_row(i, rows[i].pattern);
        if (!CHECK_OK(brace_parse(str_z(rows[i].pattern), &a, &b, &err), &err))
            continue;
        for (size_t j = 0; j < brace_count(b); j++) {
            brace_expand(b, j, &all);
            buf_add_byte(&all, ' ');
        }
        CHECK_Z(buf_z(&all), rows[i].want);
    }
}

/* One pattern made of the same piece repeated, between a start and an end. */
static char *repeated(const char *start, const char *piece, size_t n, const char *end)
{
    AUTO_BUF struct buf b = BUF_INIT(1 << 20);
    buf_add_z(&b, start);
    for (size_t i = 0; i < n; i++)
        buf_add_z(&b, piece);
    buf_add_z(&b, end);
    return buf_take(&b);
}

TEST(glob_limits)
{
    static const struct {
        const char *start, *piece;
        size_t n;
        const char *end;
        enum err_code code; /* ERR_NONE: compiles */
        const char *part;
    } rows[] = {
        {"", "*", 10000, "", ERR_NONE, ""},
        {"", "**/", 10000, "", ERR_NONE, ""},
        {"", "*/", 5000, "", E_CLI_INVALID_ARG, "4096"},
        {"{a,b,c,d,e,f,g,h,i,j}", "?", 4000, "", E_CLI_INVALID_ARG, "characters in total"},
        {"", "a", 4096, "", ERR_NONE, ""},
        {"", "a", 4097, "", E_CLI_INVALID_ARG, "4096"},
        {"", "a", 65537, "", E_CLI_INVALID_ARG, "65536"},
        {"{a", ",a", 999, "}", ERR_NONE, ""},
        {"{a", ",a", 1000, "}", E_CLI_INVALID_ARG, "1000"},
        {"", "{a,b}", 9, "", ERR_NONE, ""},
        {"", "{a,b}", 10, "", E_CLI_INVALID_ARG, "1000"},
        {"", "{a,b}", 13000, "", E_CLI_INVALID_ARG, "1000"},
        {"a", "{", 60000, "", E_CLI_INVALID_ARG, "4096"},
        {"a", "{*", 3000, "", ERR_NONE, ""},
        {"a", "[", 60000, "", E_CLI_INVALID_ARG, "without a ']'"},
        {"a", "{,", 30000, "", E_CLI_INVALID_ARG, "4096"},
        {"", "{*,", 64, "}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}",
            ERR_NONE, ""},
        {"", "{*,", 65, "}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}",
            E_CLI_INVALID_ARG, "braces nested more than 64 deep"},
        {"", "{a}", 20000, "", E_CLI_INVALID_ARG, "4096"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ERR struct err err = {0};
        AUTO_ARENA struct arena a = ARENA_INIT(16 << 20);
        AUTO_FREE char *pattern = repeated(rows[i].start, rows[i].piece, rows[i].n, rows[i].end);
        struct glob *g = NULL;
        test_row(i, rows[i].piece);
        bool ok = glob_compile(str_z(pattern), &a, &g, &err);
        if (rows[i].code == ERR_NONE)
            CHECK_OK(ok, &err);
        else if (CHECK(!ok && !g))
            CHECK_ERR(&err, rows[i].code, rows[i].part);
    }
}

TEST(glob_needs_memory_within_the_arena)
{
    AUTO_ERR struct err err = {0};
    AUTO_ARENA struct arena a = ARENA_INIT(200 * 1024);
    AUTO_FREE char *pattern = repeated("{a,b,c,d}{a,b,c,d}", "[é]", 1000, "");
    struct glob *g = NULL;
    CHECK(!glob_compile(str_z(pattern), &a, &g, &err));
    CHECK_ERR(&err, E_CLI_INVALID_ARG, "memory");
}

TEST(glob_boundary)
{
    static const struct {
        struct str pattern;
        enum err_code code;
        const char *part;
    } rows[] = {
        {STR(""), E_CLI_INVALID_ARG, "empty"},
        {STR("./"), E_CLI_INVALID_ARG, "empty"},
        {STR("{,}"), E_CLI_INVALID_ARG, "empty"},
        {STR("a\0b"), E_CLI_INVALID_ARG, "NUL"},
        {STR("a["), E_CLI_INVALID_ARG, "without a ']'"},
        {STR("a\\"), E_CLI_INVALID_ARG, "at its end"},
        {STR("{a,[b}"), E_CLI_INVALID_ARG, "without a ']'"},
        {STR("/etc/passwd"), E_FS_VIOLATION, "absolute"},
        {STR("\\/etc"), E_FS_VIOLATION, "absolute"},
        {STR("{a,/etc}/x"), E_FS_VIOLATION, "absolute"},
        {STR("~"), E_FS_VIOLATION, "~"},
        {STR("~root/x"), E_FS_VIOLATION, "~"},
        {STR(".."), E_FS_VIOLATION, ".."},
        {STR("../x"), E_FS_VIOLATION, ".."},
        {STR("a/../b"), E_FS_VIOLATION, ".."},
        {STR("a/.."), E_FS_VIOLATION, ".."},
        {STR("{a,..}/b"), E_FS_VIOLATION, ".."},
        {STR("{.,a}./b"), E_FS_VIOLATION, ".."},
        {STR("a/\\.\\./b"), E_FS_VIOLATION, ".."},
        {STR("./../b"), E_FS_VIOLATION, ".."},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ERR struct err err = {0};
        AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
        struct glob *g = NULL;
        test_row(i, rows[i].pattern.p);
        CHECK(!glob_compile(rows[i].pattern, &a, &g, &err));
        CHECK_ERR(&err, rows[i].code, rows[i].part);
        CHECK(!g);
    }
}

static struct glob *compile(const char *pattern, struct arena *a)
{
    AUTO_ERR struct err err = {0};
    struct glob *g = NULL;
    CHECK_OK(glob_compile(str_z(pattern), a, &g, &err), &err);
    return g;
}

TEST(glob_match_table)
{
    static const struct {
        const char *pattern, *path;
        bool want;
    } rows[] = {
        {"*.c", "a.c", true},
        {"*.c", "src/a.c", false},
        {"*.c", ".c", true},
        {"./*.c", "a.c", true},
        {".//./a", "a", true},
        {"**/*.c", "a.c", true},
        {"**/*.c", "a/b/c.c", true},
        {"**/*.c", "a/b/c.h", false},
        {"**", "a/.b/c", true},
        {"**/.*", "a/.b", true},
        {"src/**", "src/a/b", true},
        {"src/**", "srcs/a", false},
        {"src/**/*.{c,h}", "src/x.h", true},
        {"src/**/*.{c,h}", "src/a/x.c", true},
        {"{src,lib}/*.c", "lib/a.c", true},
        {"{,sub/}a", "a", true},
        {"{,sub/}a", "sub/a", true},
        {"v1..alpha", "v1..alpha", true},
        {"...", "...", true},
        {"\\~x", "~x", true},
        {"a~", "a~", true},
        {"?", "日", true},
        {"[!a]", "é", true},
        {"[é-ü].c", "ö.c", true},
        {"**/日*", "x/日本", true},
        {"**/[!a]/b", "x/y/b", true},
        {"**/", "a/", true},
        {"\\{a,b\\}", "{a,b}", true},
        {"{a,b", "{a,b", true},
        {"?", "\xff", true},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
        test_row(i, rows[i].pattern);
        struct glob *g = compile(rows[i].pattern, &a);
        if (g)
            CHECK_INT(glob_match(g, str_z(rows[i].path)), rows[i].want);
    }
}

TEST(glob_prunes_directories)
{
    static const struct {
        const char *pattern, *dir;
        bool want;
    } rows[] = {
        {"src/**/*.c", "src", true},
        {"src/**/*.c", "src/a/b", true},
        {"src/**/*.c", "lib", false},
        {"src/*.c", "src/a", false},
        {"*.c", "src", false},
        {"*.c", "", true},
        {"**/*.c", "any/where", true},
        {"{a,b}/x", "b", true},
        {"{a,b}/x", "c", false},
        {"*/x", "c", true},
        {"*/x", "c/d", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
        test_row(i, rows[i].pattern);
        CHECK_INT(
            glob_may_match_below(compile(rows[i].pattern, &a), str_z(rows[i].dir)), rows[i].want);
    }
}

struct found {
    struct buf list;
    size_t left; /* stops when it reaches 0 */
};

static bool add_found(void *ctx, struct str path)
{
    struct found *found = ctx;
    buf_add_str(&found->list, path);
    buf_add_byte(&found->list, '\n');
    return --found->left > 0;
}

static void check_found(const char *root, const char *pattern, size_t most, const char *want)
{
    AUTO_ERR struct err err = {0};
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    struct found found = {BUF_INIT(1 << 20), most};
    AUTO_FD int fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct walk_options options = {.ignore = true};
    CHECK_OK(glob_find(fd, compile(pattern, &a), &options, add_found, &found, &err), &err);
    CHECK_Z(buf_z(&found.list), want);
    buf_done(&found.list);
}

TEST(glob_find_gives_files_only)
{
    const char *root = test_path("root");
    test_write(test_path("root/a.c"), "");
    test_write(test_path("root/a/b.c"), "");
    test_write(test_path("root/a-b.c"), "");
    test_write(test_path("root/dir.c/x.c"), "");
    test_write(test_path("root/.hidden/h.c"), "");
    test_write(test_path("root/.git/g.c"), "");
    test_write(test_path("root/node_modules/n.c"), "");
    test_write(test_path("root/out/o.c"), "");
    test_write(test_path("root/.gitignore"), "out/\n");
    check_found(root, "**/*.c", 100, ".hidden/h.c\na-b.c\na.c\na/b.c\ndir.c/x.c\n");
    check_found(root, "**/*.c", 2, ".hidden/h.c\na-b.c\n");
    check_found(root, "*.c", 100, "a-b.c\na.c\n");
    check_found(root, "**", 100, ".gitignore\n.hidden/h.c\na-b.c\na.c\na/b.c\ndir.c/x.c\n");
    check_found(root, "nothing/*", 100, "");
}

TEST(glob_find_follows_links_within_the_root_only)
{
    test_write(test_path("secret"), "");
    test_write(test_path("root/real"), "");
    test_write(test_path("root/sub/x"), "");
    static const struct {
        const char *target, *name;
    } links[] = {
        {"real", "root/good"},
        {"../real", "root/sub/up"},
        {"../secret", "root/leaves"},
        {"/etc/passwd", "root/absolute"},
        {"nowhere", "root/dangling"},
        {"sub", "root/to-dir"},
        {"loop", "root/loop"},
        {"good", "root/chain"},
    };
    for (size_t i = 0; i < ARRAY_LEN(links); i++)
        BUG_ON(symlink(links[i].target, test_path("%s", links[i].name)) != 0);
    BUG_ON(mkfifo(test_path("root/fifo"), 0600) != 0);
    check_found(test_path("root"), "**", 100, "chain\ngood\nreal\nsub/up\nsub/x\n");
}

/* A directory that the pattern can't reach is not even opened: here opening it would be an error.
 */
TEST(glob_find_skips_directories_that_cannot_match)
{
    test_write(test_path("src/a.c"), "");
    test_write(test_path("lib/.gitignore"), "");
    BUG_ON(truncate(test_path("lib/.gitignore"), 5 << 20) != 0);
    check_found(test_dir(), "src/**/*.c", 100, "src/a.c\n");
}
