/* More commands in one sandbox: their input, their restrictions, their end, and how much the
 * supervisor trusts its messages. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "policy/load.h"
#include "sandbox/baseline.h"
#include "sandbox/launch.h"
#include "sandbox/service.h"
#include "session/session.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum {
    KEY_SIZE = 32,
    ARENA_MAX = 64 << 20,
    OUTPUT_MAX = 1 << 20,
    WAIT_MS = 20 * 1000,
    QUIET_MS = 300,
};

struct box {
    struct arena arena;
    struct plan plan;
    struct child child;
};

static const char *const no_env[] = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8", NULL};

static void box_done(struct box *b)
{
    child_kill(&b->child);
    child_close(&b->child);
    arena_done(&b->arena);
}

#define AUTO_BOX AUTO(box_done)
#define BOX_NONE ((struct box){.arena = ARENA_INIT(ARENA_MAX), .child = CHILD_NONE})

struct wanted {
    const char *mode, *network;
    unsigned processes;
};

static const struct wanted native = {"native", "disabled", 600};

static bool make_plan(struct box *b, const struct wanted *w, struct err *err)
{
    struct arena *a = &b->arena;
    struct policy *policy = ARENA_NEW(a, struct policy, 1);
    struct verdict *v = ARENA_NEW(a, struct verdict, 1);
    struct baseline *base = ARENA_NEW(a, struct baseline, 1);
    const char *text = arena_printf(a,
        "{\"policy_version\":4,\"sandbox\":\"%s\",\"fs\":{\"allowed_read\":[\"%s\"],"
        "\"allowed_write\":[\"%s/w\"]},\"exec\":{\"allowed_executables\":[\"/usr/bin\"],"
        "\"allow_shell\":true},\"network\":\"%s\",\"limits\":{\"processes\":%u},"
        "\"limits_inexact_ack\":true}",
        w->mode, test_dir(), test_dir(), w->network, w->processes);
    mkdir(test_path("w"), 0755);
    if (!policy_parse(str_z(text), "p.json", a, policy, err))
        return false;
    policy_validate(policy, &(struct policy_host){0}, a, v);
    policy_validate_command(v, &(struct policy_command){.path = "/usr/bin/perl", .cwd = "/tmp"});
    v->cwd = (struct verdict_path){0};
    v->denials.n = 0; /* working directory, write and network without an acknowledgement */
    baseline_collect(a, base);
    if (!baseline_add_loaders(base, a, err))
        return false;
    plan_make(
        &(struct plan_input){.verdict = v, .baseline = base, .root = geteuid() == 0}, a, &b->plan);
    return true;
}

static bool open_box(struct box *b, const struct wanted *w)
{
    AUTO_ERR struct err err = {0};
    return CHECK_OK(make_plan(b, w, &err), &err) &&
           CHECK_OK(launch_start(&(struct launch){.plan = &b->plan, .serves = true, .idle = true},
                        &b->child, &err),
               &err);
}

/* Waits for the next message. */
static struct service_event next(int service)
{
    struct service_event news = {.fd = -1};
    enum service_result got;
    struct pollfd fd = {.fd = service, .events = POLLIN};
    while (
        (got = service_read_event(service, &news)) == SERVICE_NOTHING && poll(&fd, 1, WAIT_MS) == 1)
        ;
    CHECK_INT(got, SERVICE_NEWS);
    return news;
}

static bool spawn(int service, uint32_t id, const struct service_command *c)
{
    AUTO_ERR struct err err = {0};
    return CHECK_OK(service_spawn(service, id, c, &err), &err);
}

static void collect(int fd, struct buf *out)
{
    char bytes[4096];
    ssize_t n;
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    while (poll(&wait, 1, WAIT_MS) == 1 && (n = read(fd, bytes, sizeof(bytes))) > 0)
        buf_add(out, bytes, (size_t)n);
}

struct shell {
    const char *script, *input;
    const char *cwd;
};

/* The output of both streams, and the wait status. */
static int run_shell(int service, uint32_t id, const struct shell *shell, struct buf *out)
{
    const char *const argv[] = {"sh", "-c", shell->script, NULL};
    int in[2], from[2];
    if (!CHECK_INT(pipe2(in, O_CLOEXEC), 0) || !CHECK_INT(pipe2(from, O_CLOEXEC), 0))
        return -1;
    bool ok = spawn(service, id,
        &(struct service_command){.argv = argv,
            .envp = no_env,
            .path = "/usr/bin/sh",
            .cwd = shell->cwd ? shell->cwd : "/tmp",
            .io = {in[0], from[1], from[1]}});
    close(in[0]);
    close(from[1]);
    if (shell->input)
        CHECK_INT(write(in[1], shell->input, strlen(shell->input)), strlen(shell->input));
    close(in[1]);
    struct service_event news = ok ? next(service) : (struct service_event){0};
    if (ok && CHECK_INT(news.word, SERVICE_SPAWNED)) {
        CHECK_INT(news.id, id);
        CHECK_INT(news.fd, -1);
        collect(from[0], out);
        news = next(service);
        CHECK_INT(news.word, SERVICE_ENDED);
        CHECK_INT(news.id, id);
    }
    close(from[0]);
    return news.value;
}

/* Behaviour ---------------------------------------------------------------------------------- */

static const struct {
    const char *name, *script, *input, *want;
    int status;
} runs[] = {
    {"prints", "echo hello", NULL, "hello\n", 0},
    {"both streams", "echo out; echo err >&2", NULL, "out\nerr\n", 0},
    {"reads", "cat", "given", "given", 0},
    {"exit code", "exit 7", NULL, "", 7 << 8},
    {"a signal", "kill -9 $$", NULL, "", SIGKILL},
    {"its directory", "pwd", NULL, "/tmp\n", 0},
    {"its environment", "env -u PWD -u _ -u OLDPWD -u SHLVL", NULL,
        "PATH=/usr/bin:/bin\nLANG=C.UTF-8\n", 0},
    {"descriptors", "ls /proc/self/fd | tr '\\n' ' '", NULL, "0 1 2 3 ", 0}, /* 3: opened by ls */
    {"no terminal", "(: </dev/tty) 2>/dev/null && echo one || echo none", NULL, "none\n", 0},
    {"a separate session and group",
        "perl -e 'print getppid() == getpgrp(getppid()) ? 1 : 0; print \"\\n\"'; true", NULL, "1\n",
        0},
    {"signals as they should be", "grep -E '^Sig(Blk|Ign)' /proc/self/status | tr -d '\\t\\n'",
        NULL, "SigBlk:0000000000000000SigIgn:0000000000000000", 0},
};

TEST(service_runs)
{
    AUTO_BOX struct box b = BOX_NONE;
    if (!open_box(&b, &native))
        return;
    for (size_t i = 0; i < ARRAY_LEN(runs); i++) {
        AUTO_BUF struct buf out = BUF_INIT(OUTPUT_MAX);
        test_row(i, runs[i].name);
        const struct shell shell = {.script = runs[i].script, .input = runs[i].input};
        CHECK_INT(run_shell(b.child.service, (uint32_t)i + 1, &shell, &out), runs[i].status);
        CHECK_STR(buf_str(&out), str_z(runs[i].want));
    }
}

/* The restrictions of the sandbox's own command also apply to these. */
static const char restrictions[] =
    "grep -E '^(NoNewPrivs|CapEff|CapBnd|Seccomp):' /proc/self/status | tr -d '\t' | tr '\n' ' ';"
    "unshare -U true 2>/dev/null && echo unshared;"
    "unshare -m true 2>/dev/null && echo unshared;"
    "perl -e 'print syscall(101, 16, 1, 0, 0) == 0 ? \"traced\" : \"untraced \"';"
    "perl -e 'print syscall(101, 0, 0, 0, 0) == 0 ? \"traces\" : \"traces not \"';"
    "(echo x > /etc/x) 2>/dev/null && echo wrote;"
    "(echo x > '%s/x') 2>/dev/null && echo wrote;"
    "(echo x > '%s/w/x') 2>/dev/null && echo fine;"
    "for what in c d f n v; do ulimit -$what; done";

static char *held_by(const char *mode, const char *script, bool spawned)
{
    AUTO_BOX struct box b = BOX_NONE;
    AUTO_ERR struct err err = {0};
    AUTO_BUF struct buf out = BUF_INIT(OUTPUT_MAX);
    const struct wanted w = {mode, "disabled", 600};
    const char *const argv[] = {"sh", "-c", script, NULL};
    if (spawned && open_box(&b, &w))
        CHECK_INT(run_shell(b.child.service, 1, &(struct shell){.script = script}, &out), 0);
    if (spawned || !CHECK_OK(make_plan(&b, &w, &err), &err))
        return buf_take(&out);
    const struct launch launch = {.plan = &b.plan, .argv = argv, .envp = no_env};
    b.plan.command = STR("/usr/bin/sh");
    if (CHECK_OK(launch_start(&launch, &b.child, &err), &err)) {
        collect(b.child.out, &out);
        collect(b.child.err, &out);
    }
    return buf_take(&out);
}

TEST(service_restrictions)
{
    static const char *const modes[] = {"native", "landlock"};
    char script[4096];
    CHECK((size_t)snprintf(script, sizeof(script), restrictions, test_dir(), test_dir()) <
          sizeof(script));
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        test_row(i, modes[i]);
        AUTO_FREE char *own = held_by(modes[i], script, false);
        AUTO_FREE char *spawned = held_by(modes[i], script, true);
        CHECK_Z(spawned, own);
        CHECK(strstr(spawned, "CapEff:0000000000000000 "));
        CHECK(strstr(spawned, "NoNewPrivs:1 Seccomp:2 untraced traces not fine\n0\n"));
    }
}

/* Process 1 has seen the arguments of all commands: none can inspect it, and it keeps none of
 * them. */
TEST(service_first_process)
{
    static const char script[] = "cat /proc/1/environ /proc/1/maps /proc/1/cmdline; ls /proc/1/fd;"
                                 "kill -9 1; kill -STOP 1; kill -INT 1; echo on";
    AUTO_BOX struct box b = BOX_NONE;
    AUTO_BUF struct buf out = BUF_INIT(OUTPUT_MAX);
    if (!open_box(&b, &native))
        return;
    for (uint32_t id = 1; id <= 2; id++) {
        buf_reset(&out);
        CHECK_INT(run_shell(b.child.service, id, &(struct shell){.script = script}, &out), 0);
        CHECK(strstr(buf_z(&out), "cat: /proc/1/environ: No such file or directory\n"));
        CHECK(strstr(buf_z(&out), "ls: cannot access '/proc/1/fd'"));
        CHECK(strstr(buf_z(&out), "on\n"));
    }
}

/* Whether these bytes are anywhere in a process's mapped memory; -1: not permitted. */
static int memory_has(pid_t pid, const char *text)
{
    char path[64], line[512];
    unsigned long from, to;
    int found = 0;
    snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
    AUTO_FD int mem = open(path, O_RDONLY | O_CLOEXEC);
    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(path, "re");
    if (mem < 0 || !maps || !fgets(line, sizeof(line), maps))
        found = -1;
    while (found == 0 && fgets(line, sizeof(line), maps)) {
        if (sscanf(line, "%lx-%lx", &from, &to) != 2 || to - from > (64ul << 20))
            continue;
        AUTO_FREE char *bytes = base_alloc(to - from);
        ssize_t n = pread(mem, bytes, to - from, (off_t)from);
        found = n > 0 && memmem(bytes, (size_t)n, text, strlen(text)) != NULL;
    }
    if (maps)
        fclose(maps);
    return found;
}

/* A key that is newer than the first process: it is passed on, and not kept. */
TEST(service_keeps_no_arguments_in_memory)
{
    AUTO_BOX struct box b = BOX_NONE;
    if (!open_box(&b, &native))
        return;
    /* In a separate mapping: the heap and stacks may be larger than the part that is searched. */
    char *key = mmap(NULL, KEY_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(key != MAP_FAILED);
    snprintf(key, KEY_SIZE, "KEY=%08x-%08x", (unsigned)getpid() * 2654435761u,
        (unsigned)b.child.pid * 2246822519u);
    const char *const argv[] = {"sleep", "1000", NULL}, *const envp[] = {key, NULL};
    const struct service_command c = {
        .argv = argv, .envp = envp, .path = "/usr/bin/sleep", .cwd = "/tmp", .io = {-1, -1, -1}};
    CHECK(spawn(b.child.service, 1, &c));
    CHECK_INT(next(b.child.service).word, SERVICE_SPAWNED);
    /* One more command, so that the first process is done with that one. */
    AUTO_BUF struct buf out = BUF_INIT(OUTPUT_MAX);
    CHECK_INT(run_shell(b.child.service, 2, &(struct shell){.script = ":"}, &out), 0);
    int found = memory_has(b.child.pid, key);
    if (found < 0)
        return test_skip("only root may look into it");
    CHECK_INT(found, 0);
    CHECK_INT(memory_has(getpid(), key), 1); /* the control */
    munmap(key, KEY_SIZE);
}

/* Refusals ----------------------------------------------------------------------------------- */

static const struct {
    const char *name, *path, *cwd;
    int errnum;
    enum stage stage;
    const char *words;
} refused[] = {
    {"no such program", "/usr/bin/no-such", "/tmp", ENOENT, STAGE_EXEC,
        "cannot start '/usr/bin/no-such'"},
    {"not allowed", "/etc/passwd", "/tmp", EACCES, STAGE_EXEC, "cannot start '/etc/passwd'"},
    {"no such directory", "/usr/bin/true", "/no/such", ENOENT, STAGE_CWD,
        "cannot start in '/no/such'"},
    {"not a directory", "/usr/bin/true", "/dev/null", ENOTDIR, STAGE_CWD, "cannot start in"},
};

TEST(service_refusals)
{
    AUTO_BOX struct box b = BOX_NONE;
    const char *const argv[] = {"x", NULL};
    if (!open_box(&b, &native))
        return;
    for (int terminal = 0; terminal < 2; terminal++)
        for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
            AUTO_ERR struct err err = {0};
            const struct service_command c = {.argv = argv,
                .envp = no_env,
                .path = refused[i].path,
                .cwd = refused[i].cwd,
                .terminal = terminal,
                .io = {-1, -1, -1}};
            test_row(i, refused[i].name);
            if (!spawn(b.child.service, 1, &c))
                return;
            struct service_event news = next(b.child.service);
            CHECK_INT(news.word, SERVICE_REFUSED);
            CHECK_INT(news.value, refused[i].errnum);
            CHECK_INT(news.stage, refused[i].stage);
            CHECK(!service_refused(&news, &c, &err));
            CHECK_ERR(&err, E_IO, refused[i].words);
        }
    AUTO_BUF struct buf out = BUF_INIT(OUTPUT_MAX);
    CHECK_INT(run_shell(b.child.service, 1, &(struct shell){.script = "echo on"}, &out), 0);
    CHECK_STR(buf_str(&out), STR("on\n"));
}

TEST(service_wrong_requests)
{
    AUTO_BOX struct box b = BOX_NONE;
    AUTO_ERR struct err err = {0};
    const char *const argv[] = {"true", NULL};
    AUTO_FREE char *big = base_alloc(SERVICE_WORDS_MAX + 1);
    memset(big, 'x', SERVICE_WORDS_MAX);
    const char *const long_argv[] = {"true", big, NULL};
    AUTO_FD int dir = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    AUTO_FD int tty = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
    struct service_command c = {
        .argv = argv, .envp = no_env, .path = "/usr/bin/true", .cwd = "/tmp", .io = {dir, -1, -1}};
    if (!open_box(&b, &native))
        return;
    CHECK(!service_spawn(b.child.service, 1, &c, &err));
    CHECK_ERR(&err, E_POLICY_DENIED,
        "a directory or a terminal of the host cannot be passed into a sandbox");
    c.io[0] = tty;
    CHECK(tty < 0 || !service_spawn(b.child.service, 1, &c, &err));
    c.io[0] = -1;
    c.cwd = "tmp";
    CHECK(!service_spawn(b.child.service, 1, &c, &err));
    CHECK_ERR(&err, E_INTERNAL, "absolute");
    c.cwd = "/tmp";
    CHECK(!service_spawn(b.child.service, 0, &c, &err));
    CHECK(!service_listen(b.child.service, 0, 0, &err));
    c.argv = long_argv;
    CHECK(!service_spawn(b.child.service, 1, &c, &err));
    CHECK_ERR(&err, E_IO, "Argument list too long");
    /* Too long as a single word, but only for the kernel. */
    big[SERVICE_WORDS_MAX - 4096] = '\0';
    CHECK_OK(service_spawn(b.child.service, 1, &c, &err), &err);
    struct service_event news = next(b.child.service);
    CHECK_INT(news.word, SERVICE_REFUSED);
    CHECK_INT(news.value, E2BIG);
}

/* Terminals ---------------------------------------------------------------------------------- */

TEST(service_terminal)
{
    static const char script[] = "tty; stty size; (: </dev/tty) && echo controls; read x; echo $x";
    const char *const argv[] = {"sh", "-c", script, NULL};
    AUTO_BOX struct box b = BOX_NONE;
    AUTO_BUF struct buf out = BUF_INIT(OUTPUT_MAX);
    if (!open_box(&b, &native) || !spawn(b.child.service, 9,
                                      &(struct service_command){.argv = argv,
                                          .envp = no_env,
                                          .path = "/usr/bin/sh",
                                          .cwd = "/tmp",
                                          .terminal = true,
                                          .rows = 31,
                                          .cols = 97}))
        return;
    struct service_event news = next(b.child.service);
    AUTO_FD int master = news.fd;
    CHECK_INT(news.word, SERVICE_SPAWNED);
    CHECK(fcntl(master, F_GETFD) & FD_CLOEXEC);
    char byte;
    while (!strstr(buf_z(&out), "controls\r\n") && read(master, &byte, 1) == 1)
        buf_add_byte(&out, byte);
    CHECK_INT(write(master, "typed\n", 6), 6);
    collect(master, &out);
    CHECK_STR(buf_str(&out), STR("/dev/pts/0\r\n31 97\r\ncontrols\r\ntyped\r\ntyped\r\n"));
    news = next(b.child.service);
    CHECK_INT(news.word, SERVICE_ENDED);
    CHECK_INT(news.value, 0);
}

/* The terminal hangs up: a shell exits. */
TEST(service_terminal_hangs_up)
{
    const char *const argv[] = {"sh", NULL};
    AUTO_BOX struct box b = BOX_NONE;
    if (!open_box(&b, &native) || !spawn(b.child.service, 1,
                                      &(struct service_command){.argv = argv,
                                          .envp = no_env,
                                          .path = "/usr/bin/sh",
                                          .cwd = "/tmp",
                                          .terminal = true}))
        return;
    struct service_event news = next(b.child.service);
    CHECK_INT(news.word, SERVICE_SPAWNED);
    close(news.fd);
    CHECK_INT(next(b.child.service).word, SERVICE_ENDED);
}

/* Signals, ends ------------------------------------------------------------------------------ */

static bool spawn_sleep(int service, uint32_t id)
{
    static const char *const argv[] = {"sleep", "1000", NULL};
    const struct service_command c = {
        .argv = argv, .envp = no_env, .path = "/usr/bin/sleep", .cwd = "/tmp", .io = {-1, -1, -1}};
    return spawn(service, id, &c) && CHECK_INT(next(service).word, SERVICE_SPAWNED);
}

TEST(service_signals)
{
    AUTO_BOX struct box b = BOX_NONE;
    AUTO_ERR struct err err = {0};
    if (!open_box(&b, &native) || !spawn_sleep(b.child.service, 1) ||
        !spawn_sleep(b.child.service, 2))
        return;
    CHECK_OK(service_signal(b.child.service, 7, SIGKILL, &err), &err);
    CHECK_OK(service_signal(b.child.service, 2, SIGINT, &err), &err);
    struct service_event news = next(b.child.service);
    CHECK_INT(news.id, 2);
    CHECK_INT(news.value, SIGINT);
    CHECK_OK(service_signal(b.child.service, 2, SIGINT, &err), &err);
    child_terminate(&b.child);
    news = next(b.child.service);
    CHECK_INT(news.id, 1);
    CHECK_INT(news.value, SIGTERM);
}

/* An interactive shell ignores SIGTERM. (Not bash: a signal between its prompt and its read() is
 * seen only at the next key.) */
TEST(service_terminate_idle_shell)
{
    const char *const argv[] = {"sh", "-i", NULL};
    AUTO_BOX struct box b = BOX_NONE;
    char byte;
    if (!open_box(&b, &native) || !spawn(b.child.service, 1,
                                      &(struct service_command){.argv = argv,
                                          .envp = no_env,
                                          .path = "/usr/bin/sh",
                                          .cwd = "/tmp",
                                          .terminal = true}))
        return;
    struct service_event news = next(b.child.service);
    AUTO_FD int master = news.fd;
    CHECK_INT(read(master, &byte, 1), 1); /* its prompt */
    child_terminate(&b.child);
    CHECK_INT(next(b.child.service).word, SERVICE_ENDED);
}

/* Processes that it leaves behind live until the sandbox ends. */
TEST(service_left_behind)
{
    AUTO_BOX struct box b = BOX_NONE;
    AUTO_BUF struct buf out = BUF_INIT(OUTPUT_MAX), count = BUF_INIT(OUTPUT_MAX);
    if (!open_box(&b, &native))
        return;
    CHECK_INT(run_shell(b.child.service, 1,
                  &(struct shell){.script = "sleep 1000 </dev/null >/dev/null 2>&1 & echo"}, &out),
        0);
    CHECK_INT(
        run_shell(b.child.service, 1,
            &(struct shell){.script = "grep -lsz '^sleep' /proc/[0-9]*/cmdline | wc -l"}, &count),
        0);
    CHECK_STR(buf_str(&count), STR("1\n"));
}

static size_t count_entries(const char *path)
{
    size_t n = 0;
    DIR *dir = opendir(path);
    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n;
}

/* The number of file descriptors or children of process 1, if we may inspect it. */
static size_t held_inside(const struct box *b, const char *what)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/%s", (int)b->child.pid, what);
    return count_entries(path);
}

TEST(service_many_in_a_row)
{
    AUTO_BOX struct box b = BOX_NONE;
    AUTO_BUF struct buf out = BUF_INIT(OUTPUT_MAX);
    const struct shell shell = {.script = "exit 3"};
    if (!open_box(&b, &native))
        return;
    CHECK_INT(run_shell(b.child.service, 1, &shell, &out), 3 << 8);
    size_t inside = held_inside(&b, "fd"), ours = count_entries("/proc/self/fd");
    for (uint32_t i = 0; i < 1000; i++)
        if (!CHECK_INT(run_shell(b.child.service, i + 1, &shell, &out), 3 << 8))
            return;
    CHECK_INT(held_inside(&b, "fd"), inside);
    CHECK_INT(count_entries("/proc/self/fd"), ours);
    CHECK_INT(run_shell(b.child.service, 1,
                  &(struct shell){.script = "set -- /proc/[0-9]*; echo $#"}, &out),
        0);
    CHECK_STR(buf_str(&out), STR("1\n")); /* itself: process 1 is hidden */
}

TEST(service_many_at_once)
{
    AUTO_BOX struct box b = BOX_NONE;
    const char *const argv[] = {"sleep", "1000", NULL};
    const struct service_command c = {
        .argv = argv, .envp = no_env, .path = "/usr/bin/sleep", .cwd = "/tmp", .io = {-1, -1, -1}};
    if (!open_box(&b, &native))
        return;
    for (uint32_t id = 1; id <= SERVICE_COMMANDS_MAX; id++)
        if (!spawn_sleep(b.child.service, id))
            return;
    CHECK(spawn(b.child.service, 1000, &c));
    struct service_event news = next(b.child.service);
    CHECK_INT(news.word, SERVICE_REFUSED);
    CHECK_INT(news.value, EAGAIN);
    child_terminate(&b.child);
    for (uint32_t i = 0; i < SERVICE_COMMANDS_MAX; i++)
        CHECK_INT(next(b.child.service).word, SERVICE_ENDED);
    CHECK(spawn_sleep(b.child.service, 5));
    CHECK(spawn(b.child.service, 5, &c));
    news = next(b.child.service);
    CHECK_INT(news.word, SERVICE_REFUSED);
    CHECK_INT(news.value, EEXIST);
}

/* A caller that does not read its answers blocks nothing; and all requests are answered in the
 * end. */
TEST(service_does_not_block_on_unread_answers)
{
    AUTO_BOX struct box b = BOX_NONE;
    AUTO_ERR struct err err = {0};
    const char *const argv[] = {"true", NULL};
    const struct service_command c = {
        .argv = argv, .envp = no_env, .path = "/usr/bin/true", .cwd = "/tmp", .io = {-1, -1, -1}};
    struct service_event news;
    uint32_t asked = 0, spawned = 0, ended = 0, no = 0;
    if (!open_box(&b, &native))
        return;
    while (asked < 5000 && service_spawn(b.child.service, asked + 1, &c, &err))
        asked++;
    CHECK(asked < 5000);
    CHECK_ERR(&err, E_CONFLICT, "too many pending requests");
    while (spawned + no < asked || ended < spawned) {
        news = next(b.child.service);
        if (news.word == SERVICE_REFUSED && news.value != EAGAIN)
            break;
        spawned += news.word == SERVICE_SPAWNED;
        ended += news.word == SERVICE_ENDED;
        no += news.word == SERVICE_REFUSED;
        CHECK(ended <= spawned);
    }
    CHECK_INT(spawned + no, asked);
    CHECK_INT(service_read_event(b.child.service, &news), SERVICE_NOTHING);
}

/* The same with nothing but answers: the last one of them must not be lost. */
TEST(service_loses_no_unread_answer)
{
    AUTO_BOX struct box b = BOX_NONE;
    AUTO_ERR struct err err = {0};
    struct service_event news;
    uint32_t asked = 0;
    if (!open_box(&b, &native))
        return;
    /* Until it accepts no more, since its answers are not read. */
    struct pollfd room = {.fd = b.child.service, .events = POLLOUT};
    while (asked < 100000 && poll(&room, 1, QUIET_MS) == 1 && room.revents == POLLOUT)
        while (asked < 100000 && service_connect(b.child.service, asked + 1, 9, &err))
            asked++;
    CHECK_ERR(&err, E_CONFLICT, "too many pending requests");
    for (uint32_t id = 1; id <= asked; id++) {
        news = next(b.child.service);
        if (!CHECK_INT(news.id, id) || !CHECK_INT(news.word, SERVICE_REFUSED))
            return;
    }
    CHECK_INT(service_read_event(b.child.service, &news), SERVICE_NOTHING);
}

/* The limit on processes also holds for those that we start. */
TEST(service_process_limit)
{
    AUTO_BOX struct box b = BOX_NONE;
    const char *const argv[] = {"sleep", "1000", NULL};
    const struct service_command c = {
        .argv = argv, .envp = no_env, .path = "/usr/bin/sleep", .cwd = "/tmp", .io = {-1, -1, -1}};
    struct service_event news = {.word = SERVICE_SPAWNED};
    uint32_t n = 0;
    if (!open_box(&b, &(struct wanted){"native", "disabled", 20}))
        return;
    for (; news.word == SERVICE_SPAWNED && n < 30 && spawn(b.child.service, n + 1, &c); n++)
        news = next(b.child.service);
    CHECK_INT(news.word, SERVICE_REFUSED);
    CHECK_INT(news.value, EAGAIN);
    CHECK_INT(news.stage, STAGE_FORK);
    CHECK_INT(n, 21);
}

/* The sandbox's own command ------------------------------------------------------------------ */

TEST(service_outlives_the_command)
{
    AUTO_BOX struct box b = BOX_NONE;
    AUTO_ERR struct err err = {0};
    AUTO_BUF struct buf out = BUF_INIT(OUTPUT_MAX), own = BUF_INIT(OUTPUT_MAX);
    const char *const argv[] = {"perl", "-e", "print <STDIN>; exit 5", NULL};
    struct child_event news;
    const struct launch launch = {
        .plan = &b.plan, .argv = argv, .envp = no_env, .serves = true, .held = true};
    if (!CHECK_OK(make_plan(&b, &native, &err), &err) ||
        !CHECK_OK(launch_start(&launch, &b.child, &err), &err))
        return;
    CHECK_INT(run_shell(b.child.service, 1, &(struct shell){.script = "echo before"}, &out), 0);
    CHECK_OK(service_start(b.child.service, &err), &err);
    CHECK_OK(service_start(b.child.service, &err), &err); /* only once */
    CHECK(spawn_sleep(b.child.service, 2));
    CHECK_INT(write(b.child.in, "told", 4), 4);
    close(TAKE_FD(b.child.in));
    CHECK_OK(child_read_event(&b.child, &news, &err), &err);
    CHECK_INT(news.word, CHILD_EXITED);
    CHECK_INT(news.value, 5 << 8);
    collect(b.child.out, &own);
    CHECK_STR(buf_str(&own), STR("told"));
    CHECK_INT(run_shell(b.child.service, 3, &(struct shell){.script = "echo after"}, &out), 0);
    CHECK_STR(buf_str(&out), STR("before\nafter\n"));
    child_terminate(&b.child);
    CHECK_INT(next(b.child.service).id, 2);
    child_kill(&b.child);
    CHECK_OK(child_read_event(&b.child, &news, &err), &err);
    CHECK_INT(news.word, CHILD_GONE);
    struct service_event gone;
    CHECK_INT(service_read_event(b.child.service, &gone), SERVICE_GONE);
    CHECK(!service_start(b.child.service, &err));
    CHECK_ERR(&err, E_PROCESS_EXIT, "the sandbox has ended");
}

TEST(service_session)
{
    AUTO_BOX struct box b = BOX_NONE;
    AUTO_ERR struct err err = {0};
    AUTO_BUF struct buf out = BUF_INIT(OUTPUT_MAX);
    const char *const argv[] = {"perl", "-e", "exit 4", NULL};
    struct session *s = NULL;
    if (!CHECK_OK(make_plan(&b, &native, &err), &err))
        return;
    const struct session_options options = {.plan = &b.plan,
        .argv = argv,
        .envp = no_env,
        .rows = 24,
        .cols = 80,
        .budgets = {UINT64_MAX, UINT64_MAX},
        .serves = true,
        .held = true,
        .cancel = -1};
    if (!CHECK_OK(session_open(&options, &s, &err), &err))
        return;
    int service = session_child(s)->service;
    CHECK_OK(service_start(service, &err), &err);
    while (session_next(s, UINT64_MAX) != SESSION_EXITED)
        ;
    CHECK_INT(session_exit_of(s)->code, 4);
    CHECK_INT(run_shell(service, 1,
                  &(struct shell){.script = "(: </dev/tty) 2>/dev/null || echo still"}, &out),
        0);
    CHECK_STR(buf_str(&out), STR("still\n"));
    CHECK(spawn_sleep(service, 2));
    AUTO_FD int pidfd = fcntl(session_child(s)->pidfd, F_DUPFD_CLOEXEC, 3);
    session_close(s);
    struct pollfd gone = {.fd = pidfd, .events = POLLIN};
    CHECK_INT(poll(&gone, 1, 0), 1);
}

/* The supervisor is killed: then everything is gone, in both modes. */
static void supervise_until_killed(const struct wanted *w, int report)
{
    struct box b = BOX_NONE;
    if (!open_box(&b, w) || !spawn_sleep(b.child.service, 1) || !spawn_sleep(b.child.service, 2))
        _exit(1);
    if (write(report, &b.child.pid, sizeof(b.child.pid)) != (ssize_t)sizeof(b.child.pid))
        _exit(1);
    for (;;)
        pause();
}

TEST(service_supervisor_dies)
{
    static const char *const modes[] = {"native", "landlock"};
    test_dir();
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        int from[2];
        pid_t first = 0;
        test_row(i, modes[i]);
        if (!CHECK_INT(pipe2(from, O_CLOEXEC), 0))
            return;
        pid_t pid = fork();
        if (pid == 0)
            supervise_until_killed(&(struct wanted){modes[i], "disabled", 600}, from[1]);
        close(from[1]);
        CHECK_INT(read(from[0], &first, sizeof(first)), sizeof(first));
        AUTO_FD int pidfd = (int)syscall(SYS_pidfd_open, first, 0);
        CHECK(pidfd >= 0);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        struct pollfd gone = {.fd = pidfd, .events = POLLIN};
        CHECK_INT(poll(&gone, 1, WAIT_MS), 1);
        close(from[0]);
    }
}

/* The supervisor closes the socket: the same. Processes inside hold the pipe. */
TEST(service_let_go)
{
    static const char *const modes[] = {"native", "landlock"};
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        struct box b = BOX_NONE;
        int from[2];
        char byte;
        const char *const argv[] = {"sh", "-c", "sleep 1000 & sleep 1000", NULL};
        test_row(i, modes[i]);
        if (!open_box(&b, &(struct wanted){modes[i], "disabled", 600}) ||
            !CHECK_INT(pipe2(from, O_CLOEXEC), 0))
            return;
        CHECK(spawn(b.child.service, 1,
            &(struct service_command){.argv = argv,
                .envp = no_env,
                .path = "/usr/bin/sh",
                .cwd = "/tmp",
                .io = {-1, from[1], -1}}));
        CHECK_INT(next(b.child.service).word, SERVICE_SPAWNED);
        close(from[1]);
        child_close(&b.child);
        CHECK_INT(read(from[0], &byte, 1), 0);
        close(from[0]);
        arena_done(&b.arena);
    }
}

/* Sockets ------------------------------------------------------------------------------------ */

static void await(int fd, short events)
{
    struct pollfd wait = {.fd = fd, .events = events};
    CHECK_INT(poll(&wait, 1, WAIT_MS), 1);
}

TEST(service_sockets)
{
    AUTO_BOX struct box b = BOX_NONE;
    AUTO_ERR struct err err = {0};
    char text[8] = {0};
    if (!open_box(&b, &native) || !CHECK_OK(service_listen(b.child.service, 4, 0, &err), &err))
        return;
    struct service_event news = next(b.child.service);
    CHECK_INT(news.word, SERVICE_LISTENS);
    CHECK_INT(news.id, 4);
    AUTO_FD int listener = news.fd;
    uint16_t port = (uint16_t)news.value;
    CHECK(fcntl(listener, F_GETFL) & O_NONBLOCK);
    CHECK_OK(service_connect(b.child.service, 5, port, &err), &err);
    news = next(b.child.service);
    CHECK_INT(news.word, SERVICE_CONNECTS);
    AUTO_FD int client = news.fd;
    await(listener, POLLIN);
    AUTO_FD int server = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    CHECK_INT(write(server, "hello", 5), 5);
    await(client, POLLIN);
    CHECK_INT(read(client, text, sizeof(text)), 5);
    CHECK_Z(text, "hello");
    /* Not on the host. */
    struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    AUTO_FD int ours = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(connect(ours, (struct sockaddr *)&at, sizeof(at)) != 0);
    /* The port is in use; then a port without a server. */
    CHECK_OK(service_listen(b.child.service, 6, port, &err), &err);
    news = next(b.child.service);
    CHECK_INT(news.word, SERVICE_REFUSED);
    CHECK_INT(news.value, EADDRINUSE);
    CHECK_OK(service_connect(b.child.service, 7, 9, &err), &err);
    news = next(b.child.service);
    CHECK_INT(news.word, SERVICE_REFUSED);
    CHECK_INT(news.value, ECONNREFUSED);
}

/* A command inside reaches our listening socket, and we reach its socket, on ::1 as well. */
TEST(service_sockets_with_a_command)
{
    static const char client[] =
        "use Socket; socket(S, PF_INET, SOCK_STREAM, 0); connect(S, pack_sockaddr_in(3128, "
        "inet_aton('127.0.0.1'))) or die $!; syswrite S, 'from inside'";
    static const char server6[] =
        "use Socket qw(:all); socket(L, PF_INET6, SOCK_STREAM, 0) or die $!; bind(L, "
        "pack_sockaddr_in6(8080, inet_pton(AF_INET6, '::1'))) or die $!; listen(L, 1); $|=1; "
        "print 'R'; accept(C, L); syswrite C, 'six'";
    const char *const argv[] = {"perl", "-e", client, NULL}, *const argv6[] = {
                                                                 "perl", "-e", server6, NULL};
    AUTO_BOX struct box b = BOX_NONE;
    AUTO_ERR struct err err = {0};
    int from[2];
    char text[16] = {0};
    if (!open_box(&b, &native) || !CHECK_OK(service_listen(b.child.service, 1, 3128, &err), &err))
        return;
    AUTO_FD int listener = next(b.child.service).fd;
    struct service_command c = {
        .argv = argv, .envp = no_env, .path = "/usr/bin/perl", .cwd = "/tmp", .io = {-1, -1, -1}};
    CHECK(spawn(b.child.service, 2, &c));
    CHECK_INT(next(b.child.service).word, SERVICE_SPAWNED);
    await(listener, POLLIN);
    AUTO_FD int accepted = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    CHECK_INT(recv(accepted, text, sizeof(text), MSG_WAITALL), 11);
    CHECK_Z(text, "from inside");
    CHECK_INT(next(b.child.service).value, 0);
    if (!CHECK_INT(pipe2(from, O_CLOEXEC), 0))
        return;
    AUTO_FD int out = from[0];
    c.argv = argv6;
    c.io[1] = from[1];
    CHECK(spawn(b.child.service, 3, &c));
    close(from[1]);
    CHECK_INT(next(b.child.service).word, SERVICE_SPAWNED);
    CHECK_INT(read(out, text, 1), 1);
    CHECK_OK(service_connect(b.child.service, 4, 8080, &err), &err);
    struct service_event news = next(b.child.service);
    AUTO_FD int connected = news.fd;
    CHECK_INT(news.word, SERVICE_CONNECTS);
    await(connected, POLLIN);
    CHECK_INT(read(connected, text, 3), 3);
    CHECK(memcmp(text, "six", 3) == 0);
    CHECK_INT(next(b.child.service).id, 3);
}

TEST(service_sockets_are_only_its_own)
{
    static const struct wanted rows[] = {
        {"native", "enabled", 600}, {"landlock", "disabled", 600}, {"landlock", "enabled", 600}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_BOX struct box b = BOX_NONE;
        AUTO_ERR struct err err = {0};
        test_row(i, rows[i].mode);
        if (!open_box(&b, &rows[i]))
            return;
        CHECK_OK(service_listen(b.child.service, 1, 0, &err), &err);
        CHECK_OK(service_connect(b.child.service, 2, 22, &err), &err);
        for (uint32_t id = 1; id <= 2; id++) {
            struct service_event news = next(b.child.service);
            CHECK_INT(news.word, SERVICE_REFUSED);
            CHECK_INT(news.id, id);
            CHECK_INT(news.value, EOPNOTSUPP);
        }
    }
}
