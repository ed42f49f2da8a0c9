/* The sandbox before it is built: plans, the filter, the loader's header, the environment. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/json.h"
#include "base/syscalls.h"
#include "policy/load.h"
#include "sandbox/elf.h"
#include "sandbox/env.h"
#include "sandbox/etc_text.h"
#include "sandbox/machine.h"
#include "sandbox/mounts.h"
#include "sandbox/plan.h"
#include "sandbox/seccomp.h"
#include "sandbox/syscall_rules.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

enum {
    ARENA_MAX = 64 << 20,
    HIDDEN_MAX = 4,
};

/* Plans --------------------------------------------------------------------------------------- */

/* Shared by the rows: roots below /r, as a policy's verdict has them. */
struct plan_case {
    const char *name;
    const char *read[4], *write[4], *exec[4];
    const char *hidden; /* up to HIDDEN_MAX, separated by blanks */
    const char *want;   /* "kind at access;" of the steps below /r and /tmp/r, in order */
    const char *kept;   /* files that must not change, separated by blanks */
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
    {"a path deep in a writable root is held in place", {"/r/a/b/c/d/"}, {"/r/a/"}, {0}, NULL,
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
    {"hidden in a hidden directory", {"/r/a/"}, {0}, {0}, "/r/a/sys /r/a/sys/fs/bpf /r/a/sys-b",
        "bind /r/a read;cover /r/a/sys;cover /r/a/sys-b;"},
    {"hidden twice", {"/r/a/"}, {0}, {0}, "/r/a/sys /r/a/sys", "bind /r/a read;cover /r/a/sys;"},
    {"hidden in a hidden directory, not shown", {"/r/a/b/"}, {0}, {0}, "/r/a /r/a/b/c",
        "bind /r/a/b read;cover /r/a/b/c;"},
    {"kept in a writable root", {0}, {"/r/a/"}, {0}, NULL,
        "bind /r/a read write;pin /r/a/b;bind /r/a/b/c read;", "/r/a/b/c"},
    {"kept in a readable root", {"/r/a/"}, {0}, {0}, NULL, "bind /r/a read;", "/r/a/c"},
    {"kept and not shown", {"/r/a/"}, {0}, {0}, NULL, "bind /r/a read;", "/r/b /r/a-b /r"},
    {"kept and allowed to be written", {0}, {"/r/a/", "/r/a/c"}, {0}, NULL,
        "bind /r/a read write;bind /r/a/c read;", "/r/a/c"},
    {"kept with executables", {0}, {"/r/a/"}, {"/r/a/"}, NULL,
        "bind /r/a read write exec;bind /r/a/c read exec;", "/r/a/c"},
    {"writable in a kept directory", {0}, {"/r/a/", "/r/a/b/c/"}, {0}, NULL,
        "bind /r/a read write;bind /r/a/b read;bind /r/a/b/c read write;", "/r/a/b"},
    {"kept in a kept directory", {0}, {"/r/a/"}, {0}, NULL,
        "bind /r/a read write;bind /r/a/b read;", "/r/a/b /r/a/b/c"},
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

#define KNOWN(name)                  \
    {                                \
#name, NR_##name, SYS_##name \
    }

/* The table that is generated when the program is built agrees with the C library. */
TEST(syscall_table_is_the_processors)
{
    static const struct {
        const char *name;
        int number, want;
    } rows[] = {
        KNOWN(read),
        KNOWN(openat),
        KNOWN(openat2),
        KNOWN(clone),
        KNOWN(clone3),
        KNOWN(fcntl),
        KNOWN(mmap),
        KNOWN(truncate),
        KNOWN(prlimit64),
        KNOWN(personality),
        KNOWN(mount),
        KNOWN(execve),
        KNOWN(faccessat2),
        KNOWN(landlock_restrict_self),
        {"fchmodat2", NR_fchmodat2, 452},
        {"file_setattr", NR_file_setattr, 469},
#ifdef SYS_open
        KNOWN(open),
        KNOWN(creat),
        KNOWN(inotify_init),
#else
        {"open", NR_open, SYSCALL_NONE},
        {"creat", NR_creat, SYSCALL_NONE},
#endif
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].name);
        CHECK_INT(rows[i].number, rows[i].want);
    }
    CHECK_INT(syscall(NR_getpid), getpid());
}

enum {
    OPEN = 1,       /* with the internet families */
    NAMES = 2,      /* with named unix sockets */
    HOST = 4,       /* without namespaces */
    SMALL = 8,      /* with small segments of shared memory */
    UNEMPTIED = 16, /* without truncation */
    BOUND = 32,     /* with a limit for one shared mapping */
    DEVELOPER = 64, /* with programs from memory, and debuggers */
    GROUP_ID = 128, /* with the set-group-id bit */
    CARRIED = 256,  /* with connect() carried out by a listener */
    OPTIONS = 512,
    SHARED_MAX = 0x10,
    OLDER_CALLS = 16, /* refused calls that only x86-64 has */
    KILLED = -1,
};

/* The limit of a mapping is above 4 GiB, so that both halves of the argument are checked. */
static struct seccomp_options seccomp_options_of(unsigned bits)
{
    return (struct seccomp_options){
        .inet = bits & OPEN,
        .unix_domain = bits & NAMES,
        .no_namespaces = bits & HOST,
        .small_segments = bits & SMALL,
        .no_truncate = bits & UNEMPTIED,
        .developer = bits & DEVELOPER,
        .group_id = bits & GROUP_ID,
        .connects = bits & CARRIED,
        .shared_max = bits & BOUND ? 3ull << 32 | SHARED_MAX : 0,
    };
}

static const struct {
    const char *name;
    unsigned options;
    uint32_t number;
    uint64_t args[5];
    int want;
} seccomp_rows[] = {
    {"read", 0, SYS_read, {0}, 0},
    {"the last known call", 0, 450, {0}, EPERM},
    {"a newer call", 0, 451, {0}, ENOSYS},
    {"open_tree_attr", 0, 467, {0}, ENOSYS},
    {"mount", 0, SYS_mount, {0}, EPERM},
    {"clone3", 0, SYS_clone3, {0}, ENOSYS},
    {"fork", 0, SYS_clone, {17}, 0},
    {"a file in memory", 0, SYS_memfd_create, {0}, ENOSYS},
    {"a file in memory, for a developer", DEVELOPER, SYS_memfd_create, {0}, 0},
    {"secret memory, for a developer", DEVELOPER, NR_memfd_secret, {0}, ENOSYS},
    {"tracing", 0, SYS_ptrace, {16, 2}, EPERM},
    {"tracing, for a developer", DEVELOPER, SYS_ptrace, {16, 2}, 0},
    {"another process's descriptors, for a developer", DEVELOPER, SYS_pidfd_getfd, {0}, EPERM},
    {"fixed addresses", 0, SYS_personality, {ADDR_NO_RANDOMIZE}, EPERM},
    {"fixed addresses, for a developer", DEVELOPER, SYS_personality, {ADDR_NO_RANDOMIZE}, 0},
    {"another system's calls, for a developer", DEVELOPER, SYS_personality, {PER_BSD}, EPERM},
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
    {"smc", OPEN, SYS_socket, {AF_INET6, SOCK_STREAM, 256}, EPROTONOSUPPORT},
    {"sctp", OPEN, SYS_socket, {AF_INET, SOCK_STREAM, 132}, EPROTONOSUPPORT},
    {"sctp, packets", OPEN, SYS_socket, {AF_INET, SOCK_SEQPACKET, 132}, ESOCKTNOSUPPORT},
    {"dccp", OPEN, SYS_socket, {AF_INET, 6, 33}, ESOCKTNOSUPPORT},
    {"rdm", OPEN, SYS_socket, {AF_INET, SOCK_RDM, 0}, ESOCKTNOSUPPORT},
    {"udp-lite", OPEN, SYS_socket, {AF_INET, SOCK_DGRAM, 136}, EPROTONOSUPPORT},
    {"udp-lite 6", OPEN, SYS_socket, {AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 136}, EPROTONOSUPPORT},
    {"udp over a stream", OPEN, SYS_socket, {AF_INET, SOCK_STREAM, 17}, EPROTONOSUPPORT},
    {"echo requests", OPEN, SYS_socket, {AF_INET, SOCK_DGRAM, 1}, 0},
    {"echo requests 6", OPEN, SYS_socket, {AF_INET6, SOCK_DGRAM, 58}, 0},
    {"routes", OPEN, SYS_socket, {AF_NETLINK, SOCK_RAW, 0}, 0},
    {"audit", OPEN, SYS_socket, {AF_NETLINK, SOCK_RAW, 9}, EAFNOSUPPORT},
    {"vsock", OPEN | NAMES, SYS_socket, {AF_VSOCK, SOCK_STREAM, 0}, EAFNOSUPPORT},
    {"packet", OPEN | NAMES, SYS_socket, {AF_PACKET, SOCK_RAW, 0}, EAFNOSUPPORT},
    {"a family in the high half", OPEN, SYS_socket, {AF_VSOCK | 2ull << 32, 1, 0}, EAFNOSUPPORT},
    {"unix", OPEN, SYS_socket, {AF_UNIX, SOCK_STREAM, 0}, EPERM},
    {"unix, for a listener", CARRIED, SYS_socket, {AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0}, 0},
    {"packets, for a listener", CARRIED, SYS_socket, {AF_UNIX, SOCK_SEQPACKET, 0}, 0},
    {"datagrams, for a listener", CARRIED, SYS_socket, {AF_UNIX, SOCK_DGRAM, 0}, EPERM},
    {"raw unix, for a listener", CARRIED, SYS_socket, {AF_UNIX, SOCK_RAW, 0}, EPERM},
    {"datagrams, allowed", CARRIED | NAMES, SYS_socket, {AF_UNIX, SOCK_DGRAM, 0}, 0},
    {"connect", 0, SYS_connect, {0}, 0},
    {"connect, for a listener", CARRIED, SYS_connect, {0}, SECCOMP_NOTIFIES},
    {"common descriptors", 0, SYS_clone, {CLONE_FILES | 17}, 0},
    {"common descriptors, with a listener", CARRIED, SYS_clone, {CLONE_FILES | CLONE_VM | 17}, 0},
    {"a thread, with a listener", CARRIED, SYS_clone, {0x3d0f00}, 0},
    {"fork, with a listener", CARRIED, SYS_clone, {17}, 0},
    {"a listener's calls", CARRIED, SYS_ioctl, {0, SECCOMP_IOCTL_NOTIF_ADDFD}, EPERM},
    {"unix allowed", NAMES, SYS_socket, {AF_UNIX, SOCK_STREAM, 0}, 0},
    {"a pair", 0, SYS_socketpair, {AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0}, 0},
    {"a pair of packets", 0, SYS_socketpair, {AF_UNIX, SOCK_SEQPACKET, 0}, 0},
    {"a pair that could be connected elsewhere", 0, SYS_socketpair, {AF_UNIX, SOCK_DGRAM, 0},
        EPERM},
    {"the same, allowed", NAMES, SYS_socketpair, {AF_UNIX, SOCK_DGRAM, 0}, 0},
    {"a pair of another family", NAMES, SYS_socketpair, {30, SOCK_STREAM, 0}, EAFNOSUPPORT},
    {"a pair of another family, no names", 0, SYS_socketpair, {AF_INET, SOCK_STREAM}, EAFNOSUPPORT},
    {"uevents", OPEN, SYS_socket, {AF_NETLINK, SOCK_DGRAM, 15}, EAFNOSUPPORT},
    {"generic netlink", OPEN, SYS_socket, {AF_NETLINK, SOCK_RAW, 16}, EAFNOSUPPORT},
    {"routes without a network", 0, SYS_socket, {AF_NETLINK, SOCK_RAW, 0}, EAFNOSUPPORT},
    {"chmod", 0, SYS_fchmod, {3, 0755}, 0},
    {"chmod u+s", 0, SYS_fchmod, {3, 04755}, EPERM},
    {"chmod g+s by name", 0, SYS_fchmodat, {0, 0, 02755}, EPERM},
    {"chmod g+s of its own files", GROUP_ID, SYS_fchmodat, {0, 0, 02755}, 0},
    {"chmod u+s of its own files", GROUP_ID, SYS_fchmod, {3, 06755}, EPERM},
    {"a fifo", 0, SYS_mknodat, {0, 0, S_IFIFO | 0600}, 0},
    {"a file by mknod", 0, SYS_mknodat, {0, 0, 0600}, 0},
    {"a file by mknod, u+s", 0, SYS_mknodat, {0, 0, S_IFREG | 04755}, EPERM},
    {"a whiteout", 0, SYS_mknodat, {0, 0, S_IFCHR | 0600, 0}, EPERM},
    {"a whiteout without namespaces", HOST, SYS_mknodat, {0, 0, S_IFCHR, 0}, EPERM},
    {"a disk", 0, SYS_mknodat, {0, 0, S_IFBLK | 0600, 8 << 8}, EPERM},
    {"open to read, whatever the mode", 0, SYS_openat, {0, 0, O_RDONLY}, 0},
    {"open and make", 0, SYS_openat, {0, 0, O_CREAT | O_WRONLY, 0644}, 0},
    {"open and make u+s", 0, SYS_openat, {0, 0, O_CREAT | O_WRONLY, 04755}, EPERM},
    {"a file without a name, u+s", 0, SYS_openat, {0, 0, O_TMPFILE | O_RDWR, 04755}, EPERM},
    {"a directory, with an unused mode", 0, SYS_openat, {0, 0, O_DIRECTORY, 07777}, 0},
    {"openat2", 0, SYS_openat2, {0}, ENOSYS},
    {"limits of our own", 0, SYS_prlimit64, {0}, 0},
    {"limits of process 1", 0, SYS_prlimit64, {1}, EPERM},
    {"limits of another in the sandbox", 0, SYS_prlimit64, {7}, 0},
    {"limits of another of the host", HOST, SYS_prlimit64, {7}, EPERM},
    {"limits of our own without namespaces", HOST, SYS_prlimit64, {0, RLIMIT_NOFILE, 9}, 0},
    {"the limit of core files, asked", 0, SYS_prlimit64, {0, RLIMIT_CORE, 0, 9}, 0},
    {"the limit of core files, set", 0, SYS_prlimit64, {0, RLIMIT_CORE, 9}, SECCOMP_PRETENDS},
    {"set, at a high address", 0, SYS_prlimit64, {0, RLIMIT_CORE, 1ull << 32}, SECCOMP_PRETENDS},
    {"set and asked", 0, SYS_prlimit64, {0, RLIMIT_CORE, 9, 9}, SECCOMP_PRETENDS},
    {"set and asked, high addresses", 0, SYS_prlimit64, {0, RLIMIT_CORE, 1ull << 32, 1ull << 32},
        SECCOMP_PRETENDS},
    {"the limit of core files by the old call", 0, SYS_setrlimit, {RLIMIT_CORE, 9},
        SECCOMP_PRETENDS},
    {"another limit by the old call", 0, SYS_setrlimit, {RLIMIT_NOFILE, 9}, 0},
    {"a private mapping", BOUND, SYS_mmap, {0, 1ull << 40, 3, MAP_PRIVATE | MAP_ANONYMOUS}, 0},
    {"a shared file", BOUND, SYS_mmap, {0, 1ull << 40, 3, MAP_SHARED}, 0},
    {"shared memory", BOUND, SYS_mmap, {0, 3ull << 32 | SHARED_MAX, 3, MAP_SHARED | MAP_ANONYMOUS},
        0},
    {"less of it, but the low half", BOUND, SYS_mmap,
        {0, 2ull << 32 | 0xffff, 3, MAP_SHARED | MAP_ANONYMOUS}, 0},
    {"too much of it", BOUND, SYS_mmap,
        {0, 3ull << 32 | (SHARED_MAX + 1), 3, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE}, ENOMEM},
    {"far too much of it", BOUND, SYS_mmap, {0, 4ull << 32, 3, MAP_SHARED | MAP_ANONYMOUS}, ENOMEM},
    {"any shared memory", 0, SYS_mmap, {0, 1ull << 40, 3, MAP_SHARED | MAP_ANONYMOUS}, 0},
    {"huge pages", 0, SYS_mmap, {0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB}, ENOMEM},
    {"memory that grows like a stack", 0, SYS_mmap,
        {0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN}, ENOMEM},
    {"bind", HOST, SYS_bind, {3}, EPERM},
    {"bind with a network", HOST | OPEN, SYS_bind, {3}, 0},
    {"bind with names", HOST | NAMES, SYS_bind, {3}, 0},
    {"a segment", 0, SYS_shmget, {0, 1ull << 40}, 0},
    {"a small segment", SMALL, SYS_shmget, {0, 4096}, 0},
    {"a segment that is not small", SMALL, SYS_shmget, {0, 4097}, EINVAL},
    {"a segment with a small low half", SMALL, SYS_shmget, {0, 1ull << 32}, EINVAL},
    {"segments of the host", HOST, SYS_shmget, {0, 1}, EPERM},
    {"one by its number", HOST, SYS_shmat, {0}, EPERM},
    {"queues of the host", HOST, SYS_msgrcv, {0}, EPERM},
    {"semaphores of the host", HOST, SYS_semop, {0}, EPERM},
    {"a POSIX queue of the host", HOST, SYS_mq_open, {0}, EPERM},
    {"a POSIX queue", 0, SYS_mq_open, {0}, 0},
    {"inotify without namespaces", HOST, SYS_inotify_init1, {0}, ENOSYS},
    {"a watch without namespaces", HOST, SYS_inotify_add_watch, {0}, EPERM},
    {"inotify", 0, SYS_inotify_init1, {0}, 0},
    {"affinity of our own", HOST, SYS_sched_setaffinity, {0}, 0},
    {"affinity of another", HOST, SYS_sched_setaffinity, {7}, EPERM},
    {"affinity inside", 0, SYS_sched_setaffinity, {7}, 0},
    {"affinity of process 1", 0, SYS_sched_setaffinity, {1}, EPERM},
    {"scheduler inside", 0, SYS_sched_setscheduler, {7}, 0},
    {"scheduler of process 1", 0, SYS_sched_setscheduler, {1}, EPERM},
    {"scheduling of process 1", 0, SYS_sched_setattr, {1}, EPERM},
    {"parameters of process 1", 0, SYS_sched_setparam, {1}, EPERM},
    {"nice inside", 0, SYS_setpriority, {PRIO_PROCESS, 7, 5}, 0},
    {"nice of our group inside", 0, SYS_setpriority, {PRIO_PGRP, 0, 5}, 0},
    {"nice of process 1", 0, SYS_setpriority, {PRIO_PROCESS, 1, 5}, EPERM},
    {"nice of the group of process 1", 0, SYS_setpriority, {PRIO_PGRP, 1, 5}, EPERM},
    {"nice of the user of process 1", 0, SYS_setpriority, {PRIO_USER, 0, 5}, EPERM},
    {"ioprio inside", 0, SYS_ioprio_set, {1, 7}, 0},
    {"ioprio of our group inside", 0, SYS_ioprio_set, {2, 0}, 0},
    {"ioprio of process 1", 0, SYS_ioprio_set, {1, 1}, EPERM},
    {"ioprio of the group of process 1", 0, SYS_ioprio_set, {2, 1}, EPERM},
    {"ioprio of the user of process 1", 0, SYS_ioprio_set, {3, 0}, EPERM},
    {"a group of our own", 0, SYS_setpgid, {0, 0}, 0},
    {"a group of a job's first process", 0, SYS_setpgid, {7, 5}, 0},
    {"the group of process 1", 0, SYS_setpgid, {0, 1}, EPERM},
    {"the group of process 1, for another", 0, SYS_setpgid, {7, 1ull << 32 | 1}, EPERM},
    {"a group without namespaces", HOST, SYS_setpgid, {0, 1}, 0},
    {"scheduler of another", HOST, SYS_sched_setscheduler, {7}, EPERM},
    {"scheduling of another", HOST, SYS_sched_setattr, {7}, EPERM},
    {"parameters of another", HOST, SYS_sched_setparam, {7}, EPERM},
    {"nice", HOST, SYS_setpriority, {PRIO_PROCESS, 0, 5}, 0},
    {"nice of another", HOST, SYS_setpriority, {PRIO_PROCESS, 7, 5}, EPERM},
    {"nice of our group", HOST, SYS_setpriority, {PRIO_PGRP, 0, 5}, EPERM},
    {"nice of the user", HOST, SYS_setpriority, {PRIO_USER, 0, 5}, EPERM},
    {"ioprio", HOST, SYS_ioprio_set, {1, 0}, 0},
    {"ioprio of another", HOST, SYS_ioprio_set, {1, 7}, EPERM},
    {"ioprio of the user", HOST, SYS_ioprio_set, {3, 0}, EPERM},
    {"kill one", HOST, SYS_kill, {7, 9}, 0},
    {"kill all", HOST, SYS_kill, {(uint64_t)-1, 9}, EPERM},
    {"kill all, 32 bits of it", HOST, SYS_kill, {0xffffffff, 9}, EPERM},
    {"kill all inside", 0, SYS_kill, {(uint64_t)-1, 9}, 0},
    {"truncate", 0, SYS_truncate, {0}, 0},
    {"truncate without Landlock's help", UNEMPTIED, SYS_truncate, {0}, EPERM},
    {"open to read, and empty", UNEMPTIED, SYS_openat, {0, 0, O_RDONLY | O_TRUNC}, EPERM},
    {"open to write, and empty", UNEMPTIED, SYS_openat, {0, 0, O_WRONLY | O_TRUNC}, 0},
    {"open, empty, make u+s", UNEMPTIED, SYS_openat, {0, 0, O_WRONLY | O_TRUNC | O_CREAT, 04755},
        EPERM},
    {"fallocate", 0, SYS_fallocate, {0, 0}, 0},
    {"a hole", 0, SYS_fallocate, {0, 3}, 0},
    {"a hole that moves the end", 0, SYS_fallocate, {0, 2}, EOPNOTSUPP},
    {"space beyond the end", 0, SYS_fallocate, {0, 1}, EOPNOTSUPP},
    {"zeros", 0, SYS_fallocate, {0, 0x10}, 0},
    {"zeros beyond the end", 0, SYS_fallocate, {0, 0x11}, EOPNOTSUPP},
    {"a range put in", 0, SYS_fallocate, {0, 0x20}, EOPNOTSUPP},
    {"a range taken out", 0, SYS_fallocate, {0, 0x08}, 0},
    {"copies of one's own", 0, SYS_fallocate, {0, 0x40}, 0},
    {"copies of one's own, beyond the end", 0, SYS_fallocate, {0, 0x41}, EOPNOTSUPP},
    {"zeros on the disk", 0, SYS_fallocate, {0, 0x80}, EOPNOTSUPP},
    {"space beyond the end by ioctl", 0, SYS_ioctl, {0, 0x40305828}, EOPNOTSUPP},
    {"the same, 64 bits", 0, SYS_ioctl, {0, 0x4030582a}, EOPNOTSUPP},
    {"zeros beyond the end by ioctl", 0, SYS_ioctl, {0, 0x40305839}, EOPNOTSUPP},
    {"how much an allocation takes", 0, SYS_ioctl, {0, 0x401c5820}, EOPNOTSUPP},
    {"a pipe's size, asked", 0, SYS_fcntl, {0, F_GETPIPE_SZ}, 0},
    {"a pipe of the usual size", 0, SYS_fcntl, {0, F_SETPIPE_SZ, 65536}, 0},
    {"a larger pipe", 0, SYS_fcntl, {0, F_SETPIPE_SZ, 65537}, EPERM},
    {"a larger pipe, high half", 0, SYS_fcntl, {0, F_SETPIPE_SZ, 1ull << 32}, EPERM},
    {"another fcntl", 0, SYS_fcntl, {0, F_SETFD, 1 << 20}, 0},
    {"rename", 0, SYS_renameat2, {0, 0, 0, 0, 1}, 0},
    {"exchange", 0, SYS_renameat2, {0, 0, 0, 0, 2}, 0},
    {"rename with a whiteout", 0, SYS_renameat2, {0, 0, 0, 0, 4}, EINVAL},
    {"rename with a whiteout and more", 0, SYS_renameat2, {0, 0, 0, 0, 5 | 1ull << 40}, EINVAL},
    {"pages given to a pipe", 0, SYS_vmsplice, {0}, ENOSYS},
    {"asynchronous calls", 0, SYS_io_setup, {1}, ENOSYS},
    {"personality query", 0, SYS_personality, {0xffffffff}, 0},
    {"personality", 0, SYS_personality, {0x0040000}, EPERM},
#ifdef __x86_64__
    {"a whiteout by the old call", 0, SYS_mknod, {0, S_IFCHR, 0}, EPERM},
    {"x32", 0, 0x40000000 | SYS_read, {0}, KILLED},
#endif
};

TEST(seccomp_answers)
{
    for (size_t i = 0; i < ARRAY_LEN(seccomp_rows); i++) {
        struct seccomp_filter filter;
        const struct seccomp_options options = seccomp_options_of(seccomp_rows[i].options);
        uint64_t args[6] = {0};
        memcpy(args, seccomp_rows[i].args, sizeof(seccomp_rows[i].args));
        seccomp_compile(&options, &filter);
        test_row(i, seccomp_rows[i].name);
        CHECK_INT(seccomp_answer(&filter, SYSCALL_ARCH, seccomp_rows[i].number, args),
            seccomp_rows[i].want);
        CHECK_INT(seccomp_answer(&filter, AUDIT_ARCH_I386, seccomp_rows[i].number, args), KILLED);
    }
}

/* With any options, every number has its answer, and only those with a check look further. */
TEST(seccomp_answers_every_number)
{
    size_t refused[OPTIONS] = {0};
    for (unsigned bits = 0; bits < OPTIONS; bits++) {
        const struct seccomp_options options = seccomp_options_of(bits);
        struct seccomp_filter filter;
        const uint64_t args[6] = {0};
        seccomp_compile(&options, &filter);
        for (uint32_t number = 0; number < 600; number++) {
            int answer = seccomp_answer(&filter, SYSCALL_ARCH, number, args);
            if (answer == SECCOMP_NOTIFIES) {
                CHECK(bits & CARRIED && number == SYS_connect);
                continue;
            }
            CHECK(answer == 0 || answer == EPERM || answer == ENOSYS || answer == EAFNOSUPPORT);
            CHECK(number <= 450 || answer == ENOSYS);
            refused[bits] += answer != 0;
        }
    }
    CHECK_INT(refused[0], refused[OPEN]);
    CHECK_INT(refused[0], refused[NAMES]);
    CHECK(refused[0] + 10 < refused[HOST]);
    CHECK_INT(refused[0] + 1, refused[UNEMPTIED]);
    CHECK_INT(refused[0], refused[DEVELOPER] + 4);
    CHECK(refused[0] > 150 + 70 - ((int)NR_open < 0 ? OLDER_CALLS : 0));
}

/* The filter's search finds the row of each number in the table of rules. */
TEST(seccomp_answers_as_its_rules_do)
{
    size_t compared = 0;
    for (unsigned bits = 0; bits < OPTIONS; bits++) {
        const struct seccomp_options options = seccomp_options_of(bits);
        struct seccomp_filter filter;
        uint16_t answers[SYSCALL_RULES_NEWEST + 1] = {0};
        const uint64_t args[6] = {0};
        seccomp_compile(&options, &filter);
        syscall_rules_fill(&options, answers);
        for (uint32_t number = 0; number <= SYSCALL_RULES_NEWEST; number++) {
            if (answers[number] >= SYSCALL_CHECK_FIRST)
                continue;
            test_row(number, "number");
            CHECK_INT(seccomp_answer(&filter, SYSCALL_ARCH, number, args),
                bits & CARRIED && number == SYS_connect ? SECCOMP_NOTIFIES : answers[number]);
            compared++;
        }
    }
    CHECK(compared > OPTIONS * 300);
}

/* The memory that the first process wipes. */
TEST(machine_has_the_memory_of_arguments_and_environment)
{
    const struct machine *m = machine_get();
    AUTO_FREE char *arguments = test_read("/proc/self/cmdline");
    const char *first = getenv("PATH");
    CHECK(m->secret && m->secret_size > strlen(arguments));
    CHECK_Z(m->secret, arguments);
    CHECK(first > m->secret && first < m->secret + m->secret_size);
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
    if (!CHECK(elf_prevent_start(bytes, &patch)) || !CHECK(patch.at + patch.n <= bytes.n))
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
        if (elf_prevent_start(changed, &patch))
            CHECK(patch.at + patch.n <= self.n);
    }
    CHECK(!elf_prevent_start(STR("#!/bin/sh\n"), &patch));
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

TEST(machine_has_a_remedy)
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
        {"cut off", "31 22 0:5 / /z rw -\n", NULL},
        {"not a line of it", "32 22 0:5\n", NULL},
        {"an empty line", "31 22 0:5 / /z rw - proc p rw\n\n", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
        AUTO_BUF struct buf got = BUF_INIT(4096);
        AUTO_ERR struct err err = {0};
        struct mounts_list list = {0};
        test_row(i, rows[i].name);
        CHECK_INT(mounts_of_kernel(&a, str_z(rows[i].text), &list, &err), rows[i].want != NULL);
        CHECK_INT(err.code, rows[i].want ? 0 : E_SANDBOX_UNAVAILABLE);
        for (size_t k = 0; k < list.n; k++)
            buf_printf(&got, STR_FMT ";", STR_ARG(list.p[k]));
        CHECK_STR(buf_str(&got), str_z(rows[i].want ? rows[i].want : ""));
    }
}

/* Either none is left out, or it fails. */
TEST(mounts_are_all_counted)
{
    static const size_t rows[] = {1, 63, 64, 65, 4096, 4097, 20000, 1 << 16, 100000};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(64 << 20);
        AUTO_BUF struct buf text = BUF_INIT(64 << 20);
        AUTO_ERR struct err err = {0};
        struct mounts_list list = {0};
        for (size_t k = 0; k < rows[i]; k++)
            buf_printf(&text, "%zu 22 0:5 / /srv/%zu rw - proc p rw\n", k + 23, k);
        test_row(i, "number");
        bool ok = mounts_of_kernel(&a, buf_str(&text), &list, &err);
        CHECK_INT(ok, rows[i] < 1 << 16);
        CHECK_INT(list.n, ok ? rows[i] : 0);
        CHECK(ok || err.code == E_SANDBOX_UNAVAILABLE);
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
        AUTO_ERR struct err err = {0};
        struct mounts_list list = {0};
        buf_printf(&text, "%s%s", disk, rows[i].more);
        const struct mounts_place place = {str_z(rows[i].path), rows[i].mount};
        test_row(i, rows[i].name);
        CHECK(mounts_other_names(&a, buf_str(&text), &place, &list, &err));
        for (size_t k = 0; k < list.n; k++)
            buf_printf(&got, STR_FMT ";", STR_ARG(list.p[k]));
        CHECK_STR(buf_str(&got), str_z(rows[i].want));
    }
}

/* Files of /etc ------------------------------------------------------------------------------- */

static const struct {
    const char *name, *text, *home, *want;
} passwd_rows[] = {
    {"an entry", "a:x:7:8:A:/home/a:/bin/sh\n", "/h", "a:x:7:8:A:/h:/bin/sh\n"},
    {"another user's", "b:x:8:8:B:/b:/bin/sh\n", "/h", "b:x:8:8:B:/b:/bin/sh\n"},
    {"the first of two", "a:x:7:8::/1:\nc:x:7:8::/2:\n", "/h", "a:x:7:8::/h:\nc:x:7:8::/2:\n"},
    {"no end of line", "a:x:7:8:A:/home/a:/bin/sh", "/h", "a:x:7:8:A:/h:/bin/sh"},
    {"an empty home", "a:x:7:8:::/bin/sh\n", "/h", "a:x:7:8::/h:/bin/sh\n"},
    {"a shell with a colon", "a:x:7:8::/1:/b:c\n", "/h", "a:x:7:8::/h:/b:c\n"},
    {"too few fields", "a:x:7:8:A:/home/a\n", "/h", "a:x:7:8:A:/home/a\n"},
    {"no number", "a:x:7a:8::/1:\na:x::8:::\n", "/h", "a:x:7a:8::/1:\na:x::8:::\n"},
    {"an overflow", "a:x:4294967303:8::/1:\n", "/h", "a:x:4294967303:8::/1:\n"},
    {"a long number", "a:x:00000000007:8::/1:\n", "/h", "a:x:00000000007:8::/1:\n"},
    {"a home with a colon", "a:x:7:8::/1:\n", "/h:i", "a:x:7:8::/1:\n"},
    {"a home with a line end", "a:x:7:8::/1:\n", "/h\nroot", "a:x:7:8::/1:\n"},
    {"nothing", "", "/h", ""},
};

TEST(etc_passwd_has_the_home_inside)
{
    for (size_t i = 0; i < ARRAY_LEN(passwd_rows); i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(1 << 16);
        test_row(i, passwd_rows[i].name);
        CHECK_STR(etc_passwd(&a, str_z(passwd_rows[i].text), 7, str_z(passwd_rows[i].home)),
            str_z(passwd_rows[i].want));
    }
}

#define HOSTS_LINE "127.0.1.1\tcordon\n"

static const struct {
    const char *name, *text, *want;
} hosts_rows[] = {
    {"nothing", "", HOSTS_LINE},
    {"other names", "::1 ip6\n", "::1 ip6\n" HOSTS_LINE},
    {"no end of line", "::1 ip6", "::1 ip6\n" HOSTS_LINE},
    {"there already", "127.0.0.1 a cordon\n", "127.0.0.1 a cordon\n"},
    {"there, with tabs", "127.0.0.1\tcordon", "127.0.0.1\tcordon"},
    {"in a comment", "127.0.0.1 a # cordon\n", "127.0.0.1 a # cordon\n" HOSTS_LINE},
    {"part of a name", "::1 cordon2 acordon\n", "::1 cordon2 acordon\n" HOSTS_LINE},
    {"in place of an address", "cordon a\n", "cordon a\n" HOSTS_LINE},
};

TEST(etc_hosts_has_the_name_inside)
{
    for (size_t i = 0; i < ARRAY_LEN(hosts_rows); i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(1 << 16);
        test_row(i, hosts_rows[i].name);
        CHECK_STR(etc_hosts(&a, str_z(hosts_rows[i].text)), str_z(hosts_rows[i].want));
    }
}
