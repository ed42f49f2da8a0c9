/* sandbox ROUNDS -- BWRAP…: starts a static program that does nothing through the library, by plain
 * fork and exec, and through bwrap, in turns; prints the ratios of the medians. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cordon.h"

#include "base/buf.h"
#include "base/clock.h"
#include "median.h"

#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

enum {
    LIBRARY,
    PLAIN,
    BWRAP,
    WAYS,
    ROUNDS_MAX = 100 * 1000,
};

static uint64_t spawn_ns(char **argv)
{
    uint64_t start = clock_mono_ns();
    pid_t pid;
    int status;
    BUG_ON(posix_spawn(&pid, argv[0], NULL, NULL, argv, environ) != 0);
    BUG_ON(waitpid(pid, &status, 0) != pid || status != 0);
    return clock_mono_ns() - start;
}

static uint64_t library_ns(const char *policy, char **argv)
{
    uint64_t start = clock_mono_ns();
    struct cordon_error error = {0};
    const struct cordon_command command = {
        .size = sizeof(command), .argv = (const char *const *)argv, .pipes = 1};
    const struct cordon_run_options options = {.size = sizeof(options), .policy = policy};
    struct cordon_result *result = cordon_run_exec(&command, &options, &error);
    if (!result) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    BUG_ON(strcmp(cordon_result_status(result), "passed") != 0);
    cordon_result_free(result);
    return clock_mono_ns() - start;
}

int main(int argc, char **argv)
{
    BUG_ON(argc < 5 || strcmp(argv[2], "--") != 0);
    size_t rounds = strtoul(argv[1], NULL, 10);
    BUG_ON(rounds == 0 || rounds > ROUNDS_MAX);
    char *program[] = {argv[argc - 1], NULL};
    AUTO_BUF struct buf policy = BUF_INIT(4096);
    buf_printf(&policy, "{\"policy_version\": 4, \"exec\": {\"allowed_executables\": [\"%s\"]}}",
        program[0]);
    uint64_t *times[WAYS];
    for (size_t i = 0; i < WAYS; i++)
        times[i] = base_alloc(rounds * sizeof(uint64_t));
    for (size_t i = 0; i < rounds; i++) {
        times[LIBRARY][i] = library_ns(buf_z(&policy), program);
        times[PLAIN][i] = spawn_ns(program);
        times[BWRAP][i] = spawn_ns(argv + 3);
    }
    double us[WAYS];
    for (size_t i = 0; i < WAYS; i++) {
        us[i] = median_us(times[i], rounds);
        free(times[i]);
    }
    const double limit = 0.5;
    double ratio = us[LIBRARY] / us[BWRAP];
    printf("library call vs bwrap: %.2f (limit %.2f; %.0f us and %.0f us; plain %.0f us)\n", ratio,
        limit, us[LIBRARY], us[BWRAP], us[PLAIN]);
    return ratio <= limit ? 0 : 1;
}
