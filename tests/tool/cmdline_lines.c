/* Command lines as rules see them: for each record on stdin (length, newline, bytes) one line of
 * "-" (plain) or "?", "+" if rules `shell:NAME *` for each name in it cover it or ".", and the
 * commands as hex words. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/cmdline.h"
#include "tool/rule.h"

#include <stdio.h>

enum {
    LINE_MAX_BYTES = 64 * 1024,
};

static bool is_covered(struct str text, const struct cmdline *line, struct arena *a)
{
    struct str rules[CMDLINE_COMMANDS_MAX];
    for (size_t i = 0; i < line->n; i++)
        rules[i] =
            str_z(arena_printf(a, "shell:" STR_FMT " *", STR_ARG(line->commands[i].words[0])));
    struct str_list list = {rules, line->n};
    const char *why = NULL;
    return rule_covers_command(&(struct rule_set){{&list, NULL}}, "shell", text, a, &why);
}

static void print(const struct cmdline *line, bool covered)
{
    printf("%s%s", line->why ? "?" : "-", covered ? "+" : ".");
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
        AUTO_ARENA struct arena a = ARENA_INIT(4 * CMDLINE_ARENA);
        struct cmdline line;
        cmdline_parse(str_n(text, n), &a, &line);
        print(&line, is_covered(str_n(text, n), &line, &a));
    }
    return 0;
}
