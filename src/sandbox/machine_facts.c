/* Collects the facts for a diagnosis: only after a failure, or when a user asks. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/machine_facts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>

enum {
    TEXT_MAX = 64 * 1024,
    ABOVE_MAX = 64, /* processes */
    PROC_PATH = 64,
    ERRNO_MAX = 4096,
};

/* The first bytes of a file; "" if it can't be read. NULs become line breaks. */
static const char *facts_read_text(struct arena *a, const char *path)
{
    AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    char *text = fd >= 0 ? ARENA_NEW(a, char, TEXT_MAX) : NULL;
    size_t n = 0;
    for (ssize_t got = 1; text && got > 0 && n < TEXT_MAX - 1; n += (size_t)MAX(got, 0))
        got = read(fd, text + n, TEXT_MAX - 1 - n);
    for (size_t i = 0; i < n; i++)
        text[i] = text[i] ? text[i] : '\n';
    return text ? text : "";
}

static bool facts_exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

/* A container manager names itself in the environment of the container's first process. */
static const char *find_manager(struct arena *a)
{
    static const char title[] = "container=";
    const char *text = facts_read_text(a, "/run/systemd/container"), *own = getenv("container");
    if (text[0])
        return text;
    if (own && own[0])
        return own;
    text = facts_read_text(a, "/proc/1/environ");
    const char *at = strncmp(text, title, strlen(title)) == 0 ? text : strstr(text, "\ncontainer=");
    return at ? strchr(at, '=') + 1 : "";
}

/* Names of our ancestor processes, one per line, up to the outermost visible one. */
static const char *facts_find_ancestors(struct arena *a)
{
    AUTO_BUF struct buf names = BUF_INIT(TEXT_MAX);
    long pid = getppid();
    for (int i = 0; pid > 0 && i < ABOVE_MAX; i++) {
        char path[PROC_PATH];
        snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
        const char *text = facts_read_text(a, path), *name = strchr(text, '('),
                   *end = strrchr(text, ')');
        if (!name || !end)
            break;
        buf_add_str(&names, str_n(name + 1, (size_t)(end - name - 1)));
        buf_add_byte(&names, '\n');
        if (end[1] != ' ' || !end[2] || end[3] != ' ')
            break;
        pid = strtol(end + 4, NULL, 10);
    }
    return arena_strdup(a, buf_str(&names));
}

static const char *find_host(struct arena *a)
{
    struct utsname names;
    return uname(&names) == 0 ? arena_strdup(a, str_z(names.nodename)) : "";
}

static const char *facts_find_self(struct arena *a)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self));
    return n > 0 && n < (ssize_t)sizeof(self) ? arena_strdup(a, str_n(self, (size_t)n)) : "";
}

/* Steps by a word in the primitive's name (sandbox/stage.h); the first match counts. */
static const struct {
    const char *word;
    enum diagnose_failed failed;
} steps[] = {
    {"clone3", FAILED_NAMESPACES},
    {"uid_map", FAILED_NAMESPACES},
    {"loopback", FAILED_NAMESPACES},
    {"sethostname", FAILED_NAMESPACES},
    {"second user namespace", FAILED_NAMESPACES},
    {"mounting proc", FAILED_PROC},
    {"overlayfs", FAILED_OTHER},
    {"mount", FAILED_MOUNT},
    {"binding a device", FAILED_MOUNT},
    {"pivot_root", FAILED_MOUNT},
    {"landlock", FAILED_LANDLOCK},
    {"seccomp", FAILED_SECCOMP},
};

static enum diagnose_failed facts_failed_step(const struct machine_failure *failure)
{
    if (!failure)
        return FAILED_NOTHING;
    for (size_t i = 0; i < ARRAY_LEN(steps); i++)
        if (strstr(failure->primitive, steps[i].word))
            return steps[i].failed;
    return FAILED_OTHER;
}

void machine_facts(
    const struct machine_failure *failure, struct arena *a, struct diagnose_facts *ret)
{
    const struct machine *m = machine_get();
    *ret = (struct diagnose_facts){
        .release = m->release,
        .version = facts_read_text(a, "/proc/version"),
        .lsm = facts_read_text(a, "/sys/kernel/security/lsm"),
        .status = facts_read_text(a, "/proc/self/status"),
        .uid_map = facts_read_text(a, "/proc/self/uid_map"),
        .cgroup = facts_read_text(a, "/proc/self/cgroup"),
        .mounts = facts_read_text(a, "/proc/self/mountinfo"),
        .apparmor = facts_read_text(a, "/proc/self/attr/apparmor/current"),
        .manager = find_manager(a),
        .above = facts_find_ancestors(a),
        .host = find_host(a),
        .self = facts_find_self(a),
        .dockerenv = facts_exists("/.dockerenv"),
        .containerenv = facts_exists("/run/.containerenv"),
        .kubernetes =
            facts_exists("/run/secrets/kubernetes.io") || getenv("KUBERNETES_SERVICE_HOST") != NULL,
        .root = geteuid() == 0,
        .has_userns = facts_exists("/proc/self/ns/user"),
        .userns_clone = m->userns_clone,
        .max_userns = m->max_userns,
        .apparmor_userns = m->apparmor_userns,
        .landlock_abi = m->landlock_abi,
        .landlock_errno = m->landlock_errno,
        .failed = facts_failed_step(failure),
        .errnum = failure ? failure->errnum : 0,
    };
}

bool machine_facts_failed(const struct err *err, struct machine_failure *ret_failure)
{
    const struct err_pair *primitive = err_ctx_get(err, "primitive");
    const struct err_pair *name = err_ctx_get(err, "errno");
    if (!primitive || !primitive->text || !name || !name->text)
        return false;
    *ret_failure = (struct machine_failure){.primitive = primitive->text};
    for (int i = 1; i < ERRNO_MAX && !ret_failure->errnum; i++) {
        const char *known = strerrorname_np(i);
        if (known && strcmp(known, name->text) == 0)
            ret_failure->errnum = i;
    }
    return true;
}
