/* An agent's command line: split into words first, then the prompt is substituted in one of them.
 * No shell is involved, so a prompt cannot inject syntax.
 *
 *     claude -p "PROMPT" --yes     ["claude", "-p", "fix; rm -rf \"$HOME\"", "--yes"]
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_COMMAND_H
#define BOX_COMMAND_H

#include "box/rows.h"

enum {
    COMMAND_WORDS_MAX = 1024,
    COMMAND_PROMPT_MAX = 100 * 1000, /* bytes; the kernel limits one argument to 128 KiB */
};

/* Splits words as a shell does: blanks separate them, '...' is literal, "..." and \ work as usual.
 * Expansions are not supported: a '$' is literal. E_CONFIG for an unterminated quote. */
MUST_USE bool command_split(
    struct str text, struct arena *a, struct str_list *ret_words, struct err *err);

/* Index of the only word with PROMPT in it; 0 if there are more or fewer, or it is the first
 * word. */
size_t command_prompt_word(const struct str_list *words);

struct command_input {
    const struct box_agent *agent;
    struct str prompt;     /* no value: no prompt */
    struct str model;      /* an alias or a name; no value: the agent's default */
    struct str_list extra; /* arguments appended for the agent */
};

struct command {
    const char **argv;  /* NULL-terminated */
    struct str typed;   /* the prompt to be typed into the terminal; or no value */
    bool model_ignored; /* the agent has no model option: the caller should warn */
};

/* The row must have been checked. */
MUST_USE bool command_make(const struct command_input *input, struct arena *a,
    struct command *ret_command, struct err *err);

#endif
