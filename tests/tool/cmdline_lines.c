/* Command lines as rules see them: for each record on stdin (length, newline, bytes) one line of
 * "-" (plain) or "?", "+" if rules `shell:NAME *` for each name in it cover it or ".", and the
 * commands as hex words. Then a line of the files that it would run as a command of git's settings,
 * as hex words. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/shell_words.h"
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

static void print_word(struct str word)
{
    printf(".");
    for (size_t i = 0; i < word.n; i++)
        printf("%02x", (unsigned char)word.p[i]);
}

static void print_file(void *context, const struct shell_word *word)
{
    (void)context;
    print_word(word->text);
    printf(" ");
}

static void print(const struct cmdline *line, bool covered)
{
    printf("%s%s", line->why ? "?" : "-", covered ? "+" : ".");
    for (size_t i = 0; i < line->n; i++) {
        printf(" ");
        for (size_t w = 0; w < line->commands[i].n; w++) {
            printf("%s", w ? "," : "");
            print_word(line->commands[i].words[w]);
        }
    }
    printf("\n");
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
        (void)shell_words_each(str_n(text, n), print_file, NULL);
        printf("\n");
        fflush(stdout);
    }
    return 0;
}
