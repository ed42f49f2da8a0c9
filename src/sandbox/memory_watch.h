/* The memory of each process of a sandbox, sampled by its process 1: the limit for programs that
 * reserve far more address space than they use (sanitizers, the Go race detector, Java,
 * WebAssembly), where no cgroup limits memory. RLIMIT_DATA and RLIMIT_AS would count what they
 * reserve. Allocates nothing.
 *
 *     struct memory_watch watch = {.processes = proc_fd, .most = limit};
 *     poll(fds, n, memory_watch_timeout(&watch, clock_mono_ms()));
 *     memory_watch_sample(&watch, clock_mono_ms());
 *
 * The limit is not exact: between two samples a process can have more. The more memory the largest
 * process has, the sooner is the next sample. A process above the limit is killed. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_MEMORY_WATCH_H
#define SANDBOX_MEMORY_WATCH_H

#include "base/base.h"
#include "base/str.h"

#include <sys/types.h>

enum {
    MEMORY_WATCH_MIN_MS = 10, /* between two samples */
    MEMORY_WATCH_MAX_MS = 250,
    MEMORY_WATCH_DYING = 8,
};

struct memory_watch {
    int processes; /* a /proc directory */
    uint64_t most; /* bytes of one process */
    uint64_t due_ms;
    bool idle; /* there was no process at the last sample */
    uint64_t kills;
    pid_t dying[MEMORY_WATCH_DYING]; /* the last ones: they hold their memory for a moment */
    uint64_t largest;                /* at the last sample */
    void (*killed)(void *context, pid_t pid);
    void *context;
};

/* Bytes that a process holds, from its /proc/PID/status: anonymous and shared memory, swap and page
 * tables, not files. Pure. */
uint64_t memory_watch_parse(struct str status);

/* Milliseconds until the next sample if the largest process has this much. Pure. */
uint64_t memory_watch_interval(uint64_t most, uint64_t largest);

/* For poll(): until the next sample; -1 while there is no process. */
int memory_watch_timeout(const struct memory_watch *watch, uint64_t now_ms);

/* A process was started: it must be sampled. */
void memory_watch_started(struct memory_watch *watch);

/* Samples if it is time for that, and kills the processes above the limit. */
void memory_watch_sample(struct memory_watch *watch, uint64_t now_ms);

#endif
