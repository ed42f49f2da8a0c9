/* Findings and remedies for many machines: from facts, without any of the machines. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/diagnose.h"
#include "sandbox/machine_facts.h"

#include "base/buf.h"
#include "test.h"

#include <errno.h>
#include <unistd.h>

/* Texts as those machines have them. */
#define ALL_IDS  "         0          0 4294967295\n"
#define SOME_IDS "         0     100000      65536\n"
#define STATUS(eff, bnd, seccomp) \
    "Name:\tcordon\nCapEff:\t" eff "\nCapBnd:\t" bnd "\nNoNewPrivs:\t0\nSeccomp:\t" seccomp "\n"
#define FULL       "000001ffffffffff"
#define DOCKER     "00000000a80425fb"
#define NONE       "0000000000000000"
#define FREE_ROOT  STATUS(FULL, FULL, "0")
#define FREE_USER  STATUS(NONE, FULL, "0")
#define BOUND_ROOT STATUS(DOCKER, DOCKER, "2")
#define BOUND_USER STATUS(NONE, DOCKER, "2")
#define EXT4       "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n22 27 0:21 / /proc rw - proc proc rw\n"
#define OVERLAY(dirs)                                                                        \
    "500 400 0:50 / / rw,relatime - overlay overlay rw,lowerdir=" dirs "/l/A,upperdir=" dirs \
    "/x/diff\n"
#define COVERED "91 82 0:6 /null /proc/timer_list ro - devtmpfs devtmpfs rw\n"
#define DEBIAN  "Linux version 6.1.0-30-amd64 (debian-kernel@lists.debian.org) (gcc-12)\n"

/* A machine that has everything, seen by a user; and a typical container, seen by its root. */
static const struct diagnose_facts machine = {.release = "6.1.0-30-amd64",
    .version = DEBIAN,
    .lsm = "lockdown,capability,landlock,yama\n",
    .status = FREE_USER,
    .uid_map = ALL_IDS,
    .cgroup = "0::/user.slice\n",
    .mounts = EXT4,
    .apparmor = "unconfined\n",
    .manager = "",
    .above = "bash\nsshd\nsystemd\n",
    .host = "host",
    .self = "/usr/bin/cordon"};
static const struct diagnose_facts container = {
    .status = BOUND_ROOT, .mounts = OVERLAY("/var/lib/x") COVERED, .cgroup = "0::/\n"};

/* Settings that are not the usual ones. */
enum {
    CLONE_OFF = 1 << 0,
    NONE_ALLOWED = 1 << 1,
    NOT_BUILT = 1 << 2,
    RESTRICTED = 1 << 3,
    UNRESTRICTED = 1 << 4,
    ROOT = 1 << 5,
    INSIDE = 1 << 6, /* a container, as root */
    EMPTY = 1 << 7,  /* texts */
};

#define REFUSED .failed = FAILED_NAMESPACES, .errnum = EPERM

struct row {
    const char *name;
    unsigned bits;
    struct diagnose_facts facts; /* differences from the usual */
    const char *container;       /* NULL: none */
    const char *found;           /* names, separated by blanks; the cause has a star */
    const char *remedy;          /* a part of the cause's remedy */
};

static const struct row rows[] = {
    {"Debian as a user", 0, {.root = false}, NULL, "", NULL},
    {"Debian as root", ROOT, {.status = FREE_ROOT}, NULL, "", NULL},
    {"a virtual machine made of an image", ROOT, {.status = FREE_ROOT, .dockerenv = true}, NULL, "",
        NULL},
    {"the same as a user", 0, {.dockerenv = true}, NULL, "", NULL},

    {"docker", INSIDE | ROOT, {.dockerenv = true, REFUSED}, "docker",
        "seccomp-filter* no-sys-admin* container", "docker run --security-opt seccomp=unconfined"},
    {"docker, clone3 unknown to its filter", INSIDE | ROOT,
        {.dockerenv = true, .failed = FAILED_NAMESPACES, .errnum = ENOSYS}, "docker",
        "seccomp-filter* no-sys-admin* container", "systempaths=unconfined"},
    {"docker as a user", INSIDE, {.dockerenv = true, .status = BOUND_USER, REFUSED}, "docker",
        "seccomp-filter* container", "docker run --security-opt seccomp=unconfined"},
    {"docker without a filter, /proc covered", INSIDE | ROOT,
        {.dockerenv = true,
            .status = STATUS(DOCKER, DOCKER, "0"),
            .failed = FAILED_PROC,
            .errnum = EPERM},
        "docker", "proc-covered* no-sys-admin container", "systempaths=unconfined"},
    {"docker with AppArmor, without a filter", INSIDE | ROOT,
        {.dockerenv = true,
            .status = STATUS(DOCKER, DOCKER, "0"),
            .apparmor = "docker-default (enforce)\n",
            .failed = FAILED_MOUNT,
            .errnum = EACCES},
        "docker", "apparmor-container* no-sys-admin* container", "apparmor=unconfined"},
    {"docker, opened", INSIDE | ROOT, {.dockerenv = true, .status = STATUS(DOCKER, DOCKER, "0")},
        "docker", "no-sys-admin container", NULL},
    {"docker, privileged", INSIDE | ROOT, {.dockerenv = true, .status = STATUS(FULL, FULL, "0")},
        "docker", "container", NULL},
    {"docker by its cgroup of version 1", INSIDE | ROOT, {.cgroup = "3:cpu:/docker/0123abcd\n"},
        "docker", "no-sys-admin container", NULL},
    {"docker by its cgroup of systemd", INSIDE | ROOT,
        {.cgroup = "0::/system.slice/docker-0123abcd.scope\n"}, "docker", "no-sys-admin container",
        NULL},
    {"docker by its layers", INSIDE | ROOT, {.mounts = OVERLAY("/var/lib/docker/overlay2")},
        "docker", "no-sys-admin container", NULL},
    {"an old docker, which also refuses Landlock", INSIDE | ROOT,
        {.dockerenv = true, .landlock_errno = EPERM, .failed = FAILED_LANDLOCK, .errnum = EPERM},
        "docker", "landlock-refused* no-sys-admin container", "Docker 23"},

    {"podman", INSIDE | ROOT, {.containerenv = true, .failed = FAILED_NAMESPACES, .errnum = EPERM},
        "podman", "seccomp-filter* no-sys-admin* container", "unmask=ALL"},
    {"podman without root", INSIDE | ROOT, {.manager = "podman", .uid_map = SOME_IDS}, "podman",
        "no-sys-admin container", NULL},
    {"podman by its cgroup", INSIDE | ROOT,
        {.cgroup = "0::/machine.slice/libpod-01.scope/container\n"}, "podman",
        "no-sys-admin container", NULL},
    {"podman by its layers", INSIDE | ROOT,
        {.mounts = OVERLAY("/home/u/.local/share/containers/storage")}, "podman",
        "no-sys-admin container", NULL},

    {"kubernetes", INSIDE | ROOT, {.kubernetes = true, REFUSED}, "kubernetes",
        "seccomp-filter* no-sys-admin* container", "procMount: Unmasked"},
    {"kubernetes by its cgroup", INSIDE | ROOT,
        {.cgroup = "0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-1.scope\n"}, "kubernetes",
        "no-sys-admin container", NULL},
    {"kubernetes on docker", INSIDE | ROOT, {.kubernetes = true, .dockerenv = true}, "kubernetes",
        "no-sys-admin container", NULL},

    {"LXC", ROOT, {.status = FREE_ROOT, .uid_map = SOME_IDS, .manager = "lxc\n", REFUSED}, "lxc",
        "container*", "security.nesting true"},
    {"LXC by its cgroup", 0, {.cgroup = "0::/lxc.payload.c1/init.scope\n"}, "lxc", "container",
        NULL},
    {"systemd-nspawn", 0, {.manager = "systemd-nspawn\n", REFUSED}, "systemd-nspawn", "container*",
        "systemd-nspawn"},
    {"another engine, by its covered files", 0, {.mounts = EXT4 COVERED, REFUSED}, "container",
        "container*", "user namespaces"},
    {"another engine, by its root and filter", INSIDE | ROOT, {REFUSED}, "container",
        "seccomp-filter* no-sys-admin* container", "user namespaces"},
    {"a live system", 0, {.mounts = OVERLAY("/run/live")}, NULL, "", NULL},

    {"user namespaces off", CLONE_OFF, {REFUSED}, NULL, "userns-off*",
        "sysctl -w kernel.unprivileged_userns_clone=1"},
    {"user namespaces off, as root", ROOT | CLONE_OFF, {.status = FREE_ROOT}, NULL, "", NULL},
    {"no user namespaces allowed", NONE_ALLOWED, {.failed = FAILED_NAMESPACES, .errnum = ENOSPC},
        NULL, "userns-none*", "sysctl -w user.max_user_namespaces=10000"},
    {"a kernel without user namespaces", NOT_BUILT, {.failed = FAILED_NAMESPACES, .errnum = EINVAL},
        NULL, "no-user-namespaces*", "CONFIG_USER_NS"},
    {"a service with RestrictNamespaces=", 0, {.status = STATUS(NONE, FULL, "2"), REFUSED}, NULL,
        "seccomp-filter*", "RestrictNamespaces="},
    {"a chroot", ROOT,
        {.status = FREE_ROOT, .mounts = "22 27 0:21 / /proc rw - proc proc rw\n", REFUSED}, NULL,
        "chroot*", "pivot_root"},
    {"an initramfs", 0,
        {.mounts = "1 1 0:2 / / rw - rootfs rootfs rw\n", .failed = FAILED_MOUNT, .errnum = EINVAL},
        NULL, "initramfs*", "switch_root"},
    {"root of a machine without CAP_SYS_ADMIN", ROOT, {.status = STATUS(DOCKER, DOCKER, "0")}, NULL,
        "no-sys-admin", NULL},

    {"Ubuntu 24.04", RESTRICTED, {.failed = FAILED_MOUNT, .errnum = EACCES}, NULL,
        "apparmor-userns*", "sudo /usr/bin/cordon doctor --fix"},
    {"Ubuntu 24.04, where the namespace has no rights", RESTRICTED,
        {.failed = FAILED_NAMESPACES, .errnum = EPERM}, NULL, "apparmor-userns*", "doctor --fix"},
    {"Ubuntu 24.04 with the profile", RESTRICTED, {.apparmor = "cordon (unconfined)\n"}, NULL, "",
        NULL},
    {"Ubuntu 24.04 as root", ROOT | RESTRICTED, {.status = FREE_ROOT}, NULL, "apparmor-userns",
        NULL},
    {"docker on Ubuntu 24.04, opened", INSIDE | RESTRICTED | ROOT,
        {.dockerenv = true,
            .status = STATUS(DOCKER, DOCKER, "0"),
            .failed = FAILED_MOUNT,
            .errnum = EACCES},
        "docker", "apparmor-userns* no-sys-admin* container", "apparmor=cordon"},
    {"Debian, where AppArmor restricts nothing", UNRESTRICTED, {.root = false}, NULL, "", NULL},

    {"an old kernel", 0,
        {.release = "5.10.0-33-amd64",
            .landlock_errno = ENOSYS,
            .failed = FAILED_LANDLOCK,
            .errnum = ENOSYS},
        NULL, "old-kernel*", "Linux 5.13"},
    {"the oldest that will do", 0, {.release = "5.13.0"}, NULL, "", NULL},
    {"Landlock not in lsm=", 0,
        {.landlock_errno = EOPNOTSUPP,
            .lsm = "lockdown,yama,apparmor",
            .failed = FAILED_LANDLOCK,
            .errnum = EOPNOTSUPP},
        NULL, "landlock-off*", "lsm=landlock,lockdown,yama,apparmor "},
    {"Landlock not built", 0,
        {.landlock_errno = ENOSYS, .failed = FAILED_LANDLOCK, .errnum = ENOSYS}, NULL,
        "landlock-missing*", "CONFIG_SECURITY_LANDLOCK"},

    {"WSL 1", 0,
        {.release = "4.4.0-19041-Microsoft",
            .version = "Linux version 4.4.0-19041-Microsoft (Microsoft@Microsoft.com) (gcc)\n",
            .landlock_abi = 0,
            .landlock_errno = ENOSYS,
            .failed = FAILED_LANDLOCK,
            .errnum = ENOSYS},
        NULL, "wsl1*", "wsl --set-version"},
    {"WSL 2", 0,
        {.release = "6.6.87.2-microsoft-standard-WSL2",
            .version = "Linux version 6.6.87.2-microsoft-standard-WSL2 (root@439a258ad544)\n"},
        NULL, "wsl2", NULL},
    {"WSL 2 without Landlock", 0,
        {.release = "5.15.167.4-microsoft-standard-WSL2",
            .version = "Linux version 5.15.167.4-microsoft-standard-WSL2 (root@f9c826d3017f)\n",
            .landlock_abi = 0,
            .landlock_errno = EOPNOTSUPP,
            .failed = FAILED_LANDLOCK,
            .errnum = EOPNOTSUPP},
        NULL, "wsl2 landlock-off*", ".wslconfig"},

    {"in a sandbox of ours", 0,
        {.above = "",
            .host = "cordon",
            .status = STATUS(NONE, NONE, "2"),
            .mounts = "74 47 0:43 / / ro - tmpfs none rw,size=65536k\n",
            REFUSED},
        NULL, "nested*", "--sandbox none"},
    {"in a sandbox of ours without namespaces", 0,
        {.above = "sh\ncordon-init\ncordon\nbash\n",
            .status = STATUS(NONE, NONE, "2"),
            .failed = FAILED_NAMESPACES,
            .errnum = ENOSYS},
        NULL, "nested*", "--sandbox none"},
    {"a machine called cordon", 0, {.host = "cordon"}, NULL, "", NULL},
    {"nothing can be read", EMPTY, {.root = false}, NULL, "", NULL},
};

/* Facts that a row leaves out are as usual. */
static struct diagnose_facts facts_of(const struct row *row)
{
    static const size_t texts[] = {offsetof(struct diagnose_facts, release),
        offsetof(struct diagnose_facts, version), offsetof(struct diagnose_facts, lsm),
        offsetof(struct diagnose_facts, status), offsetof(struct diagnose_facts, uid_map),
        offsetof(struct diagnose_facts, cgroup), offsetof(struct diagnose_facts, mounts),
        offsetof(struct diagnose_facts, apparmor), offsetof(struct diagnose_facts, manager),
        offsetof(struct diagnose_facts, above), offsetof(struct diagnose_facts, host),
        offsetof(struct diagnose_facts, self)};
    struct diagnose_facts f = row->facts;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        const char **at = (const char **)(void *)((char *)&f + texts[i]);
        const char *inside =
            *(const char *const *)(const void *)((const char *)&container + texts[i]);
        const char *usual = *(const char *const *)(const void *)((const char *)&machine + texts[i]);
        if (!*at)
            *at = row->bits & EMPTY ? "" : row->bits & INSIDE && inside ? inside : usual;
    }
    f.root = row->bits & ROOT;
    f.has_userns = !(row->bits & NOT_BUILT);
    f.userns_clone = row->bits & CLONE_OFF ? 0 : 1;
    f.max_userns = row->bits & NONE_ALLOWED ? 0 : 10000;
    f.apparmor_userns = row->bits & RESTRICTED ? 1 : row->bits & UNRESTRICTED ? 0 : -1;
    f.landlock_abi = f.landlock_errno ? 0 : 2;
    return f;
}

static void add_names(const struct diagnose_findings *f, struct buf *names)
{
    for (size_t i = 0; i < f->n; i++)
        buf_printf(names, "%s%s%s", i ? " " : "", f->p[i].name, f->p[i].blocks ? "*" : "");
}

TEST(diagnose_machines)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
        AUTO_BUF struct buf names = BUF_INIT(4096);
        struct diagnose_findings found;
        test_row(i, rows[i].name);
        const struct diagnose_facts facts = facts_of(&rows[i]);
        const char *kind = diagnose_container(&facts);
        CHECK_Z(kind ? kind : "", rows[i].container ? rows[i].container : "");
        diagnose(&facts, &a, &found);
        add_names(&found, &names);
        CHECK_Z(buf_z(&names), rows[i].found);
        const struct diagnose_finding *cause = diagnose_cause(&found);
        if (!CHECK((cause != NULL) == (rows[i].remedy != NULL)) || !cause)
            continue;
        CHECK(cause->remedy && strstr(cause->remedy, rows[i].remedy));
    }
}

/* Every finding that blocks has a remedy, each of one line. */
TEST(diagnose_remedies)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
        struct diagnose_findings found;
        const struct diagnose_facts facts = facts_of(&rows[i]);
        test_row(i, rows[i].name);
        diagnose(&facts, &a, &found);
        for (size_t k = 0; k < found.n; k++) {
            CHECK(!found.p[k].blocks || found.p[k].remedy);
            CHECK(!strchr(found.p[k].text, '\n'));
            CHECK(!found.p[k].remedy || !strchr(found.p[k].remedy, '\n'));
            /* Only the host's own profile can be installed from here. */
            bool fixable = strcmp(found.p[k].name, "apparmor-userns") == 0 && !rows[i].container;
            CHECK_INT(found.p[k].fixable, fixable);
        }
    }
}

TEST(machine_facts_name_the_parent_process)
{
    AUTO_ARENA struct arena a = ARENA_INIT(64 << 20);
    struct diagnose_facts facts;
    char path[64];
    machine_facts(NULL, &a, &facts);
    snprintf(path, sizeof(path), "/proc/%d/comm", (int)getppid());
    AUTO_FREE char *parent = test_read(path);
    CHECK(parent && facts.above && str_starts_with(str_z(facts.above), str_z(parent)));
    CHECK_INT(facts.errnum, 0);
}

TEST(machine_failure_reads_back_from_its_error)
{
    static const struct machine_failure failures[] = {
        {.primitive = "mounting proc", .errnum = EPERM},
        {.primitive = "making namespaces", .errnum = ENOSPC},
        {.primitive = "making namespaces", .errnum = EUSERS},
    };
    struct machine_failure failure = {0};
    for (size_t i = 0; i < ARRAY_LEN(failures); i++) {
        AUTO_ERR struct err err = {0};
        test_row(i, failures[i].primitive);
        CHECK(!machine_unavailable(&failures[i], &err));
        CHECK_ERR(&err, E_SANDBOX_UNAVAILABLE, failures[i].primitive);
        if (CHECK(machine_facts_failed(&err, &failure))) {
            CHECK_Z(failure.primitive, failures[i].primitive);
            CHECK_INT(failure.errnum, failures[i].errnum);
        }
    }
    AUTO_ERR struct err other = {0}, half = {0};
    err_set(&other, E_IO, "another error");
    CHECK(!machine_facts_failed(&other, &failure));
    err_set(&half, E_SANDBOX_UNAVAILABLE, "without its number");
    err_ctx(&half, "primitive", "mounting proc");
    CHECK(!machine_facts_failed(&half, &failure));
}
