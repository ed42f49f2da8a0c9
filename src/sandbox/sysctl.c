/* Writes settings below /proc/sys. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/sysctl.h"

#include "io/file.h"
#include "sandbox/machine.h"

#include <fcntl.h>

enum {
    SHARE = 4,               /* a sandbox gets one SHARE-th of its user's limits */
    WATCHES_MAX = 64 * 1024, /* and at most this much of inotify */
    INSTANCES_MAX = 1024,
    QUEUE_BYTES = 1 << 20, /* memory of a message queue full of empty messages */
    QUEUES_MIN = 8,
    QUEUES_MAX = 64,
};

/* Per array, in total, per call, number of arrays: at most 2 MB of kernel memory. */
static const char semaphores[] = "32000 32000 500 1024";

const char *sysctl_number(uint64_t n, unsigned base, char text[SYSCTL_DIGITS])
{
    char *p = text + SYSCTL_DIGITS - 1;
    *p = '\0';
    do {
        *--p = (char)('0' + n % base);
        n /= base;
    } while (n);
    return p;
}

static bool sysctl_write_text(int proc, const char *path, struct str text)
{
    AUTO_FD int fd = openat(proc, path, O_WRONLY | O_CLOEXEC);
    return fd >= 0 && file_write_all(fd, text);
}

bool sysctl_write(int proc, const char *path, uint64_t value)
{
    char text[SYSCTL_DIGITS];
    return sysctl_write_text(proc, path, str_z(sysctl_number(value, 10, text)));
}

/* A setting that the machine does not report does not limit the user either. */
static uint64_t share_of(int all, uint64_t most)
{
    uint64_t share = all == MACHINE_UNKNOWN ? most : (uint64_t)all / SHARE;
    return MAX(MIN(share, most), (uint64_t)1);
}

void sysctl_limit_inotify(int proc)
{
    const struct machine *m = machine_get();
    (void)!sysctl_write(
        proc, "sys/user/max_inotify_watches", share_of(m->inotify_watches, WATCHES_MAX));
    (void)!sysctl_write(
        proc, "sys/user/max_inotify_instances", share_of(m->inotify_instances, INSTANCES_MAX));
}

bool sysctl_limit_ipc(int proc, const struct policy_limits *limits)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t queues = limits->memory_bytes / SHARE / QUEUE_BYTES;
    queues = MAX(MIN(queues, (uint64_t)QUEUES_MAX), (uint64_t)QUEUES_MIN);
    return sysctl_write(proc, "sys/kernel/shmall", limits->memory_bytes / page) &&
           sysctl_write(proc, "sys/kernel/msgmni", queues) &&
           sysctl_write_text(proc, "sys/kernel/sem", str_z(semaphores));
}
