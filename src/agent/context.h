/* What a model is told before the conversation: the system prompt, the project's instructions, a
 * few facts, the tools.
 *
 *     AUTO_BUF struct buf prompt = BUF_INIT(CONTEXT_PROMPT_MAX), notes =
 * BUF_INIT(CONTEXT_NOTES_MAX); if (!context_prompt(&options, &prompt, &notes, err)) return false;
 *     AUTO_JSON json_t *tools = context_tools();
 *
 * Instructions are the files AGENTS.md from the project's root down to the working directory,
 * opened through a boundary around the project: a link that leaves it is not followed, and said so.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_CONTEXT_H
#define AGENT_CONTEXT_H

#include "base/json.h"
#include "tool/toolbox.h"

enum {
    CONTEXT_SYSTEM_MAX = 256 << 10,      /* of a system prompt that was given */
    CONTEXT_INSTRUCTIONS_MAX = 32 << 10, /* of one AGENTS.md; the rest is left out */
    CONTEXT_INSTRUCTIONS_ALL = 96 << 10, /* of all of them */
    CONTEXT_PROMPT_MAX = 1 << 20,
    CONTEXT_NOTES_MAX = 64 << 10,
};

struct context_options {
    struct str system;      /* no value: our own */
    const char *root, *cwd; /* absolute, without links; the root holds the directory, or is it */
    enum toolbox_mode mode;
    bool has_policy; /* the user's */
    bool no_sandbox;
    const char *box;  /* where the tools are; NULL: here */
    uint64_t wall_ms; /* now */
};

/* Appends the prompt, and what a person should know to the notes, one a line. */
MUST_USE bool context_prompt(
    const struct context_options *options, struct buf *prompt, struct buf *notes, struct err *err);

/* [{"name","description","parameters"}]: what a model needs to call them, without limits that it
 * learns of when it breaks them, and arguments that few calls need. */
MUST_USE json_t *context_tools(void);

#endif
