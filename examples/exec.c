/* Runs one command under a built-in policy, passes standard input to it, prints its output and
 * what the sandbox denied.
 *
 *     cc -o exec exec.c $(pkg-config --cflags --libs cordon)
 *     echo hello | ./exec readonly /usr/bin/tee file
 *
 * Without a command, it prints the names of the built-in policies.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <cordon.h>
#include <stdio.h>
#include <string.h>

/* Called with the output as it arrives. It is untrusted: make it printable before writing it to a
 * terminal. */
static void print_output(void *context, const void *bytes, size_t n)
{
    (void)context;
    fwrite(bytes, 1, n, stdout);
}

/* Prints the array "denied" of the RunResult: what was denied, by which rule, and the flag of
 * cordon(1) that allows it. A program with a JSON parser would use that. */
static void print_denied(const char *json)
{
    const char *p = strstr(json, "\"denied\":[");
    int in_string = 0;
    for (const char *start = p; p && *p; p++) {
        if (in_string && *p == '\\')
            p++;
        else if (*p == '"')
            in_string = !in_string;
        else if (*p == ']' && !in_string) {
            printf("--- %.*s\n", (int)(p + 1 - start), start);
            return;
        }
    }
}

static int run(const char *preset, char **argv, struct cordon_error *error)
{
    const int input = 0;
    const struct cordon_run_options options = {
        .size = sizeof(options),
        .preset = preset, /* for the current directory, as .root is NULL */
        .output = print_output,
    };
    const struct cordon_command command = {
        .size = sizeof(command),
        .argv = (const char *const *)argv,
        .pipes = 1,
        .input_fd = &input, /* or .input and .input_size, for bytes in memory */
    };
    struct cordon_result *r = cordon_run_exec(&command, &options, error);
    if (!r)
        return -1;
    struct cordon_exit end = cordon_result_exit(r);
    printf("--- %s, exit code %d\n", cordon_result_status(r), end.code);
    print_denied(cordon_result_json(r));
    cordon_result_free(r);
    return 0;
}

int main(int argc, char **argv)
{
    struct cordon_error error = {0};
    int status = 0;
    if (argc < 3) {
        for (const char *const *name = cordon_preset_names(); *name; name++)
            puts(*name);
    } else if (run(argv[1], argv + 2, &error) != 0) {
        fprintf(stderr, "exec: %s (%s)\n", error.message, error.code);
        status = error.exit_status;
    }
    cordon_error_clear(&error);
    return status;
}
