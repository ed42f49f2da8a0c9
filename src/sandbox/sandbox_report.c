/* Describes the mechanisms. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/sandbox_report.h"

#include "policy/grants.h"
#include "sandbox/landlock.h"
#include "sandbox/machine.h"
#include "sandbox/memory_watch.h"

static void report_put_text(json_t *object, const char *key, const char *format, ...)
    PRINTF_LIKE(3, 4);
static void report_put_text(json_t *object, const char *key, const char *format, ...)
{
    AUTO_BUF struct buf text = BUF_INIT(1024);
    va_list args;
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    json_put(object, key, json_text(buf_str(&text)));
}

static const char *report_net_text(const struct plan *plan)
{
    if (!plan->own_network)
        return "the host's network; socket families by seccomp";
    if (plan->hosts.n)
        return "network namespace with a private loopback, where a proxy process listens that "
               "connects only to the allowed hosts; socket families by seccomp";
    return "network namespace with a private loopback; socket families by seccomp";
}

static const char *report_unix_text(const struct plan *plan)
{
    if (plan->sockets.unix_domain)
        return "";
    return plan->sockets.own
               ? ", Unix sockets without datagrams; connect() is carried out by the supervisor and "
                 "process 1, to processes of the sandbox only"
               : ", Unix sockets only as pairs";
}

static void report_put_limits(
    json_t *report, const struct plan *plan, const struct limiter_kept *kept)
{
    const struct policy_limits *l = &plan->limits;
    AUTO_BUF struct buf text = BUF_INIT(1024);
    buf_add_z(&text, "rlimits for each process: ");
    if (!kept->space)
        buf_printf(&text, "data %llu bytes, ", (unsigned long long)l->memory_bytes);
    buf_printf(&text, "open files %llu, file size %llu bytes, no core",
        (unsigned long long)l->open_files, (unsigned long long)l->file_bytes);
    if (kept->watched)
        buf_printf(&text,
            "; memory of each process %llu bytes, sampled every %d to %d ms by process 1, which "
            "kills "
            "a process that has more",
            (unsigned long long)l->memory_bytes, MEMORY_WATCH_MIN_MS, MEMORY_WATCH_MAX_MS);
    if (kept->memory_kills)
        buf_printf(&text, ", exceeded: it killed %llu", (unsigned long long)kept->memory_kills);
    if (kept->memory)
        buf_printf(&text,
            "; memory of all processes together %llu bytes, by memory.max of a cgroup",
            (unsigned long long)l->memory_bytes);
    if (kept->oom_kills)
        buf_printf(&text, ", exceeded: the kernel killed %llu processes",
            (unsigned long long)kept->oom_kills);
    if (kept->cpus)
        buf_printf(&text, "; %llu.%03llu CPUs for all processes together, by cpu.max of a cgroup",
            (unsigned long long)plan->cpu_millis / 1000,
            (unsigned long long)plan->cpu_millis % 1000);
    if (plan_is_native(plan))
        buf_printf(&text, "; /tmp %llu bytes, other private directories half of that",
            (unsigned long long)l->tmp_bytes);
    if (plan_is_native(plan) && machine_get()->ipc_in_namespace)
        buf_printf(
            &text, "; SysV shared memory %llu bytes in total", (unsigned long long)l->memory_bytes);
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
        buf_printf(&text, "fs: " STR_FMT " is in an allowed directory, where the command can %s",
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
        buf_printf(text, "RLIMIT_NPROC=%llu of the kernel's user id %d, with id-mapped mounts", n,
            LIMITER_OTHER_UID);
        break;
    case LIMITER_COUNT:
        buf_printf(text, "counted every %d ms; all are killed if there are more than %llu",
            LIMITER_COUNT_MS, n);
        break;
    default:
        buf_add_z(text, "the number of processes is not limited");
        break;
    }
}

static void report_native(json_t *report, const struct plan *plan, const struct limiter_kept *kept)
{
    const struct machine *m = machine_get();
    AUTO_BUF struct buf processes = BUF_INIT(256);
    report_put_text(
        report, "fs", "mount namespace on a private tmpfs; landlock abi %d", m->landlock_abi);
    report_put_text(report, "exec",
        "noexec mounts, allowed files bind-mounted one by one, a dynamic loader that "
        "cannot be started; landlock abi %d; %s",
        m->landlock_abi,
        plan->developer ? "files that it writes, /tmp and memory may be run" : "no memfd");
    report_put_text(report, "net", "%s%s", report_net_text(plan), report_unix_text(plan));
    buf_add_z(&processes, "pid and ipc namespaces; ");
    report_processes(plan, kept, &processes);
    if (!m->kernel_root && kept->processes != LIMITER_NPROC)
        buf_printf(&processes, "; RLIMIT_NPROC=%llu", (unsigned long long)plan->limits.processes);
    json_put(report, "processes", json_text(buf_str(&processes)));
    report_put_limits(report, plan, kept);
}

static const char *gap_of_counting(const struct limiter_kept *kept)
{
    return kept->watched
               ? "limits.memory_bytes: memory is sampled: until the next sample a process can have "
                 "more; files in memory that it does not map (memfd) are not counted"
               : "limits.memory_bytes: counts private writable memory; with shared or read-only "
                 "memory a process can use up to 4 times as much";
}

/* Resources that no limit of a process counts. */
static void gaps_of_limits(json_t *gaps, const struct plan *plan, const struct limiter_kept *kept)
{
    static const char *const open[] = {
        "limits.memory_bytes: applies to each process, not to their sum",
        NULL,
        "limits: the kernel's memory for pipes, sockets and locks is not counted; pipe "
        "pages, epoll watches and file descriptors in flight (SCM_RIGHTS) are limited per "
        "user, inside and outside together",
    };
    for (size_t i = 0; i < ARRAY_LEN(open) && !kept->memory; i++)
        json_push(gaps, json_string(open[i] ? open[i] : gap_of_counting(kept)));
    if (kept->memory)
        json_push(gaps,
            json_string(
                "limits: pipe pages, epoll watches and file descriptors in flight (SCM_RIGHTS) "
                "are limited per user, inside and outside together"));
    if (kept->unseen)
        json_push(gaps,
            json_string(
                "limits: the command runs in another cgroup than this process; filters on the "
                "latter (BPF, such as systemd's IPAddressDeny=) cannot be detected and do not "
                "apply"));
    if (kept->processes == LIMITER_COUNT)
        json_push(
            gaps, json_string(
                      "limits.processes: counted, not limited by the kernel: for some milliseconds "
                      "there can be more, and then all of them are killed"));
    if (plan->cpu_millis && !kept->cpus)
        json_push(gaps, json_string("limits: CPUs are not limited"));
}

static void gaps_native(json_t *gaps, const struct plan *plan, const struct limiter_kept *kept)
{
    gaps_of_limits(gaps, plan, kept);
    if (!machine_get()->ipc_in_namespace)
        json_push(gaps,
            json_string(
                "limits: SysV message queues and semaphores are not limited before Linux 6.9"));
    if (!plan->own_network)
        json_push(gaps, json_string("network enabled: all readable data can be sent out"));
    if (!plan->own_network && plan->sockets.unix_domain &&
        !landlock_has_scopes(machine_get()->landlock_abi))
        json_push(gaps,
            json_string(
                "network enabled: landlock before abi 6 does not block abstract sockets of the "
                "host"));
}

/* Without namespaces only a cgroup can limit the number of processes. */
static void report_put_processes(
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
        "fs: chmod, utimes and xattrs of files of the same user are not blocked",
        "exec: the dynamic loader can start any program that can be read",
        "processes: other processes are visible, with their scheduling and CPU time",
        "fs: no private /dev/shm",
        "fs: the private /tmp is in the host's /tmp (TMPDIR), without a size limit",
        "processes: a descendant that is created while the run ends could survive",
    };
    const struct machine *m = machine_get();
    report_put_text(report, "fs", "landlock abi %d", m->landlock_abi);
    report_put_text(report, "exec", "landlock abi %d; no memfd", m->landlock_abi);
    json_put(report, "net",
        json_string(plan->sockets.inet ? "the host's network; socket families by seccomp"
                                       : "no sockets of the internet families, by seccomp"));
    report_put_processes(report, plan, kept,
        "own session; orphaned descendants are adopted by a reaper; limits and scheduling "
        "of other processes, SysV IPC, POSIX queues and inotify blocked by seccomp");
    report_put_limits(report, plan, kept);
    for (size_t i = 0; i < ARRAY_LEN(open); i++)
        json_push(gaps, json_string(open[i]));
    gaps_of_limits(gaps, plan, kept);
    if (m->landlock_abi < 6)
        json_push(gaps,
            json_string(
                "processes: landlock before abi 6 does not block signals and abstract sockets"));
}

json_t *report_json(
    const struct verdict *v, const struct plan *plan, const struct limiter_kept *built)
{
    const struct limiter_kept known = built && built->processes != LIMITER_UNKNOWN
                                          ? *built
                                          : limiter_probe(plan),
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
        report_put_processes(report, plan, kept, "not enforced");
        report_put_limits(report, plan, kept);
    }
    if (kept->processes == LIMITER_NOTHING)
        json_push(gaps, json_string("processes: their number is not limited"));
    gaps_of_places(gaps, plan);
    json_put(report, "environment",
        json_string(
            plan->mode == POLICY_NO_SANDBOX
                ? "built from scratch"
                : "built from scratch; process 1 is not dumpable, and its copy of the environment "
                  "is wiped"));
    json_put(report, "terminal",
        json_string(plan_is_native(plan) ? "a separate terminal in a private devpts, or pipes"
                                         : "a separate terminal, or pipes"));
    json_put(report, "gaps", gaps);
    return report;
}
