/* Command lines as rules see them: for each record on stdin (length, newline, bytes) one line of
 * "-" (plain) or "?" and the commands as hex words. */
#include "tool/cmdline.h"

#include <stdio.h>

enum {
    LINE_MAX_BYTES = 64 * 1024,
};

static void print(const struct cmdline *line)
{
    printf("%s", line->why ? "?" : "-");
    for (size_t i = 0; i < line->n; i++) {
        printf(" ");
        for (size_t w = 0; w < line->commands[i].n; w++) {
            printf("%s.", w ? "," : "");
            for (size_t k = 0; k < line->commands[i].words[w].n; k++)
                printf("%02x", (unsigned char)line->commands[i].words[w].p[k]);
        }
    }
    printf("\n");
    fflush(stdout);
}

int main(void)
{
    static char text[LINE_MAX_BYTES];
    size_t n;
    while (scanf("%zu", &n) == 1 && n < sizeof(text) && getchar() == '\n') {
        if (fread(text, 1, n, stdin) != n)
            return 1;
        AUTO_ARENA struct arena a = ARENA_INIT(2 * CMDLINE_ARENA);
        struct cmdline line;
        cmdline_parse(str_n(text, n), &a, &line);
        print(&line);
    }
    return 0;
}
