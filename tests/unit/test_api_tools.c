/* The tools of the public API: specifications, calls, approval, events, cancellation. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "api_check.h"
#include "base/clock.h"
#include "test.h"

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

enum {
    LONG_MS = 30 * 1000, /* for events that always happen */
};

struct seen {
    char log[4096];
    enum cordon_answer answer;
};

static void seen_add(struct seen *s, const char *word, const char *text)
{
    size_t n = strlen(s->log);
    snprintf(s->log + n, sizeof(s->log) - n, "%s %s;", word, text);
}

static enum cordon_answer answer(void *context, const char *question)
{
    struct seen *s = context;
    seen_add(s, "asked", question);
    return s->answer;
}

static void note_event(void *context, const char *event)
{
    seen_add(context, "event", event);
}

static void note_warning(void *context, const char *text)
{
    seen_add(context, "warning", text);
}

/* A working directory with a file, and a separate state directory. */
static struct cordon_tools_options options_here(struct seen *s)
{
    api_home_begin();
    test_write(test_path("work/a.txt"), "one\ntwo\n");
    return (struct cordon_tools_options){
        .size = sizeof(struct cordon_tools_options),
        .dir = test_path("work"),
        .approve = answer,
        .event = note_event,
        .warning = note_warning,
        .context = s,
    };
}

static struct cordon_tools *open_tools(const struct cordon_tools_options *o)
{
    struct cordon_error error = {0};
    struct cordon_tools *t = cordon_tools_open(o, &error);
    api_check_ok(&error);
    return t;
}

TEST(api_tools_specs)
{
    static const char *const names[] = {"\"name\":\"read_file\"", "\"name\":\"shell\"",
        "\"name\":\"apply_patch", "\"parameters\":{", "\"mutating\":true"};
    char *specs = cordon_tools_specs();
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        CHECK(api_has(specs, names[i]));
    free(specs);
}

TEST(api_tools_calls)
{
    static const struct {
        const char *name, *arguments, *part;
    } rows[] = {
        {"read_file", "{\"path\":\"a.txt\"}", "two"},
        {"list_dir", "{}", "a.txt"},
        {"grep_files", "{\"pattern\":\"tw.\"}", "a.txt"},
        {"write_file", "{\"path\":\"b.txt\",\"content\":\"new\"}", "\"changes\""},
        {"shell", "{\"command\":\"cat b.txt; pwd\"}", "/work"},
        {"shell", "{\"command\":\"exit 3\"}", "\"E_COMMAND_FAILED\""},
        {"read_file", "{\"path\":\"../secret\"}", "\"E_FS_VIOLATION\""},
        {"read_file", "{", "\"E_TOOL_VALIDATION\""},
        {"no_such_tool", "{}", "\"status\":\"error\""},
    };
    struct seen seen = {0};
    struct cordon_error error = {0};
    struct cordon_tools_options o = options_here(&seen);
    struct cordon_tools *t = open_tools(&o);
    for (size_t i = 0; t && i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].name);
        seen.log[0] = '\0';
        api_check_text(
            cordon_tools_call(t, rows[i].name, rows[i].arguments, NULL, &error), rows[i].part);
        api_check_ok(&error);
        CHECK(api_has(seen.log, "\"phase\":\"start\""));
        CHECK(!api_has(seen.log, "asked"));
    }
    char *written = test_read(test_path("work/b.txt"));
    CHECK_Z(written, "new");
    free(written);
    cordon_tools_close(t);
    cordon_tools_close(NULL);
    api_home_end();
}

TEST(api_tools_approval)
{
    static const struct {
        const char *name, *approval;
        enum cordon_answer answer;
        const char *part;
        bool asked_twice;
    } rows[] = {
        {"never asked", "never", CORDON_ANSWER_NO, "\"status\":\"ok\"", false},
        {"yes", "always", CORDON_ANSWER_YES, "\"status\":\"ok\"", true},
        {"no", "always", CORDON_ANSWER_NO, "\"code\":", true},
        {"no answer", "on-request", CORDON_ANSWER_CANCELED, "\"E_CANCELED\"", true},
        {"always", "on-request", CORDON_ANSWER_ALWAYS, "\"status\":\"ok\"", false},
        {"always without a rule", "always", CORDON_ANSWER_ALWAYS, "\"status\":\"ok\"", true},
        {"an invalid answer", "always", (enum cordon_answer)77, "\"code\":", true},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct seen seen = {.answer = rows[i].answer};
        struct cordon_tools_options o = options_here(&seen);
        o.approval = rows[i].approval;
        test_row(i, rows[i].name);
        struct cordon_tools *t = open_tools(&o);
        for (int round = 0; t && round < 2; round++) {
            seen.log[0] = '\0';
            api_check_text(cordon_tools_call(t, "shell", "{\"command\":\"echo hi\"}", NULL, NULL),
                rows[i].part);
            bool asks = strcmp(rows[i].approval, "never") && (round == 0 || rows[i].asked_twice);
            CHECK_INT(api_has(seen.log, "\"tool\":\"shell\",\"kind\":\"run\""), asks);
            CHECK_INT(api_has(seen.log, "\"subject\":\"echo hi\""), asks);
        }
        cordon_tools_close(t);
        /* Without a way to ask, such a call is refused. */
        o.approve = NULL;
        t = open_tools(&o);
        api_check_text(cordon_tools_call(t, "shell", "{\"command\":\"echo hi\"}", NULL, NULL),
            strcmp(rows[i].approval, "never") ? "\"E_APPROVAL_REQUIRED\"" : "\"status\":\"ok\"");
        cordon_tools_close(t);
    }
    api_home_end();
}

TEST(api_tools_refuse_wrong_options)
{
    static const struct {
        const char *name;
        struct cordon_tools_options o;
        const char *code, *part;
    } rows[] = {
        {"an unknown mode", {.mode = "open"}, "E_CLI_INVALID_ARG", "invalid mode 'open'"},
        {"an unknown approval", {.approval = "ask"}, "E_CLI_INVALID_ARG", "approval 'ask'"},
        {"an unknown sandbox", {.sandbox = "no"}, "E_CLI_INVALID_ARG", "sandbox 'no'"},
        {"an unacknowledged one", {.sandbox = "landlock"}, "E_POLICY_DENIED", "acknowledge"},
        {"another bit", {.ack_unsafe = CORDON_ACK_ENV}, "E_CLI_INVALID_ARG", "ack_unsafe"},
        {"two policies", {.policy = "{\"policy_version\":4}", .preset = "build"},
            "E_CLI_INVALID_ARG", "combined"},
        {"no policy", {.policy = "{"}, "E_PROTOCOL", "policy"},
        {"an unknown preset", {.preset = "buidl"}, "E_NOT_FOUND", "'build'"},
        {"a workspace without its mode", {.workspace = "w"}, "E_CLI_INVALID_ARG", "workspace"},
        {"no directory", {.dir = "/no/such"}, "E_IO", "/no/such"},
        {"no box", {.box = "unknown-name"}, "E_NOT_FOUND", "unknown-name"},
        {"a box with a directory", {.box = "unknown-name", .dir = "/"}, "E_CLI_INVALID_ARG", "box"},
    };
    api_home_begin();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cordon_error error = {0};
        struct cordon_tools_options o = rows[i].o;
        o.size = sizeof(o);
        test_row(i, rows[i].name);
        CHECK(!cordon_tools_open(&o, &error));
        api_check_error(&error, rows[i].code, rows[i].part);
    }
    api_home_end();
}

/* Several at once, each with its own directory: there is no state of the process. */
TEST(api_tools_side_by_side)
{
    struct seen seen[2] = {{.log = ""}};
    struct cordon_tools *t[2];
    for (int i = 0; i < 2; i++) {
        struct cordon_tools_options o = options_here(&seen[i]);
        o.dir = test_path("work%d", i);
        test_write(test_path("work%d/name", i), i ? "second" : "first");
        t[i] = open_tools(&o);
    }
    for (int i = 0; i < 2; i++) {
        api_check_text(cordon_tools_call(t[i], "read_file", "{\"path\":\"name\"}", NULL, NULL),
            i ? "second" : "first");
        api_check_text(cordon_tools_call(t[i], "shell", "{\"command\":\"cat name\"}", NULL, NULL),
            i ? "second" : "first");
        cordon_tools_close(t[i]);
    }
    api_home_end();
}

/* Cancellation -------------------------------------------------------------------------------- */

TEST(api_tools_cancel)
{
    static const struct {
        const char *tool, *arguments;
    } rows[] = {
        {"shell", "{\"command\":\"touch started; sleep 100\",\"timeout_ms\":90000}"},
        {"exec_command", "{\"cmd\":\"touch started; sleep 100\",\"yield_time_ms\":90000}"},
    };
    struct seen seen = {0};
    struct cordon_tools_options o = options_here(&seen);
    struct cordon_tools *t = open_tools(&o);
    for (size_t i = 0; t && i < ARRAY_LEN(rows); i++) {
        struct cordon_error error = {0};
        struct cordon_cancel *cancel = cordon_cancel_new(&error);
        struct api_trigger trigger;
        test_row(i, rows[i].tool);
        uint64_t begun = clock_mono_ms();
        api_trigger_begin(&trigger, "work/started", cancel);
        api_check_text(cordon_tools_call(t, rows[i].tool, rows[i].arguments, cancel, &error),
            "\"E_CANCELED\"");
        CHECK(clock_mono_ms() - begun < LONG_MS);
        api_trigger_end(&trigger);
        CHECK(!cordon_tools_call(t, rows[i].tool, rows[i].arguments, cancel, &error));
        api_check_error(&error, "E_CANCELED", "before");
        cordon_cancel_free(cancel);
        /* The next call is not affected. */
        api_check_text(cordon_tools_call(t, "shell", "{\"command\":\"echo next\"}", NULL, &error),
            "\"status\":\"ok\"");
    }
    cordon_tools_close(t);
    api_home_end();
}

/* Sessions between calls ---------------------------------------------------------------------- */

TEST(api_tools_read_sessions)
{
    struct seen seen = {0};
    struct cordon_tools_options o = options_here(&seen);
    struct cordon_tools *t = open_tools(&o);
    struct pollfd wait = {.fd = cordon_tools_descriptor(t), .events = POLLIN};
    CHECK_INT(poll(&wait, 1, 0), 0);
    /* It prints more than a terminal buffers, then writes a file. */
    api_check_text(
        cordon_tools_call(t, "exec_command",
            "{\"cmd\":\"read x; seq 20000; echo done > e; mv e end\",\"yield_time_ms\":0}", NULL,
            NULL),
        "\"session_id\":1");
    api_check_text(cordon_tools_call(t, "write_stdin",
                       "{\"session_id\":1,\"chars\":\"\\n\",\"yield_time_ms\":0}", NULL, NULL),
        "session");
    char *end = NULL;
    for (uint64_t until = clock_mono_ms() + LONG_MS; !end && clock_mono_ms() < until;) {
        if (poll(&wait, 1, 100) > 0)
            cordon_tools_process(t);
        end = test_read(test_path("work/end"));
    }
    CHECK_Z(end, "done\n");
    free(end);
    while (poll(&wait, 1, 500) > 0)
        cordon_tools_process(t);
    cordon_tools_process(t);
    CHECK_INT(poll(&wait, 1, 0), 0);
    cordon_tools_close(t);
    api_home_end();
}
