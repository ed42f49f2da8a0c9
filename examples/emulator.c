/* Interprets terminal output from standard input and prints the screen that it produces.
 *
 *     cc -o emulator emulator.c $(pkg-config --cflags --libs cordon)
 *     printf '\033[2;5Hhello\033[6n' | ./emulator
 *
 * No program is run: the emulator takes bytes and keeps a screen.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <cordon.h>
#include <stdio.h>
#include <stdlib.h>

/* A terminal answers queries in the output; a program that runs commands writes the answers to
 * their input. */
static void print_replies(struct cordon_emulator *emulator)
{
    const void *bytes;
    size_t n = cordon_emulator_replies(emulator, &bytes);
    if (n)
        printf("--- %zu bytes of replies\n", n);
    cordon_emulator_drop_replies(emulator, n);
}

/* Keys depend on the modes that the output has set. */
static int print_key(struct cordon_emulator *emulator, const char *key, struct cordon_error *error)
{
    size_t n;
    char *bytes = cordon_emulator_encode_key(emulator, key, &n, error);
    if (!bytes)
        return -1;
    printf("--- %s is", key);
    for (size_t i = 0; i < n; i++)
        printf(" %02x", (unsigned char)bytes[i]);
    printf("\n");
    free(bytes);
    return 0;
}

int main(int argc, char **argv)
{
    const struct cordon_emulator_options options = {
        .size = sizeof(options), .rows = 5, .cols = 40, .onlcr = 1};
    struct cordon_error error = {0};
    char bytes[4096];
    struct cordon_emulator *emulator = cordon_emulator_new(&options, &error);
    for (size_t n; emulator && (n = fread(bytes, 1, sizeof(bytes), stdin)) > 0;)
        cordon_emulator_feed(emulator, bytes, n);
    if (emulator) {
        char *screen = cordon_emulator_text(emulator);
        fputs(screen, stdout);
        free(screen);
        print_replies(emulator);
    }
    if (!emulator || print_key(emulator, argc > 1 ? argv[1] : "Up", &error) != 0)
        fprintf(stderr, "emulator: %s (%s)\n", error.message, error.code);
    int status = error.code ? error.exit_status : 0;
    cordon_emulator_free(emulator);
    cordon_error_clear(&error);
    return status;
}
