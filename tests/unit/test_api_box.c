/* The boxes of the public API: their whole life, refusals, several at once. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "api_check.h"
#include "base/clock.h"
#include "test.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LONG_MS = 30 * 1000, /* for events that always happen */
};

struct box_seen {
    char out[4096], err[4096];
    size_t n_out, n_err;
};

static void note_output(void *context, int stream, const void *bytes, size_t n)
{
    struct box_seen *s = context;
    char *to = stream == 1 ? s->out : s->err;
    size_t *used = stream == 1 ? &s->n_out : &s->n_err;
    size_t most = sizeof(s->out) - 1 - *used;
    memcpy(to + *used, bytes, n < most ? n : most);
    *used += n < most ? n : most;
    to[*used] = '\0';
}

static struct cordon_box_options box_options(const char *name, const char *mode)
{
    static char dir[600];
    snprintf(dir, sizeof(dir), "%s%s", test_path("project"), mode);
    return (struct cordon_box_options){.size = sizeof(struct cordon_box_options),
        .name = name,
        .dir = dir,
        .agent = "test",
        .network = "none"};
}

/* A project with a file, and a box of it that is not started. False: boxes do not work here. */
static bool begin_box(const char *name, const char *mode)
{
    struct cordon_error error = {0};
    api_home_begin();
    test_write(test_path("project/file"), "old\n");
    const struct cordon_box_options o = box_options(name, mode);
    char *made = cordon_box_new(&o, &error);
    bool ok = api_check_ok(&error) && CHECK(api_has(made, "\"started\":false"));
    free(made);
    return ok;
}

static int run_in(const char *name, const char *script, struct box_seen *seen,
    struct cordon_exit *ret_exit, struct cordon_error *error)
{
    const char *const argv[] = {"sh", "-c", script, NULL};
    const struct cordon_box_command command = {
        .size = sizeof(command), .argv = argv, .output = note_output, .context = seen};
    *seen = (struct box_seen){.n_out = 0};
    return cordon_box_exec(name, &command, ret_exit, error);
}

TEST(api_box_life)
{
    static const char *const modes[] = {"", ":overlay"};
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        struct cordon_error error = {0};
        static struct box_seen seen;
        struct cordon_exit end;
        test_row(i, modes[i]);
        if (!begin_box("one", modes[i]))
            continue;
        api_check_text(cordon_box_list(&error), "\"name\":\"one\",\"status\":\"stopped\"");
        api_check_text(cordon_box_show("one", &error), "\"agent\":");
        CHECK_INT(
            run_in("one", "echo new > file; echo out; echo err >&2; exit 3", &seen, &end, &error),
            0);
        api_check_ok(&error);
        CHECK_INT(end.code, 3);
        CHECK_Z(seen.out, "out\n");
        CHECK_Z(seen.err, "err\n");
        char *before = test_read(test_path("project/file"));
        CHECK_Z(before, "old\n");
        free(before);
        char *diff = cordon_box_diff("one", NULL, 1, &error);
        CHECK(api_has(diff, "\"path\":\"file\"") && api_has(diff, "+new"));
        free(diff);
        CHECK_INT(cordon_box_destroy("one", 0, &error), -1);
        api_check_error(&error, "E_CONFLICT", "one");
        const struct cordon_box_apply_options dry = {.size = sizeof(dry), .dry_run = 1};
        api_check_text(cordon_box_apply("one", &dry, &error), "\"file\"");
        api_check_text(cordon_box_apply("one", NULL, &error), "\"file\"");
        api_check_ok(&error);
        char *after = test_read(test_path("project/file"));
        CHECK_Z(after, "new\n");
        free(after);
        diff = cordon_box_diff("one", NULL, 0, &error);
        CHECK(api_has(diff, "\"changes\":[]") && !api_has(diff, "\"patch\""));
        CHECK(api_has(diff, "\"missed\":[]"));
        free(diff);
        const char *const without[] = {"no/such", NULL};
        api_check_text(cordon_box_diff("one", without, 0, &error), "\"missed\":[\"no/such\"]");
        CHECK_INT(cordon_box_destroy("one", 0, &error), 0);
        api_check_text(cordon_box_list(&error), "\"boxes\":[]");
        api_check_ok(&error);
    }
    api_home_end();
}

/* The agent of the row "test" waits; commands run beside it. */
TEST(api_box_agent)
{
    struct cordon_error error = {0};
    static struct box_seen seen;
    struct cordon_exit end;
    if (begin_box("two", "")) {
        CHECK_INT(cordon_box_start("two", 1, &error), 0);
        api_check_ok(&error);
        CHECK_INT(run_in("two", "cat file", &seen, &end, &error), 0);
        CHECK_Z(seen.out, "old\n");
        CHECK_INT(end.code, 0);
        int stopped = cordon_box_stop("two", 1000, &error);
        CHECK(stopped == 0 || stopped == 1); /* the agent may end by itself */
        CHECK_INT(cordon_box_stop("two", 1000, &error), 0);
        CHECK_INT(cordon_box_destroy("two", 1, &error), 0);
        api_check_ok(&error);
    }
    api_home_end();
}

TEST(api_box_streams)
{
    struct cordon_error error = {0};
    struct cordon_exit end = {0};
    const char *const argv[] = {"cat", NULL};
    if (begin_box("three", "")) {
        const char *path = test_path("output");
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        struct cordon_box_command command = {.size = sizeof(command),
            .argv = argv,
            .input = "from memory\n",
            .input_size = 12,
            .output_fd = &fd};
        CHECK_INT(cordon_box_exec("three", &command, &end, &error), 0);
        api_check_ok(&error);
        char *text = test_read(path);
        CHECK_Z(text, "from memory\n");
        free(text);
        /* The same from a descriptor. */
        CHECK_INT(lseek(fd, 0, SEEK_SET), 0);
        static struct box_seen seen;
        seen = (struct box_seen){.n_out = 0};
        command = (struct cordon_box_command){.size = sizeof(command),
            .argv = argv,
            .input_fd = &fd,
            .output = note_output,
            .context = &seen};
        CHECK_INT(cordon_box_exec("three", &command, &end, &error), 0);
        CHECK_Z(seen.out, "from memory\n");
        close(fd);
        CHECK_INT(cordon_box_destroy("three", 1, &error), 0);
    }
    api_home_end();
}

static void note_started(void *context, int stream, const void *bytes, size_t n)
{
    (void)context, (void)stream, (void)bytes, (void)n;
    test_write(test_path("started"), "");
}

TEST(api_box_cancel)
{
    struct cordon_error error = {0};
    const char *const argv[] = {"sh", "-c", "echo started; exec sleep 100", NULL};
    if (begin_box("four", "")) {
        struct cordon_cancel *cancel = cordon_cancel_new(&error);
        const struct cordon_box_command command = {
            .size = sizeof(command), .argv = argv, .output = note_started, .cancel = cancel};
        struct api_trigger trigger;
        uint64_t begun = clock_mono_ms();
        api_trigger_begin(&trigger, "started", cancel);
        CHECK_INT(cordon_box_exec("four", &command, NULL, &error), -1);
        CHECK(clock_mono_ms() - begun < LONG_MS);
        api_check_error(&error, "E_CANCELED", "interrupted");
        api_trigger_end(&trigger);
        cordon_cancel_free(cancel);
        CHECK_INT(cordon_box_destroy("four", 1, &error), 0);
        api_check_ok(&error);
    }
    api_home_end();
}

TEST(api_box_exec_canceled_before_it_starts)
{
    struct cordon_error error = {0};
    const char *const argv[] = {"touch", "created", NULL};
    if (begin_box("four-b", "")) {
        struct cordon_cancel *cancel = cordon_cancel_new(&error);
        const struct cordon_box_command command = {
            .size = sizeof(command), .argv = argv, .cancel = cancel};
        cordon_cancel_trigger(cancel);
        CHECK_INT(cordon_box_exec("four-b", &command, NULL, &error), -1);
        api_check_error(&error, "E_CANCELED", "canceled before it was started");
        cordon_cancel_free(cancel);
        api_check_text(cordon_box_diff("four-b", NULL, 0, &error), "\"changes\":[]");
        CHECK_INT(cordon_box_destroy("four-b", 1, &error), 0);
        api_check_ok(&error);
    }
    api_home_end();
}

struct box_ending {
    struct cordon_cancel *cancel;
    int input;
};

/* Cancels a command at its first output; the command then needs an answer, which only a call that
 * still waits for it can give. */
static void cancel_and_answer(void *context, int stream, const void *bytes, size_t n)
{
    const struct box_ending *e = context;
    (void)stream;
    cordon_cancel_trigger(e->cancel);
    if (memchr(bytes, 'e', n))
        CHECK_INT(write(e->input, "\n", 1), 1);
}

TEST(api_box_exec_waits_for_the_end_of_a_canceled_command)
{
    struct cordon_error error = {0};
    const char *const argv[] = {"sh", "-c",
        "trap '' HUP; trap 'echo ending; read x && echo > ended; exit' TERM; echo; sleep 100 & "
        "wait",
        NULL};
    if (begin_box("four-c", "")) {
        struct cordon_cancel *cancel = cordon_cancel_new(&error);
        int input[2];
        CHECK_INT(pipe2(input, O_CLOEXEC), 0);
        struct box_ending ending = {cancel, input[1]};
        const struct cordon_box_command command = {.size = sizeof(command),
            .argv = argv,
            .input_fd = &input[0],
            .output = cancel_and_answer,
            .context = &ending,
            .cancel = cancel};
        CHECK_INT(cordon_box_exec("four-c", &command, NULL, &error), -1);
        api_check_error(&error, "E_CANCELED", "interrupted");
        close(input[0]);
        close(input[1]);
        cordon_cancel_free(cancel);
        api_check_text(cordon_box_diff("four-c", NULL, 0, &error), "\"ended\"");
        CHECK_INT(cordon_box_destroy("four-c", 1, &error), 0);
        api_check_ok(&error);
    }
    api_home_end();
}

TEST(api_box_apply_refuses)
{
    struct cordon_error error = {0};
    static struct box_seen seen;
    if (begin_box("five", "")) {
        CHECK_INT(run_in("five", "echo new > file; mkdir .vscode; echo {} > .vscode/tasks.json",
                      &seen, NULL, &error),
            0);
        CHECK(!cordon_box_apply("five", NULL, &error));
        CHECK(api_has(error.json, ".vscode/tasks.json"));
        api_check_error(&error, "E_APPROVAL_REQUIRED", "");
        test_write(test_path("project/file"), "also changed here\n");
        const struct cordon_box_apply_options all = {.size = sizeof(all), .allow_executed = 1};
        CHECK(!cordon_box_apply("five", &all, &error));
        CHECK(api_has(error.json, "\"file\""));
        api_check_error(&error, "E_CONFLICT", "");
        CHECK(!cordon_box_apply("five", NULL, NULL)); /* without an error to fill in */
        const char *const paths[] = {".vscode", NULL};
        const struct cordon_box_apply_options part = {
            .size = sizeof(part), .paths = paths, .allow_executed = 1};
        api_check_text(cordon_box_apply("five", &part, &error), "tasks.json");
        api_check_ok(&error);
        CHECK_INT(cordon_box_destroy("five", 1, &error), 0);
    }
    api_home_end();
}

TEST(api_box_refuses_wrong_options)
{
    static const char *const ports[] = {"80", NULL};
    static const struct {
        const char *name;
        struct cordon_box_options o;
        const char *code, *part;
    } rows[] = {
        {"no name", {.dir = "/tmp"}, "E_CLI_INVALID_ARG", "name"},
        {"no directory", {.name = "a"}, "E_CLI_INVALID_ARG", "directory"},
        {"a wrong name", {.name = "../a", .dir = "/tmp"}, "E_CLI_INVALID_ARG", "../a"},
        {"a missing directory", {.name = "a", .dir = "/no/such", .agent = "test"}, "E_IO", "such"},
        {"a dangerous directory", {.name = "a", .dir = "/", .agent = "test"}, "E_", ""},
        {"an unknown agent", {.name = "a", .dir = "/tmp", .agent = "unknown-name"}, "E_",
            "unknown-name"},
        {"a wrong network", {.name = "a", .dir = "/tmp", .network = "some"}, "E_CLI_INVALID_ARG",
            "'some'"},
        {"a wrong port", {.name = "a", .dir = "/tmp", .ports = ports}, "E_CLI_INVALID_ARG", "80"},
        {"wrong memory", {.name = "a", .dir = "/tmp", .memory = "much"}, "E_CLI_INVALID_ARG",
            "much"},
        {"another bit", {.name = "a", .dir = "/tmp", .ack_unsafe = CORDON_ACK_ENV},
            "E_CLI_INVALID_ARG", "ack_unsafe"},
        {"too many rows", {.name = "a", .dir = "/tmp", .rows = 501}, "E_CLI_INVALID_ARG",
            "at most 500 rows"},
        {"a prompt in another encoding",
            {.name = "a", .dir = "/tmp", .agent = "test", .prompt = "a\xFF"}, "E_CLI_INVALID_ARG",
            "the prompt is not UTF-8"},
        {"a model in another encoding",
            {.name = "a", .dir = "/tmp", .agent = "test", .model = "a\xFF"}, "E_CLI_INVALID_ARG",
            "model is not UTF-8"},
        {"too many processes", {.name = "a", .dir = "/tmp", .processes = 1ull << 40},
            "E_CLI_INVALID_ARG", "processes"},
    };
    api_home_begin();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cordon_error error = {0};
        struct cordon_box_options o = rows[i].o;
        o.size = sizeof(o);
        test_row(i, rows[i].name);
        CHECK(!cordon_box_new(&o, &error));
        CHECK(api_has(error.code, rows[i].code));
        CHECK(api_has(error.message, rows[i].part));
        cordon_error_clear(&error);
    }
    api_home_end();
}

TEST(api_box_names)
{
    static const struct {
        const char *name, *code;
    } rows[] = {
        {"unknown-name", "E_NOT_FOUND"},
        {"../unknown-name", "E_CLI_INVALID_ARG"},
        {"", "E_CLI_INVALID_ARG"},
    };
    static struct box_seen seen;
    api_home_begin();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cordon_error error = {0};
        const char *name = rows[i].name;
        test_row(i, name);
        CHECK(!cordon_box_show(name, &error));
        api_check_error(&error, rows[i].code, "");
        CHECK(!cordon_box_diff(name, NULL, 0, &error));
        api_check_error(&error, rows[i].code, "");
        CHECK(!cordon_box_apply(name, NULL, &error));
        api_check_error(&error, rows[i].code, "");
        CHECK_INT(cordon_box_start(name, 0, &error), -1);
        api_check_error(&error, rows[i].code, "");
        CHECK_INT(cordon_box_stop(name, 0, &error), -1);
        api_check_error(&error, rows[i].code, "");
        CHECK_INT(cordon_box_destroy(name, 0, &error), -1);
        api_check_error(&error, rows[i].code, "");
        CHECK_INT(run_in(name, "true", &seen, NULL, &error), -1);
        api_check_error(&error, rows[i].code, "");
    }
    test_row(0, NULL);
    struct cordon_error error = {0};
    if (begin_box("six", "")) {
        const char *const nothing[] = {NULL}, *const empty[] = {"", NULL};
        const struct cordon_box_command command = {.size = sizeof(command), .argv = nothing};
        CHECK_INT(cordon_box_exec("six", &command, NULL, &error), -1);
        api_check_error(&error, "E_CLI_INVALID_ARG", "argv");
        CHECK(!cordon_box_diff("six", empty, 0, &error));
        api_check_error(&error, "E_CLI_INVALID_ARG", "empty");
        const struct cordon_box_options again = box_options("six", "");
        CHECK(!cordon_box_new(&again, &error));
        api_check_error(&error, "E_CONFLICT", "six");
        CHECK_INT(cordon_box_destroy("six", 0, &error), 0);
    }
    api_home_end();
}

/* Tools ---------------------------------------------------------------------------------------- */

TEST(api_tools_in_a_box)
{
    struct cordon_error error = {0};
    const char *program = api_find_cordon();
    if (!program) {
        test_skip("cordon is not beside the tests");
        return;
    }
    if (begin_box("seven", "")) {
        const struct cordon_tools_options options = {
            .size = sizeof(options), .box = "seven", .program = program};
        struct cordon_tools *t = cordon_tools_open(&options, &error);
        if (api_check_ok(&error)) {
            api_check_text(
                cordon_tools_call(t, "shell", "{\"command\":\"echo box > file\"}", NULL, &error),
                "\"status\":\"ok\"");
            api_check_text(
                cordon_tools_call(t, "read_file", "{\"path\":\"file\"}", NULL, &error), "box");
        }
        cordon_tools_close(t);
        char *before = test_read(test_path("project/file"));
        CHECK_Z(before, "old\n");
        free(before);
        api_check_text(cordon_box_diff("seven", NULL, 1, &error), "+box");
        CHECK_INT(cordon_box_destroy("seven", 1, &error), 0);
        api_check_ok(&error);
    }
    api_home_end();
}

/* Several at once; the caller's signal handlers stay its own. */
static void *box_thread(void *context)
{
    static const char *const argv[] = {"sh", "-c", "cat file; kill -USR1 $PPID 2>&-; true", NULL};
    struct box_seen seen = {.n_out = 0};
    struct cordon_exit end = {.code = -1};
    const struct cordon_box_command command = {
        .size = sizeof(command), .argv = argv, .output = note_output, .context = &seen};
    for (int i = 0; i < 3; i++)
        if (cordon_box_exec(context, &command, &end, NULL) != 0 || end.code != 0)
            return NULL;
    return api_has(seen.out, "old\nold\nold\n") ? context : NULL;
}

static void no_handler(int sig)
{
    (void)sig;
}

TEST(api_boxes_at_once)
{
    static char names[3][8] = {"x0", "x1", "x2"};
    pthread_t threads[ARRAY_LEN(names)];
    struct cordon_error error = {0};
    bool made = true;
    signal(SIGTERM, no_handler);
    for (size_t i = 0; i < ARRAY_LEN(names) && made; i++)
        made = begin_box(names[i], "");
    for (size_t i = 0; i < ARRAY_LEN(names) && made; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, box_thread, names[i]), 0);
    for (size_t i = 0; i < ARRAY_LEN(names) && made; i++) {
        void *ok = NULL;
        pthread_join(threads[i], &ok);
        CHECK(ok != NULL);
        CHECK_INT(cordon_box_destroy(names[i], 1, &error), 0);
        api_check_ok(&error);
    }
    signal(SIGTERM, SIG_DFL);
    api_home_end();
}
