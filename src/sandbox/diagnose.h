/* Diagnoses why a machine can't build a sandbox, and the remedy: works on facts alone, so that
 * tests can cover many machines in a table.
 *
 *     struct diagnose_facts facts;
 *     machine_facts(NULL, &arena, &facts);
 *     diagnose(&facts, &arena, &findings);
 *     const struct diagnose_finding *cause = diagnose_cause(&findings);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_DIAGNOSE_H
#define SANDBOX_DIAGNOSE_H

#include "base/arena.h"
#include "base/err.h"

/* The step of building a sandbox that the kernel refused. */
enum diagnose_failed {
    FAILED_NOTHING,
    FAILED_NAMESPACES, /* making them, mapping ids, naming the host */
    FAILED_MOUNT,
    FAILED_PROC, /* mounting proc */
    FAILED_LANDLOCK,
    FAILED_SECCOMP,
    FAILED_OTHER,
};

/* Texts are "" if the file does not exist or can't be read; settings that the kernel does not have
 * are negative. */
struct diagnose_facts {
    const char *release;  /* uname -r */
    const char *version;  /* /proc/version */
    const char *lsm;      /* /sys/kernel/security/lsm */
    const char *status;   /* /proc/self/status */
    const char *uid_map;  /* /proc/self/uid_map */
    const char *cgroup;   /* /proc/self/cgroup */
    const char *mounts;   /* /proc/self/mountinfo */
    const char *apparmor; /* /proc/self/attr/apparmor/current */
    const char *manager;  /* /run/systemd/container, or $container of us or of process 1 */
    const char *above;    /* names of our ancestor processes, one per line */
    const char *host;     /* uname -n */
    const char *self;     /* /proc/self/exe */
    bool dockerenv;       /* /.dockerenv exists */
    bool containerenv;    /* /run/.containerenv exists */
    bool kubernetes;      /* its secrets or $KUBERNETES_SERVICE_HOST exist */
    bool root;            /* effective user id 0 */
    bool has_userns;      /* /proc/self/ns/user exists */
    int userns_clone;     /* kernel.unprivileged_userns_clone */
    int max_userns;       /* user.max_user_namespaces */
    int apparmor_userns;  /* kernel.apparmor_restrict_unprivileged_userns */
    int landlock_abi;     /* 0: none */
    int landlock_errno;   /* errno without Landlock */
    enum diagnose_failed failed;
    int errnum; /* of the failed step */
};

struct diagnose_finding {
    const char *name;   /* for JSON */
    const char *text;   /* one line */
    const char *remedy; /* NULL: none is needed */
    bool blocks;        /* prevents a sandbox */
    bool fixable;       /* by `cordon doctor --fix` */
};

enum {
    FINDINGS_MAX = 16,
};

struct diagnose_findings {
    struct diagnose_finding p[FINDINGS_MAX];
    size_t n;
};

/* Texts are in the arena or constant. */
void diagnose(const struct diagnose_facts *facts, struct arena *arena,
    struct diagnose_findings *ret_findings);

/* The first finding that blocks, or NULL. */
const struct diagnose_finding *diagnose_cause(const struct diagnose_findings *findings);

/* "docker", "podman", "kubernetes", "lxc", "systemd-nspawn", "container", or NULL. */
const char *diagnose_container(const struct diagnose_facts *facts);

/* The number after a title in the text of /proc/PID/status. */
uint64_t diagnose_status(const char *status, const char *title, int base);

#endif
