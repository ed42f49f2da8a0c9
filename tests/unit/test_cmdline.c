/* Command lines as rules see them: which are plain, what hides in them, which are covered. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/json.h"
#include "io/file.h"
#include "tool/cmdline.h"
#include "tool/limit.h"
#include "tool/rule.h"

#include <fcntl.h>

enum {
    VECTORS_MAX = 4 << 20,
};

/* a,b|c,d for two commands; "-" in front: not plain */
static void show(const struct cmdline *s, struct buf *b)
{
    buf_add_z(b, s->why ? "-" : "");
    for (size_t i = 0; i < s->n; i++) {
        buf_add_z(b, i ? "|" : "");
        for (size_t w = 0; w < s->commands[i].n; w++) {
            buf_add_z(b, w ? "," : "");
            buf_add_str(b, s->commands[i].words[w]);
        }
    }
}

struct row {
    const char *text, *want;
};

static void check_commands(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        test_row(i, rows[i].text);
        AUTO_ARENA struct arena a = ARENA_INIT(2 * CMDLINE_ARENA);
        AUTO_BUF struct buf got = BUF_INIT(10000);
        struct cmdline s;
        cmdline_parse(str_z(rows[i].text), &a, &s);
        show(&s, &got);
        CHECK_Z(buf_z(&got), rows[i].want);
    }
}

TEST(cmdline_finds_every_command)
{
    static const struct row rows[] = {
        {"ls -1", "ls,-1"},
        {"ls && pwd; echo 'hi there' | wc -l", "ls|pwd|echo,hi there|wc,-l"},
        {"a\nb\n\nc\n", "a|b|c"},
        {"ls;", "ls"},
        {"a \\\n b", "-a,b"},
        {"ls # rm -rf x\npwd", "ls|pwd"},
        {"ls 2>&1 >/dev/null", "ls"},
        {"ls > out", "-ls"},
        {"ls >| out", "-ls"},
        {"ls &> out; b", "-ls|b"},
        {"cat < in", "-cat"},
        {"cat <<'E'\n$(rm x)\nE\nls", "cat|ls"},
        {"cat <<E\nplain\nE\nls", "cat|ls"},
        {"cat <<-E | wc\n\ttext\n\tE\nls", "-cat|wc|ls"},
        {"cat <<-E | wc\ntext\nE\nls", "cat|wc|ls"},
        {"cat <<E\n$(rm x)\nE\nls", "-rm,x|cat|ls"},
        {"cat <<E\nno end", "-cat"},
        {"cat <<< \"$(id)\"", "-id|cat"},
        {"echo $(pwd)", "-pwd|echo,"},
        {"echo `rm \\`id\\``", "-id|rm,|echo,"},
        {"echo \"a $(b \"$(c)\") d\"", "-c|b,|echo,a  d"},
        {"echo ${x:-$(rm y)}", "-rm,y|echo,"},
        {"diff <(a) <(b)", "-a|b|diff"},
        {"(ls; pwd)", "-ls|pwd"},
        {"if a; then b; else c; fi", "-a|b|c"},
        {"for x in 1 2; do rm $x; done", "-rm,$x"},
        {"while a; do b; done", "-a|b"},
        {"case $x in a) b ;; c|d) e ;; esac", "-a|b|c|d|e"},
        {"f() { rm x; }; f", "-f|rm,x|f"},
        {"! a", "-a"},
        {"X=1 ls", "-ls"},
        {"a & b", "-a|b"},
        {"a &", "-a"},
        {"ls *", "-ls,*"},
        {"ls ~", "-ls,~"},
        {"l\\s", "-ls"},
        {"echo $'a'", "-echo,$a"},
        {"echo 'a", "-echo,"},
        {"echo \"a", "-echo,a"},
        {"(a", "-a"},
        {"a)", "-a"},
        {"", "-"},
        {"git status\r# ; echo x", "-git,status\r#|echo,x"},
        {"git\r/x", "-git\r/x"},
        {"ls \x15 rm x\n", "-ls,\x15,rm,x"},
        {"ls '\x15'", "-ls,\x15"},
        {"ls\tx", "-ls,x"},
        {"ls 12>/dev/null", "ls"},
        {"ls 12 >/dev/null", "ls,12"},
        {"ls <&-2", "-ls"},
        {"ls <&-''", "-ls"},
        {"ls <<ls 'a\n; touch x\nls\n'", "-ls,a\n"},
        {"ls <<\\\n-E\nx\nE", "-ls"},
        {"&& a", "-a"},
        {"a &&", "-a"},
        {"a || \n b", "a|b"},
        {"caf\xc3\xa9 \xe6\x97\xa5", "caf\xc3\xa9,\xe6\x97\xa5"},
    };
    check_commands(rows, ARRAY_LEN(rows));
}

TEST(cmdline_finds_commands_that_others_run)
{
    static const struct row rows[] = {
        {"env -i A=1 B=2 rm -rf x", "-env,-i,A=1,B=2,rm,-rf,x|rm,-rf,x"},
        {"env A=1 rm -rf x", "env,A=1,rm,-rf,x|rm,-rf,x"},
        {"sudo -u me -- ls", "-sudo,-u,me,--,ls|ls"},
        {"timeout -k 1 5 ls -l", "-timeout,-k,1,5,ls,-l|ls,-l"},
        {"find . -exec rm x '{}' ';' -print", "find,.,-exec,rm,x,{},;,-print|rm,x,{}"},
        {"find . -exec", "-find,.,-exec"},
        {"bash -lc 'a && b'", "bash,-lc,a && b|a|b"},
        {"bash -c 'bash -c \"rm x\"'", "bash,-c,bash -c \"rm x\"|bash,-c,rm x|rm,x"},
        {"bash -c \"$x\"", "-bash,-c,$x|$x"},
        {"eval rm x", "eval,rm,x|rm,x"},
        {"trap 'rm x' EXIT", "trap,rm x,EXIT|rm,x"},
        {"env", "env"},
    };
    check_commands(rows, ARRAY_LEN(rows));
}

/* A text that is too long to be examined must not count in a rule's favour. */
TEST(cmdline_has_limits)
{
    static const struct {
        const char *unit;
        size_t n;
    } rows[] = {{"a;", 100000}, {"a;", 2000}, {"$(", 10000}, {"`", 30000}, {"(", 30000},
        {"<<E\n", 10000}, {"cat <<E $(a)\nE\n", 3000}, {"bash -c ", 5000}, {"env ", 10000},
        {"\"$(", 5000}, {"${", 20000}, {"if ", 20000}, {"case x in ", 5000}, {"a ", 30000}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].unit);
        AUTO_ARENA struct arena a = ARENA_INIT(2 * CMDLINE_ARENA);
        AUTO_BUF struct buf text = BUF_INIT(1 << 20);
        for (size_t k = 0; k < rows[i].n; k++)
            buf_add_z(&text, rows[i].unit);
        struct cmdline s;
        cmdline_parse(buf_str(&text), &a, &s);
        CHECK(s.why != NULL);
        CHECK(s.n <= CMDLINE_COMMANDS_MAX);
    }
}

static const struct {
    const char *rule, *line;
    bool covered;
} covered_rows[] = {
    {"shell:git *", "git status", true},
    {"shell:git *", "git", true},
    {"shell:git *", "git status && rm -rf x", false},
    {"shell:git *", "git status; git log | git shortlog", true},
    {"shell:git *", "git $(rm x)", false},
    {"shell:git *", "git `rm x`", false},
    {"shell:git *", "git log > x", false},
    {"shell:git *", "git log 2>&1", true},
    {"shell:git *", "./git status", false},
    {"shell:git *", "/tmp/git status", false},
    {"shell:git *", "gitk", false},
    {"shell:git *", "X=1 git status", false},
    {"shell:git *", "git -c alias.x=!rm x", false},
    {"shell:git status", "git status -s", false},
    {"shell:git status", "git 'status -s'", false},
    {"shell:git * -s", "git status -s", true},
    {"shell:npm run test:*", "npm run test:unit", true},
    {"shell:npm run test:*", "npm run build", false},
    {"shell:*", "ls -l && make", true},
    {"shell:*", "rm -rf x", false},
    {"shell:rm *", "rm -rf x", true},
    {"shell:*", "curl x | sh", false},
    {"shell:git *", "git status\r# ; echo x", false},
    {"shell:*", "env -S 'touch z'", false},
    {"shell:*", "env --unset git touch z", false},
    {"shell:*", "xargs -0I git rm x", false},
    {"shell:*", "bash -O extglob -c 'rm x'", false},
    {"shell:*", "rm -r --forc x", false},
    {"shell:*", "find . -fprintf x y", false},
    {"shell:*", "git --no-pager -c alias.x=y x", false},
    {"shell:env *", "env rm x", false},
    {"shell:bash *", "bash -c 'rm x'", false},
    {"shell:find *", "find . -exec rm '{}' +", false},
    {"bash:git *", "git status", true},
    {"exec_command:git *", "git status", false},
    /* only a rule without `*` covers commands that run more than their words show */
    {"shell:git *", "git -c a.b=c status", false},
    {"shell:git -c *", "git -c a.b=c status", false},
    {"shell:git -c a.b=c *", "git -c a.b=c status", false},
    {"shell:git -c a.b=c status", "git -c a.b=c status", true},
    {"shell:git -C *", "git -C sub status", false},
    {"shell:git * --hard", "git reset --hard", false},
    {"shell:git reset *", "git reset --har", false},
    {"shell:git reset --hard", "git reset --hard", true},
    {"shell:git reset *", "git reset --soft", true},
    {"shell:git *", "git clean -fd", false},
    {"shell:git push *", "git push --force-with-lease", false},
    {"shell:git push *", "git push origin +main", false},
    {"shell:git push *", "git push -u origin main", true},
    {"shell:git *", "git --no-pager log --oneline -5", true},
    {"shell:git *", "git --bare status", false},
    {"shell:git *", "git commit -m 'a: b'", true},
    {"shell:git *", "git log --grep a::b -p", true},
    {"shell:git *", "git fetch ext::sh", false},
    {"shell:git *", "git push --repo=ext::sh", false},
    {"shell:git *", "git config user.name", false},
    {"shell:git *", "git config --get user.name", true},
    {"shell:git *", "git config --global --list", true},
    {"shell:git *", "git config core.hooksPath list", false},
    {"shell:git *", "git config core.pager --get", false},
    {"shell:git *", "git config --get x --unset", false},
    {"shell:git *", "git help -w log", false},
    {"shell:git *", "git hook run x", false},
    {"shell:git *", "git send-email x", false},
    {"shell:git *", "git mergetool", false},
    {"shell:git *", "git checkout -f", false},
    {"shell:git *", "git checkout main", true},
    {"shell:git *", "git stash", true},
    {"shell:git *", "git stash clear", false},
    {"shell:git *", "git worktree add x", true},
    {"shell:git *", "git diff --stat HEAD", true},
    {"shell:git *", "git rev-parse --show-toplevel", true},
    {"shell:test *", "test -f README", true},
    {"shell:test *", "test -v x", false},
    {"shell:test *", "test a -nt b -a -r c", true},
    {"shell:test -v x", "test -v x", true},
    {"shell:t*t *", "test -v x", false},
    {"shell:*", "test -v x", false},
    {"shell:printf *", "printf '%s\\n' a", true},
    {"shell:printf *", "printf -v x a", false},
    {"shell:printf *", "printf '%-5n' x", false},
    {"shell:printf *", "printf '100%%n'", true},
    {"shell:echo *", "echo 'x[$(touch y)]'", true},
    {"shell:cd *", "cd src", true},
    {"shell:wait *", "wait", true},
    {"shell:export *", "export A=1", false},
    {"shell:export A=1", "export A=1", true},
    {"shell:hash *", "hash -r", true},
    {"shell:find *", "find . -name '*.c' -type f", true},
    {"shell:find *", "find . -delete", false},
    {"shell:tar *", "tar -tzf a.tgz", true},
    {"shell:tar *", "tar tf a.tar", true},
    {"shell:tar *", "tar xFf a b", false},
    {"shell:tar *", "tar -tf host:a", false},
    {"shell:tar *", "tar -tf ./a:b", true},
    {"shell:sort *", "sort -rnk2", true},
    {"shell:sed *", "sed -n '1,5p' x", true},
    {"shell:sed *", "sed -e 's/a\\/b/c/g;/x/,$d' -e '$!N;P;D' x", true},
    {"shell:sed *", "sed -E 's|a|b|2gI; 5q' x", true},
    {"shell:sed *", "sed '/a/{s/b/c/;p}' x", true},
    {"shell:sed *", "sed -i 's/a/b/' x", true},
    {"shell:sed *", "sed '2a text; e date' x", true},
    {"shell:sed *", "sed ':a;N;$!ba;s/x/y/' x", true},
    {"shell:sed *", "sed 's/a/b/ge' x", false},
    {"shell:sed *", "sed '/x/e' y", false},
    {"shell:sed *", "sed 'p;w y' x", false},
    {"shell:sed *", "sed -n '1,5p;W y' x", false},
    {"shell:sed *", "sed -nf y x", false},
    {"shell:sed *", "sed --file=y x", false},
    {"shell:sed *", "sed --exp=p x", false},
    {"shell:sed *", "sed -- e x", false},
    {"shell:sed *", "sed x -e e", false},
    {"shell:sed *", "sed '\\,x,w y' x", false},
    {"shell:awk *", "awk -F: '{print $1}' x", true},
    {"shell:awk *", "awk -v a=1 '{print a}' x", true},
    {"shell:awk *", "awk -f x y", false},
    {"shell:gawk *", "gawk -l x '{print}'", false},
    {"shell:awk *", "awk '{print > $1}' x", false},
    {"shell:less *", "less +!x y", false},
    {"shell:man *", "man -P x ls", false},
    {"shell:man *", "man ls", true},
    {"shell:rg *", "rg --pre ./x y", false},
    {"shell:rg *", "rg --pretty -n y", true},
    {"shell:fd *", "fd x -x rm", false},
    {"shell:npm *", "npm test --script-shell=./x", false},
    {"shell:npm *", "npm test", true},
    {"shell:go *", "go test -exec ./x", false},
    {"shell:go *", "go vet -vettool=./x", false},
    {"shell:go *", "go test ./x", true},
    {"shell:cargo *", "cargo --config x build", false},
    {"shell:make *", "make -j4 test", true},
    {"shell:make *", "make CC=./x", false},
    {"shell:nc *", "nc -e x", false},
    {"shell:rustc *", "rustc -Clinker=./x y.rs", false},
    {"shell:rustc *", "rustc --edition 2021 y.rs", true},
    {"shell:cmake *", "cmake -E env x", false},
    {"shell:cmake *", "cmake --build build -j4", true},
    {"shell:ip *", "ip netns exec a x", false},
    {"shell:ip *", "ip addr", true},
    {"shell:gpg *", "gpg --photo-v x --list-keys", false},
    {"shell:su *", "su -c x", false},
    {"shell:ls *", "ls -la src", true},
    {"shell:cat *", "cat x | cat y", true},
    {"shell:echo *", "echo a | xargs echo", false},
    {"shell:xargs *", "xargs", false},
    {"shell:env *", "env A=1 env", false},
    /* git runs git-NAME, from the working directory if there is a slash, and aliases */
    {"shell:git *", "git a/b", false},
    {"shell:git *", "git remote-a/b x", false},
    {"shell:git *", "git foo", false},
    {"shell:git *", "git ''", false},
    {"shell:git *", "git merge-index ./e.sh -a", false},
    {"shell:git *", "git submodule--helper foreach x", false},
    {"shell:git *", "git ./status", false},
    {"shell:git foo", "git foo", true},
    {"shell:git *", "git restore .", false},
    {"shell:git *", "git prune", false},
    {"shell:git *", "git update-ref refs/heads/a b", false},
    {"shell:git *", "git gc --prune=now", false},
    {"shell:git *", "git gc", true},
    {"shell:git *", "git tag -f v1", false},
    {"shell:git *", "git tag --delete v1", false},
    {"shell:git *", "git tag v1.2", true},
    {"shell:git *", "git checkout -- .", false},
    {"shell:git *", "git checkout .", false},
    {"shell:git *", "git checkout a.c", false},
    {"shell:git *", "git checkout HEAD a", false},
    {"shell:git *", "git checkout --theirs a", false},
    {"shell:git *", "git checkout --pathspec-from-file=a", false},
    {"shell:git *", "git checkout -B a", false},
    {"shell:git *", "git checkout -", true},
    {"shell:git *", "git checkout -q main", true},
    {"shell:git *", "git checkout -b feature/x origin/main", true},
    {"shell:git *", "git checkout --track origin/x", true},
    {"shell:git *", "git switch feature/x", true},
    {"shell:git *", "git switch -C x", false},
    {"shell:git *", "git branch -M a b", false},
    {"shell:git *", "git branch -d a", true},
    {"shell:git *", "git fetch origin +a:b", false},
    {"shell:git *", "git fetch --all --tags", true},
    {"shell:git *", "git pull --rebase", true},
    {"shell:git *", "git pull --force", false},
    {"shell:git *", "git remote set-url origin x", false},
    {"shell:git *", "git remote -v", true},
    {"shell:git *", "git reset --merge", false},
    {"shell:git *", "git reset HEAD a.c", true},
    {"shell:git *", "git format-patch -o /tmp HEAD~1", false},
    {"shell:git *", "git cherry-pick abc", true},
    {"shell:git *", "git submodule update --init", true},
    {"shell:git *", "git submodule deinit -f x", false},
    /* find: `+` only ends a command after {}, and {} is replaced by names */
    {"shell:*", "find a -exec sed + -e '1e touch x' a ';'", false},
    {"shell:*", "find a -exec echo x", false},
    {"shell:*", "find a -exec ';'", false},
    {"shell:*", "find . -ok echo '{}' + -o -ok touch x ';'", false},
    {"shell:*", "find . -exec '{}' ';'", false},
    {"shell:*", "find '1e touch x' -exec sed '{}' a ';'", false},
    {"shell:*", "find . -exec sed 's/a/{}/' a ';'", false},
    {"shell:*", "find . -name x -exec grep -n y '{}' +", true},
    {"shell:*", "find ./a ./b -exec grep -n y '{}' ';' -exec ls '{}' +", true},
    {"shell:*", "find src -exec make ';'", true},
    /* options of sed and awk that take a value */
    {"shell:sed *", "sed --line-length p '1e touch x' a", false},
    {"shell:sed *", "sed --line-length=5 -n l a", true},
    {"shell:sed *", "sed -l p '1e touch x' a", false},
    {"shell:sed *", "sed --expression '1e touch x' a", false},
    {"shell:sed *", "sed --expression p a", true},
    {"shell:sed *", "sed -s -E -n p a b", true},
    {"shell:sed *", "sed -i.bak s/a/b/ x", true},
    {"shell:sed *", "sed -i'../*' s/a/b/ x", false},
    {"shell:sed *", "sed --in-place=../x s/a/b/ y", false},
    {"shell:awk *", "awk -F , '{system(1)}' x", false},
    {"shell:awk *", "awk -F , '{print $2}' x", true},
    /* in another directory the same words run other files */
    {"shell:*", "cd x && git status", false},
    {"shell:*", "cd x && make", false},
    {"shell:*", "pushd x; ninja; popd", false},
    {"shell:*", "cd x && cargo build", false},
    {"shell:*", "cd x && npm test", false},
    {"shell:*", "cd x && ./run", false},
    {"shell:*", "(cd x; pytest)", false},
    {"shell:*", "cd x && ls -l | grep y", true},
    {"shell:*", "./run", true},
    /* other names of the same programs */
    {"shell:*", "x86_64-linux-gnu-gcc-12 -B. a.c", false},
    {"shell:*", "gcc-12 -wrapper ./x a.c", false},
    {"shell:*", "gcc-12 -O2 -c a.c", true},
    {"shell:*", "clang-14 -fplugin=./x a.c", false},
    {"shell:*", "gcc --prefix=. a.c", false},
    {"shell:*", "gcc -Wl,@x a.c", false},
    {"shell:*", "gcc @x", false},
    {"shell:*", "gtar --to-command=./x -xf a", false},
    {"shell:*", "gsed '1e touch x' a", false},
    {"shell:*", "gfind . -exec touch x", false},
    {"shell:*", "gxargs", false},
    {"shell:*", "genv -S 'touch x'", false},
    /* programs whose options start others, or write */
    {"shell:*", "sqlite3 a.db '.shell touch x'", false},
    {"shell:*", "sqlite3 a.db -cmd '.shell x'", false},
    {"shell:*", "sqlite3 -init x a.db", false},
    {"shell:*", "sqlite3 a.db \"select LOAD_extension('x')\"", false},
    {"shell:*", "sqlite3 ./a.db 'select 1'", true},
    {"shell:*", "psql -c '\\! x'", false},
    {"shell:*", "psql --file=x", false},
    {"shell:*", "psql -l", true},
    {"shell:*", "mysql -e 'system x'", false},
    {"shell:*", "nm --plugin ./x a", false},
    {"shell:*", "gcc-ar-12 --plugin ./x t a", false},
    {"shell:*", "strip --plugin=./x a", false},
    {"shell:*", "objdump @x", false},
    {"shell:*", "objdump -d a", true},
    {"shell:*", "ld -plugin ./x a", false},
    {"shell:*", "cmake -P x", false},
    {"shell:*", "cmake --toolchain x", false},
    {"shell:*", "cmake --build b -- SHELL=./x", false},
    {"shell:*", "go build -ldflags '-extld=./x'", false},
    {"shell:*", "go env -w GOFLAGS=x", false},
    {"shell:*", "go -C x test", false},
    {"shell:*", "go build -o a ./...", true},
    {"shell:*", "svn diff --diff-cmd ./x", false},
    {"shell:*", "svn --config-option a:b:c=./x log", false},
    {"shell:*", "svn log", true},
    {"shell:*", "hg --config alias.x=y x", false},
    {"shell:*", "hg --cwd x log", false},
    {"shell:*", "hg log", true},
    {"shell:*", "ip netns ex a x", false},
    {"shell:*", "ip -batch x", false},
    {"shell:*", "ip addr show eth0", true},
    {"shell:*", "ssh host true", false},
    {"shell:ssh host true", "ssh host true", true},
    {"shell:*", "scp -J x a b", false},
    {"shell:*", "tar --index-file=x -tf a", false},
    {"shell:*", "tar -cg x -f a b", false},
    {"shell:*", "tar cgf x a b", false},
    {"shell:*", "tar -cf a -T x", false},
    {"shell:*", "tar --volno-file x -tf a", false},
    {"shell:*", "curl -so x http://a", false},
    {"shell:*", "curl --outp x http://a", false},
    {"shell:*", "curl -K x", false},
    {"shell:*", "curl -sSfL http://a", true},
    {"shell:*", "wget -qO x http://a", false},
    {"shell:*", "wget --use-askpass=./x http://a", false},
    {"shell:*", "wget -e x=y http://a", false},
    {"shell:*", "cargo -C x build", false},
    {"shell:*", "meson compile -C x", false},
    /* its input is not in the rule */
    {"shell:python3", "python3 <<<x", false},
    {"shell:python3 *", "python3 <<<x", true},
    {"shell:python3.11", "python3.11 <<<x", false},
    {"shell:*", "python3 <<<x", false},
    {"shell:python3", "python3", true},
    {"shell:bash", "bash <<<x", false},
    {"shell:bash *", "bash <<<x", false},
    {"shell:bash *", "bash x <<E\ny\nE", false},
    {"shell:sh *", "sh <<<x", false},
    {"shell:bash *", "bash", true},
    {"shell:cat", "cat <<<x", true},
};

TEST(rules_cover_each_simple_command)
{
    for (size_t i = 0; i < ARRAY_LEN(covered_rows); i++) {
        test_row(i, covered_rows[i].line);
        AUTO_ARENA struct arena a = ARENA_INIT(2 * CMDLINE_ARENA);
        struct str rule = str_z(covered_rows[i].rule);
        struct str_list list = {&rule, 1};
        struct rule_set rules = {{&list, NULL}};
        const char *why = NULL;
        CHECK(rule_covers_command(&rules, "shell", str_z(covered_rows[i].line), &a, &why) ==
              covered_rows[i].covered);
        CHECK((why == NULL) == covered_rows[i].covered);
    }
}

TEST(rules_cover_paths)
{
    static const struct {
        const char *rule, *paths;
        bool covered;
    } rows[] = {
        {"write_file:src/", "src/a.c", true},
        {"write_file:src/", "src/a.c\nsrc/b.c", true},
        {"write_file:src/", "src/a.c\nb.c", false},
        {"write_file:src/", "srcs/a.c", false},
        {"write_file:src/", "src", false},
        {"write_file:*.md", "docs/x.md", true},
        {"write_file:a", "a", true},
        {"write_file:a", "ab", false},
        {"write:*", "x", true},
        {"edit_file:*", "x", false},
        {"write_file:*", "", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].paths);
        struct str rule = str_z(rows[i].rule);
        struct str_list list = {&rule, 1};
        struct rule_set rules = {{&list, NULL}};
        CHECK(rule_covers_paths(&rules, "write_file", str_z(rows[i].paths)) == rows[i].covered);
    }
}

/* The rule that `always` would add covers the command in question, and nothing else. */
TEST(rules_are_proposed)
{
    static const struct {
        const char *line, *rule;
    } rows[] = {
        {"git status -s", "shell:git status -s"},
        {"ls -l", "shell:ls -l"},
        {"ls -l 2>&1", "shell:ls -l"},
        {"make", "shell:make"},
        {"test -f README", "shell:test -f README"},
        {"test -v x", NULL},
        {"git -c a.b=c status", NULL},
        {"export A=1", NULL},
        {"cat <<<x", NULL},
        {"env ls", NULL},
        {"ls '*'", NULL},
        {"git commit -m 'a b'", NULL},
        {"git status && ls", NULL},
        {"rm -rf x", NULL},
        {"echo $HOME", NULL},
        {"cat /etc/passwd", "shell:cat /etc/passwd"},
        {"'a b' c", NULL},
        {"'' rm x", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].line);
        AUTO_ARENA struct arena a = ARENA_INIT(4 * CMDLINE_ARENA);
        struct str rule = rule_propose("shell", true, str_z(rows[i].line), &a);
        CHECK_STR(rule, str_z(rows[i].rule));
        struct str_list list = {&rule, 1};
        struct rule_set rules = {{&list, NULL}};
        const char *why;
        if (rule.p)
            CHECK(rule_covers_command(&rules, "shell", str_z(rows[i].line), &a, &why));
        const char *more = arena_printf(&a, "%s more", rows[i].line);
        CHECK(!rule.p || !rule_covers_command(&rules, "shell", str_z(more), &a, &why));
    }
    AUTO_ARENA struct arena a = ARENA_INIT(4096);
    CHECK_STR(rule_propose("write_file", false, STR("src/a.c"), &a), STR("write_file:src/a.c"));
    CHECK(!rule_propose("write_file", false, STR("src/"), &a).p);
    CHECK(!rule_propose("write_file", false, STR("src/*"), &a).p);
}

TEST(limit_keeps_ends)
{
    static const struct {
        const char *text;
        size_t bytes, lines;
        const char *head, *ends;
    } rows[] = {
        {"a\nb\n", 10, 5, "a\nb\n", "a\nb\n"},
        {"a\nb\nc\nd\ne\nf\ng\nh\n", 100, 4,
            "a\nb\nc\nd\n[truncated] 4 lines, 8 bytes left out; the complete output is in L\n",
            "a\n[truncated] 4 lines, 8 bytes left out; the complete output is in L\nf\ng\nh\n"},
        {"0123456789abcdef", 8, 4,
            "01234567\n[truncated] 1 line, 8 bytes left out; the complete output is in L\n",
            "01\n[truncated] 1 line, 8 bytes left out; the complete output is in L\nabcdef"},
        {"\xc3\xa9\xc3\xa9\xc3\xa9", 3, 4,
            "\xc3\xa9\n[truncated] 1 line, 4 bytes left out; the complete output is in L\n",
            "[truncated] 1 line, 4 bytes left out; the complete output is in L\n\xc3\xa9"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].text);
        struct limit limit = {rows[i].bytes, rows[i].lines};
        AUTO_BUF struct buf head = BUF_INIT(1000), ends = BUF_INIT(1000);
        bool cut = limit_head(&limit, str_z(rows[i].text), "the complete output is in L", &head);
        CHECK_Z(buf_z(&head), rows[i].head);
        CHECK(limit_ends(&limit, str_z(rows[i].text), "the complete output is in L", &ends) == cut);
        CHECK_Z(buf_z(&ends), rows[i].ends);
    }
}

/* Public cases, if available ------------------------------------------------------------------ */

static bool same_words(const struct cmdline *s, const json_t *want)
{
    if (s->n < json_array_size(want))
        return false;
    for (size_t i = 0; i < json_array_size(want); i++) {
        const json_t *words = json_array_get(want, i);
        if (s->commands[i].n != json_array_size(words))
            return false;
        for (size_t w = 0; w < s->commands[i].n; w++)
            if (!str_eq(s->commands[i].words[w], json_str(json_array_get(words, w))))
                return false;
    }
    return true;
}

static void check_plain(const json_t *rows)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(2 * CMDLINE_ARENA);
        const json_t *row = json_array_get(rows, i), *want = json_object_get(row, "plain");
        struct str line = json_str(json_object_get(row, "script"));
        struct cmdline s;
        test_row(i, line.p);
        cmdline_parse(line, &a, &s);
        if (json_is_null(want))
            CHECK(s.why != NULL);
        else
            CHECK(!s.why && same_words(&s, want));
    }
}

static void check_danger(const json_t *rows)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(2 * CMDLINE_ARENA);
        const json_t *row = json_array_get(rows, i), *argv = json_object_get(row, "argv");
        struct str words[32];
        struct cmdline_command command = {words, json_array_size(argv), true, false};
        for (size_t w = 0; w < command.n; w++)
            words[w] = json_str(json_array_get(argv, w));
        struct cmdline_command list[CMDLINE_COMMANDS_MAX] = {command};
        struct cmdline s = {list, 1, NULL};
        cmdline_unwrap(&s, &a);
        bool dangerous = false;
        for (size_t c = 0; c < s.n; c++)
            dangerous |= cmdline_danger(&s.commands[c]) != NULL;
        test_row(i, command.n > 2 ? words[2].p : words[0].p);
        CHECK(dangerous == json_is_true(json_object_get(row, "dangerous")));
    }
}

TEST(cmdline_agrees_with_public_cases)
{
    const char *dir = getenv("CORDON_VECTORS");
    AUTO_BUF struct buf path = BUF_INIT(4096), text = BUF_INIT(2 * VECTORS_MAX);
    AUTO_ERR struct err err = {0};
    AUTO_JSON json_t *tree = NULL;
    buf_printf(&path, "%s/shell_policy_vectors.json", dir ? dir : "");
    AUTO_FD int fd = dir ? open(buf_z(&path), O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) {
        test_skip("no public vectors here (CORDON_VECTORS)");
        return;
    }
    if (!CHECK_OK(file_read(fd, VECTORS_MAX, "vectors", &text, &err), &err) ||
        !CHECK_OK(json_parse(buf_str(&text), "vectors", E_IO, &tree, &err), &err))
        return;
    check_plain(json_object_get(tree, "plain_commands"));
    check_danger(json_object_get(tree, "danger"));
}
