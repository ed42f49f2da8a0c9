/* Attempts to exceed the limits of a sandbox: each takes as much as it can get, up to a number,
 * prints "held N" and releases it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "probe.h"

#include <linux/aio_abi.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>

enum {
    HELD_MAX = 4096,
    FALLOC_INSERT = 0x20,
    SECTOR = 512,
};

/* The kernel's structure for files of XFS, and of every other file system. */
struct space {
    short type, whence;
    int64_t start, length;
    int32_t sysid;
    uint32_t pid;
    int32_t pad[4];
};

static void held(unsigned long n)
{
    printf("held %lu\n", n);
    fflush(stdout);
}

/* segments BYTES COUNT: SysV shared memory that is attached to no process */
static void do_segments(int argc, char **argv)
{
    (void)argc;
    static int ids[HELD_MAX];
    size_t size = number(argv[0]), want = number(argv[1]), n = 0;
    for (; n < want && n < HELD_MAX; n++) {
        ids[n] = shmget(IPC_PRIVATE, size, IPC_CREAT | 0600);
        char *page = ids[n] < 0 ? (char *)-1 : shmat(ids[n], NULL, 0);
        if (page == (char *)-1) {
            got("shmget");
            break;
        }
        memset(page, 1, size);
        shmdt(page);
    }
    held(n * size);
    while (n)
        shmctl(ids[--n], IPC_RMID, NULL);
}

/* shared BYTES: one shared mapping without a file */
static void do_shared(int argc, char **argv)
{
    (void)argc;
    size_t size = number(argv[0]);
    char *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
        got("mmap");
        held(0);
        return;
    }
    memset(page, 1, size);
    held(size);
}

static unsigned long blocks(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 ? (unsigned long)st.st_blocks * SECTOR : 0;
}

/* space FILE MODE BYTES: disk space by fallocate() */
static void do_space(int argc, char **argv)
{
    (void)argc;
    int fd = open(argv[0], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    signal(SIGXFSZ, SIG_IGN);
    report("write", pwrite(fd, "x", 1, 0));
    report("fallocate", syscall(SYS_fallocate, fd, number(argv[1]), 0, (off_t)number(argv[2])));
    held(blocks(fd));
}

/* spaceioctl FILE REQUEST BYTES: the same by ioctl() */
static void do_spaceioctl(int argc, char **argv)
{
    (void)argc;
    struct space space = {.length = (int64_t)number(argv[2])};
    int fd = open(argv[0], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    report("write", pwrite(fd, "x", 1, 0));
    report("ioctl", ioctl(fd, number(argv[1]), &space));
    held(blocks(fd));
}

/* insert FILE BYTES: a hole that moves the file's end, filled by a mapping */
static void do_insert(int argc, char **argv)
{
    (void)argc;
    size_t size = number(argv[1]);
    static char page[65536];
    int fd = open(argv[0], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    report("write", pwrite(fd, page, sizeof page, 0));
    if (!report("fallocate", syscall(SYS_fallocate, fd, FALLOC_INSERT, 0, (off_t)size))) {
        held(blocks(fd));
        return;
    }
    char *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map != MAP_FAILED) {
        memset(map, 1, size);
        msync(map, size, MS_SYNC);
    }
    fsync(fd);
    held(blocks(fd));
}

/* watchers COUNT: inotify instances */
static void do_watchers(int argc, char **argv)
{
    (void)argc;
    unsigned long n = 0;
    for (; n < number(argv[0]); n++)
        if (inotify_init1(IN_CLOEXEC) < 0) {
            got("inotify_init1");
            break;
        }
    held(n);
}

/* pipes COUNT BYTES: pages in pipes, each made as large as it may be */
static void do_pipes(int argc, char **argv)
{
    (void)argc;
    unsigned long bytes = 0;
    for (unsigned long i = 0; i < number(argv[0]); i++) {
        int ends[2];
        if (pipe(ends) < 0) {
            got("pipe");
            break;
        }
        if (fcntl(ends[0], F_SETPIPE_SZ, number(argv[1])) < 0 && i == 0)
            got("F_SETPIPE_SZ");
        int size = fcntl(ends[0], F_GETPIPE_SZ);
        bytes += size > 0 ? (unsigned long)size : 0;
    }
    held(bytes);
}

/* signals COUNT: pending, of ourselves */
static void do_signals(int argc, char **argv)
{
    (void)argc;
    sigset_t one;
    unsigned long n = 0;
    sigemptyset(&one);
    sigaddset(&one, SIGRTMIN);
    sigprocmask(SIG_BLOCK, &one, NULL);
    for (; n < number(argv[0]); n++)
        if (sigqueue(getpid(), SIGRTMIN, (union sigval){0}) < 0) {
            got("sigqueue");
            break;
        }
    held(n);
}

static unsigned long count_pending(void)
{
    char line[256];
    unsigned long n = 0;
    FILE *f = fopen("/proc/self/status", "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "SigQ: %lu", &n) == 1)
            break;
    if (f)
        fclose(f);
    return n;
}

/* pending PID COUNT: of all processes of the user, after signals to one of them */
static void do_pending(int argc, char **argv)
{
    (void)argc;
    const pid_t pid = (pid_t)number(argv[0]);
    unsigned long before = count_pending(), n = number(argv[1]);
    for (; n > 0; n--)
        for (int sig = SIGRTMIN; sig <= SIGRTMAX; sig += 8)
            if (kill(pid, sig) != 0)
                got("kill");
    n = count_pending();
    held(n > before ? n - before : 0);
}

/* queues COUNT: POSIX queues of the default size, unlinked at once */
static void do_queues(int argc, char **argv)
{
    (void)argc;
    unsigned long n = 0;
    for (; n < number(argv[0]); n++) {
        char name[64];
        snprintf(name, sizeof name, "/probe-%d-%lu", (int)getpid(), n);
        if (mq_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, NULL) < 0) {
            got("mq_open");
            break;
        }
        mq_unlink(name);
    }
    held(n);
}

/* messages COUNT: SysV queues */
static void do_messages(int argc, char **argv)
{
    (void)argc;
    static int ids[HELD_MAX];
    size_t want = number(argv[0]), n = 0;
    for (; n < want && n < HELD_MAX; n++) {
        ids[n] = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
        if (ids[n] < 0) {
            got("msgget");
            break;
        }
    }
    held(n);
    while (n)
        msgctl(ids[--n], IPC_RMID, NULL);
}

/* semaphores EACH COUNT */
static void do_semaphores(int argc, char **argv)
{
    (void)argc;
    static int ids[HELD_MAX];
    size_t each = number(argv[0]), want = number(argv[1]), n = 0;
    for (; n < want && n < HELD_MAX; n++) {
        ids[n] = semget(IPC_PRIVATE, (int)each, IPC_CREAT | 0600);
        if (ids[n] < 0) {
            got("semget");
            break;
        }
    }
    held(n * each);
    while (n)
        semctl(ids[--n], 0, IPC_RMID);
}

/* terminals COUNT */
static void do_terminals(int argc, char **argv)
{
    (void)argc;
    unsigned long n = 0;
    for (; n < number(argv[0]); n++)
        if (open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC) < 0) {
            got("ptmx");
            break;
        }
    held(n);
}

/* contexts EVENTS: for asynchronous I/O, of which the machine has a limited number */
static void do_contexts(int argc, char **argv)
{
    (void)argc;
    aio_context_t context = 0;
    bool ok = report("io_setup", syscall(SYS_io_setup, number(argv[0]), &context));
    held(ok ? number(argv[0]) : 0);
    if (ok)
        syscall(SYS_io_destroy, context);
}

/* corelimit: sets it to 0 in each possible way; prints the resulting limit */
static void do_corelimit(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct rlimit none = {0, 0};
    struct rlimit now, old;
    report("prlimit with the old one", prlimit(0, RLIMIT_CORE, &none, &old));
    report("prlimit of a process", prlimit(getpid(), RLIMIT_CORE, &none, NULL));
    report("setrlimit", syscall(SYS_setrlimit, RLIMIT_CORE, &none));
    report("prlimit", prlimit(0, RLIMIT_CORE, &none, NULL));
    if (getrlimit(RLIMIT_CORE, &now) == 0)
        printf("core %lu %lu\n", (unsigned long)now.rlim_cur, (unsigned long)now.rlim_max);
    fflush(stdout);
}

/* whiteout FROM TO: prints what is left at FROM */
static void do_whiteout(int argc, char **argv)
{
    (void)argc;
    struct stat st;
    report("renameat2", syscall(SYS_renameat2, AT_FDCWD, argv[0], AT_FDCWD, argv[1], 4));
    if (lstat(argv[0], &st) == 0 && S_ISCHR(st.st_mode))
        did("a device");
}

/* bindpair PATH TYPE: a name for one end of a socket pair */
static void do_bindpair(int argc, char **argv)
{
    (void)argc;
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    struct stat st;
    int ends[2];
    snprintf(name.sun_path, sizeof name.sun_path, "%s", argv[0]);
    if (socketpair(AF_UNIX, (int)number(argv[1]), 0, ends) < 0) {
        got("socketpair");
        return;
    }
    if (bind(ends[0], (const struct sockaddr *)&name, sizeof name) < 0)
        got("bind");
    if (lstat(argv[0], &st) == 0 && S_ISSOCK(st.st_mode))
        did("a socket");
}

/* mksocket PATH: the same by mknod() */
static void do_mksocket(int argc, char **argv)
{
    (void)argc;
    report("mknod", mknod(argv[0], S_IFSOCK | 0600, 0));
}

/* watch DIR: whether its use by others is visible */
static void do_watch(int argc, char **argv)
{
    (void)argc;
    int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (fd < 0) {
        got("inotify_init1");
        return;
    }
    report("inotify_add_watch", inotify_add_watch(fd, argv[0], IN_ALL_EVENTS));
}

/* cpulimit PID: sets a limit that kills the process at once */
static void do_cpulimit(int argc, char **argv)
{
    (void)argc;
    const struct rlimit none = {0, 0};
    report("prlimit", prlimit((pid_t)number(argv[0]), RLIMIT_CPU, &none, NULL));
}

/* schedule PID: the two scheduling calls that `scheduler` does not make */
static void do_schedule(int argc, char **argv)
{
    (void)argc;
    const struct sched_param param = {0};
    uint32_t attr[14] = {48, SCHED_BATCH};
    report("sched_setparam", sched_setparam((pid_t)number(argv[0]), &param));
    report("sched_setattr", syscall(SYS_sched_setattr, number(argv[0]), attr, 0));
}

const struct attempt probe_limit[] = {
    {"segments", 2, do_segments},
    {"shared", 1, do_shared},
    {"space", 3, do_space},
    {"spaceioctl", 3, do_spaceioctl},
    {"insert", 2, do_insert},
    {"watchers", 1, do_watchers},
    {"pipes", 2, do_pipes},
    {"signals", 1, do_signals},
    {"pending", 2, do_pending},
    {"queues", 1, do_queues},
    {"messages", 1, do_messages},
    {"semaphores", 2, do_semaphores},
    {"terminals", 1, do_terminals},
    {"contexts", 1, do_contexts},
    {"corelimit", 0, do_corelimit},
    {"whiteout", 2, do_whiteout},
    {"bindpair", 2, do_bindpair},
    {"mksocket", 1, do_mksocket},
    {"watch", 1, do_watch},
    {"cpulimit", 1, do_cpulimit},
    {"schedule", 1, do_schedule},
    {0},
};
