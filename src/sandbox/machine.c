/* Looks at the machine. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/machine.h"

#include "sandbox/landlock.h"
#include "sandbox/machine_facts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/utsname.h>

enum {
    TEXT_MAX = 4096,
    FACTS_ARENA = 16 << 20,
    PID_MAX_MOST = 4 << 20,
    STAT_ARG_START = 48, /* fields of /proc/self/stat: see proc(5) */
    STAT_ENV_END = 51,
};

/* The first bytes of a file; "" if it can't be read. */
static size_t machine_read_text(const char *path, char text[TEXT_MAX])
{
    AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, TEXT_MAX - 1) : -1;
    text[n > 0 ? n : 0] = '\0';
    return n > 0 ? (size_t)n : 0;
}

static int read_setting(const char *path)
{
    char text[TEXT_MAX];
    int64_t value;
    size_t n = machine_read_text(path, text);
    if (n == 0 || !str_to_int(str_trim_end(str_n(text, n), '\n'), 0, INT_MAX, &value))
        return MACHINE_UNKNOWN;
    return (int)value;
}

static bool release_at_least(const char *release, long major, long minor)
{
    char *end;
    long a = strtol(release, &end, 10);
    long b = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
    return a > major || (a == major && b >= minor);
}

/* Arguments and environment are contiguous. The command's name, in parentheses, may contain any
 * characters: fields are counted after its end. */
static void find_secret(struct machine *m)
{
    char text[TEXT_MAX];
    uintptr_t from = 0, to = 0;
    machine_read_text("/proc/self/stat", text);
    char *p = strrchr(text, ')');
    for (int field = 3; p && field <= STAT_ENV_END; field++) {
        p = strchr(p, ' ');
        if (!p)
            return;
        p++;
        if (field == STAT_ARG_START)
            from = strtoul(p, NULL, 10);
        if (field == STAT_ENV_END)
            to = strtoul(p, NULL, 10);
    }
    if (from && from < to) {
        m->secret = (char *)from;
        m->secret_size = to - from;
    }
}

/* Checks only for marker files: this runs before anything has failed. */
static bool is_container(void)
{
    static const char *const marks[] = {"/.dockerenv", "/run/.containerenv",
        "/run/secrets/kubernetes.io", "/run/systemd/container"};
    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        if (access(marks[i], F_OK) == 0)
            return true;
    return false;
}

bool machine_maps_root(const char *uid_map)
{
    while (*uid_map) {
        char *end;
        unsigned long inside = strtoul(uid_map, &end, 10), outside = strtoul(end, &end, 10);
        if (end == uid_map)
            return false;
        if (inside == 0)
            return outside == 0;
        uid_map = end + strcspn(end, "\n");
        uid_map += *uid_map == '\n';
    }
    return false;
}

/* Root of a user namespace is another user for the kernel. If the map has more lines than fit here,
 * the kernel has sorted it: the line of user 0 is the first. */
static bool is_kernel_root(void)
{
    char text[TEXT_MAX];
    if (geteuid() != 0)
        return false;
    machine_read_text("/proc/self/uid_map", text);
    return machine_maps_root(text);
}

/* Facts that don't change while we run, collected once: several threads may be the first to ask. */
static struct machine machine;

static void machine_inspect(void)
{
    struct utsname names;
    machine = (struct machine){
        .userns_clone = read_setting("/proc/sys/kernel/unprivileged_userns_clone"),
        .max_userns = read_setting("/proc/sys/user/max_user_namespaces"),
        .apparmor_userns = read_setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
        .inotify_watches = read_setting("/proc/sys/fs/inotify/max_user_watches"),
        .inotify_instances = read_setting("/proc/sys/fs/inotify/max_user_instances"),
    };
    machine.landlock_abi = landlock_abi();
    machine.landlock_errno = machine.landlock_abi ? 0 : errno;
    find_secret(&machine);
    BUG_ON(uname(&names) != 0);
    snprintf(machine.release, sizeof(machine.release), "%s", names.release);
    machine.pid_max_in_namespace = release_at_least(machine.release, 6, 14);
    machine.limits_by_namespace = release_at_least(machine.release, 5, 14);
    machine.kernel_root = is_kernel_root();
    machine.ipc_in_namespace =
        release_at_least(machine.release, 6, 9) || (geteuid() == 0 && !is_container());
}

const struct machine *machine_get(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    BUG_ON(pthread_once(&once, machine_inspect) != 0);
    return &machine;
}

void machine_no_nested_userns(void)
{
    machine.ipc_in_namespace = false;
}

void machine_disable(unsigned parts)
{
    machine_get();
    machine.lacking |= parts;
    machine.pid_max_in_namespace &= !(parts & MACHINE_PID_MAX);
}

bool machine_is_disabled(unsigned parts)
{
    return machine_get()->lacking & parts;
}

int machine_pid_max(uint64_t processes)
{
    return (int)MIN(processes, (uint64_t)PID_MAX_MOST - MACHINE_PID_FIRST) + MACHINE_PID_FIRST;
}

/* Errors -------------------------------------------------------------------------------------- */

const char *machine_files_remedy(int errnum)
{
    if (errnum == EMFILE)
        return "allow more open files (ulimit -n)";
    if (errnum == ENFILE)
        return "stop programs that have many open files, or raise the limit as root: sysctl "
               "fs.file-max";
    if (errnum == ETOOMANYREFS)
        return "the user's programs have too many file descriptors in flight (SCM_RIGHTS): stop "
               "the program that holds them, or allow more open files (ulimit -n)";
    return NULL;
}

static const char *overlay_remedy(int errnum)
{
    if (errnum == ENODEV)
        return "as root: modprobe overlay";
    if (errnum == EINVAL)
        return "the box's directory must be on a file system with user.* attributes that is not "
               "an overlay itself (ext4, xfs, btrfs): set CORDON_HOME to such a directory; and "
               "nothing must be mounted below the project";
    if (errnum == EPERM)
        return "overlayfs in a user namespace needs Linux 5.11 or newer";
    return "the box's directory must be writable and on a file system like ext4, xfs or "
           "btrfs: set CORDON_HOME to such a directory";
}

/* Remedies for primitives that are specific enough by themselves. */
static const char *own_remedy(const struct machine_failure *failure)
{
    const char *primitive = failure->primitive;
    if (strstr(primitive, "overlay"))
        return overlay_remedy(failure->errnum);
    if (strstr(primitive, "mountinfo"))
        return "mount proc at /proc, so that its files can be read";
    if (strstr(primitive, "mounts of the host"))
        return "allow a directory that holds fewer mounts, or unmount some";
    return NULL;
}

static const char *find_remedy(
    const struct machine_failure *failure, const struct diagnose_findings *findings)
{
    const char *own = own_remedy(failure);
    const struct diagnose_finding *cause = diagnose_cause(findings);
    if (own)
        return own;
    return cause && cause->remedy
               ? cause->remedy
               : "run 'cordon doctor' to check this machine; a seccomp filter on this process may "
                 "block namespaces";
}

/* No setting of the machine explains it, and another mode has the same limit. */
static bool lacks_files(const struct machine_failure *failure, struct err *err)
{
    err_errno(err, E_SANDBOX_UNAVAILABLE, failure->errnum,
        "the sandbox cannot be built, and nothing was run: %s", failure->primitive);
    err_ctx(err, "primitive", "%s", failure->primitive);
    err_ctx(err, "errno", "%s", strerrorname_np(failure->errnum));
    return err_ctx(err, "remedy", "%s", machine_files_remedy(failure->errnum));
}

/* Whether the kernel has the features that the weaker mode needs. */
static bool can_be_weaker(const struct diagnose_facts *facts)
{
    return facts->landlock_abi > 0 && facts->failed != FAILED_SECCOMP &&
           facts->failed != FAILED_OTHER;
}

bool machine_unavailable(const struct machine_failure *failure, struct err *err)
{
    AUTO_ARENA struct arena a = ARENA_INIT(FACTS_ARENA);
    AUTO_BUF struct buf found = BUF_INIT(8192);
    struct diagnose_facts facts;
    struct diagnose_findings findings;
    if (machine_files_remedy(failure->errnum))
        return lacks_files(failure, err);
    machine_facts(failure, &a, &facts);
    diagnose(&facts, &a, &findings);
    for (size_t i = 0; i < findings.n; i++)
        buf_printf(&found, "%s%s", i ? "; " : "", findings.p[i].text);
    const char *name = strerrorname_np(failure->errnum);
    err_errno(err, E_SANDBOX_UNAVAILABLE, failure->errnum,
        "the sandbox cannot be built, and nothing was run: %s", failure->primitive);
    err_ctx(err, "primitive", "%s", failure->primitive);
    err_ctx(err, "errno", "%s", name ? name : "unknown");
    if (failure->path.p)
        err_ctx(err, "path", STR_FMT, STR_ARG(failure->path));
    err_ctx(err, "found", "%s", found.n ? buf_z(&found) : "no known cause");
    if (can_be_weaker(&facts))
        err_ctx(err, "weaker",
            "commands, but not boxes, can run without namespaces: --sandbox landlock "
            "--ack-unsafe-sandbox");
    return err_ctx(err, "remedy", "%s", find_remedy(failure, &findings));
}

json_t *machine_json(void)
{
    const struct machine *m = machine_get();
    json_t *object = json_object();
    json_put(object, "kernel", json_string(m->release));
    json_put(object, "landlock_abi", json_integer(m->landlock_abi));
    json_put(object, "pid_max_in_namespace", json_boolean(m->pid_max_in_namespace));
    json_put(object, "ipc_in_namespace", json_boolean(m->ipc_in_namespace));
    static const struct {
        const char *key;
        size_t offset;
    } settings[] = {
        {"unprivileged_userns_clone", offsetof(struct machine, userns_clone)},
        {"max_user_namespaces", offsetof(struct machine, max_userns)},
        {"apparmor_restrict_unprivileged_userns", offsetof(struct machine, apparmor_userns)},
    };
    for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
        int value = *(const int *)((const char *)m + settings[i].offset);
        json_put(
            object, settings[i].key, value == MACHINE_UNKNOWN ? json_null() : json_integer(value));
    }
    return object;
}
