/* Known causes and their remedies. Makes no system calls. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/diagnose.h"

#include "base/str.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    SECCOMP_FILTER = 2, /* "Seccomp:" of a process with a filter */
};

static void diagnose_add(struct diagnose_findings *f, const struct diagnose_finding *finding)
{
    if (f->n < FINDINGS_MAX)
        f->p[f->n++] = *finding;
}

const struct diagnose_finding *diagnose_cause(const struct diagnose_findings *f)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->p[i].blocks)
            return &f->p[i];
    return NULL;
}

/* Reading facts ------------------------------------------------------------------------------- */

uint64_t diagnose_status(const char *status, const char *title, int base)
{
    const char *at = strstr(status, title);
    return at ? strtoull(at + strlen(title), NULL, base) : 0;
}

static bool is_filtered(const struct diagnose_facts *f)
{
    return diagnose_status(f->status, "\nSeccomp:", 10) == SECCOMP_FILTER;
}

/* A status that could not be read proves nothing about capabilities. */
static bool lacks_admin(const struct diagnose_facts *f)
{
    return f->root && strstr(f->status, "\nCapEff:") &&
           !(diagnose_status(f->status, "\nCapEff:", 16) >> CAP_SYS_ADMIN & 1);
}

static bool diagnose_is_older_kernel(const char *release, long major, long minor)
{
    char *end;
    long a = strtol(release, &end, 10);
    long b = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
    return a < major || (a == major && b < minor);
}

/* The line of mountinfo for the root: its mount options, and after " - " its type, source and file
 * system options. */
static struct str root_mount(const struct diagnose_facts *f)
{
    struct str line, rest = str_z(f->mounts);
    while (str_cut(rest, '\n', &line, &rest)) {
        struct str word, left = line;
        for (int i = 0; i < 5; i++)
            if (!str_cut(left, ' ', &word, &left))
                break;
        if (str_is(word, "/"))
            return line;
    }
    return (struct str){0};
}

static bool diagnose_contains(struct str text, const char *what)
{
    return text.n && memmem(text.p, text.n, what, strlen(what));
}

/* All ids are mapped to themselves: not in a user namespace. */
static bool has_all_ids(const struct diagnose_facts *f)
{
    char *end;
    unsigned long inside = strtoul(f->uid_map, &end, 10), outside = strtoul(end, &end, 10);
    return inside == 0 && outside == 0 && strtoul(end, NULL, 10) == UINT32_MAX;
}

/* Containers ---------------------------------------------------------------------------------- */

static const struct {
    const char *text, *kind;
} managers[] = {
    {"docker", "docker"},
    {"podman", "podman"},
    {"lxc", "lxc"}, /* also lxc-libvirt */
    {"systemd-nspawn", "systemd-nspawn"},
    {"oci", "container"},
    {"container-other", "container"},
};

/* In /proc/self/cgroup, and in the directories of the root's layers. */
static const struct {
    const char *text, *kind;
} places[] = {
    {"kubepods", "kubernetes"},
    {"/docker/", "docker"},
    {"/docker-", "docker"},
    {"libpod-", "podman"},
    {"/containers/storage/", "podman"},
    {"/lxc/", "lxc"},
    {"lxc.payload", "lxc"},
    {"systemd-nspawn", "systemd-nspawn"},
    {"containerd", "container"},
};

static const char *kind_of_place(struct str text)
{
    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        if (diagnose_contains(text, places[i].text))
            return places[i].kind;
    return NULL;
}

/* Container images also leave their markers in virtual machines. */
static bool is_whole_machine(const struct diagnose_facts *f, struct str root)
{
    return root.n && !diagnose_contains(root, " - overlay ") && has_all_ids(f) && !is_filtered(f) &&
           diagnose_status(f->status, "\nCapBnd:", 16) >> CAP_SYS_ADMIN & 1;
}

const char *diagnose_container(const struct diagnose_facts *f)
{
    const struct str root = root_mount(f);
    if (f->kubernetes || strstr(f->cgroup, "kubepods"))
        return "kubernetes";
    for (size_t i = 0; i < ARRAY_LEN(managers); i++)
        if (str_starts_with(str_z(f->manager), str_z(managers[i].text)))
            return managers[i].kind;
    if (f->containerenv && !is_whole_machine(f, root))
        return "podman";
    if (f->dockerenv && !is_whole_machine(f, root))
        return "docker";
    const char *kind = kind_of_place(str_z(f->cgroup));
    if (kind)
        return kind;
    /* Container engines cover parts of /proc that show the machine. */
    if (strstr(f->mounts, " /proc/timer_list ") || strstr(f->mounts, " /proc/bus "))
        kind = "container";
    if (!diagnose_contains(root, " - overlay "))
        return kind;
    if (kind_of_place(root))
        return kind_of_place(root);
    return is_filtered(f) || lacks_admin(f) || !has_all_ids(f) ? "container" : kind;
}

static const struct {
    const char *kind, *remedy;
} openings[] = {
    {"docker",
        "start the container with 'docker run --security-opt seccomp=unconfined --security-opt "
        "apparmor=unconfined --security-opt systempaths=unconfined'"},
    {"podman",
        "start the container with 'podman run --security-opt seccomp=unconfined --security-opt "
        "apparmor=unconfined --security-opt unmask=ALL'"},
    {"kubernetes",
        "give the pod 'hostUsers: false', and the container a securityContext with "
        "'seccompProfile: {type: Unconfined}', 'appArmorProfile: {type: Unconfined}' and "
        "'procMount: Unmasked'"},
    {"lxc", "on the host: 'lxc config set NAME security.nesting true' (or 'incus config set …'), "
            "and restart the container"},
    {"systemd-nspawn",
        "start it with 'systemd-nspawn --system-call-filter=\"@mount @privileged\"', or run "
        "cordon outside of it"},
    {"container",
        "allow the container to create user namespaces, to mount, and to see all of /proc "
        "(no seccomp or AppArmor profile, no masked paths), or run cordon outside of it"},
};

static const char *diagnose_container_remedy(const char *container)
{
    for (size_t i = 0; container && i < ARRAY_LEN(openings); i++)
        if (strcmp(openings[i].kind, container) == 0)
            return openings[i].remedy;
    return NULL;
}

/* Kernels ------------------------------------------------------------------------------------- */

/* Detects it by process 1, or where that is hidden by the host name of a sandbox on a root in
 * memory. */
static void find_nesting(const struct diagnose_facts *f, struct diagnose_findings *out)
{
    const bool named =
        strcmp(f->host, "cordon") == 0 && diagnose_contains(root_mount(f), " - tmpfs ");
    if (named || strstr(f->above, "cordon-init"))
        diagnose_add(out,
            &(struct diagnose_finding){"nested",
                "this is inside a sandbox or box of cordon, where no other sandbox can be created",
                "run it outside; in a box, which already confines it, use '--sandbox none "
                "--ack-unsafe-sandbox --ack-unsafe-network'",
                f->failed != FAILED_NOTHING, false});
}

static void find_wsl(const struct diagnose_facts *f, struct diagnose_findings *out)
{
    bool second = strcasestr(f->version, "wsl2") || strcasestr(f->version, "microsoft-standard");
    if (second)
        diagnose_add(out, &(struct diagnose_finding){"wsl2", "this is WSL 2", NULL, false, false});
    else if (strcasestr(f->version, "microsoft"))
        diagnose_add(
            out, &(struct diagnose_finding){"wsl1",
                     "this is WSL 1, which has no namespaces and no Landlock",
                     "in Windows: 'wsl --set-version NAME 2' for this distribution", true, false});
}

static void find_landlock(
    const struct diagnose_facts *f, struct arena *a, struct diagnose_findings *out)
{
    struct diagnose_finding x = {.blocks = true};
    const char *list = f->lsm[0] ? f->lsm : "…";
    if (f->landlock_abi > 0)
        return;
    if (diagnose_is_older_kernel(f->release, 5, 13)) {
        x.name = "old-kernel";
        x.text = arena_printf(a, "Linux %s has no Landlock", f->release);
        x.remedy = "boot Linux 5.13 or newer";
    } else if (f->landlock_errno == EOPNOTSUPP) {
        x.name = "landlock-off";
        x.text = "Landlock is built in but not enabled";
        x.remedy =
            arena_printf(a, "boot with 'landlock' in the kernel's lsm= list: lsm=landlock,%.*s%s",
                (int)strcspn(list, "\n"), list,
                strcasestr(f->version, "microsoft")
                    ? " (kernelCommandLine in Windows' .wslconfig)"
                    : " (GRUB_CMDLINE_LINUX in /etc/default/grub, then update-grub)");
    } else if (f->landlock_errno == EPERM || is_filtered(f)) {
        x.name = "landlock-refused";
        x.text = "a seccomp filter blocks Landlock, or the kernel does not support it";
        x.remedy = "use Docker 23, Podman 4 or newer, or start the container with "
                   "'--security-opt seccomp=unconfined'";
    } else {
        x.name = "landlock-missing";
        x.text = "the kernel has no Landlock";
        x.remedy = "boot a kernel with CONFIG_SECURITY_LANDLOCK=y, and 'landlock' in its lsm= list";
    }
    diagnose_add(out, &x);
}

/* User namespaces ----------------------------------------------------------------------------- */

static bool needs_namespaces(const struct diagnose_facts *f)
{
    return f->failed == FAILED_NAMESPACES || f->failed == FAILED_MOUNT || f->failed == FAILED_PROC;
}

static void find_settings(const struct diagnose_facts *f, struct diagnose_findings *out)
{
    const bool plain = !f->root || lacks_admin(f), stops = needs_namespaces(f);
    if (!f->has_userns)
        diagnose_add(out,
            &(struct diagnose_finding){"no-user-namespaces", "the kernel has no user namespaces",
                "boot a kernel with CONFIG_USER_NS=y", true, false});
    if (f->userns_clone == 0 && plain)
        diagnose_add(out,
            &(struct diagnose_finding){"userns-off",
                "user namespaces are disabled (kernel.unprivileged_userns_clone=0)",
                "as root: sysctl -w kernel.unprivileged_userns_clone=1, and add the setting to "
                "/etc/sysctl.d/cordon.conf",
                stops, false});
    if (f->max_userns == 0)
        diagnose_add(
            out, &(struct diagnose_finding){"userns-none",
                     "no user namespaces are allowed (user.max_user_namespaces=0)",
                     "as root: sysctl -w user.max_user_namespaces=10000, and add the setting to "
                     "/etc/sysctl.d/cordon.conf",
                     stops, false});
}

/* Root with its capabilities is not restricted, and for a program with a profile that profile
 * decides. */
static void find_apparmor(const struct diagnose_facts *f, const char *container, struct arena *a,
    struct diagnose_findings *out)
{
    const bool own = str_starts_with(str_z(f->apparmor), STR("cordon"));
    const bool confined = f->apparmor[0] && strncmp(f->apparmor, "unconfined", 10) != 0;
    const bool stops = needs_namespaces(f);
    if (f->apparmor_userns > 0 && !own)
        diagnose_add(out,
            &(struct diagnose_finding){"apparmor-userns",
                "AppArmor restricts user namespaces "
                "(kernel.apparmor_restrict_unprivileged_userns=1)",
                container
                    ? "on the host: install cordon there and run 'sudo cordon doctor --fix', then "
                      "start the container with '--security-opt apparmor=cordon'"
                    : arena_printf(a,
                          "install the AppArmor profile for this program: 'sudo %s doctor --fix' "
                          "shows it, "
                          "asks, and installs it",
                          f->self[0] ? f->self : "cordon"),
                stops && !confined, !container});
    if (confined && !own && container && strstr(f->apparmor, "(enforce)"))
        diagnose_add(
            out, &(struct diagnose_finding){"apparmor-container",
                     arena_printf(a, "the AppArmor profile '%.*s' confines this container",
                         (int)strcspn(f->apparmor, " \n"), f->apparmor),
                     diagnose_container_remedy(container), stops && f->errnum == EACCES, false});
}

static void find_container(
    const struct diagnose_facts *f, const char *container, struct diagnose_findings *out)
{
    const bool refused = f->failed == FAILED_NAMESPACES || f->failed == FAILED_MOUNT;
    const bool denied = f->errnum == EPERM || f->errnum == ENOSYS || f->errnum == EACCES;
    if (refused && denied && is_filtered(f))
        diagnose_add(out,
            &(struct diagnose_finding){"seccomp-filter",
                "a seccomp filter on this process blocks namespaces or mounts",
                container
                    ? diagnose_container_remedy(container)
                    : "run cordon outside of the environment that set the filter (a container, a "
                      "service with SystemCallFilter= or RestrictNamespaces=, another sandbox)",
                true, false});
    if (f->failed == FAILED_PROC && f->errnum == EPERM)
        diagnose_add(out,
            &(struct diagnose_finding){"proc-covered",
                "parts of /proc are covered by mounts, and the kernel therefore refuses to mount "
                "another /proc",
                container ? diagnose_container_remedy(container)
                          : "unmount the file systems that cover parts of /proc",
                true, false});
    if (lacks_admin(f))
        diagnose_add(
            out, &(struct diagnose_finding){"no-sys-admin", "running as root without CAP_SYS_ADMIN",
                     refused && denied ? diagnose_container_remedy(container) : NULL,
                     refused && denied && container, false});
}

/* The kernel creates no user namespaces where the root directory is not a mount; and the first
 * mount of all, the rootfs, can't be replaced in any namespace. */
static void diagnose_find_root(const struct diagnose_facts *f, struct diagnose_findings *out)
{
    if (f->mounts[0] && !root_mount(f).n)
        diagnose_add(
            out, &(struct diagnose_finding){"chroot",
                     "this is a chroot, where user namespaces cannot be created",
                     "enter it with pivot_root (systemd-nspawn -D DIR, podman run --rootfs DIR) "
                     "instead of chroot",
                     f->failed == FAILED_NAMESPACES, false});
    if (f->failed == FAILED_MOUNT && f->errnum == EINVAL &&
        diagnose_contains(root_mount(f), " - rootfs "))
        diagnose_add(
            out, &(struct diagnose_finding){"initramfs",
                     "the root directory is the kernel's initial rootfs, which cannot be replaced",
                     "run switch_root to another file system (a tmpfs is enough) before starting "
                     "cordon",
                     true, false});
}

void diagnose(
    const struct diagnose_facts *f, struct arena *a, struct diagnose_findings *ret_findings)
{
    const char *container = diagnose_container(f);
    *ret_findings = (struct diagnose_findings){0};
    find_wsl(f, ret_findings);
    find_nesting(f, ret_findings);
    if (diagnose_cause(ret_findings))
        return;
    find_landlock(f, a, ret_findings);
    find_settings(f, ret_findings);
    diagnose_find_root(f, ret_findings);
    find_apparmor(f, container, a, ret_findings);
    find_container(f, container, ret_findings);
    if (container) {
        bool known = diagnose_cause(ret_findings);
        diagnose_add(ret_findings,
            &(struct diagnose_finding){"container",
                arena_printf(a, "this is a container: %s", container),
                f->failed == FAILED_NOTHING ? NULL : diagnose_container_remedy(container),
                !known && needs_namespaces(f), false});
    }
}
