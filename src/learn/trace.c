/* Runs and traces a command with ptrace, and a seccomp filter that stops it only at the calls of
 * interest. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/trace.h"

#include "base/grow.h"
#include "learn/learn_observe.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

enum {
    /* The kernel's limit of processes and threads (PID_MAX_LIMIT). */
    TRACEES_MAX = 4 << 20,
    EVENT_SHIFT = 16,
    SYSCALL_STOP = SIGTRAP | 0x80,
    EXIT_NO_EXEC = 127,
};

#define OPTIONS                                                                             \
    (PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | \
        PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACESECCOMP)

/* A thread of the command. */
struct tracee {
    pid_t tid;
    struct observed observed;
};

struct tracer {
    struct learn_observer observer;
    struct trace_end end;
    pid_t main;
    bool ending;  /* kill every thread that stops from now on */
    bool started; /* the command itself is running */
    bool ended;   /* ... and has ended */
    struct tracee *all;
    size_t n, cap;
    sigset_t signals; /* to wait for */
};

/* Threads ------------------------------------------------------------------------------------- */

static struct tracee *tracer_find(struct tracer *t, pid_t tid)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->all[i].tid == tid)
            return &t->all[i];
    return NULL;
}

static struct tracee *tracer_find_or_add(struct tracer *t, pid_t tid)
{
    struct tracee *tracee = tracer_find(t, tid);
    if (tracee)
        return tracee;
    BUG_ON(t->n >= TRACEES_MAX);
    GROW(t->all, t->n, t->cap, TRACEES_MAX);
    t->all[t->n] = (struct tracee){.tid = tid};
    return &t->all[t->n++];
}

static void tracer_remove(struct tracer *t, pid_t tid)
{
    struct tracee *tracee = tracer_find(t, tid);
    if (!tracee)
        return;
    observed_done(&tracee->observed);
    *tracee = t->all[--t->n];
}

static void tracer_done(struct tracer *t)
{
    for (size_t i = 0; i < t->n; i++)
        observed_done(&t->all[i].observed);
    free(t->all);
}

static void kill_all(struct tracer *t)
{
    t->ending = true;
    for (size_t i = 0; i < t->n; i++)
        kill(t->all[i].tid, SIGKILL);
}

/* Stops --------------------------------------------------------------------------------------- */

/* Fails if the thread was killed in the meantime: its end is reported later. */
static void tracer_resume(pid_t tid, enum __ptrace_request how, int sig)
{
    ptrace(how, tid, NULL, (void *)(uintptr_t)sig);
}

static bool tracer_syscall_info(pid_t tid, unsigned char op, struct __ptrace_syscall_info *ret_info)
{
    memset(ret_info, 0, sizeof(*ret_info));
    return ptrace(PTRACE_GET_SYSCALL_INFO, tid, (void *)sizeof(*ret_info), ret_info) > 0 &&
           ret_info->op == op;
}

static void on_entry(struct tracer *t, struct tracee *tracee)
{
    struct __ptrace_syscall_info info;
    bool wanted = false;
    if (tracer_syscall_info(tracee->tid, PTRACE_SYSCALL_INFO_SECCOMP, &info)) {
        uint64_t args[OBSERVE_ARGS];
        for (size_t i = 0; i < OBSERVE_ARGS; i++)
            args[i] = info.seccomp.args[i];
        wanted = observe_entry(
            &t->observer, &tracee->observed, tracee->tid, call_find(info.seccomp.ret_data), args);
    }
    tracer_resume(tracee->tid, wanted ? PTRACE_SYSCALL : PTRACE_CONT, 0);
}

static void on_exit_stop(struct tracer *t, struct tracee *tracee)
{
    struct __ptrace_syscall_info info;
    if (tracer_syscall_info(tracee->tid, PTRACE_SYSCALL_INFO_EXIT, &info))
        observe_exit(&t->observer, &tracee->observed, tracee->tid, info.exit.rval);
    tracer_resume(tracee->tid, PTRACE_CONT, 0);
}

/* The thread that called exec now has its process's id; the other threads are gone. */
static void on_exec(struct tracer *t, pid_t pid)
{
    unsigned long former = (unsigned long)pid;
    ptrace(PTRACE_GETEVENTMSG, pid, NULL, &former);
    struct observed none = {0};
    struct tracee *caller = tracer_find(t, (pid_t)former);
    observe_exec(&t->observer, caller ? &caller->observed : &none, pid);
    if ((pid_t)former != pid)
        tracer_remove(t, (pid_t)former);
    t->started |= pid == t->main;
    tracer_resume(pid, PTRACE_CONT, 0);
}

static bool stops_a_group(int sig)
{
    return sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU;
}

static void on_stop(struct tracer *t, pid_t tid, int status)
{
    struct tracee *tracee = tracer_find_or_add(t, tid);
    int sig = WSTOPSIG(status), event = status >> EVENT_SHIFT;
    if (t->ending) {
        kill(tid, SIGKILL);
        return;
    }
    if (event == PTRACE_EVENT_SECCOMP)
        on_entry(t, tracee);
    else if (event == PTRACE_EVENT_EXEC)
        on_exec(t, tid);
    else if (event == PTRACE_EVENT_STOP && stops_a_group(sig))
        tracer_resume(tid, PTRACE_LISTEN, 0); /* keep it stopped until SIGCONT */
    else if (event != 0)
        tracer_resume(tid, PTRACE_CONT, 0);
    else if (sig == SYSCALL_STOP)
        on_exit_stop(t, tracee);
    else
        tracer_resume(tid, PTRACE_CONT, sig); /* deliver its signal */
}

/* Another process that dies from our SIGKILL after the command's end was left running by it. */
static void on_end(struct tracer *t, pid_t tid, int status)
{
    tracer_remove(t, tid);
    if (tid != t->main) {
        bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
        t->end.left |= t->ended && killed && !t->end.interrupted;
        return;
    }
    t->ended = true;
    t->end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    t->end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    kill_all(t);
}

/* Ctrl-C at a terminal also reaches the command, which decides what to do. */
static void on_signal(struct tracer *t, const siginfo_t *info)
{
    bool from_terminal = info->si_signo == SIGINT && info->si_code == SI_KERNEL;
    if (info->si_signo == SIGCHLD || from_terminal || t->ending)
        return;
    t->end.interrupted = info->si_signo;
    kill_all(t);
}

/* Runs until no process is left. SIGCHLD is pending whenever waitpid() has something to report. */
static void tracer_watch(struct tracer *t)
{
    int status;
    pid_t tid;
    while ((tid = waitpid(-1, &status, __WALL | WNOHANG)) >= 0) {
        siginfo_t info;
        if (tid > 0 && WIFSTOPPED(status))
            on_stop(t, tid, status);
        else if (tid > 0)
            on_end(t, tid, status);
        else if (sigwaitinfo(&t->signals, &info) > 0)
            on_signal(t, &info);
    }
    /* Consume pending signals, which must not be delivered when they are unblocked. */
    static const struct timespec now = {0};
    while (sigtimedwait(&t->signals, NULL, &now) > 0)
        ;
}

/* Start --------------------------------------------------------------------------------------- */

/* Data for the child process. */
struct tracer_spawn {
    const struct trace_command *command;
    int go[2];     /* a byte once it is traced */
    int failed[2]; /* errno of a failure; closed by exec */
    sigset_t mask; /* the caller's */
};

NORETURN static void tracer_child_fail(const struct tracer_spawn *s, int errnum)
{
    ssize_t n UNUSED = write(s->failed[1], &errnum, sizeof(errnum));
    _exit(EXIT_NO_EXEC);
}

NORETURN static void tracer_child(const struct tracer_spawn *s)
{
    char byte;
    close(s->go[1]);
    if (read(s->go[0], &byte, 1) != 1)
        _exit(EXIT_NO_EXEC);
    signal(SIGXFSZ, SIG_DFL);
    if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0 || sigprocmask(SIG_SETMASK, &s->mask, NULL) != 0 ||
        !calls_install_filter())
        tracer_child_fail(s, errno);
    execve(s->command->path, (char *const *)(uintptr_t)s->command->argv, environ);
    tracer_child_fail(s, errno);
}

/* Ignored signals stay ignored: nohup, and background jobs. */
static void block_signals(struct tracer *t, sigset_t *ret_mask)
{
    static const int ours[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction now;
    sigemptyset(&t->signals);
    sigaddset(&t->signals, SIGCHLD);
    for (size_t i = 0; i < ARRAY_LEN(ours); i++)
        if (sigaction(ours[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(&t->signals, ours[i]);
    sigprocmask(SIG_BLOCK, &t->signals, ret_mask);
}

/* Starts the command, which waits until it is traced. */
static bool tracer_spawn(struct tracer *t, struct tracer_spawn *s, struct err *err)
{
    pid_t pid = fork();
    if (pid < 0)
        return err_errno(err, E_IO, errno, "cannot start '%s'", s->command->path);
    if (pid == 0)
        tracer_child(s);
    t->main = tracer_find_or_add(t, pid)->tid;
    int errnum = 0;
    if (ptrace(PTRACE_SEIZE, pid, NULL, (void *)(uintptr_t)OPTIONS) != 0 ||
        write(s->go[1], "", 1) != 1)
        errnum = errno;
    if (errnum == 0)
        return true;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return err_errno(err, E_IO, errnum, "cannot trace '%s' (ptrace)", s->command->path);
}

static bool tracer_run(struct tracer *t, struct tracer_spawn *s, struct err *err)
{
    int errnum;
    if (!tracer_spawn(t, s, err))
        return false;
    tracer_watch(t);
    if (t->started || t->end.interrupted)
        return true;
    if (read(s->failed[0], &errnum, sizeof(errnum)) != sizeof(errnum))
        return err_set(err, E_IO, "cannot run '%s'", s->command->path);
    return err_errno(err, E_IO, errnum, "cannot run '%s'", s->command->path);
}

static void close_pair(int (*pair)[2])
{
    for (int i = 0; i < 2; i++)
        if ((*pair)[i] >= 0)
            close((*pair)[i]);
}

bool trace_run(const struct trace_command *command, trace_fn seen, void *arg,
    struct trace_end *ret_end, struct err *err)
{
    AUTO(tracer_done) struct tracer t = {.observer = {seen, arg}, .end.exit_code = -1};
    AUTO(close_pair) int go[2] = {-1, -1};
    AUTO(close_pair) int failed[2] = {-1, -1};
    if (pipe2(go, O_CLOEXEC) != 0 || pipe2(failed, O_CLOEXEC | O_NONBLOCK) != 0)
        return err_errno(err, E_IO, errno, "cannot start '%s'", command->path);
    struct tracer_spawn s = {.command = command};
    memcpy(s.go, go, sizeof(go));
    memcpy(s.failed, failed, sizeof(failed));
    struct sigaction normal = {.sa_handler = SIG_DFL}, before;
    sigaction(SIGCHLD, &normal, &before);
    block_signals(&t, &s.mask);
    bool ok = tracer_run(&t, &s, err);
    sigprocmask(SIG_SETMASK, &s.mask, NULL);
    sigaction(SIGCHLD, &before, NULL);
    t.end.unseen = t.observer.unseen;
    if (ok)
        *ret_end = t.end;
    return ok;
}
