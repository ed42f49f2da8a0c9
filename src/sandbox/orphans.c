/* Kills processes by the kernel's list of our children. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/orphans.h"

#include "base/clock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    KILL_MS = 5 * 1000,
    WAIT_MS = 10,
    REAPED_AT_ONCE = 64,
    CHILDREN_TEXT = 4096,
    CHILDREN_READS = 256,
};

/* Kills the processes of a part of the list; a number may continue in the next part. */
static void kill_listed(const char *text, size_t n, pid_t *pid)
{
    for (size_t i = 0; i < n; i++) {
        if (text[i] >= '0' && text[i] <= '9') {
            *pid = *pid * 10 + (text[i] - '0');
            continue;
        }
        if (*pid > 1)
            kill(*pid, SIGKILL);
        *pid = 0;
    }
}

static void kill_children(void)
{
    char text[CHILDREN_TEXT];
    pid_t pid = 0;
    AUTO_FD int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    ssize_t n = 1;
    for (int i = 0; fd >= 0 && n > 0 && i < CHILDREN_READS; i++) {
        n = read(fd, text, sizeof(text));
        kill_listed(text, n > 0 ? (size_t)n : 0, &pid);
    }
}

/* Returns false if there are no children. Waits a moment if none has ended yet. */
static bool reap_some(const sigset_t *ended)
{
    pid_t got = 1;
    for (int i = 0; got > 0 && i < REAPED_AT_ONCE; i++)
        got = waitpid(-1, NULL, WNOHANG);
    if (got == 0)
        sigtimedwait(ended, NULL, &(struct timespec){.tv_nsec = WAIT_MS * 1000 * 1000L});
    return got >= 0;
}

void orphans_kill(void)
{
    const uint64_t until_ms = clock_mono_ms() + KILL_MS;
    sigset_t ended;
    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    do
        kill_children();
    while (reap_some(&ended) && clock_mono_ms() < until_ms);
}
