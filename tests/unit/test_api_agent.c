/* The agent of the public API: turns with events, approval, cancellation, stored conversations. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "api_check.h"
#include "base/clock.h"
#include "test.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum {
    LONG_MS = 30 * 1000, /* for events that always happen */
};

#define SAYS(text) "{\"content\":[{\"text\":\"" text "\"}],\"usage\":{\"output_tokens\":5}}"
#define RUNS(command)                                                                        \
    "{\"content\":[{\"tool_call\":{\"name\":\"shell\",\"arguments\":{\"command\":\"" command \
    "\"}}}],\"usage\":{\"output_tokens\":7}}"
#define SCRIPT(turns) "{\"version\":1,\"model\":\"tester\",\"turns\":[" turns "]}"

struct agent_seen {
    char log[64 * 1024];
    int stop_after; /* 0: never */
    int events;
    enum cordon_answer answer;
    struct cordon_cancel *cancel; /* triggered by the first event */
};

static int note_event(void *context, const char *event)
{
    struct agent_seen *s = context;
    size_t n = strlen(s->log);
    snprintf(s->log + n, sizeof(s->log) - n, "%s\n", event);
    if (s->cancel)
        cordon_cancel_trigger(s->cancel);
    return ++s->events != s->stop_after;
}

static enum cordon_answer answer_question(void *context, const char *question)
{
    struct agent_seen *s = context;
    size_t n = strlen(s->log);
    snprintf(s->log + n, sizeof(s->log) - n, "asked %s\n", question);
    return s->answer;
}

static struct cordon_agent *open_agent(
    struct agent_seen *seen, const char *script, const char *session, const char *approval)
{
    struct cordon_error error = {0};
    api_home_begin();
    test_write(test_path("work/file"), "content");
    test_write(test_path("script.json"), script);
    const struct cordon_tools_options tools = {.size = sizeof(tools),
        .dir = test_path("work"),
        .approval = approval,
        .approve = answer_question,
        .context = seen};
    const struct cordon_agent_options options = {.size = sizeof(options),
        .tools = &tools,
        .provider = "scripted",
        .script = test_path("script.json"),
        .session = session,
        .event = note_event,
        .context = seen};
    struct cordon_agent *agent = cordon_agent_open(&options, &error);
    api_check_ok(&error);
    return agent;
}

static char *turn_of(struct cordon_agent *agent, const char *prompt, struct cordon_cancel *cancel,
    uint64_t max_time_ms, struct cordon_error *error)
{
    const struct cordon_turn turn = {
        .size = sizeof(turn), .prompt = prompt, .max_time_ms = max_time_ms, .cancel = cancel};
    return cordon_agent_turn(agent, &turn, error);
}

TEST(api_agent_turns)
{
    static struct agent_seen seen;
    static const char *const parts[] = {
        "\"protocol_version\":1,\"type\":", "\"type\":\"text_delta\"", "\"type\":\"tool_result\"",
        "content", "\"type\":\"message\"", "\"type\":\"done\""};
    struct cordon_error error = {0};
    seen = (struct agent_seen){0};
    struct cordon_agent *agent = open_agent(
        &seen, SCRIPT(RUNS("cat file") "," SAYS("first") "," SAYS("second")), NULL, NULL);
    if (!agent)
        return;
    CHECK_Z(cordon_agent_model(agent), "tester");
    char id[128];
    snprintf(id, sizeof(id), "%s", cordon_agent_session(agent));
    api_check_text(turn_of(agent, "go", NULL, 0, &error), "\"turns\":2");
    api_check_ok(&error);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        test_row(i, parts[i]);
        CHECK(api_has(seen.log, parts[i]));
    }
    test_row(0, NULL);
    seen.log[0] = '\0';
    api_check_text(turn_of(agent, "more", NULL, 0, &error), "\"stop_reason\":");
    CHECK(api_has(seen.log, "second"));
    CHECK_INT(cordon_agent_close(agent, &error), 0);
    api_check_text(cordon_conversations(&error), id);
    char *conversation = cordon_conversation(id, &error);
    CHECK(api_has(conversation, "first") && api_has(conversation, "second"));
    free(conversation);
    /* It is resumed by its id. */
    agent = open_agent(&seen, SCRIPT(SAYS("third")), id, NULL);
    CHECK_Z(cordon_agent_session(agent), id);
    api_check_text(turn_of(agent, "again", NULL, 0, &error), id);
    cordon_agent_free(agent);
    cordon_agent_free(NULL);
    api_check_text(cordon_conversation(id, &error), "third");
    api_check_ok(&error);
    api_home_end();
}

TEST(api_agent_asks)
{
    static const struct {
        const char *name;
        enum cordon_answer answer;
        const char *code, *part; /* code NULL: a final answer */
    } rows[] = {
        {"yes", CORDON_ANSWER_YES, NULL, "\"is_error\":false"},
        {"no", CORDON_ANSWER_NO, NULL, "\"is_error\":true"},
        {"no answer", CORDON_ANSWER_CANCELED, "E_CANCELED", "\"type\":\"error\""},
    };
    static struct agent_seen seen;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cordon_error error = {0};
        seen = (struct agent_seen){.answer = rows[i].answer};
        test_row(i, rows[i].name);
        struct cordon_agent *agent =
            open_agent(&seen, SCRIPT(RUNS("echo hi") "," SAYS("end")), NULL, "always");
        char *done = agent ? turn_of(agent, "go", NULL, 0, &error) : NULL;
        CHECK(api_has(
            seen.log, "asked {\"tool\":\"shell\",\"kind\":\"run\",\"subject\":\"echo hi\""));
        CHECK(api_has(seen.log, rows[i].part));
        CHECK_INT(done != NULL, rows[i].code == NULL);
        if (rows[i].code)
            api_check_error(&error, rows[i].code, "");
        free(done);
        cordon_agent_free(agent);
    }
    api_home_end();
}

TEST(api_agent_ends_early)
{
    static const struct {
        const char *name;
        int stop_after;
        bool cancel;
        uint64_t max_time_ms;
        const char *code;
    } rows[] = {
        {"canceled by another thread", 0, true, 0, "E_CANCELED"},
        {"out of time", 0, false, 300, "E_TIMEOUT"},
        {"stopped by the callback", 1, false, 0, "E_CANCELED"},
    };
    static struct agent_seen seen;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cordon_error error = {0};
        struct api_trigger trigger;
        seen = (struct agent_seen){.stop_after = rows[i].stop_after};
        test_row(i, rows[i].name);
        struct cordon_agent *agent = open_agent(&seen,
            SCRIPT("{\"content\":[{\"text\":\"wait\"},{\"tool_call\":{\"name\":\"shell\","
                   "\"arguments\":{\"command\":\"touch started; sleep 100\"}}}]}," SAYS("later")),
            NULL, NULL);
        struct cordon_cancel *cancel = cordon_cancel_new(&error);
        uint64_t begun = clock_mono_ms();
        if (rows[i].cancel)
            api_trigger_begin(&trigger, "work/started", cancel);
        CHECK(!turn_of(agent, "go", cancel, rows[i].max_time_ms, &error));
        CHECK(clock_mono_ms() - begun < LONG_MS);
        CHECK(api_has(error.json, "session_id"));
        api_check_error(&error, rows[i].code, "");
        if (rows[i].cancel) {
            api_trigger_end(&trigger);
            CHECK(!turn_of(agent, "go", cancel, 0, &error));
            api_check_error(&error, "E_CANCELED", "before");
        }
        /* The conversation continues. */
        api_check_text(turn_of(agent, "go on", NULL, 0, &error), "\"type\":\"done\"");
        CHECK_INT(cordon_agent_close(agent, &error), 0);
        cordon_cancel_free(cancel);
    }
    api_home_end();
}

TEST(api_agent_reads_sessions)
{
    static struct agent_seen seen;
    struct cordon_error error = {0};
    seen = (struct agent_seen){0};
    struct cordon_agent *agent = open_agent(&seen,
        SCRIPT("{\"content\":[{\"tool_call\":{\"name\":\"exec_command\",\"arguments\":{\"cmd\":"
               "\"until [ -e go ]; do sleep 0.01; done; seq 20000; echo done > e; mv e end; "
               "sleep 100\",\"yield_time_ms\":0}}}]}," SAYS("started")),
        NULL, NULL);
    struct pollfd wait = {.fd = cordon_agent_descriptor(agent), .events = POLLIN};
    CHECK_INT(poll(&wait, 1, 0), 0);
    api_check_text(turn_of(agent, "go", NULL, 0, &error), "done");
    test_write(test_path("work/go"), "");
    char *end = NULL;
    for (uint64_t until = clock_mono_ms() + LONG_MS; !end && clock_mono_ms() < until;) {
        if (poll(&wait, 1, 100) > 0)
            cordon_agent_process(agent);
        end = test_read(test_path("work/end"));
    }
    CHECK_Z(end, "done\n");
    free(end);
    cordon_agent_free(agent);
    api_home_end();
}

TEST(api_agent_refuses)
{
    static const struct cordon_tools_options wrong = {.size = sizeof(wrong), .mode = "open"};
    static const struct {
        const char *name;
        struct cordon_agent_options o;
        const char *code, *part;
    } rows[] = {
        {"an unknown provider", {.provider = "unknown-name"}, "E_CLI_INVALID_ARG",
            "provider 'unknown-name'"},
        {"wrong tools", {.tools = &wrong}, "E_CLI_INVALID_ARG", "mode 'open'"},
        {"no script", {.provider = "scripted", .script = "/no/such"}, "E_IO", "/no/such"},
        {"no conversation", {.provider = "scripted", .session = "0123456789"}, "E_NOT_FOUND",
            "0123456789"},
        {"two of them", {.provider = "scripted", .session = "a", .latest = 1}, "E_CLI_INVALID_ARG",
            "combined"},
        {"no temperature", {.provider = "scripted", .temperature = "hot"}, "E_CLI_INVALID_ARG",
            "hot"},
        {"too many turns", {.provider = "scripted", .max_turns = UINT64_C(1) << 40},
            "E_CLI_INVALID_ARG", "max_turns"},
    };
    struct cordon_error error = {0};
    api_home_begin();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cordon_agent_options o = rows[i].o;
        o.size = sizeof(o);
        test_row(i, rows[i].name);
        CHECK(!cordon_agent_open(&o, &error));
        api_check_error(&error, rows[i].code, rows[i].part);
    }
    test_row(0, NULL);
    CHECK(!cordon_conversation("0123456789", &error));
    api_check_error(&error, "E_NOT_FOUND", "0123456789");
    static struct agent_seen seen;
    struct cordon_agent *agent = open_agent(&seen, SCRIPT(SAYS("x")), NULL, NULL);
    CHECK_INT(cordon_agent_set_model(agent, "", &error), -1);
    api_check_error(&error, "E_CLI_INVALID_ARG", "model");
    CHECK_INT(cordon_agent_set_model(agent, NULL, &error), -1);
    api_check_error(&error, "E_CLI_INVALID_ARG", "model");
    CHECK(!turn_of(agent, " ", NULL, 0, &error));
    api_check_error(&error, "E_CLI_INVALID_ARG", "empty");
    CHECK(!turn_of(agent, NULL, NULL, 0, &error));
    api_check_error(&error, "E_CLI_INVALID_ARG", "empty");
    CHECK(!cordon_agent_turn(agent, &(struct cordon_turn){.prompt = "x"}, &error));
    api_check_error(&error, "E_CLI_INVALID_ARG", "size");
    cordon_agent_free(agent);
    api_home_end();
}

struct agent_files {
    char dir[512], script[512];
};

/* Several agents, each in a thread of its own. */
static void *agent_thread(void *context)
{
    const struct agent_files *files = context;
    const struct cordon_tools_options tools = {.size = sizeof(tools), .dir = files->dir};
    const struct cordon_agent_options options = {
        .size = sizeof(options), .tools = &tools, .provider = "scripted", .script = files->script};
    struct cordon_agent *agent = cordon_agent_open(&options, NULL);
    char *done = agent ? turn_of(agent, "go", NULL, 0, NULL) : NULL;
    bool ok = api_has(done, "\"turns\":2");
    free(done);
    cordon_agent_free(agent);
    return ok ? context : NULL;
}

TEST(api_agents_at_once)
{
    pthread_t threads[4];
    api_home_begin();
    test_write(test_path("work/file"), "content");
    struct agent_files files;
    snprintf(files.dir, sizeof(files.dir), "%s", test_path("work"));
    snprintf(files.script, sizeof(files.script), "%s", test_path("script.json"));
    test_write(files.script, SCRIPT(RUNS("cat file") "," SAYS("end")));
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        CHECK_INT(pthread_create(&threads[i], NULL, agent_thread, &files), 0);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
        void *ok = NULL;
        pthread_join(threads[i], &ok);
        CHECK(ok != NULL);
    }
    api_home_end();
}
