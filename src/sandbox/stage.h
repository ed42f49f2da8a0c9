/* The stages of the first process of a sandbox, by name: for messages when one of them fails. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_STAGE_H
#define SANDBOX_STAGE_H

#include <stdint.h>

/* Stage, and the primitive that it needs. */
#define STAGES(X)                                                            \
    X(CLONE, "clone3 with user, mount, pid, ipc, uts and cgroup namespaces") \
    X(MAP, "writing the user namespace's uid_map and gid_map")               \
    X(DESCRIPTORS, "dup and close_range of the caller's file descriptors")   \
    X(SESSION, "setsid")                                                     \
    X(LOOPBACK, "bringing up a private loopback interface")                  \
    X(HOSTNAME, "sethostname in the uts namespace")                          \
    X(PRIVATE, "making the mounts private")                                  \
    X(ROOT, "mounting a tmpfs")                                              \
    X(PLACE, "creating a path in the new root")                              \
    X(BIND, "open_tree and move_mount")                                      \
    X(CHANGED, "comparing a path with the one that was checked")             \
    X(OVERLAY, "mounting overlayfs in a user namespace")                     \
    X(DEVICE, "binding a device")                                            \
    X(DEVPTS, "mounting devpts")                                             \
    X(PROC, "mounting proc")                                                 \
    X(PID_MAX, "kernel.pid_max of the pid namespace")                        \
    X(GROUP, "a cgroup namespace inside the sandbox's cgroup")               \
    X(PIVOT, "pivot_root")                                                   \
    X(NEST, "a second user namespace inside the first")                      \
    X(TERMINAL, "opening a terminal")                                        \
    X(TMP, "creating a directory for temporary files")                       \
    X(CWD, "entering the working directory")                                 \
    X(LIMITS, "setrlimit")                                                   \
    X(CAPABILITIES, "dropping capabilities")                                 \
    X(LANDLOCK, "landlock")                                                  \
    X(SECCOMP, "seccomp")                                                    \
    X(FORK, "starting the command's process")                                \
    X(EXEC, "execve")

enum stage {
#define STAGE_ENUM(name, primitive) STAGE_##name,
    STAGES(STAGE_ENUM)
#undef STAGE_ENUM
};

/* Messages on the control socket, one packet each. */
enum init_word {
    INIT_FAILED,   /* stage, errnum, step */
    INIT_READY,    /* with descriptors, value: which; errnum: why there is no listener; dev, ino */
    INIT_STOPPED,  /* value: the signal */
    INIT_EXITED,   /* value: a wait status; errnum EAGAIN: there were too many processes; kills */
    INIT_MAPPABLE, /* its ids can be mapped now */
    INIT_LISTENS,  /* with the descriptor of a socket that listens inside; before INIT_READY */
};

/* Descriptors of INIT_READY, in this order. */
enum {
    INIT_SENDS_TERMINAL = 1 << 0,
    INIT_SENDS_LISTENER = 1 << 1,
};

struct init_message {
    uint32_t word;
    uint32_t stage;
    int32_t errnum;
    int32_t step; /* of the plan; -1: none */
    int32_t value;
    uint64_t dev, ino; /* of the directory for temporary files, if there is one */
    uint64_t kills;    /* processes that had too much memory */
};

#endif
