/* Denials of a sandbox, while its commands ran: collected by a listener
 * (sandbox/listener.h), merged, bounded, and ranked by the failures that followed.
 *
 *     struct denied *denied = denied_new();
 *     launch_start(&(struct launch){.denied = denied, …}, &child, err);
 *     ... child_close(&child) ...
 *     json_t *list = denied_json(denied, &style);    [{op, target, program, rule, fix, count}]
 *     denied_free(denied);
 *
 * Everything in it was chosen by the commands: targets and programs are bytes, to be escaped.
 * Thread-safe, so that the commands of a sandbox that serves can be asked for one by one.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_DENIED_H
#define SANDBOX_DENIED_H

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"

#include <stdint.h>
#include <sys/types.h>

enum {
    DENIED_MAX = 128,         /* entries; the oldest ones that nothing failed after are dropped */
    DENIED_TARGET_MAX = 1024, /* bytes of a target; the rest is cut off */
    DENIED_PROGRAM_MAX = 256,
    DENIED_COMMAND_MAX = 512, /* bytes of a command line; a longer one is left out */
    DENIED_NEEDS_MAX = 512,   /* bytes of the programs that another one needs */
    DENIED_LINES = 3,         /* shown to people */
};

enum denied_op {
    DENIED_READ,
    DENIED_WRITE,
    DENIED_EXEC,
    DENIED_CONNECT,
    DENIED_HOST,
    DENIED_SYSCALL,
};

const char *denied_op_name(enum denied_op op);

enum denied_rule {
    DENIED_NOT_SHOWN,    /* a path of the host that the policy does not name */
    DENIED_HIDDEN,       /* hidden in a directory that is shown */
    DENIED_READ_ONLY,    /* shown, but not writable */
    DENIED_KEPT,         /* read-only in a writable directory */
    DENIED_NOT_LISTED,   /* not one of the programs that may be started */
    DENIED_NO_NETWORK,   /* the sandbox has its own network */
    DENIED_NO_NAMES,     /* the same, for a name server */
    DENIED_PROXIED,      /* the same, but there is a proxy to some hosts */
    DENIED_NO_SOCKETS,   /* sockets with names, or for datagrams */
    DENIED_FOREIGN,      /* a socket that no process of the sandbox listens on */
    DENIED_CALL,         /* a system call that no command may use */
    DENIED_ONE_LISTENER, /* a second listener for system calls */
    DENIED_CONNECTS,     /* the same, where the first one carries out connect() */
};

/* One denial, as the listener sees it. */
struct denied_sight {
    enum denied_op op;
    enum denied_rule rule;
    struct str target;
    struct str program;
    struct str needs;   /* of a program: others that must also be allowed, each ended by NUL */
    struct str command; /* DENIED_KEPT: see denied_git_command(); may be unset */
    bool entry;         /* a write that changes the directory's entry */
    bool implied;       /* not observed, but found afterwards: does not count */
    bool own;           /* the user can't do it outside either: no rule of the sandbox to blame */
    bool optional;      /* a file that programs look for on the chance that it exists */
    pid_t pid;          /* of the process, as we see it */
    pid_t session;      /* its session, as the sandbox sees it: see denied_take() */
    pid_t thread;       /* of the process */
    uint32_t calls;     /* number of the thread's observed calls so far */
};

/* A process that ends with a failure, by this thread. */
struct denied_exit {
    pid_t pid, thread;
    uint32_t calls;
};

struct denied;

MUST_USE struct denied *denied_new(void);
void denied_free(struct denied *denied);

/* For the listener. Adds a denial, or counts it once more. */
void denied_add(struct denied *denied, const struct denied_sight *sight);

/* A process has ended with a failure: the denials shortly before explain it. */
void denied_note_failure(struct denied *denied, const struct denied_exit *exit);

/* Nothing is collected, for this reason (static). */
void denied_set_gap(struct denied *denied, const char *reason);

/* A text for sandbox_report.gaps (static), or NULL: everything was observed. NULL is allowed as the
 * list: denials were switched off. */
const char *denied_gap(struct denied *denied);

/* Which fixes a front end offers. */
enum denied_front {
    DENIED_FOR_EXEC, /* flags of this command */
    DENIED_FOR_BOX,  /* flags of cordon box new */
    DENIED_FOR_TOOL, /* flags of cordon tool, agent and chat */
};

struct denied_style {
    enum denied_front front;
    const char *home; /* of the user: paths that no policy may name have no fix; may be NULL */
    struct str root;  /* DENIED_FOR_TOOL: the project */
    pid_t session;    /* only this command's denials, by its process id inside; 0: all */
    bool failed_only; /* only those that a failure followed */
    bool or_others;   /* with that: if there are none, those that are not optional */
    bool kept_only;   /* only those of DENIED_KEPT, which programs may not take for a failure */
};

/* A new array, most important first; [] for NULL. */
MUST_USE json_t *denied_json(struct denied *denied, const struct denied_style *style);

/* The same, removed from the list. */
MUST_USE json_t *denied_take(struct denied *denied, const struct denied_style *style);

/* Adds at most DENIED_LINES lines "denied: read /x (not in the policy). Allow: --read /x\n" for an
 * array of denied_json(), printable. */
void denied_add_lines(struct buf *b, const json_t *list);

#endif
