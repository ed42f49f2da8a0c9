/* Attempts on privileges and on the kernel: identities, capabilities, keys, IPC, rare calls, other
 * ways into the kernel. Also the harness's part on the host: `hold`, `host-*`. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/syscall_table.h"
#include "probe.h"

#include <grp.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <mqueue.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/wait.h>

enum {
    ARGS = 6,
    TEXT_MAX = 256,
    X32_BIT = 0x40000000
};

extern char **environ;

/* One argument of `syscall`: a number, @TEXT for its address, %N for N zero bytes, =HEX for bytes
 * with zeros after them. */
static unsigned long syscall_arg(char *text)
{
    if (*text == '=') {
        unsigned char *bytes = calloc(1, TEXT_MAX);
        for (int i = 0; i < TEXT_MAX && text[2 * i + 1]; i++) {
            const char pair[3] = {text[2 * i + 1], text[2 * i + 2], 0};
            bytes[i] = (unsigned char)strtoul(pair, NULL, 16);
        }
        return (unsigned long)bytes;
    }
    if (*text == '@')
        return (unsigned long)(text + 1);
    if (*text == '%')
        return (unsigned long)calloc(1, number(text + 1));
    return number(text);
}

#define CALL(name, number) {#name, number},

/* A name that this processor does not have would prove nothing: the probe aborts. */
static long call_number(const char *text)
{
    static const struct {
        const char *name;
        long number;
    } calls[] = {SYSCALLS_HERE(CALL)};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (!strcmp(calls[i].name, text))
            return calls[i].number;
    fprintf(stderr, "no system call '%s'\n", text);
    exit(2);
}

/* syscall NAME ARG... */
static void do_syscall(int argc, char **argv)
{
    unsigned long args[ARGS] = {0};
    for (int i = 1; i < argc && i <= ARGS; i++)
        args[i - 1] = syscall_arg(argv[i]);
    report("syscall",
        syscall(call_number(argv[0]), args[0], args[1], args[2], args[3], args[4], args[5]));
}

/* ids: our ids and privileges, as the kernel reports them */
static void do_ids(int argc, char **argv)
{
    (void)argc, (void)argv;
    char line[TEXT_MAX];
    printf("ids %d %d %d %d\n", (int)getuid(), (int)geteuid(), (int)getgid(), (int)getegid());
    FILE *f = fopen("/proc/self/status", "re");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, "Cap", 3) || !strncmp(line, "NoNewPrivs", 10) ||
            !strncmp(line, "Seccomp:", 8) || !strncmp(line, "Groups", 6))
            printf("status %s", line);
    fflush(stdout);
}

/* setid UID: every way to another user */
static void do_setid(int argc, char **argv)
{
    (void)argc;
    uid_t id = (uid_t)number(argv[0]);
    report("setgroups", setgroups(0, NULL));
    report("setresgid", setresgid(id, id, id));
    report("setfsuid", syscall(SYS_setfsuid, id) == (long)id ? 0 : -1);
    report("setresuid", setresuid(id, id, id));
    report("setuid", setuid(id));
}

/* capset: all capabilities, by every call that gives some */
static void do_capset(int argc, char **argv)
{
    (void)argc, (void)argv;
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct caps[2] = {{1 << CAP_NET_RAW, 1 << CAP_NET_RAW, 0}};
    report("capset", syscall(SYS_capset, &head, caps));
    report("ambient", prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_RAW, 0, 0));
}

/* prctl OPTION ARG */
static void do_prctl(int argc, char **argv)
{
    (void)argc;
    report("prctl", prctl((int)number(argv[0]), number(argv[1]), 0, 0, 0));
}

static void do_env(int argc, char **argv)
{
    (void)argc, (void)argv;
    for (char **e = environ; *e; e++)
        data(*e, strlen(*e));
    int fd = open("/proc/self/environ", O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        read_out("environ", fd);
}

/* key NAME: reads the caller's key of that name, and adds one of its own */
static void do_key(int argc, char **argv)
{
    (void)argc;
    char text[TEXT_MAX];
    static const int rings[] = {KEY_SPEC_SESSION_KEYRING, KEY_SPEC_USER_KEYRING,
        KEY_SPEC_USER_SESSION_KEYRING, KEY_SPEC_PROCESS_KEYRING, KEY_SPEC_THREAD_KEYRING};
    for (size_t i = 0; i < sizeof rings / sizeof *rings; i++) {
        long key = syscall(SYS_keyctl, KEYCTL_SEARCH, rings[i], "user", argv[0], 0);
        if (key < 0) {
            got("keyctl");
            continue;
        }
        long n = syscall(SYS_keyctl, KEYCTL_READ, key, text, sizeof text);
        if (report("keyctl read", n))
            data(text, (size_t)n);
    }
    report("request_key", syscall(SYS_request_key, "user", argv[0], NULL, 0));
    report("add_key", syscall(SYS_add_key, "user", "probe", "x", 1, KEY_SPEC_PROCESS_KEYRING));
}

/* keyserial SERIAL: reads a key by its number, which needs no keyring */
static void do_keyserial(int argc, char **argv)
{
    (void)argc;
    char text[TEXT_MAX];
    long n = syscall(SYS_keyctl, KEYCTL_READ, number(argv[0]), text, sizeof text);
    if (report("keyctl read", n))
        data(text, (size_t)n);
}

/* host-key NAME VALUE PROGRAM ARG...: runs the program with a session keyring that has the key. An
 * argument SERIAL is replaced by the key's number. */
static void do_host_key(int argc, char **argv)
{
    (void)argc;
    static char serial[32];
    if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0)
        _exit(2);
    long key =
        syscall(SYS_add_key, "user", argv[0], argv[1], strlen(argv[1]), KEY_SPEC_SESSION_KEYRING);
    if (key < 0)
        _exit(2);
    /* Any process with the user id may read it, so that possession does not decide. */
    syscall(SYS_keyctl, KEYCTL_SETPERM, key, 0x3f3f0000);
    snprintf(serial, sizeof serial, "%ld", key);
    for (int i = 3; argv[i]; i++) /* also after "--" */
        if (!strcmp(argv[i], "SERIAL"))
            argv[i] = serial;
    execv(argv[2], argv + 2);
    _exit(2);
}

/* host-ipc KEY NAME TEXT: creates a segment, a queue and a POSIX queue of the host, prints them on
 * one line, and removes them when its input ends. */
static void do_host_ipc(int argc, char **argv)
{
    (void)argc;
    struct {
        long type;
        char text[TEXT_MAX];
    } message = {.type = 1};
    key_t key = (key_t)number(argv[0]);
    int shm = shmget(key, 4096, IPC_CREAT | IPC_EXCL | 0666);
    int queue = msgget(key, IPC_CREAT | IPC_EXCL | 0666);
    int sem = semget(key, 1, IPC_CREAT | IPC_EXCL | 0666);
    struct mq_attr attr = {.mq_maxmsg = 2, .mq_msgsize = TEXT_MAX};
    mqd_t mq = mq_open(argv[1], O_RDWR | O_CREAT | O_EXCL, 0666, &attr);
    char *page = shmat(shm, NULL, 0), byte;
    snprintf(message.text, sizeof message.text, "%s", argv[2]);
    bool ok = shm >= 0 && queue >= 0 && sem >= 0 && mq >= 0 && page != (char *)-1;
    if (ok) {
        snprintf(page, TEXT_MAX, "%s", argv[2]);
        ok = msgsnd(queue, &message, sizeof message.text, 0) == 0 &&
             mq_send(mq, argv[2], strlen(argv[2]), 0) == 0;
    }
    printf("%s %d %d %d\n", ok ? "ready" : "failed", shm, queue, sem);
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    shmctl(shm, IPC_RMID, NULL);
    msgctl(queue, IPC_RMID, NULL);
    semctl(sem, 0, IPC_RMID);
    mq_unlink(argv[1]);
}

/* shm KEY ID: by key and by number */
static void do_shm(int argc, char **argv)
{
    (void)argc;
    int ids[] = {shmget((key_t)number(argv[0]), 0, 0), (int)number(argv[1])};
    for (size_t i = 0; i < 2; i++) {
        const char *page = shmat(ids[i], NULL, SHM_RDONLY);
        if (page == (const char *)-1) {
            got("shmat");
            continue;
        }
        did("shmat");
        data(page, strnlen(page, TEXT_MAX));
    }
}

/* msg KEY ID */
static void do_msg(int argc, char **argv)
{
    (void)argc;
    struct {
        long type;
        char text[TEXT_MAX];
    } message;
    int ids[] = {msgget((key_t)number(argv[0]), 0), (int)number(argv[1])};
    for (size_t i = 0; i < 2; i++) {
        ssize_t n = msgrcv(ids[i], &message, sizeof message.text, 0, IPC_NOWAIT);
        if (report("msgrcv", n))
            data(message.text, (size_t)n);
    }
}

static void do_sem(int argc, char **argv)
{
    (void)argc;
    report("semget", semget((key_t)number(argv[0]), 0, 0));
    report("semctl", semctl((int)number(argv[1]), 0, GETVAL));
}

static void do_mq(int argc, char **argv)
{
    (void)argc;
    char text[TEXT_MAX];
    mqd_t mq = mq_open(argv[0], O_RDWR | O_NONBLOCK);
    if (!report("mq_open", mq))
        return;
    ssize_t n = mq_receive(mq, text, sizeof text, NULL);
    if (report("mq_receive", n))
        data(text, (size_t)n);
}

#ifdef __x86_64__
/* int80 NUMBER ARG: the call of 32-bit programs */
static void do_int80(int argc, char **argv)
{
    (void)argc;
    long result;
    __asm__ volatile("int $0x80"
                     : "=a"(result)
                     : "a"(number(argv[0])), "b"(number(argv[1])), "c"(0), "d"(0), "S"(0), "D"(0)
                     : "memory", "r8", "r9", "r10", "r11");
    did("int80 result=%ld", result);
}

/* x32 NUMBER */
static void do_x32(int argc, char **argv)
{
    (void)argc;
    report("x32", syscall((long)(number(argv[0]) | X32_BIT)));
}
#endif

/* core: dumps a core file in the working directory, if it may */
static void do_core(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    struct rlimit before, now;
    getrlimit(RLIMIT_CORE, &before);
    if (setrlimit(RLIMIT_CORE, &all) < 0)
        got("setrlimit");
    now = (struct rlimit){before.rlim_max, before.rlim_max};
    setrlimit(RLIMIT_CORE, &now);
    /* The filter may pretend that it was set. */
    if (getrlimit(RLIMIT_CORE, &now) == 0 &&
        (now.rlim_cur != before.rlim_cur || now.rlim_max != before.rlim_max))
        did("limit %lu %lu", (unsigned long)now.rlim_cur, (unsigned long)now.rlim_max);
    prctl(PR_SET_DUMPABLE, 1);
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        abort();
    }
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status) && WCOREDUMP(status))
        did("core");
}

/* hold VALUE: echoes its input until end of file; prints the address of its copy of VALUE */
static void do_hold(int argc, char **argv)
{
    (void)argc;
    static char kept[TEXT_MAX];
    char byte;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT, SIG_DFL);
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); /* Yama would stop attempts that must work outside */
    snprintf(kept, sizeof kept, "%s", argv[0]);
    printf("holding 0x%lx\n", (unsigned long)kept);
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0 && write(STDOUT_FILENO, &byte, 1) > 0)
        ;
}

const struct attempt probe_priv[] = {
    {"syscall", 1, do_syscall},
    {"ids", 0, do_ids},
    {"setid", 1, do_setid},
    {"capset", 0, do_capset},
    {"prctl", 2, do_prctl},
    {"env", 0, do_env},
    {"key", 1, do_key},
    {"keyserial", 1, do_keyserial},
    {"host-key", 3, do_host_key},
    {"host-ipc", 3, do_host_ipc},
    {"shm", 2, do_shm},
    {"msg", 2, do_msg},
    {"sem", 2, do_sem},
    {"mq", 1, do_mq},
#ifdef __x86_64__
    {"int80", 2, do_int80},
    {"x32", 1, do_x32},
#endif
    {"core", 0, do_core},
    {"hold", 1, do_hold},
    {0},
};
