/* Replay: what is not compared, what is, and the places of screens in a transcript. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "cordon.h"
#include "job/replay_job.h"
#include "policy/load.h"
#include "record/refeed.h"
#include "replay/replay_compare.h"
#include "replay/replay_report.h"
#include "replay/replay_source.h"
#include "trace/trace_source.h"

#include <fcntl.h>
#include <sys/stat.h>

enum {
    ALL = (1 << FILTERS) - 1,
};

static json_t *parse(const char *text)
{
    json_t *tree = NULL;
    AUTO_ERR struct err err = {0};
    CHECK_OK(json_parse(str_z(text), "test", E_PROTOCOL, &tree, &err), &err);
    return tree;
}

/* The replay part of a policy. */
static void read_policy(struct arena *a, const char *replay, struct policy *ret_policy)
{
    AUTO_BUF struct buf text = BUF_INIT(4096);
    AUTO_ERR struct err err = {0};
    buf_printf(&text, "{\"policy_version\": 4, \"replay\": %s}", replay);
    CHECK_OK(policy_parse(buf_str(&text), "test", a, ret_policy, &err), &err);
}

TEST(replay_filters_are_those_of_the_policy)
{
    AUTO_ERR struct err err = {0};
    unsigned bit, all = 0;
    static const char *const names[] = {"snapshot_id", "run_id", "run_timestamps",
        "step_timestamps", "observation_timestamp", "session_id"};
    for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
        test_row(i, names[i]);
        CHECK_OK(normalization_filter(str_z(names[i]), E_PROTOCOL, &bit, &err), &err);
        CHECK_INT(bit, 1u << i);
        CHECK_Z(policy_filters[i], names[i]);
        all |= bit;
    }
    CHECK(!policy_filters[FILTERS]);
    CHECK_OK(normalization_filter(STR("all"), E_PROTOCOL, &bit, &err), &err);
    CHECK_INT(bit, all);
    CHECK_OK(normalization_filter(STR("none"), E_PROTOCOL, &bit, &err), &err);
    CHECK_INT(bit, 0);
    CHECK(!normalization_filter(STR("run_ids"), E_CLI_INVALID_ARG, &bit, &err));
    CHECK_ERR(&err, E_CLI_INVALID_ARG, "unknown normalization filter 'run_ids'");
}

TEST(replay_normalization_has_a_precedence)
{
    static const struct {
        const char *policy;
        struct normalization_options options;
        const char *source;
        bool strict;
        unsigned filters;
        size_t rules;
    } rows[] = {
        {"{}", {0}, "default", false, ALL, 0},
        {"{\"normalization_filters\": []}", {0}, "policy", false, 0, 0},
        {"{\"normalization_filters\": [\"run_id\"]}", {0}, "policy", false, 1 << FILTER_RUN_ID, 0},
        {"{\"strict\": true}", {0}, "policy", true, 0, 0},
        {"{\"strict\": true, \"normalization_filters\": [\"run_id\"]}", {0}, "policy", true, 0, 0},
        {"{\"normalization_rules\": [{\"target\": \"transcript\", \"pattern\": \"a\", "
         "\"replace\": \"b\"}]}",
            {0}, "policy", false, ALL, 1},
        {"{\"normalization_rules\": [{\"target\": \"transcript\", \"pattern\": \"a\", "
         "\"replace\": \"b\"}]}",
            {.strict = true}, "cli", true, 0, 0},
        {"{\"normalization_rules\": [{\"target\": \"transcript\", \"pattern\": \"a\", "
         "\"replace\": \"b\"}], \"normalization_filters\": [\"run_id\"]}",
            {.given = true, .filters = ALL}, "cli", false, ALL, 1},
        {"{\"strict\": true}", {.given = true, .filters = ALL}, "cli", false, ALL, 0},
        {"{}", {.given = true, .filters = 1 << FILTER_SESSION_ID}, "cli", false,
            1 << FILTER_SESSION_ID, 0},
        {"{}", {.given = true, .strict = true}, "cli", true, 0, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
        AUTO_ERR struct err err = {0};
        struct policy policy;
        struct normalization n;
        test_row(i, rows[i].policy);
        read_policy(&a, rows[i].policy, &policy);
        if (!CHECK_OK(normalization_init(&policy.replay, &rows[i].options, &n, &err), &err))
            continue;
        AUTO_JSON json_t *record = normalization_json(&n);
        CHECK_Z(n.source, rows[i].source);
        CHECK_INT(n.strict, rows[i].strict);
        CHECK_INT(n.filters, rows[i].filters);
        CHECK_INT(json_array_size(json_object_get(record, "rules")), rows[i].rules);
        CHECK_INT(json_array_size(json_object_get(record, "filters")),
            __builtin_popcount(rows[i].filters));
        normalization_done(&n);
    }
}

static const char two_rules[] =
    "{\"normalization_rules\": ["
    "{\"target\": \"snapshot_lines\", \"pattern\": \"[0-9]+\", \"replace\": \"N\"},"
    "{\"target\": \"snapshot_lines\", \"pattern\": \"^N (.)\", \"replace\": \"<$1>\"},"
    "{\"target\": \"transcript\", \"pattern\": \"x$\", \"replace\": \"\"}]}";

TEST(replay_rules_one_after_the_other)
{
    static const struct {
        enum policy_target target;
        const char *text, *want;
    } rows[] = {
        {POLICY_TARGET_SNAPSHOT_LINES, "12 abc 3", "<a>bc N"},
        {POLICY_TARGET_SNAPSHOT_LINES, "", ""},
        {POLICY_TARGET_SNAPSHOT_LINES, "日 7x", "日 Nx"},
        {POLICY_TARGET_TRANSCRIPT, "1x\n2x\n", "1\n2\n"},
    };
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    AUTO_ERR struct err err = {0};
    struct policy policy;
    struct normalization n;
    read_policy(&a, two_rules, &policy);
    if (!CHECK_OK(normalization_init(&policy.replay, NULL, &n, &err), &err))
        return;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_BUF struct buf out = BUF_INIT(1024);
        test_row(i, rows[i].text);
        CHECK_OK(normalization_text(&n, rows[i].target, str_z(rows[i].text), &out, &err), &err);
        CHECK_STR(buf_str(&out), str_z(rows[i].want));
    }
    normalization_done(&n);
}

TEST(replay_rule_that_does_not_compile)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    AUTO_ERR struct err err = {0};
    struct policy policy;
    struct normalization n;
    read_policy(&a,
        "{\"normalization_rules\": [{\"target\": \"transcript\", \"pattern\": \"a\", "
        "\"replace\": \"\"}, {\"target\": \"transcript\", \"pattern\": \"(\", \"replace\": \"\"}]}",
        &policy);
    CHECK(!normalization_init(
        &policy.replay, &(struct normalization_options){.strict = true}, &n, &err));
    CHECK_ERR(&err, E_PROTOCOL, "replay.normalization_rules[1].pattern");
}

TEST(replay_screens)
{
    static const struct {
        const char *was, *is;
        const char *message; /* NULL: the same */
        size_t rows;
    } rows[] = {
        {"{\"lines\":[\"a\"]}", "{\"lines\":[\"a\"]}", NULL, 0},
        {"{\"snapshot_id\":\"1\",\"lines\":[]}", "{\"snapshot_id\":\"2\",\"lines\":[]}", NULL, 0},
        {"{\"lines\":[\"a\",\"b\",\"c\"]}", "{\"lines\":[\"a\",\"x\",\"y\"]}",
            "step 3 'it': row 1 differs: expected 'b', got 'x'", 2},
        {"{\"lines\":[\"a\"]}", "{\"lines\":[\"a\",\"b\"]}", "row 1 differs: expected '', got 'b'",
            1},
        {"{\"lines\":[\"5 a\"]}", "{\"lines\":[\"77 a\"]}", NULL, 0},
        {"{\"lines\":[\"5 a\"]}", "{\"lines\":[\"77 b\"]}", "expected '<a>', got '<b>'", 1},
        {"{\"lines\":[\"a\"],\"cells\":[[1,2]]}", "{\"lines\":[\"a\"],\"cells\":[[1,3]]}",
            "row 0 differs in style: 'a'", 1},
        {"{\"lines\":[\"5\"],\"cells\":[[5]]}", "{\"lines\":[\"6\"],\"cells\":[[6]]}", NULL, 0},
        {"{\"lines\":[\"a\"],\"cells\":[[1,2]]}", "{\"lines\":[\"a\"]}", NULL, 0},
        {"{\"lines\":[],\"title\":\"t\"}", "{\"lines\":[],\"title\":\"u\"}",
            "title differs: expected \"t\", got \"u\"", 0},
        {"{\"lines\":[],\"rows\":1}", "{\"lines\":[]}", "rows differs: expected 1, got ", 0},
        {"{\"lines\":[],\"cursor\":{\"row\":1}}", "{\"lines\":[],\"cursor\":{\"row\":2}}",
            "cursor differs", 0},
    };
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    AUTO_ERR struct err err = {0};
    struct policy policy;
    struct normalization n;
    const struct timeline_mark point = {.step = 2, .id = STR("it")};
    read_policy(&a, two_rules, &policy);
    if (!CHECK_OK(normalization_init(&policy.replay, NULL, &n, &err), &err))
        return;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_JSON json_t *was = parse(rows[i].was), *is = parse(rows[i].is);
        struct mismatch m = {0};
        test_row(i, rows[i].was);
        CHECK_OK(compare_screens(&n, &(struct compare_place){4, &point}, was, is, &m, &err), &err);
        CHECK((m.kind == NULL) == (rows[i].message == NULL));
        CHECK_INT(json_array_size(m.rows), rows[i].rows);
        if (m.kind) {
            CHECK_Z(m.kind, "snapshot");
            CHECK_INT(m.index, 4);
            CHECK_ERR(&m.error, E_REPLAY_MISMATCH, rows[i].message);
        }
        mismatch_done(&m);
    }
    normalization_done(&n);
}

/* A value of another type must not be taken for a blank row. */
TEST(replay_snapshot_with_wrong_types_is_an_error)
{
    static const struct {
        const char *was, *message;
    } rows[] = {
        {"{}", "snapshots/0005.json: lines (0): expected a list, not nothing"},
        {"{\"lines\":7}", "lines (0): expected a list, not an integer"},
        {"{\"lines\":{\"x\":1}}", "lines (0): expected a list, not an object"},
        {"{\"lines\":[\"\",123]}", "lines (1): expected a string, not an integer"},
        {"{\"lines\":[\"\",{\"x\":1}]}", "lines (1): expected a string, not an object"},
        {"{\"lines\":[\"\",null]}", "lines (1): expected a string, not null"},
        {"{\"lines\":[\"\",\"\"],\"cells\":7}", "cells (0): expected a list, not nothing"},
        {"{\"lines\":[\"\",\"\"],\"cells\":[[]]}", "cells (1): expected a list, not nothing"},
        {"{\"lines\":[\"\",\"\"],\"cells\":[[],{}]}", "cells (1): expected a list, not an object"},
    };
    const struct normalization n = {.strict = true};
    AUTO_JSON json_t *is = parse("{\"lines\":[\"\",\"\"]}");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ERR struct err err = {0};
        AUTO_JSON json_t *was = parse(rows[i].was);
        struct mismatch m = {0};
        test_row(i, rows[i].was);
        CHECK(!compare_screens(&n, &(struct compare_place){4, NULL}, was, is, &m, &err));
        CHECK_ERR(&err, E_PROTOCOL, rows[i].message);
        mismatch_done(&m);
    }
}

static json_t *long_text(size_t n, char last)
{
    AUTO_BUF struct buf text = BUF_INIT(4 << 20);
    memset(buf_reserve(&text, n), 'a', n);
    buf_grown(&text, n);
    buf_add_byte(&text, last);
    return json_text(buf_str(&text));
}

TEST(replay_line_that_is_too_long_is_not_a_blank_one)
{
    const struct normalization n = {.strict = true};
    AUTO_ERR struct err err = {0};
    AUTO_JSON json_t *is = parse("{\"lines\":[\"\"]}"), *was = parse("{\"lines\":[]}");
    struct mismatch m = {0};
    json_push(json_object_get(was, "lines"), long_text(1400 * 1000, 'b'));
    CHECK(!compare_screens(&n, &(struct compare_place){4, NULL}, was, is, &m, &err));
    CHECK_ERR(&err, E_PROTOCOL, "snapshots/0005.json: lines (0): expected at most 1 MiB");
    mismatch_done(&m);
}

TEST(replay_text_that_does_not_fit_is_an_error)
{
    const struct normalization n = {.strict = true};
    AUTO_ERR struct err err = {0};
    AUTO_BUF struct buf out = BUF_INIT(4);
    CHECK(!normalization_text(&n, POLICY_TARGET_TRANSCRIPT, STR("12345"), &out, &err));
    CHECK_ERR(&err, E_PROTOCOL, "too long to be compared");
}

/* Longer than the part of a value that a message shows. */
TEST(replay_long_values_are_compared_to_their_ends)
{
    AUTO_JSON json_t *was = json_object(), *is = json_object(), *same = json_object();
    struct mismatch m = {0};
    json_put(was, "status", long_text(5000, 'b'));
    json_put(is, "status", long_text(5000, 'c'));
    json_put(same, "status", long_text(5000, 'b'));
    compare_ends(was, same, true, &m);
    CHECK(!m.kind);
    compare_ends(was, is, true, &m);
    CHECK_STR(str_z(m.kind ? m.kind : ""), STR("status"));
    mismatch_done(&m);
}

TEST(replay_steps_and_ends)
{
    static const struct {
        bool ends, exact;
        const char *was, *is;
        const char *kind; /* NULL: the same */
    } rows[] = {
        {false, false, "{\"status\":\"passed\"}", "{\"status\":\"passed\",\"x\":1}", NULL},
        {false, false, "{\"status\":\"passed\"}", "{\"status\":\"failed\"}", "step"},
        {false, false, "{\"status\":\"passed\"}", "{}", "step"},
        {false, false, "{\"error\":{\"code\":\"E_IO\"}}", "{\"error\":{\"code\":\"E_IO\"}}", NULL},
        {false, false, "{\"error\":{\"code\":\"E_IO\"}}", "{\"error\":{\"code\":\"E_TIMEOUT\"}}",
            "step"},
        {false, false, "{\"error\":{\"context\":{\"assertion\":\"a\"}}}",
            "{\"error\":{\"context\":{\"assertion\":\"b\"}}}", "step"},
        {true, false, "{\"exit_status\":{\"exit_code\":1}}", "{\"exit_status\":{\"exit_code\":1}}",
            NULL},
        {true, false, "{\"exit_status\":{\"exit_code\":1}}", "{\"exit_status\":{\"exit_code\":2}}",
            "exit_status"},
        {true, false, "{\"exit_status\":{\"exit_code\":1}}",
            "{\"exit_status\":{\"signal\":9,\"terminated_by_harness\":true}}", NULL},
        {true, true, "{\"exit_status\":{\"exit_code\":1}}",
            "{\"exit_status\":{\"signal\":9,\"terminated_by_harness\":true}}", "exit_status"},
        {true, false, "{\"status\":\"passed\"}", "{\"status\":\"errored\"}", "status"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_JSON json_t *was = parse(rows[i].was), *is = parse(rows[i].is);
        struct mismatch m = {0};
        test_row(i, rows[i].was);
        if (rows[i].ends)
            compare_ends(was, is, rows[i].exact, &m);
        else
            compare_steps(1, was, is, &m);
        CHECK_STR(str_z(m.kind ? m.kind : ""), str_z(rows[i].kind ? rows[i].kind : ""));
        mismatch_done(&m);
    }
}

TEST(replay_names_are_compared_where_no_filter_is)
{
    static const char was[] =
        "{\"run_id\":1,\"started_at_ms\":0,\"ended_at_ms\":2,\"steps\":[{\"started_at_ms\":1}],"
        "\"final_observation\":{\"session_id\":3,\"timestamp_ms\":4,\"screen\":{\"snapshot_id\":5}}"
        "}";
    static const char is[] =
        "{\"run_id\":9,\"started_at_ms\":0,\"ended_at_ms\":9,\"steps\":[{\"started_at_ms\":9}],"
        "\"final_observation\":{\"session_id\":9,\"timestamp_ms\":9,\"screen\":{\"snapshot_id\":9}}"
        "}";
    AUTO_JSON json_t *a = parse(was), *b = parse(is);
    for (unsigned i = 0; i < FILTERS; i++) {
        struct mismatch m = {0};
        test_row(i, policy_filters[i]);
        compare_names(&(struct normalization){.filters = ALL & ~(1u << i)}, a, b, &m);
        CHECK_STR(str_z(m.kind ? m.kind : ""), str_z(policy_filters[i]));
        mismatch_done(&m);
    }
    struct mismatch m = {0};
    compare_names(&(struct normalization){.filters = ALL}, a, b, &m);
    CHECK(!m.kind);
}

TEST(replay_transcripts)
{
    static const struct {
        const char *was, *is;
        int64_t line; /* -1: the same */
    } rows[] = {
        {"", "", -1},
        {"a\nb\n", "a\nb\n", -1},
        {"a\nb\n", "a\nc\n", 1},
        {"a\n", "a\nb\n", 1},
        {"a\n", "a", 1},
        {"\xff\n", "\xfe\n", 0},
    };
    const struct normalization n = {.strict = true};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ERR struct err err = {0};
        struct mismatch m = {.index = -1};
        test_row(i, rows[i].was);
        CHECK_OK(compare_transcripts(&n, str_z(rows[i].was), str_z(rows[i].is), &m, &err), &err);
        CHECK((m.kind != NULL) == (rows[i].line >= 0));
        CHECK_INT(m.index, rows[i].line);
        mismatch_done(&m);
    }
}

#define RUN(size, steps)                                                                    \
    "{\"mode\":\"run\",\"scenario\":{\"run\":{\"initial_size\":" size "}},\"steps\":" steps \
    ",\"final_observation\":{\"screen\":{}}}"
#define STEP(action, bytes)                                             \
    "{\"step_id\":\"s\",\"snapshot\":\"x\",\"transcript_bytes\":" bytes \
    ",\"action\":{\"type\":" action "}}"

TEST(replay_steps_of_a_run)
{
    static const struct {
        const char *run;
        size_t n;
        const char *message; /* NULL: it is readable */
    } rows[] = {
        {RUN("{\"rows\":2,\"cols\":9}", "[]"), 1, NULL},
        {RUN("{\"rows\":2,\"cols\":9}",
             "[" STEP("\"key\"", "3") ",{\"step_id\":\"t\"}," STEP("\"key\"", "5") "]"),
            3, NULL},
        {RUN("{\"rows\":0,\"cols\":9}", "[]"), 0, "initial_size"},
        {RUN("{\"rows\":2}", "[]"), 0, "initial_size"},
        {RUN("{\"rows\":2,\"cols\":9}", "7"), 0, "steps (0): expected a list"},
        {RUN("{\"rows\":2,\"cols\":9}", "[7]"), 0, "an object with a step_id"},
        {RUN("{\"rows\":2,\"cols\":9}", "[" STEP("\"key\"", "7") "]"), 0,
            "an offset in the transcript"},
        {RUN("{\"rows\":2,\"cols\":9}", "[" STEP("\"key\"", "-1") "]"), 0,
            "an offset in the transcript"},
        {RUN("{\"rows\":2,\"cols\":9}", "[" STEP("\"key\"", "5") "," STEP("\"key\"", "4") "]"), 0,
            "(1): expected an offset"},
        {RUN("{\"rows\":2,\"cols\":9}", "[" STEP("\"resize\"", "5") "]"), 0, "rows and cols"},
        {"{\"mode\":\"exec\",\"final_observation\":{\"screen\":{\"rows\":3,\"cols\":4}}}", 1, NULL},
        {"{\"mode\":\"exec\",\"final_observation\":{\"screen\":{\"rows\":3}}}", 0, "rows and cols"},
        {"{\"mode\":\"exec\",\"final_observation\":{\"screen\":null}}", 0, NULL},
        {"{\"mode\":\"driver\"}", 0, "driver"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ERR struct err err = {0};
        AUTO_JSON json_t *run = parse(rows[i].run);
        AUTO(timeline_done) struct timeline timeline = TIMELINE_NONE;
        test_row(i, rows[i].run);
        bool ok = timeline_read_steps(run, 6, &timeline, &err);
        CHECK(ok == (rows[i].message == NULL));
        CHECK_INT(timeline.n, rows[i].n);
        if (!ok && rows[i].message)
            CHECK_ERR(&err, err.code, rows[i].message);
    }
}

/* A resize comes where the step before ended, not where its own screen is. */
TEST(replay_job_needs_no_callbacks)
{
    static const char *const argv[] = {"/usr/bin/printf", "hello", NULL};
    const struct cordon_command command = {.size = sizeof(command), .argv = argv};
    const struct cordon_run_options options = {
        .size = sizeof(options), .artifacts = test_path("record")};
    struct cordon_error error = {0};
    struct cordon_result *run = cordon_run_exec(&command, &options, &error);
    if (!CHECK(run != NULL))
        return;
    cordon_result_free(run);
    static const struct {
        const char *name, *transcript;
        bool offline;
        const char *kind;
    } rows[] = {
        {"offline", NULL, true, NULL},
        {"run again", NULL, false, NULL},
        {"changed", "other", false, "checksum"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(64 << 20);
        AUTO(replay_result_done) struct replay_result r = REPLAY_RESULT_NONE;
        AUTO_ERR struct err err = {0};
        test_row(i, rows[i].name);
        if (rows[i].transcript)
            test_write(test_path("record/transcript.log"), rows[i].transcript);
        const struct replay_job_options job = {
            .arena = &a,
            .recording = test_path("record"),
            .offline = rows[i].offline,
            .ack = {.read = true},
        };
        if (!CHECK_OK(replay_job(&job, &r, &err), &err))
            continue;
        CHECK_Z(r.mismatch.kind, rows[i].kind);
        CHECK_Z(json_string_value(json_object_get(r.report.replay, "status")),
            rows[i].kind ? "failed" : "passed");
        CHECK(faccessat(r.dir, r.report.name, F_OK, 0) == 0);
    }
}

TEST(replay_job_without_a_recording_fails)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    AUTO(replay_result_done) struct replay_result r = REPLAY_RESULT_NONE;
    AUTO_ERR struct err err = {0};
    CHECK(
        !replay_job(&(struct replay_job_options){.arena = &a, .recording = test_dir()}, &r, &err));
    CHECK_INT(err.code, E_NOT_FOUND);
    CHECK_INT(r.dir, -1);
}

TEST(replay_refeed_with_sizes)
{
    struct timeline_mark list[] = {
        {.offset = 3}, {.offset = 4, .resize = {3, 2, 2}}, {.offset = 4}, {.offset = 20}};
    const struct timeline timeline = {.rows = 1, .cols = 5, .marks = list, .n = ARRAY_LEN(list)};
    /* The last mark is behind the end: another run may have printed less. */
    static const char *const lines[] = {"abc", "cd", "cd", "gh"};
    struct term *term = refeed_term(&timeline, NULL, NULL);
    struct refeed r = {.timeline = &timeline, .bytes = STR("abcdefgh"), .term = term};
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        refeed_to(&r, i);
        AUTO_JSON json_t *screen = compare_screen_of(term, false);
        const json_t *text = json_object_get(screen, "lines");
        test_row(i, lines[i]);
        CHECK_STR(json_str(json_array_get(text, json_array_size(text) - 1)), str_z(lines[i]));
    }
    term_free(term);
}

/* A replay directory whose diff.json was written at this second; -1: it did not differ. */
static void write_replay(int number, int written_s)
{
    const char *diff = test_path("replay-%02d/diff.json", number);
    test_write(test_path("replay-%02d/replay.json", number), "{}");
    if (written_s < 0)
        return;
    const struct timespec times[] = {{written_s, 0}, {written_s, 0}};
    test_write(diff, "{}");
    CHECK_INT(utimensat(AT_FDCWD, diff, times, 0), 0);
}

TEST(trace_shows_the_newest_replays_that_differed)
{
    enum {
        OLD = 5,
    };
    AUTO(trace_close) struct trace t = TRACE_NONE;
    struct err err = {0};
    test_write(test_path("transcript.log"), "x");
    /* Newest first, so that neither names nor the order of creation agree with the times. */
    for (int i = 0; i < TRACE_REPLAYS_MAX + OLD; i++) {
        write_replay(i, 1000 - i);
        write_replay(50 + i, -1);
    }
    if (!CHECK_OK(trace_open(test_dir(), &t, &err), &err))
        return;
    CHECK_INT(json_array_size(t.replays), TRACE_REPLAYS_MAX);
    for (int i = 0; i < TRACE_REPLAYS_MAX; i++) {
        char name[16];
        snprintf(name, sizeof(name), "replay-%02d", i);
        CHECK_STR(
            json_str(json_object_get(json_array_get(t.replays, (size_t)i), "name")), str_z(name));
    }
}

/* The limit is one for all replays: memory is needed for all of them at once. */
TEST(trace_limits_the_transcripts_of_all_replays_together)
{
    AUTO(trace_close) struct trace t = TRACE_NONE;
    struct err err = {0};
    test_write(test_path("transcript.log"), "x");
    for (int i = 0; i < 3; i++) {
        write_replay(i, 1000);
        test_write(test_path("replay-%02d/run.json", i), "{}");
        test_write(test_path("replay-%02d/transcript.log", i), "x");
    }
    CHECK_INT(truncate(test_path("replay-01/transcript.log"), TRACE_REPLAYS_TRANSCRIPTS_MAX), 0);
    if (!CHECK_OK(trace_open(test_dir(), &t, &err), &err))
        return;
    CHECK_INT(t.n_runs, 2);
    CHECK_STR(json_str(json_array_get(t.damaged, 0)),
        STR("replay-01: the transcripts of the replays are too large: the limit is 268435456 "
            "bytes together"));
}

/* Writes lines with a member that has as many values as a line may have. */
static void write_values(const char *before, const char *after)
{
    enum {
        LINES = RECORD_VALUES_MAX / JSON_VALUES_MAX + 1,
    };
    AUTO_BUF struct buf text = BUF_INIT(64 << 20);
    for (int line = 0; line < LINES; line++) {
        buf_add_z(&text, before);
        for (int i = 0; i < JSON_VALUES_MAX - 10; i++)
            buf_add_z(&text, "0,");
        buf_printf(&text, "0%s\n", after);
    }
    test_write(test_path("events.jsonl"), buf_z(&text));
}

TEST(trace_limits_the_values_that_it_keeps)
{
    static const struct {
        const char *before, *after;
    } rows[] = {
        {"{\"action\":[", "]}"},
        {"{\"error\":[", "]}"},
        {"{\"events\":[{\"details\":[", "]}]}"},
    };
    test_write(test_path("transcript.log"), "x");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(trace_close) struct trace t = TRACE_NONE;
        AUTO_ERR struct err err = {0};
        test_row(i, rows[i].before);
        write_values(rows[i].before, rows[i].after);
        CHECK(!trace_open(test_dir(), &t, &err));
        CHECK_ERR(&err, E_IO, "events.jsonl is too large: the record has more than 4194304 JSON");
        CHECK(err_ctx_get(&err, "file"));
    }
}

TEST(replay_limits_the_values_of_events)
{
    AUTO_ERR struct err err = {0};
    struct source_events events;
    write_values("{\"events\":[[", "]]}");
    AUTO_FD int dir = record_open(test_dir(), &err);
    CHECK(!source_events(dir, &events, &err));
    CHECK_ERR(&err, E_IO, "events.jsonl is too large: the record has more than 4194304 JSON");
}

/* Screens that are not kept may have more values in all. */
TEST(trace_does_not_count_screens)
{
    AUTO(trace_close) struct trace t = TRACE_NONE;
    AUTO_ERR struct err err = {0};
    test_write(test_path("transcript.log"), "x");
    write_values("{\"screen\":[", "]}");
    CHECK_OK(trace_open(test_dir(), &t, &err), &err);
}
