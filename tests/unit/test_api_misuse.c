/* The public API with wrong arguments: NULL, excessive lengths, structures, names in messages. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "api_check.h"
#include "test.h"

#include <stddef.h>
#include <stdio.h>

#define INVALID "E_CLI_INVALID_ARG"

/* NULL ---------------------------------------------------------------------------------------- */

static int found_none(void *context, const char *path, size_t n)
{
    (void)context, (void)path, (void)n;
    return 1;
}

TEST(api_null_paths)
{
    struct cordon_error error = {0};
    struct cordon_boundary *b = cordon_boundary_new();
    cordon_error_clear(NULL);
    CHECK(!cordon_path_decode(NULL, &error));
    api_check_error(&error, INVALID, "encoded");
    CHECK(!cordon_path_encode(NULL, 1));
    CHECK(!cordon_project_root(NULL, &error));
    api_check_error(&error, INVALID, "start");
    CHECK_INT(cordon_boundary_add(b, NULL, CORDON_READ_ONLY, &error), -1);
    api_check_error(&error, INVALID, "dir");
    CHECK_INT(cordon_boundary_add(b, test_dir(), CORDON_READ_ONLY, &error), 0);
    CHECK(!cordon_boundary_resolve(b, NULL, &error));
    api_check_error(&error, INVALID, "path");
    CHECK_INT(cordon_boundary_open(b, NULL, 0, &error), -1);
    api_check_error(&error, INVALID, "path");
    cordon_boundary_free(b);
    CHECK_INT(cordon_glob(NULL, "*", found_none, NULL, &error), -1);
    api_check_error(&error, INVALID, "root");
    CHECK_INT(cordon_glob(test_dir(), NULL, found_none, NULL, &error), -1);
    api_check_error(&error, INVALID, "pattern");
    CHECK_INT(cordon_glob(test_dir(), "*", NULL, NULL, &error), -1);
    api_check_error(&error, INVALID, "found");
}

TEST(api_null_runs)
{
    struct cordon_error error = {0};
    CHECK(!cordon_preset_policy(NULL, NULL, &error));
    api_check_error(&error, INVALID, "name");
    CHECK(!cordon_run_scenario(NULL, NULL, &error));
    api_check_error(&error, INVALID, "text");
    CHECK(!cordon_run_scenario_file(NULL, NULL, &error));
    api_check_error(&error, INVALID, "path");
    CHECK(!cordon_run_exec(NULL, NULL, &error));
    api_check_error(&error, INVALID, "argv");
    const char *const argv[] = {"/usr/bin/cat", NULL};
    const struct cordon_command input = {
        .size = sizeof(input), .argv = argv, .pipes = 1, .input_size = 100};
    CHECK(!cordon_run_exec(&input, NULL, &error));
    api_check_error(&error, INVALID, "input_size");
    const struct cordon_command command = {.size = sizeof(command), .argv = argv};
    struct cordon_session *s = cordon_session_spawn(&command, NULL, &error);
    if (!api_check_ok(&error))
        return;
    CHECK_INT(cordon_session_send(s, NULL, &error), -1);
    api_check_error(&error, INVALID, "action");
    CHECK_INT(cordon_session_send_key(s, NULL, &error), -1);
    api_check_error(&error, INVALID, "key");
    CHECK_INT(cordon_session_send_text(s, NULL, &error), -1);
    api_check_error(&error, INVALID, "text");
    CHECK_INT(cordon_session_wait_for(s, NULL, 0, &error), -1);
    api_check_error(&error, INVALID, "condition");
    CHECK_INT(cordon_session_wait_for_text(s, NULL, 0, &error), -1);
    api_check_error(&error, INVALID, "text");
    cordon_session_free(s);
}

TEST(api_null_emulator_and_conversation)
{
    struct cordon_error error = {0};
    struct cordon_emulator *e = cordon_emulator_new(NULL, &error);
    size_t n = 77;
    CHECK(!cordon_emulator_encode(e, NULL, &n, &error));
    api_check_error(&error, INVALID, "action");
    CHECK(!cordon_emulator_encode_key(e, NULL, &n, &error));
    api_check_error(&error, INVALID, "key");
    CHECK_INT(n, 77);
    cordon_emulator_free(e);
    api_home_begin();
    CHECK(!cordon_conversation(NULL, &error));
    api_check_error(&error, INVALID, "session");
    const struct cordon_tools_options options = {.size = sizeof(options), .dir = test_dir()};
    struct cordon_tools *t = cordon_tools_open(&options, &error);
    if (api_check_ok(&error)) {
        CHECK(!cordon_tools_call(t, NULL, "{}", NULL, &error));
        api_check_error(&error, INVALID, "name");
        CHECK(!cordon_tools_call(t, "shell", NULL, NULL, &error));
        api_check_error(&error, INVALID, "arguments");
    }
    cordon_tools_close(t);
    api_home_end();
}

TEST(api_null_boxes)
{
    struct cordon_error error = {0};
    const char *const argv[] = {"true", NULL};
    const struct cordon_box_command command = {.size = sizeof(command), .argv = argv};
    api_home_begin();
    CHECK(!cordon_box_show(NULL, &error));
    api_check_error(&error, INVALID, "name");
    CHECK(!cordon_box_diff(NULL, NULL, 0, &error));
    api_check_error(&error, INVALID, "name");
    CHECK(!cordon_box_apply(NULL, NULL, &error));
    api_check_error(&error, INVALID, "name");
    CHECK_INT(cordon_box_start(NULL, 0, &error), -1);
    api_check_error(&error, INVALID, "name");
    CHECK_INT(cordon_box_stop(NULL, 0, &error), -1);
    api_check_error(&error, INVALID, "name");
    CHECK_INT(cordon_box_destroy(NULL, 0, &error), -1);
    api_check_error(&error, INVALID, "name");
    CHECK_INT(cordon_box_exec(NULL, &command, NULL, &error), -1);
    api_check_error(&error, INVALID, "name");
    api_home_end();
}

/* Lengths ------------------------------------------------------------------------------------- */

TEST(api_lengths_are_limited)
{
    enum {
        HUGE_WORD = 100 << 20,
        LONG_WORD = 128 << 10,
    };
    struct cordon_error error = {0};
    CHECK(!cordon_path_encode("a", (size_t)1 << 62));
    CHECK(!cordon_path_encode("a", SIZE_MAX));
    CHECK(!cordon_path_encode("a", ((size_t)64 << 20) + 1));
    static const int sizes[] = {HUGE_WORD, LONG_WORD};
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        char *word = base_alloc((size_t)sizes[i] + 1);
        memset(word, 'a', (size_t)sizes[i]);
        const char *const argv[] = {word, NULL}, *const second[] = {"/usr/bin/true", word, NULL};
        struct cordon_command command = {.size = sizeof(command), .argv = argv};
        CHECK(!cordon_run_exec(&command, NULL, &error));
        api_check_error(&error, INVALID, "argv[0]");
        command.argv = second;
        CHECK(!cordon_session_spawn(&command, NULL, &error));
        api_check_error(&error, INVALID, "argv[1]");
        free(word);
    }
    char *word = base_alloc(LONG_WORD);
    memset(word, 'a', LONG_WORD - 1);
    const char *many[100];
    for (size_t i = 0; i < ARRAY_LEN(many) - 1; i++)
        many[i] = word;
    many[ARRAY_LEN(many) - 1] = NULL;
    const struct cordon_command command = {.size = sizeof(command), .argv = many};
    CHECK(!cordon_run_exec(&command, NULL, &error));
    api_check_error(&error, INVALID, "argv is longer");
    free(word);
}

/* Structures ---------------------------------------------------------------------------------- */

/* A member added later must not lie in the padding, which callers do not clear. */
TEST(api_structures_have_no_tail_padding)
{
#define TAIL(type, last)                                                                           \
    {                                                                                              \
#type, offsetof(struct type, last) + sizeof(((struct type *)0)->last), sizeof(struct type) \
    }
    static const struct {
        const char *name;
        size_t end, size;
    } rows[] = {
        TAIL(cordon_run_options, root),
        TAIL(cordon_command, input_fd),
        TAIL(cordon_emulator_options, reserved),
        TAIL(cordon_tools_options, context),
        TAIL(cordon_agent_options, context),
        TAIL(cordon_turn, cancel),
        TAIL(cordon_box_options, context),
        TAIL(cordon_box_command, program),
        TAIL(cordon_box_apply_options, allow_executed),
        TAIL(cordon_exit, reserved),
    };
#undef TAIL
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].name);
        CHECK_INT(rows[i].end, rows[i].size);
    }
    test_row(0, NULL);
    struct cordon_error error = {0};
    const struct cordon_emulator_options options = {.size = sizeof(options), .reserved = 1};
    CHECK(!cordon_emulator_new(&options, &error));
    api_check_error(&error, INVALID, "reserved");
}

/* Names --------------------------------------------------------------------------------------- */

static void check_names(struct cordon_error *error, const char *part)
{
    CHECK(!api_has(error->message, "--"));
    CHECK(!api_has(error->json, "--"));
    if (!CHECK(api_has(error->message, part)))
        printf("# the message is: %s\n", error->message ? error->message : "none");
    cordon_error_clear(error);
}

TEST(api_errors_name_members)
{
    static const char *const hosts[] = {"a.example", NULL}, *const ports[] = {"1:2", NULL};
    static const struct {
        struct cordon_box_options o;
        const char *part;
    } boxes[] = {
        {{.memory = "-5"}, "memory '-5'"},
        {{.memory = "1"}, "memory '1': expected at least 1M"},
        {{.disk = "x"}, "disk 'x'"},
        {{.disk = "1023K"}, "disk '1023K': expected at least 1M"},
        {{.cpus = "x"}, "cpus 'x'"},
        {{.network = "none", .hosts = hosts}, "network none and hosts cannot be combined"},
        {{.network = "on", .ports = ports}, "network on and ports cannot be combined"},
    };
    static const struct {
        struct cordon_tools_options o;
        const char *part;
    } tools[] = {
        {{.workspace = "x"}, "workspace requires mode workspace"},
        {{.mode = "workspace", .workspace = "../x"}, "is not a valid workspace name"},
        {{.sandbox = "none"}, "sandbox \"none\" requires mode unrestricted"},
        {{.box = "x", .mode = "workspace"}, "mode cannot be combined with box"},
        {{.box = "x", .sandbox = "native"}, "sandbox cannot be combined with box"},
    };
    static const struct {
        struct cordon_agent_options o;
        const char *part;
    } agents[] = {
        {{.temperature = "hot"}, "temperature"},
        {{.max_retries = "x"}, "max_retries"},
        {{.session = "a", .latest = 1}, "session, latest and fork"},
    };
    struct cordon_error error = {0};
    api_home_begin();
    for (size_t i = 0; i < ARRAY_LEN(boxes); i++) {
        struct cordon_box_options o = boxes[i].o;
        o.size = sizeof(o);
        o.name = "a";
        o.dir = test_dir();
        o.agent = "test";
        test_row(i, boxes[i].part);
        CHECK(!cordon_box_new(&o, &error));
        check_names(&error, boxes[i].part);
    }
    for (size_t i = 0; i < ARRAY_LEN(tools); i++) {
        struct cordon_tools_options o = tools[i].o;
        o.size = sizeof(o);
        test_row(i, tools[i].part);
        CHECK(!cordon_tools_open(&o, &error));
        check_names(&error, tools[i].part);
    }
    for (size_t i = 0; i < ARRAY_LEN(agents); i++) {
        struct cordon_agent_options o = agents[i].o;
        o.size = sizeof(o);
        o.provider = "scripted";
        test_row(i, agents[i].part);
        CHECK(!cordon_agent_open(&o, &error));
        check_names(&error, agents[i].part);
    }
    api_home_end();
}

static enum cordon_answer keep_question(void *context, const char *question)
{
    snprintf(context, 4096, "%s", question);
    return CORDON_ANSWER_NO;
}

TEST(api_questions_name_members)
{
    static char question[4096];
    struct cordon_error error = {0};
    static const char arguments[] = "{\"path\":\"b\",\"content\":\"use --approval\"}";
    struct cordon_tools_options o = {
        .size = sizeof(o), .dir = test_dir(), .approval = "always", .context = question};
    api_home_begin();
    for (int asks = 0; asks < 2; asks++) {
        o.approve = asks ? keep_question : NULL;
        struct cordon_tools *t = cordon_tools_open(&o, &error);
        if (!api_check_ok(&error))
            continue;
        char *result = cordon_tools_call(t, "write_file", arguments, NULL, &error);
        CHECK(api_has(result, "E_APPROVAL_REQUIRED"));
        if (!CHECK(!api_has(result, "--approval")))
            printf("# %s\n", result);
        free(result);
        cordon_tools_close(t);
    }
    CHECK(api_has(question, "\"approval always requires"));
    CHECK(api_has(question, "use --approval")); /* the file's content is unchanged */
    api_home_end();
}
