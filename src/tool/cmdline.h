/* A shell's command line, taken apart: the simple commands in it, wherever they hide.
 *
 *     struct cmdline s;
 *     cmdline_parse(STR("git status && rm -rf x"), &arena, &s);
 *     for (size_t i = 0; i < s.n; i++) ...s.commands[i].words...
 *     if (s.why) ...it is more than simple commands with fixed words...
 *
 * Rules are matched on this, so it errs on one side: a script is plain only if every word of every
 * command is certain before it runs. What is not plain is still searched for commands (in
 * substitutions, loops, scripts given to another shell), so that a person can be told of them.
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
    CMDLINE_DEPTH_MAX = 16, /* scripts in each other */
    CMDLINE_ARENA = 64 << 20,
};

struct cmdline_command {
    struct str *words; /* quotes removed */
    size_t n;
    bool fixed; /* every word is certain */
    bool fed;   /* it reads what another command prints, or a text of the line */
};

struct cmdline {
    struct cmdline_command *commands;
    size_t n;
    const char *why; /* why it is not plain; NULL: it is */
};

/* The arena needs room for CMDLINE_ARENA bytes. */
void cmdline_parse(struct str text, struct arena *a, struct cmdline *ret_cmdline);

/* Why a command deserves a second look: it removes by force, runs what it is fed, …; or NULL. */
const char *cmdline_danger(const struct cmdline_command *command);

/* The last part of its first word, without a target, a version or the g of GNU; whether it is a
 * shell's, and whether that has a script (-c). */
struct str cmdline_name(const struct cmdline_command *command);
bool cmdline_is_shell(struct str name);
bool cmdline_has_script(const struct cmdline_command *shell);

/* The parts of cmdline_parse(): the commands of another script are added; and those that commands
 * such as env, xargs and sh -c would run. */
void cmdline_parse_more(struct str text, unsigned depth, struct arena *a, struct cmdline *script);
void cmdline_unwrap(struct cmdline *script, struct arena *a);

#endif
