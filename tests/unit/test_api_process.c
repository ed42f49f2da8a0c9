/* The public API and the caller's process: signals, threads, descriptors, limits. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "api_check.h"
#include "test.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A box that is not started. False: boxes do not work here. */
static bool begin_box(const char *name)
{
    struct cordon_error error = {0};
    api_home_begin();
    test_write(test_path("project/file"), "old\n");
    const struct cordon_box_options o = {.size = sizeof(o),
        .name = name,
        .dir = test_path("project"),
        .agent = "test",
        .network = "none"};
    free(cordon_box_new(&o, &error));
    return api_check_ok(&error);
}

static void end_box(const char *name)
{
    struct cordon_error error = {0};
    CHECK_INT(cordon_box_destroy(name, 1, &error), 0);
    api_check_ok(&error);
}

/* Signals ------------------------------------------------------------------------------------- */

static void reap_all(int sig)
{
    (void)sig;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
}

/* A caller that ignores SIGCHLD, or reaps every child itself. */
TEST(api_box_with_reaped_children)
{
    static const struct {
        const char *name;
        void (*handler)(int sig);
    } rows[] = {{"ignored", SIG_IGN}, {"reaped", reap_all}};
    const char *const argv[] = {"sh", "-c", "true & wait $!; exit 3", NULL};
    const struct cordon_box_command command = {.size = sizeof(command), .argv = argv};
    bool made = begin_box("one");
    for (size_t i = 0; made && i < ARRAY_LEN(rows); i++) {
        struct cordon_error error = {0};
        struct cordon_exit end = {0};
        test_row(i, rows[i].name);
        signal(SIGCHLD, rows[i].handler);
        CHECK_INT(cordon_box_start("one", 1, &error), 0);
        api_check_ok(&error);
        CHECK_INT(cordon_box_exec("one", &command, &end, &error), 0);
        api_check_ok(&error);
        CHECK_INT(end.code, 3);
        CHECK(cordon_box_stop("one", 1000, &error) >= 0);
        api_check_ok(&error);
    }
    signal(SIGCHLD, SIG_DFL);
    if (made)
        end_box("one");
    api_home_end();
}

/* The limit of open files ---------------------------------------------------------------------- */

TEST(api_box_exec_keeps_limits)
{
    struct rlimit old, low, after;
    struct cordon_error error = {0};
    const char *const argv[] = {"true", NULL};
    const struct cordon_box_command command = {.size = sizeof(command), .argv = argv};
    CHECK_INT(getrlimit(RLIMIT_NOFILE, &old), 0);
    low = (struct rlimit){MIN(old.rlim_max, (rlim_t)512), old.rlim_max};
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &low), 0);
    if (begin_box("two")) {
        CHECK_INT(cordon_box_exec("two", &command, NULL, &error), 0);
        api_check_ok(&error);
        CHECK_INT(getrlimit(RLIMIT_NOFILE, &after), 0);
        CHECK_INT(after.rlim_cur, low.rlim_cur);
        end_box("two");
    }
    setrlimit(RLIMIT_NOFILE, &old);
    api_home_end();
}

/* Streams -------------------------------------------------------------------------------------- */

static void ignore_output(void *context, int stream, const void *bytes, size_t n)
{
    (void)stream, (void)bytes;
    *(size_t *)context += n;
}

TEST(api_box_exec_checks_streams)
{
    static const char *const argv[] = {"sh", "-c", "echo out; echo err >&2", NULL};
    struct cordon_error error = {0};
    size_t seen = 0;
    if (begin_box("three")) {
        const int closed = 999, reads = open("/dev/null", O_RDONLY | O_CLOEXEC);
        const int *const wrong[] = {&closed, &reads};
        struct cordon_box_command command = {.size = sizeof(command), .argv = argv};
        for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
            test_row(i, NULL);
            command.output_fd = wrong[i];
            command.error_fd = NULL;
            CHECK_INT(cordon_box_exec("three", &command, NULL, &error), -1);
            api_check_error(&error, "E_CLI_INVALID_ARG", "output_fd");
            command.output_fd = NULL;
            command.error_fd = wrong[i];
            CHECK_INT(cordon_box_exec("three", &command, NULL, &error), -1);
            api_check_error(&error, "E_CLI_INVALID_ARG", "error_fd");
        }
        close(reads);
        int ends[2];
        CHECK_INT(pipe2(ends, O_CLOEXEC), 0);
        close(ends[0]);
        command.error_fd = NULL;
        command.output_fd = &ends[1];
        CHECK_INT(cordon_box_exec("three", &command, NULL, &error), -1);
        api_check_error(&error, "E_IO", "standard output");
        command.output_fd = NULL;
        command.error_fd = &ends[1];
        CHECK_INT(cordon_box_exec("three", &command, NULL, &error), -1);
        api_check_error(&error, "E_IO", "standard error");
        close(ends[1]);
        command.error_fd = NULL;
        command.output = ignore_output;
        command.context = &seen;
        CHECK_INT(cordon_box_exec("three", &command, NULL, &error), 0);
        CHECK_INT(seen, 8);
        const struct cordon_box_command input = {
            .size = sizeof(input), .argv = argv, .input_size = 100};
        CHECK_INT(cordon_box_exec("three", &input, NULL, &error), -1);
        api_check_error(&error, "E_CLI_INVALID_ARG", "input_size");
        end_box("three");
    }
    api_home_end();
}

/* Refusals ------------------------------------------------------------------------------------- */

TEST(api_box_refusals_name_members)
{
    static const char *const argv[] = {
        "sh", "-c", "mkdir .vscode; echo {} > .vscode/tasks.json", NULL};
    const struct cordon_box_command command = {.size = sizeof(command), .argv = argv};
    struct cordon_error error = {0};
    if (begin_box("four")) {
        CHECK_INT(cordon_box_exec("four", &command, NULL, &error), 0);
        CHECK(!cordon_box_apply("four", NULL, &error));
        CHECK(api_has(error.message, "allow_executed"));
        CHECK(api_has(error.json, "allow_executed"));
        if (!CHECK(!api_has(error.json, "--allow-executed-config")))
            printf("# %s\n", error.json);
        cordon_error_clear(&error);
        CHECK_INT(cordon_box_destroy("four", 0, &error), -1);
        CHECK(!api_has(error.json, "--"));
        cordon_error_clear(&error);
        end_box("four");
    }
    api_home_end();
}

/* Tools in a box --------------------------------------------------------------------------------
 */

TEST(api_tools_report_a_wrong_program)
{
    struct cordon_error error = {0};
    if (begin_box("five")) {
        const char *script = test_path("program");
        test_write(script, "#!/bin/sh\necho 'this is not the program' >&2\nexit 1\n");
        CHECK_INT(chmod(script, 0755), 0);
        const struct {
            const char *program, *part;
        } rows[] = {
            {"/nonexistent", "/nonexistent"},
            {"/", "denied"},
            {"/bin/false", "the box"},
            {script, "this is not the program"},
        };
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
            const struct cordon_tools_options options = {
                .size = sizeof(options), .box = "five", .program = rows[i].program};
            test_row(i, rows[i].program);
            struct cordon_tools *t = cordon_tools_open(&options, &error);
            CHECK(!t);
            api_check_error(&error, "E_IO", rows[i].part);
            cordon_tools_close(t);
        }
        end_box("five");
    }
    api_home_end();
}

struct opened {
    struct cordon_tools_options options;
    struct cordon_tools *tools;
    struct cordon_error error;
};

static void *open_in_thread(void *context)
{
    struct opened *o = context;
    o->tools = cordon_tools_open(&o->options, &o->error);
    return NULL;
}

/* The thread that opens the tools ends; the caller ignores signals and has descriptors without
 * close-on-exec. */
TEST(api_tools_in_a_box_are_independent)
{
    const char *program = api_find_cordon();
    pthread_t thread;
    int ends[2];
    if (!program) {
        test_skip("cordon is not beside the tests");
        return;
    }
    if (begin_box("six")) {
        struct opened o = {
            .options = {.size = sizeof(o.options), .box = "six", .program = program}};
        CHECK_INT(pipe(ends), 0);
        signal(SIGCHLD, SIG_IGN);
        CHECK_INT(pthread_create(&thread, NULL, open_in_thread, &o), 0);
        pthread_join(thread, NULL);
        close(ends[1]);
        struct pollfd end = {.fd = ends[0], .events = POLLIN};
        CHECK_INT(poll(&end, 1, 0), 1); /* no other process has the writing end */
        close(ends[0]);
        if (api_check_ok(&o.error))
            for (int i = 0; i < 2; i++) {
                poll(NULL, 0, 100); /* the end of the thread is not otherwise seen */
                api_check_text(cordon_tools_call(o.tools, "shell",
                                   "{\"command\":\"sh -c 'exit 0' && echo done\"}", NULL, NULL),
                    "\"status\":\"ok\"");
            }
        cordon_tools_close(o.tools);
        signal(SIGCHLD, SIG_DFL);
        end_box("six");
    }
    api_home_end();
}
