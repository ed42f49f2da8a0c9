/* Attempts on other processes: signals, tracing, memory, descriptors, limits. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "probe.h"

#include <linux/kcmp.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>

enum {
    IOPRIO_CLASS_IDLE_VALUE = 3 << 13,
    FDS_MAX = 1024,
    VM_BYTES = 4096
};

static pid_t pid_of(const char *text)
{
    return (pid_t)strtol(text, NULL, 10);
}

/* kill PID SIGNAL */
static void do_kill(int argc, char **argv)
{
    (void)argc;
    report("kill", kill(pid_of(argv[0]), (int)number(argv[1])));
}

static void do_tgkill(int argc, char **argv)
{
    (void)argc;
    pid_t pid = pid_of(argv[0]);
    report("tgkill", syscall(SYS_tgkill, pid, pid, number(argv[1])));
    report("tkill", syscall(SYS_tkill, pid, number(argv[1])));
}

static void do_sigqueue(int argc, char **argv)
{
    (void)argc;
    siginfo_t info = {.si_signo = (int)number(argv[1]), .si_code = SI_QUEUE};
    report("sigqueue", syscall(SYS_rt_sigqueueinfo, pid_of(argv[0]), info.si_signo, &info));
}

/* pidfdkill PID SIGNAL: by a pidfd, and by a directory of /proc in place of one */
static void do_pidfdkill(int argc, char **argv)
{
    (void)argc;
    char name[64];
    int fd = (int)syscall(SYS_pidfd_open, pid_of(argv[0]), 0);
    if (fd < 0)
        got("pidfd_open");
    else
        report("pidfd_send_signal", syscall(SYS_pidfd_send_signal, fd, number(argv[1]), NULL, 0));
    snprintf(name, sizeof name, "/proc/%d", pid_of(argv[0]));
    fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        got("open /proc");
    else
        report("pidfd_send_signal", syscall(SYS_pidfd_send_signal, fd, number(argv[1]), NULL, 0));
}

/* setown PID SIGNAL: lets the kernel send the signal when a pipe becomes readable */
static void do_setown(int argc, char **argv)
{
    (void)argc;
    int ends[2];
    if (pipe(ends) < 0)
        return;
    if (!report("setown", fcntl(ends[0], F_SETOWN, pid_of(argv[0]))))
        return;
    report("setsig", fcntl(ends[0], F_SETSIG, number(argv[1])));
    report("async", fcntl(ends[0], F_SETFL, O_ASYNC));
    report("write", write(ends[1], "x", 1));
}

/* attach PID: seizes, then attaches */
static void do_attach(int argc, char **argv)
{
    (void)argc;
    pid_t pid = pid_of(argv[0]);
    if (report("seize", ptrace(PTRACE_SEIZE, pid, NULL, NULL)))
        return;
    if (report("attach", ptrace(PTRACE_ATTACH, pid, NULL, NULL))) {
        waitpid(pid, NULL, __WALL);
        ptrace(PTRACE_DETACH, pid, NULL, NULL);
    }
}

/* vmread PID ADDRESS */
static void do_vmread(int argc, char **argv)
{
    (void)argc;
    static char bytes[VM_BYTES];
    struct iovec here = {bytes, 64}, there = {(void *)number(argv[1]), 64};
    ssize_t n = process_vm_readv(pid_of(argv[0]), &here, 1, &there, 1, 0);
    if (report("process_vm_readv", n))
        data(bytes, (size_t)n);
}

/* vmwrite PID ADDRESS TEXT */
static void do_vmwrite(int argc, char **argv)
{
    (void)argc;
    struct iovec here = {argv[2], strlen(argv[2])};
    struct iovec there = {(void *)number(argv[1]), here.iov_len};
    report("process_vm_writev", process_vm_writev(pid_of(argv[0]), &here, 1, &there, 1, 0));
}

/* procmem PID ADDRESS: the same through /proc */
static void do_procmem(int argc, char **argv)
{
    (void)argc;
    static char bytes[VM_BYTES];
    char name[64];
    snprintf(name, sizeof name, "/proc/%d/mem", pid_of(argv[0]));
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        got("open mem");
        return;
    }
    did("open mem");
    ssize_t n = pread(fd, bytes, 64, (off_t)number(argv[1]));
    if (report("pread", n))
        data(bytes, (size_t)n);
}

/* getfd PID: tries to take every descriptor of the process */
static void do_getfd(int argc, char **argv)
{
    (void)argc;
    int pidfd = (int)syscall(SYS_pidfd_open, pid_of(argv[0]), 0);
    if (pidfd < 0) {
        got("pidfd_open");
        return;
    }
    for (int i = 0; i < 32; i++) {
        int fd = (int)syscall(SYS_pidfd_getfd, pidfd, i, 0);
        if (fd < 0) {
            if (i == 0)
                got("pidfd_getfd");
            continue;
        }
        did("pidfd_getfd %d", i);
        static char bytes[VM_BYTES];
        ssize_t n = pread(fd, bytes, sizeof bytes, 0);
        if (n > 0)
            data(bytes, (size_t)n);
        close(fd);
    }
}

static void do_prlimit(int argc, char **argv)
{
    (void)argc;
    const struct rlimit limit = {77, 77};
    report("prlimit", prlimit(pid_of(argv[0]), RLIMIT_NOFILE, &limit, NULL));
}

static void do_affinity(int argc, char **argv)
{
    (void)argc;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(0, &set);
    report("sched_setaffinity", sched_setaffinity(pid_of(argv[0]), sizeof set, &set));
}

/* nice WHICH WHO */
static void do_nice(int argc, char **argv)
{
    (void)argc;
    report(
        "setpriority", setpriority((__priority_which_t)number(argv[0]), (id_t)number(argv[1]), 7));
}

/* ioprio WHICH WHO */
static void do_ioprio(int argc, char **argv)
{
    (void)argc;
    report("ioprio_set",
        syscall(SYS_ioprio_set, number(argv[0]), pid_of(argv[1]), IOPRIO_CLASS_IDLE_VALUE));
}

/* join: joins the parent's process group, and tries calls on that group */
static void do_join(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    if (!report("setpgid", setpgid(0, getpgid(getppid()))))
        return;
    report("setpriority", setpriority(PRIO_PGRP, 0, 7));
    report("ioprio_set", syscall(SYS_ioprio_set, 2, 0, IOPRIO_CLASS_IDLE_VALUE));
}

static void do_scheduler(int argc, char **argv)
{
    (void)argc;
    const struct sched_param param = {0};
    report("sched_setscheduler", sched_setscheduler(pid_of(argv[0]), SCHED_BATCH, &param));
}

static void do_kcmp(int argc, char **argv)
{
    (void)argc;
    pid_t pid = pid_of(argv[0]);
    report("kcmp", syscall(SYS_kcmp, pid, pid, KCMP_VM, 0, 0));
}

/* about PID: calls that reveal something about a process, or that it exists */
static void do_about(int argc, char **argv)
{
    (void)argc;
    pid_t pid = pid_of(argv[0]);
    cpu_set_t set;
    void *head;
    size_t size;
    report("getpgid", getpgid(pid));
    report("getsid", getsid(pid));
    report("sched_getscheduler", sched_getscheduler(pid));
    report("sched_getaffinity", sched_getaffinity(pid, sizeof set, &set));
    report("get_robust_list", syscall(SYS_get_robust_list, pid, &head, &size));
    report("kill 0", kill(pid, 0));
    report("pidfd_open", syscall(SYS_pidfd_open, pid, 0));
    report("clock", syscall(SYS_clock_gettime, ~(unsigned)pid << 3 | 2, &(struct timespec){0}));
}

/* pages PID ADDRESS: moves its memory to other nodes, and marks it as not in use */
static void do_pages(int argc, char **argv)
{
    (void)argc;
    unsigned long from = 1, to = 1;
    pid_t pid = pid_of(argv[0]);
    report("migrate_pages", syscall(SYS_migrate_pages, pid, 64, &from, &to));
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    struct iovec part = {(void *)number(argv[1]), VM_BYTES};
    report("process_madvise", syscall(SYS_process_madvise, pidfd, &part, 1, 20, 0));
}

/* perf PID */
static void do_perf(int argc, char **argv)
{
    (void)argc;
    uint32_t attr[32] = {1, sizeof attr};
    report("perf_event_open", syscall(SYS_perf_event_open, attr, pid_of(argv[0]), -1, -1, 0));
}

static void scan_fd(int fd, int argc, char **argv)
{
    static char bytes[VM_BYTES];
    struct stat st;
    if (fstat(fd, &st) < 0)
        return;
    did("fstat %d mode=%o", fd, st.st_mode);
    ssize_t n = pread(fd, bytes, sizeof bytes, 0);
    if (n > 0)
        data(bytes, (size_t)n);
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    int again = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (again >= 0) {
        n = pread(again, bytes, sizeof bytes, 0);
        if (n > 0)
            data(bytes, (size_t)n);
        close(again);
    }
    for (int i = 0; i < argc; i++) {
        int below = openat(fd, argv[i], O_RDONLY | O_CLOEXEC);
        if (below < 0)
            continue;
        read_out("read below", below);
        close(below);
    }
}

/* fdscan NAME...: the contents of every open descriptor, also reopened and as a directory of
 * NAMEs */
static void do_fdscan(int argc, char **argv)
{
    for (int fd = 0; fd < FDS_MAX; fd++)
        scan_fd(fd, argc, argv);
}

/* fdspoil FD TEXT: writes through the descriptor in other ways */
static void do_fdspoil(int argc, char **argv)
{
    (void)argc;
    char name[64];
    int fd = (int)number(argv[0]);
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    int again = open(name, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (again < 0)
        got("reopen");
    else
        report("pwrite", pwrite(again, argv[1], strlen(argv[1]), 0));
    report("ftruncate", ftruncate(fd, 0));
    report("fchmod", fchmod(fd, 0777));
    report("setfl", fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK));
}

/* die: kills everything that can be killed */
static void do_die(int argc, char **argv)
{
    (void)argc, (void)argv;
    kill(-1, SIGKILL);
}

const struct attempt probe_proc[] = {
    {"kill", 2, do_kill},
    {"tgkill", 2, do_tgkill},
    {"sigqueue", 2, do_sigqueue},
    {"pidfdkill", 2, do_pidfdkill},
    {"setown", 2, do_setown},
    {"attach", 1, do_attach},
    {"vmread", 2, do_vmread},
    {"vmwrite", 3, do_vmwrite},
    {"procmem", 2, do_procmem},
    {"getfd", 1, do_getfd},
    {"prlimit", 1, do_prlimit},
    {"affinity", 1, do_affinity},
    {"nice", 2, do_nice},
    {"ioprio", 2, do_ioprio},
    {"join", 0, do_join},
    {"scheduler", 1, do_scheduler},
    {"kcmp", 1, do_kcmp},
    {"about", 1, do_about},
    {"pages", 2, do_pages},
    {"perf", 1, do_perf},
    {"fdscan", 0, do_fdscan},
    {"fdspoil", 2, do_fdspoil},
    {"die", 0, do_die},
    {0},
};
