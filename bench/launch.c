/* launch COMMAND…: runs it without input, its output discarded; prints its start and end on the
 * monotonic clock (ns), its peak resident memory including its children's (KiB), and its status. It
 * is a separate program since a large parent's memory would be counted as the child's.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LIMIT_S = 60,
};

static _Noreturn void become(char **argv)
{
    int null = open("/dev/null", O_RDWR);
    if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0)
        _exit(126);
    alarm(LIMIT_S);
    execv(argv[0], argv);
    _exit(127);
}

int main(int argc, char **argv)
{
    struct rusage used;
    int status;
    if (argc < 2)
        return 2;
    uint64_t begun = clock_mono_ns();
    pid_t child = fork();
    if (child == 0)
        become(argv + 1);
    if (child < 0 || wait4(child, &status, 0, &used) != child)
        return 1;
    printf("%llu %llu %ld %d\n", (unsigned long long)begun, (unsigned long long)clock_mono_ns(),
        used.ru_maxrss, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return 0;
}
