/* Chooses how limits are enforced. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/limiter.h"

#include "sandbox/descriptors.h"
#include "sandbox/machine.h"
#include "sandbox/new_root.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    TREES_FROM = 64, /* file descriptors: process 1 uses lower ones */
    PROC_PATH = 64,
};

/* More memory than any machine has: no limit. */
#define LIMITER_MEMORY_MAX (UINT64_C(1) << 56)

size_t limiter_methods(const struct limiter_facts *f, enum limiter_method ret_ways[LIMITER_WAYS])
{
    size_t n = 0;
    if (!f->native) {
        if (f->asked)
            ret_ways[n++] = LIMITER_GROUP;
        ret_ways[n++] = LIMITER_NOTHING;
    } else if (f->pid_max) {
        ret_ways[n++] = LIMITER_PID_MAX;
    } else if (!f->root) {
        ret_ways[n++] = LIMITER_NPROC;
    } else {
        ret_ways[n++] = LIMITER_GROUP;
        if (f->by_namespace)
            ret_ways[n++] = LIMITER_UID;
        ret_ways[n++] = LIMITER_COUNT;
    }
    return n;
}

static struct limiter_facts limiter_read_facts(const struct plan *plan)
{
    const struct machine *m = machine_get();
    return (struct limiter_facts){
        .native = plan_is_native(plan),
        .root = m->kernel_root,
        .pid_max = m->pid_max_in_namespace,
        .by_namespace = m->limits_by_namespace,
        .asked = plan->limits.asked_processes,
    };
}

static uint64_t limiter_add_capped(uint64_t a, uint64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

struct cgroup_limits limiter_group_limits(const struct plan *plan, bool processes)
{
    const struct policy_limits *l = &plan->limits;
    return (struct cgroup_limits){
        .processes = processes ? limiter_add_capped(l->processes, 1) : 0,
        .memory_bytes =
            l->asked_memory ? limiter_add_capped(l->memory_bytes, LIMITER_OWN_BYTES) : 0,
        .cpu_millis = plan->cpu_millis,
    };
}

/* Another user of the kernel's ---------------------------------------------------------------- */

void limiter_map(char text[LIMITER_MAP])
{
    const unsigned other = LIMITER_OTHER_UID;
    snprintf(text, LIMITER_MAP, "0 %u 1\n1 1 %u\n%u 0 1\n%u %u %u\n", other, other - 1, other,
        other + 1, other + 1, UINT32_MAX - other - 1);
}

bool limiter_give_pipe(enum limiter_method way, int fd)
{
    struct statfs fs;
    if (way != LIMITER_UID || fd < 0)
        return true;
    if (fstatfs(fd, &fs) != 0)
        return false;
    return fs.f_type != PIPEFS_MAGIC || fchown(fd, LIMITER_OTHER_UID, (gid_t)-1) == 0;
}

static bool limiter_write_map(pid_t pid, const char *name, const char *text)
{
    char path[PROC_PATH];
    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    AUTO_FD int fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

/* Waits until it is killed, or its parent ends. It holds no file descriptor of the parent. */
NORETURN static void limiter_hold_namespace(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    syscall(SYS_close_range, 0, ~0u, 0);
    while (getppid() == parent)
        pause();
    _exit(0);
}

/* Starts a process in its own user namespace, which waits to be killed. */
static pid_t start_holder(int *ret_pidfd)
{
    const pid_t self = getpid();
    struct clone_args args = {
        .flags = CLONE_NEWUSER | CLONE_PIDFD, .pidfd = (uint64_t)(uintptr_t)ret_pidfd};
    pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
    if (pid == 0)
        limiter_hold_namespace(self);
    return pid;
}

/* Opens a user namespace with the map that the sandbox will have, for mounts; -1 on failure. */
static int open_namespace(void)
{
    int pidfd = -1;
    char text[LIMITER_MAP], path[PROC_PATH];
    siginfo_t info;
    pid_t pid = start_holder(&pidfd);
    if (pid < 0)
        return -1;
    limiter_map(text);
    snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
    bool mapped = limiter_write_map(pid, "uid_map", text) &&
                  limiter_write_map(pid, "gid_map", "0 0 4294967295\n");
    int fd = mapped ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
    while (waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | __WALL) != 0 && errno == EINTR)
        ;
    close(pidfd);
    return fd;
}

/* The limit of open files: the hard limit while there are trees, and then as before. Several
 * threads may have trees; commands get their own limits. */
static struct {
    pthread_mutex_t lock;
    unsigned users;
    struct rlimit before;
} files = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void raise_files(void)
{
    pthread_mutex_lock(&files.lock);
    if (files.users++ == 0 && getrlimit(RLIMIT_NOFILE, &files.before) == 0)
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){files.before.rlim_max, files.before.rlim_max});
    pthread_mutex_unlock(&files.lock);
}

static void restore_files(void)
{
    pthread_mutex_lock(&files.lock);
    if (--files.users == 0)
        setrlimit(RLIMIT_NOFILE, &files.before);
    pthread_mutex_unlock(&files.lock);
}

/* Another thread may have held the lock. */
void limiter_forked(void)
{
    pthread_mutex_init(&files.lock, NULL);
    files.users = 0;
}

void limiter_drop_trees(struct limiter *l)
{
    if (!l->trees)
        return;
    for (size_t i = 0; i < l->n_trees; i++)
        if (l->trees[i] >= 0)
            close(l->trees[i]);
    l->n_trees = 0;
    l->trees = NULL;
    restore_files();
}

/* Moves a descriptor above those that process 1 uses itself. */
static bool limiter_lift(int tree, int *ret_tree)
{
    int high = descriptors_lift(tree, TREES_FROM);
    if (high >= 0)
        *ret_tree = high;
    return high >= 0;
}

static bool map_step(const struct plan_step *step, int namespace, int *ret_tree)
{
    int given = -1;
    if (!root_map_step(step, namespace, &given))
        return false;
    if (given < 0) {
        *ret_tree = given;
        return true;
    }
    AUTO_FD int tree = given;
    return limiter_lift(tree, ret_tree);
}

/* Adds a reason, after the one for which no group could be made, if any. */
static void add_reason(struct err *why, const char *what, const char *reason)
{
    if (why->code == ERR_NONE)
        err_set(why, E_SANDBOX_UNAVAILABLE, "%s: %s", what, reason);
    else
        err_wrap(why, "%s (%s), and no cgroup", what, reason);
}

static bool limiter_no_uid(struct err *why, const char *what, int errnum)
{
    add_reason(why, what, strerror(errnum));
    const char *remedy = machine_files_remedy(errnum);
    if (remedy)
        err_ctx(why, "remedy", "%s", remedy);
    return false;
}

/* Every directory and file of the host that is shown must be id-mapped: files that the command
 * creates belong to the caller on disk, and existing files look as they would without this. */
static bool map_trees(const struct plan *plan, struct arena *a, struct limiter *l, struct err *why)
{
    errno = EOPNOTSUPP;
    AUTO_FD int namespace = machine_is_disabled(MACHINE_ID_MAPS) ? -1 : open_namespace();
    if (namespace < 0)
        return limiter_no_uid(why, "cannot use another user id of the kernel", errno);
    l->trees = ARENA_NEW(a, int, plan->n_steps + 1);
    raise_files();
    for (; l->n_trees < plan->n_steps; l->n_trees++) {
        const struct plan_step *step = &plan->steps[l->n_trees];
        if (map_step(step, namespace, &l->trees[l->n_trees]))
            continue;
        bool is_layer = step->kind == PLAN_OVERLAY;
        limiter_no_uid(why,
            is_layer ? "cannot create an id-mapped mount of an overlay"
                     : arena_printf(a, "cannot create an id-mapped mount of '%s'", step->at.p),
            errno);
        limiter_drop_trees(l);
        return false;
    }
    return true;
}

/* Opening ------------------------------------------------------------------------------------- */

static bool limiter_refuse(const struct plan *plan, const char *what, const char *option,
    const struct err *why, struct err *err)
{
    const struct err_pair *remedy = err_ctx_get(why, "remedy");
    err_set(err, E_SANDBOX_UNAVAILABLE,
        "the limit on %s cannot be enforced exactly on this machine, and nothing was run: "
        "%s",
        what, why->message);
    err_ctx(err, "primitive", "%s", what);
    err_ctx(err, "limit", "%s", option);
    return err_ctx(err, "remedy", "%s; or %s", remedy ? remedy->text : "boot Linux 6.14 or newer",
        plan->remedies.inexact ? plan->remedies.inexact
                               : "set limits_inexact_ack to true in the policy");
}

static bool limiter_check(const struct plan *plan, const struct limiter_kept *kept,
    const struct err *why, struct err *err)
{
    if (plan->limits_inexact)
        return true;
    const bool exact = kept->processes != LIMITER_COUNT && kept->processes != LIMITER_NOTHING;
    if (!exact && plan->limits.asked_processes)
        return limiter_refuse(plan, "processes", "processes", why, err);
    if (plan->cpu_millis && !kept->cpus)
        return limiter_refuse(plan, "CPUs", "cpus", why, err);
    return true;
}

static bool limiter_works(const struct plan *plan, enum limiter_method way, struct arena *a,
    struct limiter *l, struct err *why)
{
    if (way == LIMITER_GROUP)
        return l->group.fd >= 0 && l->group.kept & CGROUP_PIDS;
    return way != LIMITER_UID || map_trees(plan, a, l, why);
}

/* Programs of developers reserve address space that they do not use. */
static struct limiter_kept limiter_kept_by(
    const struct plan *plan, enum limiter_method way, unsigned group)
{
    const bool memory = group & CGROUP_MEMORY;
    const bool space = plan_is_native(plan) && plan->developer;
    return (struct limiter_kept){
        .processes = way,
        .memory = memory,
        .cpus = group & CGROUP_CPU,
        .space = space,
        .watched = space && !memory && plan->limits.memory_bytes <= LIMITER_MEMORY_MAX,
        .unseen = group & CGROUP_UNSEEN,
    };
}

static bool was_tried(const struct limiter_tried *tried, enum limiter_method way)
{
    return tried && tried->failed[way].code != ERR_NONE;
}

void limiter_tried_done(struct limiter_tried *tried)
{
    for (size_t i = 0; i < LIMITER_WAYS; i++)
        err_done(&tried->failed[i]);
}

bool limiter_open(const struct plan *plan, const struct limiter_tried *tried, struct arena *arena,
    struct limiter *ret_limiter, struct err *err)
{
    AUTO_ERR struct err why = {0};
    const struct limiter_facts facts = limiter_read_facts(plan);
    enum limiter_method ways[LIMITER_WAYS];
    struct limiter l = LIMITER_NONE;
    size_t n = limiter_methods(&facts, ways), i = 0;
    const struct cgroup_limits limits = limiter_group_limits(plan, ways[0] == LIMITER_GROUP);
    if (was_tried(tried, LIMITER_GROUP))
        err_set(&why, E_SANDBOX_UNAVAILABLE, "cannot start a process in a separate cgroup: %s",
            tried->failed[LIMITER_GROUP].message);
    else if (cgroup_wanted(&limits) && !cgroup_make(&limits, &l.group, &why))
        l.group = CGROUP_NONE;
    else if (ways[0] == LIMITER_GROUP && !(l.group.kept & CGROUP_PIDS))
        err_set(&why, E_SANDBOX_UNAVAILABLE, "a cgroup created here has no limit on processes");
    if (was_tried(tried, LIMITER_UID))
        add_reason(&why, "cannot start a process with another user id of the kernel",
            tried->failed[LIMITER_UID].message);
    while (
        i < n - 1 && (was_tried(tried, ways[i]) || !limiter_works(plan, ways[i], arena, &l, &why)))
        i++;
    l.kept = limiter_kept_by(plan, ways[i], l.group.kept);
    if (!limiter_check(plan, &l.kept, &why, err)) {
        limiter_close(&l);
        return false;
    }
    *ret_limiter = l;
    return true;
}

void limiter_close(struct limiter *l)
{
    limiter_drop_trees(l);
    cgroup_remove(&l->group);
}

struct limiter_kept limiter_probe(const struct plan *plan)
{
    AUTO_ARENA struct arena a = ARENA_INIT(64 << 20);
    AUTO_ERR struct err ignored = {0};
    const struct limiter_facts facts = limiter_read_facts(plan);
    enum limiter_method ways[LIMITER_WAYS];
    struct limiter l = LIMITER_NONE;
    size_t n = limiter_methods(&facts, ways), i = 0;
    const struct cgroup_limits limits = limiter_group_limits(plan, ways[0] == LIMITER_GROUP);
    unsigned offered = cgroup_probe(&limits);
    while (
        i < n - 1 && (ways[i] == LIMITER_GROUP ? !(offered & CGROUP_PIDS)
                                               : !limiter_works(plan, ways[i], &a, &l, &ignored)))
        i++;
    limiter_close(&l);
    return limiter_kept_by(plan, ways[i], offered);
}
