/* Runs a command in a box: on a copy of a directory, whose changes are shown and then applied.
 *
 *     cc -o box box.c $(pkg-config --cflags --libs cordon)
 *     ./box DIR sh -c 'echo new > file'
 *
 * The box is deleted at the end. With --keep as the first argument nothing is applied.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <cordon.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char name[] = "example-box";

static void print_output(void *context, int stream, const void *bytes, size_t n)
{
    (void)context;
    fwrite(bytes, 1, n, stream == 1 ? stdout : stderr);
}

static void print_warning(void *context, const char *text)
{
    (void)context;
    fprintf(stderr, "box: warning: %s\n", text);
}

/* Prints a result and frees it. */
static int print(char *json)
{
    if (json)
        puts(json);
    free(json);
    return json ? 0 : -1;
}

static int run(const char *dir, char **argv, int keep, struct cordon_error *error)
{
    const struct cordon_box_options options = {
        .size = sizeof(options),
        .name = name,
        .dir = dir,
        .agent = "test", /* not started: the box is for the command */
        .network = "none",
        .uncommitted = 1,
        .warning = print_warning,
    };
    const struct cordon_box_command command = {
        .size = sizeof(command), .argv = (const char *const *)argv, .output = print_output};
    struct cordon_exit end;
    if (print(cordon_box_new(&options, error)) != 0)
        return -1;
    int failed = cordon_box_exec(name, &command, &end, error) != 0;
    if (!failed) {
        printf("exit code %d\n", end.code);
        fflush(stdout);
        failed = print(cordon_box_diff(name, NULL, 1, error)) != 0 ||
                 (!keep && print(cordon_box_apply(name, NULL, error)) != 0);
    }
    if (cordon_box_destroy(name, 1, failed ? NULL : error) != 0)
        failed = 1;
    return failed ? -1 : 0;
}

int main(int argc, char **argv)
{
    struct cordon_error error = {0};
    int keep = argc > 1 && strcmp(argv[1], "--keep") == 0;
    if (argc < 3 + keep) {
        fprintf(stderr, "usage: box [--keep] DIR COMMAND [ARGUMENT...]\n");
        return 12;
    }
    int status = 0;
    if (run(argv[1 + keep], argv + 2 + keep, keep, &error) != 0) {
        fprintf(stderr, "box: %s (%s)\n", error.message, error.code);
        status = error.exit_status;
    }
    cordon_error_clear(&error);
    return status;
}
