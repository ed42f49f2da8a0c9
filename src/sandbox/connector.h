/* Carries out connect() for the commands of a sandbox, as a handler of the listener. So commands
 * can use named Unix sockets of their own, and reach no socket of the host, which may be in any
 * directory that is shown: the kernel does not check that for them.
 *
 * Which socket a call connects, and where to, can change until the kernel carries it out: both are
 * in memory that other threads and processes may share (the leak sanitizer clones such a process).
 * Therefore calls are not judged and continued, but carried out here:
 * - a Unix socket: the address is copied, and process 1 connects a new socket in the sandbox's
 * view, which replaces the command's if its peer is in the sandbox (sandbox/connector_init.h). Its
 * buffer sizes, timeouts and flags are copied; a name that it was bound to is not.
 * - an internet socket: it is connected with the copied address.
 * - others can't be connected.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_CONNECTOR_H
#define SANDBOX_CONNECTOR_H

#include "sandbox/listener.h"

#include <poll.h>

struct connector;

enum {
    CONNECTOR_MAX = 256, /* calls that wait; more are refused with EAGAIN */
    CONNECTOR_POLLED = CONNECTOR_MAX + 1,
};

/* Takes a packet socket to process 1. */
MUST_USE struct connector *connector_new(int process_1);
void connector_free(struct connector *c); /* NULL is allowed */

struct listener_reply connector_handle(const struct listener_call *call);

/* Whether calls wait, which connector_continue() answers. */
bool connector_waits(const struct connector *c);

/* Fills in what to poll; returns how many, and for how long at most. */
size_t connector_poll(
    const struct connector *c, struct pollfd fds[CONNECTOR_POLLED], int *ret_timeout_ms);

/* Answers calls that have become ready. */
void connector_continue(struct connector *c, struct listener *l);

#endif
