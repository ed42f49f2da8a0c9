/* Process 1. Does only what is safe after clone() in a multithreaded process. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/init.h"

#include "base/clock.h"
#include "io/file.h"
#include "io/packet.h"
#include "sandbox/connector_init.h"
#include "sandbox/descriptors.h"
#include "sandbox/drop_caps.h"
#include "sandbox/etc_text.h"
#include "sandbox/filter_enter.h"
#include "sandbox/landlock.h"
#include "sandbox/limiter.h"
#include "sandbox/memory_watch.h"
#include "sandbox/new_root.h"
#include "sandbox/orphans.h"
#include "sandbox/parent_death.h"
#include "sandbox/process_count.h"
#include "sandbox/rlimits.h"
#include "sandbox/service_init.h"
#include "sandbox/session_kill.h"
#include "sandbox/shell_idle.h"
#include "sandbox/sysctl.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>

enum {
    COMMAND_STACK = 64 * 1024,
    REAPED_AT_ONCE = 64,
};

struct init {
    const struct init_input *in;
    struct root root;
    struct tmpdir tmp; /* without mounts */
    int master, slave;
    int listener; /* of the filter; never used here, but open as long as its commands live */
    mode_t umask;
    bool owns_ids;
    pid_t command; /* 0: not started, or ended */
    bool held;
    bool too_many; /* there were too many processes: they were killed */
    uint64_t counted_ms;
    struct memory_watch watch;
    int signals;         /* the signalfd that the loop polls */
    bool ended;          /* there may be processes to reap */
    struct serve *serve; /* NULL: it does not serve */
};

/* Receives a failure that concerns only one command. Volatile, since the compiler assumes that
 * clone() does not call back into this file. */
static struct wire_answer *volatile refusal;

/* Removed by process 1 if it fails before there is a command. */
static const struct tmpdir *volatile unused_tmp;

/* Messages ------------------------------------------------------------------------------------ */

/* Returns false if the supervisor is gone. */
static bool init_send(int control, const struct init_message *message)
{
    const struct iovec part = {(void *)message, sizeof(*message)};
    return packet_send(control, &part, 1, NULL, 0, 0) >= 0;
}

/* With success: the listener would be asked about a failure, and this process holds it open. */
NORETURN static void init_exit(void)
{
    if (unused_tmp)
        tmpdir_remove(unused_tmp);
    _exit(0);
}

static void init_refuse(enum stage stage, int errnum)
{
    refusal->word = SERVICE_REFUSED;
    refusal->stage = stage;
    refusal->value = errnum;
}

NORETURN static void init_fail(enum stage stage, int errnum, int step)
{
    const struct init_message message = {
        .word = INIT_FAILED, .stage = stage, .errnum = errnum, .step = step};
    if (refusal) {
        init_refuse(stage, errnum);
        _exit(127);
    }
    init_send(FD_CONTROL, &message);
    init_exit();
}

static void init_require(bool ok, enum stage stage)
{
    if (!ok)
        init_fail(stage, errno, -1);
}

/* Reads one byte from the supervisor; 0 if it is gone: then the caller must not continue. */
static char init_read_word(void)
{
    char word = 0;
    while (read(FD_CONTROL, &word, 1) < 0 && errno == EINTR)
        ;
    return word;
}

/* Setup --------------------------------------------------------------------------------------- */

static void raise_loopback(void)
{
    struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
    AUTO_FD int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    init_require(fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &request) == 0, STAGE_LOOPBACK);
}

static void init_open_terminal(struct init *init)
{
    const struct winsize size = {.ws_row = init->in->rows, .ws_col = init->in->cols};
    int ends[2];
    init_require(serve_make_terminal(init->root.devpts, &size, ends), STAGE_TERMINAL);
    init->master = ends[0];
    init->slave = ends[1];
    init_require(ioctl(init->slave, TIOCSCTTY, 0) == 0, STAGE_TERMINAL);
}

/* Without our own root, files of the host need their own rules: no rule for a directory covers
 * them. */
static unsigned rule_access(const struct plan_step *step, bool native)
{
    if (native)
        return step->access & ~(unsigned)PLAN_IS_DIR;
    switch (step->kind) {
    case PLAN_BIND:
    case PLAN_LOADER:
    case PLAN_PROC:
        return step->access;
    case PLAN_FILE:
        return PLAN_READ;
    case PLAN_DEVICE:
        return PLAN_READ | PLAN_WRITE | PLAN_IOCTL;
    default:
        return 0;
    }
}

static bool init_is_dir(const struct plan_step *step)
{
    switch (step->kind) {
    case PLAN_BIND:
        return step->access & PLAN_IS_DIR;
    case PLAN_FILE:
    case PLAN_LOADER:
    case PLAN_DEVICE:
        return false;
    default:
        return true;
    }
}

static void init_add_rules(const struct init_input *in, int ruleset)
{
    const struct plan_sockets *sockets = &in->plan->sockets;
    const unsigned names = sockets->unix_domain || sockets->own ? PLAN_SOCKET : 0;
    const struct open_how how = {
        .flags = O_PATH | O_CLOEXEC | O_NOFOLLOW, .resolve = RESOLVE_NO_SYMLINKS};
    for (size_t i = 0; i < in->plan->n_steps; i++) {
        const struct plan_step *step = &in->plan->steps[i];
        unsigned access = rule_access(step, plan_is_native(in->plan));
        if (access == 0)
            continue;
        if (access & PLAN_WRITE)
            access |= names;
        AUTO_FD int fd = (int)syscall(SYS_openat2, AT_FDCWD, step->at.p, &how, sizeof(how));
        if (fd < 0 && errno == ENOENT && step->may_vanish)
            continue;
        if (fd < 0 || landlock_allow(ruleset, in->landlock_abi, fd, access, init_is_dir(step)) != 0)
            init_fail(STAGE_LANDLOCK, errno, (int)i);
    }
}

static void init_allow(const struct init *init, int ruleset, int fd, unsigned access, bool is_dir)
{
    const int abi = init->in->landlock_abi;
    init_require(fd >= 0 && landlock_allow(ruleset, abi, fd, access, is_dir) == 0, STAGE_LANDLOCK);
}

static void enter_landlock(const struct init *init)
{
    const struct init_input *in = init->in;
    const struct landlock_options options = {.tcp = !in->plan->sockets.inet};
    AUTO_FD int ruleset = landlock_create(in->landlock_abi, &options);
    init_require(ruleset >= 0, STAGE_LANDLOCK);
    init_add_rules(in, ruleset);
    if (in->tmp.path) {
        AUTO_FD int tmp = open(in->tmp.path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        init_allow(init, ruleset, tmp, PLAN_READ | PLAN_WRITE, true);
    }
    /* Only process 1 has it open, and it is mounted nowhere. */
    if (init->root.processes >= 0)
        init_allow(init, ruleset, init->root.processes, PLAN_READ, true);
    /* Without namespaces the terminals of others are visible as well. */
    const unsigned access = PLAN_READ | PLAN_WRITE | PLAN_IOCTL;
    if (!plan_is_native(in->plan) && init->slave >= 0)
        init_allow(init, ruleset, init->slave, access, false);
    init_require(landlock_restrict(ruleset) == 0, STAGE_LANDLOCK);
}

/* Runs after new_root_build(), which reports the limits that the kernel enforces. */
static void prepare_filter(const struct init *init)
{
    const struct init_input *in = init->in;
    const bool native = plan_is_native(in->plan);
    const struct seccomp_options options = {
        .inet = in->plan->sockets.inet,
        .unix_domain = in->plan->sockets.unix_domain,
        .connects = native && in->connects >= 0,
        .no_namespaces = !native,
        .small_segments = native && !init->root.limits_ipc,
        .no_truncate = !native && !landlock_stops_truncation(in->landlock_abi),
        .developer = native && in->plan->developer,
        .observe = native && in->observe,
        .group_id = native && in->plan->own_writes,
        .shared_max = in->plan->limits.memory_bytes,
    };
    filter_prepare(&options);
}

static void map_back(int proc, const char *path, uint64_t id)
{
    char digits[SYSCTL_DIGITS], text[SYSCTL_DIGITS + sizeof(" 0 1\n")] = {0};
    const char *number = sysctl_number(id, 10, digits);
    size_t n = strlen(number);
    memcpy(text, number, n);
    memcpy(text + n, " 0 1\n", sizeof(" 0 1\n"));
    AUTO_FD int fd = openat(proc, path, O_WRONLY | O_CLOEXEC);
    init_require(fd >= 0 && file_write_all(fd, str_z(text)), STAGE_NEST);
}

/* Maps the user's own id again. From here on the mounts and the other namespaces belong to a user
 * namespace in which no process of the sandbox has any rights. Files in /proc of a process that is
 * not dumpable belong to root; nothing runs in the sandbox yet. */
static void init_nest(const struct init_input *in, int proc)
{
    init_require(unshare(CLONE_NEWUSER) == 0, STAGE_NEST);
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    map_back(proc, "self/uid_map", in->uid);
    map_back(proc, "self/gid_map", in->gid);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

/* Becomes user 0 in here. Sets again what a change of user resets. */
static void become_other(void)
{
    init_require(syscall(SYS_setresuid, 0, 0, 0) == 0, STAGE_MAP);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}

static void init_build(struct init *init)
{
    const struct init_input *in = init->in;
    /* The host's /proc, which is writable; "self" is the same process there. */
    AUTO_FD int proc = in->nests ? open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    const struct new_root_options options = {.owns_ids = init->owns_ids,
        .pid_max = in->pid_max,
        .exact_pids = !in->limit_uid,
        .processes = in->counts || in->watches || in->service >= 0,
        .trees = in->trees};
    struct root_error error;
    if (init->owns_ids)
        init_require(
            syscall(SYS_setgroups, 0, NULL) == 0, STAGE_MAP); /* libc's waits for threads */
    if (in->other_uid)
        become_other();
    /* The cgroup namespace of a clone() into a cgroup is rooted at the cgroup of the caller. */
    if (in->grouped)
        init_require(unshare(CLONE_NEWCGROUP) == 0, STAGE_GROUP);
    if (in->plan->own_network)
        raise_loopback();
    if (in->plan->own_network && in->plan->hosts.n && !in->rehearse)
        init_require(serve_proxy(FD_CONTROL), STAGE_LOOPBACK);
    init_require(sethostname(ETC_HOST_NAME, sizeof(ETC_HOST_NAME) - 1) == 0, STAGE_HOSTNAME);
    if (!new_root_build(in->plan, &options, &init->root, &error))
        init_fail(error.stage, error.errnum, error.step);
    if (in->nests)
        init_nest(in, proc);
}

/* Returns 0, or the reason why there is no listener. */
static int restrict_self(const struct init *init, int *ret_listener)
{
    const struct init_input *in = init->in;
    int errnum;
    init_require(drop_capabilities(plan_is_native(in->plan)), STAGE_CAPABILITIES);
    init_require(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, STAGE_CAPABILITIES);
    enter_landlock(init);
    init_require(filter_enter(ret_listener, &errnum), STAGE_SECCOMP);
    return errnum;
}

/* The command --------------------------------------------------------------------------------- */

/* Also resets ignored signals, such as SIGPIPE in the supervisor: CLONE_CLEAR_SIGHAND would leave
 * them. */
static void init_reset_signals(void)
{
    struct sigaction normal = {.sa_handler = SIG_DFL};
    sigset_t none;
    for (int s = 1; s < NSIG; s++)
        sigaction(s, &normal, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The path to execute: the name that the caller used, as a script gets it from the kernel, if it is
 * that of the same file inside. */
static const char *init_command_path(const struct plan *plan)
{
    struct stat file, named;
    const char *name = plan->command_name.p;
    bool same = name && stat(name, &named) == 0 && stat(plan->command.p, &file) == 0 &&
                named.st_dev == file.st_dev && named.st_ino == file.st_ino;
    return same ? name : plan->command.p;
}

/* Runs in its own process, which shares our memory until it executes. */
static int run_command(void *context)
{
    const struct init *init = context;
    const struct init_input *in = init->in;
    int none;
    unused_tmp = NULL; /* process 1 waits for our end */
    init_require(setpgid(0, 0) == 0, STAGE_SESSION);
    if (in->terminal)
        init_require(tcsetpgrp(init->slave, getpid()) == 0, STAGE_TERMINAL);
    for (int i = 0; i < 3; i++) {
        int fd = in->io[i] >= 0 ? FD_IO + i : init->slave;
        init_require(fd < 0 || dup2(fd, i) == i, STAGE_TERMINAL);
    }
    umask(init->umask);
    if (in->plan->mode == POLICY_LANDLOCK)
        (void)restrict_self(init, &none);
    init_require(rlimits_command(in), STAGE_LIMITS);
    init_reset_signals();
    const char *path = init_command_path(in->plan);
    execve(path, in->argv, in->envp);
    init_fail(STAGE_EXEC, errno, -1);
}

/* Blocks until the process has executed, so that one stack is enough and no page table is
 * copied. */
static pid_t start_process(int (*run)(void *), void *context)
{
    static char stack[COMMAND_STACK] __attribute__((aligned(16)));
    return clone(run, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, context);
}

static void start_command(struct init *init)
{
    init->command = start_process(run_command, init);
    memory_watch_started(&init->watch);
    init_require(init->command >= 0, STAGE_FORK);
    for (int i = 0; i < 3; i++)
        if (init->in->io[i] >= 0)
            close(FD_IO + i); /* otherwise the number may be in use for something else */
    close(init->slave);
    close(init->master);
}

/* Waiting ------------------------------------------------------------------------------------- */

/* Cleanup that the kernel does by itself where there are namespaces. */
static void init_clean_up(const struct init *init)
{
    orphans_kill();
    if (init->tmp.path)
        tmpdir_remove(&init->tmp);
}

static void init_send_exit(const struct init *init, int status)
{
    const struct init_message message = {.word = INIT_EXITED,
        .errnum = init->too_many ? EAGAIN : 0,
        .step = -1,
        .value = status,
        .kills = init->watch.kills};
    init_send(FD_CONTROL, &message);
}

NORETURN static void init_finish(const struct init *init, int status)
{
    if (!plan_is_native(init->in->plan))
        init_clean_up(init);
    init_send_exit(init, status);
    _exit(0);
}

/* Signals everything; without namespaces the process groups of the commands. */
static void init_signal_all(const struct init *init, int sig)
{
    if (plan_is_native(init->in->plan)) {
        kill(-1, sig);
        return;
    }
    if (init->command)
        kill(-init->command, sig);
    for (size_t i = 0; init->serve && i < SERVICE_COMMANDS_MAX; i++) {
        const struct serve_command *c = &init->serve->commands[i];
        if (c->id && !c->has_ended)
            kill(-c->pid, sig);
    }
}

/* Ends without a report to the supervisor. */
NORETURN static void init_kill_all(const struct init *init)
{
    if (init->listener >= 0)
        kill(-1, SIGKILL); /* before the listener is closed with us */
    if (!plan_is_native(init->in->plan)) {
        init_signal_all(init, SIGKILL);
        init_clean_up(init);
    }
    _exit(0);
}

/* Process 1 may be blocked from here on: it must die with the supervisor. */
static void init_may_block(const struct init *init)
{
    if (init->listener >= 0 && !parent_death_kills())
        init_kill_all(init);
}

static void init_will_poll(const struct init *init)
{
    if (init->listener >= 0)
        parent_death_signals();
}

static void init_pause(const struct init *init, int sig)
{
    const struct init_message message = {.word = INIT_STOPPED, .step = -1, .value = sig};
    if (!init->in->report_stops)
        return;
    init_may_block(init);
    /* The others stop with it: while the supervisor sleeps nothing enforces their budget. */
    init_signal_all(init, SIGSTOP);
    init_send(FD_CONTROL, &message);
    char word;
    while ((word = init_read_word()) != INIT_CONTINUE)
        if (!word)
            init_kill_all(init);
    init_will_poll(init);
    init_signal_all(init, SIGCONT);
}

/* Stopped processes get the signal as well. Processes that handle SIGTERM are not hurried by
 * SIGHUP. */
static void init_terminate(const struct init *init)
{
    const size_t n = init->serve ? SERVICE_COMMANDS_MAX : 0;
    bool hang_up = init->in->terminal && init->command && shell_is_idle(init->command);
    for (size_t i = 0; i < n; i++) {
        struct serve_command *c = &init->serve->commands[i];
        c->hang_up = c->id && !c->has_ended && c->terminal && shell_is_idle(c->pid);
    }
    init_signal_all(init, SIGTERM);
    if (hang_up)
        kill(init->command, SIGHUP);
    for (size_t i = 0; i < n; i++)
        if (init->serve->commands[i].hang_up)
            kill(init->serve->commands[i].pid, SIGHUP);
    init_signal_all(init, SIGCONT);
}

/* Continues if it serves. */
static void init_command_ended(struct init *init, int status)
{
    if (!init->serve)
        init_finish(init, status);
    init->command = 0;
    init_send_exit(init, status);
    init->too_many = false;
}

/* Counts at intervals, if nothing else limits the number of processes: not on every signal. */
static void init_count(struct init *init)
{
    if (!init->in->counts || clock_mono_ms() - init->counted_ms < LIMITER_COUNT_MS)
        return;
    if (process_count_enforce(init->root.processes, init->in->plan->limits.processes)) {
        init->too_many = !init->serve || init->command;
        if (init->serve)
            serve_note_too_many(init->serve);
    }
    init->counted_ms = clock_mono_ms();
}

static void note_change(struct init *init, pid_t pid, int status)
{
    if (pid == init->command && WIFSTOPPED(status))
        init_pause(init, WSTOPSIG(status));
    else if (pid == init->command)
        init_command_ended(init, status);
    else if (init->serve && !WIFSTOPPED(status))
        serve_note_end(init->serve, pid, status);
}

/* Reaps some processes. Processes that keep ending must prevent neither the count nor the loop. */
static void init_reap(struct init *init)
{
    for (int i = 0; i < REAPED_AT_ONCE; i++) {
        int status;
        pid_t got = waitpid(-1, &status, WNOHANG | WUNTRACED);
        init->ended = got > 0;
        if (got <= 0)
            return;
        init_count(init);
        note_change(init, got, status);
    }
}

/* Blocks the signals that we handle: a child has changed; without namespaces also "end everything".
 * All others are ignored: a blocked one that is never read counts as one of the user's pending
 * signals. */
static void set_signals(const struct init_input *in, sigset_t *ret_set)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN}, normal = {.sa_handler = SIG_DFL};
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    sigemptyset(ret_set);
    sigaddset(ret_set, SIGCHLD);
    if (!plan_is_native(in->plan))
        sigaddset(ret_set, SIGTERM);
    else if (in->observe || in->connects >= 0)
        sigaddset(ret_set, PARENT_DEATH_SIGNAL);
    for (int s = 1; s < NSIG; s++)
        sigaction(s, sigismember(ret_set, s) == 1 ? &normal : &ignore, NULL);
    sigprocmask(SIG_SETMASK, ret_set, NULL);
}

/* Service ------------------------------------------------------------------------------------- */

/* One of several commands, before it executes. */
struct init_spawn {
    const struct init *init;
    const struct serve_request *request;
    struct serve_words words;
    int slave;
};

/* Sets the given streams, or the terminal, or else the sandbox's own /dev/null. */
static void set_streams(const struct init_spawn *spawn)
{
    size_t given = 1;
    for (int i = 0; i < 3; i++) {
        int fd = spawn->slave;
        if (fd < 0 && spawn->request->wire.streams >> i & 1)
            fd = spawn->request->fds[given++];
        else if (fd < 0)
            fd = open("/dev/null", O_RDWR | O_CLOEXEC);
        init_require(fd >= 0 && dup2(fd, i) == i, STAGE_TERMINAL);
    }
}

/* Like run_command(). Has its own session, so that another command's terminal does not control
 * it. */
static int run_spawned(void *context)
{
    const struct init_spawn *spawn = context;
    struct init own = *spawn->init;
    int none;
    own.slave = spawn->slave;
    init_require(setsid() >= 0, STAGE_SESSION);
    init_require(own.slave < 0 || ioctl(own.slave, TIOCSCTTY, 0) == 0, STAGE_TERMINAL);
    set_streams(spawn);
    init_require(chdir(spawn->words.cwd) == 0, STAGE_CWD);
    umask(own.umask);
    if (own.in->plan->mode == POLICY_LANDLOCK)
        (void)restrict_self(&own, &none);
    init_require(rlimits_command(own.in), STAGE_LIMITS);
    init_reset_signals();
    syscall(SYS_close_range, FD_CONTROL, ~0u, 0);
    execve(spawn->words.path, spawn->words.argv, spawn->words.envp);
    /* Return instead of calling _exit(): sanitizers complain about noreturn calls on a foreign
     * stack. */
    init_refuse(STAGE_EXEC, errno);
    return 127;
}

/* A failure is stored in the answer, which the process shares with us until it executes. */
static pid_t start_spawned(struct init_spawn *spawn, struct wire_answer *answer)
{
    refusal = answer;
    pid_t pid = start_process(run_spawned, spawn);
    refusal = NULL;
    if (pid < 0) {
        answer->value = errno;
        answer->stage = STAGE_FORK;
    }
    if (answer->value != 0)
        return -1;
    answer->word = SERVICE_SPAWNED;
    return pid;
}

static void init_spawn_command(struct init *init, const struct serve_request *request)
{
    const struct wire_request *wire = &request->wire;
    const struct winsize size = {.ws_row = wire->rows, .ws_col = wire->cols};
    struct wire_answer answer = {.word = SERVICE_REFUSED, .id = wire->id};
    struct init_spawn new = {.init = init, .request = request, .slave = -1};
    struct serve_command *place = serve_free_place(init->serve);
    int ends[2] = {-1, -1};
    if (!place || serve_find(init->serve, wire->id)) {
        answer.value = place ? EEXIST : EAGAIN;
        answer.stage = STAGE_FORK;
    } else if (!serve_map_words(request->fds[0], &new.words)) {
        answer.value = errno;
        answer.stage = STAGE_EXEC;
    } else if (wire->terminal && !serve_make_terminal(init->root.devpts, &size, ends)) {
        answer.value = errno;
        answer.stage = STAGE_TERMINAL;
    } else {
        new.slave = ends[1];
        pid_t pid = start_spawned(&new, &answer);
        memory_watch_started(&init->watch);
        if (pid > 0)
            answer.value = pid;
        if (pid > 0)
            *place = (struct serve_command){.id = wire->id, .pid = pid, .terminal = wire->terminal};
    }
    if (new.words.map)
        serve_unmap_words(&new.words);
    bool started = answer.word == SERVICE_SPAWNED;
    auto_fd(&ends[1]);
    if (!started)
        auto_fd(&ends[0]);
    serve_answer(init->serve, &answer, started ? ends[0] : -1);
}

/* Only in a private network: elsewhere the sockets would be the host's. */
static void open_socket(struct init *init, const struct serve_request *request)
{
    const struct plan *plan = init->in->plan;
    const bool listens = request->wire.word == WIRE_LISTEN;
    struct wire_answer answer = {.id = request->wire.id};
    uint16_t port = (uint16_t)request->wire.value;
    int fd = -1;
    errno = EOPNOTSUPP;
    if (plan_is_native(plan) && plan->own_network)
        fd = listens ? serve_listen(port, &port) : serve_connect(port);
    answer.word = listens ? SERVICE_LISTENS : SERVICE_CONNECTS;
    answer.value = port;
    if (fd < 0)
        answer = (struct wire_answer){SERVICE_REFUSED, request->wire.id, errno, STAGE_LOOPBACK};
    serve_answer(init->serve, &answer, fd);
}

static void init_send_signal(struct init *init, const struct serve_request *request)
{
    const struct serve_command *c = serve_find(init->serve, request->wire.id);
    const bool kills = request->wire.word == WIRE_KILL;
    if (!request->wire.id || !c || c->has_ended)
        return;
    if (kills && plan_is_native(init->in->plan))
        session_kill(init->root.processes, c->pid);
    else
        kill(-c->pid, kills ? SIGKILL : request->wire.value);
}

static void init_release(struct init *init, const struct serve_request *request)
{
    (void)request;
    if (init->held)
        start_command(init);
    init->held = false;
}

static void init_handle_request(struct init *init)
{
    static void (*const how[])(struct init *, const struct serve_request *) = {
        [WIRE_START] = init_release,
        [WIRE_SPAWN] = init_spawn_command,
        [WIRE_SIGNAL] = init_send_signal,
        [WIRE_KILL] = init_send_signal,
        [WIRE_LISTEN] = open_socket,
        [WIRE_CONNECT] = open_socket,
    };
    struct serve_request request;
    if (!serve_next(init->serve, &request))
        return;
    init_may_block(init);
    if (request.wire.word < ARRAY_LEN(how))
        how[request.wire.word](init, &request);
    init_will_poll(init);
    serve_drop(&request);
}

static void take_word(struct init *init)
{
    char word = init_read_word();
    if (!word)
        init_kill_all(init);
    if (word == INIT_ASK_TO_END)
        init_terminate(init);
}

static void init_connect(const struct init *init)
{
    init_may_block(init);
    connector_serve(FD_CONNECTS, init->in->plan->cwd.p);
    init_will_poll(init);
}

/* `want` is what the service socket was polled for. */
static void take_events(struct init *init, const struct pollfd fds[4], short want)
{
    struct signalfd_siginfo info;
    if ((fds[1].revents & ~want) || (fds[2].revents & ~POLLIN) || (fds[3].revents & ~POLLIN))
        init_kill_all(init);
    if (fds[0].revents && read(init->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        /* A command can send us that signal as well; it is another process of the sandbox. */
        if (info.ssi_signo != SIGCHLD && (info.ssi_pid == 0 || init->listener < 0))
            init_kill_all(init);
        init->ended = true;
    }
    if (fds[2].revents)
        take_word(init);
    if (fds[1].revents & want & POLLIN)
        init_handle_request(init);
    if (fds[3].revents & POLLIN)
        init_connect(init);
}

/* Runs until the supervisor is gone, or has closed its ends: the parent-death signal is lost if it
 * died before that was requested. While the supervisor does not read its answers, no more requests
 * are handled; but processes are reaped. */
NORETURN static void init_loop(struct init *init)
{
    init_will_poll(init);
    for (;;) {
        short want = !init->serve || serve_flush(init->serve) ? POLLIN : POLLOUT;
        struct pollfd fds[] = {
            {.fd = init->signals, .events = POLLIN},
            {.fd = init->serve ? FD_SERVICE : -1, .events = want},
            {.fd = FD_CONTROL, .events = POLLIN},
            {.fd = init->in->connects >= 0 ? FD_CONNECTS : -1, .events = POLLIN},
        };
        int idle_ms = init->in->counts    ? LIMITER_COUNT_MS
                      : init->in->watches ? memory_watch_timeout(&init->watch, clock_mono_ms())
                                          : -1;
        int ready = poll(fds, ARRAY_LEN(fds), init->ended ? 0 : idle_ms);
        init_count(init);
        if (init->in->watches)
            memory_watch_sample(&init->watch, clock_mono_ms());
        if (ready > 0)
            take_events(init, fds, want);
        if (init->ended)
            init_reap(init);
    }
}

/* Processes that we start count like those of the command: the limit can't be bypassed through
 * us. */
static void init_start_service(struct init *init)
{
    static struct serve serve = {.socket = FD_SERVICE, .owed_fd = -1};
    init->serve = &serve;
    init->held = init->in->held && !init->in->idle;
    if (init->in->limit_uid)
        init_require(rlimits_set(RLIMIT_NPROC, init->in->plan->limits.processes + 1), STAGE_LIMITS);
}

/* The id maps of a process that is not dumpable belong to root: this one is dumpable only while
 * they are written. */
static void let_be_mapped(const struct init_input *in)
{
    explicit_bzero(in->secret, in->secret_size);
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    init_send(FD_CONTROL, &(struct init_message){.word = INIT_MAPPABLE, .step = -1});
}

/* Created by process 1, which outlives the supervisor: a directory that the supervisor creates
 * would stay if it is killed. */
static void make_tmp(struct init *init)
{
    init->tmp = init->in->tmp;
    init_require(tmpdir_make(&init->tmp), STAGE_TMP);
    unused_tmp = &init->tmp;
}

/* Knows the command of a killed process by its session. */
static void note_large(void *context, pid_t pid)
{
    struct init *init = context;
    if (init->serve)
        serve_note_large(init->serve, getsid(pid));
}

static void start_watch(struct init *init)
{
    init->watch = (struct memory_watch){.processes = init->root.processes,
        .most = init->in->plan->limits.memory_bytes,
        .killed = note_large,
        .context = init};
}

static bool init_send_ready(const struct init *init, int no_listener)
{
    const bool terminal = init->master >= 0, listens = init->listener >= 0;
    const struct init_message message = {.word = INIT_READY,
        .errnum = no_listener,
        .step = -1,
        .value = (terminal ? INIT_SENDS_TERMINAL : 0) | (listens ? INIT_SENDS_LISTENER : 0),
        .dev = init->tmp.dev,
        .ino = init->tmp.ino};
    const struct iovec part = {(void *)&message, sizeof(message)};
    const int fds[] = {terminal ? init->master : init->listener, init->listener};
    return packet_send(FD_CONTROL, &part, 1, fds, (size_t)terminal + listens, 0) >= 0;
}

void init_main(const struct init_input *in)
{
    struct init init = {.in = in,
        .root = {.fd = -1, .devpts = -1, .processes = -1},
        .master = -1,
        .slave = -1,
        .listener = -1};
    sigset_t signals;
    int no_listener = 0, left = descriptors_keep(in);
    set_signals(in, &signals);
    int death = plan_is_native(in->plan) ? SIGKILL : SIGTERM;
    prctl(PR_SET_PDEATHSIG, death, 0, 0, 0);
    if (in->nodump)
        let_be_mapped(in);
    char word = init_read_word();
    if (!word)
        _exit(127);
    if (left)
        init_fail(STAGE_DESCRIPTORS, left, -1);
    init.owns_ids = word == INIT_GO_ALL_IDS;
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    explicit_bzero(in->secret, in->secret_size);
    prctl(PR_SET_NAME, "cordon-init", 0, 0, 0);
    init.umask = umask(0);
    init_require(setsid() >= 0, STAGE_SESSION);
    /* Inherited by all later processes: the filter lets none of them change it. Too small for a
     * core file; and 1 is the only value for which the kernel does not start a program of the host
     * either. */
    init_require(rlimits_set(RLIMIT_CORE, 1), STAGE_LIMITS);
    init_require(descriptors_raise() > 0, STAGE_LIMITS); /* commands get less */
    if (in->plan->mode != POLICY_NO_SANDBOX)
        init_require(rlimits_share(RLIMIT_SIGPENDING, 0),
            STAGE_LIMITS); /* also of those that are sent to us */
    if (plan_is_native(in->plan))
        init_build(&init);
    else
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    prepare_filter(&init);
    if (in->terminal)
        init_open_terminal(&init);
    init.signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    init_require(init.signals >= 0, STAGE_SESSION);
    if (in->service >= 0)
        init_start_service(&init);
    if (in->tmp.path)
        make_tmp(&init);
    init_require(chdir(tmpdir_cwd(in->plan, in->tmp.path)) == 0, STAGE_CWD);
    if (in->connects >= 0 && in->plan->own_network)
        connector_prepare();
    if (plan_is_native(in->plan))
        no_listener = restrict_self(&init, &init.listener);
    prctl(PR_SET_PDEATHSIG, death, 0, 0, 0);
    if (!init_send_ready(&init, no_listener))
        init_exit();
    if (in->rehearse)
        init_finish(&init, 0);
    start_watch(&init);
    if (!in->idle && !init.held)
        start_command(&init);
    init_loop(&init);
}
