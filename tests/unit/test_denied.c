/* Denials: merging, bounds, ranking, texts, and the judgement of paths. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/syscalls.h"
#include "sandbox/denied.h"
#include "sandbox/denied_path.h"
#include "sandbox/syscall_rules.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

static void denied_free_auto(struct denied **d)
{
    denied_free(*d);
}

#define AUTO_DENIED AUTO(denied_free_auto)

static const char *member(const json_t *list, size_t i, const char *key)
{
    const char *text = json_string_value(json_object_get(json_array_get(list, i), key));
    return text ? text : "";
}

static void add_read(struct denied *d, const char *target, pid_t pid, uint32_t calls)
{
    denied_add(d, &(struct denied_sight){.op = DENIED_READ,
                      .target = str_z(target),
                      .program = STR("/usr/bin/cat"),
                      .pid = pid,
                      .calls = calls});
}

TEST(denied_counts_the_same_once)
{
    AUTO_DENIED struct denied *d = denied_new();
    for (int i = 0; i < 5; i++)
        add_read(d, "/secret", 7, 1);
    add_read(d, "/other", 7, 1);
    denied_add(d, &(struct denied_sight){.op = DENIED_WRITE, .target = STR("/secret")});
    AUTO_JSON json_t *list = denied_json(d, &(struct denied_style){0});
    CHECK_INT(json_array_size(list), 3);
    CHECK_Z(member(list, 0, "op"), "write");
    CHECK_Z(member(list, 1, "target"), "/other");
    CHECK_Z(member(list, 2, "target"), "/secret");
    CHECK_INT(json_integer_value(json_object_get(json_array_get(list, 2), "count")), 5);
    CHECK_Z(member(list, 2, "program"), "/usr/bin/cat");
    CHECK_Z(member(list, 2, "rule"), "not in the policy");
}

TEST(denied_is_bounded_and_keeps_failures_and_the_last)
{
    AUTO_DENIED struct denied *d = denied_new();
    char long_name[4 * DENIED_TARGET_MAX];
    add_read(d, "/first", 1, 1);
    denied_note_failure(d, &(struct denied_exit){.pid = 1, .calls = 2});
    for (int i = 0; i < 10000; i++)
        add_read(d, test_path("%d", i), 2, 1);
    memset(long_name, 'x', sizeof(long_name));
    denied_add(d,
        &(struct denied_sight){.op = DENIED_READ, .target = str_n(long_name, sizeof(long_name))});
    AUTO_JSON json_t *list = denied_json(d, &(struct denied_style){0});
    CHECK_INT(json_array_size(list), DENIED_MAX);
    CHECK_Z(member(list, 0, "target"), "/first");
    CHECK_INT(strlen(member(list, 1, "target")), DENIED_TARGET_MAX);
    CHECK_Z(member(list, 2, "target"), test_path("9999"));
}

enum {
    OTHER_THREAD = 1000,
};

/* A process reads `before` other files between its denial and its failure. */
static const struct {
    const char *name;
    bool optional, fails;
    uint32_t before;
    size_t want, want_failed;
} failures[] = {
    {"no failure", false, false, 0, 1, 0},
    {"fails at once", false, true, 1, 1, 1},
    {"fails after a message", false, true, 40, 1, 1},
    {"copes, and fails later", false, true, 400, 1, 0},
    {"fails in another thread", false, true, OTHER_THREAD, 1, 1},
    {"optional, fails in another thread", true, true, OTHER_THREAD, 0, 0},
    {"optional, no failure", true, false, 0, 0, 0},
    {"optional, fails at once", true, true, 2, 1, 1},
    {"optional, fails later", true, true, 30, 0, 0},
};

TEST(denied_ranks_by_the_failure_that_follows)
{
    for (size_t i = 0; i < ARRAY_LEN(failures); i++) {
        AUTO_DENIED struct denied *d = denied_new();
        test_row(i, failures[i].name);
        denied_add(d, &(struct denied_sight){.op = DENIED_READ,
                          .target = STR("/x"),
                          .pid = 5,
                          .calls = 10,
                          .optional = failures[i].optional});
        denied_note_failure(d, &(struct denied_exit){.pid = 6, .calls = 11}); /* another process */
        if (failures[i].fails)
            denied_note_failure(d, &(struct denied_exit){.pid = 5,
                                       .thread = failures[i].before == OTHER_THREAD,
                                       .calls = 10 + failures[i].before});
        AUTO_JSON json_t *all = denied_json(d, &(struct denied_style){0});
        AUTO_JSON json_t *failed = denied_json(d, &(struct denied_style){.failed_only = true});
        CHECK_INT(json_array_size(all), failures[i].want);
        CHECK_INT(json_array_size(failed), failures[i].want_failed);
    }
}

TEST(denied_blames_optional_files_only_if_nothing_else)
{
    AUTO_DENIED struct denied *d = denied_new();
    denied_add(d,
        &(struct denied_sight){.op = DENIED_READ, .target = STR("/o"), .pid = 5, .optional = true});
    denied_add(d, &(struct denied_sight){.op = DENIED_READ, .target = STR("/x"), .pid = 5});
    denied_note_failure(d, &(struct denied_exit){.pid = 5, .calls = 1});
    AUTO_JSON json_t *list = denied_json(d, &(struct denied_style){0});
    CHECK_INT(json_array_size(list), 1);
    CHECK_Z(member(list, 0, "target"), "/x");
}

TEST(denied_is_not_optional_if_it_was_not_once)
{
    AUTO_DENIED struct denied *d = denied_new();
    for (int i = 0; i < 3; i++)
        denied_add(d, &(struct denied_sight){
                          .op = DENIED_CONNECT, .target = STR("a socket"), .optional = i != 1});
    AUTO_JSON json_t *list = denied_json(d, &(struct denied_style){0});
    CHECK_INT(json_array_size(list), 1);
}

TEST(denied_of_one_command_of_several)
{
    AUTO_DENIED struct denied *d = denied_new();
    for (pid_t session = 2; session < 5; session++)
        denied_add(
            d, &(struct denied_sight){.op = DENIED_READ, .target = STR("/x"), .session = session});
    AUTO_JSON json_t *three = denied_take(d, &(struct denied_style){.session = 3});
    AUTO_JSON json_t *again = denied_take(d, &(struct denied_style){.session = 3});
    AUTO_JSON json_t *others = denied_take(d, &(struct denied_style){0});
    AUTO_JSON json_t *none = denied_take(d, &(struct denied_style){0});
    CHECK_INT(json_array_size(three), 1);
    CHECK_INT(json_array_size(again), 0);
    CHECK_INT(json_array_size(others), 2);
    CHECK_INT(json_array_size(none), 0);
}

/* T stands for the test's directory. */
static const struct {
    const char *name;
    enum denied_op op;
    enum denied_rule rule;
    bool own;
    const char *target, *want;
} lines[] = {
    {"a file", DENIED_READ, DENIED_NOT_SHOWN, false, "T/f",
        "denied: read T/f (not in the policy). Allow: --read T/f\n"},
    {"a file that is not the user's", DENIED_READ, DENIED_NOT_SHOWN, true, "T/f",
        "denied: read T/f (not in the policy; outside, this user may not do it either)\n"},
    {"an existing file", DENIED_WRITE, DENIED_READ_ONLY, false, "T/f",
        "denied: write T/f (read-only). Allow: --write T/f --ack-unsafe-write\n"},
    {"a new file", DENIED_WRITE, DENIED_READ_ONLY, false, "T/new",
        "denied: write T/new (read-only). Allow: --write T --ack-unsafe-write\n"},
    {"a program", DENIED_EXEC, DENIED_NOT_LISTED, false, "T/f",
        "denied: exec T/f (not one of the allowed programs). Allow: --allow-exec T/f\n"},
    {"a path that no policy may name", DENIED_READ, DENIED_NOT_SHOWN, false, "/proc/1/maps",
        "denied: read /proc/1/maps (not in the policy; cannot be allowed: it gives access to other "
        "processes)\n"},
    {"a quote", DENIED_READ, DENIED_NOT_SHOWN, false, "T/it's",
        "denied: read T/it's (not in the policy). Allow: --read 'T/it'\\''s'\n"},
    {"escape sequences", DENIED_READ, DENIED_NOT_SHOWN, false, "T/\033[2J\n\x9b",
        "denied: read T/\\x1B[2J\\n\xEF\xBF\xBD (not in the policy)\n"},
    {"the network", DENIED_CONNECT, DENIED_NO_NETWORK, false, "1.2.3.4:80",
        "denied: connect 1.2.3.4:80 (no network). Allow: --enable-network --ack-unsafe-network\n"},
    {"a name server", DENIED_CONNECT, DENIED_NO_NAMES, false, "a name server",
        "denied: connect a name server (host names cannot be resolved: no network). Allow: "
        "--allow-host HOST, or --enable-network --ack-unsafe-network\n"},
    {"a home directory", DENIED_READ, DENIED_NOT_SHOWN, false, "/home",
        "denied: read /home (not in the policy; cannot be allowed: it holds every home "
        "directory)\n"},
    {"a listener", DENIED_SYSCALL, DENIED_ONE_LISTENER, false, "seccomp",
        "denied: syscall seccomp (denials are collected by the only listener that the kernel "
        "allows). Allow: --no-denials\n"},
    {"a listener, where ours connects", DENIED_SYSCALL, DENIED_CONNECTS, false, "seccomp",
        "denied: syscall seccomp (connections of this sandbox are made by the only listener that "
        "the kernel allows; a policy with allow_unix_sockets has none)\n"},
    {"a call", DENIED_SYSCALL, DENIED_CALL, false, "mount",
        "denied: syscall mount (refused by the system call filter)\n"},
};

static const char *in_place(const char *text)
{
    static char room[4][2 * DENIED_TARGET_MAX];
    static unsigned next;
    char *to = room[next++ % ARRAY_LEN(room)];
    size_t n = 0;
    for (; *text && n < DENIED_TARGET_MAX; text++)
        if (*text == 'T' && strchr("/: \n", text[1]))
            n += (size_t)snprintf(to + n, DENIED_TARGET_MAX, "%s", test_path("d"));
        else
            to[n++] = *text;
    to[n] = '\0';
    return to;
}

TEST(denied_lines_name_the_fix_and_are_printable)
{
    mkdir(test_path("d"), 0755);
    test_write(test_path("d/f"), "x");
    test_write(test_path("d/it's"), "x");
    test_write(test_path("d/\033[2J\n\x9b"), "x");
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        AUTO_DENIED struct denied *d = denied_new();
        AUTO_BUF struct buf text = BUF_INIT(1 << 16);
        test_row(i, lines[i].name);
        denied_add(d, &(struct denied_sight){.op = lines[i].op,
                          .rule = lines[i].rule,
                          .own = lines[i].own,
                          .target = str_z(in_place(lines[i].target))});
        AUTO_JSON json_t *list = denied_json(d, &(struct denied_style){.home = "/home/me"});
        denied_add_lines(&text, list);
        CHECK_STR(buf_str(&text), str_z(in_place(lines[i].want)));
    }
}

/* Commands that a user may repeat outside: no option and no address that could run a program. */
#define WORDS(s)     \
    {                \
        s, sizeof(s) \
    }
#define EDIT "git config --edit --file /p/.git/config"
static const struct {
    struct str words; /* each ended by NUL */
    const char *program, *fix;
} git_commands[] = {
    {WORDS("git\0remote\0add\0o\0https://h/x"), "/usr/bin/git", "git remote add o https://h/x"},
    {WORDS("git\0push\0-u\0up\0main"), "/usr/bin/git", "git push -u up main"},
    {WORDS("git\0submodule\0add\0./a b"), "/usr/bin/git", "git submodule add './a b'"},
    {WORDS("git\0worktree\0add\0-b\0x\0../x"), "/usr/bin/git", "git worktree add -b x ../x"},
    {WORDS("evil\0remote\0add\0o\0x"), "/usr/bin/git", "git remote add o x"},
    {WORDS("git\0-C\0/a b\0push\0-q\0-u\0up\0main"), "/usr/bin/git",
        "git -C '/a b' push -q -u up main"},
    {WORDS("git\0checkout\0-b\0x\0--track\0o/x"), "/usr/bin/git", "git checkout -b x --track o/x"},
    {WORDS("git\0branch\0--set-upstream-to=o/x"), "/usr/bin/git",
        "git branch --set-upstream-to=o/x"},
    {WORDS("git\0config\0user.name\0N N"), "/usr/bin/git", "git config user.name 'N N'"},
    {WORDS("git\0config\0branch.a.b.remote\0o"), "/usr/lib/git-core/git",
        "git config branch.a.b.remote o"},
    {WORDS("git\0config\0user.name"), "/usr/bin/git", EDIT},
    {WORDS("git\0config\0remote.o.uploadpack\0evil"), "/usr/bin/git", EDIT},
    {WORDS("git\0submodule\0foreach\0evil"), "/usr/bin/git", EDIT},
    {WORDS("git\0worktree\0remove\0x"), "/usr/bin/git", EDIT},
    {WORDS("git\0push\0-u\0o\0+main"), "/usr/bin/git", EDIT},
    {WORDS("git\0push\0-u\0o\0:main"), "/usr/bin/git", EDIT},
    {WORDS("git\0-C\0relative\0push\0-u\0up\0main"), "/usr/bin/git", EDIT},
    {WORDS("git\0config\0core.fsmonitor\0evil"), "/usr/bin/git", EDIT},
    {WORDS("git\0-c\0core.fsmonitor=evil\0push"), "/usr/bin/git", EDIT},
    {WORDS("git\0push\0--receive-pack=evil\0o"), "/usr/bin/git", EDIT},
    {WORDS("git\0push\0--exec=evil\0o"), "/usr/bin/git", EDIT},
    {WORDS("git\0remote\0add\0o\0ext::sh -c evil"), "/usr/bin/git", EDIT},
    {WORDS("git\0remote\0add\0o\0\33]0;x\7"), "/usr/bin/git", EDIT},
    {WORDS("git\0remote\0add\0o\0"), "/usr/bin/git", "git remote add o"},
    {WORDS("git\0remote\0add\0o\0x"), "/usr/bin/sh", ""},
    {WORDS("git\0remote\0"
           "1\0"
           "2\0"
           "3\0"
           "4\0"
           "5\0"
           "6\0"
           "7\0"
           "8\0"
           "9\0"
           "10\0"
           "11\0"
           "12\0"
           "13\0"
           "14\0"
           "15"),
        "/usr/bin/git", EDIT},
    {{"git\0remote", 10}, "/usr/bin/git", EDIT}, /* cut off */
    {{NULL, 0}, "/usr/bin/git", EDIT},
};

TEST(denied_names_gits_command_for_the_user)
{
    for (size_t i = 0; i < ARRAY_LEN(git_commands); i++) {
        AUTO_DENIED struct denied *d = denied_new();
        denied_add(d, &(struct denied_sight){.op = DENIED_WRITE,
                          .rule = DENIED_KEPT,
                          .target = STR("/p/.git/config"),
                          .program = str_z(git_commands[i].program),
                          .command = git_commands[i].words});
        AUTO_JSON json_t *list =
            denied_json(d, &(struct denied_style){.front = DENIED_FOR_TOOL, .kept_only = true});
        AUTO_JSON json_t *box = denied_json(d, &(struct denied_style){.front = DENIED_FOR_BOX});
        test_row(i, git_commands[i].fix);
        CHECK_Z(member(list, 0, "fix"), git_commands[i].fix);
        CHECK_Z(member(box, 0, "fix"), "");
    }
}

TEST(denied_shows_at_most_three_lines)
{
    AUTO_DENIED struct denied *d = denied_new();
    AUTO_BUF struct buf text = BUF_INIT(1 << 16);
    for (int i = 0; i < 9; i++)
        add_read(d, test_path("%d", i), 1, 1);
    AUTO_JSON json_t *list = denied_json(d, &(struct denied_style){0});
    denied_add_lines(&text, list);
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++)
        n += text.p[i] == '\n';
    CHECK_INT(n, 3);
}

/* A box gets what it may use when it is made. */
TEST(denied_by_a_box_names_the_options_of_new)
{
    static const struct {
        enum denied_op op;
        enum denied_rule rule;
        bool entry;
        const char *target, *fix;
    } rows[] = {
        {DENIED_READ, DENIED_NOT_SHOWN, false, "T/f", "cordon box new \u2026 --dir T"},
        {DENIED_READ, DENIED_NOT_SHOWN, false, "T", "cordon box new \u2026 --dir T"},
        {DENIED_WRITE, DENIED_NOT_SHOWN, true, "T/f", "cordon box new \u2026 --dir T:rw"},
        {DENIED_WRITE, DENIED_READ_ONLY, false, "T/f", ""},
        {DENIED_READ, DENIED_NOT_SHOWN, false, "/home/x", ""},
        {DENIED_CONNECT, DENIED_NO_NETWORK, false, "1.2.3.4:80",
            "cordon box new \u2026 --allow-host HOST, or --network on"},
    };
    mkdir(test_path("d"), 0755);
    test_write(test_path("d/f"), "x");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_DENIED struct denied *d = denied_new();
        test_row(i, rows[i].target);
        denied_add(d, &(struct denied_sight){.op = rows[i].op,
                          .rule = rows[i].rule,
                          .entry = rows[i].entry,
                          .target = str_z(in_place(rows[i].target))});
        AUTO_JSON json_t *list =
            denied_json(d, &(struct denied_style){.front = DENIED_FOR_BOX, .home = "/home/me"});
        CHECK_Z(member(list, 0, "fix"), in_place(rows[i].fix));
    }
}

/* An entry that is removed or replaced needs its directory; a script its interpreters. */
TEST(denied_fixes_suffice)
{
    AUTO_DENIED struct denied *d = denied_new();
    mkdir(test_path("d"), 0755);
    test_write(test_path("d/f"), "x");
    denied_add(d, &(struct denied_sight){.op = DENIED_WRITE,
                      .rule = DENIED_READ_ONLY,
                      .entry = true,
                      .target = str_z(in_place("T/f"))});
    denied_add(d, &(struct denied_sight){.op = DENIED_EXEC,
                      .rule = DENIED_NOT_LISTED,
                      .target = str_z(in_place("T/f")),
                      .needs = str_n("/bin/sh\0/usr/bin/env", 21)});
    AUTO_JSON json_t *list = denied_json(d, &(struct denied_style){0});
    CHECK_Z(member(list, 0, "fix"),
        in_place("--allow-exec T/f --allow-exec /bin/sh --allow-exec /usr/bin/env"));
    CHECK(str_ends_with(str_z(member(list, 1, "fix")), STR("/d --ack-unsafe-write")));
}

/* A name server that is asked in vain is to blame if nothing else is, not even another process. */
TEST(denied_blames_name_servers_last)
{
    for (int rival = 0; rival < 2; rival++) {
        AUTO_DENIED struct denied *d = denied_new();
        test_row((size_t)rival, rival ? "another process failed" : "alone");
        denied_add(d, &(struct denied_sight){.op = DENIED_CONNECT,
                          .rule = DENIED_NO_NAMES,
                          .target = STR("a name server"),
                          .optional = true,
                          .pid = 5,
                          .thread = 6});
        if (rival)
            denied_note_failure(d, &(struct denied_exit){.pid = 9, .thread = 9});
        denied_note_failure(d, &(struct denied_exit){.pid = 5, .thread = 5});
        AUTO_JSON json_t *list = denied_json(d, &(struct denied_style){0});
        CHECK_INT(json_array_size(list), rival ? 0 : 1);
    }
}

TEST(denied_shows_others_if_nothing_is_to_blame)
{
    AUTO_DENIED struct denied *d = denied_new();
    add_read(d, "/x", 1, 1);
    denied_add(d,
        &(struct denied_sight){.op = DENIED_READ, .target = STR("/o"), .pid = 1, .optional = true});
    const struct denied_style failed = {.failed_only = true},
                              others = {.failed_only = true, .or_others = true};
    AUTO_JSON json_t *none = denied_json(d, &failed);
    AUTO_JSON json_t *some = denied_json(d, &others);
    CHECK_INT(json_array_size(none), 0);
    CHECK_INT(json_array_size(some), 1);
    CHECK_Z(member(some, 0, "target"), "/x");
}

TEST(denied_gap_replaces_the_list)
{
    AUTO_DENIED struct denied *d = denied_new();
    AUTO_JSON json_t *none = denied_json(NULL, &(struct denied_style){0});
    CHECK(!denied_gap(d) && !denied_gap(NULL));
    CHECK_INT(json_array_size(none), 0);
    denied_set_gap(d, "denied: not collected");
    CHECK_Z(denied_gap(d), "denied: not collected");
}

/* Paths --------------------------------------------------------------------------------------- */

static const struct {
    const char *path;
    bool want;
} optional[] = {
    {"/home/me/.bashrc", true},
    {"/home/me/.gitconfig", true},
    {"/home/me/.config/x/y", true},
    {"/home/me/.profile", true},
    {"/etc/ld.so.preload", true},
    {"/etc/gitconfig", true},
    {"/proc/1/maps", true},
    {"/procedures", false},
    {"/home/me/.ssh/id_rsa", false},
    {"/home/me/project/a.c", false},
    {"/etc/shadow", false},
    {"/home/me/.env", false},
};

TEST(denied_path_knows_optional_files)
{
    for (size_t i = 0; i < ARRAY_LEN(optional); i++) {
        test_row(i, optional[i].path);
        CHECK_INT(denied_path_is_optional(str_z(optional[i].path)), optional[i].want);
    }
}

TEST(denied_path_finds_the_deepest_step)
{
    struct plan_step steps[] = {
        {.kind = PLAN_DIR, .at = STR("/")},
        {.kind = PLAN_BIND, .at = STR("/a")},
        {.kind = PLAN_PIN, .at = STR("/a/b")},
        {.kind = PLAN_BIND, .at = STR("/a/b/c")},
        {.kind = PLAN_BIND, .at = STR("/a-b")},
        {.kind = PLAN_BIND, .at = STR("/ab")},
    };
    const struct plan plan = {.steps = steps, .n_steps = ARRAY_LEN(steps)};
    static const struct {
        const char *path, *want;
    } rows[] = {{"/", "/"}, {"/x", "/"}, {"/a", "/a"}, {"/a/b", "/a"}, {"/a/b/x", "/a"},
        {"/a/b/c", "/a/b/c"}, {"/a/b/c/d/e", "/a/b/c"}, {"/a-b/x", "/a-b"}, {"/a-", "/"},
        {"/abc", "/"}, {"/ab/c", "/ab"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].path);
        CHECK_STR(denied_path_step(&plan, str_z(rows[i].path))->at, str_z(rows[i].want));
    }
}

/* A root R in which a file of the host is shown at its own place, and others are not. */
static const struct {
    const char *name;
    enum denied_op op;
    bool creates, entry, fresh;
    const char *path; /* T: the test's directory */
    const char *want; /* target; NULL: not denied */
    enum denied_rule rule;
} looks[] = {
    {"shown", DENIED_READ, .path = "T/shown/f", .want = NULL},
    {"missing everywhere", DENIED_READ, .path = "T/shown/none", .want = NULL},
    {"not shown", DENIED_READ, .path = "T/other/f", .want = "T/other/f"},
    {"not shown, dots", DENIED_READ, .path = "T/shown/../other/./f", .want = "T/other/f"},
    {"not shown, a symlink that is", DENIED_READ, .path = "T/shown/link", .want = "T/other/f"},
    {"not shown, symlinks outside are not resolved", DENIED_READ, .path = "T/other/link",
        .want = "T/other/link"},
    {"a loop", DENIED_READ, .path = "T/shown/loop", .want = NULL},
    {"read-only", DENIED_WRITE, .path = "T/shown/f", .want = "T/shown/f", .rule = DENIED_READ_ONLY},
    {"read-only, new", DENIED_WRITE, .creates = true, .path = "T/shown/new", .want = "T/shown/new",
        .rule = DENIED_READ_ONLY},
    {"read-only, missing", DENIED_WRITE, .path = "T/shown/none", .want = NULL},
    {"a directory that exists", DENIED_WRITE, .creates = true, .entry = true, .fresh = true,
        .path = "T/shown", .want = NULL},
    {"writable", DENIED_WRITE, .creates = true, .path = "T/open/new", .want = NULL},
    {"kept", DENIED_WRITE, .path = "T/open/kept", .want = "T/open/kept", .rule = DENIED_KEPT},
    {"kept, by a symlink", DENIED_WRITE, .path = "T/open/link", .want = "T/open/kept",
        .rule = DENIED_KEPT},
    {"removing the symlink to it", DENIED_WRITE, .entry = true, .path = "T/open/link",
        .want = NULL},
    {"not a program that is allowed", DENIED_EXEC, .path = "T/shown/run", .want = "T/shown/run",
        .rule = DENIED_NOT_LISTED},
    {"not a program", DENIED_EXEC, .path = "T/shown/f", .want = NULL},
    {"an allowed program", DENIED_EXEC, .path = "T/tools/run", .want = NULL},
    {"a program that is not shown", DENIED_EXEC, .path = "T/other/run", .want = "T/other/run",
        .rule = DENIED_NOT_LISTED},
};

static struct str kept_path(const char *name)
{
    return str_z(strdup(test_path("d/%s", name)));
}

static void make_looks(void)
{
    static const char *const dirs[] = {"", "/shown", "/other", "/open", "/tools"};
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
        char from[PATH_MAX];
        snprintf(from, sizeof(from), "%s", test_path("d%s", dirs[i]));
        mkdir(from, 0755);
    }
    test_write(test_path("d/shown/f"), "x");
    test_write(test_path("d/other/f"), "x");
    test_write(test_path("d/open/kept"), "x");
    static const char *const programs[] = {"shown/run", "other/run", "tools/run"};
    for (size_t i = 0; i < ARRAY_LEN(programs); i++) {
        test_write(test_path("d/%s", programs[i]), "x");
        CHECK_INT(chmod(test_path("d/%s", programs[i]), 0755), 0);
    }
    CHECK_INT(symlink("../other/f", test_path("d/shown/link")), 0);
    CHECK_INT(symlink("loop", test_path("d/shown/loop")), 0);
    CHECK_INT(symlink("f", test_path("d/other/link")), 0);
    CHECK_INT(symlink("kept", test_path("d/open/link")), 0);
}

/* The inside: a directory tree with copies of what is shown. */
static int make_inside(void)
{
    char script[8192];
    snprintf(script, sizeof(script),
        "set -e; d='%s' r='%s'; mkdir -p \"$r$d\"; for x in shown open tools; do cp -a \"$d/$x\" "
        "\"$r$d/$x\"; done",
        test_path("d"), test_path("root"));
    CHECK_INT(system(script), 0); /* NOLINT(cert-env33-c) */
    return open(test_path("root"), O_PATH | O_DIRECTORY | O_CLOEXEC);
}

TEST(denied_path_compares_inside_and_outside)
{
    make_looks();
    AUTO_FD int root = make_inside();
    struct plan_step steps[] = {
        {.kind = PLAN_DIR, .at = STR("/")},
        {.kind = PLAN_BIND, .access = PLAN_READ | PLAN_WRITE, .at = kept_path("open")},
        {.kind = PLAN_BIND, .access = PLAN_READ, .kept = true, .at = kept_path("open/kept")},
        {.kind = PLAN_BIND, .access = PLAN_READ, .at = kept_path("shown")},
        {.kind = PLAN_BIND, .access = PLAN_READ | PLAN_EXEC, .at = kept_path("tools")},
    };
    const struct plan plan = {.steps = steps, .n_steps = ARRAY_LEN(steps)};
    static struct denied_verdict v;
    static struct outside outside;
    CHECK(root >= 0);
    for (size_t i = 1; i < ARRAY_LEN(steps); i++)
        steps[i].text = steps[i].at;
    for (size_t i = 0; i < ARRAY_LEN(looks); i++) {
        const struct denied_look look = {.plan = &plan,
            .root = root,
            .outside = &outside,
            .op = looks[i].op,
            .creates = looks[i].creates,
            .entry = looks[i].entry,
            .fresh = looks[i].fresh,
            .path = in_place(looks[i].path)};
        test_row(i, looks[i].name);
        bool denied = denied_path_judge(&look, &v);
        CHECK_INT(denied, looks[i].want != NULL);
        if (denied && looks[i].want) {
            CHECK_Z(v.target, in_place(looks[i].want));
            CHECK_INT(v.rule, looks[i].rule);
        }
    }
    for (size_t i = 1; i < ARRAY_LEN(steps); i++)
        free((char *)steps[i].at.p);
}

/* Outside ------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *line, *want;
} mounts[] = {
    {"local", "36 35 98:0 / /mnt rw,noatime master:1 - ext4 /dev/root rw", ""},
    {"no optional fields", "36 35 98:0 / /mnt rw - xfs /dev/root rw", ""},
    {"a network", "36 35 98:0 / /mnt/nfs rw shared:2 - nfs4 server:/x rw", "/mnt/nfs"},
    {"on demand", "36 35 0:9 / /net rw - autofs -hosts rw", "/net"},
    {"blanks", "36 35 0:9 / /mnt/a\\040b rw - fuse.sshfs x rw", "/mnt/a b"},
    {"unknown", "36 35 0:9 / /mnt/x rw - newfs x rw", "/mnt/x"},
    {"not a line", "36 35", ""},
    {"empty", "", ""},
};

TEST(outside_knows_which_mounts_not_to_enter)
{
    for (size_t i = 0; i < ARRAY_LEN(mounts); i++) {
        static struct outside o;
        o = (struct outside){0};
        test_row(i, mounts[i].name);
        outside_add_mount(&o, str_z(mounts[i].line));
        CHECK_Z(o.mounts, mounts[i].want);
        CHECK_INT(o.n, mounts[i].want[0] ? strlen(mounts[i].want) + 1 : 0);
    }
}

TEST(outside_opens_only_what_it_may)
{
    static struct outside o;
    struct stat st;
    mkdir(test_path("a"), 0755);
    mkdir(test_path("a/b"), 0755);
    test_write(test_path("a/b/f"), "x");
    CHECK_INT(symlink("../a/b", test_path("a/link")), 0);
    CHECK_INT(symlink("loop", test_path("a/loop")), 0);
    CHECK_INT(symlink(test_path("a/b/f"), test_path("a/far")), 0);
    static const struct {
        const char *path;
        bool want;
    } rows[] = {{"a/b/f", true}, {"a/link/f", true}, {"a/far", true}, {"a/b/../b/./f", true},
        {"a//b/", true}, {"a/loop", false}, {"a/none", false}, {"a/b/f/x", false}};
    for (int foreign = 0; foreign < 2; foreign++) {
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
            test_row(i, rows[i].path);
            AUTO_FD int fd = outside_open(&o, test_path("%s", rows[i].path), &st);
            CHECK_INT(fd >= 0, rows[i].want && !foreign);
        }
        char line[PATH_MAX + 64];
        snprintf(line, sizeof(line), "1 1 0:1 / %s rw - autofs x rw", test_path("a/b"));
        outside_add_mount(&o, str_z(line));
    }
}

/* The filter ---------------------------------------------------------------------------------- */

/* A listener is told only of calls that are allowed, or that it must refuse with EPERM; all other
 * answers are the same with and without one. */
TEST(denied_calls_are_those_of_the_filter)
{
    static const uint64_t samples[] = {0, 1, 2, 3, 9, 0x40, 0x10000000, (uint64_t)AT_FDCWD, O_CREAT,
        O_WRONLY, O_PATH, AF_UNIX, CLONE_NEWUSER, S_ISUID, ~0ull};
    struct seccomp_filter with, without;
    size_t told = 0, refused = 0;
    seccomp_compile(&(struct seccomp_options){.inet = true, .observe = true}, &with);
    seccomp_compile(&(struct seccomp_options){.inet = true}, &without);
    for (uint32_t number = 0; number < 600; number++)
        for (size_t i = 0; i < ARRAY_LEN(samples); i++)
            for (size_t k = 0; k < ARRAY_LEN(samples); k++) {
                const uint64_t args[6] = {
                    samples[i], samples[k], samples[i], samples[k], samples[i], samples[k]};
                int a = seccomp_answer(&with, SYSCALL_ARCH, number, args);
                int b = seccomp_answer(&without, SYSCALL_ARCH, number, args);
                enum syscall_observed how = syscall_rules_observe(number);
                test_row(number, "number");
                if (a != SECCOMP_NOTIFIES) {
                    CHECK_INT(a, b);
                    continue;
                }
                CHECK_INT(b, how == SYSCALL_REPORTED ? EPERM : 0);
                CHECK(how != SYSCALL_UNOBSERVED);
                told++;
                refused += how == SYSCALL_REPORTED;
            }
    CHECK(told > 1000 && refused > 100);
}

static const struct {
    const char *name;
    int number;
    uint64_t args[3];
    int want;
} told[] = {
    {"open to read", NR_openat, {(uint64_t)AT_FDCWD, 0, O_RDONLY}, SECCOMP_NOTIFIES},
    {"below an open directory", NR_openat, {5, 0, O_RDONLY}, 0},
    {"write below an open directory", NR_openat, {5, 0, O_WRONLY}, SECCOMP_NOTIFIES},
    {"create below an open directory", NR_openat, {5, 0, O_CREAT}, SECCOMP_NOTIFIES},
    {"look for a header", NR_openat, {(uint64_t)AT_FDCWD, 0, O_RDONLY | O_NOCTTY}, 0},
    {"write, O_NOCTTY", NR_openat, {(uint64_t)AT_FDCWD, 0, O_RDWR | O_NOCTTY}, SECCOMP_NOTIFIES},
#ifdef __x86_64__
    {"open to read, old", NR_open, {0, O_RDONLY}, SECCOMP_NOTIFIES},
    {"look for a header, old", NR_open, {0, O_RDONLY | O_NOCTTY}, 0},
    {"write, O_NOCTTY, old", NR_open, {0, O_WRONLY | O_NOCTTY}, SECCOMP_NOTIFIES},
#endif
    {"look up", NR_openat, {(uint64_t)AT_FDCWD, 0, O_PATH}, 0},
    {"success", NR_exit_group, {0}, 0},
    {"success, 256", NR_exit_group, {256}, 0},
    {"failure", NR_exit_group, {1}, SECCOMP_NOTIFIES},
    {"a filter", NR_seccomp, {SECCOMP_SET_MODE_FILTER, 0}, 0},
    {"a filter with a listener", NR_seccomp,
        {SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER}, SECCOMP_NOTIFIES},
    {"answering a listener", NR_ioctl, {5, SECCOMP_IOCTL_NOTIF_SEND}, EPERM},
    {"hearing a listener", NR_ioctl, {5, SECCOMP_IOCTL_NOTIF_RECV}, EPERM},
    {"a descriptor for a listener", NR_ioctl, {5, SECCOMP_IOCTL_NOTIF_ADDFD}, EPERM},
    {"a new process", NR_clone, {SIGCHLD}, 0},
    {"a new namespace", NR_clone, {CLONE_NEWUSER}, SECCOMP_NOTIFIES},
    {"an internet socket", NR_socket, {AF_INET, SOCK_STREAM}, 0},
    {"a Unix socket", NR_socket, {AF_UNIX, SOCK_STREAM}, SECCOMP_NOTIFIES},
    {"another socket", NR_socket, {AF_PACKET, SOCK_STREAM}, EAFNOSUPPORT},
    {"set-user-id", NR_fchmod, {5, S_ISUID}, EPERM},
};

TEST(denied_calls_that_a_listener_is_told_of)
{
    struct seccomp_filter filter;
    seccomp_compile(&(struct seccomp_options){.inet = true, .observe = true}, &filter);
    for (size_t i = 0; i < ARRAY_LEN(told); i++) {
        uint64_t args[6] = {0};
        memcpy(args, told[i].args, sizeof(told[i].args));
        test_row(i, told[i].name);
        CHECK_INT(
            seccomp_answer(&filter, SYSCALL_ARCH, (uint32_t)told[i].number, args), told[i].want);
    }
}
