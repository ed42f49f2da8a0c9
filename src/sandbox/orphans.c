/* Kills processes by the kernel's list of our children. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/orphans.h"

#include "base/base.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    KILL_ROUNDS = 100 * 1000,
    CHILDREN_TEXT = 4096,
};

void orphans_kill(void)
{
    char text[CHILDREN_TEXT];
    for (int round = 0; round < KILL_ROUNDS; round++) {
        pid_t got;
        while ((got = waitpid(-1, NULL, WNOHANG)) > 0)
            ;
        if (got < 0)
            return;
        AUTO_FD int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
        ssize_t n = fd >= 0 ? read(fd, text, sizeof(text)) : 0;
        pid_t pid = 0;
        for (ssize_t i = 0; i < n; i++) {
            if (text[i] >= '0' && text[i] <= '9') {
                pid = pid * 10 + (text[i] - '0');
                continue;
            }
            if (pid > 1)
                kill(pid, SIGKILL);
            pid = 0;
        }
    }
}
