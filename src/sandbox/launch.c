/* The supervisor's side of a sandbox. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/launch.h"

#include "io/file.h"
#include "io/nodump.h"
#include "sandbox/init.h"
#include "sandbox/landlock.h"
#include "sandbox/listener.h"
#include "sandbox/machine.h"
#include "sandbox/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum {
    MAP_MAX = 16 * 1024,
    PROC_PATH = 64,
    WORDS_MAX = 64 << 20,
    SETUP_MS = 30 * 1000,
    END_MS = 10 * 1000, /* more than orphans_kill() takes */
    COUNTER_NICE = -20,
};

/* Our file descriptors that a launch holds until the child has them. */
struct launch_ends {
    int control[2];
    int service[2];
    int connects[2];
    int io[3];   /* the child's */
    int ours[3]; /* ours */
};

static void launch_ends_done(struct launch_ends *e)
{
    int *const all[] = {e->control, e->control + 1, e->service, e->service + 1, e->connects,
        e->connects + 1, e->io, e->io + 1, e->io + 2, e->ours, e->ours + 1, e->ours + 2};
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        auto_fd(all[i]);
}

/* Sets E_IO, with the remedy if the reason is the limit of open files. */
static bool launch_io_failed(int errnum, const char *what, const char *on, struct err *err)
{
    const char *remedy = machine_files_remedy(errnum);
    err_errno(err, E_IO, errnum, "%s%s", what, on);
    return remedy ? err_ctx(err, "remedy", "%s", remedy) : false;
}

static bool launch_open_ends(const struct launch *l, struct launch_ends *e, struct err *err)
{
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, e->control) != 0)
        return launch_io_failed(errno, "cannot create a socket pair", "", err);
    if (l->serves && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, e->service) != 0)
        return launch_io_failed(errno, "cannot create a socket pair", "", err);
    if (plan_is_native(l->plan) && l->plan->sockets.own &&
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, e->connects) != 0)
        return launch_io_failed(errno, "cannot create a socket pair", "", err);
    for (int i = 0; i < 3 && !l->idle; i++) {
        int pair[2];
        if (l->terminal && !(i == 0 && l->pipe_input))
            continue;
        if (i == STDERR_FILENO && l->one_output) {
            e->io[i] = fcntl(e->io[STDOUT_FILENO], F_DUPFD_CLOEXEC, 0);
            if (e->io[i] < 0)
                return launch_io_failed(errno, "cannot duplicate a pipe", "", err);
            continue;
        }
        if (pipe2(pair, O_CLOEXEC) != 0)
            return launch_io_failed(errno, "cannot create a pipe", "", err);
        e->io[i] = pair[i != 0];
        e->ours[i] = pair[i == 0];
    }
    return true;
}

/* Copies words to memory other than that of our own arguments and environment; returns false if
 * they are too long for any program. */
static bool launch_copy_words(struct arena *a, const char *const *words, char *const **ret_words)
{
    size_t n = 0, size = 0;
    for (; words[n]; n++)
        size += strlen(words[n]) + 2 * sizeof(char *) + 1;
    if (size > WORDS_MAX / 4)
        return false;
    char **copy = ARENA_NEW(a, char *, n + 1);
    for (size_t i = 0; i < n; i++)
        copy[i] = arena_strdup(a, str_z(words[i]));
    *ret_words = copy;
    return true;
}

/* Ids ----------------------------------------------------------------------------------------- */

static bool write_proc(pid_t pid, const char *name, struct str text)
{
    char path[PROC_PATH];
    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    AUTO_FD int fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd >= 0 && write(fd, text.p, text.n) == (ssize_t)text.n;
}

/* Maps the ids that we have ourselves, each to itself. */
static void identity_map(const char *path, struct buf *b)
{
    FILE *f = fopen(path, "re");
    unsigned inside, outside, count;
    while (f && fscanf(f, "%u %u %u", &inside, &outside, &count) == 3)
        buf_printf(b, "%u %u %u\n", inside, inside, count);
    if (f)
        fclose(f);
}

static bool launch_map_all_ids(pid_t pid, bool other_uid)
{
    AUTO_BUF struct buf uids = BUF_INIT(MAP_MAX), gids = BUF_INIT(MAP_MAX);
    char swapped[LIMITER_MAP];
    if (other_uid) {
        limiter_map(swapped);
        buf_add_z(&uids, swapped);
    } else {
        identity_map("/proc/self/uid_map", &uids);
    }
    identity_map("/proc/self/gid_map", &gids);
    return write_proc(pid, "uid_map", buf_str(&uids)) && write_proc(pid, "gid_map", buf_str(&gids));
}

static bool launch_map_one_id(pid_t pid, bool nests)
{
    AUTO_BUF struct buf uid = BUF_INIT(64), gid = BUF_INIT(64);
    buf_printf(&uid, "%u %u 1\n", nests ? 0 : geteuid(), geteuid());
    buf_printf(&gid, "%u %u 1\n", nests ? 0 : getegid(), getegid());
    return write_proc(pid, "uid_map", buf_str(&uid)) && write_proc(pid, "setgroups", STR("deny")) &&
           write_proc(pid, "gid_map", buf_str(&gid));
}

/* Root sees the right owners of files only if all its ids are mapped. */
static bool map_ids(pid_t pid, const struct init_input *in, char *ret_word)
{
    *ret_word = INIT_GO_ALL_IDS;
    if (geteuid() == 0 && launch_map_all_ids(pid, in->other_uid))
        return true;
    *ret_word = INIT_GO_ONE_ID;
    return !in->other_uid && launch_map_one_id(pid, in->nests);
}

/* Failures ------------------------------------------------------------------------------------ */

static const char *const primitives[] = {
#define STAGE_PRIMITIVE(name, primitive) [STAGE_##name] = primitive,
    STAGES(STAGE_PRIMITIVE)
#undef STAGE_PRIMITIVE
};

static bool exec_failed(const struct plan *plan, int errnum, struct err *err)
{
    err_errno(err, E_IO, errnum, "cannot start '" STR_FMT "'", STR_ARG(plan->command));
    if (errnum == EACCES || errnum == ENOENT || errnum == ENOEXEC)
        err_ctx(err, "remedy",
            "its interpreter (the #! line, or the loader that it names) must also be %s",
            plan->remedies.interpreter ? plan->remedies.interpreter
                                       : "in exec.allowed_executables");
    err_ctx(err, "command", STR_FMT, STR_ARG(plan->command));
    return false;
}

static bool setup_failed(const struct plan *plan, const struct init_message *m, struct err *err)
{
    const char *primitive =
        m->stage < ARRAY_LEN(primitives) ? primitives[m->stage] : "an unknown step";
    const struct plan_step *step =
        m->step >= 0 && (size_t)m->step < plan->n_steps ? &plan->steps[m->step] : NULL;
    if (m->stage == STAGE_EXEC)
        return exec_failed(plan, m->errnum, err);
    if (m->stage == STAGE_CHANGED && step && step->overlay)
        return err_errno(err, E_CONFLICT, m->errnum,
            "a layer of '" STR_FMT "' was replaced after it was opened", STR_ARG(step->at));
    if (m->stage == STAGE_CHANGED && step) {
        err_errno(err, E_POLICY_DENIED, m->errnum,
            "'" STR_FMT "' was replaced after it was checked", STR_ARG(step->at));
        return err_ctx(err, "path", STR_FMT, STR_ARG(step->at));
    }
    if (m->errnum == EMFILE || m->errnum == ENFILE || m->errnum == ENOMEM || m->errnum == ENOSPC)
        return launch_io_failed(m->errnum, "cannot build the sandbox: ", primitive, err);
    if (m->stage == STAGE_PLACE && step)
        return err_errno(
            err, E_IO, m->errnum, "cannot show '" STR_FMT "' in the sandbox", STR_ARG(step->at));
    if (m->stage == STAGE_TMP)
        return tmpdir_set_error(m->errnum, err);
    if (m->stage == STAGE_CWD)
        return err_errno(err, E_IO, m->errnum, "cannot start in '" STR_FMT "'", STR_ARG(plan->cwd));
    return machine_unavailable(
        &(struct machine_failure){primitive, m->errnum, step ? step->at : (struct str){0}}, err);
}

static bool clone_failed(int errnum, struct err *err)
{
    return machine_unavailable(
        &(struct machine_failure){primitives[STAGE_CLONE], errnum, {0}}, err);
}

/* Receiving ----------------------------------------------------------------------------------- */

enum {
    READY_FDS = 2, /* INIT_READY */
};

/* Receives one packet: returns 1, 0 at the end, or -1 and errno. The kernel drops descriptors that
 * do not fit in our table; those are -1. */
static int launch_receive_fds(
    const struct child *child, struct init_message *ret_message, int ret_fds[READY_FDS])
{
    char space[CMSG_SPACE(READY_FDS * sizeof(int))] __attribute__((aligned(8)));
    struct iovec iov = {ret_message, sizeof(*ret_message)};
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof(space)};
    ssize_t n;
    while ((n = recvmsg(child->control, &msg, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
        ;
    struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&msg) : NULL;
    if (c && c->cmsg_type == SCM_RIGHTS)
        memcpy(ret_fds, CMSG_DATA(c), MIN(c->cmsg_len - CMSG_LEN(0), READY_FDS * sizeof(int)));
    if (n > 0 && (size_t)n != sizeof(*ret_message))
        return 0;
    return n > 0 ? 1 : (int)n;
}

static int launch_receive(struct child *child, struct init_message *ret_message)
{
    int fds[READY_FDS] = {-1, -1}, listener = -1;
    int got = launch_receive_fds(child, ret_message, fds);
    const bool ready = got > 0 && ret_message->word == INIT_READY;
    int *const to[] = {ready && ret_message->value & INIT_SENDS_TERMINAL ? &child->terminal : NULL,
        ready && ret_message->value & INIT_SENDS_LISTENER && child->listener ? &listener : NULL};
    for (size_t i = 0, from = 0; i < ARRAY_LEN(to) && from < READY_FDS; i++)
        if (to[i])
            *to[i] = TAKE_FD(fds[from++]);
    for (size_t i = 0; i < READY_FDS; i++)
        auto_fd(&fds[i]);
    if (listener >= 0)
        listener_start(child->listener, listener);
    if (to[1] && listener < 0) {
        errno = EMFILE;
        return -1;
    }
    return got;
}

/* Starting ------------------------------------------------------------------------------------ */

/* The child creates its cgroup namespace itself if it starts in its own cgroup. */
static uint64_t clone_flags(const struct plan *plan, bool grouped)
{
    uint64_t flags = CLONE_PIDFD | (grouped ? (uint64_t)CLONE_INTO_CGROUP : 0u);
    if (plan_is_native(plan))
        flags |= CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS |
                 (grouped ? 0u : (unsigned)CLONE_NEWCGROUP) |
                 (plan->own_network ? CLONE_NEWNET : 0u);
    return flags;
}

/* No exit signal: the caller's SIGCHLD is not for our processes. Inside a sandbox clone3() is
 * refused; without namespaces clone() does the same. */
static pid_t clone_init(const struct plan *plan, const struct cgroup *group, int *ret_pidfd)
{
    const bool grouped = group->fd >= 0;
    struct clone_args args = {
        .flags = clone_flags(plan, grouped),
        .pidfd = (uint64_t)(uintptr_t)ret_pidfd,
        .cgroup = (unsigned)MAX(group->fd, 0),
    };
    pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
    if (pid < 0 && (errno == ENOSYS || errno == EPERM) && args.flags == CLONE_PIDFD)
        pid = (pid_t)syscall(SYS_clone, CLONE_PIDFD, NULL, ret_pidfd, NULL, NULL);
    return pid;
}

static bool launch_has_overlay(const struct plan *plan)
{
    for (size_t i = 0; i < plan->n_steps; i++)
        if (plan->steps[i].kind == PLAN_OVERLAY)
            return true;
    return false;
}

/* Fills in the parts that depend on the machine; a missing feature is an error. */
static bool launch_prepare(const struct launch *l, struct init_input *in, struct err *err)
{
    const struct plan *plan = l->plan;
    const struct machine *machine = machine_get();
    bool root = geteuid() == 0;
    in->landlock_abi = machine->landlock_abi;
    if (!plan_is_native(plan) && launch_has_overlay(plan))
        return err_set(err, E_SANDBOX_UNAVAILABLE,
            "a directory with a separate layer for its changes requires namespaces: use "
            "sandbox \"native\"");
    if (plan->mode != POLICY_NO_SANDBOX && in->landlock_abi == 0)
        return machine_unavailable(
            &(struct machine_failure){"landlock", machine->landlock_errno, {0}}, err);
    if (plan_is_native(plan)) {
        in->pid_max = machine->pid_max_in_namespace ? machine_pid_max(plan->limits.processes) : 0;
        in->limit_uid = !machine->kernel_root;
        /* Only user 0 of the namespace that owns them may change the settings of SysV IPC. */
        in->nests = !root && machine->ipc_in_namespace;
        in->uid = geteuid();
        in->gid = getegid();
    }
    in->secret = machine->secret;
    in->secret_size = machine->secret_size;
    return true;
}

/* Receives one packet, with the timeout for building a sandbox. */
static bool receive_in_time(struct child *child, struct init_message *ret_message, struct err *err)
{
    struct pollfd wait = {.fd = child->control, .events = POLLIN};
    int ready;
    while ((ready = poll(&wait, 1, SETUP_MS)) < 0 && errno == EINTR)
        ;
    if (ready == 0)
        return err_set(err, E_TIMEOUT, "timeout: the sandbox was not built within %d seconds",
            SETUP_MS / 1000);
    return launch_receive(child, ret_message) > 0 ||
           err_set(err, E_IO,
               "process 1 of the sandbox ended without a report; the limit on open files may be "
               "too low (ulimit -n)");
}

/* Opens the terminal's other end here. The kernel drops a descriptor that does not fit in the table
 * of the receiver. */
static bool launch_open_terminal(const struct init_input *in, struct child *child, struct err *err)
{
    if (!in->terminal)
        return true;
    errno = EMFILE;
    if (child->terminal >= 0)
        child->hold = ioctl(child->terminal, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (child->hold < 0 && machine_files_remedy(errno))
        return launch_io_failed(errno, "cannot open the sandbox's terminal", "", err);
    return true;
}

/* Receives the proxy's socket, or the report of an earlier failure. */
static bool launch_receive_proxy(const struct launch *l, struct child *child, struct err *err)
{
    char space[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8)));
    struct init_message message;
    struct iovec iov = {&message, sizeof(message)};
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof(space)};
    struct pollfd wait = {.fd = child->control, .events = POLLIN};
    int ready;
    while ((ready = poll(&wait, 1, SETUP_MS)) < 0 && errno == EINTR)
        ;
    ssize_t n = ready > 0 ? recvmsg(child->control, &msg, MSG_CMSG_CLOEXEC) : -1;
    struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&msg) : NULL;
    if (c && c->cmsg_type == SCM_RIGHTS)
        memcpy(&child->proxy, CMSG_DATA(c), sizeof(int));
    if (n == (ssize_t)sizeof(message) && message.word == INIT_FAILED)
        return setup_failed(l->plan, &message, err);
    return child->proxy >= 0 ||
           err_set(err, E_IO,
               "the sandbox did not open a socket for the proxy; the limit on open "
               "files may be too low (ulimit -n)");
}

static bool launch_handshake(const struct launch *l, const struct init_input *in,
    struct child *child, int *ret_stage, struct err *err)
{
    struct init_message message;
    char word = INIT_GO_ONE_ID;
    if (in->nodump && !receive_in_time(child, &message, err))
        return false;
    if (child->native && !map_ids(child->pid, in, &word)) {
        *ret_stage = STAGE_MAP;
        return machine_unavailable(
            &(struct machine_failure){primitives[STAGE_MAP], errno, {0}}, err);
    }
    if (send(child->control, &word, 1, MSG_NOSIGNAL) != 1)
        return err_errno(err, E_IO, errno, "lost the connection to process 1 of the sandbox");
    if (child->native && l->plan->own_network && l->plan->hosts.n && !in->rehearse &&
        !launch_receive_proxy(l, child, err))
        return false;
    if (!receive_in_time(child, &message, err))
        return false;
    if (message.word != INIT_READY) {
        *ret_stage = (int)message.stage;
        return setup_failed(l->plan, &message, err);
    }
    child->tmp.dev = message.dev;
    child->tmp.ino = message.ino;
    if (in->observe && !(message.value & INIT_SENDS_LISTENER))
        denied_set_gap(l->denied,
            message.errnum == EBUSY
                ? "denied: not collected, and Unix sockets only as pairs: another listener already "
                  "observes this program's system calls, and the kernel allows one"
                : "denied: not collected, and Unix sockets only as pairs: the kernel does not "
                  "allow "
                  "a listener for system calls");
    return launch_open_terminal(in, child, err);
}

/* Removes the temporary directory of a sandbox that has ended, if its first process did not. */
static void launch_remove_tmp(struct tmpdir *tmp)
{
    if (tmp->path)
        tmpdir_remove(tmp);
    tmpdir_done(tmp);
}

static int launch_compare_ints(const void *a, const void *b)
{
    const int *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Fills in process 1's part in the mechanisms that limit processes. */
static void launch_apply_limiter(const struct limiter *l, struct arena *a, struct init_input *in)
{
    const enum limiter_method way = l->kept.processes;
    in->grouped = l->group.fd >= 0 && plan_is_native(in->plan);
    in->counts = way == LIMITER_COUNT;
    in->watches = l->kept.watched;
    in->space = l->kept.space;
    in->nice = MAX(getpriority(PRIO_PROCESS, 0), 0);
    in->other_uid = way == LIMITER_UID;
    in->limit_uid |= in->other_uid;
    if (!in->other_uid)
        return;
    int *sorted = ARENA_NEW(a, int, l->n_trees + 1);
    for (size_t i = 0; i < l->n_trees; i++)
        if (l->trees[i] >= 0)
            sorted[in->n_open++] = l->trees[i];
    qsort(sorted, in->n_open, sizeof(*sorted), launch_compare_ints);
    in->open = sorted;
    in->trees = l->trees;
}

/* Counting must not wait for the counted processes, however many there are: process 1 gets a
 * separate scheduling class, which commands do not inherit. Where that is not allowed, the best
 * priority of the normal class. */
static void launch_raise_priority(const struct child *child, const struct init_input *in)
{
    const struct sched_param first = {.sched_priority = 1};
    if (!in->counts)
        return;
    setpriority(PRIO_PROCESS, (id_t)child->pid, COUNTER_NICE);
    (void)!sched_setscheduler(child->pid, SCHED_FIFO | SCHED_RESET_ON_FORK, &first);
}

/* Prepares everything up to the clone. */
static bool launch_prepare_all(const struct launch *l, struct arena *a,
    const struct limiter *limiter, struct launch_ends *ends, struct init_input *in, struct err *err)
{
    static const char *const none[] = {NULL};
    const char *const *envp = l->idle ? none : l->envp;
    if (!launch_prepare(l, in, err) || !launch_open_ends(l, ends, err))
        return false;
    if (l->plan->mode == POLICY_LANDLOCK) {
        if (!tmpdir_choose(&in->tmp, err))
            return false;
        envp = tmpdir_env(l->plan, in->tmp.path, envp, a);
    }
    if (!launch_copy_words(a, l->idle ? none : l->argv, &in->argv) ||
        !launch_copy_words(a, envp, &in->envp)) {
        tmpdir_done(&in->tmp);
        return exec_failed(l->plan, E2BIG, err);
    }
    launch_apply_limiter(limiter, a, in);
    in->control = ends->control[1];
    in->service = ends->service[1];
    in->connects = ends->connects[1];
    memcpy(in->io, ends->io, sizeof(in->io));
    return true;
}

static bool give_pipes(
    const struct limiter *limiter, const struct launch_ends *ends, struct err *err)
{
    for (int i = 0; i < 3; i++)
        if (!limiter_give_pipe(limiter->kept.processes, ends->io[i]))
            return err_errno(
                err, E_IO, errno, "cannot change the owner of a pipe to the sandbox's user");
    return true;
}

/* Prepares to listen while the sandbox is being built. */
static bool launch_listen(const struct launch *l, const struct init_input *in,
    struct launch_ends *ends, struct child *child, struct err *err)
{
    if (l->plan->mode == POLICY_LANDLOCK && l->denied)
        denied_set_gap(
            l->denied, "denied: not collected without namespaces (sandbox \"landlock\")");
    if (!in->observe && in->connects < 0)
        return true;
    child->listener = listener_new(&(struct listener_options){.plan = l->plan,
        .denied = in->observe ? l->denied : NULL,
        .process_1 = child->pid,
        .sandbox = child->pidfd,
        .death = SIGKILL,
        .connects = TAKE_FD(ends->connects[0])});
    return child->listener ||
           err_set(err, E_IO, "cannot start the thread that answers the sandbox's system calls");
}

/* Starts with limits that are already in place: if that works, they belong to the child from here
 * on. Otherwise returns the stage that failed, or -1. */
static bool start_limited(const struct launch *l, bool rehearse, struct limiter *limiter,
    struct child *ret_child, int *ret_stage, struct err *err)
{
    AUTO(launch_ends_done)
    struct launch_ends ends = {{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1, -1}, {-1, -1, -1}};
    AUTO_ARENA struct arena arena = ARENA_INIT(WORDS_MAX);
    struct child child = CHILD_NONE;
    struct init_input in = {.plan = l->plan,
        .terminal = l->terminal && !l->idle,
        .rows = l->rows,
        .cols = l->cols,
        .report_stops = l->report_stops && !l->serves,
        .rehearse = rehearse,
        .idle = l->idle,
        .held = l->held,
        .observe = l->denied && plan_is_native(l->plan) && !rehearse,
        .nodump = plan_is_native(l->plan) && nodump_is_set()};
    *ret_stage = -1;
    if (!launch_prepare_all(l, &arena, limiter, &ends, &in, err))
        return false;
    child.tmp = in.tmp;
    if (!give_pipes(limiter, &ends, err)) {
        *ret_stage = STAGE_MAP; /* also a step that depends on the user */
        tmpdir_done(&child.tmp);
        return false;
    }
    child.plan = l->plan;
    child.native = plan_is_native(l->plan);
    child.pid = clone_init(l->plan, &limiter->group, &child.pidfd);
    if (child.pid == 0)
        init_main(&in);
    if (child.pid < 0) {
        int errnum = errno;
        *ret_stage = STAGE_CLONE;
        tmpdir_done(&child.tmp);
        return clone_failed(errnum, err);
    }
    launch_raise_priority(&child, &in);
    child.control = TAKE_FD(ends.control[0]);
    close(TAKE_FD(ends.control[1]));
    child.service = TAKE_FD(ends.service[0]);
    auto_fd(&ends.connects[1]);
    ends.connects[1] = -1;
    if (!launch_listen(l, &in, &ends, &child, err) ||
        !launch_handshake(l, &in, &child, ret_stage, err)) {
        child_kill(&child);
        child_close(&child);
        return false;
    }
    child.in = TAKE_FD(ends.ours[0]);
    child.out = TAKE_FD(ends.ours[1]);
    child.err = TAKE_FD(ends.ours[2]);
    limiter_drop_trees(limiter);
    child.limiter = *limiter;
    *limiter = LIMITER_NONE;
    *ret_child = child;
    return true;
}

/* Whether a stage may fail because user 0 of the sandbox is another user of the kernel's. */
static bool is_of_uid(int stage)
{
    static const enum stage stages[] = {STAGE_MAP, STAGE_DESCRIPTORS, STAGE_ROOT, STAGE_PLACE,
        STAGE_BIND, STAGE_OVERLAY, STAGE_DEVICE, STAGE_DEVPTS, STAGE_PROC, STAGE_TERMINAL,
        STAGE_CWD};
    for (size_t i = 0; i < ARRAY_LEN(stages); i++)
        if (stage == (int)stages[i])
            return true;
    return false;
}

/* It is not known which part of a clone into a group is refused. */
enum limiter_method launch_way_to_blame(const struct limiter *limiter, int stage)
{
    if (limiter->group.fd >= 0 && (stage == STAGE_CLONE || stage == STAGE_GROUP))
        return LIMITER_GROUP;
    if (limiter->kept.processes == LIMITER_UID && is_of_uid(stage))
        return LIMITER_UID;
    return LIMITER_UNKNOWN;
}

/* Makes one attempt. If it fails, returns whether another one may work. */
static bool launch_start_once(const struct launch *l, bool rehearse, struct limiter_tried *tried,
    struct child *ret_child, bool *ret_again, struct err *err)
{
    AUTO_ARENA struct arena arena = ARENA_INIT(WORDS_MAX);
    AUTO(limiter_close) struct limiter limiter = LIMITER_NONE;
    AUTO_ERR struct err failed = {0};
    int stage;
    *ret_again = false;
    if (!limiter_open(l->plan, tried, &arena, &limiter, err))
        return false;
    if (start_limited(l, rehearse, &limiter, ret_child, &stage, &failed))
        return true;
    /* Without a second user namespace, one is enough for everything except limits of IPC. */
    if (stage == STAGE_NEST && machine_get()->ipc_in_namespace) {
        machine_no_nested_userns();
        *ret_again = true;
    }
    const enum limiter_method way = launch_way_to_blame(&limiter, stage);
    if (way != LIMITER_UNKNOWN) {
        *ret_again = true;
        err_move(&tried->failed[way], &failed);
        return false;
    }
    return err_move(err, &failed);
}

static bool launch_start_retrying(
    const struct launch *l, bool rehearse, struct child *ret_child, struct err *err)
{
    AUTO(limiter_tried_done) struct limiter_tried tried = {0};
    for (;;) {
        AUTO_ERR struct err failed = {0};
        bool again;
        if (launch_start_once(l, rehearse, &tried, ret_child, &again, &failed))
            return true;
        if (!again)
            return err_move(err, &failed);
    }
}

bool launch_start(const struct launch *launch, struct child *ret_child, struct err *err)
{
    return launch_start_retrying(launch, false, ret_child, err);
}

bool launch_rehearse(const struct plan *plan, struct err *err)
{
    const char *const none[] = {NULL};
    const struct launch launch = {
        .plan = plan, .argv = none, .envp = none, .terminal = true, .rows = 24, .cols = 80};
    struct child child;
    if (!launch_start_retrying(&launch, true, &child, err))
        return false;
    child_close(&child);
    return true;
}

/* Afterwards ---------------------------------------------------------------------------------- */

static void launch_release_terminal(struct child *child)
{
    if (child->hold >= 0)
        close(TAKE_FD(child->hold));
}

bool child_read_event(struct child *child, struct child_event *ret_news, struct err *err)
{
    struct init_message message = {0};
    int got = launch_receive(child, &message);
    if (got <= 0 || message.word != INIT_STOPPED)
        launch_release_terminal(child);
    child->too_many |= got > 0 && message.word == INIT_EXITED && message.errnum == EAGAIN;
    if (got > 0 && message.word == INIT_EXITED)
        child->limiter.kept.memory_kills = message.kills;
    if (got <= 0)
        *ret_news = (struct child_event){CHILD_GONE, 0};
    else if (message.word == INIT_EXITED)
        *ret_news = (struct child_event){CHILD_EXITED, message.value};
    else if (message.word == INIT_STOPPED)
        *ret_news = (struct child_event){CHILD_STOPPED, message.value};
    else
        return setup_failed(child->plan, &message, err);
    return true;
}

bool child_check_listener(const struct child *child, struct err *err)
{
    return !child->listener_failed ||
           err_set(err, E_INTERNAL,
               "the thread that answers the sandbox's system calls failed, and everything in the "
               "sandbox was killed; --no-denials does without it");
}

void child_explain_kill(const struct child *child, struct err *err)
{
    if (child->too_many)
        err_wrap(err, "there were more processes than limits.processes, and all were killed");
    const uint64_t kills = child->limiter.kept.oom_kills;
    if (kills) {
        err_wrap(err, "all processes together needed more memory than limits.memory_bytes, and the "
                      "kernel killed some of them");
        err_ctx_int(err, "oom_kills", (long long)kills);
    }
    const uint64_t large = child->limiter.kept.memory_kills;
    if (large) {
        err_wrap(err, "a process had more memory than limits.memory_bytes, and was killed");
        err_ctx_int(err, "memory_kills", (long long)large);
    }
}

static void send_word(const struct child *child, char word)
{
    (void)!send(child->control, &word, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void child_continue(const struct child *child)
{
    send_word(child, INIT_CONTINUE);
}

void child_terminate(const struct child *child)
{
    send_word(child, INIT_ASK_TO_END);
}

void child_kill(const struct child *child)
{
    syscall(SYS_pidfd_send_signal, child->pidfd, child->native ? SIGKILL : SIGTERM, NULL, 0);
}

/* Without namespaces process 1 has to kill the others first: if it does not come to an end, it is
 * killed too. */
static void await_end(const struct child *child)
{
    struct pollfd end = {.fd = child->pidfd, .events = POLLIN};
    siginfo_t info;
    int ready = 1;
    while (!child->native && (ready = poll(&end, 1, END_MS)) < 0 && errno == EINTR)
        ;
    if (ready == 0)
        syscall(SYS_pidfd_send_signal, child->pidfd, SIGKILL, NULL, 0);
    while (waitid(P_PIDFD, (id_t)child->pidfd, &info, WEXITED | __WALL) != 0 && errno == EINTR)
        ;
}

void child_close(struct child *child)
{
    int *const fds[] = {&child->in, &child->out, &child->err, &child->hold, &child->terminal,
        &child->control, &child->service, &child->proxy};
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        if (*fds[i] >= 0)
            close(TAKE_FD(*fds[i]));
    if (child->pidfd < 0)
        return;
    await_end(child);
    child->listener_failed |= !listener_free(child->listener);
    child->listener = NULL;
    close(TAKE_FD(child->pidfd));
    launch_remove_tmp(&child->tmp);
    child->limiter.kept.oom_kills = cgroup_oom_kills(&child->limiter.group);
    limiter_close(&child->limiter);
}
