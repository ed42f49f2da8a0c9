/* An overlay directory: its steps in a plan, and what a program inside can't do. Each attack has
 * its control: the same act works where it is allowed. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/json.h"
#include "policy/load.h"
#include "sandbox/baseline.h"
#include "sandbox/launch.h"
#include "sandbox/plan.h"
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>

enum {
    ARENA_MAX = 64 << 20,
    OUTPUT_MAX = 1 << 20,
};

/* Plans --------------------------------------------------------------------------------------- */

struct plan_row {
    const char *name;
    const char *read, *write; /* one directory each */
    bool exec;
    const char *lower;
    const char *want; /* the steps below /r */
};

/* The overlay is at /r/p; its layers are /r/box/u and /r/box/w. */
static const struct plan_row plan_rows[] = {
    {"alone", NULL, NULL, false, "/r/p", "overlay /r/p read write;"},
    {"with programs", NULL, NULL, true, "/r/p", "overlay /r/p read write exec;"},
    {"instead of the directory itself", NULL, "/r/p", false, "/r/p", "overlay /r/p read write;"},
    {"nothing of the host inside", NULL, "/r/p/out", false, "/r/p", "overlay /r/p read write;"},
    {"in a directory that can be read", "/r", NULL, false, "/r/p",
        "bind /r read;cover /r/box/u;cover /r/box/w;overlay /r/p read write;"},
    {"in one that can be written", NULL, "/r", false, "/r/p",
        "bind /r read write;pin /r/box;cover /r/box/u;cover /r/box/w;overlay /r/p read "
        "write;"},
    {"a copy is also hidden", "/r", NULL, false, "/r/box/base",
        "bind /r read;cover /r/box/base;cover /r/box/u;cover /r/box/w;overlay /r/p read write;"},
    {"names that only begin alike", "/r/p-2", NULL, false, "/r/p",
        "overlay /r/p read write;bind /r/p-2 read;"},
};

static struct verdict_paths one_path(struct arena *a, const char *path)
{
    struct verdict_paths paths = {.p = ARENA_NEW(a, struct verdict_path, 1), .n = path != NULL};
    if (path)
        paths.p[0] =
            (struct verdict_path){.given = str_z(path), .resolved = str_z(path), .is_dir = true};
    return paths;
}

static void add_step(struct buf *b, const json_t *step)
{
    struct str at = json_str(json_object_get(step, "at"));
    if (!str_starts_with(at, STR("/r")))
        return;
    buf_printf(
        b, STR_FMT " " STR_FMT, STR_ARG(json_str(json_object_get(step, "kind"))), STR_ARG(at));
    size_t i;
    json_t *access;
    json_array_foreach(json_object_get(step, "access"), i, access)
        buf_printf(b, " " STR_FMT, STR_ARG(json_str(access)));
    buf_add_byte(b, ';');
}

TEST(overlay_plan)
{
    static const struct baseline nothing;
    for (size_t i = 0; i < ARRAY_LEN(plan_rows); i++) {
        const struct plan_row *row = &plan_rows[i];
        AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
        struct policy policy = {.sandbox = POLICY_NATIVE};
        struct verdict v = {
            .policy = &policy, .read = one_path(&a, row->read), .write = one_path(&a, row->write)};
        const struct plan_overlay overlay = {.at = STR("/r/p"),
            .lower.path = str_z(row->lower),
            .upper.path = STR("/r/box/u"),
            .work.path = STR("/r/box/w"),
            .exec = row->exec};
        struct plan plan;
        plan_make(
            &(struct plan_input){
                .verdict = &v, .baseline = &nothing, .overlays = &overlay, .n_overlays = 1},
            &a, &plan);
        AUTO_JSON json_t *tree = plan_json(&plan);
        AUTO_BUF struct buf got = BUF_INIT(4096);
        size_t k;
        json_t *step;
        json_array_foreach(json_object_get(tree, "steps"), k, step) add_step(&got, step);
        test_row(i, row->name);
        CHECK_STR(buf_str(&got), str_z(row->want));
    }
}

/* Binds ------------------------------------------------------------------------------------- */

struct bind_row {
    const char *name;
    const char *read; /* of the verdict; one directory, or NULL */
    struct plan_bind binds[2];
    const char *hidden;
    const char *want;
};

#define SAME(name)         .at = {name, sizeof(name) - 1}, .source.path = {name, sizeof(name) - 1}
#define MOVED(place, name) .at = {place, sizeof(place) - 1}, .source.path = {name, sizeof(name) - 1}

static const struct bind_row bind_rows[] = {
    {"a directory", NULL, {{SAME("/r/p"), .is_dir = true, .write = true, .exec = true}}, NULL,
        "bind /r/p read write exec;"},
    {"read-only in one that can be written", NULL,
        {{SAME("/r/p"), .is_dir = true, .write = true}, {SAME("/r/p/.git"), .is_dir = true}}, NULL,
        "bind /r/p read write;bind /r/p/.git read;"},
    {"a file, and the way to it", NULL,
        {{SAME("/r/p"), .is_dir = true, .write = true}, {SAME("/r/p/d/f")}}, NULL,
        "bind /r/p read write;pin /r/p/d;bind /r/p/d/f read;"},
    {"instead of the verdict's directory", "/r/p/in",
        {{SAME("/r/p"), .is_dir = true, .write = true}}, NULL, "bind /r/p read write;"},
    {"beside a directory shown elsewhere", "/r/q", {{SAME("/r/p"), .is_dir = true}}, NULL,
        "bind /r/p read;bind /r/q read;"},
    {"hidden files in it are covered", NULL, {{SAME("/r/p"), .is_dir = true}}, "/r/p/state",
        "bind /r/p read;cover /r/p/state;"},
    {"at another place nothing of the host's is there to cover", NULL,
        {{MOVED("/r/p", "/r/box/home"), .is_dir = true, .write = true}}, "/r/p/state",
        "bind /r/p read write;"},
    {"at another place in one that holds it", "/r",
        {{MOVED("/r/p", "/r/state/home"), .is_dir = true}}, "/r/state",
        "bind /r read;bind /r/p read;cover /r/state;"},
};

TEST(overlay_binds)
{
    static const struct baseline nothing;
    for (size_t i = 0; i < ARRAY_LEN(bind_rows); i++) {
        const struct bind_row *row = &bind_rows[i];
        AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
        struct policy policy = {.sandbox = POLICY_NATIVE};
        struct verdict v = {.policy = &policy, .read = one_path(&a, row->read)};
        const struct plan_hidden hidden = {str_z(row->hidden), true};
        struct plan plan;
        plan_make(&(struct plan_input){.verdict = &v,
                      .baseline = &nothing,
                      .hidden = &hidden,
                      .n_hidden = row->hidden != NULL,
                      .binds = row->binds,
                      .n_binds = row->binds[1].at.p ? 2 : 1},
            &a, &plan);
        AUTO_JSON json_t *tree = plan_json(&plan);
        AUTO_BUF struct buf got = BUF_INIT(4096);
        size_t k;
        json_t *step;
        json_array_foreach(json_object_get(tree, "steps"), k, step) add_step(&got, step);
        test_row(i, row->name);
        CHECK_STR(buf_str(&got), str_z(row->want));
    }
}

/* Running ------------------------------------------------------------------------------------- */

static struct plan_source source_of(struct arena *a, const char *path)
{
    struct stat st = {0};
    CHECK_INT(stat(path, &st), 0);
    return (struct plan_source){arena_str(a, str_z(path)), st.st_dev, st.st_ino};
}

/* A project, its box, and the directory around both, which the policy shows as well. */
static void make_world(void)
{
    tree_file(test_path("p/keep"), "old\n", 0644);
    tree_file(test_path("p/gone"), "old\n", 0644);
    tree_file(test_path("p/dir/inner"), "old\n", 0644);
    tree_file(test_path("p/run.sh"), "#!/bin/sh\necho ran\n", 0755);
    tree_file(test_path("box/meta.json"), "{}", 0600);
    CHECK_INT(mkdir(test_path("box/u"), 0755), 0);
    CHECK_INT(mkdir(test_path("box/w"), 0755), 0);
    CHECK_INT(chmod(test_dir(), 0755), 0);
}

struct inside {
    const char *script;
    bool unix_sockets;
};

static bool make_plan(
    const struct inside *in, struct arena *a, struct plan *ret_plan, struct err *err)
{
    struct policy *policy = ARENA_NEW(a, struct policy, 1);
    struct verdict *v = ARENA_NEW(a, struct verdict, 1);
    struct baseline *base = ARENA_NEW(a, struct baseline, 1);
    struct plan_overlay *overlay = ARENA_NEW(a, struct plan_overlay, 1);
    struct plan_hidden *hidden = ARENA_NEW(a, struct plan_hidden, 1);
    const char *text = arena_printf(a,
        "{\"policy_version\":4,\"sandbox\":\"native\",\"allow_unix_sockets\":%s,\"unix_sockets_"
        "unsafe_ack\":true,\"fs\":{\"allowed_"
        "read\":[\"%s\"],\"allowed_write\":[]},\"exec\":{\"allowed_executables\":[\"/usr/bin\"],"
        "\"allow_shell\":true},\"network\":\"disabled\"}",
        in->unix_sockets ? "true" : "false", test_dir());
    if (!policy_parse(str_z(text), "p.json", a, policy, err))
        return false;
    policy_validate(policy, &(struct policy_host){0}, a, v);
    policy_validate_command(v, &(struct policy_command){.path = "/usr/bin/perl", .cwd = "/tmp"});
    v->cwd = (struct verdict_path){0};
    v->denials.n = 0; /* the policy does not cover the working directory here */
    baseline_collect(a, base);
    if (!baseline_add_loaders(base, a, err))
        return false;
    *overlay = (struct plan_overlay){.at = arena_str(a, str_z(test_path("p"))),
        .lower = source_of(a, test_path("p")),
        .upper = source_of(a, test_path("box/u")),
        .work = source_of(a, test_path("box/w")),
        .exec = true};
    *hidden = (struct plan_hidden){arena_str(a, str_z(test_path("box"))), true};
    plan_make(&(struct plan_input){.verdict = v,
                  .baseline = base,
                  .hidden = hidden,
                  .n_hidden = 1,
                  .overlays = overlay,
                  .n_overlays = 1,
                  .root = geteuid() == 0},
        a, ret_plan);
    ret_plan->cwd = overlay->at;
    return true;
}

static void collect(int fd, struct buf *out)
{
    char bytes[4096];
    ssize_t n;
    while ((n = read(fd, bytes, sizeof(bytes))) > 0)
        buf_add(out, bytes, (size_t)n);
}

/* Returns the output of both streams, one after the other. */
static bool run_inside(const struct inside *in, struct buf *out, struct err *err)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    struct plan plan;
    struct child child;
    struct child_event news;
    const char *const argv[] = {"perl", "-e", in->script, NULL};
    const char *const envp[] = {"PATH=/usr/bin", NULL};
    if (!make_plan(in, &a, &plan, err) ||
        !launch_start(&(struct launch){.plan = &plan, .argv = argv, .envp = envp}, &child, err))
        return false;
    collect(child.out, out);
    collect(child.err, out);
    bool ok = child_read_event(&child, &news, err);
    child_close(&child);
    return ok;
}

/* Perl, since it can make any system call: 188 is setxattr, 191 getxattr, 133 mknod. */
static const struct {
    const char *name, *script, *want;
} acts[] = {
    {"it is where the project is", "print -e 'keep' ? 'here' : 'no'", "here"},
    {"it reads", "open F, 'keep'; print <F>", "old\n"},
    {"it runs files in it", "print `./run.sh`", "ran\n"},
    {"it writes", "open F, '>', 'keep' or die; print F 'new'; close F; open F, 'keep'; print <F>",
        "new"},
    {"it deletes", "unlink 'gone' or die $!; print -e 'gone' ? 'there' : 'gone'", "gone"},
    {"it replaces a directory",
        "unlink 'dir/inner'; rmdir 'dir' or die $!; mkdir 'dir'; opendir D, 'dir'; print scalar "
        "grep { !/^\\./ } readdir D",
        "0"},
    {"the layers are not there",
        "opendir D, '../box' or die $!; print scalar grep { !/^\\./ } readdir D", "0"},
    {"nor can they be made",
        "mkdir '../box/u' and print 'made'; open F, '>', '../box/meta.json' and print 'open'; "
        "print "
        "'no'",
        "no"},
    {"nor are their parents writable", "rename '../box', '../b2' and print 'moved'; print 'no'",
        "no"},
    {"its own whiteout is refused",
        "my $n = 'white'; print syscall(133, $n, 020644, 0) == 0 ? 'made' : 'no'", "no"},
    {"a device is refused",
        "my $n = 'dev'; print syscall(133, $n, 020666, 0x103) == 0 ? 'made' : 'no'", "no"},
    {"an attribute of the overlay is only a name",
        "mkdir 'fake'; my ($p, $n, $v) = ('fake', 'user.overlay.opaque', 'y'); print "
        "syscall(188, $p, $n, $v, 1, 0) == 0 ? 'set' : 'no'",
        "set"},
    {"one of the system is refused",
        "my ($p, $n, $v) = ('keep', 'trusted.overlay.opaque', 'y'); print "
        "syscall(188, $p, $n, $v, 1, 0) == 0 ? 'set' : 'no'",
        "no"},
    {"no mounts",
        "my ($t, $p) = ('tmpfs', 'dir'); print syscall(165, $t, $p, $t, 0, 0) == 0 ? 'yes' : 'no'",
        "no"},
};

TEST(overlay_acts)
{
    make_world();
    AUTO_FREE char *before = tree_describe(test_path("p"));
    for (size_t i = 0; i < ARRAY_LEN(acts); i++) {
        AUTO_ERR struct err err = {0};
        AUTO_BUF struct buf out = BUF_INIT(OUTPUT_MAX);
        test_row(i, acts[i].name);
        CHECK_OK(run_inside(&(struct inside){.script = acts[i].script}, &out, &err), &err);
        CHECK_STR(buf_str(&out), str_z(acts[i].want));
    }
    AUTO_FREE char *after = tree_describe(test_path("p"));
    CHECK_Z(after, before);
    AUTO_FREE char *meta = test_read(test_path("box/meta.json"));
    CHECK_Z(meta, "{}");
}

/* The upper layer afterwards, which `diff` will read. */
TEST(overlay_upper)
{
    static const char script[] =
        "unlink 'gone'; open F, '>', 'made'; print F 'x'; close F; unlink 'dir/inner'; rmdir "
        "'dir'; "
        "mkdir 'dir'; mkdir 'fake'; my ($p, $n, $v) = ('fake', 'user.overlay.opaque', 'y'); "
        "syscall(188, $p, $n, $v, 1, 0); print 'done'";
    char value[16];
    struct stat st;
    AUTO_ERR struct err err = {0};
    AUTO_BUF struct buf out = BUF_INIT(OUTPUT_MAX);
    make_world();
    CHECK_OK(run_inside(&(struct inside){.script = script}, &out, &err), &err);
    CHECK_STR(buf_str(&out), STR("done"));
    CHECK_INT(lstat(test_path("box/u/gone"), &st), 0);
    CHECK(S_ISCHR(st.st_mode) && st.st_rdev == makedev(0, 0));
    CHECK_INT(getxattr(test_path("box/u/dir"), "user.overlay.opaque", value, sizeof(value)), 1);
    /* The child's own attribute is kept separate from the kernel's. */
    CHECK_INT(getxattr(test_path("box/u/fake"), "user.overlay.overlay.opaque", value, 16), 1);
    AUTO_FREE char *made = test_read(test_path("box/u/made"));
    CHECK_Z(made, "x");
    CHECK(lstat(test_path("box/u/keep"), &st) != 0);
}

/* A socket of the host in the project can't be reached through the overlay. */
TEST(overlay_socket_of_the_host)
{
    static const char script[] = "use Socket; socket(S, PF_UNIX, SOCK_STREAM, 0) or die $!; print "
                                 "connect(S, pack_sockaddr_un('sock')) ? 'connected' : 'no'";
    AUTO_ERR struct err err = {0};
    AUTO_BUF struct buf out = BUF_INIT(OUTPUT_MAX);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    make_world();
    CHECK((size_t)snprintf(address.sun_path, sizeof(address.sun_path), "%s", test_path("p/sock")) <
          sizeof(address.sun_path));
    AUTO_FD int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_INT(bind(server, (struct sockaddr *)&address, sizeof(address)), 0);
    CHECK_INT(listen(server, 4), 0);
    AUTO_FD int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_INT(connect(client, (struct sockaddr *)&address, sizeof(address)), 0);
    CHECK_OK(run_inside(&(struct inside){script, true}, &out, &err), &err);
    CHECK_STR(buf_str(&out), STR("no"));
}

/* The layers that were checked must be the ones that are mounted; a mount that fails is reported
 * with a remedy. */
TEST(overlay_failures)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    AUTO_ERR struct err err = {0};
    struct plan plan;
    make_world();
    if (!CHECK_OK(make_plan(&(struct inside){.script = ""}, &a, &plan, &err), &err))
        return;
    CHECK_OK(launch_rehearse(&plan, &err), &err);
    CHECK_INT(rename(test_path("box/u"), test_path("box/u2")), 0);
    CHECK_INT(mkdir(test_path("box/u"), 0755), 0);
    CHECK(!launch_rehearse(&plan, &err));
    CHECK_ERR(&err, E_CONFLICT, "was replaced after it was opened");
    plan.mode = POLICY_LANDLOCK;
    CHECK(!launch_rehearse(&plan, &err));
    CHECK_ERR(&err, E_SANDBOX_UNAVAILABLE, "requires namespaces");
}

/* Layers on different file systems: the kernel's refusal, explained. */
TEST(overlay_not_mountable)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    AUTO_ERR struct err err = {0};
    struct plan plan;
    struct stat shm, here;
    make_world();
    if (stat("/dev/shm", &shm) != 0 || stat(test_dir(), &here) != 0 || shm.st_dev == here.st_dev)
        return test_skip("there is only one file system");
    if (!CHECK_OK(make_plan(&(struct inside){.script = ""}, &a, &plan, &err), &err))
        return;
    for (size_t i = 0; i < plan.n_steps; i++)
        if (plan.steps[i].overlay)
            ((struct plan_overlay *)plan.steps[i].overlay)->work =
                (struct plan_source){STR("/dev/shm"), shm.st_dev, shm.st_ino};
    CHECK(!launch_rehearse(&plan, &err));
    CHECK_ERR(&err, E_SANDBOX_UNAVAILABLE, "mounting overlayfs in a user namespace");
    CHECK(err_ctx_get(&err, "remedy") && strstr(err_ctx_get(&err, "remedy")->text, "CORDON_HOME"));
    CHECK(err_ctx_get(&err, "errno") != NULL);
}

/* The kernel mounts it read-only, without an error, if it can't use the work directory. */
TEST(overlay_never_read_only)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    AUTO_ERR struct err err = {0};
    struct plan plan;
    make_world();
    tree_file(test_path("box/w/work/deeper/than/the/kernel/cleans"), "x", 0600);
    if (!CHECK_OK(make_plan(&(struct inside){.script = ""}, &a, &plan, &err), &err))
        return;
    CHECK(!launch_rehearse(&plan, &err));
    CHECK_ERR(&err, E_SANDBOX_UNAVAILABLE, "Read-only file system");
}

static int rehearse_with_mount(void *arg UNUSED)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    AUTO_ERR struct err err = {0};
    struct plan plan;
    if (!child_private_mounts() || mount("none", test_path("p/dir"), "tmpfs", 0, NULL) != 0)
        return 2;
    if (!make_plan(&(struct inside){.script = ""}, &a, &plan, &err))
        return 3;
    if (launch_rehearse(&plan, &err) || err.code != E_SANDBOX_UNAVAILABLE)
        return 4;
    const struct err_pair *remedy = err_ctx_get(&err, "remedy");
    return remedy && strstr(remedy->text, "mounted below") ? 0 : 5;
}

/* Mounts in the project would be missing inside: the kernel refuses, and the error explains why. */
TEST(overlay_over_a_mount)
{
    if (geteuid() != 0)
        return test_skip("only root can mount something without a user namespace");
    make_world();
    CHECK_INT(child_run(rehearse_with_mount, NULL), 0);
}
