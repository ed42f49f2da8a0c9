/* May this policy be used, and for this command? Every reason why not, in a fixed order: sandbox,
 * network, sockets, env, fs, artifacts, write, exec, command, cwd.
 *
 *     struct verdict v;
 *     policy_validate(&policy, &host, &arena, &v);
 *     policy_validate_command(&v, &(struct policy_command){.path = "/usr/bin/make"});
 *     if (!verdict_ok(&v, err)) return false;
 *
 * Paths of a policy are absolute and are there. Each is resolved once, links followed, and its
 * target is what is allowed; both spellings are kept. Blocked entries (policy/blocked.h) are looked
 * for in both. Whoever opens such a path later compares device and inode: between the check and the
 * use it could have become something else.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef POLICY_VALIDATE_H
#define POLICY_VALIDATE_H

#include "policy/denial.h"
#include "policy/policy.h"

#include <sys/types.h>

enum {
    VERDICT_ARENA = 512 << 20, /* room that the longest lists may need; little is used of it */
};

/* What is known of the machine's user. */
struct policy_host {
    const char *home; /* absolute, or NULL */
    /* The list of what may be read was made by looking at the machine: what is gone since then, or
     * can't be granted, is left out instead of denied. */
    bool read_as_found;
    /* The environment is set by this program itself, not by whoever wrote the policy: names that
     * are blocked there may be set. */
    bool own_env;
};

struct verdict_path {
    struct str given;    /* as the policy spells it */
    struct str resolved; /* absolute, without links, NUL-terminated */
    size_t index;        /* in its list */
    dev_t dev;
    ino_t ino;
    bool is_dir;
    bool of_kernel; /* on a file system through which the kernel is read and set */
    bool writable;  /* of an executable: the policy lets it be changed, too */
    bool as_found;  /* it may be gone before it is shown: then it is left out */
};

struct verdict_paths {
    struct verdict_path *p;
    size_t n;
};

struct verdict {
    const struct policy *policy;
    struct arena *arena;
    struct denials denials;
    struct verdict_paths read, write, exec; /* those that are not denied */
    struct verdict_path working_dir;        /* no given: the policy has none */
    struct verdict_path artifacts_dir;      /* no given: no artifacts. It need not be there yet */
    struct verdict_path command;            /* no given: none was asked about */
    struct verdict_path cwd;                /* where that would start; no given: nowhere */
    struct str home, home_resolved;
};

struct policy_command {
    const char *path;
    const char *cwd; /* NULL: the policy's working_dir */
};

/* Policy and arena must live as long as the verdict, which needs no end of its own. */
void policy_validate(const struct policy *policy, const struct policy_host *host,
    struct arena *arena, struct verdict *ret_verdict);

/* Adds what speaks against running this command. */
void policy_validate_command(struct verdict *v, const struct policy_command *command);

/* True if nothing was denied; otherwise the first denial as an error. */
MUST_USE bool verdict_ok(const struct verdict *v, struct err *err);

/* Whether this program is a shell, by its own name or by that of what it leads to. */
bool policy_is_shell(struct str absolute);

/* Those that are directories, in the arena. */
size_t verdict_dirs(const struct verdict_paths *paths, struct arena *arena, struct str **ret_dirs);

/* Whether an absolute path without links lies in one of these. */
bool verdict_holds(const struct verdict_paths *roots, struct str resolved);

#endif
