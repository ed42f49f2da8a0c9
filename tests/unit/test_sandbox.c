/* The sandbox before there is one: plans, the filter, the loader's header, the environment. */
#include "test.h"

#include "base/json.h"
#include "policy/load.h"
#include "sandbox/elf.h"
#include "sandbox/env.h"
#include "sandbox/machine.h"
#include "sandbox/mounts.h"
#include "sandbox/plan.h"
#include "sandbox/seccomp.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

enum {
    ARENA_MAX = 64 << 20,
    HIDDEN_MAX = 4,
};

/* Plans --------------------------------------------------------------------------------------- */

/* What the rows share: roots below /r, as a policy's verdict has them. */
struct plan_case {
    const char *name;
    const char *read[4], *write[4], *exec[4];
    const char *hidden; /* up to HIDDEN_MAX, with blanks between them */
    const char *want;   /* "kind at access;" of the steps below /r and /tmp/r, in order */
    const char *kept;   /* files that stay as they are, with blanks between them */
};

static const struct plan_case plan_cases[] = {
    {"one root", {"/r/a/"}, {0}, {0}, NULL, "bind /r/a read;"},
    {"a writable root", {0}, {"/r/a/"}, {0}, NULL, "bind /r/a read write;"},
    {"read and write of one path: write", {"/r/a/"}, {"/r/a/"}, {0}, NULL, "bind /r/a read write;"},
    {"writable in readable", {"/r/a/"}, {"/r/a/b/"}, {0}, NULL,
        "bind /r/a read;bind /r/a/b read write;"},
    {"readable in writable", {"/r/a/b/"}, {"/r/a/"}, {0}, NULL,
        "bind /r/a read write;bind /r/a/b read;"},
    {"three deep", {"/r/a/b/"}, {"/r/a/", "/r/a/b/c/"}, {0}, NULL,
        "bind /r/a read write;bind /r/a/b read;bind /r/a/b/c read write;"},
    {"nothing new inside", {"/r/a/", "/r/a/b/"}, {0}, {0}, NULL, "bind /r/a read;"},
    {"a file alone", {"/r/a"}, {0}, {0}, NULL, "bind /r/a read;"},
    {"an executable alone", {0}, {0}, {"/r/bin/x"}, NULL, "bind /r/bin/x read exec;"},
    {"an executable in a root", {"/r/a/"}, {0}, {"/r/a/x"}, NULL,
        "bind /r/a read;bind /r/a/x read exec;"},
    {"an executable in a writable root", {0}, {"/r/a/"}, {"/r/a/x"}, NULL,
        "bind /r/a read write;bind /r/a/x read exec;"},
    {"an executable that is writable itself", {0}, {"/r/a/x"}, {"/r/a/x"}, NULL,
        "bind /r/a/x read write exec;"},
    {"what is deep in a writable root is held in place", {"/r/a/b/c/d/"}, {"/r/a/"}, {0}, NULL,
        "bind /r/a read write;pin /r/a/b;pin /r/a/b/c;bind /r/a/b/c/d read;"},
    {"hidden deep in a writable root", {0}, {"/r/a/"}, {0}, "/r/a/b/art",
        "bind /r/a read write;pin /r/a/b;cover /r/a/b/art;"},
    {"a directory of executables", {0}, {"/r/a/"}, {"/r/a/"}, NULL, "bind /r/a read write exec;"},
    {"readable below executables stays executable", {"/r/a/b/"}, {0}, {"/r/a/"}, NULL,
        "bind /r/a read exec;"},
    {"names that only begin alike", {"/r/a/", "/r/a-b/"}, {"/r/a/c/"}, {0}, NULL,
        "bind /r/a read;bind /r/a/c read write;bind /r/a-b read;"},
    {"below /tmp", {"/tmp/r/a/"}, {0}, {0}, NULL, "bind /tmp/r/a read;"},
    {"hidden in a root", {"/r/a/"}, {0}, {0}, "/r/a/art", "bind /r/a read;cover /r/a/art;"},
    {"hidden elsewhere", {"/r/a/"}, {0}, {0}, "/r/b", "bind /r/a read;"},
    {"hidden in what is hidden", {"/r/a/"}, {0}, {0}, "/r/a/sys /r/a/sys/fs/bpf /r/a/sys-b",
        "bind /r/a read;cover /r/a/sys;cover /r/a/sys-b;"},
    {"hidden twice", {"/r/a/"}, {0}, {0}, "/r/a/sys /r/a/sys", "bind /r/a read;cover /r/a/sys;"},
    {"hidden in what is hidden and not shown", {"/r/a/b/"}, {0}, {0}, "/r/a /r/a/b/c",
        "bind /r/a/b read;cover /r/a/b/c;"},
    {"kept in a writable root", {0}, {"/r/a/"}, {0}, NULL,
        "bind /r/a read write;pin /r/a/b;bind /r/a/b/c read;", "/r/a/b/c"},
    {"kept in a readable root", {"/r/a/"}, {0}, {0}, NULL, "bind /r/a read;", "/r/a/c"},
    {"kept and not shown", {"/r/a/"}, {0}, {0}, NULL, "bind /r/a read;", "/r/b /r/a-b /r"},
    {"kept and allowed to be written", {0}, {"/r/a/", "/r/a/c"}, {0}, NULL,
        "bind /r/a read write;bind /r/a/c read;", "/r/a/c"},
    {"kept with what can be executed", {0}, {"/r/a/"}, {"/r/a/"}, NULL,
        "bind /r/a read write exec;bind /r/a/c read exec;", "/r/a/c"},
    {"writable in what is kept", {0}, {"/r/a/", "/r/a/b/c/"}, {0}, NULL,
        "bind /r/a read write;bind /r/a/b read;bind /r/a/b/c read write;", "/r/a/b"},
    {"kept in what is kept", {0}, {"/r/a/"}, {0}, NULL, "bind /r/a read write;bind /r/a/b read;",
        "/r/a/b /r/a/b/c"},
};

/* A path that ends in a slash is a directory. */
static struct verdict_paths paths_of(struct arena *a, const char *const names[4])
{
    struct verdict_paths paths = {.p = ARENA_NEW(a, struct verdict_path, 4)};
    for (size_t i = 0; i < 4 && names[i]; i++) {
        struct str name = str_z(names[i]), clean = arena_str(a, str_trim_end(name, '/'));
        paths.p[paths.n++] =
            (struct verdict_path){.given = clean, .resolved = clean, .is_dir = clean.n < name.n};
    }
    return paths;
}

static void add_step(struct buf *b, const json_t *step)
{
    struct str at = json_str(json_object_get(step, "at"));
    if (!str_starts_with(at, STR("/r")) && !str_starts_with(at, STR("/tmp/r")))
        return;
    buf_printf(
        b, STR_FMT " " STR_FMT, STR_ARG(json_str(json_object_get(step, "kind"))), STR_ARG(at));
    size_t i;
    json_t *access;
    json_array_foreach(json_object_get(step, "access"), i, access)
        buf_printf(b, " " STR_FMT, STR_ARG(json_str(access)));
    buf_add_byte(b, ';');
}

TEST(plan_of_roots)
{
    for (size_t i = 0; i < ARRAY_LEN(plan_cases); i++) {
        const struct plan_case *row = &plan_cases[i];
        AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
        struct policy policy = {.sandbox = POLICY_NATIVE};
        struct verdict v = {.policy = &policy,
            .read = paths_of(&a, row->read),
            .write = paths_of(&a, row->write),
            .exec = paths_of(&a, row->exec)};
        static const struct baseline nothing;
        struct plan_hidden hidden[HIDDEN_MAX];
        size_t n_hidden = 0;
        for (struct str rest = str_z(row->hidden), path; str_cut(rest, ' ', &path, &rest);)
            hidden[n_hidden++] = (struct plan_hidden){arena_str(&a, path), true};
        struct plan_kept kept[HIDDEN_MAX];
        size_t n_kept = 0;
        for (struct str rest = str_z(row->kept), path; str_cut(rest, ' ', &path, &rest);)
            kept[n_kept++] = (struct plan_kept){.source.path = arena_str(&a, path)};
        struct plan plan;
        plan_make(&(struct plan_input){.verdict = &v,
                      .baseline = &nothing,
                      .hidden = hidden,
                      .n_hidden = n_hidden,
                      .kept = kept,
                      .n_kept = n_kept},
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

TEST(plan_masks_more_for_root)
{
    static const struct baseline nothing;
    size_t masks[2] = {0};
    for (int root = 0; root < 2; root++) {
        AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
        struct policy policy = {.sandbox = POLICY_NATIVE};
        struct verdict v = {.policy = &policy};
        struct plan plan;
        plan_make(
            &(struct plan_input){.verdict = &v, .baseline = &nothing, .root = root}, &a, &plan);
        for (size_t i = 0; i < plan.n_steps; i++)
            masks[root] += plan.steps[i].kind == PLAN_MASK;
        CHECK(!plan.sockets.unix_domain);
    }
    CHECK_INT(masks[0], 2);
    CHECK(masks[1] > 10);
}

/* The filter ---------------------------------------------------------------------------------- */

#if defined __x86_64__
#define ARCH AUDIT_ARCH_X86_64
#else
#define ARCH AUDIT_ARCH_AARCH64
#endif

enum {
    OPEN = 1,  /* with the internet families */
    NAMES = 2, /* with named unix sockets */
    KILLED = -1,
};

static const struct {
    const char *name;
    unsigned options;
    uint32_t number;
    uint64_t args[4];
    int want;
} seccomp_rows[] = {
    {"read", 0, SYS_read, {0}, 0},
    {"the last known call", 0, 450, {0}, EPERM},
    {"a newer call", 0, 451, {0}, ENOSYS},
    {"open_tree_attr", 0, 467, {0}, ENOSYS},
    {"mount", 0, SYS_mount, {0}, EPERM},
    {"clone3", 0, SYS_clone3, {0}, ENOSYS},
    {"fork", 0, SYS_clone, {17}, 0},
    {"a thread", 0, SYS_clone, {0x3d0f00}, 0},
    {"clone with a namespace", 0, SYS_clone, {CLONE_NEWUSER | 17}, EPERM},
    {"clone with a time namespace", 0, SYS_clone, {0x80}, EPERM},
    {"an ioctl", 0, SYS_ioctl, {0, TCGETS}, 0},
    {"TIOCSTI", 0, SYS_ioctl, {0, TIOCSTI}, EPERM},
    {"TIOCSTI with high bits", 0, SYS_ioctl, {0, TIOCSTI | 1ull << 40}, EPERM},
    {"TIOCLINUX", 0, SYS_ioctl, {0, TIOCLINUX}, EPERM},
    {"tcp", OPEN, SYS_socket, {AF_INET, SOCK_STREAM, 0}, 0},
    {"tcp 6", OPEN, SYS_socket, {AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 6}, 0},
    {"udp", OPEN, SYS_socket, {AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 17}, 0},
    {"tcp refused", 0, SYS_socket, {AF_INET, SOCK_STREAM, 0}, EAFNOSUPPORT},
    {"raw", OPEN, SYS_socket, {AF_INET, SOCK_RAW, 1}, EPERM},
    {"raw with flags", OPEN, SYS_socket, {AF_INET6, SOCK_RAW | SOCK_CLOEXEC, 58}, EPERM},
    {"mptcp", OPEN, SYS_socket, {AF_INET, SOCK_STREAM, 262}, EPROTONOSUPPORT},
    {"routes", OPEN, SYS_socket, {AF_NETLINK, SOCK_RAW, 0}, 0},
    {"audit", OPEN, SYS_socket, {AF_NETLINK, SOCK_RAW, 9}, EAFNOSUPPORT},
    {"vsock", OPEN | NAMES, SYS_socket, {AF_VSOCK, SOCK_STREAM, 0}, EAFNOSUPPORT},
    {"packet", OPEN | NAMES, SYS_socket, {AF_PACKET, SOCK_RAW, 0}, EAFNOSUPPORT},
    {"a family in the high half", OPEN, SYS_socket, {AF_VSOCK | 2ull << 32, 1, 0}, EAFNOSUPPORT},
    {"unix", OPEN, SYS_socket, {AF_UNIX, SOCK_STREAM, 0}, EPERM},
    {"unix allowed", NAMES, SYS_socket, {AF_UNIX, SOCK_STREAM, 0}, 0},
    {"a pair", 0, SYS_socketpair, {AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0}, 0},
    {"a pair of packets", 0, SYS_socketpair, {AF_UNIX, SOCK_SEQPACKET, 0}, 0},
    {"a pair that could be connected elsewhere", 0, SYS_socketpair, {AF_UNIX, SOCK_DGRAM, 0},
        EPERM},
    {"the same, allowed", NAMES, SYS_socketpair, {AF_UNIX, SOCK_DGRAM, 0}, 0},
    {"chmod", 0, SYS_fchmod, {3, 0755}, 0},
    {"chmod u+s", 0, SYS_fchmod, {3, 04755}, EPERM},
    {"chmod g+s by name", 0, SYS_fchmodat, {0, 0, 02755}, EPERM},
    {"open to read, whatever the mode", 0, SYS_openat, {0, 0, O_RDONLY}, 0},
    {"open and make", 0, SYS_openat, {0, 0, O_CREAT | O_WRONLY, 0644}, 0},
    {"open and make u+s", 0, SYS_openat, {0, 0, O_CREAT | O_WRONLY, 04755}, EPERM},
    {"a file without a name, u+s", 0, SYS_openat, {0, 0, O_TMPFILE | O_RDWR, 04755}, EPERM},
    {"a directory, with a mode that nobody reads", 0, SYS_openat, {0, 0, O_DIRECTORY, 07777}, 0},
    {"openat2", 0, SYS_openat2, {0}, ENOSYS},
    {"limits of our own", 0, SYS_prlimit64, {0}, 0},
    {"limits of process 1", 0, SYS_prlimit64, {1}, EPERM},
    {"personality query", 0, SYS_personality, {0xffffffff}, 0},
    {"personality", 0, SYS_personality, {0x0040000}, EPERM},
#ifdef __x86_64__
    {"x32", 0, 0x40000000 | SYS_read, {0}, KILLED},
#endif
};

TEST(seccomp_answers)
{
    for (size_t i = 0; i < ARRAY_LEN(seccomp_rows); i++) {
        struct seccomp_filter filter;
        const uint64_t args[6] = {seccomp_rows[i].args[0], seccomp_rows[i].args[1],
            seccomp_rows[i].args[2], seccomp_rows[i].args[3]};
        seccomp_compile(&(struct seccomp_options){seccomp_rows[i].options & OPEN,
                            seccomp_rows[i].options & NAMES},
            &filter);
        test_row(i, seccomp_rows[i].name);
        CHECK_INT(
            seccomp_answer(&filter, ARCH, seccomp_rows[i].number, args), seccomp_rows[i].want);
        CHECK_INT(seccomp_answer(&filter, AUDIT_ARCH_I386, seccomp_rows[i].number, args), KILLED);
    }
}

/* Whatever the options, every number has its answer, and only those that are judged look further.
 */
TEST(seccomp_answers_every_number)
{
    size_t refused[4] = {0};
    for (unsigned options = 0; options < 4; options++) {
        struct seccomp_filter filter;
        const uint64_t args[6] = {0};
        seccomp_compile(&(struct seccomp_options){options & OPEN, options & NAMES}, &filter);
        for (uint32_t number = 0; number < 600; number++) {
            int answer = seccomp_answer(&filter, ARCH, number, args);
            CHECK(answer == 0 || answer == EPERM || answer == ENOSYS || answer == EAFNOSUPPORT);
            CHECK(number <= 450 || answer == ENOSYS);
            refused[options] += answer != 0;
        }
    }
    CHECK_INT(refused[0], refused[OPEN]);
    CHECK_INT(refused[0], refused[NAMES] + 1); /* the pair, for type 0 */
    CHECK(refused[0] > 150 + 70);
}

/* ELF ----------------------------------------------------------------------------------------- */

static struct str read_start(const char *path, char *head, size_t size)
{
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(head, 1, size, f) : 0;
    if (f)
        fclose(f);
    return str_n(head, n);
}

TEST(elf_finds_the_loader_and_changes_one_header)
{
    char head[4096], loader[4096];
    struct elf_patch patch;
    struct str self = read_start("/proc/self/exe", head, sizeof(head));
    struct str interpreter = elf_interpreter(self);
    if (!CHECK(interpreter.n > 1 && interpreter.p[0] == '/'))
        return;
    struct str bytes = read_start(interpreter.p, loader, sizeof(loader));
    CHECK(!elf_interpreter(bytes).p);
    if (!CHECK(elf_no_start(bytes, &patch)) || !CHECK(patch.at + patch.n <= bytes.n))
        return;
    memcpy(loader + patch.at, patch.bytes, patch.n);
    CHECK_STR(elf_interpreter(bytes), STR("/"));
}

TEST(elf_takes_any_bytes)
{
    char head[4096], cut[4096];
    struct elf_patch patch;
    struct str self = read_start("/proc/self/exe", head, sizeof(head));
    for (size_t n = 0; n < self.n; n += n < 1024 ? 1 : 61) {
        bool found = elf_interpreter(str_head(self, n)).p != NULL;
        CHECK(!found || n > 64);
    }
    for (size_t i = 0; i < 64 + 13 * 56 && i < self.n; i++) {
        memcpy(cut, self.p, self.n);
        cut[i] = (char)~cut[i];
        struct str changed = str_n(cut, self.n), found = elf_interpreter(changed);
        CHECK(!found.p || (found.p >= cut && found.p + found.n < cut + self.n));
        if (elf_no_start(changed, &patch))
            CHECK(patch.at + patch.n <= self.n);
    }
    CHECK(!elf_no_start(STR("#!/bin/sh\n"), &patch));
    CHECK(!elf_interpreter(STR("")).p);
}

/* The environment ----------------------------------------------------------------------------- */

TEST(env_is_built_from_nothing)
{
    static const char *const caller[] = {
        "SECRET=1", "PATH=/bin", "PATHS=no", "LANG=de_DE", "EMPTY=", "TWICE=a", "TWICE=b", NULL};
    static const struct {
        const char *name, *policy, *want;
    } rows[] = {
        {"nothing", "{}", "TERM=xterm-256color;LANG=C.UTF-8;"},
        {"an allowlist alone passes nothing", "{allowlist: [PATH]}",
            "TERM=xterm-256color;LANG=C.UTF-8;"},
        {"inherit alone passes nothing", "{inherit: true}", "TERM=xterm-256color;LANG=C.UTF-8;"},
        {"both", "{inherit: true, allowlist: [PATH, GONE, EMPTY]}",
            "TERM=xterm-256color;LANG=C.UTF-8;PATH=/bin;EMPTY=;"},
        {"over the defaults", "{inherit: true, allowlist: [LANG]}",
            "TERM=xterm-256color;LANG=de_DE;"},
        {"set is strongest", "{inherit: true, allowlist: [PATH], set: {PATH: /x, TERM: dumb}}",
            "TERM=dumb;LANG=C.UTF-8;PATH=/x;"},
        {"the first of two", "{inherit: true, allowlist: [TWICE]}",
            "TERM=xterm-256color;LANG=C.UTF-8;TWICE=a;"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
        AUTO_ERR struct err err = {0};
        AUTO_BUF struct buf text = BUF_INIT(4096), got = BUF_INIT(4096);
        struct policy policy;
        test_row(i, rows[i].name);
        buf_printf(&text, "{policy_version: 4, env: %s}", rows[i].policy);
        if (!CHECK_OK(policy_parse(buf_str(&text), "env.yaml", &a, &policy, &err), &err))
            continue;
        for (const char *const *e = env_make(&policy.env, caller, &a); *e; e++)
            buf_printf(&got, "%s;", *e);
        CHECK_STR(buf_str(&got), str_z(rows[i].want));
    }
}

/* The machine --------------------------------------------------------------------------------- */

TEST(machine_says_what_to_do)
{
    AUTO_ERR struct err err = {0};
    CHECK(!machine_unavailable(&(struct machine_failure){"pivot_root", EPERM, {0}}, &err));
    CHECK_ERR(&err, E_SANDBOX_UNAVAILABLE, "pivot_root");
    static const char *const keys[] = {"primitive", "errno", "found", "remedy"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        const struct err_pair *pair = err_ctx_get(&err, keys[i]);
        test_row(i, keys[i]);
        CHECK(pair && pair->text && pair->text[0]);
    }
    CHECK_INT(machine_pid_max(1), 301);
    CHECK_INT(machine_pid_max(512), 812);
    CHECK_INT(machine_pid_max(UINT64_MAX), 4 << 20);
}

/* Mounts -------------------------------------------------------------------------------------- */

TEST(mounts_finds_those_of_the_kernel)
{
    static const struct {
        const char *name, *text, *want;
    } rows[] = {
        {"none", "22 1 254:0 / / rw - ext4 /dev/vda rw\n", ""},
        {"where they belong",
            "23 22 0:5 / /proc rw - proc proc rw\n24 22 0:6 / /sys rw - sysfs s rw\n", ""},
        {"elsewhere", "25 22 0:5 / /srv/root/proc rw,nosuid shared:3 master:1 - proc proc rw\n",
            "/srv/root/proc;"},
        {"with blanks and backslashes", "26 22 0:5 / /a\\040b\\134c rw - cgroup2 c rw\n",
            "/a b\\c;"},
        {"several",
            "27 22 0:5 / /x/sys rw - sysfs s rw\n28 22 0:7 / /y rw - tmpfs t rw\n"
            "29 22 0:8 / /x/dev rw - devtmpfs d rw\n",
            "/x/sys;/x/dev;"},
        {"a name that begins like /proc", "30 22 0:5 / /process rw - proc p rw\n", "/process;"},
        {"cut off", "31 22 0:5 / /z rw -\n32 22 0:5\n\n - \n", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
        AUTO_BUF struct buf got = BUF_INIT(4096);
        struct str *at;
        size_t n = mounts_of_kernel(&a, str_z(rows[i].text), &at);
        for (size_t k = 0; k < n; k++)
            buf_printf(&got, STR_FMT ";", STR_ARG(at[k]));
        test_row(i, rows[i].name);
        CHECK_STR(buf_str(&got), str_z(rows[i].want));
    }
}

TEST(mounts_finds_the_same_directory_elsewhere)
{
    static const char disk[] = "22 1 254:0 / / rw - ext4 /dev/vda rw\n";
    static const struct {
        const char *name, *more, *path;
        uint64_t mount;
        const char *want;
    } rows[] = {
        {"nowhere", "", "/a/art", 22, ""},
        {"the tree again", "23 22 254:0 /a /b rw - ext4 /dev/vda rw\n", "/a/art", 22, "/b/art;"},
        {"from the other side", "23 22 254:0 /a /b rw - ext4 /dev/vda rw\n", "/b/art", 23,
            "/a/art;"},
        {"the directory alone", "23 22 254:0 /a/art /b rw - ext4 /dev/vda rw\n", "/a/art", 22,
            "/b;"},
        {"all of it", "23 22 254:0 / /m\\040n rw - ext4 /dev/vda rw\n", "/a/art", 22,
            "/m n/a/art;"},
        {"twice", "23 22 254:0 /a /b rw - ext4 d rw\n24 22 254:0 / /c rw - ext4 d rw\n", "/b/x", 23,
            "/a/x;/c/a/x;"},
        {"another part", "23 22 254:0 /a-b /b rw - ext4 /dev/vda rw\n", "/a/art", 22, ""},
        {"a part of it", "23 22 254:0 /a/art/x /b rw - ext4 /dev/vda rw\n", "/a/art", 22, ""},
        {"another file system", "23 22 254:1 /a /b rw - ext4 /dev/vdb rw\n", "/a/art", 22, ""},
        {"an unknown mount", "23 22 254:0 /a /b rw - ext4 /dev/vda rw\n", "/a/art", 99, ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
        AUTO_BUF struct buf text = BUF_INIT(4096), got = BUF_INIT(4096);
        struct str *at;
        buf_printf(&text, "%s%s", disk, rows[i].more);
        const struct mounts_place place = {str_z(rows[i].path), rows[i].mount};
        size_t n = mounts_twins(&a, buf_str(&text), &place, &at);
        for (size_t k = 0; k < n; k++)
            buf_printf(&got, STR_FMT ";", STR_ARG(at[k]));
        test_row(i, rows[i].name);
        CHECK_STR(buf_str(&got), str_z(rows[i].want));
    }
}
