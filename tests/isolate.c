/* Runs tests in a child process, and continues in a new one after a crash; isolate.h describes it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "isolate.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void isolate_begin(struct isolated *state, size_t index, const char *name)
{
    state->next = index + 1;
    state->ran++;
    snprintf(state->name, sizeof(state->name), "%s", name);
}

static int isolate_end(const struct isolated *state)
{
    printf("1..%zu\n", state->ran);
    return state->failed || !state->ran ? 1 : 0;
}

/* Ends at the end of run(), through exit(): sanitizers report leaks there. */
static pid_t isolate_fork(struct isolated *state, void (*run)(struct isolated *state))
{
    pid_t parent = getpid();
    fflush(stdout);
    pid_t child = fork();
    if (child != 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    run(state);
    state->name[0] = '\0';
    exit(0);
}

/* Reports the end of a child process; true if it was in the middle of a test. */
static bool isolate_report(struct isolated *state, int status)
{
    char end[64];
    bool within = state->name[0] != '\0';
    if (WIFSIGNALED(status))
        snprintf(end, sizeof(end), "crashed by signal %d", WTERMSIG(status));
    else
        snprintf(end, sizeof(end), "ended with exit status %d", WEXITSTATUS(status));
    if (!within)
        isolate_begin(state, state->next, "the end of the tests");
    printf("not ok %zu - %s # %s\n", state->ran, state->name, end);
    state->failed++;
    return within;
}

int isolate_run(void (*run)(struct isolated *state), void (*clean)(struct isolated *state))
{
    const char *setting = getenv("ISOLATE");
    int status;
    struct isolated *state =
        mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    BUG_ON(state == MAP_FAILED);
    if (setting && strcmp(setting, "no") == 0) {
        run(state);
        return isolate_end(state);
    }
    for (;;) {
        pid_t child = isolate_fork(state, run);
        BUG_ON(child < 0 || waitpid(child, &status, 0) != child);
        bool ended = status == 0 && !state->name[0];
        if (ended || !isolate_report(state, status))
            return isolate_end(state);
        if (clean)
            clean(state);
    }
}
