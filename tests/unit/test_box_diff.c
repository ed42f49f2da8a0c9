/* Line diffs, names and contents as git writes them, and files that are executed automatically.
 * tests/box/oracle.py checks that git accepts the patches. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/buf.h"
#include "base/linediff.h"
#include "change/gitpatch.h"
#include "change/literal.h"
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
            return; /* on a processor without such instructions */
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

/* '-' and '+' for removed and added lines, '=' for unchanged ones. */
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
        {STR("a\nb\nc\n"), STR("x\na\ny\n"), "+=--+"},
        {STR("b\na\nc\n"), STR("x\na\ny\n"), "-+=-+"},
        {STR("b\nc\na\n"), STR("a\nx\ny\n"), "--=++"},
        {STR("a\n"), STR("x\na\ny\n"), "+=+"},
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

TEST(box_literal_equals_output_of_git)
{
    AUTO_BUF struct buf text = BUF_INIT(1000);
    literal_add(&text, STR(""));
    CHECK_Z(buf_z(&text), "literal 0\nHcmV?d00001\n\n");
}

/* One of each kind of program, at any depth and in any case; and names that are only similar. */
static const char *const runs[] = {".github/workflows/ci.yml", ".github/workflows",
    ".GitHub/Workflows/x", "sub/.envrc", "src/.vscode/tasks.json", ".vscode", ".gitattributes",
    "docs/.gitlab-ci.yml", "Jenkinsfile", "repo/HEAD", "HEAD", "fixtures/a.git/config",
    "a.GIT/hooks/x", "sub/.hg/hgrc", ".Rprofile", "rust-toolchain", "rust-toolchain.toml",
    ".yarn/releases/yarn-4.cjs", ".yarn/plugins/x.cjs", ".pnp.cjs", "bunfig.toml", "opencode.json",
    "opencode.jsonc", ".kiro/hooks/a.kiro.hook", ".gitpod.yml", ".dir-locals-2.el", "lefthook.yaml",
    "lefthook.toml", "lefthook-local.yml", ".lefthook-local.yaml", ".config/lefthook.yml",
    ".huskyrc", ".huskyrc.json", ".overcommit.yml", ".sl/config", "_darcs/prefs/defaults",
    ".vim/coc-settings.json", ".nvim/init.lua", ".mvn/extensions.xml", ".mvn/jvm.config",
    "tools/bazel", "sub/tools/bazel", ".octaverc", "ansible.cfg", ".builds/ci.yml", ".drone.yaml",
    ".woodpecker.yaml", "azure-pipelines.yaml", "azure-pipelines-release.yml",
    ".semaphore/semaphore.yml", "mise.local.toml", ".mise.toml", ".config/mise/config.toml",
    ".project", "lib/site/x.pth", "x.PTH", ".cargo/config.toml", ".cargo/config", ".cargo",
    ".bundle/config", ".bsp/sbt.json", ".ssh/authorized_keys", ".config/systemd/user/x.service",
    ".config/autostart/x.desktop", ".idea/workspace.xml", "a.code-workspace", "p.sublime-project",
    ".bazelrc", ".bazelversion", ".gdbinit", ".valgrindrc", ".lldbinit", ".sqliterc", ".psqlrc",
    ".tmux.conf", ".screenrc", ".netrc", ".forward", ".pam_environment", ".kateconfig",
    ".settings/org.eclipse.prefs", ".venv/bin/python", ".npmrc", ".yarnrc.yml", ".pnpmfile.cjs",
    "sitecustomize.py", ".claude/settings.json", ".aider.conf.yml", ".mcp.json", ".vscode/mcp.json",
    ".github/dependabot.yml", "renovate.json", ".jj/config", ".svn/wc.db", "CVS/Root",
    ".fossil-settings/x", ".direnv/x", ".rvmrc", ".Renviron", ".devcontainer/devcontainer.json",
    ".cordon/config.yaml", ".pre-commit-config.yaml", "captainhook.json", ".travis.yml",
    ".circleci/config.yml", ".zed/tasks.json", ".helix/languages.toml", ".fleet/run.json", ".exrc",
    ".luarc.json", "gradle/wrapper/gradle-wrapper.properties"};

static const char *const steers[] = {"conftest.py", "sub/conftest.py", "AGENTS.md", "CLAUDE.md",
    "Claude.local.md", "GEMINI.md", ".cursorrules", ".windsurfrules", ".clinerules",
    ".clinerules/a.md", ".github/copilot-instructions.md", ".eslintrc.js", ".eslintrc",
    ".eslintrc.json", ".luacheckrc", "Makefile", "sub/makefile", "CMakeLists.txt",
    "CMakePresets.json", "CMakeUserPresets.json", "package.json", "pyproject.toml", "setup.py",
    "conanfile.py", "vcpkg.json", "BSDmakefile", ".gn", "BUILD.gn", "xmake.lua", "premake5.lua",
    "tasks.py", "truffle-config.js", ".cmake-format.py", "tox.ini", "noxfile.py", "Cargo.toml",
    "build.rs", "Gemfile", "Rakefile", "build.gradle.kts", "settings.gradle", "pom.xml", "mix.exs",
    "composer.json", "flake.nix", "shell.nix", ".tool-versions", ".nvmrc", ".python-version",
    ".sdkmanrc", ".prettierrc.cjs", "prettier.config.js", "vite.config.ts", "webpack.config.js",
    "jest.config.ts", "babel.config.js", ".babelrc", "tsconfig.json", ".rubocop.yml", ".pylintrc",
    "mypy.ini", "phpstan.neon", "justfile", "Taskfile.yml", "Earthfile", "Dockerfile",
    "docker-compose.yml", "compose.yaml", "WORKSPACE", "BUILD.bazel", "meson.build", "go.mod",
    ".env", ".config/nextest.toml", "deno.json", ".golangci.yml", "node_modules/.bin/tsc"};

static const char *const ordinary[] = {"", "src/main.c", "README.md", ".github/CODEOWNERS",
    ".gitignore", ".envrc.example", "sub/my.envrc", ".vscodex/a", "bin/head", "HEAD/x", "notes.git",
    "x.pth/readme.txt", "my-conftest.py", "conftest.pyx", "tool/bazel", "tools/bazelisk/x",
    "cargo/config.toml", ".cargox/config", "agents.txt", "docs/claude.md.txt", "envrc",
    "ssh/authorized_keys", "config.toml", "LICENSE", "a/b/c.h", "makefiles/x"};

TEST(box_selfrun_table)
{
    static const struct {
        const char *const *paths;
        size_t n;
        enum selfrun_class class;
    } rows[] = {
        {runs, ARRAY_LEN(runs), SELFRUN_RUNS},
        {steers, ARRAY_LEN(steers), SELFRUN_STEERS},
        {ordinary, ARRAY_LEN(ordinary), SELFRUN_NONE},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (size_t k = 0; k < rows[i].n; k++) {
            struct str path = str_z(rows[i].paths[k]);
            test_row(k, path.p);
            CHECK_INT(selfrun_class(path), rows[i].class);
            CHECK_INT(selfrun_reason(path) != NULL, rows[i].class != SELFRUN_NONE);
        }
    }
}

TEST(box_selfrun_guards_what_no_ordinary_command_writes)
{
    static const struct {
        const char *path;
        bool guarded;
    } rows[] = {
        {".envrc", true},
        {"sub/.ENVRC", true},
        {".vscode", true},
        {".vscode/tasks.json", true},
        {".husky/_/husky.sh", true},
        {".github/workflows/ci.yml", true},
        {".github", false},
        {"package.json", false},
        {"Makefile", false},
        {".venv", false},
        {".venv/bin/activate", false},
        {"a/.gradle/x", false},
        {".git/config", false}, /* protected with its repository */
        {"x.git/config", false},
        {"HEAD", false},
        {"", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].path);
        CHECK_INT(selfrun_guards(str_z(rows[i].path)).class,
            rows[i].guarded ? SELFRUN_RUNS : SELFRUN_NONE);
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
