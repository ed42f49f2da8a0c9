/* Setup of an agent from options and the user's settings: everything that a run needs.
 *
 *     struct agent_setup s = AGENT_SETUP_INIT(arena, &options, warnings);
 *     bool ok = agent_setup_open(&s, err) && agent_setup_prepare(&s, err);
 *     struct agent agent = agent_setup_agent(&s);           without an event callback
 *     ...
 *     ok = agent_setup_finish(&s, ok, err);
 *     agent_setup_done(&s);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_AGENT_SETUP_H
#define AGENT_AGENT_SETUP_H

#include "agent/agent_run.h"
#include "agent/context.h"
#include "agent/prompt.h"
#include "agent/tool_setup.h"
#include "base/mask.h"
#include "config/config.h"
#include "llm/retry.h"

#include <time.h>

enum {
    AGENT_TOKENS_MAX = 1000 * 1000 * 1000,
};

/* NULL and 0 mean the default, or the user's setting. */
struct agent_options {
    struct tool_setup_options tools;
    struct prompt_options prompt; /* agent_setup.wants_prompt */
    const char *provider, *model, *base_url, *script;
    const char *session, *fork, *system, *temperature, *max_retries, *box;
    bool go_on;
    int64_t max_turns, max_tokens, max_total_tokens, context_window;
    int64_t max_time_ms; /* not with a host: see struct agent_turn */
};

/* Everything that a run needs, in order of creation. */
struct agent_setup {
    struct arena *arena;
    struct notices warnings;
    const struct agent_options *options;
    struct config config;
    struct remote *remote; /* tool server of --box */
    struct tool_setup tools;
    struct mask mask;
    struct provider *provider;
    struct store *store;
    struct undo *undo; /* of the session */
    struct buf system_text, prompt_text;
    struct str system; /* no value: the default system prompt */
    json_t *prompt;
    json_t *specs; /* of the tools */
    uint64_t deadline_ms;
    timer_t timer;
    bool has_timer;
    bool wants_prompt;  /* read one from the options or standard input */
    bool session_later; /* opened later, by agent_setup_session() */
    bool drop_empty;    /* delete a session without messages when it is left */
    void (*on_retry)(void *context, const struct retry_notice *notice);
    void *retry_context;
    const char *model;   /* set by agent_setup_set_model(); NULL: use the options */
    double temperature;  /* negative: not given */
    int64_t max_retries; /* negative: not given */
};

#define AGENT_SETUP_INIT(the_arena, the_options, the_warnings) \
    ((struct agent_setup){.arena = (the_arena),                \
        .warnings = (the_warnings),                            \
        .options = (the_options),                              \
        .tools = TOOL_SETUP_INIT,                              \
        .system_text = BUF_INIT(2 * PROMPT_MAX),               \
        .prompt_text = BUF_INIT(CONTEXT_PROMPT_MAX)})

/* Loads options, settings and tools. Reads from pipes while signals still terminate the process. */
MUST_USE bool agent_setup_open(struct agent_setup *s, struct err *err);
/* Opens the provider, the prompt's context and the session. */
MUST_USE bool agent_setup_prepare(struct agent_setup *s, struct err *err);
/* Opens the session if it is not open yet. */
MUST_USE bool agent_setup_session(struct agent_setup *s, struct err *err);

/* Switches to another model of the same provider; on failure the current one is kept. */
MUST_USE bool agent_setup_set_model(struct agent_setup *s, struct str model, struct err *err);
/* agent_setup_new_session() creates a session. agent_setup_enter() takes ownership of a session,
 * closes the current one and continues with the new one; it does so even if it returns false, for
 * example because the old one could not be written. */
MUST_USE bool agent_setup_new_session(
    struct agent_setup *s, struct store **ret_store, struct err *err);
MUST_USE bool agent_setup_enter(struct agent_setup *s, struct store *store, struct err *err);

/* Settings of the model, or NULL. */
const struct config_model *agent_setup_model(const struct agent_setup *s);
struct agent agent_setup_agent(const struct agent_setup *s);

/* Completes the session on disk and masks keys in the error. */
MUST_USE bool agent_setup_finish(struct agent_setup *s, bool ok, struct err *err);
void agent_setup_done(struct agent_setup *s);

#endif
