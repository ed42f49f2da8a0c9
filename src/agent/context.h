/* The context a model gets before the conversation: the system prompt, the project's instructions,
 * a few facts, the tools.
 *
 *     AUTO_BUF struct buf prompt = BUF_INIT(CONTEXT_PROMPT_MAX);
 *     AUTO_BUF struct buf notes = BUF_INIT(CONTEXT_NOTES_MAX);
 *     if (!context_prompt(&options, &prompt, &notes, err)) return false;
 *     AUTO_JSON json_t *tools = context_tools();
 *
 * Instructions are the files AGENTS.md from the project's root down to the working directory,
 * opened through a boundary around the project: a symlink that leaves it is not followed, and is
 * reported in the notes.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_CONTEXT_H
#define AGENT_CONTEXT_H

#include "base/json.h"
#include "tool/toolbox.h"

enum {
    CONTEXT_SYSTEM_MAX = 256 << 10,      /* of a system prompt given by the user */
    CONTEXT_INSTRUCTIONS_MAX = 32 << 10, /* of one AGENTS.md; the rest is left out */
    CONTEXT_INSTRUCTIONS_ALL = 96 << 10, /* of all of them */
    CONTEXT_PROMPT_MAX = 1 << 20,
    CONTEXT_NOTES_MAX = 64 << 10,
};

struct context_options {
    struct str system;      /* no value: the default prompt */
    const char *root, *cwd; /* absolute, without symlinks; cwd is root or below it */
    enum toolbox_mode mode;
    bool has_policy; /* given by the user */
    bool no_sandbox;
    bool shared;      /* all commands run in one sandbox */
    const char *box;  /* name of the box the tools run in; NULL: none */
    uint64_t wall_ms; /* now */
};

/* Appends the prompt, and notes for the user, one per line. */
MUST_USE bool context_prompt(
    const struct context_options *options, struct buf *prompt, struct buf *notes, struct err *err);

/* [{"name","description","parameters"}]. Leaves out limits, which the model learns from an error
 * when it exceeds them, and rarely used arguments. */
MUST_USE json_t *context_tools(void);

#endif
