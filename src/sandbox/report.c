/* Describes the mechanisms. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/report.h"

#include "policy/grants.h"
#include "sandbox/landlock.h"
#include "sandbox/machine.h"

static void put_text(json_t *object, const char *key, const char *format, ...) PRINTF_LIKE(3, 4);
static void put_text(json_t *object, const char *key, const char *format, ...)
{
    AUTO_BUF struct buf text = BUF_INIT(1024);
    va_list args;
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    json_put(object, key, json_text(buf_str(&text)));
}

static const char *net_of(const struct plan *plan)
{
    if (!plan->own_network)
        return "the host's network; socket families by seccomp";
    return plan->sockets.unix_domain ? "network namespace with a private loopback; socket families "
                                       "by seccomp"
                                     : "network namespace with a private loopback; socket families "
                                       "by seccomp, unix sockets only as pairs";
}

static void put_limits(json_t *report, const struct plan *plan, const struct limiter_kept *kept)
{
    const struct policy_limits *l = &plan->limits;
    AUTO_BUF struct buf text = BUF_INIT(1024);
    buf_printf(&text,
        "rlimits for each process: data %llu bytes, open files %llu, file size %llu bytes, no core",
        (unsigned long long)l->memory_bytes, (unsigned long long)l->open_files,
        (unsigned long long)l->file_bytes);
    if (kept->memory)
        buf_printf(&text, "; memory of all together %llu bytes, by memory.max of a cgroup",
            (unsigned long long)l->memory_bytes);
    if (kept->oom_kills)
        buf_printf(&text, ", for which the kernel killed %llu processes",
            (unsigned long long)kept->oom_kills);
    if (kept->cpus)
        buf_printf(&text, "; %llu.%03llu CPUs for all together, by cpu.max of a cgroup",
            (unsigned long long)plan->cpu_millis / 1000,
            (unsigned long long)plan->cpu_millis % 1000);
    if (plan_is_native(plan))
        buf_printf(&text, "; /tmp %llu bytes", (unsigned long long)l->tmp_bytes);
    if (plan_is_native(plan) && machine_get()->ipc_in_namespace)
        buf_printf(
            &text, "; SysV shared memory %llu bytes in all", (unsigned long long)l->memory_bytes);
    else if (plan_is_native(plan))
        buf_add_z(&text, "; SysV shared memory in segments of at most 4096 bytes");
    if (plan->mode != POLICY_NO_SANDBOX)
        buf_printf(&text,
            "; a quarter of the user's %spending signals, POSIX queues and locked memory",
            plan_is_native(plan) ? "inotify instances and watches, " : "");
    json_put(report, "limits", json_text(buf_str(&text)));
}

/* Without mounts neither the record of a run nor kernel file systems in a directory can be hidden,
 * and files that steer later runs can be changed. */
static void gaps_of_places(json_t *gaps, const struct plan *plan)
{
    for (size_t i = 0; i < plan->n_steps; i++) {
        const struct plan_step *s = &plan->steps[i];
        if ((s->kind != PLAN_COVER && !s->kept) || plan_is_native(plan))
            continue;
        AUTO_BUF struct buf text = BUF_INIT(1 << 16);
        buf_printf(&text, "fs: " STR_FMT " lies in an allowed directory, where the command can %s",
            STR_ARG(s->at), s->kept ? "change it" : "reach it");
        json_push(gaps, json_text(buf_str(&text)));
    }
}

void report_processes(const struct plan *plan, const struct limiter_kept *kept, struct buf *text)
{
    const unsigned long long n = plan->limits.processes;
    switch (kept->processes) {
    case LIMITER_PID_MAX:
        buf_printf(text, "kernel.pid_max for %llu processes", n);
        break;
    case LIMITER_NPROC:
        buf_printf(text, "RLIMIT_NPROC=%llu", n);
        break;
    case LIMITER_GROUP:
        buf_printf(text, "pids.max for %llu processes of a cgroup", n);
        break;
    case LIMITER_UID:
        buf_printf(text, "RLIMIT_NPROC=%llu of the kernel's user %d, on id-mapped mounts", n,
            LIMITER_OTHER_UID);
        break;
    case LIMITER_COUNT:
        buf_printf(text, "counted every %d ms, and all killed if there are more than %llu",
            LIMITER_COUNT_MS, n);
        break;
    default:
        buf_add_z(text, "their number is not limited");
        break;
    }
}

static void report_native(json_t *report, const struct plan *plan, const struct limiter_kept *kept)
{
    const struct machine *m = machine_get();
    AUTO_BUF struct buf processes = BUF_INIT(256);
    put_text(report, "fs", "mount namespace on a private tmpfs; landlock abi %d", m->landlock_abi);
    put_text(report, "exec",
        "noexec mounts, allowed files bound alone, a loader that can't be started; landlock abi "
        "%d; "
        "no memfd",
        m->landlock_abi);
    json_put(report, "net", json_string(net_of(plan)));
    buf_add_z(&processes, "pid and ipc namespaces; ");
    report_processes(plan, kept, &processes);
    if (!m->kernel_root && kept->processes != LIMITER_NPROC)
        buf_printf(&processes, "; RLIMIT_NPROC=%llu", (unsigned long long)plan->limits.processes);
    json_put(report, "processes", json_text(buf_str(&processes)));
    put_limits(report, plan, kept);
}

/* Resources that no limit of a process counts. */
static void gaps_of_limits(json_t *gaps, const struct plan *plan, const struct limiter_kept *kept)
{
    static const char *const open[] = {
        "limits.memory_bytes: holds for each process, not for their sum",
        "limits.memory_bytes: counts private memory that can be written; with shared or read-only "
        "memory a process can hold up to 4 times as much",
        "limits: the kernel's memory for pipes, sockets and locks is not counted; pipe pages, "
        "epoll watches and descriptors in flight (SCM_RIGHTS) are the user's, inside and outside "
        "together",
    };
    for (size_t i = 0; i < ARRAY_LEN(open) && !kept->memory; i++)
        json_push(gaps, json_string(open[i]));
    if (kept->memory)
        json_push(gaps, json_string("limits: pipe pages, epoll watches and descriptors in flight "
                                    "(SCM_RIGHTS) are the user's, inside and outside together"));
    if (kept->unseen)
        json_push(gaps,
            json_string("limits: the cgroup of this process is left for another one; filters on "
                        "it (BPF, as of systemd's IPAddressDeny=) can't be seen and do not hold"));
    if (kept->processes == LIMITER_COUNT)
        json_push(
            gaps, json_string("limits.processes: counted, not refused by the kernel: for some "
                              "milliseconds there can be more, and then all of them are killed"));
    if (plan->cpu_millis && !kept->cpus)
        json_push(gaps, json_string("limits: CPUs are not limited"));
}

static void gaps_native(json_t *gaps, const struct plan *plan, const struct limiter_kept *kept)
{
    gaps_of_limits(gaps, plan, kept);
    if (!machine_get()->ipc_in_namespace)
        json_push(gaps, json_string("limits: SysV message queues and semaphores are not limited "
                                    "before Linux 6.9"));
    if (!plan->own_network)
        json_push(gaps, json_string("network enabled: whatever can be read can be sent away"));
    if (!plan->own_network && plan->sockets.unix_domain &&
        !landlock_has_scopes(machine_get()->landlock_abi))
        json_push(gaps, json_string("network enabled: abstract sockets of the host are not stopped "
                                    "by landlock before abi 6"));
}

/* Without namespaces only a cgroup can limit the number of processes. */
static void put_processes(
    json_t *report, const struct plan *plan, const struct limiter_kept *kept, const char *what)
{
    AUTO_BUF struct buf text = BUF_INIT(1024);
    buf_add_z(&text, what);
    if (kept->processes == LIMITER_GROUP) {
        buf_add_z(&text, "; ");
        report_processes(plan, kept, &text);
    }
    json_put(report, "processes", json_text(buf_str(&text)));
}

static void report_landlock(
    json_t *report, json_t *gaps, const struct plan *plan, const struct limiter_kept *kept)
{
    static const char *const open[] = {
        "fs: names, owners and modes of files outside stay visible",
        "fs: chmod, utimes and xattrs of files of the same user are not stopped",
        "exec: the dynamic loader can start any program that can be read",
        "processes: other processes are visible, with their scheduling and CPU time",
        "fs: no private /dev/shm",
        "fs: the private /tmp is a directory in the host's (TMPDIR), without a limit of its size",
        "processes: a descendant that outruns the end of the run could be left",
    };
    const struct machine *m = machine_get();
    put_text(report, "fs", "landlock abi %d", m->landlock_abi);
    put_text(report, "exec", "landlock abi %d; no memfd", m->landlock_abi);
    json_put(report, "net",
        json_string(plan->sockets.inet ? "the host's network; socket families by seccomp"
                                       : "no sockets of the internet families, by seccomp"));
    put_processes(report, plan, kept,
        "own session; descendants fall to a reaper; limits and scheduling of other "
        "processes, SysV IPC, POSIX queues and inotify refused by seccomp");
    put_limits(report, plan, kept);
    for (size_t i = 0; i < ARRAY_LEN(open); i++)
        json_push(gaps, json_string(open[i]));
    gaps_of_limits(gaps, plan, kept);
    if (m->landlock_abi < 6)
        json_push(
            gaps, json_string("processes: signals and abstract sockets are not stopped by landlock "
                              "before abi 6"));
}

json_t *report_json(
    const struct verdict *v, const struct plan *plan, const struct limiter_kept *built)
{
    const struct limiter_kept known = built && built->processes != LIMITER_UNKNOWN
                                          ? *built
                                          : limiter_look(plan),
                              *kept = &known;
    json_t *report = json_object(), *gaps = policy_gaps(v);
    json_put(report, "mode", json_string(policy_sandbox_name(plan->mode)));
    if (plan_is_native(plan)) {
        report_native(report, plan, kept);
        gaps_native(gaps, plan, kept);
    } else if (plan->mode == POLICY_LANDLOCK) {
        report_landlock(report, gaps, plan, kept);
    } else {
        static const char *const concerns[] = {"fs", "exec", "net"};
        for (size_t i = 0; i < ARRAY_LEN(concerns); i++)
            json_put(report, concerns[i], json_string("not enforced"));
        put_processes(report, plan, kept, "not enforced");
        put_limits(report, plan, kept);
    }
    if (kept->processes == LIMITER_NOTHING)
        json_push(gaps, json_string("processes: there is no limit of their number"));
    gaps_of_places(gaps, plan);
    json_put(report, "environment",
        json_string(plan->mode == POLICY_NO_SANDBOX
                        ? "built from nothing"
                        : "built from nothing; process 1 is not dumpable and wiped"));
    json_put(report, "terminal",
        json_string(plan_is_native(plan) ? "a terminal of its own in a private devpts, or pipes"
                                         : "a terminal of its own, or pipes"));
    json_put(report, "gaps", gaps);
    return report;
}
