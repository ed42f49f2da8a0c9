/* Agents as rows of data: how each is started, prompted and recognized as idle.
 *
 *     const struct box_agent *agent;
 *     if (!agent_find(STR("claude"), &users, &agent, err)) return false;
 *
 * Users add their own in config.yaml (`agents:`), with the same columns; they override built-in
 * rows of the same name.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_ROWS_H
#define BOX_ROWS_H

#include "base/field.h"

enum agent_prompt {
    AGENT_INTERACTIVE, /* typed into its terminal once it is ready */
    AGENT_HEADLESS,    /* passed as an argument of the command */
};

struct box_agent {
    struct str name;
    struct str command;  /* for a terminal; split like a shell command, without expansions */
    struct str headless; /* with PROMPT in one of its words; no value if not supported */
    enum agent_prompt prompt_mode;
    struct str_list keys;     /* environment variables passed through; no others are */
    struct str state_dir;     /* "~/NAME", or an absolute path, whose parent is HOME in the box.
                                 No value: none */
    struct str submit;        /* keys that submit a prompt: "Enter Enter" */
    uint32_t delay_ms;        /* delay before typing a prompt, without a pattern */
    struct str model_flag;    /* no value: its model cannot be chosen */
    struct str_map aliases;   /* model aliases */
    struct str ready_pattern; /* screen shows: ready for the first prompt */
    struct str idle_pattern;  /* screen shows: idle */
    struct str_list hosts;    /* hosts it needs: the default network allowlist */
};

struct agent_rows {
    const struct box_agent *p;
    size_t n;
};

extern const struct agent_rows agent_builtin;
extern const char *const agent_builtin_names[]; /* NULL-terminated, in the same order */
extern const struct shape box_agent_shape;

/* E_NOT_FOUND lists the existing agents. */
MUST_USE bool agent_find(struct str name, const struct agent_rows *users,
    const struct box_agent **ret_agent, struct err *err);

/* Validates a row. E_CONFIG names the column. */
MUST_USE bool agent_check(const struct box_agent *agent, struct err *err);

/* Resolves a model alias; other names are returned unchanged. */
struct str agent_model(const struct box_agent *agent, struct str model);

/* Whether the row says where HOME is. */
bool agent_chooses_home(const struct box_agent *agent);

/* HOME of a box that has none of its own: parent of an absolute state directory, otherwise
 * "/home/yoloai". */
struct str agent_home(const struct box_agent *agent);

/* Name of the state directory in HOME; no value or "" without one. */
struct str agent_state_name(const struct box_agent *agent);

#endif
