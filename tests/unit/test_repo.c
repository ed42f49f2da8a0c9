/* Repositories in a tree: which are found, also after changes, and which names are refused. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/buf.h"
#include "repo/parts.h"
#include "repo/protect.h"
#include "repo/quarantine.h"
#include "repo/settings.h"
#include "repo/shell_words.h"
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
static void check_places(struct repo_scan *s, const char *want)
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

TEST(scan_finds_steering_files)
{
    AUTO(scan_done) struct repo_scan s;
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
    AUTO(scan_done) struct repo_scan s;
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

TEST(scan_reports_truncation)
{
    AUTO(scan_done) struct repo_scan s;
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
        CHECK_INT(parts_is_refused(str_z(rows[i].path)), rows[i].refused);
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

static void add_word(void *context, const struct shell_word *w)
{
    static const char *const bases[] = {
        [WORD_TOP] = "", [WORD_HOME] = "~", [WORD_ROOT] = "", [WORD_TOP | WORD_GITDIR] = "?"};
    struct buf *b = context;
    if (w->is_data)
        return;
    buf_printf(b, "%s%s%s" STR_FMT, b->n ? " " : "", w->is_argument ? "=" : "", bases[w->bases],
        STR_ARG(w->text));
}

/* On a file system that can't refuse to replace a file, and without hard links. */
static int hold_some(void *arg)
{
    AUTO_BUF struct buf first = BUF_INIT(TEXT_MAX), second = BUF_INIT(TEXT_MAX),
                        third = BUF_INIT(TEXT_MAX);
    AUTO_FD int dir = tree_open(arg);
    if (!child_without_rename_flags() || !child_without_call(SYS_linkat, EPERM) ||
        quarantine_part(dir, "hooks/a", &first) != 0)
        return 1;
    tree_file(test_path("r/hooks/a"), "2", 0700);
    if (quarantine_part(dir, "hooks/a", &second) != 0 || str_eq(buf_str(&first), buf_str(&second)))
        return 2;
    if (quarantine_settings(dir, "config", STR("plain"), &third) != 0)
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
        CHECK(quarantine_read(dir, rows[i].path, &text));
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
    {"sh -c 'cd x/y && ./run \"$1\"' -- a/b", "./run x/y/run"},
    {"bash -ec \"$HOME/run; true\"", "~run"},
    {"eval ./a", "./a"},
    {"/bin/sh t/a", "/bin/sh t/a"},
    {"python3.11 -u manage.py", "manage.py"},
    {"python3 -m a.b c/d", "a/b.py a/b/__main__.py"},
    {"python3 -um a", "a.py a/__main__.py"},
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
    {"flock a/b t/a c/d", "t/a"},
    {"nice -n 5 t/a b/c", "t/a"},
    {"nice -5 t/a", "t/a"},
    {"sudo -E t/a b/c", "t/a"},
    {"xargs -0 -n 1 t/a b/c", "t/a"},
    {"command -v a/b", "a/b"},
    {"exec -a x t/a b/c", "t/a"},
    {"time -f a/b t/a c/d", "t/a"},
    {"if [ -x a/b ]; then t/a; fi", "t/a"},
    {"\"t/a\\b\" c/d", "t/a\\b"},
    {"\"t/\\\"a\" c/d", "t/\"a"},
    {"env \\\n t/\\\na b/c", "t/a"},
    {">\\\n b/c t/a", "t/a"},
    {"a # it's\nt/a", "t/a"},
    {"a $(b ')' \"(\" \"$(c ')')\")/d; t/a", "t/a"},
    {"a $(b # it's )\n); t/a", "t/a"},
    {"a `b \\`t/a\\``", "t/a"},
    {"${X:-${Y:-t/a}} b/c", "t/a"},
    {"sh -c \"t/\\\na\"", "t/a"},
    {"d=${1:-$(git log -1 | awk '{print $1}')}; sh t/a", "t/a"},
    {"x=${y%%\"}\"*}; sh t/a", "t/a"},
    {"echo \"${x%'}'}\" \"${x:-'}\"; t/a", "t/a"},
    {"echo ${x:-'}'} \"${x:-'\"'}\"; t/a", "t/a"},
    {"echo ${x:-`echo '}'`} ${x:-\\}} ${x:-${y:-'}'}}; t/a", "t/a"},
    {"echo ${x%$(t/a)} \"${x/a/`t/b`}\"", "t/a t/b"},
    {"echo $'it\\'s'; $'t\\x2f\\141'", "t/a"},
    {"sh -c $'echo it\\\\\\'s\\nt/a'", "t/a"},
    {"echo \"$'\"; t/a '\"'", "t/a"},
    {"cat <<E; t/a\nit's\nE\nt/b", "t/a t/b"},
    {"cat <<-'E' <<\\F\n\tit's\n\tE\n\"\nF\nt/a", "t/a"},
    {"cat <<E\nit's $(t/a)\nE\nt/b", "t/a t/b"},
    {"cat <<E\nx\nt/a", "t/a"},
    {"sh <<E\nt/a b/c\nE", "t/a"},
    {"echo $((1<<2)); t/a", "t/a"},
    {"((x<<2)); cat <<E\nit's\nE\nt/a", "t/a"},
    {"$(cat <<E\nit's )\nE\n); t/a", "t/a"},
    {"x=$(echo \"`echo \")\"`\"; sh t/a)", "t/a"},
    {"echo \"$(case $1 in a) t/a;; (b) t/b;; esac)\"; t/c", "t/a t/b t/c"},
    {"sh <(cat t/a)", "=t/a"},
    {"sh -x < <(cat t/a) b/c; t/b >(t/c)", "=t/a b/c t/b t/c"},
    {"diff <(sort a/b) c/d", ""},
    {"eval $(t/a); eval \"$(cat t/b)\"", "t/a =t/b"},
    {"sh -c \"$(cat t/a)\"", "=t/a"},
    {"cat t/a | sh", "=t/a"},
    {"sed s/x/y/ <t/a | grep -v b |\n env X=1 python3 - c", "c =s/x/y/ =t/a =b"},
    {"cat a/b; { cat t/a; } | (true; sh)", "=t/a"},
    {"cat a/b | wc -l; cat c/d | python3 -c 'e/f'; cat g/h || sh", ""},
    {"cat a/b | sh t/a", "t/a"},
    {"cat t/a | sh /dev/stdin", "/dev/stdin =t/a"},
    {"find t -exec t/a {} + -o -ok sh t/b \\;", "t/a t/b"},
    {"make -sf t/a b/c", "t/a"},
    {"awk -F: -ft/a b/c | gawk --file=t/b --file t/c", "t/a t/b t/c"},
    {"sed -n -e s/a/b/ -f t/a b/c", "t/a"},
    {"PATH=t:$PATH a.sh b/c", "t/a.sh"},
    {"export PATH=\"$PWD/t:$HOME/u:$PATH\"; if a; then echo; fi", "t/a ~u/a"},
    {"env PATH=t env a", "t/env t/a"},
    {"cd t && ./a b/c", "./a t/a"},
    {"cd -P -- t/; cd u; sh a", "a t/a u/a t/u/a"},
    {"cd \"$HOME/t\" || exit; ./a", "./a ~t/a"},
    {"cd \"$(git rev-parse --show-toplevel)\" && ./a", "./a"},
    {"cd /t; $PWD/a", "a /t/a"},
    {"${X:+t/a} b/c", "t/a"},
    {"${X:-sh -e} t/a b/c", "t/a"},
    {"sh ${X:+-e t/a} b/c", "t/a"},
    {"\"${X:-t/a b}\" c/d", "t/a b"},
    {"flock -n a/b t/a c/d", "t/a"},
    {"flock -w 10 a/b t/a", "t/a"},
    {"flock -x a/b sh t/a", "t/a"},
    {"flock --wait 10 a/b t/a", "a/b t/a"},
    {"flock a/b -c \"exec t/a\"", "t/a"},
    {"PATH=\"$PWD/t${PATH:+:$PATH}\" a.sh", "t/a.sh"},
    {"PATH=\"${PATH:+$PATH:}t\" a", "t/a"},
    {"PATH=${T:-t}:$PATH a", "t/a"},
    {"PATH=\"t:$HOME/u\":'v w:x' a", "t/a ~u/a v w/a x/a"},
    {"PATH=$(b c:d)/t:u a", "?t/a u/a"},
    {"PATH=t\\:u:v\\ w a", "t:u/a v w/a"},
    {"PATH=:$PATH a", "a"},
    {"$(which sh) t/a b/c", "=sh t/a"},
    {"\"$(command -v bash)\" -e t/a b/c", "t/a"},
    {"\"`command -v python3 || command -v python`\" t/a", "t/a"},
    {"SHELL=/bin/sh; $SHELL t/a", "t/a"},
    {"$PYTHON t/a b/c", "t/a"},
    {"T=5; timeout $T t/a b/c", "t/a"},
    {"timeout -s KILL \"$T\" sh t/a", "t/a"},
    {"timeout --future 5 sh t/a", "t/a"},
    {"chrt -f 50 t/a b/c", "t/a"},
    {"\"${HOME:?}/t/a\"", "~t/a"},
    {"\"${HOME%/}/t/a\" \"${HOME%/*}/b\"", "~t/a"},
    {"\"${PWD%/*}/t/a\"", "?t/a"},
    {"cd \"$HOME\" && t/a", "t/a ~t/a"},
    {"cd && t/a", "t/a ~t/a"},
    {"cd -P; sh t/a", "t/a ~t/a"},
    {"sh \"$(git rev-parse --show-cdup)t/a\"", "=rev-parse t/a"},
    {"sh \"$(realpath t/a)\"", "=t/a"},
    {"sh \"-c\" \"t/a b/c\"", "t/a"},
    {"sh '-e' t/a", "t/a"},
    {"sh <>t/a", "t/a"},
    {"sh 0<t/a", "t/a"},
    {"script -qc t/a /dev/null", "t/a"},
    {"script -q -c 't/a b/c' d/e", "t/a"},
    {"unshare -r setpriv --reuid 5 prlimit --nofile=10 setarch x86_64 -R tcsh t/a", "t/a"},
};

TEST(shell_words_of_commands)
{
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        AUTO_BUF struct buf b = BUF_INIT(TEXT_MAX);
        test_row(i, commands[i].line);
        (void)shell_words_each(str_z(commands[i].line), add_word, &b);
        CHECK_STR(buf_str(&b), str_z(commands[i].files));
    }
}

static void add_data(void *context, const struct shell_word *w)
{
    struct buf *b = context;
    if (w->is_data)
        buf_printf(b, "%s" STR_FMT, b->n ? " " : "", STR_ARG(w->text));
}

TEST(shell_words_arguments_of_other_programs)
{
    static const struct {
        const char *line, *files;
    } rows[] = {
        {"run-it -v package.json --config=t/a -- t/b", "package.json t/a t/b"},
        {"t/a t/b", "t/b"},
        {"$EDITOR t/a", "t/a"},
        {"exec \"$X\" t/a", "t/a"},
        {"timeout 5 run-it t/a", "t/a"},
        {"run-it \"$PWD/t/a\"; jq . package.json", "t/a"},
        {"for f in t/a; do sh \"$f\"; done", "f in t/a"},
        {"find t/a -exec {} \\;", "t/a ;"},
        {"exec 3<t/a; sh <&3", "t/a"},
        {"S=t/a; sh $S", "t/a"},
        {"node t/a", "t/a.js t/a.cjs t/a.mjs t/a/index.js"},
        {"git diff t/a && cat t/a | grep -f t/b >t/c 2>t/d", ""},
        {"[ -x t/a ] && echo t/a", ""},
        {"sh t/a t/b", ""},
        {"code --wait t/a; /usr/bin/less t/a", ""},
        {"t/cat t/a", "t/a"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_BUF struct buf b = BUF_INIT(TEXT_MAX);
        test_row(i, rows[i].line);
        (void)shell_words_each(str_z(rows[i].line), add_data, &b);
        CHECK_STR(buf_str(&b), str_z(rows[i].files));
    }
}

TEST(shell_words_limits)
{
    static const struct {
        const char *part;
        unsigned times;
        bool complete;
    } rows[] = {
        {"t/a;", 5000, true},
        {"t/a;", 20001, false},
        {"$(", 5, true},
        {"$(", 6, false},
        {"${X:-", 8, false},
        {"cd a;", 8, true},
        {"cd a;", 9, false},
        {"PATH=a:b:c:d:e:f:g:h;", 9, true},
        {"PATH=a:b:c:d:e:f:g:h:i;", 1, false},
        {"a|sh|", 10000, true},
        {"PATH=${X:-", 8, false},
        {"<<a\n", 100, true},
        {"<<a\n", 10000, false},
        {"<<a ", 8, true},
        {"<<a ", 9, false},
        {"echo $((1<<2));", 100, true},
        {"<<$(", 15000, false},
        {"((", 8, true},
        {"((", 9, false},
        {"if ", 17, false},
        {"\"$(", 17, false},
        {"./a;cd /a;cd /b;", 6667, true},
        {"./a;cd /a;cd /b;", 6668, false},
        {"\"${X:-'", 10000, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_BUF struct buf line = BUF_INIT(1 << 20), found = BUF_INIT(1 << 20);
        test_row(i, rows[i].part);
        for (unsigned k = 0; k < rows[i].times; k++)
            buf_add_z(&line, rows[i].part);
        CHECK_INT(shell_words_each(buf_str(&line), add_word, &found), rows[i].complete);
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

/* The time of this was quadratic: each substitution looks for the end of its here-document. */
TEST(shell_words_search_each_byte_a_limited_number_of_times)
{
    AUTO_BUF struct buf line = BUF_INIT(1 << 20), found = BUF_INIT(1 << 20);
    for (unsigned i = 0; i < 5; i++)
        buf_add_z(&line, "\"$( ");
    for (unsigned i = 0; i < 3000; i++)
        buf_add_z(&line, "$(<<a\n)");
    for (unsigned i = 0; i < 30000; i++)
        buf_add_byte(&line, '\n');
    clock_t start = clock();
    CHECK(!shell_words_each(buf_str(&line), add_word, &found));
    CHECK(clock() - start < CLOCKS_PER_SEC);
}

TEST(settings_follow_as_many_includes_as_git)
{
    for (unsigned depth = 9; depth <= 11; depth++) {
        struct settings_budget budget = {0};
        AUTO(settings_done) struct settings s = SETTINGS_INIT(NULL, &budget);
        bool found = false;
        for (unsigned i = 0; i <= depth; i++) {
            char text[64] = "[core]\nhooksPath = found\n";
            if (i < depth)
                snprintf(text, sizeof(text), "[include]\npath = c%u\n", i + 1);
            tree_file(test_path("c%u", i), text, 0600);
        }
        test_row(depth, "includes");
        settings_read(&s, str_z(test_path("c0")));
        for (size_t i = 0; i < s.n; i++)
            found |= s.p[i].kind == SETTING_HOOKS;
        CHECK_INT(found, depth <= 10);
        CHECK_INT(budget.cut, depth > 10);
    }
}

TEST(settings_count_of_the_environment)
{
    static const struct {
        const char *count;
        size_t n;
        bool cut;
    } rows[] = {
        {"1", 1, false},
        {"+1", 1, false},
        {" 1", 1, false},
        {"1001", 1, true},
        {"2147483647", 1, true},
        {"2147483648", 0, false},
        {"-1", 0, false},
        {"1x", 0, false},
        {"0", 0, false},
    };
    setenv("GIT_CONFIG_KEY_0", "core.hooksPath", true);
    setenv("GIT_CONFIG_VALUE_0", "h", true);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct settings_budget budget = {0};
        AUTO(settings_done) struct settings s = SETTINGS_INIT(NULL, &budget);
        size_t n = 0;
        test_row(i, rows[i].count);
        setenv("GIT_CONFIG_COUNT", rows[i].count, true);
        settings_read_environment(&s);
        for (size_t k = 0; k < s.n; k++)
            n += s.p[k].kind == SETTING_HOOKS;
        CHECK_INT(n, rows[i].n);
        CHECK_INT(budget.cut, rows[i].cut);
    }
    unsetenv("GIT_CONFIG_COUNT");
}

TEST(settings_commands_and_programs)
{
    static const struct {
        const char *text, *commands, *programs;
    } rows[] = {
        {"[gpg]\nprogram = my tools/gpg", "my tools/gpg|", "my tools/gpg|"},
        {"[gpg \"ssh\"]\nprogram = tools/gpg", "tools/gpg|", ""},
        {"[core]\naskpass = a b/c", "a b/c|", "a b/c|"},
        {"[core]\ngitProxy = \"my tools/p for host\"", "my tools/p for host|", "my tools/p|"},
        {"[mergetool \"x\"]\npath = a b/c\ncmd = d e/f", "a b/c|d e/f|", "a b/c|"},
        {"[sendemail]\nsmtpServer = mail.example.org", "mail.example.org|", ""},
        {"[core]\neditor = code --wait", "code --wait|", ""},
        {"[lfs \"customtransfer.x\"]\npath = python3\nargs = t/a b", "python3|python3 t/a b|", ""},
        {"[lfs \"customtransfer.x\"]\nargs = t/a\npath = sh", "sh|sh t/a|", ""},
        {"[lfs \"customtransfer.x\"]\npath = sh\n[lfs \"customtransfer.y\"]\nargs = a", "sh|", ""},
        {"[submodule \"x\"]\nupdate = !t/a b", "t/a b|", ""},
        {"[submodule \"x\"]\nupdate = rebase", "", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct settings_budget budget = {0};
        AUTO(settings_done) struct settings s = SETTINGS_INIT(NULL, &budget);
        AUTO_BUF struct buf others = BUF_INIT(TEXT_MAX), programs = BUF_INIT(TEXT_MAX);
        test_row(i, rows[i].text);
        tree_file(test_path("c"), rows[i].text, 0600);
        settings_read(&s, str_z(test_path("c")));
        for (size_t k = 0; k < s.n; k++)
            buf_printf(s.p[k].kind == SETTING_PROGRAM ? &programs : &others, STR_FMT "|",
                STR_ARG(s.p[k].value));
        CHECK_STR(buf_str(&others), str_z(rows[i].commands));
        CHECK_STR(buf_str(&programs), str_z(rows[i].programs));
    }
}
