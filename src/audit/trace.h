/* Runs a command, confined by nothing, and says what it uses: files that it opens, changes and
 * makes, programs that it starts, addresses that it speaks to. Every process and thread that comes
 * from it is watched.
 *
 *     struct trace_end end;
 *     if (!trace_run(&(struct trace_command){path, argv}, seen, arg, &end, err)) return false;
 *
 * Its stdin is ours, its stdout is our stderr. When it ends, what it left running is ended, as in
 * the sandbox; if we end, it ends. What it only asks about (stat, access, readlink) is not told,
 * nor what goes through descriptors that it was given.
 *
 * While it runs, the calling process must have no other children and only one thread: every child
 * is taken for one of the command's.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AUDIT_TRACE_H
#define AUDIT_TRACE_H

#include "base/err.h"

enum trace_kind {
    TRACE_READ,    /* opened to read; a directory: to list it */
    TRACE_WRITE,   /* a file's content or attributes changed, or opened for that */
    TRACE_ENTRY,   /* an entry made, removed or renamed: its directory changed */
    TRACE_EXEC,    /* started as a program, a script or its interpreter */
    TRACE_NETWORK, /* spoke to this address, or tried; the path is the address as text */
    TRACE_SOCKET,  /* spoke through this Unix socket; "@name" if it has no path */
};

/* All succeeded, but TRACE_NETWORK. Slices live as long as the call. */
struct trace_event {
    enum trace_kind kind;
    struct str path;  /* absolute, links followed */
    struct str given; /* the same as the program spelled it; no value: the same */
    bool made;        /* was not there before */
    bool loopback;    /* of an address: this machine itself */
};

typedef void (*trace_fn)(void *arg, const struct trace_event *event);

struct trace_command {
    const char *path; /* not looked up in PATH */
    const char *const *argv;
};

struct trace_end {
    int exit_code;   /* -1: ended by a signal */
    int signal;      /* 0: ended by itself */
    int interrupted; /* the signal that told us to end it; 0: none */
    bool left;       /* processes were left, and ended */
    bool unseen;     /* some of it used another processor's calls, which can't be understood */
};

/* A terminal's Ctrl-C is the command's own affair; any other SIGINT, SIGTERM, SIGHUP or SIGQUIT for
 * us ends it. E_IO if it can't be started or watched. */
MUST_USE bool trace_run(const struct trace_command *command, trace_fn seen, void *arg,
    struct trace_end *ret_end, struct err *err);

#endif
