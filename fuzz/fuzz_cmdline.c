/* A shell's command line: a plain one contains nothing that only a shell understands. Also as a
 * command of git's settings. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/shell_words.h"
#include "tool/clean.h"
#include "tool/cmdline.h"
#include "tool/rule.h"

#include <limits.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Cleaned text is clean: cleaning it again changes nothing. */
static void check_clean(struct str text)
{
    AUTO_BUF struct buf once = BUF_INIT(1 << 20), twice = BUF_INIT(1 << 20);
    clean_text(text, &once);
    clean_text(buf_str(&once), &twice);
    BUG_ON(!str_eq(buf_str(&once), buf_str(&twice)));
}

static void check_file(void *context, const struct shell_word *word)
{
    (void)context;
    BUG_ON(!word->bases || word->text.n >= PATH_MAX || memchr(word->text.p, '\0', word->text.n));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_n((const char *)data, size);
    AUTO_ARENA struct arena a = ARENA_INIT(4 * (size_t)CMDLINE_ARENA);
    struct cmdline line;
    cmdline_parse(text, &a, &line);
    BUG_ON(line.n > CMDLINE_COMMANDS_MAX);
    for (size_t i = 0; i < line.n; i++) {
        BUG_ON(line.commands[i].n == 0);
        BUG_ON(!line.why && !line.commands[i].fixed);
        (void)cmdline_danger(&line.commands[i]);
    }
    if (!line.why)
        BUG_ON(memchr(text.p, '`', text.n) && !memchr(text.p, '\'', text.n) &&
               !memchr(text.p, '#', text.n) && !memchr(text.p, '<', text.n));
    struct str rule = rule_propose("shell", true, text, &a);
    struct str_list list = {&rule, 1};
    struct rule_set rules = {{&list, NULL}};
    const char *why = NULL;
    if (rule.p)
        BUG_ON(!rule_covers_command(&rules, "shell", text, &a, &why));
    check_clean(text);
    (void)shell_words_each(text, check_file, NULL);
    return 0;
}
