/* Runs a command without a sandbox and reports the resources it uses: files that it opens, changes
 * and creates, programs that it starts, addresses that it connects to. All its processes and
 * threads are traced.
 *
 *     struct trace_end end;
 *     if (!trace_run(&(struct trace_command){path, argv}, seen, arg, &end, err)) return false;
 *
 * It inherits our standard input; its standard output is our standard error. When it exits, its
 * remaining processes are killed, as in the sandbox; if we exit, it is killed. Mere queries (stat,
 * access, readlink) are not reported, nor is the use of inherited descriptors.
 *
 * While it runs, the calling process must have no other children and only one thread: every child
 * is assumed to belong to the command.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LEARN_TRACE_H
#define LEARN_TRACE_H

#include "base/err.h"

enum trace_kind {
    TRACE_READ,    /* opened for reading; a directory: for listing */
    TRACE_WRITE,   /* content or attributes changed, or opened for writing */
    TRACE_ENTRY,   /* a directory entry created, removed or renamed: its directory changed */
    TRACE_EXEC,    /* started as a program, a script or its interpreter */
    TRACE_NETWORK, /* connected or sent to an address, or tried; the path is the address as text */
    TRACE_SOCKET,  /* used this Unix socket; "@name" if it has no path */
};

/* All succeeded, except TRACE_NETWORK. Slices are valid during the call. */
struct trace_event {
    enum trace_kind kind;
    struct str path;  /* absolute, symlinks followed */
    struct str given; /* as the program spelled it; no value: identical */
    bool made;        /* did not exist before */
    bool loopback;    /* address of this machine itself */
};

typedef void (*trace_fn)(void *arg, const struct trace_event *event);

struct trace_command {
    const char *path; /* not searched for in PATH */
    const char *const *argv;
};

struct trace_end {
    int exit_code;   /* -1: killed by a signal */
    int signal;      /* 0: exited */
    int interrupted; /* signal that made us end it; 0: none */
    bool left;       /* remaining processes were killed */
    bool unseen;     /* some uses could not be decoded, such as calls with a foreign ABI */
};

/* A terminal's Ctrl-C is left to the command; any other SIGINT, SIGTERM, SIGHUP or SIGQUIT sent to
 * us kills it. E_IO if it can't be started or traced. */
MUST_USE bool trace_run(const struct trace_command *command, trace_fn seen, void *arg,
    struct trace_end *ret_end, struct err *err);

#endif
