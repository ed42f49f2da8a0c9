/* The listener of a sandbox's system call filter: a thread that receives some calls before they are
 * carried out (syscall_rules_observe()), and answers.
 *
 *     struct listener *l = listener_new(&options);      while the sandbox is being built
 *     listener_start(l, fd);                             the filter's descriptor, from process 1
 *     ... the sandbox runs; when no process of it is left:
 *     bool ok = listener_free(l);
 *
 * A thread, since the caller's event loop may be busy, and a process of its own takes longer to
 * start. It blocks all signals and allocates nothing. If it can't continue, it kills the sandbox:
 * a command must never get an answer that does not come from here. The kernel allows one listener
 * per process, so everything that needs one is a handler of this one.
 *
 * Every call goes to the handlers of its number in the order of a table (listener.c); the first
 * that answers decides. A call that no handler answers is refused with EPERM. A handler must not
 * use LISTENER_CONTINUE after looking at memory of the process to decide: the kernel reads it
 * again.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_LISTENER_H
#define SANDBOX_LISTENER_H

#include "sandbox/denied.h"
#include "sandbox/plan.h"

#include <linux/seccomp.h>

struct listener_options {
    const struct plan *plan; /* must outlive it, as must the list */
    struct denied *denied;   /* NULL: nothing is collected */
    pid_t process_1;
    int sandbox;  /* its pidfd, to kill it */
    int death;    /* the signal for that */
    int connects; /* packet socket to it, for sandbox/connector.h, taken; -1: none */
};

/* A call that waits for its answer. */
struct listener_call {
    int fd; /* the listener, for SECCOMP_IOCTL_NOTIF_ADDFD */
    const struct seccomp_notif *request;
    struct denied_calls *denied; /* to report a denial; NULL: nothing is collected */
    struct connector *connector; /* NULL: connect() is left to the kernel */
};

enum listener_verdict {
    LISTENER_PASS,     /* ask the next handler */
    LISTENER_CONTINUE, /* let the kernel carry it out */
    LISTENER_REFUSE,   /* `value`: an errno */
    LISTENER_RETURN,   /* `value`: the call's result; it is not carried out */
    LISTENER_ANSWERED, /* the handler answers later: listener_answer_later() */
};

struct listener_reply {
    enum listener_verdict verdict;
    int value;
};

/* Copies memory of the process, as much as can be read; returns the number of bytes, or -1. */
ssize_t listener_read(const struct listener_call *call, uint64_t address, void *to, size_t size);

/* Copies a path; false if it is not a string of less than `size` bytes. */
bool listener_read_path(const struct listener_call *call, uint64_t address, char *to, size_t size);

struct listener;

/* For handlers that answer later. A caller that is gone needs no answer. */
void listener_answer_later(struct listener *l, uint64_t call, struct listener_reply reply);
int listener_fd(const struct listener *l);

/* Reports that the socket with this name is not one of the sandbox's; an abstract name begins with
 * NUL. */
void listener_report_socket(struct listener *l, const struct seccomp_notif *call, const char *name);

/* Returns NULL if there can't be a thread. */
MUST_USE struct listener *listener_new(const struct listener_options *options);

/* Takes the descriptor; -1: there is nothing to listen to. */
void listener_start(struct listener *l, int fd);

/* Call it when no process of the sandbox is left. Returns false if the thread had to give up. NULL
 * is allowed. */
bool listener_free(struct listener *l);

#endif
