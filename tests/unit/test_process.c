/* Running commands: the loop, its budgets and its ends. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/clock.h"
#include "io/file.h"
#include "policy/load.h"
#include "session/exec.h"

#include <dirent.h>
#include <fcntl.h>

enum {
    ARENA_MAX = 64 << 20,
    OUTPUT_MAX = 64 * 1024,
};

static const char policy_text[] =
    "{\"policy_version\": 4, \"exec\": {\"allowed_executables\": [\"/bin/sh\", \"/bin/sleep\"],"
    " \"allow_shell\": true}, \"budgets\": {\"max_runtime_ms\": 20000}}";

static bool confine_script(
    struct confined *c, const char *script, struct arena *a, const char *argv[4], struct err *err)
{
    const struct confined_options options = {.command.path = "/bin/sh"};
    argv[0] = "sh";
    argv[1] = "-c";
    argv[2] = script;
    argv[3] = NULL;
    *c = (struct confined){.argv = argv};
    return policy_parse(str_z(policy_text), "test", a, &c->policy, err) &&
           confined_make(c, &options, a, err);
}

static void collect_output(void *context, struct str bytes)
{
    buf_add_str(context, bytes);
}

static const struct process_row {
    const char *name, *script;
    bool terminal;
    struct process_budgets budgets;
    enum process_news last;
    const char *output;
    int code, signal;
    bool by_harness;
} process_rows[] = {
    {"both pipes", "echo out; echo err >&2; exit 3", false, {20000, 1000}, PROCESS_EXITED, NULL, 3,
        0, false},
    {"a terminal", "echo out; exit 0", true, {20000, 1000}, PROCESS_EXITED, "out\r\n", 0, 0, false},
    {"a signal", "kill -9 $$", false, {20000, 1000}, PROCESS_EXITED, "", -1, 9, false},
    {"output up to the budget", "printf 12345", false, {20000, 5}, PROCESS_EXITED, "12345", 0, 0,
        false},
    {"output over the budget", "printf 123456; sleep 20", false, {20000, 5}, PROCESS_FAILED,
        "12345", -1, 9, true},
    {"time over the budget", "sleep 20", true, {300, 1000}, PROCESS_FAILED, "", -1, 9, true},
};

static void count_exits(void *context, const struct session_event *event)
{
    struct buf *out = context;
    if (event->type == SESSION_EVENT_EXIT)
        buf_add_byte(out, '!');
}

TEST(process_rows_end)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    for (size_t i = 0; i < ARRAY_LEN(process_rows); i++) {
        const struct process_row *row = &process_rows[i];
        AUTO_ERR struct err err = {0};
        AUTO_BUF struct buf out = BUF_INIT(OUTPUT_MAX);
        const char *argv[4];
        struct confined c;
        struct process p;
        test_row(i, row->name);
        if (!CHECK_OK(confine_script(&c, row->script, &a, argv, &err), &err))
            continue;
        const struct process_options options = {
            .launch = {.plan = &c.plan,
                .argv = c.argv,
                .envp = c.envp,
                .terminal = row->terminal,
                .rows = 24,
                .cols = 80},
            .budgets = row->budgets,
            .cancel = -1,
            .output = collect_output,
            .event = count_exits,
            .context = &out,
        };
        if (!CHECK_OK(process_open(&options, &p, &err), &err))
            continue;
        enum process_news news;
        while ((news = process_next(&p, UINT64_MAX)) == PROCESS_OUTPUT)
            continue;
        CHECK_INT(news, row->last);
        CHECK_INT(process_next(&p, UINT64_MAX), row->last);
        CHECK_INT(p.exit.code, row->code);
        CHECK_INT(p.exit.signal, row->signal);
        CHECK_INT(p.exit.by_harness, row->by_harness);
        CHECK_INT(p.error.code, row->last == PROCESS_FAILED ? E_TIMEOUT : 0);
        process_report_exit(&p);
        process_report_exit(&p);
        CHECK(out.n && out.p[out.n - 1] == '!');
        if (row->output)
            CHECK_STR(str_head(buf_str(&out), out.n - 1), str_z(row->output));
        process_close(&p);
    }
}

/* Forwards to a file; the deadline and the descriptor to watch are reported; a kill ends it. */
TEST(process_forwards_and_is_killed)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    AUTO_ERR struct err err = {0};
    AUTO_BUF struct buf out = BUF_INIT(OUTPUT_MAX), text = BUF_INIT(OUTPUT_MAX);
    AUTO_FD int file = file_nameless(), null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const char *argv[4];
    struct confined c;
    struct process p;
    if (!CHECK_OK(confine_script(&c, "echo one; sleep 20", &a, argv, &err), &err))
        return;
    const struct process_streams streams = {-1, {file, -1}};
    const struct process_options options = {
        .launch = {.plan = &c.plan, .argv = c.argv, .envp = c.envp},
        .budgets = {UINT64_MAX, UINT64_MAX},
        .streams = &streams,
        .cancel = -1,
        .output = collect_output,
        .context = &out,
    };
    if (!CHECK_OK(process_open(&options, &p, &err), &err))
        return;
    while (out.n < 4)
        CHECK_INT(process_next(&p, UINT64_MAX), PROCESS_OUTPUT);
    CHECK_INT(process_next(&p, clock_mono_ms() + 20), PROCESS_TIME);
    process_watch(&p, null);
    CHECK_INT(process_next(&p, UINT64_MAX), PROCESS_INPUT);
    process_watch(&p, -1);
    process_kill(&p);
    CHECK_INT(process_next(&p, UINT64_MAX), PROCESS_EXITED);
    CHECK(p.exit.known && p.exit.by_harness);
    CHECK_INT(p.exit.signal, SIGKILL);
    process_close(&p);
    CHECK_INT(lseek(file, 0, SEEK_SET), 0);
    CHECK_OK(file_read(file, OUTPUT_MAX, "output", &text, &err), &err);
    CHECK_STR(buf_str(&text), STR("one\n"));
}

TEST(process_queue_has_a_limit)
{
    AUTO_BUF struct buf much = BUF_INIT(PROCESS_QUEUE_MAX + 1);
    struct process p = {.queue = BUF_INIT(PROCESS_QUEUE_MAX + 1), .relays = {{.from = -1}}};
    for (size_t i = 0; i < PROCESS_QUEUE_MAX; i++)
        buf_add_byte(&much, 'x');
    CHECK(process_queue(&p, buf_str(&much)));
    CHECK(!process_queue(&p, STR("x")));
    CHECK(process_queue(&p, STR("")));
    CHECK_INT(p.queue.n, PROCESS_QUEUE_MAX);
    buf_done(&p.queue);
}

/* A refused command has no plan. */
TEST(confined_refuses)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    AUTO_ERR struct err err = {0};
    const struct denial other = {"fs", "not today", STR("true"), "a reason", "a remedy", false};
    struct confined c = {0};
    CHECK_OK(policy_parse(str_z(policy_text), "test", &a, &c.policy, &err), &err);
    struct confined_options options = {.command.path = "/bin/ls"};
    CHECK(!confined_make(&c, &options, &a, &err));
    CHECK_INT(err.code, E_POLICY_DENIED);
    CHECK(!c.envp && c.plan.n_steps == 0);
    err_done(&err);
    err = (struct err){0};
    options = (struct confined_options){.command.path = "/bin/sh", .denial = &other};
    CHECK(!confined_make(&c, &options, &a, &err));
    CHECK_INT(c.verdict.denials.n, 1);
    err_done(&err);
    err = (struct err){0};
    options =
        (struct confined_options){.inside_command = STR("/opt/inside"), .inside_cwd = STR("/opt")};
    CHECK_OK(confined_make(&c, &options, &a, &err), &err);
    CHECK_STR(c.plan.command, STR("/opt/inside"));
    CHECK_STR(c.plan.cwd, STR("/opt"));
    CHECK(c.envp && c.envp[0]);
}

/* Denials ------------------------------------------------------------------------------------- */

static const char *find_listener(int *ret_fd)
{
    static char name[64];
    DIR *list = opendir("/proc/self/fd");
    struct dirent *entry;
    const char *found = NULL;
    while (!found && (entry = readdir(list))) {
        ssize_t n = readlinkat(dirfd(list), entry->d_name, name, sizeof(name) - 1);
        name[n > 0 ? n : 0] = '\0';
        if (strstr(name, "seccomp notify"))
            found = name;
        if (found)
            *ret_fd = (int)strtol(entry->d_name, NULL, 10);
    }
    closedir(list);
    return found;
}

/* Replaces the listener by an ordinary file, as soon as the command has printed something. */
static void break_listener(void *context, struct str bytes)
{
    int *breaks = context, fd = -1;
    (void)bytes;
    if (!*breaks || !find_listener(&fd))
        return;
    AUTO_FD int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    CHECK_INT(dup3(null, fd, O_CLOEXEC), fd);
    *breaks = 2;
}

TEST(process_whose_listener_fails_is_killed)
{
    for (int breaks = 0; breaks < 2; breaks++) {
        AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
        AUTO_ERR struct err err = {0};
        const char *argv[4];
        struct confined c;
        struct exec_result result;
        int done = breaks;
        if (!CHECK_OK(
                confine_script(&c,
                    "echo x; i=0; while [ $i -lt 2000 ]; do : </dev/null; i=$((i+1)); done; exit 3",
                    &a, argv, &err),
                &err))
            return;
        c.denied = denied_new();
        const struct exec_options options = {.confined = &c,
            .input = -1,
            .output = {-1, -1},
            .signals = -1,
            .cancel = -1,
            .seen = break_listener,
            .context = &done};
        test_row((size_t)breaks, breaks ? "broken" : "control");
        if (CHECK_OK(exec_run(&options, &result, &err), &err)) {
            CHECK_INT(result.status, breaks ? EXEC_ERRORED : EXEC_FAILED);
            CHECK_ERR(&result.error, breaks ? E_INTERNAL : E_PROCESS_EXIT,
                breaks ? "answers the sandbox's system calls" : "exit status 3");
            CHECK_INT(done, breaks ? 2 : 0);
            err_done(&result.error);
        }
        denied_free(c.denied);
    }
}
