/* The public API at its limits: extreme times, large screens, unreadable input, empty texts, calls
 * after the end of a session. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "api_check.h"
#include "test.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define INVALID "E_CLI_INVALID_ARG"
#define POLICY                                                                       \
    "{\"policy_version\":4,\"exec\":{\"allow_shell\":true,\"allowed_executables\":[" \
    "\"/usr/bin/bash\",\"/usr/bin/sleep\"]},\"env\":{\"set\":{\"PATH\":\"/usr/bin\"}}}"

enum {
    LONG_MS = 30 * 1000, /* for events that always happen */
};

static const char *const cat[] = {"/usr/bin/cat", NULL};

/* Sessions ------------------------------------------------------------------------------------ */

static struct cordon_session *spawn(const char *const *argv, unsigned short rows,
    unsigned short cols, const struct cordon_run_options *options)
{
    struct cordon_error error = {0};
    const struct cordon_command command = {
        .size = sizeof(command), .argv = argv, .rows = rows, .cols = cols};
    struct cordon_session *s = cordon_session_spawn(&command, options, &error);
    api_check_ok(&error);
    return s;
}

TEST(api_session_can_be_observed_after_its_record_is_sealed)
{
    struct cordon_error error = {0};
    const struct cordon_run_options options = {
        .size = sizeof(options), .artifacts = test_path("record")};
    struct cordon_session *s = spawn(cat, 0, 0, &options);
    if (!s)
        return;
    CHECK_INT(cordon_session_send_text(s, "kept", &error), 0);
    CHECK_INT(cordon_session_wait_for_text(s, "kept", LONG_MS, &error), 0);
    cordon_result_free(cordon_session_finish(s, &error));
    char *sealed = test_read(test_path("record/checksums.json"));
    char *events = test_read(test_path("record/events.jsonl"));
    CHECK(sealed && access(test_path("record/snapshots/0001.json"), F_OK) == 0);
    struct cordon_observation *o = cordon_session_observe(s, CORDON_SCREEN_FULL, 0, &error);
    CHECK(o && api_has(cordon_observation_screen(o), "kept"));
    cordon_observation_free(o);
    char *later = test_read(test_path("record/events.jsonl"));
    CHECK_Z(later, events);
    CHECK_INT(access(test_path("record/snapshots/0002.json"), F_OK), -1);
    free(later);
    free(events);
    free(sealed);
    cordon_session_free(s);
    api_check_ok(&error);
}

TEST(api_session_accepts_any_grace_time)
{
    static const char *const argv[] = {"/usr/bin/bash", "-c",
        "trap 'sleep 0.3; exit 3' TERM; echo ready; while :; do read -t 1; done", NULL};
    const struct cordon_run_options options = {.size = sizeof(options), .policy = POLICY};
    struct cordon_error error = {0};
    struct cordon_exit end = {0};
    struct cordon_session *s = spawn(argv, 0, 0, &options);
    if (!s)
        return;
    CHECK_INT(cordon_session_wait_for_text(s, "ready", LONG_MS, &error), 0);
    CHECK_INT(cordon_session_terminate_process_group(s, UINT64_MAX, &end, &error), 0);
    CHECK_INT(end.code, 3);
    cordon_session_free(s);
    api_check_ok(&error);
}

TEST(api_session_descriptor_is_not_readable_after_the_end)
{
    struct cordon_error error = {0};
    struct cordon_cancel *cancel = cordon_cancel_new(&error);
    const struct cordon_run_options options = {.size = sizeof(options), .cancel = cancel};
    struct cordon_session *s = spawn(cat, 0, 0, &options);
    int fd = s ? cordon_session_descriptor(s, &error) : -1;
    if (CHECK(fd >= 0)) {
        cordon_result_free(cordon_session_finish(s, &error));
        cordon_cancel_trigger(cancel); /* for another run that shares it */
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        CHECK_INT(poll(&wait, 1, 0), 0);
    }
    cordon_session_free(s);
    cordon_cancel_free(cancel);
    api_check_ok(&error);
}

TEST(api_timeout_has_the_screen_even_if_it_is_large)
{
    static const char *const argv[] = {
        "/usr/bin/bash", "-c", "printf 'begin%040000dend' 0; read", NULL};
    const struct cordon_run_options options = {.size = sizeof(options), .policy = POLICY};
    struct cordon_error error = {0};
    struct cordon_session *s = spawn(argv, 200, 500, &options);
    if (!s)
        return;
    CHECK_INT(cordon_session_wait_for_text(s, "0end", LONG_MS, &error), 0);
    api_check_ok(&error);
    CHECK_INT(cordon_session_wait_for_text(s, "never printed", 1, &error), -1);
    CHECK(api_has(error.json, "\"screen\":\"begin000"));
    CHECK(api_has(error.json, "more lines)"));
    api_check_error(&error, "E_TIMEOUT", "");
    cordon_session_free(s);
}

/* The emulator -------------------------------------------------------------------------------- */

/* Each cell has a letter with 17 combining characters of 4 bytes: 69 MB, of which a sample has a
 * tenth. */
TEST(api_emulator_text_is_complete)
{
    enum {
        SIZE = 1000,
        MARKS = 17,
    };
    const unsigned rows = test_sampled() ? SIZE / 10 : SIZE;
    struct cordon_error error = {0};
    const struct cordon_emulator_options options = {
        .size = sizeof(options), .rows = rows, .cols = SIZE, .scrollback = -1};
    struct cordon_emulator *e = cordon_emulator_new(&options, &error);
    char *line = base_alloc((size_t)SIZE * (1 + 4 * MARKS) + 1), *at = line;
    for (size_t i = 0; i < SIZE; i++) {
        *at++ = 'a';
        for (size_t k = 0; k < MARKS; k++, at += 4)
            memcpy(at, "\xF0\x9D\x85\xA5", 4);
    }
    for (unsigned i = 0; i < rows; i++) {
        char move[32];
        cordon_emulator_feed(e, move, (size_t)snprintf(move, sizeof(move), "\033[%uH", i + 1));
        cordon_emulator_feed(e, line, (size_t)(at - line));
    }
    char *text = cordon_emulator_text(e);
    CHECK_INT(strlen(text), (size_t)rows * ((size_t)(at - line) + 1));
    free(text);
    free(line);
    cordon_emulator_free(e);
    api_check_ok(&error);
}

TEST(api_emulator_outputs_may_be_missing)
{
    static const char action[] = "{\"type\":\"text\",\"payload\":{\"text\":\"hi\"}}";
    struct cordon_error error = {0};
    struct cordon_emulator *e = cordon_emulator_new(NULL, &error);
    CHECK(!cordon_emulator_encode(e, action, NULL, &error));
    api_check_error(&error, INVALID, "ret_n");
    CHECK(!cordon_emulator_encode_key(e, "Up", NULL, &error));
    api_check_error(&error, INVALID, "ret_n");
    cordon_emulator_feed(e, "\033[c", 3);
    CHECK(cordon_emulator_replies(e, NULL) > 0);
    cordon_emulator_free(e);
}

TEST(api_emulator_mouse_reaches_its_last_cell)
{
    struct cordon_error error = {0};
    const struct cordon_emulator_options options = {
        .size = sizeof(options), .rows = 1000, .cols = 1000};
    struct cordon_emulator *e = cordon_emulator_new(&options, &error);
    static const char modes[] = "\033[?1000h\033[?1006h";
    size_t n = 0;
    cordon_emulator_feed(e, modes, sizeof(modes) - 1);
    char *bytes = cordon_emulator_encode(e,
        "{\"type\":\"mouse\",\"payload\":{\"button\":\"left\",\"event\":\"press\",\"row\":999,"
        "\"col\":998}}",
        &n, &error);
    api_check_ok(&error);
    CHECK_Z(bytes ? bytes : "none", "\033[<0;999;1000M");
    free(bytes);
    cordon_emulator_free(e);
}

/* Input --------------------------------------------------------------------------------------- */

TEST(api_input_must_be_readable)
{
    const int writes = open("/dev/null", O_WRONLY | O_CLOEXEC),
              path = open("/dev/null", O_PATH | O_CLOEXEC),
              dir = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const struct {
        const int *fd;
        const char *part;
    } rows[] = {{&writes, "not open for reading"}, {&path, "not an open descriptor"},
        {&dir, "is a directory"}};
    struct cordon_error error = {0};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct cordon_command command = {
            .size = sizeof(command), .argv = cat, .pipes = 1, .input_fd = rows[i].fd};
        test_row(i, rows[i].part);
        CHECK(!cordon_run_exec(&command, NULL, &error));
        api_check_error(&error, INVALID, rows[i].part);
    }
    close(writes);
    close(path);
    close(dir);
}

/* Texts --------------------------------------------------------------------------------------- */

TEST(api_empty_paths_are_refused)
{
    static const struct {
        const char *name;
        struct cordon_run_options o;
    } rows[] = {{"artifacts", {.artifacts = ""}}, {"cwd", {.cwd = ""}},
        {"root", {.preset = "offline", .root = ""}}};
    const struct cordon_command command = {.size = sizeof(command), .argv = cat};
    struct cordon_error error = {0};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cordon_run_options o = rows[i].o;
        o.size = sizeof(o);
        test_row(i, rows[i].name);
        CHECK(!cordon_run_exec(&command, &o, &error));
        CHECK(api_has(error.message, rows[i].name));
        api_check_error(&error, INVALID, "must not be empty");
    }
    test_row(0, NULL);
    CHECK(!cordon_preset_policy(cordon_preset_names()[0], "", &error));
    api_check_error(&error, INVALID, "root must not be empty");
    const struct cordon_tools_options tools = {.size = sizeof(tools), .dir = ""};
    api_home_begin();
    CHECK(!cordon_tools_open(&tools, &error));
    api_check_error(&error, INVALID, "dir must not be empty");
    api_home_end();
}

TEST(api_large_sizes_are_named)
{
    struct cordon_error error = {0};
    const struct cordon_command command = {.size = 5000, .argv = cat};
    CHECK(!cordon_run_exec(&command, NULL, &error));
    api_check_error(&error, INVALID, "size is 5000, which is too large");
}

TEST(api_box_commands_have_one_limit)
{
    enum {
        WORD = 100 * 1000,
    };
    struct cordon_error error = {0};
    const char *argv[13] = {0};
    char *word = base_alloc(WORD + 1);
    memset(word, 'a', WORD);
    for (size_t i = 0; i < ARRAY_LEN(argv) - 1; i++)
        argv[i] = word;
    api_home_begin();
    test_write(test_path("project/file"), "old\n");
    const struct cordon_box_options o = {.size = sizeof(o),
        .name = "one",
        .dir = test_path("project"),
        .agent = "test",
        .network = "none"};
    free(cordon_box_new(&o, &error));
    if (api_check_ok(&error)) {
        const struct cordon_box_command command = {.size = sizeof(command), .argv = argv};
        CHECK_INT(cordon_box_exec("one", &command, NULL, &error), -1);
        api_check_error(&error, INVALID, "argv is longer than 1048576 bytes");
        CHECK_INT(cordon_box_destroy("one", 1, &error), 0);
    }
    api_home_end();
    free(word);
}
