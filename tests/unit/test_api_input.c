/* The public API: presets, standard input of a command, sessions in an event loop. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "api_check.h"
#include "base/clock.h"
#include "test.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>

enum {
    LONG_MS = 30 * 1000, /* for events that always happen */
};

#define POLICY                                                                            \
    "{\"policy_version\":4,\"exec\":{\"allow_shell\":true,\"allowed_executables\":["      \
    "\"/usr/bin/bash\",\"/usr/bin/cat\",\"/usr/bin/sleep\"]},\"env\":{\"set\":{\"PATH\":" \
    "\"/usr/bin\"}},\"budgets\":{\"max_runtime_ms\":%d}}"

static const char *policy_of(int runtime_ms)
{
    static char text[1024];
    snprintf(text, sizeof(text), POLICY, runtime_ms);
    return text;
}

/* Presets ------------------------------------------------------------------------------------- */

TEST(api_presets)
{
    struct cordon_error error = {0};
    size_t n = 0;
    const char *const *names = cordon_preset_names();
    for (; names[n]; n++) {
        test_row(n, names[n]);
        char *policy = cordon_preset_policy(names[n], test_dir(), &error);
        api_check_ok(&error);
        CHECK(api_has(policy, test_dir()));
        /* A preset is a policy: that of `true` without further options. */
        const char *const argv[] = {"/usr/bin/true", NULL};
        const struct cordon_command command = {.size = sizeof(command), .argv = argv, .pipes = 1};
        const struct cordon_run_options options[] = {
            {.size = sizeof(options[0]), .policy = policy, .ack_unsafe = CORDON_ACK_WRITE},
            {.size = sizeof(options[0]), .preset = names[n], .root = test_dir()},
        };
        for (size_t i = 0; i < ARRAY_LEN(options); i++) {
            struct cordon_result *r = cordon_run_exec(&command, &options[i], &error);
            api_check_ok(&error);
            CHECK_Z(r ? cordon_result_status(r) : "none", "passed");
            cordon_result_free(r);
        }
        free(policy);
    }
    CHECK(n >= 6);
}

TEST(api_refuses_wrong_presets)
{
    static const struct {
        const char *name;
        struct cordon_run_options options;
        const char *code, *part;
    } rows[] = {
        {"an unknown one", {.preset = "buidl"}, "E_NOT_FOUND", "'build'"},
        {"with a policy", {.preset = "build", .policy = "{\"policy_version\":4}"},
            "E_CLI_INVALID_ARG", "combined"},
        {"a root alone", {.root = "/tmp"}, "E_CLI_INVALID_ARG", "root"},
    };
    const char *const argv[] = {"/usr/bin/true", NULL};
    const struct cordon_command command = {.size = sizeof(command), .argv = argv};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cordon_error error = {0};
        struct cordon_run_options options = rows[i].options;
        options.size = sizeof(options);
        test_row(i, rows[i].name);
        CHECK(!cordon_run_exec(&command, &options, &error));
        api_check_error(&error, rows[i].code, rows[i].part);
        CHECK(!cordon_session_spawn(&command, &options, &error));
        api_check_error(&error, rows[i].code, rows[i].part);
    }
    test_row(0, NULL);
    struct cordon_error error = {0};
    CHECK(!cordon_preset_policy("buidl", NULL, &error));
    api_check_error(&error, "E_NOT_FOUND", "'build'");
}

/* Input --------------------------------------------------------------------------------------- */

static int file_with(const char *text)
{
    const char *path = test_path("input");
    test_write(path, text);
    return open(path, O_RDONLY | O_CLOEXEC);
}

TEST(api_input_of_a_command)
{
    static const struct {
        const char *name, *bytes, *file;
        int pipes;
        const char *output;
    } rows[] = {
        {"bytes", "one\ntwo\n", NULL, 1, "one\ntwo\n"},
        {"no bytes", "", NULL, 1, ""},
        {"beside a terminal", "one\n", NULL, 0, "one\r\n"},
        {"a file", NULL, "from a file\n", 1, "from a file\n"},
        {"none", NULL, NULL, 1, ""},
    };
    const char *const argv[] = {"/usr/bin/cat", NULL};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cordon_error error = {0};
        int fd = rows[i].file ? file_with(rows[i].file) : -1;
        const struct cordon_command command = {.size = sizeof(command),
            .argv = argv,
            .pipes = rows[i].pipes,
            .input = rows[i].bytes,
            .input_size = rows[i].bytes ? strlen(rows[i].bytes) : 0,
            .input_fd = rows[i].file ? &fd : NULL};
        const struct cordon_run_options options = {
            .size = sizeof(options), .policy = policy_of(LONG_MS)};
        test_row(i, rows[i].name);
        struct cordon_result *r = cordon_run_exec(&command, &options, &error);
        if (api_check_ok(&error)) {
            CHECK_Z(cordon_result_status(r), "passed");
            CHECK_Z(cordon_result_output(r), rows[i].output);
        }
        CHECK(fd < 0 || close(fd) == 0); /* it stays the caller's */
        cordon_result_free(r);
    }
}

static void count_bytes(void *context, const void *bytes, size_t n)
{
    (void)bytes;
    *(size_t *)context += n;
}

TEST(api_much_input)
{
    struct cordon_error error = {0};
    size_t n = 8 << 20, seen = 0;
    char *bytes = malloc(n);
    memset(bytes, 'x', n);
    const char *const argv[] = {"/usr/bin/cat", NULL};
    const struct cordon_command command = {
        .size = sizeof(command), .argv = argv, .pipes = 1, .input = bytes, .input_size = n};
    const struct cordon_run_options options = {.size = sizeof(options),
        .policy = "{\"policy_version\":4,\"exec\":{\"allowed_executables\":[\"/usr/bin/cat\"]},"
                  "\"budgets\":{\"max_output_bytes\":16777216}}",
        .output = count_bytes,
        .context = &seen};
    struct cordon_result *r = cordon_run_exec(&command, &options, &error);
    api_check_ok(&error);
    CHECK_INT(seen, n);
    cordon_result_free(r);
    free(bytes);
}

/* The signal would end this process. */
TEST(api_input_that_is_not_read)
{
    struct cordon_error error = {0};
    size_t n = 8 << 20;
    char *bytes = calloc(1, n);
    const char *const argv[] = {"/usr/bin/bash", "-c", "exec <&-; sleep 0.1", NULL};
    const struct cordon_command command = {
        .size = sizeof(command), .argv = argv, .pipes = 1, .input = bytes, .input_size = n};
    const struct cordon_run_options options = {
        .size = sizeof(options), .policy = policy_of(LONG_MS)};
    void (*before)(int) = signal(SIGPIPE, SIG_DFL);
    for (int i = 0; i < 5; i++) {
        struct cordon_result *r = cordon_run_exec(&command, &options, &error);
        api_check_ok(&error);
        CHECK_Z(r ? cordon_result_status(r) : "none", "passed");
        cordon_result_free(r);
    }
    signal(SIGPIPE, before);
    free(bytes);
}

TEST(api_refuses_wrong_input)
{
    static const int closed = 9999;
    static const struct {
        const char *name;
        struct cordon_command command;
        const char *part;
    } rows[] = {
        {"both", {.input = "x", .input_size = 1, .input_fd = &closed}, "combined"},
        {"a closed descriptor", {.input_fd = &closed}, "9999"},
        {"too much", {.input = "x", .input_size = (size_t)257 << 20}, "larger"},
    };
    const char *const argv[] = {"/usr/bin/cat", NULL};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cordon_error error = {0};
        struct cordon_command command = rows[i].command;
        command.size = sizeof(command);
        command.argv = argv;
        test_row(i, rows[i].name);
        CHECK(!cordon_run_exec(&command, NULL, &error));
        api_check_error(&error, "E_CLI_INVALID_ARG", rows[i].part);
        CHECK(!cordon_session_spawn(&command, NULL, &error));
        api_check_error(&error, "E_CLI_INVALID_ARG", "a session has a terminal");
    }
}

/* Event loops --------------------------------------------------------------------------------- */

static bool is_readable(int fd, int timeout_ms)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    return poll(&wait, 1, timeout_ms) == 1;
}

/* Processes events until one of these bits is set; -1: an error. */
static int await_news(struct cordon_session *s, int bits, struct cordon_error *error)
{
    int fd = cordon_session_descriptor(s, error), news = 0, all = 0;
    while (!(all & bits) && news >= 0 && CHECK(is_readable(fd, LONG_MS))) {
        news = cordon_session_process(s, error);
        all |= news > 0 ? news : 0;
    }
    return news < 0 ? -1 : all;
}

static struct cordon_session *spawn(
    const char *script, int runtime_ms, struct cordon_cancel *cancel, struct cordon_error *error)
{
    const char *const argv[] = {"/usr/bin/bash", "-c", script, NULL};
    const struct cordon_command command = {.size = sizeof(command), .argv = argv};
    const struct cordon_run_options options = {
        .size = sizeof(options), .policy = policy_of(runtime_ms), .cancel = cancel};
    struct cordon_session *s = cordon_session_spawn(&command, &options, error);
    api_check_ok(error);
    return s;
}

TEST(api_session_in_an_event_loop)
{
    struct cordon_error error = {0};
    struct cordon_session *s = spawn("read x; echo got $x; read y; exit 3", LONG_MS, NULL, &error);
    int fd = cordon_session_descriptor(s, &error);
    CHECK(fd >= 0 && fd == cordon_session_descriptor(s, &error));
    CHECK_INT(cordon_session_send_text(s, "hello\r", &error), 0);
    while (CHECK(await_news(s, CORDON_SESSION_CHANGED, &error) > 0)) {
        struct cordon_observation *o = cordon_session_observe(s, CORDON_SCREEN_FULL, 0, &error);
        bool done = api_has(cordon_observation_screen(o), "got hello");
        cordon_observation_free(o);
        if (done)
            break;
    }
    /* Nothing to do: not readable, and a call returns at once. */
    while (is_readable(fd, 100))
        CHECK(cordon_session_process(s, &error) >= 0);
    CHECK_INT(cordon_session_process(s, &error), 0);
    CHECK_INT(cordon_session_send_text(s, "\r", &error), 0);
    CHECK(await_news(s, CORDON_SESSION_ENDED, &error) & CORDON_SESSION_ENDED);
    CHECK(!is_readable(fd, 0));
    struct cordon_exit end;
    CHECK_INT(cordon_session_wait_for_exit(s, 0, &end, &error), 1);
    CHECK_INT(end.code, 3);
    struct cordon_result *r = cordon_session_finish(s, &error);
    CHECK_Z(cordon_result_status(r), "passed");
    CHECK(!is_readable(fd, 0));
    cordon_result_free(r);
    cordon_session_free(s);
    api_check_ok(&error);
}

TEST(api_session_descriptor_tells_the_end)
{
    static const struct {
        const char *name, *script;
        int runtime_ms;
        bool cancel;
        const char *code; /* NULL: it ends by itself */
    } rows[] = {
        {"an exit", "exit 0", LONG_MS, false, NULL},
        {"much output", "for i in {1..20000}; do echo $i; done", LONG_MS, false, NULL},
        {"a budget", "sleep 60", 200, false, "E_TIMEOUT"},
        {"a cancellation", "sleep 60", LONG_MS, true, "E_CANCELED"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cordon_error error = {0};
        struct cordon_cancel *cancel = cordon_cancel_new(&error);
        test_row(i, rows[i].name);
        struct cordon_session *s = spawn(rows[i].script, rows[i].runtime_ms, cancel, &error);
        if (rows[i].cancel)
            cordon_cancel_trigger(cancel);
        int news = await_news(s, CORDON_SESSION_ENDED, &error);
        if (rows[i].code)
            api_check_error(&error, rows[i].code, "");
        else
            api_check_ok(&error);
        CHECK_INT(news < 0, rows[i].code != NULL);
        cordon_session_free(s);
        cordon_cancel_free(cancel);
    }
}
