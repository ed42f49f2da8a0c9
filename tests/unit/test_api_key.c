/* Agents of the public API with the user's settings: keys from a command, files, extreme times. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "api_check.h"
#include "test.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY "sk-test-0123456789"

/* The user's settings with this command, and a new agent. */
static struct cordon_agent *open_with_key(const char *command, struct cordon_error *error)
{
    char text[1024];
    const struct cordon_tools_options tools = {.size = sizeof(tools), .dir = test_dir()};
    const struct cordon_agent_options options = {.size = sizeof(options), .tools = &tools};
    snprintf(
        text, sizeof(text), "provider: anthropic\nmodel: my-model\nkey_command: '%s'\n", command);
    test_write(test_path("config/cordon/config.yaml"), text);
    api_home_begin();
    setenv("XDG_CONFIG_HOME", test_path("config"), 1);
    unsetenv("ANTHROPIC_API_KEY");
    struct cordon_agent *agent = cordon_agent_open(&options, error);
    return agent;
}

static void end_with_key(struct cordon_agent *agent)
{
    cordon_agent_free(agent);
    unsetenv("XDG_CONFIG_HOME");
    api_home_end();
}

TEST(api_key_command_does_not_use_the_streams_of_the_caller)
{
    struct cordon_error error = {0};
    const char *path = test_path("errors");
    int before = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3),
        file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600), ends[2],
        input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    CHECK_INT(pipe2(ends, O_CLOEXEC), 0);
    dup2(file, STDERR_FILENO);
    dup2(ends[0], STDIN_FILENO);
    struct cordon_agent *agent = open_with_key(
        "[ \"$(readlink /proc/self/fd/0)\" = /dev/null ] && echo noise >&2 && echo " KEY, &error);
    dup2(before, STDERR_FILENO);
    dup2(input, STDIN_FILENO);
    api_check_ok(&error);
    CHECK(agent != NULL);
    char *text = test_read(path);
    CHECK_Z(text, "");
    free(text);
    end_with_key(agent);
    const int fds[] = {before, file, ends[0], ends[1], input};
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        close(fds[i]);
}

TEST(api_key_command_without_an_exit_status_is_an_error)
{
    struct cordon_error error = {0};
    void (*before)(int) = signal(SIGCHLD, SIG_IGN);
    struct cordon_agent *agent = open_with_key("echo " KEY "; exit 1", &error);
    signal(SIGCHLD, before);
    CHECK(!agent);
    api_check_error(&error, "E_CONFIG", "exit status");
    end_with_key(agent);
}

static atomic_bool key_command_ended;

struct watch {
    char ending[256], looked[256]; /* files: the command is to end; this was seen */
    bool seen;
};

static void *watch_subreaper(void *context)
{
    struct watch *w = context;
    while (!key_command_ended) {
        int now = 0;
        bool ending = access(w->ending, F_OK) == 0;
        prctl(PR_GET_CHILD_SUBREAPER, &now);
        w->seen |= now != 0;
        if (ending)
            test_write(w->looked, "");
        usleep(1000);
    }
    return NULL;
}

TEST(api_key_command_does_not_change_the_process)
{
    struct cordon_error error = {0};
    struct watch watch = {0};
    char line[1024];
    int before = 0;
    pthread_t thread;
    snprintf(watch.ending, sizeof(watch.ending), "%s", test_path("ending"));
    snprintf(watch.looked, sizeof(watch.looked), "%s", test_path("looked"));
    snprintf(line, sizeof(line),
        "trap \"echo > %s\" TERM; head -c 10000 /dev/zero; until [ -e %s ]; do sleep 0.01; done",
        watch.ending, watch.looked);
    prctl(PR_GET_CHILD_SUBREAPER, &before);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    key_command_ended = false;
    CHECK_INT(pthread_create(&thread, NULL, watch_subreaper, &watch), 0);
    struct cordon_agent *agent = open_with_key(line, &error);
    key_command_ended = true;
    pthread_join(thread, NULL);
    prctl(PR_SET_CHILD_SUBREAPER, before);
    CHECK(!agent && !watch.seen);
    api_check_error(&error, "E_CONFIG", "printed more than");
    end_with_key(agent);
}

TEST(api_model_changes_with_a_changing_key_are_not_limited)
{
    struct cordon_error error = {0};
    char line[512];
    snprintf(line, sizeof(line), "echo x >> %s; wc -c < %s | sed s/^/" KEY "-/", test_path("count"),
        test_path("count"));
    struct cordon_agent *agent = open_with_key(line, &error);
    api_check_ok(&error);
    for (int i = 0; agent && i < 70; i++)
        CHECK_INT(cordon_agent_set_model(agent, i % 2 ? "one" : "two", &error), 0);
    api_check_ok(&error);
    end_with_key(agent);
}

/* Files and times ------------------------------------------------------------------------------ */

static struct cordon_agent *open_scripted(const char *system, struct cordon_error *error)
{
    test_write(test_path("script.json"),
        "{\"version\":1,\"model\":\"tester\",\"turns\":[{\"content\":[{\"text\":\"x\"}],"
        "\"usage\":{\"output_tokens\":5}}]}");
    const struct cordon_tools_options tools = {.size = sizeof(tools), .dir = test_dir()};
    const struct cordon_agent_options options = {.size = sizeof(options),
        .tools = &tools,
        .provider = "scripted",
        .script = test_path("script.json"),
        .system = system};
    api_home_begin();
    return cordon_agent_open(&options, error);
}

TEST(api_agent_does_not_wait_for_a_fifo)
{
    struct cordon_error error = {0};
    char fifo[512], system[520];
    snprintf(fifo, sizeof(fifo), "%s", test_path("fifo"));
    snprintf(system, sizeof(system), "@%s", fifo);
    CHECK_INT(mkfifo(fifo, 0600), 0);
    const char *const images[] = {fifo, NULL};
    struct cordon_agent *agent = open_scripted(NULL, &error);
    api_check_ok(&error);
    if (agent) {
        const struct cordon_turn turn = {.size = sizeof(turn), .prompt = "x", .images = images};
        CHECK(!cordon_agent_turn(agent, &turn, &error));
        api_check_error(&error, "E_IO", "not a regular file");
    }
    cordon_agent_free(agent);
    CHECK(!open_scripted(system, &error));
    api_check_error(&error, "E_IO", "not a regular file");
    api_home_end();
}

TEST(api_agent_accepts_any_time_limit)
{
    static const uint64_t limits[] = {UINT64_MAX, UINT64_MAX - 1000, UINT64_MAX / 2};
    for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
        struct cordon_error error = {0};
        struct cordon_agent *agent = open_scripted(NULL, &error);
        test_row(i, NULL);
        if (!api_check_ok(&error))
            continue;
        const struct cordon_turn turn = {
            .size = sizeof(turn), .prompt = "x", .max_time_ms = limits[i]};
        api_check_text(cordon_agent_turn(agent, &turn, &error), "\"done\"");
        api_check_ok(&error);
        cordon_agent_free(agent);
    }
    api_home_end();
}
