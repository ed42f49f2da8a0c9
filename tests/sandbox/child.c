/* The program that the tests run inside the sandbox: static, with one behaviour per name, so that
 * no shell and no library is needed. `sandbox_child NAME ARG…`; the table is at the end. Exit
 * status 0: it behaved as the name says; 1: it did not, and stderr has the reason; 2: usage. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "child.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum {
    THREADS = 8,
    ZOMBIE_TRIES = 200000,
    ALLOC_STEP = 16 << 20,
    STOLEN = 200,
};

int fail(const char *what)
{
    fprintf(stderr, "child: %s: %s\n", what, strerror(errno));
    return 1;
}

long long number(const char *text)
{
    return strtoll(text, NULL, 0);
}

void say(const char *text)
{
    size_t n = strlen(text);
    while (n > 0) {
        ssize_t put = write(1, text, n);
        if (put <= 0)
            _exit(1);
        text += put;
        n -= (size_t)put;
    }
}

static int wait_for_ever(void)
{
    for (;;)
        pause();
    return 0;
}

void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* Exit and signals ------------------------------------------------------------------------------*/

static int do_exit(char **args)
{
    return (int)number(args[0]);
}

static int do_die(char **args)
{
    int signo = (int)number(args[0]);
    signal(signo, SIG_DFL);
    kill(getpid(), signo);
    return wait_for_ever();
}

static const char *again = "again\n";

static void say_again(int signo)
{
    (void)signo;
    say(again);
}

static int do_pause(char **args)
{
    (void)args;
    signal(SIGCONT, say_again);
    say("ready\n");
    return wait_for_ever();
}

/* The same in two processes: the second has its own session, out of a terminal's reach. */
static int do_far(char **args)
{
    int ready[2];
    char byte;
    if (pipe2(ready, O_CLOEXEC) != 0)
        return fail("pipe");
    if (fork() == 0) {
        again = "far again\n";
        if (setsid() < 0 || signal(SIGCONT, say_again) == SIG_ERR || write(ready[1], "r", 1) != 1)
            _exit(1);
        _exit(wait_for_ever());
    }
    return read(ready[0], &byte, 1) == 1 ? do_pause(args) : fail("no second process");
}

static int do_stop(char **args)
{
    (void)args;
    say("ready\n");
    for (;;)
        raise(SIGSTOP);
    return 0;
}

static int do_ignore(char **args)
{
    (void)args;
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    for (int signo = 1; signo < NSIG; signo++)
        signal(signo, SIG_IGN);
    say("ready\n");
    return wait_for_ever();
}

static int do_hush(char **args)
{
    (void)args;
    for (int fd = 0; fd < 3; fd++)
        close(fd);
    return wait_for_ever();
}

/* Files -----------------------------------------------------------------------------------------*/

/* Creates a file, which shows from outside that this ran. */
static int do_mark(char **args)
{
    int fd = open(args[0], O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0)
        return fail(args[0]);
    return write(fd, "ran\n", 4) == 4 ? 0 : fail(args[0]);
}

static int do_show(char **args)
{
    char block[BLOCK];
    int fd = open(args[0], O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, block, sizeof block - 1);
    if (n < 0)
        return fail(args[0]);
    block[n] = 0;
    say(block);
    return 0;
}

static int do_cwd(char **args)
{
    (void)args;
    char path[BLOCK];
    if (!getcwd(path, sizeof path))
        return fail("getcwd");
    say(path);
    return 0;
}

int report(const char *what, long long done, int errnum)
{
    printf("%s %lld %s\n", what, done, strerrorname_np(errnum));
    return 0;
}

/* Writes up to a maximum, and prints how much was written and why no more. */
static int do_fill(char **args)
{
    static char block[BLOCK];
    long long max = number(args[1]), done = 0;
    memset(block, 'x', sizeof block);
    signal(SIGXFSZ, SIG_IGN);
    int fd = open(args[0], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return fail(args[0]);
    while (done < max) {
        ssize_t n = write(fd, block, sizeof block);
        if (n < 0)
            break;
        done += n;
    }
    return report("filled", done, done < max ? errno : 0);
}

static int do_sparse(char **args)
{
    long long size = number(args[1]);
    signal(SIGXFSZ, SIG_IGN);
    int fd = open(args[0], O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0)
        return fail(args[0]);
    if (ftruncate(fd, size) != 0)
        report("ftruncate", 0, errno);
    else
        report("ftruncate", size, 0);
    ssize_t n = pwrite(fd, "x", 1, size - 1);
    return report("pwrite", n, n == 1 ? 0 : errno);
}

static int do_files(char **args)
{
    long long max = number(args[0]), n = 0;
    while (n < max && open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0)
        n++;
    return report("opened", n, n < max ? errno : 0);
}

/* Output ----------------------------------------------------------------------------------------*/

int put_bytes(const char *block, size_t block_size, long long max)
{
    for (long long done = 0; max < 0 || done < max;) {
        size_t part = block_size;
        if (max >= 0 && (long long)part > max - done)
            part = (size_t)(max - done);
        ssize_t n = write(1, block, part);
        if (n < 0)
            return errno == EPIPE ? 0 : fail("write");
        done += n;
    }
    return 0;
}

static int do_flood(char **args)
{
    (void)args;
    static char block[BLOCK];
    for (size_t i = 0; i < sizeof block; i++)
        block[i] = "y\n"[i % 2];
    return put_bytes(block, sizeof block, -1);
}

static int do_line(char **args)
{
    static char block[BLOCK];
    memset(block, 'a', sizeof block);
    return put_bytes(block, sizeof block, number(args[0]));
}

/* Writes this many bytes, then blocks forever. */
static int do_burst(char **args)
{
    return do_line(args) == 0 ? wait_for_ever() : 1;
}

/* Reads its own output back from its pipe, in a second process that waits for it: a reader that was
 * told that the pipe is readable may find nothing. Reports the end of each round on stderr, and
 * continues when it is told to. */
static int do_steal(char **args)
{
    char byte = 'x';
    int back = open("/proc/self/fd/1", O_RDONLY | O_CLOEXEC), waiting = 0;
    if (back < 0)
        return fail("open");
    if (fork() == 0)
        for (;;)
            if (read(back, &byte, 1) != 1)
                _exit(1);
    for (long long round = number(args[0]); round > 0; round--) {
        for (int i = 0; i < STOLEN; i++) {
            if (write(1, &byte, 1) != 1)
                return fail("write");
            while (ioctl(back, FIONREAD, &waiting) == 0 && waiting > 0)
                sched_yield();
        }
        if (write(2, "o", 1) != 1 || read(0, &byte, 1) != 1)
            return fail("no answer");
    }
    return 0;
}

static int do_binary(char **args)
{
    static char block[BLOCK];
    for (size_t i = 0; i < sizeof block; i++)
        block[i] = (char)(i * 7 + i / 256);
    return put_bytes(block, sizeof block, number(args[0]));
}

static int do_print(char **args)
{
    char out[BLOCK];
    size_t n = 0;
    for (const char *p = args[0]; *p && n + 1 < sizeof out; p++) {
        if (p[0] == '%' && p[1] && p[2]) {
            char hex[3] = {p[1], p[2], 0};
            out[n++] = (char)strtol(hex, NULL, 16);
            p += 2;
        } else {
            out[n++] = *p;
        }
    }
    return write(1, out, n) == (ssize_t)n ? 0 : fail("write");
}

static int do_args(char **args)
{
    uint64_t hash = 14695981039346656037U;
    size_t count = 0, bytes = 0;
    for (; args[count]; count++)
        for (const char *p = args[count]; *p; p++, bytes++)
            hash = (hash ^ (uint8_t)*p) * 1099511628211U;
    printf("%zu %zu %016llx\n", count, bytes, (unsigned long long)hash);
    return 0;
}

/* Copies stdin to stdout unchanged. */
static int do_copy(char **args)
{
    (void)args;
    static char block[BLOCK];
    ssize_t n;
    while ((n = read(0, block, sizeof block)) > 0)
        if (put_bytes(block, (size_t)n, n) != 0)
            return 1;
    return n == 0 ? 0 : fail("read");
}

/* Processes -------------------------------------------------------------------------------------*/

/* Holds a lock on a file for as long as it lives: a process outside that can take it knows that
 * this one has ended. Waits for the lock, since a test may be trying it just now. */
static int lock(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT, 0644);
    if (fd < 0 || flock(fd, LOCK_EX) != 0)
        return fail(path);
    return 0;
}

static int do_lock(char **args)
{
    if (lock(args[0]) != 0)
        return 1;
    say("ready\n");
    return wait_for_ever();
}

/* Calls setsid() twice and ignores the signals of a terminal; the first process ends when the
 * daemon has its lock. */
static int do_daemon(char **args)
{
    int ready[2];
    if (pipe2(ready, O_CLOEXEC) != 0)
        return fail("pipe");
    if (fork() == 0) {
        setsid();
        if (fork() != 0)
            _exit(0);
        setsid();
        if (fork() != 0)
            _exit(0);
        signal(SIGHUP, SIG_IGN);
        signal(SIGTERM, SIG_IGN);
        for (int fd = 0; fd < 3; fd++)
            close(fd);
        if (lock(args[0]) != 0)
            _exit(1);
        if (write(ready[1], "r", 1) != 1)
            _exit(1);
        _exit(wait_for_ever());
    }
    char byte;
    close(ready[1]);
    return read(ready[0], &byte, 1) == 1 ? 0 : fail("the daemon did not start");
}

/* The child exits while its own child still holds stdin, stdout and stderr. */
static int do_hold(char **args)
{
    int ready[2];
    if (pipe2(ready, O_CLOEXEC) != 0)
        return fail("pipe");
    if (fork() == 0) {
        signal(SIGHUP, SIG_IGN);
        if (lock(args[0]) != 0 || write(ready[1], "r", 1) != 1)
            _exit(1);
        _exit(wait_for_ever());
    }
    char byte;
    if (read(ready[0], &byte, 1) != 1)
        return fail("no second process");
    say("done\n");
    return 0;
}

static int do_forks(char **args)
{
    long long max = number(args[0]), n = 0;
    for (; n < max; n++) {
        pid_t pid = fork();
        if (pid < 0)
            break;
        if (pid == 0)
            _exit(wait_for_ever());
    }
    return report("forked", n, n < max ? errno : 0);
}

static int do_burgeon(char **args)
{
    for (long long left = number(args[0]); left > 0; left--) {
        if (fork() == 0)
            _exit(wait_for_ever());
        say(".");
    }
    return wait_for_ever();
}

static int do_bomb(char **args)
{
    if (lock(args[0]) != 0)
        return 1;
    say("ready\n");
    for (;;)
        if (fork() < 0)
            nap();
}

/* Orphans that exit at once: pid 1 inherits them all, and must reap them. */
static int do_zombies(char **args)
{
    long long max = number(args[0]), done = 0;
    for (long long tries = 0; done < max && tries < ZOMBIE_TRIES; tries++) {
        pid_t pid = fork();
        if (pid < 0) {
            nap();
            continue;
        }
        if (pid == 0) {
            pid_t orphan = fork();
            _exit(orphan < 0);
        }
        int status;
        if (waitpid(pid, &status, 0) == pid && status == 0)
            done++;
        else
            nap();
    }
    return report("orphans", done, 0);
}

/* Makes orphans for ever. */
static void flood_orphans(void)
{
    for (;;) {
        pid_t pid = vfork();
        if (pid == 0) {
            pid_t orphan = vfork();
            _exit(orphan < 0);
        }
        if (pid > 0)
            waitpid(pid, NULL, 0);
    }
}

/* `swarm SLEEPERS FLOODERS`: children of pid 1 in other sessions that ignore SIGTERM. */
static int do_swarm(char **args)
{
    long long sleepers = number(args[0]), all = sleepers + number(args[1]);
    int status;
    pid_t parent = fork();
    if (parent != 0) {
        if (parent < 0 || waitpid(parent, &status, 0) != parent || status != 0)
            return fail("no swarm");
        say("ready\n");
        return wait_for_ever();
    }
    signal(SIGTERM, SIG_IGN);
    for (long long i = 0; i < all; i++) {
        pid_t pid = fork();
        if (pid < 0)
            _exit(1);
        if (pid > 0)
            continue;
        setsid();
        if (i >= sleepers)
            flood_orphans();
        _exit(wait_for_ever());
    }
    _exit(0);
}

/* Many processes at once, again and again: `generations ROUNDS WIDTH` prints the smallest number
 * that there were. */
static int do_generations(char **args)
{
    long long rounds = number(args[0]), width = number(args[1]), least = width;
    int errnum = 0;
    for (long long round = 0; round < rounds; round++) {
        int gate[2];
        if (pipe2(gate, O_CLOEXEC) != 0)
            return fail("pipe");
        long long n = 0;
        for (pid_t pid; n < width && (pid = fork()) != -1; n++) {
            if (pid == 0) {
                char byte;
                close(gate[1]);
                _exit(read(gate[0], &byte, 1) != 0);
            }
        }
        if (n < least) {
            least = n;
            errnum = errno;
        }
        close(gate[0]);
        close(gate[1]);
        while (wait(NULL) > 0)
            ;
    }
    return report("at least", least, errnum);
}

static void *thread_main(void *arg)
{
    return (char *)arg + 1;
}

static int do_threads(char **args)
{
    (void)args;
    static char memory[THREADS + 1];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        if ((errno = pthread_create(&threads[i], NULL, thread_main, memory + i)) != 0)
            return fail("pthread_create");
    for (int i = 0; i < THREADS; i++) {
        void *result;
        if (pthread_join(threads[i], &result) != 0 || result != memory + i + 1)
            return fail("pthread_join");
    }
    say("threads\n");
    return 0;
}

/* Memory ----------------------------------------------------------------------------------------*/

/* Maps much, touches a part of it: the result depends on how memory is limited. The mapping is not
 * reserved, so that outside it also works on a small machine. */
static int do_alloc(char **args)
{
    long long map = number(args[0]), touch = number(args[1]);
    char *p = mmap(NULL, (size_t)map, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return report("mapped", 0, errno);
    for (long long done = 0; done < touch; done += ALLOC_STEP) {
        memset(p + done, 1, ALLOC_STEP);
        printf("touched %d\n", ALLOC_STEP);
        fflush(stdout);
    }
    return report("allocated", touch, 0);
}

/* The same in several processes at once, none of which has much: private memory, or with a third
 * argument shared. */
static int do_share(char **args)
{
    long long n = number(args[0]);
    int flags = (args[2] ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS;
    for (long long i = 0; i < n; i++) {
        pid_t pid = fork();
        if (pid < 0)
            return fail("fork");
        if (pid == 0) {
            char *p = mmap(NULL, (size_t)number(args[1]), PROT_READ | PROT_WRITE, flags, -1, 0);
            if (p == MAP_FAILED)
                _exit(1);
            memset(p, 1, (size_t)number(args[1]));
            say("share\n");
            _exit(wait_for_ever());
        }
    }
    int status;
    return wait(&status) > 0 ? report("lost", status, 0) : fail("wait");
}

static int do_shm(char **args)
{
    (void)args;
    int fd = shm_open("/cordon-test", O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd < 0 || ftruncate(fd, 4096) != 0)
        return fail("shm_open");
    char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED)
        return fail("mmap");
    pid_t pid = fork();
    if (pid == 0) {
        p[7] = 'x';
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    if (p[7] != 'x' || shm_unlink("/cordon-test") != 0)
        return fail("shared memory");
    say("shm\n");
    return 0;
}

/* Network ---------------------------------------------------------------------------------------*/

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

static socklen_t loopback(int family, union address *ret)
{
    *ret = (union address){.any.sa_family = (sa_family_t)family};
    if (family == AF_INET) {
        ret->v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        return sizeof ret->v4;
    }
    ret->v6.sin6_addr = in6addr_loopback;
    return sizeof ret->v6;
}

/* A server and a client on the private loopback: `loopback 4|6 tcp|udp`. */
static int do_loopback(char **args)
{
    bool tcp = strcmp(args[1], "tcp") == 0;
    int type = tcp ? SOCK_STREAM : SOCK_DGRAM;
    union address address;
    int family = args[0][0] == '4' ? AF_INET : AF_INET6;
    socklen_t n = loopback(family, &address);
    int server = socket(family, type, 0);
    if (server < 0 || bind(server, &address.any, n) != 0 || (tcp && listen(server, 1) != 0))
        return fail("server");
    if (getsockname(server, &address.any, &n) != 0)
        return fail("getsockname");
    if (fork() == 0) {
        int client = socket(family, type, 0);
        if (client < 0 || connect(client, &address.any, n) != 0)
            _exit(fail("client"));
        _exit(write(client, "hello\n", 6) == 6 ? 0 : fail("write"));
    }
    alarm(20);
    int peer = tcp ? accept(server, NULL, NULL) : server;
    char got[8] = "";
    if (peer < 0 || read(peer, got, 7) <= 0)
        return fail("read");
    say(got);
    return 0;
}

/* Terminal --------------------------------------------------------------------------------------*/

static volatile sig_atomic_t caught[NSIG];

static void catch (int signo)
{
    caught[signo]++;
}

static void say_size(const char *word)
{
    struct winsize size = {0};
    char line[64];
    if (ioctl(0, TIOCGWINSZ, &size) != 0)
        ioctl(1, TIOCGWINSZ, &size);
    snprintf(line, sizeof line, "%s %dx%d\n", word, size.ws_row, size.ws_col);
    say(line);
}

static bool handle_signals(void)
{
    static const int kept[] = {SIGINT, SIGWINCH, SIGCONT, SIGQUIT, SIGTERM};
    struct sigaction action = {.sa_handler = catch};
    sigset_t blocked;
    sigemptyset(&blocked);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        sigaddset(&blocked, kept[i]);
        if (sigaction(kept[i], &action, NULL) != 0)
            return false;
    }
    return sigprocmask(SIG_BLOCK, &blocked, NULL) == 0;
}

/* Prints its size, then every signal and every line that it gets, until the line is "quit". */
static int do_listen(char **args)
{
    (void)args;
    char line[256], word[300];
    if (!handle_signals())
        return fail("sigaction");
    say_size("size");
    for (;;) {
        /* Signals are delivered only while we wait, so that none is missed. */
        struct pollfd input = {.fd = 0, .events = POLLIN};
        sigset_t none;
        sigemptyset(&none);
        bool ready = ppoll(&input, 1, NULL, &none) > 0;
        for (int signo = 1; signo < NSIG; signo++) {
            while (caught[signo] > 0) {
                caught[signo]--;
                snprintf(word, sizeof word, "got %s", sigabbrev_np(signo));
                say_size(word);
            }
        }
        if (!ready)
            continue;
        ssize_t n = read(0, line, sizeof line - 1);
        if (n <= 0)
            return n == 0 ? 0 : fail("read");
        line[n] = 0;
        line[strcspn(line, "\r\n")] = 0;
        if (strcmp(line, "quit") == 0)
            return 0;
        snprintf(word, sizeof word, "line %s\n", line);
        say(word);
    }
}

/* Puts the terminal into raw mode and prints each byte; `q` ends it cleanly. */
static int do_raw(char **args)
{
    (void)args;
    struct termios old, raw;
    if (tcgetattr(0, &old) != 0)
        return fail("tcgetattr");
    raw = old;
    cfmakeraw(&raw);
    if (tcsetattr(0, TCSANOW, &raw) != 0)
        return fail("tcsetattr");
    say("ready\r\n");
    for (;;) {
        unsigned char byte;
        char word[16];
        if (read(0, &byte, 1) != 1)
            return fail("read");
        if (byte == 'q')
            return tcsetattr(0, TCSANOW, &old) == 0 ? 0 : fail("tcsetattr");
        snprintf(word, sizeof word, "<%02x>\r\n", byte);
        say(word);
    }
}

static int do_tty(char **args)
{
    (void)args;
    const char *name = ttyname(0);
    int fd = name ? open(name, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0 || !isatty(fd) || open("/dev/tty", O_RDWR | O_CLOEXEC) < 0)
        return fail("ttyname");
    say(name);
    say("\n");
    return 0;
}

static const struct {
    const char *name;
    int args;
    int (*run)(char **args);
} behaviours[] = {
    {"alloc", 2, do_alloc},
    {"args", 0, do_args},
    {"binary", 1, do_binary},
    {"bomb", 1, do_bomb},
    {"burgeon", 1, do_burgeon},
    {"burst", 1, do_burst},
    {"copy", 0, do_copy},
    {"cwd", 0, do_cwd},
    {"daemon", 1, do_daemon},
    {"die", 1, do_die},
    {"exit", 1, do_exit},
    {"far", 0, do_far},
    {"files", 1, do_files},
    {"fill", 2, do_fill},
    {"flood", 0, do_flood},
    {"forks", 1, do_forks},
    {"generations", 2, do_generations},
    {"hold", 1, do_hold},
    {"hush", 0, do_hush},
    {"ignore", 0, do_ignore},
    {"line", 1, do_line},
    {"lines", 1, do_lines},
    {"listen", 0, do_listen},
    {"lock", 1, do_lock},
    {"loopback", 2, do_loopback},
    {"mark", 1, do_mark},
    {"namespace", 0, do_namespace},
    {"pause", 0, do_pause},
    {"print", 1, do_print},
    {"raw", 0, do_raw},
    {"reopen", 0, do_reopen},
    {"resize", 0, do_resize},
    {"share", 2, do_share},
    {"shm", 0, do_shm},
    {"show", 1, do_show},
    {"sparse", 2, do_sparse},
    {"steal", 1, do_steal},
    {"stop", 0, do_stop},
    {"swarm", 2, do_swarm},
    {"threads", 0, do_threads},
    {"tty", 0, do_tty},
    {"without", 2, do_without},
    {"zombies", 1, do_zombies},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof behaviours / sizeof *behaviours; i++)
        if (strcmp(behaviours[i].name, argv[1]) == 0 && argc - 2 >= behaviours[i].args)
            return behaviours[i].run(argv + 2);
    fprintf(stderr, "usage: sandbox_child NAME ARG…\n");
    return 2;
}
