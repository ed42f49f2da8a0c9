/* Process 1. Does only what is safe after clone() in a multithreaded process. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/init.h"

#include "base/clock.h"
#include "io/file.h"
#include "io/packet.h"
#include "sandbox/descriptors.h"
#include "sandbox/idle.h"
#include "sandbox/landlock.h"
#include "sandbox/limiter.h"
#include "sandbox/orphans.h"
#include "sandbox/root.h"
#include "sandbox/serve.h"
#include "sandbox/setting.h"
#include "sandbox/tally.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
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
    CAPABILITIES = 64,
    SPACE_FACTOR = 4,         /* address space per byte of memory: reserved parts stay unused */
    SHARE = 4,                /* the sandbox gets one SHARE-th of the user's limits */
    LOCKED_LEAST = 64 * 1024, /* bytes: programs keep keys there */
    COMMAND_STACK = 64 * 1024,
    REAPED_AT_ONCE = 64,
};

struct init {
    const struct init_input *in;
    struct seccomp_filter *filter;
    struct root root;
    struct tmpdir tmp; /* without mounts */
    int master, slave;
    mode_t umask;
    bool owns_ids;
    pid_t command; /* 0: not started, or ended */
    bool held;
    bool too_many; /* there were too many processes: they were killed */
    uint64_t counted_ms;
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
static bool tell(int control, const struct init_message *message, int fd)
{
    const struct iovec part = {(void *)message, sizeof(*message)};
    return packet_send(control, &part, 1, &fd, fd >= 0, 0) >= 0;
}

NORETURN static void leave(void)
{
    if (unused_tmp)
        tmpdir_remove(unused_tmp);
    _exit(127);
}

static void refuse(enum stage stage, int errnum)
{
    refusal->word = SERVICE_REFUSED;
    refusal->stage = stage;
    refusal->value = errnum;
}

NORETURN static void give_up(enum stage stage, int errnum, int step)
{
    const struct init_message message = {
        .word = INIT_FAILED, .stage = stage, .errnum = errnum, .step = step};
    if (refusal) {
        refuse(stage, errnum);
        _exit(127);
    }
    tell(FD_CONTROL, &message, -1);
    leave();
}

static void need(bool ok, enum stage stage)
{
    if (!ok)
        give_up(stage, errno, -1);
}

/* Reads one byte from the supervisor; 0 if it is gone: then the caller must not continue. */
static char await_word(void)
{
    char word = 0;
    while (read(FD_CONTROL, &word, 1) < 0 && errno == EINTR)
        ;
    return word;
}

/* Setup --------------------------------------------------------------------------------------- */

static void limit(int resource, uint64_t most)
{
    struct rlimit now;
    need(getrlimit((unsigned)resource, &now) == 0, STAGE_LIMITS);
    rlim_t value = MIN((rlim_t)most, now.rlim_max);
    now = (struct rlimit){value, value};
    need(setrlimit((unsigned)resource, &now) == 0, STAGE_LIMITS);
}

/* The kernel refuses to pass descriptors on while all processes of the user have more in flight
 * than the sender may have open: commands must not reach the number that holds for us. */
static void raise_files(void)
{
    struct rlimit now;
    need(getrlimit(RLIMIT_NOFILE, &now) == 0, STAGE_LIMITS);
    now.rlim_cur = now.rlim_max;
    need(setrlimit(RLIMIT_NOFILE, &now) == 0, STAGE_LIMITS);
}

static void raise_loopback(void)
{
    struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
    AUTO_FD int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    need(fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &request) == 0, STAGE_LOOPBACK);
}

/* Opens a terminal of the sandbox, not yet a controlling terminal; returns false and errno on
 * failure. */
static bool make_terminal(const struct init *init, const struct winsize *size, int ret_ends[2])
{
    struct termios mode;
    int unlocked = 0;
    AUTO_FD int master = init->root.devpts >= 0
                             ? openat(init->root.devpts, "ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
                             : open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0 || ioctl(master, TIOCSPTLCK, &unlocked) != 0)
        return false;
    AUTO_FD int slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (slave < 0 || ioctl(master, TIOCSWINSZ, size) != 0 || tcgetattr(slave, &mode) != 0)
        return false;
    mode.c_iflag |= IUTF8;
    if (tcsetattr(slave, TCSANOW, &mode) != 0)
        return false;
    ret_ends[0] = TAKE_FD(master);
    ret_ends[1] = TAKE_FD(slave);
    return true;
}

static void open_terminal(struct init *init)
{
    const struct winsize size = {.ws_row = init->in->rows, .ws_col = init->in->cols};
    int ends[2];
    need(make_terminal(init, &size, ends), STAGE_TERMINAL);
    init->master = ends[0];
    init->slave = ends[1];
    need(ioctl(init->slave, TIOCSCTTY, 0) == 0, STAGE_TERMINAL);
}

/* Drops all capabilities, and keeps a program that root starts from regaining any. */
static void drop_capabilities(bool must)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {0};
    const unsigned long bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                               SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
                               SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
    bool ok = prctl(PR_SET_SECUREBITS, bits, 0, 0, 0) == 0;
    for (unsigned cap = 0; ok && cap < CAPABILITIES; cap++)
        if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) != 0) {
            ok = errno == EINVAL && cap > CAP_CHECKPOINT_RESTORE;
            break;
        }
    need(ok || !must, STAGE_CAPABILITIES);
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    need(syscall(SYS_capset, &header, none) == 0, STAGE_CAPABILITIES);
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

static bool is_dir(const struct plan_step *step)
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

static void add_rules(const struct init_input *in, int ruleset)
{
    const unsigned names = in->plan->sockets.unix_domain ? PLAN_SOCKET : 0;
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
        if (fd < 0 || landlock_allow(ruleset, in->landlock_abi, fd, access, is_dir(step)) != 0)
            give_up(STAGE_LANDLOCK, errno, (int)i);
    }
}

static void enter_landlock(const struct init *init)
{
    const struct init_input *in = init->in;
    const struct landlock_options options = {.tcp = !in->plan->sockets.inet};
    AUTO_FD int ruleset = landlock_create(in->landlock_abi, &options);
    need(ruleset >= 0, STAGE_LANDLOCK);
    add_rules(in, ruleset);
    if (in->tmp.path) {
        AUTO_FD int tmp = open(in->tmp.path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        need(tmp >= 0 &&
                 landlock_allow(ruleset, in->landlock_abi, tmp, PLAN_READ | PLAN_WRITE, true) == 0,
            STAGE_LANDLOCK);
    }
    /* Without namespaces the terminals of others are visible as well. */
    const unsigned access = PLAN_READ | PLAN_WRITE | PLAN_IOCTL;
    if (!plan_is_native(in->plan) && init->slave >= 0)
        need(landlock_allow(ruleset, in->landlock_abi, init->slave, access, false) == 0,
            STAGE_LANDLOCK);
    need(landlock_enter(ruleset) == 0, STAGE_LANDLOCK);
}

/* Runs after root_build(), which reports the limits that the kernel enforces. */
static void prepare_filter(struct init *init)
{
    static struct seccomp_filter filter;
    const struct init_input *in = init->in;
    const bool native = plan_is_native(in->plan);
    const struct seccomp_options options = {
        .inet = in->plan->sockets.inet,
        .unix_domain = in->plan->sockets.unix_domain,
        .no_namespaces = !native,
        .small_segments = native && !init->root.limits_ipc,
        .no_truncate = !native && !landlock_stops_truncation(in->landlock_abi),
        .shared_max = in->plan->limits.memory_bytes,
    };
    seccomp_compile(&options, &filter);
    init->filter = &filter;
}

static void enter_filter(const struct init *init)
{
    const struct sock_fprog program = {.len = init->filter->n, .filter = init->filter->code};
    need(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0, STAGE_SECCOMP);
}

static void map_back(int proc, const char *path, uint64_t id)
{
    char digits[SETTING_DIGITS], text[SETTING_DIGITS + sizeof(" 0 1\n")] = {0};
    const char *number = setting_number(id, 10, digits);
    size_t n = strlen(number);
    memcpy(text, number, n);
    memcpy(text + n, " 0 1\n", sizeof(" 0 1\n"));
    AUTO_FD int fd = openat(proc, path, O_WRONLY | O_CLOEXEC);
    need(fd >= 0 && file_write_all(fd, str_z(text)), STAGE_NEST);
}

/* Maps the user's own id again. From here on the mounts and the other namespaces belong to a user
 * namespace in which no process of the sandbox has any rights. Files in /proc of a process that is
 * not dumpable belong to root; nothing runs in the sandbox yet. */
static void nest(const struct init_input *in, int proc)
{
    need(unshare(CLONE_NEWUSER) == 0, STAGE_NEST);
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    map_back(proc, "self/uid_map", in->uid);
    map_back(proc, "self/gid_map", in->gid);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

/* Becomes user 0 in here. Sets again what a change of user resets. */
static void become_other(void)
{
    need(syscall(SYS_setresuid, 0, 0, 0) == 0, STAGE_MAP);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}

static void build(struct init *init)
{
    const struct init_input *in = init->in;
    /* The host's /proc, which is writable; "self" is the same process there. */
    AUTO_FD int proc = in->nests ? open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    const struct root_options options = {.owns_ids = init->owns_ids,
        .pid_max = in->pid_max,
        .exact_pids = !in->limit_uid,
        .counts = in->counts,
        .trees = in->trees};
    struct root_error error;
    if (init->owns_ids)
        need(syscall(SYS_setgroups, 0, NULL) == 0, STAGE_MAP); /* libc's waits for threads */
    if (in->other_uid)
        become_other();
    /* The cgroup namespace of a clone() into a cgroup is rooted at the cgroup of the caller. */
    if (in->grouped)
        need(unshare(CLONE_NEWCGROUP) == 0, STAGE_GROUP);
    if (in->plan->own_network)
        raise_loopback();
    need(sethostname("cordon", 6) == 0, STAGE_HOSTNAME);
    if (!root_build(in->plan, &options, &init->root, &error))
        give_up(error.stage, error.errnum, error.step);
    if (in->nests)
        nest(in, proc);
}

static void restrict_self(const struct init *init)
{
    const struct init_input *in = init->in;
    drop_capabilities(plan_is_native(in->plan));
    need(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, STAGE_CAPABILITIES);
    enter_landlock(init);
    enter_filter(init);
}

/* The command --------------------------------------------------------------------------------- */

/* Limits a resource to a share of what all processes of the user have together; at least this much,
 * if they have it. */
static void limit_share(int resource, uint64_t least)
{
    struct rlimit now;
    need(getrlimit((unsigned)resource, &now) == 0, STAGE_LIMITS);
    limit(
        resource, now.rlim_cur == RLIM_INFINITY ? now.rlim_cur : MAX(now.rlim_cur / SHARE, least));
}

/* Limits resources that the command could take from the user's other processes. */
static void limit_user_wide(void)
{
    limit(RLIMIT_RTPRIO, 0);
    limit(RLIMIT_NICE, 0);
    limit_share(RLIMIT_MSGQUEUE, 0);
    limit_share(RLIMIT_MEMLOCK, LOCKED_LEAST);
}

static void set_limits(const struct init_input *in)
{
    const struct policy_limits *limits = &in->plan->limits;
    uint64_t space = limits->memory_bytes > UINT64_MAX / SPACE_FACTOR
                         ? UINT64_MAX
                         : limits->memory_bytes * SPACE_FACTOR;
    limit(RLIMIT_NOFILE, limits->open_files);
    limit(RLIMIT_FSIZE, limits->file_bytes);
    limit(RLIMIT_DATA, limits->memory_bytes);
    limit(RLIMIT_AS, space);
    if (in->plan->mode != POLICY_NO_SANDBOX)
        limit_user_wide();
    if (in->limit_uid)
        limit(RLIMIT_NPROC, limits->processes + 1); /* plus process 1 */
    if (in->counts)
        setpriority(PRIO_PROCESS, 0, in->nice);
}

/* Also resets ignored signals, such as SIGPIPE in the supervisor: CLONE_CLEAR_SIGHAND would leave
 * them. */
static void reset_signals(void)
{
    struct sigaction normal = {.sa_handler = SIG_DFL};
    sigset_t none;
    for (int s = 1; s < NSIG; s++)
        sigaction(s, &normal, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Runs in its own process, which shares our memory until it executes. */
static int run_command(void *context)
{
    const struct init *init = context;
    const struct init_input *in = init->in;
    unused_tmp = NULL; /* process 1 waits for our end */
    need(setpgid(0, 0) == 0, STAGE_SESSION);
    if (in->terminal)
        need(tcsetpgrp(init->slave, getpid()) == 0, STAGE_TERMINAL);
    for (int i = 0; i < 3; i++) {
        int fd = in->io[i] >= 0 ? FD_IO + i : init->slave;
        need(fd < 0 || dup2(fd, i) == i, STAGE_TERMINAL);
    }
    umask(init->umask);
    if (in->plan->mode == POLICY_LANDLOCK)
        restrict_self(init);
    set_limits(in);
    reset_signals();
    execve(in->plan->command.p, in->argv, in->envp);
    give_up(STAGE_EXEC, errno, -1);
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
    need(init->command >= 0, STAGE_FORK);
    for (int i = 0; i < 3; i++)
        if (init->in->io[i] >= 0)
            close(FD_IO + i); /* otherwise the number may be in use for something else */
    close(init->slave);
    close(init->master);
}

/* Waiting ------------------------------------------------------------------------------------- */

/* Removes what namespaces would remove by themselves. */
static void leave_nothing(const struct init *init)
{
    orphans_kill();
    if (init->tmp.path)
        tmpdir_remove(&init->tmp);
}

static void tell_end(const struct init *init, int status)
{
    const struct init_message message = {
        .word = INIT_EXITED, .errnum = init->too_many ? EAGAIN : 0, .step = -1, .value = status};
    tell(FD_CONTROL, &message, -1);
}

NORETURN static void finish(const struct init *init, int status)
{
    if (!plan_is_native(init->in->plan))
        leave_nothing(init);
    tell_end(init, status);
    _exit(0);
}

/* Signals everything; without namespaces the process groups of the commands. */
static void signal_all(const struct init *init, int sig)
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
NORETURN static void end_all(const struct init *init)
{
    if (!plan_is_native(init->in->plan)) {
        signal_all(init, SIGKILL);
        leave_nothing(init);
    }
    _exit(0);
}

static void pause_with(const struct init *init, int sig)
{
    const struct init_message message = {.word = INIT_STOPPED, .step = -1, .value = sig};
    if (!init->in->report_stops)
        return;
    /* The others stop with it: while the supervisor sleeps nothing enforces their budget. */
    signal_all(init, SIGSTOP);
    tell(FD_CONTROL, &message, -1);
    char word;
    while ((word = await_word()) != INIT_CONTINUE)
        if (!word)
            end_all(init);
    signal_all(init, SIGCONT);
}

/* Stopped processes get the signal as well. Processes that handle SIGTERM are not hurried by
 * SIGHUP. */
static void ask_to_end(const struct init *init)
{
    const size_t n = init->serve ? SERVICE_COMMANDS_MAX : 0;
    bool hang_up = init->in->terminal && init->command && idle_is_shell(init->command);
    for (size_t i = 0; i < n; i++) {
        struct serve_command *c = &init->serve->commands[i];
        c->hang_up = c->id && !c->has_ended && c->terminal && idle_is_shell(c->pid);
    }
    signal_all(init, SIGTERM);
    if (hang_up)
        kill(init->command, SIGHUP);
    for (size_t i = 0; i < n; i++)
        if (init->serve->commands[i].hang_up)
            kill(init->serve->commands[i].pid, SIGHUP);
    signal_all(init, SIGCONT);
}

/* Continues if it serves. */
static void note_end(struct init *init, int status)
{
    if (!init->serve)
        finish(init, status);
    init->command = 0;
    tell_end(init, status);
    init->too_many = false;
}

/* Counts at intervals, if nothing else limits the number of processes: not on every signal. */
static void count(struct init *init)
{
    if (!init->in->counts || clock_mono_ms() - init->counted_ms < LIMITER_COUNT_MS)
        return;
    if (tally_enforce(init->root.processes, init->in->plan->limits.processes)) {
        init->too_many = !init->serve || init->command;
        if (init->serve)
            serve_note_too_many(init->serve);
    }
    init->counted_ms = clock_mono_ms();
}

static void note_change(struct init *init, pid_t pid, int status)
{
    if (pid == init->command && WIFSTOPPED(status))
        pause_with(init, WSTOPSIG(status));
    else if (pid == init->command)
        note_end(init, status);
    else if (init->serve && !WIFSTOPPED(status))
        serve_note_end(init->serve, pid, status);
}

/* Reaps some processes. Processes that keep ending must prevent neither the count nor the loop. */
static void reap(struct init *init)
{
    for (int i = 0; i < REAPED_AT_ONCE; i++) {
        int status;
        pid_t got = waitpid(-1, &status, WNOHANG | WUNTRACED);
        init->ended = got > 0;
        if (got <= 0)
            return;
        count(init);
        note_change(init, got, status);
    }
}

/* Blocks the signals that we handle: a child has changed; without namespaces also "end everything".
 * All others are ignored: a blocked one that is never read counts as one of the user's pending
 * signals. */
static void set_signals(bool native, sigset_t *ret_set)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN}, normal = {.sa_handler = SIG_DFL};
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    sigemptyset(ret_set);
    sigaddset(ret_set, SIGCHLD);
    if (!native)
        sigaddset(ret_set, SIGTERM);
    for (int s = 1; s < NSIG; s++)
        sigaction(s, sigismember(ret_set, s) == 1 ? &normal : &ignore, NULL);
    sigprocmask(SIG_SETMASK, ret_set, NULL);
}

/* Service ------------------------------------------------------------------------------------- */

/* One of several commands, before it executes. */
struct spawn {
    const struct init *init;
    const struct serve_request *request;
    struct serve_words words;
    int slave;
};

/* Sets the given streams, or the terminal, or else the sandbox's own /dev/null. */
static void set_streams(const struct spawn *spawn)
{
    size_t given = 1;
    for (int i = 0; i < 3; i++) {
        int fd = spawn->slave;
        if (fd < 0 && spawn->request->wire.streams >> i & 1)
            fd = spawn->request->fds[given++];
        else if (fd < 0)
            fd = open("/dev/null", O_RDWR | O_CLOEXEC);
        need(fd >= 0 && dup2(fd, i) == i, STAGE_TERMINAL);
    }
}

/* Like run_command(). Has its own session, so that another command's terminal does not control
 * it. */
static int run_spawned(void *context)
{
    const struct spawn *spawn = context;
    struct init own = *spawn->init;
    own.slave = spawn->slave;
    need(setsid() >= 0, STAGE_SESSION);
    need(own.slave < 0 || ioctl(own.slave, TIOCSCTTY, 0) == 0, STAGE_TERMINAL);
    set_streams(spawn);
    need(chdir(spawn->words.cwd) == 0, STAGE_CWD);
    umask(own.umask);
    if (own.in->plan->mode == POLICY_LANDLOCK)
        restrict_self(&own);
    set_limits(own.in);
    reset_signals();
    syscall(SYS_close_range, FD_CONTROL, ~0u, 0);
    execve(spawn->words.path, spawn->words.argv, spawn->words.envp);
    /* Return instead of calling _exit(): sanitizers complain about noreturn calls on a foreign
     * stack. */
    refuse(STAGE_EXEC, errno);
    return 127;
}

/* A failure is stored in the answer, which the process shares with us until it executes. */
static pid_t start_spawned(struct spawn *spawn, struct wire_answer *answer)
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

static void spawn(struct init *init, const struct serve_request *request)
{
    const struct wire_request *wire = &request->wire;
    const struct winsize size = {.ws_row = wire->rows, .ws_col = wire->cols};
    struct wire_answer answer = {.word = SERVICE_REFUSED, .id = wire->id};
    struct spawn new = {.init = init, .request = request, .slave = -1};
    struct serve_command *place = serve_free_place(init->serve);
    int ends[2] = {-1, -1};
    if (!place || serve_find(init->serve, wire->id)) {
        answer.value = place ? EEXIST : EAGAIN;
        answer.stage = STAGE_FORK;
    } else if (!serve_map_words(request->fds[0], &new.words)) {
        answer.value = errno;
        answer.stage = STAGE_EXEC;
    } else if (wire->terminal && !make_terminal(init, &size, ends)) {
        answer.value = errno;
        answer.stage = STAGE_TERMINAL;
    } else {
        new.slave = ends[1];
        pid_t pid = start_spawned(&new, &answer);
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

static void send_signal(struct init *init, const struct serve_request *request)
{
    const struct serve_command *c = serve_find(init->serve, request->wire.id);
    if (request->wire.id && c && !c->has_ended)
        kill(-c->pid, request->wire.value);
}

static void release(struct init *init, const struct serve_request *request)
{
    (void)request;
    if (init->held)
        start_command(init);
    init->held = false;
}

static void take_request(struct init *init)
{
    static void (*const how[])(struct init *, const struct serve_request *) = {
        [WIRE_START] = release,
        [WIRE_SPAWN] = spawn,
        [WIRE_SIGNAL] = send_signal,
        [WIRE_LISTEN] = open_socket,
        [WIRE_CONNECT] = open_socket,
    };
    struct serve_request request;
    if (!serve_next(init->serve, &request))
        return;
    if (request.wire.word < ARRAY_LEN(how))
        how[request.wire.word](init, &request);
    serve_drop(&request);
}

static void take_word(struct init *init)
{
    char word = await_word();
    if (!word)
        end_all(init);
    if (word == INIT_ASK_TO_END)
        ask_to_end(init);
}

/* `want` is what the service socket was polled for. */
static void take_events(struct init *init, const struct pollfd fds[3], short want)
{
    struct signalfd_siginfo info;
    if ((fds[1].revents & ~want) || (fds[2].revents & ~POLLIN))
        end_all(init);
    if (fds[0].revents && read(init->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo != SIGCHLD)
            end_all(init);
        init->ended = true;
    }
    if (fds[2].revents)
        take_word(init);
    if (fds[1].revents & want & POLLIN)
        take_request(init);
}

/* Runs until the supervisor is gone, or has closed its ends: the parent-death signal is lost if it
 * died before that was requested. While the supervisor does not read its answers, no more requests
 * are handled; but processes are reaped. */
NORETURN static void wait_for_all(struct init *init)
{
    for (;;) {
        short want = !init->serve || serve_flush(init->serve) ? POLLIN : POLLOUT;
        struct pollfd fds[] = {
            {.fd = init->signals, .events = POLLIN},
            {.fd = init->serve ? FD_SERVICE : -1, .events = want},
            {.fd = FD_CONTROL, .events = POLLIN},
        };
        int idle_ms = init->in->counts ? LIMITER_COUNT_MS : -1;
        int ready = poll(fds, ARRAY_LEN(fds), init->ended ? 0 : idle_ms);
        count(init);
        if (ready > 0)
            take_events(init, fds, want);
        if (init->ended)
            reap(init);
    }
}

/* Processes that we start count like those of the command: the limit can't be bypassed through
 * us. */
static void begin_to_serve(struct init *init)
{
    static struct serve serve = {.socket = FD_SERVICE, .owed_fd = -1};
    init->serve = &serve;
    init->held = init->in->held && !init->in->idle;
    if (init->in->limit_uid)
        limit(RLIMIT_NPROC, init->in->plan->limits.processes + 1);
}

/* The id maps of a process that is not dumpable belong to root: this one is dumpable only while
 * they are written. */
static void let_be_mapped(const struct init_input *in)
{
    explicit_bzero(in->secret, in->secret_size);
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    tell(FD_CONTROL, &(struct init_message){.word = INIT_MAPPABLE, .step = -1}, -1);
}

/* Created by process 1, which outlives the supervisor: a directory that the supervisor creates
 * would stay if it is killed. */
static void make_tmp(struct init *init)
{
    init->tmp = init->in->tmp;
    need(tmpdir_make(&init->tmp), STAGE_TMP);
    unused_tmp = &init->tmp;
}

static bool tell_ready(const struct init *init)
{
    const struct init_message message = {
        .word = INIT_READY, .step = -1, .dev = init->tmp.dev, .ino = init->tmp.ino};
    return tell(FD_CONTROL, &message, init->master);
}

void init_main(const struct init_input *in)
{
    struct init init = {
        .in = in, .root = {.fd = -1, .devpts = -1, .processes = -1}, .master = -1, .slave = -1};
    sigset_t signals;
    int left = descriptors_keep(in);
    set_signals(plan_is_native(in->plan), &signals);
    int death = plan_is_native(in->plan) ? SIGKILL : SIGTERM;
    prctl(PR_SET_PDEATHSIG, death, 0, 0, 0);
    if (in->nodump)
        let_be_mapped(in);
    char word = await_word();
    if (!word)
        _exit(127);
    if (left)
        give_up(STAGE_DESCRIPTORS, left, -1);
    init.owns_ids = word == INIT_GO_ALL_IDS;
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    explicit_bzero(in->secret, in->secret_size);
    prctl(PR_SET_NAME, "cordon-init", 0, 0, 0);
    init.umask = umask(0);
    need(setsid() >= 0, STAGE_SESSION);
    /* Inherited by all later processes: the filter lets none of them change it. Too small for a
     * core file; and 1 is the only value for which the kernel does not start a program of the host
     * either. */
    limit(RLIMIT_CORE, 1);
    raise_files();
    if (in->plan->mode != POLICY_NO_SANDBOX)
        limit_share(RLIMIT_SIGPENDING, 0); /* also of those that are sent to us */
    if (plan_is_native(in->plan))
        build(&init);
    else
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    prepare_filter(&init);
    if (in->terminal)
        open_terminal(&init);
    init.signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    need(init.signals >= 0, STAGE_SESSION);
    if (in->service >= 0)
        begin_to_serve(&init);
    if (in->tmp.path)
        make_tmp(&init);
    need(chdir(tmpdir_cwd(in->plan, in->tmp.path)) == 0, STAGE_CWD);
    if (plan_is_native(in->plan))
        restrict_self(&init);
    prctl(PR_SET_PDEATHSIG, death, 0, 0, 0);
    if (!tell_ready(&init))
        leave();
    if (in->rehearse)
        finish(&init, 0);
    if (!in->idle && !init.held)
        start_command(&init);
    wait_for_all(&init);
}
