/* Runs a scenario file and prints its steps.
 *
 *     cc -o scenario scenario.c $(pkg-config --cflags --libs cordon)
 *     ./scenario login.yaml [RECORD]
 *
 * With a second argument, writes a record to that directory, for cordon trace and replay.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <cordon.h>
#include <stdio.h>

static void print_step(const struct cordon_result *r, size_t i)
{
    const char *why = cordon_result_step_error_message(r, i);
    printf("%-8s %5llu ms  %s%s%s\n", cordon_result_step_status(r, i),
        (unsigned long long)cordon_result_step_duration_ms(r, i), cordon_result_step_name(r, i),
        why ? ": " : "", why ? why : "");
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: scenario FILE [RECORD]\n");
        return 12;
    }
    const struct cordon_run_options options = {
        .size = sizeof(options), .artifacts = argc > 2 ? argv[2] : NULL};
    struct cordon_error error = {0};
    struct cordon_result *r = cordon_run_scenario_file(argv[1], &options, &error);
    if (!r) {
        /* For an invalid scenario the message has the location: file, line, column, field. */
        fprintf(stderr, "scenario: %s (%s)\n", error.message, error.code);
        int status = error.exit_status;
        cordon_error_clear(&error);
        return status;
    }
    for (size_t i = 0; i < cordon_result_steps(r); i++)
        print_step(r, i);
    int passed = !cordon_result_error_code(r);
    printf("%s\n", cordon_result_status(r));
    const char *screen = cordon_result_screen(r); /* NULL if the command was not started */
    if (!passed && screen)
        printf("the last screen:\n%s", screen);
    cordon_result_free(r);
    return !passed;
}
