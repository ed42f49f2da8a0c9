/* Parses a shell command line into its simple commands, however deeply nested.
 *
 *     struct cmdline s;
 *     cmdline_parse(STR("git status && rm -rf x"), &arena, &s);
 *     for (size_t i = 0; i < s.n; i++) ...s.commands[i].words...
 *     if (s.why) ...it is more than simple commands with fixed words...
 *
 * Rules are matched against the result, so it errs on the safe side: a script is plain only if
 * every word of every command is known before it runs. A script that is not plain is still searched
 * for commands (in substitutions, loops, scripts passed to another shell), to show them to the
 * user.
 *
 * repo/shell_words.h reads the shell's words for another purpose, with other errors on the safe
 * side; its header compares the two.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_CMDLINE_H
#define TOOL_CMDLINE_H

#include "base/arena.h"
#include "base/buf.h"

enum {
    CMDLINE_BYTES_MAX = 64 * 1024,
    CMDLINE_COMMANDS_MAX = 1000,
    CMDLINE_WORDS_MAX = 10 * 1000,
    CMDLINE_DEPTH_MAX = 16, /* nesting of scripts */
    CMDLINE_ARENA = 64 << 20,
};

struct cmdline_command {
    struct str *words; /* quotes removed */
    size_t n;
    bool fixed; /* every word is known */
    bool fed;   /* reads the output of another command, or a here-document or here-string */
};

struct cmdline {
    struct cmdline_command *commands;
    size_t n;
    const char *why; /* why it is not plain; NULL: it is plain */
};

/* The arena must have room for CMDLINE_ARENA bytes. */
void cmdline_parse(struct str text, struct arena *a, struct cmdline *ret_cmdline);

/* Returns why a command deserves a second look (it removes by force, runs input, …), or NULL. */
const char *cmdline_danger(const struct cmdline_command *command);

/* The base name of the first word, without a target prefix, version suffix or GNU's g prefix;
 * whether it names a shell, and whether that shell has a script (-c). */
struct str cmdline_name(const struct cmdline_command *command);
bool cmdline_is_shell(struct str name);
bool cmdline_has_script(const struct cmdline_command *shell);

/* The parts of cmdline_parse(): add the commands of another script, and those that commands such as
 * env, xargs and sh -c would run. */
void cmdline_parse_more(struct str text, unsigned depth, struct arena *a, struct cmdline *script);
void cmdline_unwrap(struct cmdline *script, struct arena *a);

#endif
