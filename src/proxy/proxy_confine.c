/* Confinement of the proxy process. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "proxy/proxy_confine.h"

#include "sandbox/landlock.h"
#include "sandbox/plan.h"
#include "sandbox/seccomp.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum {
    FD_FIRST = 3,
    FDS_MAX = 8,
    FD_HIGH = FD_FIRST + FDS_MAX, /* temporarily, above those that are kept */
    FILES_WANTED = 1024,
};

/* Paths of the resolver, its modules and their configuration, on known systems. */
static const char *const readable[] = {"/etc", "/etc/resolv.conf" /* symlink's target */, "/usr",
    "/lib", "/lib64", "/nix/store", "/run/current-system", "/run/systemd", "/run/resolvconf",
    "/run/NetworkManager", "/run/connman", "/run/nscd", "/run/avahi-daemon", "/var/run/nscd",
    "/var/lib/sss", "/var/db", "/mnt/wsl", "/dev/null"};

static void confine_require(bool ok)
{
    if (!ok)
        _exit(1);
}

static void reset_signals(void)
{
    sigset_t none;
    sigemptyset(&none);
    for (int s = 1; s < NSIG; s++)
        signal(s, s == SIGPIPE || s == SIGCHLD ? SIG_IGN : SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

void confine_descriptors(int *const fds[], size_t n)
{
    unsigned next = FD_FIRST;
    BUG_ON(n > FDS_MAX);
    confine_require(prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0);
    reset_signals();
    for (size_t i = 0; i < n; i++)
        if (*fds[i] >= 0)
            confine_require((*fds[i] = fcntl(*fds[i], F_DUPFD_CLOEXEC, FD_HIGH)) >= 0);
    for (size_t i = 0; i < n; i++) {
        if (*fds[i] < 0)
            continue;
        confine_require(dup3(*fds[i], (int)next, O_CLOEXEC) >= 0);
        *fds[i] = (int)next++;
    }
    syscall(SYS_close_range, next, ~0u, 0);
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    confine_require(
        nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 && dup2(nothing, STDOUT_FILENO) >= 0);
    close(nothing);
}

static void drop_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};
    for (unsigned long cap = 0; cap < 64; cap++)
        prctl(PR_CAPBSET_DROP, cap, 0, 0, 0); /* needs CAP_SETPCAP; capset() is enough without it */
    confine_require(syscall(SYS_capset, &header, none) == 0);
}

static void restrict_files(void)
{
    int abi = landlock_abi();
    if (abi == 0)
        return;
    int rules = landlock_create(abi, &(struct landlock_options){0});
    confine_require(rules >= 0);
    for (size_t i = 0; i < ARRAY_LEN(readable); i++) {
        struct stat st;
        AUTO_FD int fd = open(readable[i], O_PATH | O_CLOEXEC);
        if (fd < 0 || fstat(fd, &st) != 0)
            continue;
        confine_require(landlock_allow(rules, abi, fd, PLAN_READ, S_ISDIR(st.st_mode)) == 0);
    }
    confine_require(landlock_restrict(rules) == 0);
    close(rules);
}

static void filter_calls(void)
{
    struct seccomp_filter filter;
    seccomp_compile(&(struct seccomp_options){.inet = true, .unix_domain = true}, &filter);
    struct sock_fprog program = {.len = filter.n, .filter = filter.code};
    confine_require(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0);
}

static void confine_set_limits(void)
{
    const struct rlimit none = {0};
    struct rlimit files;
    confine_require(setrlimit(RLIMIT_CORE, &none) == 0);
    confine_require(getrlimit(RLIMIT_NOFILE, &files) == 0);
    files.rlim_cur = MIN(FILES_WANTED, files.rlim_max);
    confine_require(setrlimit(RLIMIT_NOFILE, &files) == 0);
}

void confine_process(void)
{
    confine_require(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    confine_require(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0);
    confine_set_limits();
    restrict_files();
    drop_capabilities();
    filter_calls();
}
