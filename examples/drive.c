/* Drives a program on a separate terminal: sends input, waits, prints the screen, ends it.
 *
 *     cc -o drive drive.c $(pkg-config --cflags --libs cordon)
 *     ./drive /usr/bin/bash
 *
 * The program runs without a policy: only it may be executed, and the current directory read.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <cordon.h>
#include <stdio.h>
#include <string.h>

enum {
    SECOND = 1000,
};

/* Prints the screen without trailing empty lines. Program output is untrusted, but a screen
 * contains no control characters: the terminal has already interpreted them. */
static void print_screen(const char *screen)
{
    size_t n = strlen(screen);
    while (n > 1 && screen[n - 1] == '\n' && screen[n - 2] == '\n')
        n--;
    printf("%.*s", (int)n, screen);
}

static int look(struct cordon_session *s, struct cordon_error *error)
{
    struct cordon_observation *o = cordon_session_observe(s, CORDON_SCREEN_FULL, SECOND, error);
    if (!o)
        return -1;
    printf("--- the screen, cursor in row %d, column %d:\n", cordon_observation_cursor_row(o),
        cordon_observation_cursor_col(o));
    print_screen(cordon_observation_screen(o));
    cordon_observation_free(o);
    return 0;
}

/* The pattern is inserted into the JSON without escaping. */
static int wait_for_pattern(
    struct cordon_session *s, const char *pattern, struct cordon_error *error)
{
    char condition[256];
    snprintf(condition, sizeof(condition),
        "{\"type\":\"screen_matches\",\"payload\":{\"pattern\":\"%s\"}}", pattern);
    return cordon_session_wait_for(s, condition, 10 * SECOND, error);
}

/* Does what a person would do at a shell. Trailing blanks of lines are not part of a screen. */
static int drive(struct cordon_session *s, struct cordon_exit *end, struct cordon_error *error)
{
    if (wait_for_pattern(s, "[$#]$", error) < 0 ||
        cordon_session_send_text(s, "PS1='ready> '", error) < 0 ||
        cordon_session_send_key(s, "Enter", error) < 0 ||
        cordon_session_wait_for_text(s, "\nready>", 10 * SECOND, error) < 0 ||
        cordon_session_send_text(s, "echo $((6 * 7))\r", error) < 0 ||
        wait_for_pattern(s, "42\\\\nready>$", error) < 0 || look(s, error) < 0)
        return -1;
    if (cordon_session_send(s, "{\"type\":\"text\",\"payload\":{\"text\":\"exit 3\\r\"}}", error) <
        0)
        return -1;
    int ended = cordon_session_wait_for_exit(s, 10 * SECOND, end, error);
    return ended == 0 ? cordon_session_terminate_process_group(s, SECOND, end, error) : ended;
}

int main(int argc, char **argv)
{
    const char *const words[] = {argc > 1 ? argv[1] : "/usr/bin/bash", "--norc", NULL};
    const struct cordon_command command = {
        .size = sizeof(command), .argv = words, .rows = 6, .cols = 40};
    struct cordon_error error = {0};
    struct cordon_exit end = {0};
    struct cordon_session *s = cordon_session_spawn(&command, NULL, &error);
    int status = 0;
    if (!s || drive(s, &end, &error) < 0) {
        fprintf(stderr, "drive: %s (%s)\n", error.message, error.code);
        status = error.exit_status;
    } else {
        printf("--- it ended with code %d\n", end.code);
    }
    cordon_session_free(s);
    cordon_error_clear(&error);
    return status;
}
