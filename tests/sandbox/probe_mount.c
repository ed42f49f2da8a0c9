/* Attempts to change what is visible: mounts by the old and the new calls, namespaces, chroot. The
 * new calls are made by number: libraries and headers may be older than the kernel. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "probe.h"

#include <linux/mount.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

/* Declares the old calls, without <sys/mount.h>, which contradicts <linux/mount.h>. */
extern int mount(const char *, const char *, const char *, unsigned long, const void *);
extern int umount2(const char *, int);

enum {
    NR_OPEN_TREE = 428,
    NR_MOVE_MOUNT = 429,
    NR_FSOPEN = 430,
    NR_FSCONFIG = 431,
    NR_FSMOUNT = 432,
    NR_FSPICK = 433,
    NR_MOUNT_SETATTR = 442,
    NR_OPEN_TREE_ATTR = 467,
};

/* mount SOURCE TARGET TYPE FLAGS */
static void do_mount(int argc, char **argv)
{
    (void)argc;
    report("mount", mount(argv[0], argv[1], argv[2], number(argv[3]), NULL));
}

static void do_umount(int argc, char **argv)
{
    (void)argc;
    report("umount2", umount2(argv[0], (int)number(argv[1])));
}

static void do_pivot_root(int argc, char **argv)
{
    (void)argc;
    report("pivot_root", syscall(SYS_pivot_root, argv[0], argv[1]));
}

static void do_chroot(int argc, char **argv)
{
    (void)argc;
    report("chroot", chroot(argv[0]));
}

static void do_unshare(int argc, char **argv)
{
    (void)argc;
    report("unshare", syscall(SYS_unshare, number(argv[0])));
}

static void do_setns(int argc, char **argv)
{
    (void)argc;
    int fd = open(argv[0], O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        got("open namespace");
    else
        report("setns", setns(fd, (int)number(argv[1])));
}

/* setnspid PID FLAGS: by pidfd */
static void do_setnspid(int argc, char **argv)
{
    (void)argc;
    int fd = (int)syscall(SYS_pidfd_open, number(argv[0]), 0);
    if (fd < 0)
        got("pidfd_open");
    else
        report("setns", setns(fd, (int)number(argv[1])));
}

/* clone FLAGS: flags unchanged, with SIGCHLD added */
static void do_clone(int argc, char **argv)
{
    (void)argc;
    long pid = syscall(SYS_clone, number(argv[0]) | SIGCHLD, NULL, NULL, NULL, 0);
    if (pid == 0)
        _exit(0);
    if (report("clone", pid))
        waitpid((pid_t)pid, NULL, __WALL);
}

static void do_clone3(int argc, char **argv)
{
    (void)argc;
    struct clone_args args = {.flags = number(argv[0]), .exit_signal = SIGCHLD};
    long pid = syscall(SYS_clone3, &args, sizeof args);
    if (pid == 0)
        _exit(0);
    if (report("clone3", pid))
        waitpid((pid_t)pid, NULL, __WALL);
}

/* fsmount TYPE TARGET */
static void do_fsmount(int argc, char **argv)
{
    (void)argc;
    int fs = (int)syscall(NR_FSOPEN, argv[0], 0);
    if (!report("fsopen", fs))
        return;
    if (!report("fsconfig", syscall(NR_FSCONFIG, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0)))
        return;
    int made = (int)syscall(NR_FSMOUNT, fs, 0, 0);
    if (!report("fsmount", made))
        return;
    report(
        "move_mount", syscall(NR_MOVE_MOUNT, made, "", AT_FDCWD, argv[1], MOVE_MOUNT_F_EMPTY_PATH));
}

/* opentree PATH FLAGS TEXT: a writable copy of the mount at PATH, without its read-only flag */
static void do_opentree(int argc, char **argv)
{
    (void)argc;
    struct mount_attr attr = {.attr_clr = MOUNT_ATTR_RDONLY};
    int tree = (int)syscall(NR_OPEN_TREE, AT_FDCWD, argv[0], number(argv[1]));
    if (!report("open_tree", tree))
        return;
    report("mount_setattr", syscall(NR_MOUNT_SETATTR, tree, "", AT_EMPTY_PATH, &attr, sizeof attr));
    int fd = openat(tree, "a", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        got("openat");
    else
        report("write", write(fd, argv[2], strlen(argv[2])));
}

/* opentreeattr PATH: the same in one call, of Linux 6.15 */
static void do_opentreeattr(int argc, char **argv)
{
    (void)argc;
    struct mount_attr attr = {.attr_clr = MOUNT_ATTR_RDONLY};
    int tree =
        (int)syscall(NR_OPEN_TREE_ATTR, AT_FDCWD, argv[0], OPEN_TREE_CLONE, &attr, sizeof attr);
    if (!report("open_tree_attr", tree))
        return;
    int fd = openat(tree, "a", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        got("openat");
    else
        report("write", write(fd, argv[1], strlen(argv[1])));
}

/* setattr PATH: clears the read-only and noexec flags of the mount at PATH */
static void do_setattr(int argc, char **argv)
{
    (void)argc;
    struct mount_attr attr = {.attr_clr = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC};
    report("mount_setattr",
        syscall(NR_MOUNT_SETATTR, AT_FDCWD, argv[0], AT_RECURSIVE, &attr, sizeof attr));
}

/* movemount FROM TO */
static void do_movemount(int argc, char **argv)
{
    (void)argc;
    report("move_mount", syscall(NR_MOVE_MOUNT, AT_FDCWD, argv[0], AT_FDCWD, argv[1], 0));
}

static void do_fspick(int argc, char **argv)
{
    (void)argc;
    report("fspick", syscall(NR_FSPICK, AT_FDCWD, argv[0], 0));
}

const struct attempt probe_mount[] = {
    {"mount", 4, do_mount},
    {"umount", 2, do_umount},
    {"pivot_root", 2, do_pivot_root},
    {"chroot", 1, do_chroot},
    {"unshare", 1, do_unshare},
    {"setns", 2, do_setns},
    {"setnspid", 2, do_setnspid},
    {"clone", 1, do_clone},
    {"clone3", 1, do_clone3},
    {"fsmount", 2, do_fsmount},
    {"opentree", 3, do_opentree},
    {"opentreeattr", 2, do_opentreeattr},
    {"setattr", 1, do_setattr},
    {"movemount", 2, do_movemount},
    {"fspick", 1, do_fspick},
    {0},
};
