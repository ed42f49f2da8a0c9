/* Line diffs, names and contents as git writes them, and what runs by itself. That git takes the
 * patches is asked by tests/box/oracle.py. */
#include "test.h"

#include "base/buf.h"
#include "base/linediff.h"
#include "box/gitpatch.h"
#include "box/literal.h"
#include "path/selfrun.h"
#include "repo/gitname.h"
#include "repo/sha1.h"

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
        gitname_add(&text, "a/", rows[i].name);
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
        enum selfrun_class class;
    } rows[] = {
        {".github/workflows/ci.yml", SELFRUN_RUNS},
        {".github/workflows", SELFRUN_RUNS},
        {".GitHub/Workflows/x", SELFRUN_RUNS},
        {"sub/.envrc", SELFRUN_RUNS},
        {"src/.vscode/tasks.json", SELFRUN_RUNS},
        {".vscode", SELFRUN_RUNS},
        {".gitattributes", SELFRUN_RUNS},
        {"docs/.gitlab-ci.yml", SELFRUN_RUNS},
        {"Jenkinsfile", SELFRUN_RUNS},
        {"repo/HEAD", SELFRUN_RUNS},
        {"HEAD", SELFRUN_RUNS},
        {"fixtures/a.git/config", SELFRUN_RUNS},
        {"a.GIT/hooks/x", SELFRUN_RUNS},
        {"sub/.hg/hgrc", SELFRUN_RUNS},
        {".Rprofile", SELFRUN_RUNS},
        {"", SELFRUN_NONE},
        {"rust-toolchain", SELFRUN_RUNS},
        {"rust-toolchain.toml", SELFRUN_RUNS},
        {".yarn/releases/yarn-4.cjs", SELFRUN_RUNS},
        {".yarn/plugins/x.cjs", SELFRUN_RUNS},
        {".pnp.cjs", SELFRUN_RUNS},
        {"bunfig.toml", SELFRUN_RUNS},
        {"opencode.json", SELFRUN_RUNS},
        {"opencode.jsonc", SELFRUN_RUNS},
        {".kiro/hooks/a.kiro.hook", SELFRUN_RUNS},
        {".gitpod.yml", SELFRUN_RUNS},
        {".dir-locals-2.el", SELFRUN_RUNS},
        {"lefthook.yaml", SELFRUN_RUNS},
        {"lefthook.toml", SELFRUN_RUNS},
        {"lefthook-local.yml", SELFRUN_RUNS},
        {".lefthook-local.yaml", SELFRUN_RUNS},
        {".config/lefthook.yml", SELFRUN_RUNS},
        {".huskyrc", SELFRUN_RUNS},
        {".huskyrc.json", SELFRUN_RUNS},
        {".overcommit.yml", SELFRUN_RUNS},
        {".sl/config", SELFRUN_RUNS},
        {"_darcs/prefs/defaults", SELFRUN_RUNS},
        {".vim/coc-settings.json", SELFRUN_RUNS},
        {".nvim/init.lua", SELFRUN_RUNS},
        {".mvn/extensions.xml", SELFRUN_RUNS},
        {".mvn/jvm.config", SELFRUN_RUNS},
        {"tools/bazel", SELFRUN_RUNS},
        {"sub/tools/bazel", SELFRUN_RUNS},
        {".octaverc", SELFRUN_RUNS},
        {"ansible.cfg", SELFRUN_RUNS},
        {".builds/ci.yml", SELFRUN_RUNS},
        {".drone.yaml", SELFRUN_RUNS},
        {".woodpecker.yaml", SELFRUN_RUNS},
        {"azure-pipelines.yaml", SELFRUN_RUNS},
        {"azure-pipelines-release.yml", SELFRUN_RUNS},
        {".semaphore/semaphore.yml", SELFRUN_RUNS},
        {"mise.local.toml", SELFRUN_RUNS},
        {".mise.toml", SELFRUN_RUNS},
        {".config/mise/config.toml", SELFRUN_RUNS},
        {".project", SELFRUN_RUNS},
        {"lib/site/x.pth", SELFRUN_RUNS},
        {"x.PTH", SELFRUN_RUNS},
        {".cargo/config.toml", SELFRUN_RUNS},
        {".cargo/config", SELFRUN_RUNS},
        {".cargo", SELFRUN_RUNS},
        {".bundle/config", SELFRUN_RUNS},
        {".bsp/sbt.json", SELFRUN_RUNS},
        {".ssh/authorized_keys", SELFRUN_RUNS},
        {".config/systemd/user/x.service", SELFRUN_RUNS},
        {".config/autostart/x.desktop", SELFRUN_RUNS},
        {".idea/workspace.xml", SELFRUN_RUNS},
        {"a.code-workspace", SELFRUN_RUNS},
        {"p.sublime-project", SELFRUN_RUNS},
        {".bazelrc", SELFRUN_RUNS},
        {".bazelversion", SELFRUN_RUNS},
        {".gdbinit", SELFRUN_RUNS},
        {".lldbinit", SELFRUN_RUNS},
        {".sqliterc", SELFRUN_RUNS},
        {".psqlrc", SELFRUN_RUNS},
        {".tmux.conf", SELFRUN_RUNS},
        {".screenrc", SELFRUN_RUNS},
        {".netrc", SELFRUN_RUNS},
        {".forward", SELFRUN_RUNS},
        {".pam_environment", SELFRUN_RUNS},
        {".kateconfig", SELFRUN_RUNS},
        {".settings/org.eclipse.prefs", SELFRUN_RUNS},
        {".venv/bin/python", SELFRUN_RUNS},
        {".npmrc", SELFRUN_RUNS},
        {".yarnrc.yml", SELFRUN_RUNS},
        {".pnpmfile.cjs", SELFRUN_RUNS},
        {"sitecustomize.py", SELFRUN_RUNS},
        {".claude/settings.json", SELFRUN_RUNS},
        {".aider.conf.yml", SELFRUN_RUNS},
        {".mcp.json", SELFRUN_RUNS},
        {".vscode/mcp.json", SELFRUN_RUNS},
        {".github/dependabot.yml", SELFRUN_RUNS},
        {"renovate.json", SELFRUN_RUNS},
        {".jj/config", SELFRUN_RUNS},
        {".svn/wc.db", SELFRUN_RUNS},
        {"CVS/Root", SELFRUN_RUNS},
        {".fossil-settings/x", SELFRUN_RUNS},
        {".direnv/x", SELFRUN_RUNS},
        {".rvmrc", SELFRUN_RUNS},
        {".Renviron", SELFRUN_RUNS},
        {".devcontainer/devcontainer.json", SELFRUN_RUNS},
        {".cordon/config.yaml", SELFRUN_RUNS},
        {".pre-commit-config.yaml", SELFRUN_RUNS},
        {"captainhook.json", SELFRUN_RUNS},
        {".travis.yml", SELFRUN_RUNS},
        {".circleci/config.yml", SELFRUN_RUNS},
        {".zed/tasks.json", SELFRUN_RUNS},
        {".helix/languages.toml", SELFRUN_RUNS},
        {".fleet/run.json", SELFRUN_RUNS},
        {".exrc", SELFRUN_RUNS},
        {".luarc.json", SELFRUN_RUNS},
        {"gradle/wrapper/gradle-wrapper.properties", SELFRUN_RUNS},
        {"conftest.py", SELFRUN_STEERS},
        {"sub/conftest.py", SELFRUN_STEERS},
        {"AGENTS.md", SELFRUN_STEERS},
        {"CLAUDE.md", SELFRUN_STEERS},
        {"Claude.local.md", SELFRUN_STEERS},
        {"GEMINI.md", SELFRUN_STEERS},
        {".cursorrules", SELFRUN_STEERS},
        {".windsurfrules", SELFRUN_STEERS},
        {".clinerules", SELFRUN_STEERS},
        {".clinerules/a.md", SELFRUN_STEERS},
        {".github/copilot-instructions.md", SELFRUN_STEERS},
        {".eslintrc.js", SELFRUN_STEERS},
        {".eslintrc", SELFRUN_STEERS},
        {".eslintrc.json", SELFRUN_STEERS},
        {".luacheckrc", SELFRUN_STEERS},
        {"Makefile", SELFRUN_STEERS},
        {"sub/makefile", SELFRUN_STEERS},
        {"CMakeLists.txt", SELFRUN_STEERS},
        {"CMakePresets.json", SELFRUN_STEERS},
        {"CMakeUserPresets.json", SELFRUN_STEERS},
        {"package.json", SELFRUN_STEERS},
        {"pyproject.toml", SELFRUN_STEERS},
        {"setup.py", SELFRUN_STEERS},
        {"tox.ini", SELFRUN_STEERS},
        {"noxfile.py", SELFRUN_STEERS},
        {"Cargo.toml", SELFRUN_STEERS},
        {"build.rs", SELFRUN_STEERS},
        {"Gemfile", SELFRUN_STEERS},
        {"Rakefile", SELFRUN_STEERS},
        {"build.gradle.kts", SELFRUN_STEERS},
        {"settings.gradle", SELFRUN_STEERS},
        {"pom.xml", SELFRUN_STEERS},
        {"mix.exs", SELFRUN_STEERS},
        {"composer.json", SELFRUN_STEERS},
        {"flake.nix", SELFRUN_STEERS},
        {"shell.nix", SELFRUN_STEERS},
        {".tool-versions", SELFRUN_STEERS},
        {".nvmrc", SELFRUN_STEERS},
        {".python-version", SELFRUN_STEERS},
        {".sdkmanrc", SELFRUN_STEERS},
        {".prettierrc.cjs", SELFRUN_STEERS},
        {"prettier.config.js", SELFRUN_STEERS},
        {"vite.config.ts", SELFRUN_STEERS},
        {"webpack.config.js", SELFRUN_STEERS},
        {"jest.config.ts", SELFRUN_STEERS},
        {"babel.config.js", SELFRUN_STEERS},
        {".babelrc", SELFRUN_STEERS},
        {"tsconfig.json", SELFRUN_STEERS},
        {".rubocop.yml", SELFRUN_STEERS},
        {".pylintrc", SELFRUN_STEERS},
        {"mypy.ini", SELFRUN_STEERS},
        {"phpstan.neon", SELFRUN_STEERS},
        {"justfile", SELFRUN_STEERS},
        {"Taskfile.yml", SELFRUN_STEERS},
        {"Earthfile", SELFRUN_STEERS},
        {"Dockerfile", SELFRUN_STEERS},
        {"docker-compose.yml", SELFRUN_STEERS},
        {"compose.yaml", SELFRUN_STEERS},
        {"WORKSPACE", SELFRUN_STEERS},
        {"BUILD.bazel", SELFRUN_STEERS},
        {"meson.build", SELFRUN_STEERS},
        {"go.mod", SELFRUN_STEERS},
        {".env", SELFRUN_STEERS},
        {".config/nextest.toml", SELFRUN_STEERS},
        {"deno.json", SELFRUN_STEERS},
        {".golangci.yml", SELFRUN_STEERS},
        {"node_modules/.bin/tsc", SELFRUN_STEERS},
        {"src/main.c", SELFRUN_NONE},
        {"README.md", SELFRUN_NONE},
        {".github/CODEOWNERS", SELFRUN_NONE},
        {".gitignore", SELFRUN_NONE},
        {".envrc.example", SELFRUN_NONE},
        {"sub/my.envrc", SELFRUN_NONE},
        {".vscodex/a", SELFRUN_NONE},
        {"bin/head", SELFRUN_NONE},
        {"HEAD/x", SELFRUN_NONE},
        {"notes.git", SELFRUN_NONE},
        {"x.pth/readme.txt", SELFRUN_NONE},
        {"my-conftest.py", SELFRUN_NONE},
        {"conftest.pyx", SELFRUN_NONE},
        {"tool/bazel", SELFRUN_NONE},
        {"tools/bazelisk/x", SELFRUN_NONE},
        {"cargo/config.toml", SELFRUN_NONE},
        {".cargox/config", SELFRUN_NONE},
        {"agents.txt", SELFRUN_NONE},
        {"docs/claude.md.txt", SELFRUN_NONE},
        {"envrc", SELFRUN_NONE},
        {"ssh/authorized_keys", SELFRUN_NONE},
        {"config.toml", SELFRUN_NONE},
        {"LICENSE", SELFRUN_NONE},
        {"a/b/c.h", SELFRUN_NONE},
        {"makefiles/x", SELFRUN_NONE},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str path = str_z(rows[i].path);
        test_row(i, rows[i].path);
        CHECK_INT(selfrun_class(path), rows[i].class);
        CHECK_INT(selfrun_reason(path) != NULL, rows[i].class != SELFRUN_NONE);
    }
}

TEST(box_selfrun_directories_on_the_way)
{
    static const struct {
        const char *path;
        enum selfrun_class class;
    } rows[] = {
        {".github", SELFRUN_RUNS},
        {"sub/.GITHUB", SELFRUN_RUNS},
        {".config", SELFRUN_RUNS},
        {".config/systemd", SELFRUN_NONE}, /* itself a row */
        {"tools", SELFRUN_RUNS},
        {"gradle", SELFRUN_RUNS},
        {"vendor", SELFRUN_STEERS},
        {"src", SELFRUN_NONE},
        {".github/workflows", SELFRUN_NONE},
        {".github/other", SELFRUN_NONE},
        {"", SELFRUN_NONE},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].path);
        CHECK_INT(selfrun_leads(str_z(rows[i].path)).class, rows[i].class);
    }
}
