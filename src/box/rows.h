/* Agents as rows of data: how each is started, spoken to and told apart from one that waits.
 *
 *     const struct box_agent *agent;
 *     if (!agent_find(STR("claude"), &users, &agent, err)) return false;
 *
 * Users add theirs in config.yaml (`agents:`), with the same columns; one with the name of a row of
 * ours takes its place.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_ROWS_H
#define BOX_ROWS_H

#include "base/field.h"

enum agent_prompt {
    AGENT_INTERACTIVE, /* typed into its terminal, once it is ready */
    AGENT_HEADLESS,    /* an argument of the command */
};

struct box_agent {
    struct str name;
    struct str command;  /* for a terminal; words as a shell splits them, and nothing else of one */
    struct str headless; /* with PROMPT in one of its words; no value: there is no such way */
    enum agent_prompt prompt_mode;
    struct str_list keys;     /* environment variables that are passed, and no others are */
    struct str state_dir;     /* inside; what holds it is HOME. No value: none */
    struct str submit;        /* keys that end a prompt: "Enter Enter" */
    uint32_t delay_ms;        /* before a prompt is typed, if there is no pattern */
    struct str model_flag;    /* no value: its model can't be chosen */
    struct str_map aliases;   /* of models */
    struct str ready_pattern; /* on the screen: it waits for a first prompt */
    struct str idle_pattern;  /* on the screen: it has nothing to do */
    struct str_list hosts;    /* that it must reach: the network's allow-list, unless told */
};

struct agent_rows {
    const struct box_agent *p;
    size_t n;
};

extern const struct agent_rows agent_builtin;
extern const struct shape box_agent_shape;

/* E_NOT_FOUND, with what there is. */
MUST_USE bool agent_find(struct str name, const struct agent_rows *users,
    const struct box_agent **ret_agent, struct err *err);

/* Is a row right? E_CONFIG with the column. */
MUST_USE bool agent_check(const struct box_agent *agent, struct err *err);

/* A model's full name; one that is no alias is itself. */
struct str agent_model(const struct box_agent *agent, struct str model);

/* What holds the state directory; "/home/yoloai" without one. */
struct str agent_home(const struct box_agent *agent);

#endif
