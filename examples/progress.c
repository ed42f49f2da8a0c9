/* Watches a scenario while it runs; Ctrl+C cancels it in an orderly way: all its processes are
 * ended, and a result is still returned.
 *
 *     cc -o progress progress.c $(pkg-config --cflags --libs cordon)
 *     ./progress login.yaml
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <cordon.h>
#include <signal.h>
#include <stdio.h>

static struct cordon_cancel *cancel;

/* All that a signal handler may do: cordon_cancel_trigger() is async-signal-safe. */
static void interrupted(int sig)
{
    (void)sig;
    cordon_cancel_trigger(cancel);
}

static void show(void *context, const struct cordon_progress *p)
{
    size_t *bytes = context;
    if (!p->status)
        printf("[%zu/%zu] %s ...\n", p->index + 1, p->count, p->name);
    else
        printf("[%zu/%zu] %s: %s%s%s, %zu bytes so far\n", p->index + 1, p->count, p->name,
            p->status, p->error_code ? " " : "", p->error_code ? p->error_code : "", *bytes);
    fflush(stdout);
}

static void count(void *context, const void *bytes, size_t n)
{
    (void)bytes;
    *(size_t *)context += n;
}

int main(int argc, char **argv)
{
    struct cordon_error error = {0};
    size_t bytes = 0;
    if (argc < 2) {
        fprintf(stderr, "usage: progress FILE\n");
        return 12;
    }
    cancel = cordon_cancel_new(&error);
    const struct cordon_run_options options = {
        .size = sizeof(options),
        .cancel = cancel,
        .progress = show,
        .output = count,
        .context = &bytes,
    };
    if (cancel)
        signal(SIGINT, interrupted);
    struct cordon_result *r = cancel ? cordon_run_scenario_file(argv[1], &options, &error) : NULL;
    int status = r ? cordon_result_error_code(r) != NULL : error.exit_status;
    if (r)
        printf("%s\n", cordon_result_status(r));
    else
        fprintf(stderr, "progress: %s (%s)\n", error.message, error.code);
    signal(SIGINT, SIG_DFL);
    cordon_result_free(r);
    cordon_cancel_free(cancel);
    cordon_error_clear(&error);
    return status;
}
