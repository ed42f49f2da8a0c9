/* spawn ROUNDS LIMIT WHAT -- COMMAND… -- PEER…: runs two commands in turns, stdout to /dev/null,
 * prints the ratio of their median times, and fails if that is above the limit. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base.h"
#include "base/clock.h"
#include "median.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>

extern char **environ;

static uint64_t run_ns(char **argv, const posix_spawn_file_actions_t *actions)
{
    uint64_t start = clock_mono_ns();
    pid_t pid;
    int status;
    BUG_ON(posix_spawn(&pid, argv[0], actions, NULL, argv, environ) != 0);
    BUG_ON(waitpid(pid, &status, 0) != pid);
    BUG_ON(status != 0);
    return clock_mono_ns() - start;
}

int main(int argc, char **argv)
{
    char **first = NULL, **second = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--") != 0)
            continue;
        argv[i] = NULL;
        if (!first)
            first = argv + i + 1;
        else if (!second)
            second = argv + i + 1;
    }
    BUG_ON(!second || argc < 6);
    size_t rounds = strtoul(argv[1], NULL, 10);
    double limit = strtod(argv[2], NULL);
    BUG_ON(rounds == 0 || rounds > 1000000);
    uint64_t *times[2] = {
        base_alloc(rounds * sizeof(uint64_t)), base_alloc(rounds * sizeof(uint64_t))};
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
    for (size_t i = 0; i < rounds; i++) {
        times[0][i] = run_ns(first, &quiet);
        times[1][i] = run_ns(second, &quiet);
    }
    double own = median_us(times[0], rounds), peer = median_us(times[1], rounds);
    printf("%s: %.2f (limit %.2f; %.0f us and %.0f us)\n", argv[3], own / peer, limit, own, peer);
    posix_spawn_file_actions_destroy(&quiet);
    free(times[0]);
    free(times[1]);
    return own / peer <= limit ? 0 : 1;
}
