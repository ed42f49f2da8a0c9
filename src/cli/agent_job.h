/* Shared parts of the commands that run an agent: options, and everything that a run needs.
 *
 *     struct agent_job j = AGENT_JOB_INIT(cli, args->options);
 *     bool ok = agent_job_open(&j, err) && agent_job_prepare(&j, err);
 *     struct agent agent = agent_job_agent(&j);           without an event callback
 *     ...
 *     ok = agent_job_finish(&j, ok, err);
 *     agent_job_done(&j);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_AGENT_JOB_H
#define CLI_AGENT_JOB_H

#include "agent/context.h"
#include "agent/run.h"
#include "cli/agent_prompt.h"
#include "cli/agent_view.h"
#include "cli/bench.h"
#include "config/config.h"
#include "llm/retry.h"

#include <time.h>

enum {
    AGENT_TOKENS_MAX = 1000 * 1000 * 1000,
};

struct agent_options {
    struct bench_options bench;
    struct prompt_options prompt;
    const char *provider, *model, *base_url, *script;
    const char *session, *fork, *system, *record, *temperature, *max_retries, *box;
    bool go_on;
    bool plain; /* chat only: never redraw */
    int64_t max_turns, max_tokens, max_total_tokens, max_time_ms, context_window;
};

/* Everything that a run needs, in order of creation. */
struct agent_job {
    struct cli *cli;
    const struct agent_options *options;
    struct config config;
    struct remote *remote; /* tool server of --box */
    struct bench bench;
    struct mask mask;
    struct provider *provider;
    struct store *store;
    struct undo *undo; /* of the session */
    struct buf system_text, prompt_text;
    struct str system; /* no value: the default system prompt */
    json_t *prompt, *tools;
    uint64_t deadline_ms;
    timer_t timer;
    bool has_timer;
    bool wants_prompt;  /* read one from the options or standard input */
    bool session_later; /* opened later, by agent_job_session() */
    bool drop_empty;    /* delete a session without messages when it is left */
    void (*on_retry)(void *context, const struct retry_notice *notice);
    void *retry_context;
    const char *model;   /* set by agent_job_set_model(); NULL: use the options */
    double temperature;  /* negative: not given */
    int64_t max_retries; /* negative: not given */
};

#define AGENT_JOB_INIT(the_cli, the_options)     \
    ((struct agent_job){.cli = (the_cli),        \
        .options = (the_options),                \
        .bench = BENCH_INIT,                     \
        .system_text = BUF_INIT(2 * PROMPT_MAX), \
        .prompt_text = BUF_INIT(CONTEXT_PROMPT_MAX)})

/* Rows for the option table of a command whose options are struct agent_options. */
#define AGENT_JOB_OPTS(type)                                                                       \
    OPT_ONE_OF("provider", 0, type, provider, "NAME", provider_names,                              \
        "anthropic, openai (any server that speaks Chat Completions) or scripted; default: by "    \
        "the "                                                                                     \
        "key that is set, or scripted"),                                                           \
        OPT_STRING("model", 0, type, model, "NAME", ARG_ANY, "which model answers"),               \
        OPT_STRING("base-url", 0, type, base_url, "URL", ARG_ANY,                                  \
            "where the service is, such as http://127.0.0.1:8080/v1"),                             \
        OPT_STRING("script", 0, type, script, "FILE", ARG_FILE,                                    \
            "what the scripted provider says; default: a script that comes with cordon"),          \
        OPT_STRING("session", 0, type, session, "FILE|ID", ARG_FILE,                               \
            "go on with this session; a file that is not there is made"),                          \
        OPT_SET("continue", 0, type, go_on, "go on with the newest session of this directory"),    \
        OPT_STRING("fork", 0, type, fork, "ID@N", ARG_ANY,                                         \
            "start a new session with the first N messages of another; without @N with all"),      \
        OPT_STRING("system", 0, type, system, "TEXT", ARG_ANY,                                     \
            "the system prompt, or @FILE, instead of cordon's own; the project's AGENTS.md files " \
            "and a "                                                                               \
            "few facts are added to either"),                                                      \
        OPT_INT("max-turns", 0, type, max_turns, "N", 1, 1000 * 1000,                              \
            "how often the model may be asked; default: 500"),                                     \
        OPT_INT("max-tokens", 0, type, max_tokens, "N", 0, AGENT_TOKENS_MAX,                       \
            "how long one answer may be; 0 or not given: what the provider takes for it"),         \
        OPT_INT("max-total-tokens", 0, type, max_total_tokens, "N", 1, INT64_C(1) << 50,           \
            "after so many tokens of all requests and answers the model is not asked again"),      \
        OPT_INT("max-time-ms", 0, type, max_time_ms, "N", 1, 7 * 86400 * 1000,                     \
            "how long it may take in all"),                                                        \
        OPT_STRING("max-retries", 0, type, max_retries, "N", ARG_ANY,                              \
            "how often a request that failed is tried again; default: 4"),                         \
        OPT_INT("context-window", 0, type, context_window, "N", 1, AGENT_TOKENS_MAX,               \
            "how many tokens the model takes: when they are nearly used up, the conversation "     \
            "goes on "                                                                             \
            "with a summary; default: by the settings, or what is known of the model"),            \
        OPT_STRING("temperature", 0, type, temperature, "F", ARG_ANY,                              \
            "from 0 to 2; default: the provider's"),                                               \
        OPT_STRING("box", 0, type, box, "NAME", ARG_BOX,                                           \
            "work in this box: files and commands are the box's, its project is the working "      \
            "directory")

/* Loads options, settings and tools. Reads from pipes while signals still terminate the process. */
MUST_USE bool agent_job_open(struct agent_job *j, struct err *err);
/* Opens the provider, the prompt's context and the session. */
MUST_USE bool agent_job_prepare(struct agent_job *j, struct err *err);
/* Opens the session if it is not open yet. */
MUST_USE bool agent_job_session(struct agent_job *j, struct err *err);

/* Switches to another model of the same provider; on failure the current one is kept. */
MUST_USE bool agent_job_set_model(struct agent_job *j, struct str model, struct err *err);
/* agent_job_new_session() creates a session. agent_job_enter() takes ownership of a session, closes
 * the current one and continues with the new one; it does so even if it returns false, for example
 * because the old one could not be written. */
MUST_USE bool agent_job_new_session(struct agent_job *j, struct store **ret_store, struct err *err);
MUST_USE bool agent_job_enter(struct agent_job *j, struct store *store, struct err *err);

/* Settings of the model, or NULL. */
const struct config_model *agent_job_model(const struct agent_job *j);
struct agent agent_job_agent(const struct agent_job *j);

/* Completes the session on disk and masks keys in the error. */
MUST_USE bool agent_job_finish(struct agent_job *j, bool ok, struct err *err);
void agent_job_done(struct agent_job *j);

#endif
