/* The public API as a program uses it: each call, each way to fail, from several threads. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/id.h"
#include "base/json.h"
#include "cordon.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum {
    LONG_MS = 30 * 1000, /* for events that always happen */
};

#define SHELL_POLICY                                                                           \
    "{\"policy_version\":4,\"exec\":{\"allow_shell\":true,\"allowed_executables\":"            \
    "[\"/usr/bin/bash\",\"/usr/bin/sleep\",\"/usr/bin/setsid\",\"/usr/bin/env\"]},\"env\":{"   \
    "\"inherit\":true,\"allowlist\":[\"GREETING\"],\"set\":{\"PATH\":\"/usr/bin\"}},\"budgets" \
    "\":{\"max_runtime_ms\":%d,\"max_wait_ms\":60000}}"

static const char *shell_policy(int runtime_ms)
{
    static char text[1024];
    snprintf(text, sizeof(text), SHELL_POLICY, runtime_ms);
    return text;
}

#define SCENARIO(command, steps) \
    "{\"scenario_version\":1,\"run\":{\"command\":\"" command "\"},\"steps\":[" steps "]}"
#define TYPE_HELLO                                                                             \
    "{\"id\":\"type\",\"name\":\"say hello\",\"action\":{\"type\":\"text\",\"payload\":{"      \
    "\"text\":\"hello\\r\"}},\"assert\":[{\"type\":\"screen_contains\",\"payload\":{\"text\":" \
    "\"hello\\nhello\"}}],\"timeout_ms\":30000}"
#define END_INPUT                                                                                 \
    "{\"id\":\"end\",\"action\":{\"type\":\"key\",\"payload\":{\"key\":\"Ctrl+d\"}},\"assert\":[" \
    "{\"type\":\"exit_code\",\"payload\":{\"code\":0}}],\"timeout_ms\":30000}"
#define WAIT_FOR(id, text, ms)                                                               \
    "{\"id\":\"" id "\",\"action\":{\"type\":\"wait\",\"payload\":{\"condition\":{\"type\":" \
    "\"screen_contains\",\"payload\":{\"text\":\"" text "\"}}}},\"timeout_ms\":" #ms "}"
static const char good[] = SCENARIO("/usr/bin/cat", TYPE_HELLO "," END_INPUT);

static bool has(const char *text, const char *part)
{
    return text && strstr(text, part);
}

/* Checks the error, and clears it. */
static void check_error(struct cordon_error *error, const char *code, const char *part)
{
    CHECK_Z(error->code ? error->code : "no error", code);
    if (!CHECK(has(error->message, part)))
        printf("# the message is: %s\n", error->message ? error->message : "none");
    CHECK(has(error->json, code));
    cordon_error_clear(error);
}

static void show_error(const struct cordon_error *error)
{
    if (error->code)
        printf("# %s: %s\n", error->code, error->message);
}

static size_t count_fds(void)
{
    size_t n = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n;
}

/* Processes with this word as their second argument, which excludes shells with it in a script. */
static size_t count_processes(const char *word)
{
    size_t n = 0;
    char path[64], line[512];
    DIR *dir = opendir("/proc");
    for (struct dirent *e; dir && (e = readdir(dir));) {
        snprintf(path, sizeof(path), "/proc/%.20s/cmdline", e->d_name);
        FILE *f = fopen(path, "re");
        if (!f)
            continue;
        size_t got = fread(line, 1, sizeof(line) - 2, f);
        fclose(f);
        line[got] = line[got + 1] = '\0'; /* an empty second argument if there is only one */
        n += got && strcmp(line + strlen(line) + 1, word) == 0;
    }
    if (dir)
        closedir(dir);
    return n;
}

/* Scenarios ----------------------------------------------------------------------------------- */

struct seen {
    char log[1024];
    struct buf output;
    struct cordon_cancel *cancel; /* triggered when the first step begins */
};

static void note_progress(void *context, const struct cordon_progress *p)
{
    struct seen *s = context;
    size_t n = strlen(s->log);
    snprintf(s->log + n, sizeof(s->log) - n, "%zu/%zu %s '%s' %s%s%s;", p->index, p->count,
        p->step_id, p->name, p->status ? p->status : "begins", p->error_code ? " " : "",
        p->error_code ? p->error_code : "");
    if (s->cancel)
        cordon_cancel_trigger(s->cancel);
}

static void note_output(void *context, const void *bytes, size_t n)
{
    struct seen *s = context;
    buf_add(&s->output, bytes, n);
}

static struct cordon_run_options options_of(struct seen *seen)
{
    return (struct cordon_run_options){.size = sizeof(struct cordon_run_options),
        .progress = note_progress,
        .output = note_output,
        .context = seen};
}

TEST(api_runs_a_scenario)
{
    struct cordon_error error = {0};
    struct seen seen = {.output = BUF_INIT(1 << 20)};
    const struct cordon_run_options options = options_of(&seen);
    struct cordon_result *r = cordon_run_scenario(good, &options, &error);
    show_error(&error);
    if (!CHECK(r != NULL))
        return;
    AUTO_JSON json_t *tree = NULL;
    AUTO_ERR struct err err = {0};
    CHECK_OK(json_parse(str_z(cordon_result_json(r)), "result", E_PROTOCOL, &tree, &err), &err);
    CHECK_INT(json_integer_value(json_object_get(tree, "run_result_version")), 1);
    CHECK_Z(json_string_value(json_object_get(tree, "run_id")), cordon_result_run_id(r));
    CHECK_Z(cordon_result_status(r), "passed");
    CHECK(!cordon_result_error_code(r) && !cordon_result_error_message(r));
    CHECK_INT(cordon_result_steps(r), 2);
    CHECK_Z(cordon_result_step_id(r, 0), "type");
    CHECK_Z(cordon_result_step_name(r, 0), "say hello");
    CHECK_Z(cordon_result_step_name(r, 1), "end");
    CHECK_Z(cordon_result_step_status(r, 1), "passed");
    CHECK(cordon_result_step_duration_ms(r, 0) <= cordon_result_duration_ms(r));
    CHECK(!cordon_result_step_error_code(r, 0) && !cordon_result_step_id(r, 2));
    CHECK_INT(cordon_result_step_duration_ms(r, 2), 0);
    CHECK_INT(cordon_result_exit(r).code, 0);
    CHECK(has(cordon_result_screen(r), "hello\nhello\n"));
    CHECK_Z(seen.log, "0/2 type 'say hello' begins;0/2 type 'say hello' passed;"
                      "1/2 end 'end' begins;1/2 end 'end' passed;");
    CHECK(has(buf_z(&seen.output), "hello\r\nhello"));
    buf_done(&seen.output);
    cordon_result_free(r);
}

TEST(api_failures_of_a_scenario_are_results)
{
    static const struct {
        const char *name, *text, *status, *code, *first, *second;
    } rows[] = {
        {"an assertion",
            SCENARIO("/usr/bin/cat",
                "{\"id\":\"a\",\"action\":{\"type\":\"text\",\"payload\":{\"text\":\"x\"}},"
                "\"assert\":[{\"type\":\"screen_contains\",\"payload\":{\"text\":\"y\"}}],"
                "\"timeout_ms\":50}," END_INPUT),
            "failed", "E_ASSERTION_FAILED", "failed", "skipped"},
        {"a wait", SCENARIO("/usr/bin/cat", WAIT_FOR("a", "never", 50) "," END_INPUT), "errored",
            "E_TIMEOUT", "errored", "skipped"},
        {"an early end", SCENARIO("/usr/bin/true", WAIT_FOR("a", "never", 30000) "," END_INPUT),
            "errored", "E_PROCESS_EXIT", "errored", "skipped"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cordon_error error = {0};
        test_row(i, rows[i].name);
        struct cordon_result *r = cordon_run_scenario(rows[i].text, NULL, &error);
        show_error(&error);
        if (!CHECK(r != NULL))
            continue;
        CHECK_Z(cordon_result_status(r), rows[i].status);
        CHECK_Z(cordon_result_error_code(r), rows[i].code);
        CHECK_Z(cordon_result_step_status(r, 0), rows[i].first);
        CHECK_Z(cordon_result_step_error_code(r, 0), rows[i].code);
        CHECK(has(cordon_result_step_error_message(r, 0), "step 'a'"));
        CHECK_Z(cordon_result_step_status(r, 1), rows[i].second);
        cordon_result_free(r);
    }
}

TEST(api_refuses_wrong_scenarios)
{
    static const struct {
        const char *name, *text, *policy, *code, *message, *context;
    } rows[] = {
        {"no JSON", "{\"scenario_version\": 1,\n \"run\": }", NULL, "E_PROTOCOL",
            "scenario:2:", "\"line\":2"},
        {"no object", "[]", NULL, "E_PROTOCOL", "expected an object", "{"},
        {"an unknown field", "{\"scenario_version\":1,\n\"run\":{\"command\":\"/x\",\"argz\":[]}}",
            NULL, "E_PROTOCOL", "scenario:2:", "run.argz"},
        {"an unknown action",
            "scenario_version: 1\nrun: {command: /usr/bin/cat}\nsteps:\n- id: a\n"
            "  action: {type: presss}\n",
            NULL, "E_PROTOCOL", "scenario:5:", "steps[0].action"},
        {"the same id twice", SCENARIO("/usr/bin/cat", END_INPUT "," END_INPUT), NULL, "E_PROTOCOL",
            "'end'", "steps[1].id"},
        {"another version", "{\"scenario_version\":2,\"run\":{\"command\":\"/x\"},\"steps\":[]}",
            NULL, "E_PROTOCOL_VERSION_MISMATCH", "2", "supported_version"},
        {"a policy that denies it", good, "{\"policy_version\":4}", "E_POLICY_DENIED",
            "allowed_executables", "\"field\":\"command\""},
        {"a policy with an unknown field", good, "{\"policy_version\":4,\"netwrk\":1}",
            "E_PROTOCOL", "did you mean 'network'", "\"line\":1"},
        {"a policy that is not JSON", good, "{\"policy_version\":4", "E_PROTOCOL",
            "policy:1:", "\"file\":\"policy\""},
        {"more steps than the budget", good,
            "{\"policy_version\":4,\"exec\":{\"allowed_executables\":[\"/usr/bin/cat\"]},"
            "\"budgets\":{\"max_steps\":1}}",
            "E_TIMEOUT", "2 steps", "\"budget\":\"max_steps\""},
        {"no such program", SCENARIO("/no/such", END_INPUT), NULL, "E_CLI_INVALID_ARG",
            "the program '/no/such' does not exist", "{"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cordon_error error = {0};
        const struct cordon_run_options options = {
            .size = sizeof(options), .policy = rows[i].policy};
        test_row(i, rows[i].name);
        CHECK(!cordon_run_scenario(rows[i].text, &options, &error));
        if (!CHECK(has(error.json, rows[i].context)))
            printf("# the error is: %s\n", error.json ? error.json : "none");
        check_error(&error, rows[i].code, rows[i].message);
    }
}

TEST(api_scenario_files)
{
    struct cordon_error error = {0};
    const char *path = test_path("a.json");
    test_write(path, good);
    struct cordon_result *r = cordon_run_scenario_file(path, NULL, &error);
    show_error(&error);
    CHECK_Z(r ? cordon_result_status(r) : "none", "passed");
    cordon_result_free(r);
    test_write(path, "{\n\"scenario_version\": true}");
    CHECK(!cordon_run_scenario_file(path, NULL, &error));
    CHECK(has(error.message, path) && has(error.json, "\"line\":2"));
    check_error(&error, "E_PROTOCOL", "scenario_version");
    CHECK(!cordon_run_scenario_file(test_path("none.json"), NULL, &error));
    check_error(&error, "E_IO", "none.json");
    CHECK(!cordon_run_scenario_file(test_path("none.json"), NULL, NULL)); /* no error wanted */
    /* Goldens are compared, never written. */
    test_write(path, SCENARIO("/usr/bin/cat",
                         "{\"id\":\"g\",\"action\":{\"type\":\"text\",\"payload\":{\"text\":\"x\"}"
                         "},\"timeout_ms\":100,\"assert\":[{\"type\":\"screen_matches_golden\","
                         "\"payload\":{\"file\":\"g.txt\"}}]}"));
    r = cordon_run_scenario_file(path, NULL, &error);
    CHECK_Z(r ? cordon_result_error_code(r) : "none", "E_ASSERTION_FAILED");
    CHECK_INT(access(test_path("g.txt"), F_OK), -1);
    cordon_result_free(r);
}

/* %s in a row stands for a directory that only this test uses. */
static void add_with_dir(struct buf *text, const char *policy)
{
    const char *place = strstr(policy, "%s");
    if (!place) {
        buf_add_z(text, policy);
        return;
    }
    buf_add_str(text, str_n(policy, (size_t)(place - policy)));
    buf_add_z(text, test_dir());
    buf_add_z(text, place + 2);
}

/* A scenario's own policy: its own acknowledgements do not count as the caller's. */
TEST(api_scenarios_need_acknowledgements)
{
    static const struct {
        const char *policy;
        uint64_t ack;
        const char *missing;
    } rows[] = {
        {"", CORDON_ACK_SANDBOX, NULL},
        {",\"network\":\"enabled\"", 0, "--ack-unsafe-network"},
        {",\"network\":\"enabled\"", CORDON_ACK_SANDBOX, "--ack-unsafe-network"},
        {",\"network\":\"enabled\"", CORDON_ACK_NETWORK, NULL},
        {",\"sandbox\":\"landlock\"", 0, "--ack-unsafe-sandbox"},
        {",\"sandbox\":\"none\"", CORDON_ACK_SANDBOX, NULL},
        {",\"allow_unix_sockets\":true", CORDON_ACK_NETWORK, "--ack-unsafe-sockets"},
        {",\"allow_unix_sockets\":true", CORDON_ACK_SOCKETS, NULL},
        {",\"env\":{\"inherit\":true}", 0, "--ack-unsafe-env"},
        {",\"env\":{\"inherit\":true}", CORDON_ACK_ENV, NULL},
        {",\"fs\":{\"allowed_write\":[\"%s\"]}", 0, "--ack-unsafe-write"},
        {",\"fs\":{\"allowed_write\":[\"%s\"]}", CORDON_ACK_WRITE, NULL},
        {",\"env\":{\"inherit\":true},\"sandbox\":\"none\"", 0,
            "--ack-unsafe-sandbox --ack-unsafe-env"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_BUF struct buf text = BUF_INIT(4096), want = BUF_INIT(256);
        struct cordon_error error = {0};
        struct cordon_run_options options = {.size = sizeof(options), .ack_unsafe = rows[i].ack};
        test_row(i, rows[i].policy);
        buf_printf(&text,
            "{\"scenario_version\":1,\"run\":{\"command\":\"/usr/bin/true\",\"policy\":{"
            "\"policy_version\":4,\"sandbox_unsafe_ack\":true,\"network_unsafe_ack\":true,"
            "\"unix_sockets_unsafe_ack\":true,\"fs_write_unsafe_ack\":true,\"exec\":{"
            "\"allowed_executables\":[\"/usr/bin/true\"]}");
        add_with_dir(&text, rows[i].policy);
        buf_add_str(&text, STR("}},\"steps\":[]}"));
        struct cordon_result *r = cordon_run_scenario(buf_z(&text), &options, &error);
        if (rows[i].missing) {
            buf_printf(&want, "\"missing\":\"%s\"", rows[i].missing);
            CHECK(!r && has(error.json, buf_z(&want)));
            check_error(&error, "E_POLICY_DENIED", rows[i].missing);
        } else {
            show_error(&error);
            CHECK_Z(r ? cordon_result_status(r) : "none", "passed");
        }
        cordon_result_free(r);
        /* A policy from the caller takes precedence. */
        options.ack_unsafe = 0;
        options.policy =
            "{\"policy_version\":4,\"exec\":{\"allowed_executables\":[\"/usr/bin/true\"]}}";
        r = cordon_run_scenario(buf_z(&text), &options, &error);
        CHECK_Z(r ? cordon_result_status(r) : "none", "passed");
        cordon_result_free(r);
        cordon_error_clear(&error);
    }
    test_row(0, NULL);
    struct cordon_error error = {0};
    const struct cordon_run_options unknown = {
        .size = sizeof(unknown), .ack_unsafe = UINT64_C(1) << 40};
    CHECK(!cordon_run_scenario(good, &unknown, &error));
    check_error(&error, "E_CLI_INVALID_ARG", "ack_unsafe");
}

/* Commands ------------------------------------------------------------------------------------ */

TEST(api_runs_commands)
{
    static const struct {
        const char *name;
        const char *argv[4];
        int pipes, runtime_ms;
        const char *status, *code, *screen, *output;
        int exit_code, signal;
    } rows[] = {
        {"one that succeeds", {"/usr/bin/bash", "-c", "echo out"}, 0, 0, "passed", NULL, "out\n",
            "out\r\n", 0, 0},
        {"on pipes", {"/usr/bin/bash", "-c", "echo out; echo err >&2; test ! -t 1"}, 1, 0, "passed",
            NULL, NULL, "out\n", 0, 0},
        {"one that fails", {"/usr/bin/bash", "-c", "exit 7"}, 0, 0, "failed", "E_PROCESS_EXIT",
            "\n", "", 7, 0},
        {"one that is killed", {"/usr/bin/bash", "-c", "kill -SEGV $$"}, 0, 0, "failed",
            "E_PROCESS_EXIT", "\n", "", -1, 11},
        {"over its budget", {"/usr/bin/sleep", "60"}, 0, 100, "errored", "E_TIMEOUT", "\n", "", -1,
            9},
        {"no input", {"/usr/bin/bash", "-c", "read x || echo none"}, 0, 0, "passed", NULL, "none\n",
            "none\r\n", 0, 0},
        {"its environment", {"/usr/bin/bash", "-c", "echo $GREETING$HOME"}, 1, 0, "passed", NULL,
            NULL, "hi\n", 0, 0},
    };
    static const char *const environ_given[] = {"GREETING=hi", "HOME=/secret", NULL};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cordon_error error = {0};
        const struct cordon_command command = {
            .size = sizeof(command), .argv = rows[i].argv, .pipes = rows[i].pipes};
        const struct cordon_run_options options = {.size = sizeof(options),
            .policy = shell_policy(rows[i].runtime_ms ? rows[i].runtime_ms : LONG_MS),
            .environ = environ_given};
        test_row(i, rows[i].name);
        struct cordon_result *r = cordon_run_exec(&command, &options, &error);
        show_error(&error);
        if (!CHECK(r != NULL))
            continue;
        CHECK_Z(cordon_result_status(r), rows[i].status);
        CHECK_Z(cordon_result_error_code(r), rows[i].code);
        CHECK_INT(cordon_result_exit(r).code, rows[i].exit_code);
        CHECK_INT(cordon_result_exit(r).signal, rows[i].signal);
        CHECK_INT(cordon_result_exit(r).terminated_by_harness, rows[i].runtime_ms != 0);
        CHECK(rows[i].screen
                  ? str_starts_with(str_z(cordon_result_screen(r)), str_z(rows[i].screen))
                  : !cordon_result_screen(r));
        CHECK(has(cordon_result_output(r), rows[i].output));
        CHECK_INT(cordon_result_steps(r), 0);
        cordon_result_free(r);
    }
}

TEST(api_refuses_wrong_structures)
{
    static const char *const none[] = {NULL}, *const cat[] = {"/usr/bin/cat", NULL};
    struct {
        struct cordon_command known;
        long more;
    } longer = {{.size = sizeof(longer), .argv = cat}, 0};
    const struct {
        const char *name;
        struct cordon_command command;
        const char *message;
    } rows[] = {
        {"no size", {.argv = cat}, "set it to sizeof(struct cordon_command)"},
        {"no argv", {.size = sizeof(longer.known)}, "argv is empty"},
        {"an empty argv", {.size = sizeof(longer.known), .argv = none}, "argv is empty"},
        {"too many rows", {.size = sizeof(longer.known), .argv = cat, .rows = 501},
            "at most 500 rows"},
    };
    struct cordon_error error = {0};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].name);
        CHECK(!cordon_run_exec(&rows[i].command, NULL, &error));
        check_error(&error, "E_CLI_INVALID_ARG", rows[i].message);
        CHECK(!cordon_session_spawn(&rows[i].command, NULL, &error));
        check_error(&error, "E_CLI_INVALID_ARG", rows[i].message);
    }
    CHECK(!cordon_run_exec(NULL, NULL, &error));
    check_error(&error, "E_CLI_INVALID_ARG", "argv is empty");
    CHECK(!cordon_run_scenario(good, &(struct cordon_run_options){.artifacts = "x"}, &error));
    check_error(&error, "E_CLI_INVALID_ARG", "struct cordon_run_options");
    longer.known.pipes = 1;
    CHECK(!cordon_session_spawn(&longer.known, NULL, &error));
    check_error(&error, "E_CLI_INVALID_ARG", "a session has a terminal");
    struct cordon_result *r = cordon_run_exec(&longer.known, NULL, &error);
    CHECK_Z(r ? cordon_result_status(r) : "none", "passed");
    cordon_result_free(r);
    longer.more = 1;
    CHECK(!cordon_run_exec(&longer.known, NULL, &error));
    check_error(&error, "E_CLI_INVALID_ARG", "does not support");
}

/* Cancellation -------------------------------------------------------------------------------- */

static void *trigger(void *cancel)
{
    cordon_cancel_trigger(cancel);
    return NULL;
}

/* Triggers from another thread once there is output: in the middle, regardless of timing. */
static void cancel_at_output(void *context, const void *bytes, size_t n)
{
    struct seen *s = context;
    pthread_t thread;
    (void)bytes, (void)n;
    if (s->cancel && pthread_create(&thread, NULL, trigger, s->cancel) == 0)
        pthread_join(thread, NULL);
}

static void check_canceled(struct cordon_result *r, const struct cordon_error *error)
{
    show_error(error);
    if (!CHECK(r != NULL))
        return;
    CHECK_Z(cordon_result_status(r), "canceled");
    CHECK_Z(cordon_result_error_code(r), "E_CANCELED");
    CHECK_INT(cordon_result_exit(r).terminated_by_harness, 1);
    cordon_result_free(r);
}

TEST(api_cancels_in_the_middle)
{
    static const char *const argv[] = {
        "/usr/bin/bash", "-c", "trap '' TERM; echo here; sleep 1000", NULL};
    struct cordon_error error = {0};
    struct seen seen = {.cancel = cordon_cancel_new(&error)};
    struct cordon_run_options options = {.size = sizeof(options),
        .policy = shell_policy(LONG_MS),
        .cancel = seen.cancel,
        .output = cancel_at_output,
        .context = &seen};
    struct cordon_command command = {.size = sizeof(command), .argv = argv};
    test_row(0, "a command on a terminal");
    check_canceled(cordon_run_exec(&command, &options, &error), &error);
    cordon_cancel_free(seen.cancel);
    test_row(1, "a command on pipes");
    options.cancel = seen.cancel = cordon_cancel_new(&error);
    command.pipes = 1;
    check_canceled(cordon_run_exec(&command, &options, &error), &error);
    cordon_cancel_free(seen.cancel);
    test_row(2, "a scenario");
    options.policy = NULL;
    options.cancel = seen.cancel = cordon_cancel_new(&error);
    options.progress = note_progress;
    options.output = NULL;
    check_canceled(
        cordon_run_scenario(SCENARIO("/usr/bin/cat", WAIT_FOR("a", "never", 30000) "," END_INPUT),
            &options, &error),
        &error);
    CHECK_Z(seen.log, "0/2 a 'a' begins;0/2 a 'a' errored E_CANCELED;");
    cordon_cancel_free(seen.cancel);
}

TEST(api_canceled_before_it_starts)
{
    static const char *const argv[] = {"/usr/bin/cat", NULL};
    struct cordon_error error = {0};
    struct cordon_cancel *cancel = cordon_cancel_new(&error);
    const struct cordon_run_options options = {
        .size = sizeof(options), .cancel = cancel, .artifacts = test_path("record")};
    const struct cordon_command command = {.size = sizeof(command), .argv = argv};
    cordon_cancel_trigger(cancel);
    cordon_cancel_trigger(cancel);
    CHECK(!cordon_run_scenario(good, &options, &error));
    CHECK_INT(error.exit_status, 130);
    check_error(&error, "E_CANCELED", "before it was started");
    CHECK(!cordon_run_exec(&command, &options, &error));
    check_error(&error, "E_CANCELED", "before it was started");
    CHECK(!cordon_session_spawn(&command, &options, &error));
    check_error(&error, "E_CANCELED", "before it was started");
    CHECK_INT(access(test_path("record"), F_OK), -1);
    cordon_cancel_free(cancel);
    cordon_cancel_free(NULL);
}

/* Sessions ------------------------------------------------------------------------------------ */

static struct cordon_session *spawn(
    const char *const *argv, const struct cordon_run_options *options)
{
    struct cordon_error error = {0};
    const struct cordon_command command = {
        .size = sizeof(command), .argv = argv, .rows = 10, .cols = 40};
    struct cordon_session *s = cordon_session_spawn(&command, options, &error);
    show_error(&error);
    cordon_error_clear(&error);
    CHECK(s != NULL);
    return s;
}

static struct cordon_session *spawn_cat(void)
{
    static const char *const argv[] = {"/usr/bin/cat", NULL};
    return spawn(argv, NULL);
}

static struct cordon_session *spawn_bash(const char *script)
{
    const char *const argv[] = {"/usr/bin/bash", "-c", script, NULL};
    const struct cordon_run_options options = {
        .size = sizeof(options), .policy = shell_policy(LONG_MS)};
    return spawn(argv, &options);
}

TEST(api_drives_a_session)
{
    struct cordon_error error = {0};
    struct cordon_exit end = {.code = 99};
    struct cordon_session *s = spawn_cat();
    if (!s)
        return;
    CHECK(id_valid(str_z(cordon_session_id(s))));
    CHECK_INT(cordon_session_wait_for_exit(s, 0, &end, &error), 0);
    CHECK_INT(end.code, 99);
    CHECK_INT(cordon_session_send_text(s, "one", &error), 0);
    struct cordon_observation *o = cordon_session_observe(s, CORDON_SCREEN_FULL, LONG_MS, &error);
    if (CHECK(o != NULL)) {
        CHECK(has(cordon_observation_screen(o), "one\n"));
        CHECK_Z(cordon_observation_output(o), "one");
        CHECK_INT(cordon_observation_cursor_row(o), 0);
        CHECK_INT(cordon_observation_cursor_col(o), 3);
        CHECK(has(cordon_observation_json(o), cordon_session_id(s)));
        CHECK_INT(cordon_observation_events(o), 0);
        CHECK(!cordon_observation_event_type(o, 0));
    }
    cordon_observation_free(o);
    CHECK_INT(cordon_session_send_key(s, "Enter", &error), 0);
    CHECK_INT(cordon_session_wait_for_text(s, "one\none", LONG_MS, &error), 0);
    o = cordon_session_observe(s, CORDON_SCREEN_DELTA, 0, &error);
    CHECK(o && has(cordon_observation_json(o), "\"changed\":{\"1\":\"one\"}"));
    CHECK(o && !cordon_observation_screen(o));
    cordon_observation_free(o);
    CHECK_INT(cordon_session_wait_for(
                  s, "{\"type\":\"cursor_at\",\"payload\":{\"row\":2,\"col\":0}}", LONG_MS, &error),
        0);
    CHECK_INT(cordon_session_send(
                  s, "{\"type\":\"resize\",\"payload\":{\"rows\":5,\"cols\":20}}", &error),
        0);
    o = cordon_session_observe(s, CORDON_SCREEN_CELLS, 0, &error);
    CHECK(o && has(cordon_observation_json(o), "\"cells\":"));
    CHECK_Z(o ? cordon_observation_event_type(o, 0) : NULL, "resize");
    cordon_observation_free(o);
    CHECK_INT(cordon_session_send_key(s, "Ctrl+d", &error), 0);
    CHECK_INT(cordon_session_wait_for_exit(s, LONG_MS, &end, &error), 1);
    CHECK_INT(end.code, 0);
    CHECK_INT(end.terminated_by_harness, 0);
    struct cordon_result *r = cordon_session_finish(s, &error);
    show_error(&error);
    CHECK_Z(r ? cordon_result_status(r) : "none", "passed");
    CHECK(r && has(cordon_result_screen(r), "one\none\n"));
    cordon_result_free(r);
    CHECK(!cordon_session_finish(s, &error));
    check_error(&error, "E_CLI_INVALID_ARG", "already finished");
    cordon_session_free(s);
}

TEST(api_refuses_wrong_actions)
{
    static const struct {
        const char *name, *action, *code, *message;
    } rows[] = {
        {"no JSON", "{\"type\":", "E_PROTOCOL", "action:1:"},
        {"no object", "3", "E_PROTOCOL", "action"},
        {"an unknown type", "{\"type\":\"keyy\"}", "E_PROTOCOL", "did you mean 'key'"},
        {"an unknown field", "{\"type\":\"key\",\"payload\":{\"kee\":\"a\"}}", "E_PROTOCOL",
            "did you mean 'key'"},
        {"an unknown key", "{\"type\":\"key\",\"payload\":{\"key\":\"NoSuch\"}}", "E_PROTOCOL",
            "action.payload.key"},
        {"a mouse without reports enabled",
            "{\"type\":\"mouse\",\"payload\":{\"button\":\"left\",\"event\":\"click\",\"row\":0,"
            "\"col\":0}}",
            "E_PROTOCOL", "has not enabled these mouse reports"},
    };
    struct cordon_error error = {0};
    struct cordon_session *s = spawn_cat();
    for (size_t i = 0; s && i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].name);
        CHECK_INT(cordon_session_send(s, rows[i].action, &error), -1);
        check_error(&error, rows[i].code, rows[i].message);
    }
    if (!s)
        return;
    CHECK_INT(cordon_session_wait_for(s, "{\"type\":\"nothing\"}", 0, &error), -1);
    check_error(&error, "E_PROTOCOL", "condition");
    CHECK_INT(cordon_session_wait_for_text(s, "never", 20, &error), -1);
    CHECK(has(error.json, "\"budget\":\"timeout_ms\"") && has(error.json, "\"screen\""));
    check_error(&error, "E_TIMEOUT", "within 20 ms");
    CHECK(!cordon_session_observe(s, (enum cordon_screen)7, 0, &error));
    check_error(&error, "E_CLI_INVALID_ARG", "7");
    CHECK_INT(cordon_session_send(s, "{\"type\":\"terminate\"}", &error), 0);
    CHECK_INT(cordon_session_send_key(s, "a", &error), -1);
    check_error(&error, "E_PROCESS_EXIT", "has ended");
    CHECK_INT(cordon_session_wait_for_text(s, "never", LONG_MS, &error), -1);
    check_error(&error, "E_PROCESS_EXIT", "has ended");
    cordon_session_free(s);
    cordon_session_free(NULL);
}

TEST(api_terminates_sessions)
{
    static const struct {
        const char *name, *script;
        uint64_t grace_ms; /* 0: the library's; a busy machine needs more to run it once */
        int code, signal;
    } rows[] = {
        {"one that obeys", "echo ready; exec sleep 1000", LONG_MS, -1, 15},
        {"one that says goodbye", "trap 'exit 3' TERM; echo ready; while :; do read -t 1; done",
            LONG_MS, 3, 0},
        {"one that does not listen", "trap '' TERM HUP; echo ready; while :; do sleep 1000; done",
            0, -1, 9},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cordon_error error = {0};
        struct cordon_exit end = {0};
        test_row(i, rows[i].name);
        struct cordon_session *s = spawn_bash(rows[i].script);
        if (!s || !CHECK_INT(cordon_session_wait_for_text(s, "ready", LONG_MS, &error), 0))
            continue;
        if (rows[i].grace_ms)
            CHECK_INT(cordon_session_terminate_process_group(s, rows[i].grace_ms, NULL, &error), 0);
        else
            CHECK_INT(cordon_session_terminate(s, &error), 0);
        CHECK_INT(cordon_session_wait_for_exit(s, 0, &end, &error), 1);
        CHECK_INT(end.code, rows[i].code);
        CHECK_INT(end.signal, rows[i].signal);
        CHECK_INT(end.terminated_by_harness, 1);
        struct cordon_observation *o = cordon_session_observe(s, CORDON_SCREEN_FULL, 0, &error);
        CHECK(o && has(cordon_observation_screen(o), "ready"));
        cordon_observation_free(o);
        cordon_session_free(s);
        cordon_error_clear(&error);
    }
}

TEST(api_terminates_processes_that_left_the_group)
{
    char word[32], script[256];
    struct cordon_error error = {0};
    struct cordon_exit end = {0};
    snprintf(word, sizeof(word), "7%d", (int)getpid());
    snprintf(script, sizeof(script),
        "trap '' TERM HUP; setsid setsid sleep %s & disown; "
        "(setsid sleep %s &); echo ready; while :; do sleep 1000; done",
        word, word);
    struct cordon_session *s = spawn_bash(script);
    if (!s || !CHECK_INT(cordon_session_wait_for_text(s, "ready", LONG_MS, &error), 0))
        return;
    while (count_processes(word) < 2) /* they are still starting */
        cordon_observation_free(cordon_session_observe(s, CORDON_SCREEN_FULL, 10, &error));
    CHECK_INT(cordon_session_terminate_process_group(s, 50, &end, &error), 0);
    CHECK_INT(end.signal, 9);
    CHECK_INT(end.terminated_by_harness, 1);
    cordon_session_free(s);
    CHECK_INT(count_processes(word), 0);
}

TEST(api_budgets_and_cancellation_end_sessions)
{
    static const char *const argv[] = {"/usr/bin/sleep", "1000", NULL};
    struct cordon_error error = {0};
    struct cordon_cancel *cancel = cordon_cancel_new(&error);
    struct cordon_run_options options = {
        .size = sizeof(options), .policy = shell_policy(100), .cancel = cancel};
    for (int i = 0; i < 2; i++) {
        const char *code = i == 0 ? "E_TIMEOUT" : "E_CANCELED";
        test_row((size_t)i, code);
        struct cordon_session *s = spawn(argv, &options);
        if (!s)
            break;
        if (i == 1)
            cordon_cancel_trigger(cancel);
        CHECK_INT(cordon_session_wait_for_exit(s, LONG_MS, NULL, &error), -1);
        check_error(&error, code, "");
        CHECK(!cordon_session_observe(s, CORDON_SCREEN_FULL, LONG_MS, &error));
        check_error(&error, code, "");
        struct cordon_result *r = cordon_session_finish(s, &error);
        CHECK_Z(r ? cordon_result_status(r) : "none", i == 0 ? "errored" : "canceled");
        CHECK_Z(r ? cordon_result_error_code(r) : "none", code);
        cordon_result_free(r);
        cordon_session_free(s);
        options.policy = shell_policy(LONG_MS);
    }
    cordon_cancel_free(cancel);
}

/* Records ------------------------------------------------------------------------------------- */

static bool is_there(const char *dir, const char *name)
{
    struct stat st;
    return stat(test_path("%s/%s", dir, name), &st) == 0 && st.st_size > 0;
}

TEST(api_writes_records)
{
    static const char *const argv[] = {"/usr/bin/cat", NULL};
    struct cordon_error error = {0};
    struct cordon_run_options options = {
        .size = sizeof(options), .artifacts = test_path("run"), .cells = 1};
    struct cordon_result *r = cordon_run_scenario(good, &options, &error);
    show_error(&error);
    CHECK(r && has(cordon_result_json(r), "\"cells\""));
    cordon_result_free(r);
    CHECK(is_there("run", "run.json") && is_there("run", "checksums.json"));
    CHECK(is_there("run", "scenario.json") && is_there("run", "snapshots/0003.json"));
    CHECK(!cordon_run_scenario(good, &options, &error));
    check_error(&error, "E_CONFLICT", "run");
    for (int i = 0; i < 2; i++) {
        const char *dir = i ? "left" : "finished";
        options.artifacts = test_path("%s", dir);
        test_row((size_t)i, dir);
        struct cordon_session *s = spawn(argv, &options);
        if (!s)
            break;
        CHECK_INT(cordon_session_send_text(s, "kept", &error), 0);
        CHECK_INT(cordon_session_wait_for_text(s, "kept", LONG_MS, &error), 0);
        r = i ? NULL : cordon_session_finish(s, &error);
        CHECK(i || (r && has(cordon_result_screen(r), "kept")));
        cordon_result_free(r);
        cordon_session_free(s);
        CHECK(is_there(dir, "transcript.log"));
        CHECK_INT(is_there(dir, "run.json"), !i);
        CHECK_INT(is_there(dir, "snapshots/0001.json"), !i);
    }
}

/* Threads ------------------------------------------------------------------------------------- */

enum {
    THREADS = 8,
    ROUNDS = 3,
};

struct worker {
    pthread_t thread;
    size_t number, passed;
    char log[1024];
};

static bool work_session(const struct worker *w)
{
    static const char *const argv[] = {"/usr/bin/cat", NULL};
    const struct cordon_command command = {.size = sizeof(command), .argv = argv};
    struct cordon_error error = {0};
    char text[32];
    snprintf(text, sizeof(text), "I am %zu", w->number);
    struct cordon_session *s = cordon_session_spawn(&command, NULL, &error);
    bool ok = s && cordon_session_send_text(s, text, &error) == 0 &&
              cordon_session_wait_for_text(s, text, LONG_MS, &error) == 0 &&
              cordon_session_terminate(s, &error) == 0;
    cordon_session_free(s);
    cordon_error_clear(&error);
    return ok;
}

static void *work(void *context)
{
    struct worker *w = context;
    for (int i = 0; i < ROUNDS; i++) {
        struct cordon_error error = {0};
        struct seen seen = {.output = BUF_INIT(1 << 20)};
        const struct cordon_run_options options = options_of(&seen);
        struct cordon_result *r = cordon_run_scenario(good, &options, &error);
        bool ok = r && strcmp(cordon_result_status(r), "passed") == 0 &&
                  has(cordon_result_screen(r), "hello\nhello\n") && work_session(w);
        if (!ok)
            snprintf(w->log, sizeof(w->log), "%s", r ? cordon_result_json(r) : error.message);
        w->passed += ok;
        buf_done(&seen.output);
        cordon_result_free(r);
        cordon_error_clear(&error);
    }
    return NULL;
}

TEST(api_threads)
{
    struct worker workers[THREADS] = {0};
    for (size_t i = 0; i < THREADS; i++) {
        workers[i].number = i;
        CHECK_INT(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        if (!CHECK_INT(workers[i].passed, ROUNDS))
            printf("# thread %zu: %s\n", i, workers[i].log);
    }
}

TEST(api_leaves_nothing_behind)
{
    size_t before = count_fds();
    struct cordon_error error = {0};
    struct cordon_result *r = cordon_run_scenario(good, NULL, &error);
    CHECK(r != NULL);
    cordon_result_free(r);
    CHECK(!cordon_run_scenario("{}", NULL, &error));
    CHECK(!cordon_run_scenario(SCENARIO("/no/such", END_INPUT), NULL, &error));
    struct cordon_session *s = spawn_cat();
    cordon_session_free(s);
    cordon_error_clear(&error);
    CHECK_INT(count_fds(), before);
    CHECK_INT(waitpid(-1, NULL, WNOHANG), -1);
    CHECK_INT(errno, ECHILD);
}
