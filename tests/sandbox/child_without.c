/* Runs programs where the kernel refuses calls that a sandbox needs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "child.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NR_OFFSET  offsetof(struct seccomp_data, nr)
#define ARG_OFFSET offsetof(struct seccomp_data, args)
#define LOAD(at)   BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)(at))
#define RETURN(x)  BPF_STMT(BPF_RET | BPF_K, (x))
#define DENY(nr, errnum) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1), RETURN(SECCOMP_RET_ERRNO | (errnum))

/* A new user namespace by any of its three calls. */
static struct sock_filter no_user_namespace[] = {
    LOAD(NR_OFFSET),
    DENY(SYS_clone3, EPERM),
    DENY(SYS_unshare, EPERM),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
    LOAD(ARG_OFFSET),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_NEWUSER, 0, 1),
    RETURN(SECCOMP_RET_ERRNO | EPERM),
    RETURN(SECCOMP_RET_ALLOW),
};

/* A namespace can be created, but nothing can be mounted in it: as where a security module
 * restricts user namespaces. */
static struct sock_filter no_mount[] = {
    LOAD(NR_OFFSET),
    DENY(SYS_mount, EACCES),
    DENY(SYS_open_tree, EACCES),
    DENY(SYS_move_mount, EACCES),
    DENY(SYS_fsopen, EACCES),
    DENY(SYS_fsmount, EACCES),
    DENY(SYS_mount_setattr, EACCES),
    DENY(SYS_pivot_root, EACCES),
    RETURN(SECCOMP_RET_ALLOW),
};

/* One user namespace, but not another one inside it. */
static struct sock_filter no_second[] = {
    LOAD(NR_OFFSET),
    DENY(SYS_unshare, EPERM),
    RETURN(SECCOMP_RET_ALLOW),
};

/* A filter from before Linux 5.9. */
static struct sock_filter no_close_range[] = {
    LOAD(NR_OFFSET),
    DENY(SYS_close_range, EPERM),
    RETURN(SECCOMP_RET_ALLOW),
};

/* A kernel without Landlock. */
static struct sock_filter no_landlock[] = {
    LOAD(NR_OFFSET),
    DENY(SYS_landlock_create_ruleset, ENOSYS),
    DENY(SYS_landlock_add_rule, ENOSYS),
    DENY(SYS_landlock_restrict_self, ENOSYS),
    RETURN(SECCOMP_RET_ALLOW),
};

/* A kernel that accepts no filter; prctl does the same with 22. */
static struct sock_filter no_seccomp[] = {
    LOAD(NR_OFFSET),
    DENY(SYS_seccomp, EINVAL),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 3),
    LOAD(ARG_OFFSET),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_SECCOMP, 0, 1),
    RETURN(SECCOMP_RET_ERRNO | EINVAL),
    RETURN(SECCOMP_RET_ALLOW),
};

/* The calls that Docker's profile refuses a container without CAP_SYS_ADMIN: namespaces by any
 * call, mounts, the host's name, and access to the kernel; clone3() with ENOSYS, so that libraries
 * fall back to clone(), whose flags can be inspected. */
#define NAMESPACES                                                                                \
    (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | \
        CLONE_NEWNET)
static struct sock_filter docker[] = {
    LOAD(NR_OFFSET),
    DENY(SYS_clone3, ENOSYS),
    DENY(SYS_unshare, EPERM),
    DENY(SYS_setns, EPERM),
    DENY(SYS_mount, EPERM),
    DENY(SYS_umount2, EPERM),
    DENY(SYS_pivot_root, EPERM),
    DENY(SYS_open_tree, EPERM),
    DENY(SYS_move_mount, EPERM),
    DENY(SYS_fsopen, EPERM),
    DENY(SYS_fsconfig, EPERM),
    DENY(SYS_fsmount, EPERM),
    DENY(SYS_fspick, EPERM),
    DENY(SYS_mount_setattr, EPERM),
    DENY(SYS_sethostname, EPERM),
    DENY(SYS_setdomainname, EPERM),
    DENY(SYS_bpf, EPERM),
    DENY(SYS_perf_event_open, EPERM),
    DENY(SYS_userfaultfd, EPERM),
    DENY(SYS_open_by_handle_at, EPERM),
    DENY(SYS_add_key, EPERM),
    DENY(SYS_request_key, EPERM),
    DENY(SYS_keyctl, EPERM),
    DENY(SYS_quotactl, EPERM),
    DENY(SYS_init_module, EPERM),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
    LOAD(ARG_OFFSET),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NAMESPACES, 0, 1),
    RETURN(SECCOMP_RET_ERRNO | EPERM),
    RETURN(SECCOMP_RET_ALLOW),
};

enum {
    CAPABILITIES = 41, /* up to CAP_CHECKPOINT_RESTORE */
};
#define DOCKER_CAPABILITIES 0xa80425fbull

/* Keeps the capabilities that Docker leaves root. */
static int drop_to_docker(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct set[2] = {0};
    for (unsigned i = 0; i < CAPABILITIES; i++)
        if (!(DOCKER_CAPABILITIES >> i & 1) && prctl(PR_CAPBSET_DROP, i, 0, 0, 0) != 0)
            return -1;
    set[0].effective = set[0].permitted = (uint32_t)DOCKER_CAPABILITIES;
    return (int)syscall(SYS_capset, &header, set);
}

static const struct {
    const char *name;
    struct sock_fprog program;
} lacks[] = {
#define LACK(name, filter)                            \
    {                                                 \
        name,                                         \
        {                                             \
            sizeof(filter) / sizeof *(filter), filter \
        }                                             \
    }
    LACK("close-range", no_close_range),
    LACK("docker", docker),
    LACK("user-namespace", no_user_namespace),
    LACK("mount", no_mount),
    LACK("second-namespace", no_second),
    LACK("landlock", no_landlock),
    LACK("seccomp", no_seccomp),
};

/* `without WHAT COMMAND ARG…`: runs the command where the kernel refuses WHAT. */
int do_without(char **args)
{
    for (size_t i = 0; i < sizeof lacks / sizeof *lacks; i++) {
        if (strcmp(lacks[i].name, args[0]) != 0)
            continue;
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &lacks[i].program) != 0)
            return fail("seccomp");
        if (strcmp(args[0], "docker") == 0 && geteuid() == 0 && drop_to_docker() != 0)
            return fail("capset");
        execv(args[1], args + 1);
        return fail(args[1]);
    }
    errno = EINVAL;
    return fail(args[0]);
}

/* Whether a user namespace can be created and a file system mounted in it: the check for
 * `without`. */
int do_namespace(char **args)
{
    (void)args;
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
        return report("unshare", 0, errno);
    int fd = (int)syscall(SYS_fsopen, "tmpfs", 0);
    return report("fsopen", fd >= 0, fd < 0 ? errno : 0);
}
