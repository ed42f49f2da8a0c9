/* The path boundary: where paths lead, which ones leave, and races that try to escape. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/buf.h"
#include "path/beneath.h"
#include "path/boundary.h"
#include "path/lexical.h"
#include "path/root.h"
#include "path/warn.h"
#include "path/workspace.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>

/* A project with a workspace, and things outside it. */
static void make_tree(void)
{
    test_write(test_path("project/src/main.c"), "main");
    test_write(test_path("project/README"), "readme");
    test_write(test_path("project/v1..alpha"), "alpha");
    test_write(test_path("project/.cordon/workspaces/bot/out.txt"), "out");
    test_write(test_path("project-evil/secret"), "secret");
    test_write(test_path("outside/secret"), "secret");
    BUG_ON(symlink("src", test_path("project/in_rel")) != 0);
    BUG_ON(symlink(test_path("project/src"), test_path("project/in_abs")) != 0);
    BUG_ON(symlink("in_abs", test_path("project/chain1")) != 0);
    BUG_ON(symlink("chain1/main.c", test_path("project/chain2")) != 0);
    BUG_ON(symlink("../outside", test_path("project/out_rel")) != 0);
    BUG_ON(symlink(test_path("outside"), test_path("project/out_abs")) != 0);
    BUG_ON(symlink("out_rel/secret", test_path("project/out_chain")) != 0);
    BUG_ON(symlink("/etc", test_path("project/etc")) != 0);
    BUG_ON(symlink("src/main.c/", test_path("project/file_slash")) != 0);
    BUG_ON(symlink(test_path("project/src/main.c/"), test_path("project/abs_slash")) != 0);
    BUG_ON(symlink("loop_b", test_path("project/loop_a")) != 0);
    BUG_ON(symlink("loop_a", test_path("project/loop_b")) != 0);
    BUG_ON(symlink("nowhere", test_path("project/dangling")) != 0);
    BUG_ON(symlink("../nowhere", test_path("project/dangling_out")) != 0);
    BUG_ON(symlink("/proc/self/root", test_path("project/magic")) != 0);
    BUG_ON(symlink("../README", test_path("project/.cordon/workspaces/bot/x")) != 0);
    BUG_ON(symlink("../../../README", test_path("project/.cordon/workspaces/bot/readme")) != 0);
    BUG_ON(symlink("project", test_path("alias")) != 0);
    BUG_ON(symlink("../project/README", test_path("project/out_and_in")) != 0);
}

static struct boundary *make_boundary(void)
{
    AUTO_ERR struct err err = {0};
    struct boundary *b = boundary_new();
    bool ok = boundary_add(b, test_path("project"), BOUNDARY_RO, BOUNDARY_USER_PROJECT, &err) &&
              boundary_add(b, test_path("project/.cordon/workspaces/bot"), BOUNDARY_RW,
                  BOUNDARY_AGENT_WORKSPACE, &err) &&
              boundary_set_base(b, test_path("project/src"), &err);
    CHECK_OK(ok, &err);
    return b;
}

/* "@" is replaced by the test's directory. */
static struct str spelled(struct arena *a, const char *text)
{
    const char *at = strchr(text, '@');
    if (!at)
        return str_z(text);
    return str_z(arena_printf(a, "%.*s%s%s", (int)(at - text), text, test_dir(), at + 1));
}

static const struct {
    const char *path, *leads_to;
    enum boundary_class class;
    enum boundary_access access;
    bool exists;
} inside[] = {
    {"main.c", "@/project/src/main.c", BOUNDARY_USER_PROJECT, BOUNDARY_RO, true},
    {"./main.c", "@/project/src/main.c", BOUNDARY_USER_PROJECT, BOUNDARY_RO, true},
    {".", "@/project/src", BOUNDARY_USER_PROJECT, BOUNDARY_RO, true},
    {"..", "@/project", BOUNDARY_USER_PROJECT, BOUNDARY_RO, true},
    {"../", "@/project", BOUNDARY_USER_PROJECT, BOUNDARY_RO, true},
    {"../README", "@/project/README", BOUNDARY_USER_PROJECT, BOUNDARY_RO, true},
    {"../v1..alpha", "@/project/v1..alpha", BOUNDARY_USER_PROJECT, BOUNDARY_RO, true},
    {"@/project", "@/project", BOUNDARY_USER_PROJECT, BOUNDARY_RO, true},
    {"@/project//src/./main.c", "@/project/src/main.c", BOUNDARY_USER_PROJECT, BOUNDARY_RO, true},
    {"../in_rel/main.c", "@/project/src/main.c", BOUNDARY_USER_PROJECT, BOUNDARY_RO, true},
    {"../in_abs/main.c", "@/project/src/main.c", BOUNDARY_USER_PROJECT, BOUNDARY_RO, true},
    {"../in_abs/..", "@/project", BOUNDARY_USER_PROJECT, BOUNDARY_RO, true},
    {"../chain2", "@/project/src/main.c", BOUNDARY_USER_PROJECT, BOUNDARY_RO, true},
    {"../../project/README", "@/project/README", BOUNDARY_USER_PROJECT, BOUNDARY_RO, true},
    {"../out_and_in", "@/project/README", BOUNDARY_USER_PROJECT, BOUNDARY_RO, true},
    {"@/alias/README", "@/project/README", BOUNDARY_USER_PROJECT, BOUNDARY_RO, true},
    {"@/alias/new/x", "@/project/new/x", BOUNDARY_USER_PROJECT, BOUNDARY_RO, false},
    /* missing: judged by the deepest ancestor */
    {"new.c", "@/project/src/new.c", BOUNDARY_USER_PROJECT, BOUNDARY_RO, false},
    {"a/b/c", "@/project/src/a/b/c", BOUNDARY_USER_PROJECT, BOUNDARY_RO, false},
    {"a/../b", "@/project/src/b", BOUNDARY_USER_PROJECT, BOUNDARY_RO, false},
    {"a/b/../../../README", "@/project/README", BOUNDARY_USER_PROJECT, BOUNDARY_RO, true},
    {"../in_abs/new", "@/project/src/new", BOUNDARY_USER_PROJECT, BOUNDARY_RO, false},
    {"../dangling", "@/project/nowhere", BOUNDARY_USER_PROJECT, BOUNDARY_RO, false},
    {"./~", "@/project/src/~", BOUNDARY_USER_PROJECT, BOUNDARY_RO, false},
    /* the workspace inside the project */
    {"../.cordon/workspaces/bot/out.txt", "@/project/.cordon/workspaces/bot/out.txt",
        BOUNDARY_AGENT_WORKSPACE, BOUNDARY_RW, true},
    {"../.cordon/workspaces/bot/new", "@/project/.cordon/workspaces/bot/new",
        BOUNDARY_AGENT_WORKSPACE, BOUNDARY_RW, false},
    {"../.cordon/workspaces/bot", "@/project/.cordon/workspaces/bot", BOUNDARY_AGENT_WORKSPACE,
        BOUNDARY_RW, true},
    {"../.cordon/workspaces/bot/..", "@/project/.cordon/workspaces", BOUNDARY_USER_PROJECT,
        BOUNDARY_RO, true},
    {"../.cordon/workspaces/other", "@/project/.cordon/workspaces/other", BOUNDARY_USER_PROJECT,
        BOUNDARY_RO, false},
    {"../.cordon/workspaces/bot/readme", "@/project/README", BOUNDARY_USER_PROJECT, BOUNDARY_RO,
        true},
    {"../.cordon/workspaces/bot/../../../README", "@/project/README", BOUNDARY_USER_PROJECT,
        BOUNDARY_RO, true},
};

TEST(boundary_inside)
{
    make_tree();
    AUTO_BOUNDARY struct boundary *b = make_boundary();
    for (size_t i = 0; i < ARRAY_LEN(inside); i++) {
        test_row(i, inside[i].path);
        AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
        AUTO_ERR struct err err = {0};
        struct resolved r;
        if (!CHECK_OK(boundary_resolve(b, spelled(&a, inside[i].path), &a, &r, &err), &err))
            continue;
        CHECK_STR(r.path, spelled(&a, inside[i].leads_to));
        CHECK_INT(r.root->class, inside[i].class);
        CHECK_INT(r.root->access, inside[i].access);
        CHECK(r.exists == inside[i].exists);
        CHECK(str_ends_with(r.path, r.rel));
    }
}

TEST(boundary_outside)
{
    static const struct {
        const char *path;
        const char *class;
    } rows[] = {
        {"../..", "outside_boundaries"},
        {"../../outside/secret", "outside_boundaries"},
        {"../../../../../../../../../etc/passwd", "system_restricted"},
        {"/etc/passwd", "system_restricted"},
        {"/", "outside_boundaries"},
        {"/proc/self/environ", "system_restricted"},
        {"/lib64/ld.so", "system_restricted"},
        {"/libre/x", "system_restricted"},
        {"/usr", "system_restricted"},
        {"/usrlocal/x", "outside_boundaries"},
        {"@/project-evil/secret", "outside_boundaries"},
        {"@/project-evil", "outside_boundaries"},
        {"@/projec", "outside_boundaries"},
        {"@", "outside_boundaries"},
        {"../out_rel", "outside_boundaries"},
        {"../out_rel/secret", "outside_boundaries"},
        {"../out_abs/secret", "outside_boundaries"},
        {"../out_chain", "outside_boundaries"},
        {"../out_abs/new/file", "outside_boundaries"},
        {"../etc/passwd", "system_restricted"},
        {"../etc", "system_restricted"},
        {"../dangling_out", "outside_boundaries"},
        {"../magic", "system_restricted"},
        {"../magic@/project/README", "system_restricted"},
        {"/proc/self/root@/project/README", "system_restricted"},
        {"/proc/self/cwd/x", "system_restricted"},
        {"a/../../../../outside/secret", "outside_boundaries"},
        {"missing/../../../x", "outside_boundaries"},
        {"~/.ssh/id_rsa", "outside_boundaries"},
        {"~", "outside_boundaries"},
        {"~root/x", "outside_boundaries"},
        {"@/project/../outside/secret", "outside_boundaries"},
        {"../in_abs/../../outside/secret", "outside_boundaries"},
    };
    make_tree();
    AUTO_BOUNDARY struct boundary *b = make_boundary();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].path);
        AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
        AUTO_ERR struct err err = {0};
        struct resolved r = {0};
        if (!CHECK(!boundary_resolve(b, spelled(&a, rows[i].path), &a, &r, &err)))
            continue;
        CHECK_ERR(&err, E_FS_VIOLATION, "");
        CHECK_Z(err_ctx_get(&err, "class")->text, rows[i].class);
        CHECK(r.root == NULL && r.path.p == NULL);
    }
}

TEST(boundary_reports_unresolvable_paths)
{
    make_tree();
    AUTO_BOUNDARY struct boundary *b = make_boundary();
    char long_name[300], long_path[20000];
    memset(long_name, 'n', sizeof(long_name) - 1);
    long_name[sizeof(long_name) - 1] = '\0';
    memset(long_path, 'p', sizeof(long_path) - 1);
    long_path[sizeof(long_path) - 1] = '\0';
    const struct {
        struct str path;
        enum err_code code;
        const char *part;
    } rows[] = {
        {STR("../loop_a"), E_IO, "Too many levels"},
        {STR("../loop_b/x"), E_IO, "Too many levels"},
        {STR("main.c/x"), E_IO, "Not a directory"},
        {STR("main.c/"), E_IO, "Not a directory"},
        {STR("main.c/.."), E_IO, "Not a directory"},
        {STR("main.c/."), E_IO, "Not a directory"},
        {STR("../in_abs/main.c/"), E_IO, "Not a directory"},
        {STR("../file_slash"), E_IO, "Not a directory"},
        {STR("../abs_slash"), E_IO, "Not a directory"},
        {STR(""), E_CLI_INVALID_ARG, "empty"},
        {STR("a\0b"), E_CLI_INVALID_ARG, "NUL"},
        {str_z(long_name), E_IO, "name too long"},
        {str_z(long_path), E_IO, "longer than"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].part);
        AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
        AUTO_ERR struct err err = {0};
        struct resolved r = {0};
        CHECK(!boundary_resolve(b, rows[i].path, &a, &r, &err));
        CHECK_ERR(&err, rows[i].code, rows[i].part);
    }
}

/* Text that grows while it is resolved ends in an error, not at the arena's limit. */
TEST(boundary_long_paths)
{
    make_tree();
    AUTO_BOUNDARY struct boundary *b = make_boundary();
    AUTO_BUF struct buf tail = BUF_INIT(1 << 16), path = BUF_INIT(1 << 16);
    for (size_t i = 0; i < 2030; i++)
        buf_add_z(&tail, "/a");
    static const char *const chain[] = {"/nope", "k1", "k2", "k3", "k4"};
    for (size_t i = 1; i < ARRAY_LEN(chain); i++) {
        buf_reset(&path);
        buf_printf(&path, "%s%s", chain[i - 1], buf_z(&tail));
        BUG_ON(symlink(buf_z(&path), test_path("project/src/%s", chain[i])) != 0);
    }
    buf_reset(&path);
    buf_add_z(&path, "/n");
    for (size_t i = 0; i < 8000; i++)
        buf_add_z(&path, "/a");
    const struct {
        struct str path;
        enum err_code code;
    } rows[] = {
        {STR("k4"), E_FS_VIOLATION},
        {buf_str(&path), E_FS_VIOLATION},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, "long");
        AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
        AUTO_ERR struct err err = {0};
        struct resolved r;
        CHECK(!boundary_resolve(b, rows[i].path, &a, &r, &err));
        CHECK_ERR(&err, rows[i].code, "the boundary");
    }
}

/* 40 symlinks are followed, as by the kernel; 41 are a loop. */
TEST(boundary_link_chains)
{
    test_write(test_path("p/0"), "end");
    for (int i = 1; i <= 41; i++) {
        const char *absolute = test_path("p/%d", i - 1);
        const char *target = i % 2 ? absolute : strrchr(absolute, '/') + 1;
        BUG_ON(symlink(target, test_path("p/%d", i)) != 0);
    }
    AUTO_BOUNDARY struct boundary *b = boundary_new();
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    AUTO_ERR struct err err = {0};
    CHECK_OK(boundary_add(b, test_path("p"), BOUNDARY_RO, BOUNDARY_USER_PROJECT, &err), &err);
    struct resolved r;
    CHECK_OK(boundary_resolve(b, STR("40"), &a, &r, &err), &err);
    CHECK_STR(r.rel, STR("0"));
    CHECK(!boundary_resolve(b, STR("41"), &a, &r, &err));
    CHECK_ERR(&err, E_IO, "Too many levels");
}

/* A workspace inside a project that is closed, inside a system directory that may be read. */
TEST(boundary_closed_root)
{
    make_tree();
    AUTO_BOUNDARY struct boundary *b = boundary_new();
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    AUTO_ERR struct err err = {0};
    CHECK_OK(boundary_add(b, test_path("project/.cordon/workspaces/bot"), BOUNDARY_RW,
                 BOUNDARY_AGENT_WORKSPACE, &err),
        &err);
    CHECK_OK(
        boundary_add(b, test_path("project"), BOUNDARY_NONE, BOUNDARY_USER_PROJECT, &err), &err);
    CHECK_OK(boundary_add(b, test_dir(), BOUNDARY_RO, BOUNDARY_SYSTEM_RESTRICTED, &err), &err);
    struct resolved r;
    CHECK_OK(boundary_resolve(b, STR("out.txt"), &a, &r, &err), &err);
    CHECK_INT(r.root->access, BOUNDARY_RW);
    static const char *const closed[] = {"readme", "../../../src/main.c", "../other/x"};
    for (size_t i = 0; i < ARRAY_LEN(closed); i++) {
        test_row(i, closed[i]);
        CHECK(!boundary_resolve(b, str_z(closed[i]), &a, &r, &err));
        CHECK_ERR(&err, E_FS_VIOLATION, "the boundary");
        CHECK_Z(err_ctx_get(&err, "class")->text, "user_project");
    }
    CHECK_OK(boundary_resolve(b, str_z(test_path("outside/secret")), &a, &r, &err), &err);
    CHECK_INT(r.root->class, BOUNDARY_SYSTEM_RESTRICTED);
}

TEST(boundary_hard_names)
{
    char longest[256];
    memset(longest, 'n', 255);
    longest[255] = '\0';
    const char *const names[] = {"new\nline", "\xFF\xFEraw", longest, " ", "-rf", "a\\b", "*",
        "...", "..x", "x..", "tab\t", "'\"`$(x)"};
    AUTO_BOUNDARY struct boundary *b = boundary_new();
    AUTO_ERR struct err err = {0};
    CHECK_OK(boundary_add(b, test_dir(), BOUNDARY_RW, BOUNDARY_USER_PROJECT, &err), &err);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        test_row(i, names[i]);
        AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
        struct resolved r;
        for (int there = 0; there < 2; there++) {
            if (there)
                test_write(test_path("%s", names[i]), "x");
            if (!CHECK_OK(boundary_resolve(b, str_z(names[i]), &a, &r, &err), &err))
                continue;
            CHECK_STR(r.rel, str_z(names[i]));
            CHECK(r.exists == (there == 1));
        }
    }
}

TEST(boundary_open_checks_access)
{
    make_tree();
    AUTO_BOUNDARY struct boundary *b = make_boundary();
    static const struct {
        const char *path;
        int flags;
        enum err_code code; /* ERR_NONE: opens */
        const char *part;
    } rows[] = {
        {"main.c", O_RDONLY, ERR_NONE, ""},
        {"main.c", O_RDWR, E_FS_VIOLATION, "cannot be written: its access is 'ro'"},
        {"main.c", O_RDONLY | O_TRUNC, E_FS_VIOLATION, "cannot be written: its access is 'ro'"},
        {"../.cordon/workspaces/bot/out.txt", O_RDWR, ERR_NONE, ""},
        {"../.cordon/workspaces/bot/readme", O_RDWR, E_FS_VIOLATION,
            "cannot be written: its access is 'ro'"},
        {"../.cordon/workspaces/bot/readme", O_RDONLY, ERR_NONE, ""},
        {"../in_abs", O_RDONLY | O_DIRECTORY, ERR_NONE, ""},
        {"none", O_RDONLY, E_IO, "No such file"},
        {"../out_abs/secret", O_RDONLY, E_FS_VIOLATION, "the boundary"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].path);
        AUTO_ERR struct err err = {0};
        AUTO_FD int fd = boundary_open(b, str_z(rows[i].path), rows[i].flags, &err);
        if (rows[i].code == ERR_NONE)
            CHECK_OK(fd >= 0, &err);
        else if (CHECK(fd < 0))
            CHECK_ERR(&err, rows[i].code, rows[i].part);
    }
    AUTO_FREE char *still = test_read(test_path("project/src/main.c"));
    CHECK_Z(still, "main");
}

TEST(boundary_no_permission)
{
    if (geteuid() == 0) {
        test_skip("permissions don't bind root; tests/as-user runs this");
        return;
    }
    test_write(test_path("closed/x"), "x");
    BUG_ON(chmod(test_path("closed"), 0) != 0);
    AUTO_BOUNDARY struct boundary *b = boundary_new();
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    AUTO_ERR struct err err = {0};
    CHECK_OK(boundary_add(b, test_dir(), BOUNDARY_RW, BOUNDARY_USER_PROJECT, &err), &err);
    struct resolved r;
    CHECK(!boundary_resolve(b, STR("closed/x"), &a, &r, &err));
    CHECK_ERR(&err, E_IO, "Permission denied");
}

TEST(boundary_system_read_only)
{
    make_tree();
    AUTO_BOUNDARY struct boundary *b = make_boundary();
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    AUTO_ERR struct err err = {0};
    CHECK_OK(boundary_add_system(b, &err), &err);
    struct resolved r;
    CHECK_OK(boundary_resolve(b, STR("/etc/passwd"), &a, &r, &err), &err);
    CHECK_Z(boundary_class_name(r.root->class), "system_restricted");
    CHECK_Z(boundary_access_name(r.root->access), "ro");
    CHECK_OK(boundary_resolve(b, STR("/bin/sh"), &a, &r, &err), &err);
    CHECK_INT(r.root->class, BOUNDARY_SYSTEM_RESTRICTED);
    CHECK(!boundary_resolve(b, STR("/root"), &a, &r, &err));
    CHECK_ERR(&err, E_FS_VIOLATION, "the boundary");
}

/* A root of "/" contains everything; nothing is outside it. */
TEST(boundary_of_the_whole_system)
{
    AUTO_BOUNDARY struct boundary *b = boundary_new();
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    AUTO_ERR struct err err = {0};
    CHECK_OK(boundary_add(b, "/", BOUNDARY_RW, BOUNDARY_USER_PROJECT, &err), &err);
    struct resolved r;
    CHECK_OK(boundary_resolve(b, STR("/etc/passwd"), &a, &r, &err), &err);
    CHECK_STR(r.rel, STR("etc/passwd"));
    CHECK_OK(boundary_resolve(b, STR("/../../etc/new-file"), &a, &r, &err), &err);
    CHECK_STR(r.path, STR("/etc/new-file"));
    CHECK_OK(boundary_resolve(b, STR("/"), &a, &r, &err), &err);
    CHECK_STR(r.path, STR("/"));
    CHECK_STR(r.rel, STR(""));
    AUTO_BUF struct buf up = BUF_INIT(10000);
    for (size_t i = 0; i < 100; i++)
        buf_add_z(&up, "/missing/../..");
    buf_add_z(&up, "/etc/new-file");
    CHECK_OK(boundary_resolve(b, buf_str(&up), &a, &r, &err), &err);
    CHECK_STR(r.path, STR("/etc/new-file"));
}

struct swapper {
    atomic_bool stop;
    char a[4096], b[4096];
};

/* Swaps a directory and a symlink to the outside, as fast as it can. */
static void *swap_for_ever(void *context)
{
    struct swapper *s = context;
    while (!atomic_load(&s->stop))
        syscall(SYS_renameat2, AT_FDCWD, s->a, AT_FDCWD, s->b, 2 /* RENAME_EXCHANGE */);
    return NULL;
}

TEST(boundary_race_never_gets_out)
{
    test_write(test_path("project/dir/sub/file"), "inside");
    test_write(test_path("outside/sub/file"), "OUTSIDE");
    BUG_ON(symlink(test_path("outside"), test_path("project/link")) != 0);
    static struct swapper s;
    atomic_store(&s.stop, false);
    snprintf(s.a, sizeof(s.a), "%s", test_path("project/dir"));
    snprintf(s.b, sizeof(s.b), "%s", test_path("project/link"));
    AUTO_BOUNDARY struct boundary *b = boundary_new();
    AUTO_ERR struct err err = {0};
    CHECK_OK(boundary_add(b, test_path("project"), BOUNDARY_RW, BOUNDARY_USER_PROJECT, &err), &err);
    pthread_t thread;
    BUG_ON(pthread_create(&thread, NULL, swap_for_ever, &s) != 0);
    static const char *const paths[] = {
        "dir/sub/file", "dir/../dir/sub/file", "dir/sub/../sub/file"};
    size_t opened = 0, refused = 0, escaped = 0, odd = 0;
    for (size_t i = 0; i < 100000; i++) {
        AUTO_FD int fd = boundary_open(b, str_z(paths[i % ARRAY_LEN(paths)]), O_RDONLY, &err);
        char text[16] = "";
        if (fd < 0) {
            refused++;
            odd += err.code != E_FS_VIOLATION && err.code != E_IO;
        } else if (read(fd, text, sizeof(text) - 1) > 0) {
            opened++;
            escaped += strcmp(text, "inside") != 0;
        }
    }
    atomic_store(&s.stop, true);
    pthread_join(thread, NULL);
    CHECK_INT(escaped, 0);
    CHECK_INT(odd, 0);
    CHECK(opened > 0 && refused > 0); /* the race did happen */
}

TEST(root_order_and_limits)
{
    static const struct {
        const char *files; /* separated by blanks; a "/" at the end makes a directory */
        const char *start, *root, *marker;
    } rows[] = {
        {".git/ a/b/", "a/b", "", ".git"},
        {".git a/b/", "a/b", "", ".git"},
        {".git/ a/package.json a/b/", "a/b", "", ".git"},
        {".git/ a/.git a/b/", "a/b", "a", ".git"},
        {"a/package.json a/b/", "a/b", "a", "package.json"},
        {"package.json a/Cargo.toml a/b/", "a/b", "", "package.json"},
        {"pyproject.toml a/Cargo.toml a/b/", "a/b", "", "pyproject.toml"},
        {"a/Cargo.toml a/go.mod a/b/", "a/b", "a", "Cargo.toml"},
        {"go.mod a/", "a", "", "go.mod"},
        {"pom.xml a/", "a", "", "pom.xml"},
        {"build.gradle a/", "a", "", "build.gradle"},
        {".cordon/ a/", "a", "", ".cordon"},
        {".cordon/ a/own.mark a/b/", "a/b", "a", "own.mark"},
        {"go.mod a/own.mark a/b/", "a/b", "", "go.mod"},
        {"a/b/", "a/b", "a/b", ""},
    };
    const struct str extra[] = {STR("own.mark")};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].files);
        AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
        AUTO_ERR struct err err = {0};
        struct str file, rest = str_z(rows[i].files);
        while (str_cut(rest, ' ', &file, &rest)) {
            const char *slash = str_ends_with(file, STR("/")) ? "." : "";
            const char *path = test_path("%zu/" STR_FMT "%s", i, STR_ARG(file), slash);
            if (slash[0])
                test_write(test_path("%zu/" STR_FMT "keep", i, STR_ARG(file)), "");
            else
                test_write(path, "");
        }
        struct root_found root;
        struct root_options options = {.extra_markers = extra, .n_extra = 1, .home = test_dir()};
        const char *start = test_path("%zu/%s", i, rows[i].start);
        if (!CHECK_OK(root_detect(start, &options, &a, &root, &err), &err))
            continue;
        const char *want = test_path("%zu%s%s", i, rows[i].root[0] ? "/" : "", rows[i].root);
        CHECK_STR(root.dir, str_z(want));
        CHECK_STR(root.marker, str_z(rows[i].marker));
    }
}

TEST(root_is_never_home)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    AUTO_ERR struct err err = {0};
    struct root_found root;
    test_write(test_path("home/.git/config"), "");
    test_write(test_path("home/work/deep/file"), "");
    test_write(test_path(".git/config"), "");
    BUG_ON(symlink("home", test_path("home-link")) != 0);
    struct root_options options = {.home = test_path("home-link")};
    CHECK_OK(root_detect(test_path("home/work/deep"), &options, &a, &root, &err), &err);
    CHECK_STR(root.dir, str_z(test_path("home/work/deep")));
    CHECK_STR(root.marker, STR(""));
    CHECK_OK(root_detect(test_path("home"), &options, &a, &root, &err), &err);
    CHECK_STR(root.dir, str_z(test_path("home")));
    CHECK_STR(root.marker, STR(".git"));
    CHECK_OK(root_detect("/", &options, &a, &root, &err), &err);
    CHECK_STR(root.dir, STR("/"));
    CHECK(!root_detect(test_path("none"), &options, &a, &root, &err));
    CHECK_ERR(&err, E_IO, "No such file");
    CHECK(!root_detect(test_path("home/work/deep/file"), &options, &a, &root, &err));
    CHECK_ERR(&err, E_IO, "Not a directory");
}

TEST(workspace_is_made_and_ignored)
{
    static const struct {
        const char *name;
        bool valid;
    } rows[] = {
        {"bot", true},
        {"a", true},
        {"a-b_c.d9", true},
        {"", false},
        {".", false},
        {"..", false},
        {"-a", false},
        {"a-", false},
        {"a--b", false},
        {"a/b", false},
        {"a b", false},
        {"é", false},
        {"12345678901234567890123456789012345678901234567890123456", true},
        {"123456789012345678901234567890123456789012345678901234567", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].name);
        CHECK(workspace_agent_valid(str_z(rows[i].name)) == rows[i].valid);
    }
    AUTO_ERR struct err err = {0};
    AUTO_FD int project = open(test_dir(), O_PATH | O_DIRECTORY);
    for (int again = 0; again < 2; again++) {
        AUTO_FD int fd = workspace_open(project, "bot", &err);
        CHECK_OK(fd >= 0, &err);
        AUTO_FREE char *name = beneath_name(fd);
        CHECK_Z(name, test_path(".cordon/workspaces/bot"));
    }
    AUTO_FREE char *ignore = test_read(test_path(".cordon/.gitignore"));
    CHECK_Z(ignore, "*\n");
    AUTO_FD int bad = workspace_open(project, "../x", &err);
    CHECK(bad < 0);
    CHECK_ERR(&err, E_CLI_INVALID_ARG, "is not a valid workspace name");
    BUG_ON(symlink("/tmp", test_path(".cordon/workspaces/evil")) != 0);
    AUTO_FD int evil = workspace_open(project, "evil", &err);
    CHECK(evil < 0);
    CHECK_ERR(&err, E_FS_VIOLATION, "not a directory");
}

TEST(lexical_paths)
{
    static const struct {
        const char *dir, *path;
        bool below;
    } rows[] = {
        {"/a", "/a", true},
        {"/a", "/a/b", true},
        {"/a", "/ab", false},
        {"/", "/x", true},
        {"/", "/", true},
        {"/a/b", "/a", false},
        {"/a/", "/a/b", true},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].path);
        CHECK(lexical_is_below(str_z(rows[i].dir), str_z(rows[i].path)) == rows[i].below);
    }
    CHECK_STR(lexical_rest(STR("/a"), STR("/a//b/c")), STR("b/c"));
    CHECK_STR(lexical_rest(STR("/a"), STR("/a")), STR(""));
    CHECK_STR(lexical_rest(STR("/"), STR("/x")), STR("x"));
    CHECK_STR(lexical_name(STR("/a/b/")), STR("b"));
    CHECK_STR(lexical_name(STR("/")), STR(""));
    CHECK_STR(lexical_name(STR("x")), STR("x"));
}

TEST(warn_about_secrets)
{
    static const struct {
        const char *path;
        bool warns;
    } rows[] = {
        {".env", true},
        {"/p/.env", true},
        {"a/.ENV.local", true},
        {".env.example", false},
        {"env", false},
        {"x.env", true},
        {"config.json", true},
        {"tsconfig.json", false},
        {".aws/credentials", true},
        {"credentials.json", true},
        {"id_rsa", true},
        {"id_rsa.pub", false},
        {"server.pem", true},
        {".pem", false},
        {"main.c", false},
        {"", false},
        {"/", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].path);
        CHECK((warn_about(str_z(rows[i].path)) != NULL) == rows[i].warns);
    }
}
