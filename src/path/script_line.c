/* Parses the first line of scripts. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/script_line.h"

#include <fcntl.h>

/* Removes and returns the first word. */
static struct str next_word(struct str *rest)
{
    struct str s = str_trim(*rest);
    size_t n = 0;
    while (n < s.n && s.p[n] != ' ' && s.p[n] != '\t')
        n++;
    *rest = str_trim(str_skip(s, n));
    return str_head(s, n);
}

bool script_split(struct str head, struct script_line *ret_line)
{
    if (!str_starts_with(head, STR("#!")))
        return false;
    struct str rest = str_skip(str_head(head, SCRIPT_LINE_MAX), 2);
    ptrdiff_t end = str_find(rest, '\n');
    if (end >= 0)
        rest = str_head(rest, (size_t)end);
    end = str_find(rest, '\0');
    if (end >= 0)
        rest = str_head(rest, (size_t)end);
    struct str interpreter = next_word(&rest);
    if (interpreter.n == 0)
        return false;
    *ret_line = (struct script_line){.interpreter = interpreter};
    if (rest.n)
        ret_line->argument = rest;
    return true;
}

bool script_parse(struct str head, struct arena *a, struct script_line *ret_line)
{
    struct script_line line;
    if (!script_split(head, &line))
        return false;
    *ret_line = (struct script_line){.interpreter = arena_str(a, line.interpreter)};
    if (line.argument.n)
        ret_line->argument = arena_str(a, line.argument);
    return true;
}

bool script_read(const char *path, struct arena *a, struct script_line *ret_line)
{
    char head[SCRIPT_LINE_MAX];
    AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, head, sizeof(head));
    return n > 0 && script_parse(str_n(head, (size_t)n), a, ret_line);
}

struct str script_env_program(struct str argument)
{
    if (!argument.p)
        return argument;
    struct str rest = argument, word = next_word(&rest);
    if (str_is(word, "-S") || str_is(word, "--split-string"))
        word = next_word(&rest);
    else if (str_starts_with(word, STR("-S")))
        word = str_skip(word, 2);
    while (word.n && (word.p[0] == '-' || str_find(word, '=') >= 0))
        word = next_word(&rest);
    return word.n ? word : (struct str){0};
}
