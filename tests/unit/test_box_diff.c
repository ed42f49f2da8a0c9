/* Line diffs, names and contents as git writes them, and what runs by itself. That git takes the
 * patches is asked by tests/box/oracle.py. */
#include "test.h"

#include "base/buf.h"
#include "base/linediff.h"
#include "box/gitpatch.h"
#include "box/literal.h"
#include "box/sha1.h"
#include "path/selfrun.h"

TEST(box_sha1_names_blobs_as_git_does)
{
    static const struct {
        struct str content;
        const char *name;
    } rows[] = {
        {STR(""), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"},
        {STR("hello\n"), "ce013625030ba8dba906f756967f9e9ca394464a"},
        {STR("a\0b"), "20b5be91886d0b6f26dc98a225c0dac05fe2c86e"},
    };
    static char large[100 * 1000];
    char hex[SHA1_HEX];
    memset(large, 'x', sizeof(large));
    sha1_blob(str_n(large, sizeof(large)), hex);
    CHECK_Z(hex, "56e0448612acbb706b96b7e8e46a210f15386a38");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].name);
        sha1_blob(rows[i].content, hex);
        CHECK_Z(hex, rows[i].name);
    }
}

TEST(box_sha1_is_the_same_either_way)
{
    enum {
        MOST = 40
    };
    unsigned char blocks[MOST * SHA1_BLOCK];
    unsigned seed = 7;
    for (size_t i = 0; i < sizeof(blocks); i++)
        blocks[i] = (unsigned char)rand_r(&seed);
    for (size_t n = 0; n <= MOST; n++) {
        uint32_t fast[5] = {1, 2, 3, UINT32_MAX, 5 + (uint32_t)n}, plain[5];
        memcpy(plain, fast, sizeof(plain));
        if (!sha1_blocks_fast(fast, blocks, n))
            return; /* of a processor that has no such instructions */
        sha1_blocks_plain(plain, blocks, n);
        test_row(n, "");
        CHECK(memcmp(fast, plain, sizeof(plain)) == 0);
    }
}

TEST(box_patch_names_are_quoted)
{
    static const struct {
        struct str name;
        const char *want;
    } rows[] = {
        {STR("plain"), "a/plain"},
        {STR("with space"), "a/with space"},
        {STR("dir /x"), "\"a/dir /x\""},
        {STR("q\"\\"), "\"a/q\\\"\\\\\""},
        {STR("\t\n\r\a"), "\"a/\\t\\n\\r\\a\""},
        {STR("\x01\x7f\xff"), "\"a/\\001\\177\\377\""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_BUF struct buf text = BUF_INIT(1000);
        test_row(i, rows[i].want);
        gitpatch_name(&text, "a/", rows[i].name);
        CHECK_Z(buf_z(&text), rows[i].want);
    }
}

/* '-' and '+' for lines that go and come, '=' for those that stay. */
static void describe(const struct linediff *l, struct buf *text)
{
    size_t i = 0, j = 0;
    while (i < l->old.n || j < l->new.n) {
        bool gone = i < l->old.n && l->old.changed[i];
        bool fresh = !gone && j < l->new.n && l->new.changed[j];
        bool both = !gone && !fresh;
        if (both && (i == l->old.n || j == l->new.n || !str_eq(l->old.lines[i], l->new.lines[j]))) {
            buf_add_z(text, "WRONG");
            return;
        }
        buf_add_byte(text, gone ? '-' : fresh ? '+' : '=');
        i += gone || both;
        j += fresh || both;
    }
}

TEST(box_line_diffs_are_short)
{
    static const struct {
        struct str old, new;
        const char *want;
    } rows[] = {
        {STR(""), STR(""), ""},
        {STR(""), STR("a\n"), "+"},
        {STR("a\n"), STR(""), "-"},
        {STR("a\n"), STR("a"), "-+"},
        {STR("a\nb\nc\n"), STR("a\nx\nc\n"), "=-+="},
        {STR("a\nb\nc\n"), STR("b\nc\nd\n"), "-==+"},
        {STR("a\nb\nc\na\nb\nb\na\n"), STR("c\nb\na\nb\na\nc\n"), NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_LINEDIFF struct linediff l = {0};
        AUTO_BUF struct buf text = BUF_INIT(1000);
        int64_t budget = 1000;
        test_row(i, rows[i].want);
        linediff_make(rows[i].old, rows[i].new, &budget, &l);
        describe(&l, &text);
        if (rows[i].want)
            CHECK_Z(buf_z(&text), rows[i].want);
        else /* Myers' own example has five differences */
            CHECK_INT(text.n, 4 + 5);
    }
}

TEST(box_line_diff_without_budget_is_long_but_right)
{
    AUTO_BUF struct buf old = BUF_INIT(1 << 20), new = BUF_INIT(1 << 20), text = BUF_INIT(1 << 20);
    AUTO_LINEDIFF struct linediff l = {0};
    int64_t budget = 20000;
    for (int i = 0; i < 20000; i++) {
        buf_printf(&old, "%d\n", i * 7919 % 10007);
        buf_printf(&new, "%d\n", i * 6007 % 10009);
    }
    linediff_make(buf_str(&old), buf_str(&new), &budget, &l);
    describe(&l, &text);
    CHECK(!strstr(buf_z(&text), "WRONG"));
    /* It stops soon after the budget is used up. */
    CHECK(budget > -1000 * 1000);
}

TEST(box_literal_is_what_git_writes)
{
    AUTO_BUF struct buf text = BUF_INIT(1000);
    literal_add(&text, STR(""));
    CHECK_Z(buf_z(&text), "literal 0\nHcmV?d00001\n\n");
}

TEST(box_selfrun_table)
{
    static const struct {
        const char *path;
        bool runs;
    } rows[] = {
        {".github/workflows/ci.yml", true},
        {".github/CODEOWNERS", false},
        {".github/workflows", true},
        {".GitHub/Workflows/x", true},
        {"sub/.envrc", true},
        {"sub/my.envrc", false},
        {".envrc.example", false},
        {"src/.vscode/tasks.json", true},
        {".vscode", true},
        {".vscodex/a", false},
        {".gitattributes", true},
        {"docs/.gitlab-ci.yml", true},
        {".gitignore", false},
        {"Jenkinsfile", true},
        {"src/main.c", false},
        {"repo/HEAD", true},
        {"HEAD", true},
        {"bin/head", false},
        {"HEAD/x", false},
        {"fixtures/a.git/config", true},
        {"a.GIT/hooks/x", true},
        {"notes.git", false},
        {"sub/.hg/hgrc", true},
        {".Rprofile", true},
        {"", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].path);
        CHECK_INT(selfrun_reason(str_z(rows[i].path)) != NULL, rows[i].runs);
    }
}
