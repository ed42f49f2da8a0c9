/* An agent's command line: words first, then the prompt into one of them. No shell sees it, so
 * nothing in a prompt is syntax.
 *
 *     claude -p "PROMPT" --yes     ["claude", "-p", "fix; rm -rf \"$HOME\"", "--yes"]
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_COMMAND_H
#define BOX_COMMAND_H

#include "box/rows.h"

enum {
    COMMAND_WORDS_MAX = 1024,
    COMMAND_PROMPT_MAX = 100 * 1000, /* bytes: the kernel takes 128 KiB in one argument */
};

/* Words as a shell splits them: blanks between them, '...' as it stands, "..." and \ as usual.
 * Expansions are nothing special: a '$' is a '$'. E_CONFIG for a quote that does not end. */
MUST_USE bool command_split(
    struct str text, struct arena *a, struct str_list *ret_words, struct err *err);

/* The one word after the first that has PROMPT in it; 0: there is none, or more than one. */
size_t command_prompt_word(const struct str_list *words);

struct command_input {
    const struct box_agent *agent;
    struct str prompt;     /* no value: none */
    struct str model;      /* an alias or a name; no value: the agent's own */
    struct str_list extra; /* arguments for the agent, at the end */
};

struct command {
    const char **argv;  /* ends in NULL */
    struct str typed;   /* the prompt that is left to be typed; no value: none */
    bool model_ignored; /* the agent has no option for it: worth a warning */
};

/* A row must have been checked. */
MUST_USE bool command_make(const struct command_input *input, struct arena *a,
    struct command *ret_command, struct err *err);

#endif
