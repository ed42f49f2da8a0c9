/* The first process of a sandbox: builds it, gives up its rights, starts the command, reaps. When
 * it ends, everything in the sandbox ends. Without namespaces it is the one that orphans fall to.
 * If it serves, it outlives the command, and starts others until the supervisor lets go of it.
 *
 * It is a copy of the process that asked for the sandbox: what it is given must not lie in the
 * memory of arguments and environment, which it wipes. It allocates nothing.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_INIT_H
#define SANDBOX_INIT_H

#include "sandbox/plan.h"
#include "sandbox/seccomp.h"
#include "sandbox/tmpdir.h"

struct init_input {
    const struct plan *plan;
    struct tmpdir tmp; /* without mounts: the place of the private /tmp, to be made */
    int landlock_abi;
    char *const *argv;
    char *const *envp;
    int control; /* a socket of packets: see sandbox/stage.h */
    int service; /* another, if it serves: see sandbox/wire.h; otherwise -1 */
    int io[3];   /* what the command gets; -1: the terminal */
    bool terminal;
    uint16_t rows, cols;
    bool report_stops; /* tell when the command stops, and wait to be told to go on */
    bool rehearse;     /* do everything but start the command */
    bool idle;         /* it only serves */
    bool held;         /* it starts the command when it is told to */
    int pid_max;       /* 0: don't set */
    bool limit_uid;    /* RLIMIT_NPROC counts only what is in here */
    bool grouped;      /* it was started in a cgroup of its own */
    bool counts;       /* it counts processes, and kills all if they are too many */
    int nice;          /* then: the priority of its commands, never a better one than the common */
    bool other_uid;    /* it becomes user 0 of its namespace, who is another one outside */
    const int *trees;  /* root_options.trees */
    const int *open;   /* the same, sorted: descriptors that stay open */
    size_t n_open;
    bool nodump; /* it is a copy of a process that holds keys: see io/nodump.h */
    bool nests;  /* is mapped to 0, and maps itself back when the sandbox is built */
    uid_t uid;   /* to this */
    gid_t gid;
    char *secret; /* memory to wipe: arguments and environment */
    size_t secret_size;
};

/* The supervisor's first word: the ids are mapped, all of its own or just the one. */
enum {
    INIT_GO_ALL_IDS = 'A',
    INIT_GO_ONE_ID = 'O',
    INIT_CONTINUE = 'C', /* after a stop */
};

NORETURN void init_main(const struct init_input *input);

#endif
