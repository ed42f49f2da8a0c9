/* Attempts on single files: read, change, rename, link, make. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "probe.h"

#include <linux/fs.h>
#include <linux/openat2.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/xattr.h>

enum {
    HANDLE_MAX = 128,
    PATH_MAX_BYTES = 4096
};

static int open_or_got(const char *what, const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC, 0600);
    if (fd < 0)
        got(what);
    return fd;
}

/* read PATH */
static void do_read(int argc, char **argv)
{
    (void)argc;
    int fd = open_or_got("open", argv[0], O_RDONLY | O_NONBLOCK);
    if (fd >= 0)
        read_out("read", fd);
}

/* readat DIR PATH FLAGS: by a descriptor of DIR that was opened with FLAGS besides O_DIRECTORY */
static void do_readat(int argc, char **argv)
{
    (void)argc;
    int dir = open_or_got("open directory", argv[0], O_DIRECTORY | (int)number(argv[2]));
    if (dir < 0)
        return;
    int fd = openat(dir, argv[1], O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        got("openat");
    else
        read_out("read", fd);
}

/* openat2 DIR PATH RESOLVE */
static void do_openat2(int argc, char **argv)
{
    (void)argc;
    int dir = open_or_got("open directory", argv[0], O_DIRECTORY | O_PATH);
    if (dir < 0)
        return;
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC, .resolve = number(argv[2])};
    int fd = (int)syscall(SYS_openat2, dir, argv[1], &how, sizeof how);
    if (fd < 0)
        got("openat2");
    else
        read_out("read", fd);
}

static void do_readlink(int argc, char **argv)
{
    (void)argc;
    char target[PATH_MAX_BYTES];
    ssize_t n = readlink(argv[0], target, sizeof target);
    if (report("readlink", n))
        data(target, (size_t)n);
}

static void do_stat(int argc, char **argv)
{
    (void)argc;
    struct stat st;
    if (lstat(argv[0], &st) < 0)
        got("lstat");
    else
        did("lstat mode=%o size=%ld", st.st_mode, (long)st.st_size);
}

/* write PATH TEXT [FLAGS] */
static void do_write(int argc, char **argv)
{
    int fd = open_or_got("open", argv[0], O_WRONLY | (argc > 2 ? (int)number(argv[2]) : 0));
    if (fd >= 0)
        report("write", write(fd, argv[1], strlen(argv[1])));
}

/* openfor PATH FLAGS: only opens */
static void do_openfor(int argc, char **argv)
{
    (void)argc;
    report("open", open(argv[0], (int)number(argv[1]) | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
}

static void do_create(int argc, char **argv)
{
    (void)argc;
    report("create", open_or_got("create", argv[0], O_WRONLY | O_CREAT | O_EXCL));
}

static void do_truncate(int argc, char **argv)
{
    (void)argc;
    report("truncate", truncate(argv[0], 1));
}

static void do_chmod(int argc, char **argv)
{
    (void)argc;
    report("chmod", chmod(argv[0], (mode_t)number(argv[1])));
}

/* fchmod PATH: by descriptor, by O_PATH and /proc, by fchmodat2 */
static void do_fchmod(int argc, char **argv)
{
    (void)argc;
    char proc[64];
    int fd = open_or_got("open", argv[0], O_RDONLY);
    int path = open_or_got("open", argv[0], O_PATH);
    if (fd < 0 || path < 0)
        return;
    report("fchmod", fchmod(fd, 0777));
    snprintf(proc, sizeof proc, "/proc/self/fd/%d", path);
    report("chmod /proc", chmod(proc, 0777));
    report("fchmodat2", syscall(452, path, "", 0777, AT_EMPTY_PATH));
}

/* setuid PATH: a set-user-id file, by every call that can make one */
static void do_setuid_file(int argc, char **argv)
{
    (void)argc;
    char name[PATH_MAX_BYTES];
    struct open_how how = {.flags = O_WRONLY | O_CREAT, .mode = 04755};
    umask(0);
    snprintf(name, sizeof name, "%s.open", argv[0]);
    int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 04755);
    report("open", fd);
    report("fchmod", fchmod(fd, 06755));
    snprintf(name, sizeof name, "%s.openat2", argv[0]);
    report("openat2", syscall(SYS_openat2, AT_FDCWD, name, &how, sizeof how));
    report("chmod", chmod(name, 04755));
    report("fchmodat", syscall(SYS_fchmodat, AT_FDCWD, name, 02755));
    report("fchmodat2", syscall(452, AT_FDCWD, name, 04755, 0));
    snprintf(name, sizeof name, "%s.creat", argv[0]);
#ifdef SYS_creat
    report("creat", syscall(SYS_creat, name, 04755));
#else
    report("creat", creat(name, 04755));
#endif
    snprintf(name, sizeof name, "%s.mknod", argv[0]);
    report("mknod", mknod(name, S_IFREG | 04755, 0));
    snprintf(name, sizeof name, "%s.mknodat", argv[0]);
    report("mknodat", syscall(SYS_mknodat, AT_FDCWD, name, S_IFREG | 04755, 0));
}

static void do_chown(int argc, char **argv)
{
    (void)argc;
    report("chown", chown(argv[0], (uid_t)number(argv[1]), (gid_t)-1));
}

static void do_utimes(int argc, char **argv)
{
    (void)argc;
    const struct timeval times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    report("utimes", utimes(argv[0], times));
    int fd = open_or_got("open", argv[0], O_RDONLY);
    if (fd >= 0)
        report("futimens", futimens(fd, NULL));
}

static void do_setxattr(int argc, char **argv)
{
    (void)argc;
    report("setxattr", setxattr(argv[0], "user.cordon", "x", 1, 0));
    int fd = open_or_got("open", argv[0], O_RDONLY);
    if (fd >= 0)
        report("fsetxattr", fsetxattr(fd, "user.cordon", "x", 1, 0));
    struct {
        uint64_t value;
        uint32_t size, flags;
    } args = {(uint64_t)(uintptr_t) "x", 1, 0};
    report("setxattrat", syscall(463, AT_FDCWD, argv[0], 0, "user.cordon", &args, sizeof args));
}

/* setflags PATH: chattr needs no descriptor for writing */
static void do_setflags(int argc, char **argv)
{
    (void)argc;
    int flags = 0, fd = open_or_got("open", argv[0], O_RDONLY);
    if (fd < 0)
        return;
    if (!report("getflags", ioctl(fd, FS_IOC_GETFLAGS, &flags)))
        return;
    flags |= FS_NODUMP_FL;
    report("setflags", ioctl(fd, FS_IOC_SETFLAGS, &flags));
}

static void do_link(int argc, char **argv)
{
    (void)argc;
    report("link", link(argv[0], argv[1]));
}

/* linkfd A B: a link from a file descriptor, in both ways */
static void do_linkfd(int argc, char **argv)
{
    (void)argc;
    char proc[64];
    int fd = open_or_got("open", argv[0], O_RDONLY);
    if (fd < 0)
        return;
    snprintf(proc, sizeof proc, "/proc/self/fd/%d", fd);
    report("linkat /proc", linkat(AT_FDCWD, proc, AT_FDCWD, argv[1], AT_SYMLINK_FOLLOW));
    report("linkat empty", linkat(fd, "", AT_FDCWD, argv[1], AT_EMPTY_PATH));
}

static void do_symlink(int argc, char **argv)
{
    (void)argc;
    report("symlink", symlink(argv[0], argv[1]));
}

static void do_rename(int argc, char **argv)
{
    unsigned flags = argc > 2 ? (unsigned)number(argv[2]) : 0;
    report("rename", renameat2(AT_FDCWD, argv[0], AT_FDCWD, argv[1], flags));
}

static void do_mkdir(int argc, char **argv)
{
    (void)argc;
    report("mkdir", mkdir(argv[0], 0700));
}

static void do_rmdir(int argc, char **argv)
{
    (void)argc;
    report("rmdir", rmdir(argv[0]));
}

static void do_unlink(int argc, char **argv)
{
    (void)argc;
    report("unlink", unlink(argv[0]));
}

/* mknod PATH MODE MAJOR MINOR */
static void do_mknod(int argc, char **argv)
{
    (void)argc;
    dev_t dev = makedev((unsigned)number(argv[2]), (unsigned)number(argv[3]));
    report("mknod", mknod(argv[0], (mode_t)number(argv[1]), dev));
}

/* reopen PATH FLAGS DIR TEXT: a descriptor opened with FLAGS, opened again for writing as DIR/N */
static void do_reopen(int argc, char **argv)
{
    (void)argc;
    char name[PATH_MAX_BYTES];
    int fd = open_or_got("open", argv[0], (int)number(argv[1]));
    if (fd < 0)
        return;
    snprintf(name, sizeof name, "%s/%d", argv[2], fd);
    int again = open(name, O_WRONLY | O_CLOEXEC);
    if (again < 0)
        got("reopen");
    else
        report("write", write(again, argv[3], strlen(argv[3])));
}

/* tmpfile DIR PATH: a file without a name, then given one */
static void do_tmpfile(int argc, char **argv)
{
    (void)argc;
    char proc[64];
    int fd = open_or_got("tmpfile", argv[0], O_TMPFILE | O_RDWR);
    if (fd < 0)
        return;
    snprintf(proc, sizeof proc, "/proc/self/fd/%d", fd);
    report("linkat", linkat(AT_FDCWD, proc, AT_FDCWD, argv[1], AT_SYMLINK_FOLLOW));
}

/* mapwrite PATH TEXT: tries to turn a private mapping into shared memory of the file */
static void do_mapwrite(int argc, char **argv)
{
    (void)argc;
    int fd = open(argv[0], O_RDWR | O_CLOEXEC);
    if (fd < 0)
        fd = open_or_got("open", argv[0], O_RDONLY);
    if (fd < 0)
        return;
    char *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED) {
        got("mmap");
        return;
    }
    if (report("mprotect", mprotect(page, 4096, PROT_READ | PROT_WRITE)))
        memcpy(page, argv[1], strlen(argv[1]));
}

/* dirtypipe PATH TEXT: pages of the file in a pipe, then written to there */
static void do_dirtypipe(int argc, char **argv)
{
    (void)argc;
    static char filler[4096];
    int ends[2], fd = open_or_got("open", argv[0], O_RDONLY);
    if (fd < 0 || pipe(ends) < 0)
        return;
    for (int i = 0; i < 16; i++)
        if (write(ends[1], filler, sizeof filler) < 0 || read(ends[0], filler, sizeof filler) < 0)
            return;
    off_t at = 0;
    report("splice", splice(fd, &at, ends[1], NULL, 1, 0));
    report("write pipe", write(ends[1], argv[1], strlen(argv[1])));
    struct iovec part = {argv[1], strlen(argv[1])};
    report("vmsplice", vmsplice(ends[1], &part, 1, 0));
}

/* handle PATH: prints the arguments for open_by_handle_at */
static void do_handle(int argc, char **argv)
{
    (void)argc;
    char hex[2 * HANDLE_MAX + 1] = "";
    int mount_id;
    struct file_handle *handle = calloc(1, sizeof *handle + HANDLE_MAX);
    handle->handle_bytes = HANDLE_MAX;
    if (!report("name_to_handle_at", name_to_handle_at(AT_FDCWD, argv[0], handle, &mount_id, 0)))
        return;
    for (unsigned i = 0; i < handle->handle_bytes; i++)
        snprintf(hex + 2 * (size_t)i, 3, "%02x", handle->f_handle[i]);
    printf("handle %d %s\n", handle->handle_type, hex);
    fflush(stdout);
}

/* byhandle MOUNT TYPE HEX */
static void do_byhandle(int argc, char **argv)
{
    (void)argc;
    int mount = open_or_got("open", argv[0], O_RDONLY);
    if (mount < 0)
        return;
    struct file_handle *handle = calloc(1, sizeof *handle + HANDLE_MAX);
    handle->handle_type = (int)number(argv[1]);
    handle->handle_bytes = (unsigned)strlen(argv[2]) / 2;
    for (unsigned i = 0; i < handle->handle_bytes && i < HANDLE_MAX; i++) {
        const char pair[3] = {argv[2][2 * i], argv[2][2 * i + 1], 0};
        handle->f_handle[i] = (unsigned char)strtoul(pair, NULL, 16);
    }
    int fd = open_by_handle_at(mount, handle, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        got("open_by_handle_at");
    else
        read_out("read", fd);
}

static void do_chdir(int argc, char **argv)
{
    (void)argc;
    report("chdir", chdir(argv[0]));
}

const struct attempt probe_fs[] = {
    {"read", 1, do_read},
    {"readat", 3, do_readat},
    {"openat2", 3, do_openat2},
    {"readlink", 1, do_readlink},
    {"stat", 1, do_stat},
    {"write", 2, do_write},
    {"openfor", 2, do_openfor},
    {"create", 1, do_create},
    {"truncate", 1, do_truncate},
    {"chmod", 2, do_chmod},
    {"fchmod", 1, do_fchmod},
    {"setuid-file", 1, do_setuid_file},
    {"chown", 2, do_chown},
    {"utimes", 1, do_utimes},
    {"setxattr", 1, do_setxattr},
    {"setflags", 1, do_setflags},
    {"link", 2, do_link},
    {"linkfd", 2, do_linkfd},
    {"symlink", 2, do_symlink},
    {"rename", 2, do_rename},
    {"mkdir", 1, do_mkdir},
    {"rmdir", 1, do_rmdir},
    {"unlink", 1, do_unlink},
    {"mknod", 4, do_mknod},
    {"reopen", 4, do_reopen},
    {"tmpfile", 2, do_tmpfile},
    {"mapwrite", 2, do_mapwrite},
    {"dirtypipe", 2, do_dirtypipe},
    {"handle", 1, do_handle},
    {"byhandle", 3, do_byhandle},
    {"chdir", 1, do_chdir},
    {0},
};
