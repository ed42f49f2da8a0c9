/* Trees of files for tests. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tree.h"

#include "base/buf.h"
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>

enum {
    DESCRIBED_MAX = 1 << 20,
};

void tree_file(const char *path, const char *content, mode_t mode)
{
    test_write(path, content);
    BUG_ON(chmod(path, mode) != 0);
}

bool tree_set_xattr(const char *path, const char *name, const char *value)
{
    if (lsetxattr(path, name, value, strlen(value), 0) == 0)
        return true;
    BUG_ON(errno != ENOTSUP);
    return false;
}

static void describe_xattrs(struct buf *b, const char *path)
{
    char names[1024], value[256];
    ssize_t n = llistxattr(path, names, sizeof(names));
    for (const char *name = names; name < names + MAX(n, 0); name += strlen(name) + 1) {
        ssize_t m = lgetxattr(path, name, value, sizeof(value));
        if (m >= 0 && strncmp(name, "user.", 5) == 0)
            buf_printf(b, " %s=%.*s", name, (int)m, value);
    }
}

static void describe_dir(struct buf *b, const char *dir, size_t root_n)
{
    struct dirent **list;
    int n = scandir(dir, &list, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char path[4096];
        struct stat st;
        snprintf(path, sizeof(path), "%s/%s", dir, list[i]->d_name);
        bool real = strcmp(list[i]->d_name, ".") != 0 && strcmp(list[i]->d_name, "..") != 0;
        free(list[i]);
        if (!real || lstat(path, &st) != 0)
            continue;
        buf_printf(b, "%s %06o", path + root_n + 1, (unsigned)st.st_mode);
        describe_xattrs(b, path);
        AUTO_FREE char *content = S_ISREG(st.st_mode) ? test_read(path) : NULL;
        buf_printf(b, " [%s]\n", content ? content : "");
        if (S_ISDIR(st.st_mode))
            describe_dir(b, path, root_n);
    }
    if (n >= 0)
        free(list);
}

char *tree_describe(const char *root)
{
    AUTO_BUF struct buf b = BUF_INIT(DESCRIBED_MAX);
    buf_add_z(&b, "");
    describe_dir(&b, root, strlen(root));
    BUG_ON(!buf_ok(&b));
    return buf_take(&b);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

void tree_remove(const char *root)
{
    nftw(root, remove_entry, 32, FTW_PHYS | FTW_DEPTH);
}

int tree_open(const char *root)
{
    int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    BUG_ON(fd < 0);
    return fd;
}

int child_run(child_fn act, void *arg)
{
    int status;
    pid_t pid = fork();
    BUG_ON(pid < 0);
    if (pid == 0)
        _exit(act(arg));
    while (waitpid(pid, &status, 0) < 0)
        BUG_ON(errno != EINTR);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool write_to(const char *path, const char *text)
{
    AUTO_FD int fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

bool child_private_mounts(void)
{
    char map[2][64];
    bool user = geteuid() != 0;
    snprintf(map[0], sizeof(map[0]), "0 %u 1", (unsigned)geteuid());
    snprintf(map[1], sizeof(map[1]), "0 %u 1", (unsigned)getegid());
    if (unshare(CLONE_NEWNS | (user ? CLONE_NEWUSER : 0)) != 0)
        return false;
    if (user &&
        (!write_to("/proc/self/setgroups", "deny") || !write_to("/proc/self/uid_map", map[0]) ||
            !write_to("/proc/self/gid_map", map[1])))
        return false;
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

static bool install(struct sock_filter *code, size_t n)
{
    struct sock_fprog program = {.len = (unsigned short)n, .filter = code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

bool child_without_rename_flags(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_renameat2, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[4])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    return install(code, ARRAY_LEN(code));
}

bool child_without_unnamed_files(int errnum)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_TMPFILE & ~O_DIRECTORY, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)errnum),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    return install(code, ARRAY_LEN(code));
}

bool child_without_call(long number, int errnum)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)errnum),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    return install(code, ARRAY_LEN(code));
}
