/* Arguments of tool calls from words, events of a run as JSON, events of calls in a file. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "agent/event_json.h"
#include "tool/call_arguments.h"
#include "tool/event_log.h"

#include <fcntl.h>
#include <sys/stat.h>

static const struct {
    const char *tool, *pair, *want; /* want: the object, or a part of the message */
    enum err_code code;
} pairs[] = {
    {"grep_files", "pattern=a=b", "{\"pattern\":\"a=b\"}", ERR_NONE},
    {"grep_files", "pattern=", "{\"pattern\":\"\"}", ERR_NONE},
    {"grep_files", "literal=true", "{\"literal\":true}", ERR_NONE},
    {"grep_files", "literal=yes", "{\"literal\":\"yes\"}", ERR_NONE},
    {"list_dir", "depth=2", "{\"depth\":2}", ERR_NONE},
    {"list_dir", "depth=two", "{\"depth\":\"two\"}", ERR_NONE},
    {"list_dir", "path=2", "{\"path\":\"2\"}", ERR_NONE},
    {"no such tool", "depth=2", "{\"depth\":\"2\"}", ERR_NONE},
    {"list_dir", "depth", "invalid value for --arg: expected NAME=VALUE, not 'depth'",
        E_CLI_INVALID_ARG},
    {"list_dir", "=2", "invalid value for --arg: expected NAME=VALUE", E_CLI_INVALID_ARG},
    {"list_dir", "\xff=2", "invalid argument name", E_CLI_INVALID_ARG},
};

TEST(call_arguments_take_the_type_of_the_tool)
{
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        AUTO_ERR struct err err = {0};
        AUTO_JSON json_t *object = json_object();
        AUTO_BUF struct buf text = BUF_INIT(4096);
        test_row(i, pairs[i].pair);
        bool ok = call_arguments_add(tool_find(str_z(pairs[i].tool)), pairs[i].pair, object, &err);
        CHECK_INT(ok, pairs[i].code == ERR_NONE);
        json_add_compact(&text, object);
        if (ok)
            CHECK_Z(buf_z(&text), pairs[i].want);
        else
            CHECK_ERR(&err, pairs[i].code, pairs[i].want);
    }
}

TEST(call_arguments_are_read_from_a_file_or_the_argument)
{
    AUTO_ERR struct err err = {0};
    AUTO_BUF struct buf word = BUF_INIT(4096), file = BUF_INIT(4096);
    test_write(test_path("arguments"), "{\"depth\": 1}");
    AUTO_BUF struct buf source = BUF_INIT(4096);
    buf_printf(&source, "@%s", test_path("arguments"));
    CHECK_OK(call_arguments_read("{}", &word, &err), &err);
    CHECK_Z(buf_z(&word), "{}");
    CHECK_OK(call_arguments_read(buf_z(&source), &file, &err), &err);
    CHECK_Z(buf_z(&file), "{\"depth\": 1}");
    CHECK(!call_arguments_read("@/nowhere/at/all", &file, &err));
    CHECK_ERR(&err, E_IO, "cannot open '/nowhere/at/all'");
}

TEST(event_json_has_a_type_first)
{
    const struct llm_event delta = {.kind = LLM_TEXT_DELTA, .index = 2, .delta = STR("hi")};
    const struct llm_event begin = {
        .kind = LLM_TOOL_CALL_BEGIN, .id = STR("c1"), .name = STR("shell")};
    const struct llm_event restart = {.kind = LLM_RESTART};
    const struct {
        struct agent_event event;
        const char *want; /* NULL: not reported */
    } rows[] = {
        {{.kind = AGENT_STREAM, .llm = &delta},
            "{\"type\":\"text_delta\",\"index\":2,\"delta\":\"hi\"}"},
        {{.kind = AGENT_STREAM, .llm = &begin},
            "{\"type\":\"tool_call_begin\",\"id\":\"c1\",\"name\":\"shell\"}"},
        {{.kind = AGENT_STREAM, .llm = &restart},
            "{\"type\":\"retry\",\"attempt\":0,\"delay_ms\":0,\"discard\":true}"},
        {{.kind = AGENT_ASKING}, NULL},
        {{.kind = AGENT_CALLING}, NULL},
        {{.kind = AGENT_COMPACTING}, NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_JSON json_t *object = event_json(&rows[i].event);
        AUTO_BUF struct buf text = BUF_INIT(4096);
        test_row(i, rows[i].want ? rows[i].want : "nothing");
        CHECK_INT(!object, !rows[i].want);
        if (!object || !rows[i].want)
            continue;
        json_add_compact(&text, object);
        CHECK_Z(buf_z(&text), rows[i].want);
    }
}

static void count(void *context, struct str text)
{
    int *n = context;
    CHECK(text.n > 0);
    ++*n;
}

/* A full pipe: one warning, and complete lines. */
TEST(event_log_warns_once_and_never_cuts_a_line)
{
    AUTO_ERR struct err err = {0};
    int warnings = 0;
    const char *path = test_path("events");
    CHECK_INT(mkfifo(path, 0600), 0);
    AUTO_FD int reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct event_log log = EVENT_LOG_INIT;
    if (!CHECK_OK(event_log_open(&log, path, (struct notices){count, &warnings}, &err), &err))
        return;
    const struct tool_event event = {.phase = TOOL_START, .tool = "shell", .run_id = "r"};
    struct tool_event_sink sink = event_log_sink(&log);
    for (int i = 0; i < 5000; i++)
        sink.tell(sink.context, &event);
    CHECK_INT(warnings, 1);
    AUTO_BUF struct buf all = BUF_INIT(1 << 20);
    for (int i = 0; i < 2; i++) {
        char *room;
        ssize_t n;
        while ((room = buf_reserve(&all, 4096)) && (n = read(reader, room, 4096)) > 0)
            buf_grown(&all, (size_t)n);
        sink.tell(sink.context, &event);
    }
    struct str line, rest = buf_str(&all);
    size_t lines = 0;
    for (; rest.n && str_cut(rest, '\n', &line, &rest); lines++)
        CHECK(str_starts_with(line, STR("{")) && str_ends_with(line, STR("}")));
    CHECK(lines > 100);
    event_log_close(&log);
}
