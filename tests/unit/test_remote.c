/* Tools in another process: which answers are accepted, and when the process is gone. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "tool/remote.h"

#include <signal.h>
#include <sys/signalfd.h>

/* A process that reads one call and then prints this. */
static struct remote *stranger(const char *script)
{
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    struct remote *r = NULL;
    AUTO_ERR struct err err = {0};
    CHECK(remote_start(argv, REMOTE_PROGRAM, &r, &err));
    return r;
}

#define OK1(more) "{\"status\":\"ok\",\"message\":\"m\",\"content\":\"c\",\"request_id\":1" more "}"

static const struct {
    const char *name, *script;
    enum err_code code;
    const char *text; /* in the message, or the content */
} rows[] = {
    {"an answer", "read l; echo '" OK1("") "'", ERR_NONE, "c"},
    {"an error",
        "read l; echo "
        "'{\"status\":\"error\",\"code\":\"E_FS_VIOLATION\",\"message\":\"out\",\"content\":\"\","
        "\"request_id\":1}'",
        E_FS_VIOLATION, "out"},
    {"an invalid code",
        "read l; echo "
        "'{\"status\":\"error\",\"code\":\"E_X\",\"message\":\"out\",\"content\":\"\",\"request_"
        "id\":1}'",
        E_INTERNAL, "out"},
    {"another call's",
        "read l; echo '{\"status\":\"ok\",\"message\":\"\",\"content\":\"\",\"request_id\":2}'",
        E_IO, "the box sent an invalid answer"},
    {"no JSON", "read l; echo hello", E_IO, "the box sent an invalid answer"},
    {"a list", "read l; echo '[]'", E_IO, "the box sent an invalid answer"},
    {"content that is not text",
        "read l; echo '{\"status\":\"ok\",\"message\":\"\",\"content\":3,\"request_id\":1}'", E_IO,
        "the box sent an invalid answer"},
    {"details of another type", "read l; echo '" OK1(",\"details\":[1],\"changes\":7") "'",
        ERR_NONE, "c"},
    {"half an answer", "read l; printf '{\"status\":'", E_IO, "lost in the middle of an answer"},
    {"nothing", "read l", E_IO, "was lost;"},
    {"two answers", "read l; printf '%s\\n%s\\n' '" OK1("") "' '" OK1("") "'", E_IO, "more than"},
    {"no end of line", "read l; exec yes | tr -d '\\n'", E_IO, "lost in the middle of an answer"},
    {"no such program", "exec /nonexistent/cordon 2>&-", E_IO, "box"},
};

TEST(remote_answers_are_checked)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ERR struct err err = {0};
        AUTO_JSON json_t *arguments = json_object();
        struct tool_result result;
        struct remote *r = stranger(rows[i].script);
        test_row(i, rows[i].name);
        tool_result_init(&result);
        bool ok = remote_call(r, "read_file", arguments, -1, &result, &err);
        CHECK(ok == (rows[i].code == ERR_NONE));
        if (ok)
            CHECK_Z(buf_z(&result.content), rows[i].text);
        else
            CHECK_ERR(&err, rows[i].code, rows[i].text);
        err_done(&err);
        if (rows[i].code == E_IO) {
            CHECK(!remote_call(r, "read_file", arguments, -1, &result, &err));
            CHECK_ERR(&err, E_IO, "the connection to the box was lost");
        }
        tool_result_done(&result);
        remote_stop(r);
    }
}

/* Signals us to interrupt it, answers when it is interrupted, and answers one more call. */
static const char listens[] =
    "J='" OK1("") "'; trap 'echo \"$J\"; read l; echo \"$J\" | tr 1 2; exit' INT\n"
                  "read l; kill -USR1 $PPID; while :; do sleep 0.01; done";

static void interrupt_one(struct remote *r, int signals, bool lives)
{
    AUTO_ERR struct err err = {0};
    AUTO_JSON json_t *arguments = json_object();
    struct tool_result result;
    tool_result_init(&result);
    CHECK(!remote_call(r, "shell", arguments, signals, &result, &err));
    CHECK_ERR(&err, E_CANCELED, "");
    err_done(&err);
    CHECK(remote_call(r, "shell", arguments, -1, &result, &err) == lives);
    tool_result_done(&result);
    remote_stop(r);
}

TEST(remote_interruptions_are_passed_on)
{
    sigset_t set, before;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, &before);
    AUTO_FD int signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    interrupt_one(stranger(listens), signals, true);
    interrupt_one(stranger("read l; kill -USR1 $PPID; exec sleep 1000"), signals, false);
    sigprocmask(SIG_SETMASK, &before, NULL);
}
