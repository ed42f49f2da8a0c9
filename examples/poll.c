/* Drives a program from an event loop: types standard input into its terminal, and prints the
 * screen whenever it has changed.
 *
 *     cc -o poll poll.c $(pkg-config --cflags --libs cordon)
 *     echo hello | ./poll /usr/bin/cat
 *
 * The loop waits for any number of descriptors, here of one session and standard input.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <cordon.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Without a timeout, an observation waits for nothing. */
static int print_screen(struct cordon_session *s, struct cordon_error *error)
{
    struct cordon_observation *o = cordon_session_observe(s, CORDON_SCREEN_FULL, 0, error);
    if (!o)
        return -1;
    const char *screen = cordon_observation_screen(o);
    size_t n = strlen(screen);
    while (n > 1 && screen[n - 1] == '\n' && screen[n - 2] == '\n')
        n--;
    printf("--- the screen:\n%.*s", (int)n, screen);
    fflush(stdout);
    cordon_observation_free(o);
    return 0;
}

/* Sending only queues the text: the loop writes it when the program accepts it. */
static int type_input(struct cordon_session *s, struct pollfd *input, struct cordon_error *error)
{
    char text[4096];
    ssize_t n = read(input->fd, text, sizeof(text) - 1);
    if (n <= 0) {
        input->fd = -1; /* poll() ignores it */
        return cordon_session_send_key(s, "Ctrl+d", error);
    }
    text[n] = '\0';
    return cordon_session_send_text(s, text, error);
}

static int loop(struct cordon_session *s, struct cordon_error *error)
{
    struct pollfd fds[] = {
        {.fd = cordon_session_descriptor(s, error), .events = POLLIN},
        {.fd = STDIN_FILENO, .events = POLLIN},
    };
    int news = fds[0].fd < 0 ? -1 : 0;
    while (news >= 0 && !(news & CORDON_SESSION_ENDED)) {
        if (poll(fds, 2, -1) < 0)
            continue; /* interrupted by a signal */
        /* The session first: a program that has ended accepts no input. */
        if (fds[0].revents) {
            news = cordon_session_process(s, error);
            if (news > 0 && (news & CORDON_SESSION_CHANGED) && print_screen(s, error) != 0)
                news = -1;
        } else if (type_input(s, &fds[1], error) != 0) {
            news = -1;
        }
    }
    return news < 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
    struct cordon_error error = {0};
    struct cordon_exit end = {0};
    if (argc < 2) {
        fprintf(stderr, "usage: poll COMMAND [ARGUMENT...]\n");
        return 12;
    }
    const struct cordon_command command = {
        .size = sizeof(command), .argv = (const char *const *)argv + 1, .rows = 6, .cols = 40};
    struct cordon_session *s = cordon_session_spawn(&command, NULL, &error);
    int status = 0;
    if (!s || loop(s, &error) != 0 || cordon_session_wait_for_exit(s, 0, &end, &error) < 0) {
        fprintf(stderr, "poll: %s (%s)\n", error.message, error.code);
        status = error.exit_status;
    } else {
        printf("--- it ended with code %d\n", end.code);
    }
    cordon_session_free(s);
    cordon_error_clear(&error);
    return status;
}
