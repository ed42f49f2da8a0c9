/* Repositories in a tree: which are found, also after changes, and which names are refused. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/buf.h"
#include "repo/hold.h"
#include "repo/parts.h"
#include "repo/protect.h"
#include "repo/settings.h"
#include "repo/words.h"
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum {
    TEXT_MAX = 64 * 1024,
};

static const char *const kind_names[] = {
    [SCAN_GITDIR] = "gitdir",
    [SCAN_POINTER] = "pointer",
    [SCAN_LINK] = "link",
    [SCAN_CORDON] = "cordon",
    [SCAN_HG] = "hg",
    [SCAN_SAPLING] = "sl",
    [SCAN_JJ] = "jj",
    [SCAN_BZR] = "bzr",
    [SCAN_DARCS] = "darcs",
    [SCAN_PIJUL] = "pijul",
};

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "kind path;" of all places, sorted. */
static void check_places(struct scan *s, const char *want)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    AUTO_BUF struct buf got = BUF_INIT(TEXT_MAX);
    scan_refresh(s);
    const char **rows = ARENA_NEW(&a, const char *, s->n_places + 1);
    for (size_t i = 0; i < s->n_places; i++)
        rows[i] = arena_printf(
            &a, "%s " STR_FMT ";", kind_names[s->places[i].kind], STR_ARG(s->places[i].path));
    qsort(rows, s->n_places, sizeof(*rows), by_text);
    for (size_t i = 0; i < s->n_places; i++)
        buf_add_z(&got, rows[i]);
    CHECK_STR(buf_str(&got), str_z(want));
}

static void make_gitdir(const char *path)
{
    tree_file(test_path("%s/HEAD", path), "ref: refs/heads/main\n", 0644);
    tree_file(test_path("%s/objects/x", path), "", 0644);
    tree_file(test_path("%s/refs/x", path), "", 0644);
}

TEST(scan_finds_what_steers)
{
    AUTO(scan_done) struct scan s;
    AUTO_FD int root = tree_open(test_dir());
    scan_init(&s, root);
    check_places(&s, "");
    make_gitdir("p/.git");
    make_gitdir("p/.git/modules/a/b");
    make_gitdir("lib");
    tree_file(test_path("p/.git/worktrees/w/HEAD"), "", 0644);
    tree_file(test_path("p/.git/worktrees/w/commondir"), "../..", 0644);
    tree_file(test_path("w/.git"), "gitdir: x", 0644);
    tree_file(test_path("half/HEAD"), "", 0644);
    tree_file(test_path("half/refs/x"), "", 0644);
    tree_file(test_path("q/.hg/hgrc"), "", 0644);
    tree_file(test_path("q/.jj/x"), "", 0644);
    tree_file(test_path("q/.cordon/config.yaml"), "", 0644);
    CHECK(symlink("p", test_path("linked")) == 0);
    CHECK(mkdir(test_path("l"), 0755) == 0 && symlink("../p/.git", test_path("l/.git")) == 0);
    check_places(&s,
        "cordon q/.cordon;gitdir lib;gitdir p/.git/modules/a/b;"
        "gitdir p/.git/worktrees/w;gitdir p/.git;hg q/.hg;jj q/.jj;link l/.git;pointer w/.git;");
    CHECK(!s.cut);
}

TEST(scan_sees_each_change)
{
    AUTO(scan_done) struct scan s;
    AUTO_FD int root = tree_open(test_dir());
    tree_file(test_path("a/b/c/x"), "", 0644);
    scan_init(&s, root);
    check_places(&s, "");
    make_gitdir("a/b/c/.git");
    check_places(&s, "gitdir a/b/c/.git;");
    CHECK(rename(test_path("a/b"), test_path("a/d")) == 0);
    check_places(&s, "gitdir a/d/c/.git;");
    tree_remove(test_path("a"));
    check_places(&s, "");
    make_gitdir("a/d/c/.git");
    check_places(&s, "gitdir a/d/c/.git;");
    CHECK(rename(test_path("a/d/c/.git"), test_path("a/d/c/git")) == 0);
    check_places(&s, "gitdir a/d/c/git;");
    CHECK(unlink(test_path("a/d/c/git/HEAD")) == 0);
    check_places(&s, "");
    /* A directory that was replaced by another one. */
    make_gitdir("x/.git");
    CHECK(rename(test_path("a/d"), test_path("old")) == 0 &&
          rename(test_path("x"), test_path("a/d")) == 0);
    check_places(&s, "gitdir a/d/.git;");
}

TEST(scan_says_that_it_is_cut)
{
    AUTO(scan_done) struct scan s;
    AUTO_FD int root = tree_open(test_dir());
    for (int i = 0; i <= SCAN_PLACES_MAX; i++)
        CHECK(mkdir(test_path("%d", i), 0755) == 0 && mkdir(test_path("%d/.hg", i), 0755) == 0);
    scan_init(&s, root);
    scan_refresh(&s);
    CHECK(s.cut);
    CHECK_INT(s.n_places, SCAN_PLACES_MAX);
}

TEST(parts_that_tools_leave_alone)
{
    static const struct {
        const char *path;
        bool refused;
    } rows[] = {
        {".git", true},
        {".git/config", true},
        {"a/b/.git/x", true},
        {".GIT/config", true},
        {".Git", true},
        {".cordon", true},
        {"a/.cordon/x", true},
        {".hg/hgrc", true},
        {".hg/store/x", false},
        {".jj/repo/config.toml", true},
        {".bzr/branch/branch.conf", true},
        {"_darcs/prefs/defaults", true},
        {"_darcs/x", false},
        {".pijul/config", true},
        {".pijul/changes/x", false},
        {".jj/REPO/Config.toml", true},
        {".HG/HGRC", true},
        {".gitignore", false},
        {".git-x/config", false},
        {"x.git/config", false},
        {"git", false},
        {"", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].path);
        CHECK_INT(parts_refuse(str_z(rows[i].path)), rows[i].refused);
    }
}

TEST(parts_plain_settings)
{
    static const struct {
        const char *text;
        bool plain;
    } rows[] = {
        {"[core]\nbare = false\n", true},
        {"[core]\nfsmonitor = x\n", false},
        {"[core \"x\"]\nbare = false\n", false},
        {"[core]\nworktree = /\n", false},
        {"[core]\nhooksPath = h\n", false},
        {"[remote \"o\"]\nurl = /srv/x.git\n", true},
        {"[remote \"o\"]\nurl = ext::sh -c x\n", false},
        {"[remote \"o\"]\nurl = --upload-pack=x\n", false},
        {"[remote \"o\"]\nuploadpack = x\n", false},
        {"[remote]\nurl = x\n", false},
        {"[submodule \"s\"]\nupdate = !x\n", false},
        {"[submodule \"s\"]\nurl = x\n", true},
        {"[user]\nname = x\n", true},
        {"[user]\nsigningKey = x\n", false},
        {"[include]\npath = x\n", false},
        {"[branch \"b\"]\nmerge = refs/heads/b\n", true},
        {"[branch \"b\"]\nmerge = --x\n", false},
        {"[branch \"-b\"]\nmerge = refs/heads/b\n", false},
        {"[branch \"fix/#1 (a)\"]\nmerge = refs/heads/b\n", true},
        {"[remote \"--upload-pack=x\"]\npromisor = true\n", false},
        {"[remote \"-x\"]\nurl = /srv/x.git\n", false},
        {"[remote \"ext::x\"]\nfetch = +refs/heads/*:refs/remotes/o/*\n", false},
        {"[remote \"a b\"]\nurl = /srv/x.git\n", false},
        {"[remote \"a;b\"]\nurl = /srv/x.git\n", false},
        {"[remote \"\"]\nurl = /srv/x.git\n", false},
        {"[remote \"a-b_c.d/e+f@g\"]\nurl = /srv/x.git\n", true},
        {"[remote \"o\"]\nfetch = --x\n", false},
        {"[remote \"o\"]\ntagOpt = --no-tags\n", true},
        {"[remote \"o\"]\ntagOpt = --exec=x\n", false},
        {"[extensions]\npartialClone = origin\n", true},
        {"[extensions]\npartialClone = ssh://x\n", false},
        {"[submodule \"-s\"]\nurl = x\n", false},
        {"[submodule \"third party/c++\"]\nurl = x\n", true},
        {"[advice]\ndetachedHead = false\n", true},
        {"[commit]\ngpgSign = false\n", true},
        {"[commit]\ngpgSign = true\n", false},
        {"[commit]\ngpgSign\n", false},
        {"[commit]\ntemplate = x\n", false},
        {"[core]\nautocrlf = input\n", true},
        {"[pull]\nrebase = true\n", true},
        {"[pull]\ntwohead = x/run\n", false},
        {"[gc]\nauto = 0\n", true},
        {"[gc]\nrecentObjectsHook = x\n", false},
        {"[lfs]\nrepositoryFormatVersion = 0\n", true},
        {"[lfs \"extension.x\"]\nclean = x\n", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
        struct gitconfig config;
        test_row(i, rows[i].text);
        CHECK(gitconfig_parse(str_z(rows[i].text), &a, &config) && config.n == 1);
        CHECK_INT(parts_setting_is_plain(&config.p[0]), rows[i].plain);
    }
}

static void add_word(void *context, const struct word *w)
{
    static const char *const bases[] = {
        [WORD_TOP] = "", [WORD_HOME] = "~", [WORD_ROOT] = "", [WORD_TOP | WORD_GITDIR] = "?"};
    struct buf *b = context;
    buf_printf(b, "%s%s" STR_FMT, b->n ? " " : "", bases[w->bases], STR_ARG(w->text));
}

/* On a file system that can't refuse to replace a file, and without hard links. */
static int hold_some(void *arg)
{
    AUTO_BUF struct buf first = BUF_INIT(TEXT_MAX), second = BUF_INIT(TEXT_MAX),
                        third = BUF_INIT(TEXT_MAX);
    AUTO_FD int dir = tree_open(arg);
    if (!child_without_rename_flags() || !child_without_call(SYS_linkat, EPERM) ||
        hold_part(dir, "hooks/a", &first) != 0)
        return 1;
    tree_file(test_path("r/hooks/a"), "2", 0700);
    if (hold_part(dir, "hooks/a", &second) != 0 || str_eq(buf_str(&first), buf_str(&second)))
        return 2;
    if (hold_settings(dir, "config", STR("plain"), &third) != 0)
        return 3;
    return renameat(dir, buf_z(&second), dir, "second") == 0 ? 0 : 4;
}

TEST(hold_on_network_file_systems)
{
    tree_file(test_path("r/hooks/a"), "1", 0700);
    tree_file(test_path("r/config"), "all", 0600);
    tree_file(test_path("r/cordon-held"), "in the way", 0600);
    CHECK_INT(child_run(hold_some, (void *)test_path("r")), 0);
    static const struct {
        const char *path, *text;
    } rows[] = {
        {"cordon-held/hooks/a", "1"},
        {"second", "2"},
        {"cordon-held/config", "all"},
        {"config", "plain"},
    };
    AUTO_FD int dir = tree_open(test_path("r"));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_BUF struct buf text = BUF_INIT(TEXT_MAX);
        test_row(i, rows[i].path);
        CHECK(hold_read(dir, rows[i].path, &text));
        CHECK_STR(buf_str(&text), str_z(rows[i].text));
    }
}

static const struct {
    const char *line, *files;
} commands[] = {
    {"", ""},
    {"true", ""},
    {"input", ""},
    {"./t/clean %f", "./t/clean"},
    {"/usr/bin/gh auth git-credential", "/usr/bin/gh"},
    {"ssh -F .git/ssh_config", ""},
    {"git diff -- . ':(exclude)a/package-lock.json' ':!b/yarn.lock'", ""},
    {"make coverage && xdg-open coverage/index.html", ""},
    {"a/b;c/d&e/f|g/h x/y||i/j\nk/l", "a/b c/d e/f g/h i/j k/l"},
    {"A=b/c D= ./e", "./e"},
    {"sh run.sh a/b", "run.sh"},
    {"sh run", "run"},
    {"sh -eu -o pipefail t/run", "t/run"},
    {"sh -c 'cd x/y && ./run \"$1\"' -- a/b", "./run"},
    {"bash -ec \"$HOME/run; true\"", "~run"},
    {"eval ./a", "./a"},
    {"/bin/sh t/a", "/bin/sh t/a"},
    {"python3.11 -u manage.py", "manage.py"},
    {"python3 -m a/b", ""},
    {"python -W ignore a.py", "a.py"},
    {"perl -pe s/a/b/ c/d", ""},
    {"perl -i.bak -lane 's/a/b/' c/d", ""},
    {"node --eval a/b", ""},
    {"deno run -A a.ts b/c", "a.ts"},
    {"env -i A=b ./c d/e", "./c"},
    {"sudo -u root timeout 5 sh a.sh", "a.sh"},
    {"xargs grep a/b", ""},
    {"exec \"$(git rev-parse --show-toplevel)\"/t/c", "?t/c"},
    {"sh $(./a)/b `c/d e/f`", "./a ?b c/d"},
    {"sh \"${PWD}/a b\"", "a b"},
    {"'./my tools/a' b", "./my tools/a"},
    {"./my\\ tools/a b", "./my tools/a"},
    {"$EDITOR a/b", ""},
    {"t/$x/a", ""},
    {"f() { ./a \"$@\"; b/c; }; f", "./a b/c"},
    {"if ! ./a; then b/c; else d/e; fi", "./a b/c d/e"},
    {"a >b/c 2>&1 <d/e f/g; >x/y ./z", "./z"},
    {"$(", ""},
    {"'./a", "./a"},
    {"sh -c", ""},
    {"$(sh -c \"$(sh -c './a')\")", "./a"},
    {"$($($($($($($($(./a))))))))", ""},
    {"bash -euo pipefail t/a", "t/a"},
    {"bash -euo pipefail -c 't/a'", "t/a"},
    {"bash -eou pipefail +x t/a b/c", "t/a"},
    {"timeout -s KILL 5 t/a b/c", "t/a"},
    {"timeout --signal KILL 5 t/a b/c", "t/a"},
    {"timeout --foreground 5s t/a b/c", "t/a"},
    {"timeout -k 5 5 t/a", "t/a"},
    {"stdbuf -o L t/a", "t/a"},
    {"stdbuf -oL t/a", "t/a"},
    {"python3 -E t/a b/c", "t/a"},
    {"python3 -Es t/a", "t/a"},
    {"python3 -X dev t/a b/c", "t/a"},
    {"perl -I lib t/a b/c", "lib t/a"},
    {"perl -Ilib -w t/a b/c", "t/a"},
    {"perl -i.edited t/a", "t/a"},
    {"perl -E s/a/b/ c/d", ""},
    {"php -d a=b t/a", "a=b t/a"},
    {"php -r a/b c/d", ""},
    {"ruby -r./l t/a b/c", "./l t/a"},
    {"ruby -r ./l t/a b/c", "./l t/a"},
    {"node --require ./n.js t/a b/c", "./n.js t/a"},
    {"node --require=./n.js t/a b/c", "./n.js t/a"},
    {"node --no-warnings t/a b/c", "t/a"},
    {"node -r ./n.js t/a", "./n.js t/a"},
    {"sh -c 'exec \"$0\"' t/a", "t/a"},
    {"sh -c '\"$@\"' - t/a b/c", "- t/a b/c"},
    {"sh -c 'git log \"$@\"' - a/b", ""},
    {"sh -c \"exec \\\"$HOME/a\\\"\"", "~a"},
    {"sh -c -e 't/a'", "t/a"},
    {"2>/dev/null t/a", "t/a"},
    {"t/a 2>b/c", "t/a"},
    {"sh <t/a", "t/a"},
    {"<t/a sh", "t/a"},
    {"sh -s b/c <t/a", "b/c t/a"},
    {"sh t/a <b/c", "t/a"},
    {"wc -l <a/b", ""},
    {"<a/b wc -l", ""},
    {"sh <<<'t/a b/c'", "t/a"},
    {"cat <(t/a)", "t/a"},
    {"trap 't/a' EXIT", "t/a"},
    {"coproc t/a", "t/a"},
    {"env -S 't/a b/c'", "t/a"},
    {"env -S't/a b/c' d/e", "t/a"},
    {"env -u X t/a b/c", "t/a"},
    {"env -uX - A=b t/a b/c", "t/a"},
    {"env --unset X t/a b/c", "t/a"},
    {"env --chdir=a/b t/a", "t/a"},
    {"env --ignore-environment sh t/a", "t/a"},
    {"env --future sh run b/c", "run"},
    {"${X:-t/a} b/c", "t/a"},
    {"${X:-t}/a", "t/a"},
    {"${X-$HOME/a}", "~a"},
    {"git log \"${1:-a/b}\"", ""},
    {"$'t/a'", "t/a"},
    {"~+/t/a", "t/a"},
    {"eval exec t/a", "t/a"},
    {"eval 'exec t/a'", "t/a"},
    {"flock a/b t/a c/d", "a/b t/a"},
    {"nice -n 5 t/a b/c", "t/a"},
    {"nice -5 t/a", "t/a"},
    {"sudo -E t/a b/c", "t/a"},
    {"xargs -0 -n 1 t/a b/c", "t/a"},
    {"command -v a/b", "a/b"},
    {"exec -a x t/a b/c", "t/a"},
    {"time -f a/b t/a c/d", "t/a"},
    {"if [ -x a/b ]; then t/a; fi", "t/a"},
};

TEST(words_of_commands)
{
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        AUTO_BUF struct buf b = BUF_INIT(TEXT_MAX);
        test_row(i, commands[i].line);
        words_each(str_z(commands[i].line), add_word, &b);
        CHECK_STR(buf_str(&b), str_z(commands[i].files));
    }
}

TEST(settings_paths)
{
    static const struct {
        const char *home, *value, *path;
    } rows[] = {
        {"/h", "a/b", "/base/a/b"},
        {"/h", "/a", "/a"},
        {"/h", "~/a", "/h/a"},
        {"/h", "~", "/h/"},
        {"/h", "~root/a", "/root/a"},
        {"/h", "%(prefix)/a", "/usr/a"},
        {"/h", "~there-is-no-such-user/a", NULL},
        {NULL, "~root/a", "/base/~root/a"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
        test_row(i, rows[i].value);
        struct str path = settings_expand(rows[i].home, STR("/base"), str_z(rows[i].value), &a);
        CHECK_STR(path.p ? path : STR("(none)"), str_z(rows[i].path ? rows[i].path : "(none)"));
    }
}
