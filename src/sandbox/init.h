/* The first process of a sandbox: builds it, drops its privileges, starts the command, reaps. When
 * it ends, everything in the sandbox ends. Without namespaces it is the subreaper of the others. If
 * it serves, it outlives the command, and starts others until the supervisor disconnects.
 *
 * It is a copy of the process that asked for the sandbox: its input must not be in the memory of
 * arguments and environment, which it wipes. It allocates nothing.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_INIT_H
#define SANDBOX_INIT_H

#include "sandbox/plan.h"
#include "sandbox/tmpdir.h"

struct init_input {
    const struct plan *plan;
    struct tmpdir tmp; /* without mounts: in place of the private /tmp, to be created */
    int landlock_abi;
    char *const *argv;
    char *const *envp;
    int control;  /* packet socket: see sandbox/stage.h */
    int service;  /* packet socket, if it serves: see sandbox/service_wire.h; otherwise -1 */
    int connects; /* packet socket, with namespaces: see sandbox/connector_init.h; otherwise -1 */
    int io[3];    /* the command's standard streams; -1: the terminal */
    bool terminal;
    uint16_t rows, cols;
    bool report_stops; /* report that the command has stopped, and wait for INIT_CONTINUE */
    bool rehearse;     /* do everything except starting the command */
    bool idle;         /* only serve */
    bool held;         /* start the command on request */
    int pid_max;       /* 0: don't set */
    bool limit_uid;    /* RLIMIT_NPROC counts only processes of the sandbox */
    bool grouped;      /* it was started in its own cgroup */
    bool counts;       /* count processes, and kill all if there are too many */
    bool watches;      /* sample the memory of processes */
    bool space;        /* don't limit address space */
    int nice;          /* if it counts: the nice value of its commands, at least 0 */
    bool other_uid;    /* become user 0 of the namespace, which is a different user outside */
    const int *trees;  /* root_options.trees */
    const int *open;   /* the same, sorted: file descriptors that stay open */
    size_t n_open;
    bool observe; /* if there are namespaces: install the filter with a listener */
    bool nodump;  /* a copy of a process that holds keys: see io/nodump.h */
    bool nests;   /* is mapped to 0, and maps itself back once the sandbox is built */
    uid_t uid;    /* the ids to map back to */
    gid_t gid;
    char *secret; /* memory to wipe: arguments and environment */
    size_t secret_size;
};

/* The supervisor's bytes. The first: the ids are mapped, all that it has or just one. (To end
 * everything at once it sends SIGKILL; without namespaces SIGTERM.) */
enum {
    INIT_GO_ALL_IDS = 'A',
    INIT_GO_ONE_ID = 'O',
    INIT_CONTINUE = 'C',   /* after a stop */
    INIT_ASK_TO_END = 'E', /* ask everything to exit */
};

NORETURN void init_main(const struct init_input *input);

#endif
