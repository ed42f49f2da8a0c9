/* Attempts to start programs that the policy does not allow. A program that starts reports that
 * itself: it prints its arguments, as `say` does. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "probe.h"

#include <sys/mman.h>
#include <sys/wait.h>

enum {
    CODE_ANSWER = 42,
    WAY_MAX = 4096
};

static char *const no_env[] = {NULL};

/* Runs `start` in a child. An exec that fails is reported through a pipe that a successful one
 * closes. */
static void in_child(const char *what, void (*start)(void *), void *context)
{
    int ends[2], code = 0, status = 0;
    if (pipe2(ends, O_CLOEXEC) < 0) {
        got("pipe");
        return;
    }
    pid_t child = fork();
    if (child < 0) {
        got("fork");
        return;
    }
    if (child == 0) {
        start(context);
        code = errno;
        _exit(write(ends[1], &code, sizeof code) == sizeof code ? 126 : 127);
    }
    close(ends[1]);
    bool failed = read(ends[0], &code, sizeof code) == sizeof code;
    close(ends[0]);
    waitpid(child, &status, 0);
    errno = code;
    if (failed)
        got(what);
    else
        did("%s status=%d", what, status);
}

struct program {
    const char *path;
    int fd, flags;
    char **args;
    char *const *env;
};

static void start_path(void *context)
{
    const struct program *p = context;
    execve(p->path, p->args, p->env);
}

static void start_fd(void *context)
{
    const struct program *p = context;
    syscall(SYS_execveat, p->fd, p->path, p->args, p->env, p->flags);
}

/* say TEXT...: the output of a program that runs */
static void do_say(int argc, char **argv)
{
    for (int i = 0; i < argc; i++)
        printf("%s\n", argv[i]);
    fflush(stdout);
}

/* exec PATH ARG0 ARG... */
static void do_exec(int argc, char **argv)
{
    (void)argc;
    struct program p = {.path = argv[0], .args = argv + 1, .env = no_env};
    in_child("exec", start_path, &p);
}

/* execenv VARIABLE PATH ARG0 ARG... */
static void do_execenv(int argc, char **argv)
{
    (void)argc;
    char *const env[] = {argv[0], NULL};
    struct program p = {.path = argv[1], .args = argv + 2, .env = env};
    in_child("exec", start_path, &p);
}

static void exec_fd(int fd, char **args)
{
    char name[64];
    struct program by_fd = {"", fd, AT_EMPTY_PATH, args, no_env};
    in_child("execveat", start_fd, &by_fd);
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    struct program by_proc = {.path = name, .args = args, .env = no_env};
    in_child("exec /proc", start_path, &by_proc);
    snprintf(name, sizeof name, "/dev/fd/%d", fd);
    in_child("exec /dev", start_path, &by_proc);
}

/* execfd PATH FLAGS ARG0 ARG...: by descriptor, in three ways */
static void do_execfd(int argc, char **argv)
{
    (void)argc;
    int fd = open(argv[0], (int)number(argv[1]));
    if (fd < 0)
        got("open");
    else
        exec_fd(fd, argv + 2);
}

/* execat DIR NAME ARG0 ARG... */
static void do_execat(int argc, char **argv)
{
    (void)argc;
    struct program p = {argv[1], open(argv[0], O_PATH | O_CLOEXEC), 0, argv + 2, no_env};
    if (p.fd < 0)
        got("open");
    else
        in_child("execveat", start_fd, &p);
}

/* memfd SOURCE LOADER ARG0 ARG...: a copy in memory, started by descriptor or through a loader */
static void do_memfd(int argc, char **argv)
{
    static const unsigned flags[] = {0, 0x10, 0x2}; /* plain, MFD_EXEC, MFD_ALLOW_SEALING */
    (void)argc;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        char name[64];
        int fd = (int)syscall(SYS_memfd_create, "m", flags[i]);
        if (fd < 0) {
            got("memfd_create");
            continue;
        }
        did("memfd_create");
        if (!copy_into(argv[0], fd))
            return;
        exec_fd(fd, argv + 2);
        snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        char *args[] = {argv[1], name, argc > 3 ? argv[3] : NULL, argc > 4 ? argv[4] : NULL, NULL};
        struct program p = {.path = argv[1], .args = args, .env = no_env};
        in_child("exec loader", start_path, &p);
    }
}

/* copyexec SOURCE TARGET ARG0 ARG... */
static void do_copyexec(int argc, char **argv)
{
    (void)argc;
    unlink(argv[1]);
    int fd = open(argv[1], O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
    if (fd < 0 || !copy_into(argv[0], fd)) {
        got("copy");
        return;
    }
    fchmod(fd, 0755);
    close(fd);
    struct program p = {.path = argv[1], .args = argv + 2, .env = no_env};
    in_child("exec copy", start_path, &p);
}

/* tmpexec DIR SOURCE ARG0 ARG...: a copy in a file without a name */
static void do_tmpexec(int argc, char **argv)
{
    (void)argc;
    char name[64];
    int fd = open(argv[0], O_TMPFILE | O_RDWR | O_CLOEXEC, 0755);
    if (fd < 0 || !copy_into(argv[1], fd)) {
        got("tmpfile");
        return;
    }
    fchmod(fd, 0755);
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    int readable = open(name, O_RDONLY);
    close(fd);
    if (readable < 0)
        got("reopen");
    else
        exec_fd(readable, argv + 2);
}

/* script PATH TEXT ARG...: writes an executable file with that first line, and starts it */
static void do_script(int argc, char **argv)
{
    (void)argc;
    int fd = open(argv[0], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
    if (fd < 0 || dprintf(fd, "%s\n", argv[1]) < 0) {
        got("write script");
        return;
    }
    fchmod(fd, 0755);
    close(fd);
    char *args[] = {argv[0], argc > 2 ? argv[2] : NULL, NULL};
    struct program p = {.path = argv[0], .args = args, .env = no_env};
    in_child("exec script", start_path, &p);
}

static void call_code(const char *what, void *page)
{
    int (*run)(void);
    memcpy(&run, &page, sizeof run);
    int answer = run();
    if (answer == CODE_ANSWER)
        did("%s ran", what);
}

/* A function that returns CODE_ANSWER. */
#if defined __x86_64__
static const unsigned char code[] = {0xb8, CODE_ANSWER, 0, 0, 0, 0xc3};
#elif defined __aarch64__
static const uint32_t code[] = {0x52800000 | CODE_ANSWER << 5, 0xd65f03c0};
#elif defined __riscv
static const uint32_t code[] = {CODE_ANSWER << 20 | 0x513, 0x8067};
#endif

/* mapexec PATH: machine code in a file, mapped and called in each way that may be possible */
static void do_mapexec(int argc, char **argv)
{
    (void)argc;
    int fd = open(argv[0], O_RDWR | O_CREAT | O_CLOEXEC, 0755);
    if (fd >= 0 && pwrite(fd, code, sizeof code, 0) != sizeof code)
        got("write");
    if (fd < 0)
        fd = open(argv[0], O_RDONLY | O_CLOEXEC);
    if (fd < 0 || ftruncate(fd, 4096) < 0)
        got("open");
    void *page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    if (page == MAP_FAILED)
        got("mmap private");
    else
        call_code("mmap private", page);
    page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED)
        got("mmap shared");
    else
        call_code("mmap shared", page);
    page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
    if (page == MAP_FAILED)
        got("mmap");
    else if (report("mprotect", mprotect(page, 4096, PROT_READ | PROT_EXEC)))
        call_code("mprotect", page);
}

/* personexec PATH: with READ_IMPLIES_EXEC a readable mapping is executable */
static void do_personexec(int argc, char **argv)
{
    (void)argc;
    report("personality", syscall(SYS_personality, 0x0400000));
    int fd = open(argv[0], O_RDONLY | O_CLOEXEC);
    void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
    if (page == MAP_FAILED) {
        got("mmap");
        return;
    }
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[WAY_MAX];
    while (maps && fgets(line, sizeof line, maps))
        if (strtoul(line, NULL, 16) == (unsigned long)page && strstr(line, "r-x"))
            did("mapped executable");
}

/* swapdir DIR OTHER SOURCE NAME ARG...: moves DIR away, puts a new one with its own NAME there */
static void do_swapdir(int argc, char **argv)
{
    (void)argc;
    char name[WAY_MAX];
    report("rename", rename(argv[0], argv[1]));
    report("mkdir", mkdir(argv[0], 0755));
    snprintf(name, sizeof name, "%s/%s", argv[0], argv[3]);
    char say[] = "say";
    char *args[] = {argv[2], name, name, say, argc > 4 ? argv[4] : NULL, NULL};
    do_copyexec(5, args);
}

const struct attempt probe_exec[] = {
    {"say", 1, do_say},
    {"exec", 2, do_exec},
    {"execenv", 3, do_execenv},
    {"execfd", 3, do_execfd},
    {"execat", 3, do_execat},
    {"memfd", 3, do_memfd},
    {"copyexec", 3, do_copyexec},
    {"tmpexec", 3, do_tmpexec},
    {"script", 2, do_script},
    {"mapexec", 1, do_mapexec},
    {"personexec", 1, do_personexec},
    {"swapdir", 4, do_swapdir},
    {0},
};
