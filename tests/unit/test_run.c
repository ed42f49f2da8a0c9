/* Conditions on screens, parsing of actions and scenarios, truncation of observations. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/doc.h"
#include "run/nearest.h"
#include "run/observe.h"
#include "run/scenario.h"

/* Conditions ---------------------------------------------------------------------------------- */

struct condition_row {
    const char *name;
    const char *json;
    const char *screen; /* bytes that a program prints, on 3 rows of 20 columns */
    const char *why;    /* NULL: it holds */
};

static const struct session_exit exited_3 = {.known = true, .code = 3};
static const struct session_exit killed = {.known = true, .code = -1, .signal = 11};
static const struct session_exit ended_by_us = {
    .known = true, .code = -1, .signal = 15, .by_harness = true};

static void check_condition(const struct condition_row *row, const struct view *like)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    AUTO_ERR struct err err = {0};
    AUTO_JSON json_t *json = NULL;
    AUTO_BUF struct buf why = BUF_INIT(4096);
    struct condition c;
    if (!CHECK_OK(doc_parse(str_z(row->json), "c.yaml", E_PROTOCOL, &json, &err), &err) ||
        !CHECK_OK(condition_read(json, "c", &a, &c, &err), &err))
        return;
    struct term *t = term_new(&(struct term_options){.rows = 3, .cols = 20});
    struct snapshot screen;
    term_feed(t, str_z(row->screen));
    snapshot_take(t, &a, SNAPSHOT_CELLS, &screen);
    term_free(t);
    struct view view = *like;
    view.screen = &screen;
    CHECK_INT(condition_holds(&c, &view, &why), !row->why);
    CHECK_Z(buf_z(&why), row->why ? row->why : "");
    CHECK_INT(condition_holds(&c, &view, NULL), !row->why);
    condition_done(&c);
}

static void check_conditions(
    const struct condition_row *rows, size_t n, const struct session_exit *ended, uint64_t quiet)
{
    for (size_t i = 0; i < n; i++) {
        test_row(i, rows[i].name);
        check_condition(&rows[i], &(struct view){.exit = ended, .quiet_ms = quiet});
    }
}

#define T(type, payload) "{type: " type ", payload: {" payload "}}"

TEST(run_conditions_on_the_screen)
{
    static const struct condition_row rows[] = {
        {"shown", T("screen_contains", "text: Ada"), "Name: Ada", NULL},
        {"over lines", T("screen_contains", "text: \"a\\nb\""), "a\r\nb", NULL},
        {"a blank at the end of a line", T("screen_contains", "text: '$ '"), "~ $ ", NULL},
        {"a blank within it", T("screen_contains", "text: '$ '"), "a$b c$ d", NULL},
        {"places that overlap", T("screen_contains", "text: '>> '"), "a>>>", NULL},
        {"the same again within it", T("screen_contains", "text: 'aba '"), "xababa\r\ny", NULL},
        {"overlapping, and no end", T("screen_not_contains", "text: '>> '"), ">>>x", NULL},
        {"no blank there", T("screen_contains", "text: '$ '"), "a$b",
            "the screen does not show '$ '"},
        {"nothing is everywhere", T("screen_contains", "text: ''"), "", NULL},
        {"nearest", T("screen_contains", "text: Hello world"), "x\r\n> Helo wurld",
            "the screen does not show 'Hello world'; the nearest is line 1: '> Helo wurld'"},
        {"nothing near", T("screen_contains", "text: Hello"), "xyz",
            "the screen does not show 'Hello'"},
        {"absent", T("screen_not_contains", "text: Eve"), "Ada", NULL},
        {"not absent", T("not_contains", "text: Ada"), "Ada", "the screen shows 'Ada'"},
        {"pattern", T("screen_matches", "pattern: '^b\\d$'"), "a\r\nb7", NULL},
        {"its other name", T("regex_match", "pattern: 'A.a'"), "Ada", NULL},
        {"no match", T("screen_matches", "pattern: '^d'"), "Ada",
            "nothing on the screen matches '^d'"},
        {"too long", T("screen_matches", "pattern: '(x+x+)+[yz]'"),
            "xxxxxxxxxxxxxxxxxxxx"
            "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "the pattern '(x+x+)+[yz]' needs too many steps to match"},
        {"empty", "{type: screen_empty}", "\033[31m  \033[0m", NULL},
        {"not empty", "{type: screen_empty}", "\r\nx", "the screen is not empty: line 1 is 'x'"},
        {"stable", T("screen_stable", "quiet_ms: 50"), "", NULL},
        {"not stable", T("screen_stable", "quiet_ms: 51"), "",
            "the screen changed 50 ms ago, expected no change for 51 ms"},
    };
    check_conditions(rows, ARRAY_LEN(rows), NULL, 50);
}

TEST(run_conditions_on_lines)
{
    static const struct condition_row rows[] = {
        {"equal", T("line_equals", "line: 1, text: b"), "a\r\nb", NULL},
        {"equal but for blanks", T("line_equals", "line: 0, text: 'a  '"), "a", NULL},
        {"not equal", T("line_equals", "line: 0, text: b"), "a", "line 0 is 'a', which is not 'b'"},
        {"no such line", T("line_equals", "line: 3, text: b"), "a",
            "no line 3: the screen has 3 lines"},
        {"in it", T("line_contains", "line: 0, text: d"), "Ada", NULL},
        {"overlapping at its end", T("line_contains", "line: 0, text: '... '"), "x....", NULL},
        {"not in it", T("line_contains", "line: 0, text: e"), "Ada",
            "line 0 is 'Ada', which does not contain 'e'"},
        {"starts", T("line_starts_with", "line: 0, text: Ad"), "Ada", NULL},
        {"starts, and blanks", T("line_starts_with", "line: 0, text: '> '"), "> ", NULL},
        {"does not start", T("line_starts_with", "line: 0, text: da"), "Ada",
            "line 0 is 'Ada', which does not start with 'da'"},
        {"ends", T("line_ends_with", "line: 0, text: 'da '"), "Ada ", NULL},
        {"does not end", T("line_ends_with", "line: 0, text: Ad"), "Ada",
            "line 0 is 'Ada', which does not end with 'Ad'"},
        {"matches", T("line_matches", "line: 0, pattern: '^A.a$'"), "Ada", NULL},
        {"does not match", T("line_matches", "line: 0, pattern: '^a'"), "Ada",
            "line 0 is 'Ada', which does not match '^a'"},
    };
    check_conditions(rows, ARRAY_LEN(rows), NULL, 0);
}

TEST(run_conditions_on_cursor_and_style)
{
    static const struct condition_row rows[] = {
        {"there", T("cursor_at", "row: 0, col: 2"), "ab", NULL},
        {"elsewhere", T("cursor_at", "row: 1, col: 2"), "ab",
            "the cursor is at row 0, column 2, expected row 1, column 2"},
        {"visible", "{type: cursor_visible}", "", NULL},
        {"not visible", "{type: cursor_visible}", "\033[?25l", "the cursor is hidden"},
        {"hidden", "{type: cursor_hidden}", "\033[?25l", NULL},
        {"not hidden", "{type: cursor_hidden}", "", "the cursor is visible"},
        {"title", T("title_is", "text: demo"), "\033]2;demo\007", NULL},
        {"other title", T("title_is", "text: demo"), "\033]2;x\007",
            "the title is 'x', expected 'demo'"},
        {"bold and red", T("style_at", "row: 0, col: 1, bold: true, fg: {ansi_16: 1}"),
            "a\033[1;31mb", NULL},
        {"not bold", T("style_at", "row: 0, col: 0, bold: true"), "a", "the cell is not bold"},
        {"bold", T("style_at", "row: 0, col: 0, bold: false"), "\033[1ma", "the cell is bold"},
        {"colour", T("style_at", "row: 0, col: 0, bg: {rgb: {r: 1, g: 2, b: 3}}"),
            "\033[48;2;1;2;4ma",
            "bg is {\"rgb\":{\"r\":1,\"g\":2,\"b\":4}}, expected "
            "{\"rgb\":{\"r\":1,\"g\":2,\"b\":3}}"},
        {"256", T("style_at", "row: 0, col: 0, fg: {ansi_256: 200}"), "\033[38;5;200ma", NULL},
        {"default", T("style_at", "row: 0, col: 0, fg: default"), "a", NULL},
        {"curly", T("style_at", "row: 0, col: 0, underline_style: curly"), "\033[4:3ma", NULL},
        {"not curly", T("style_at", "row: 0, col: 0, underline_style: curly"), "a",
            "the underline is none"},
        {"link", T("style_at", "row: 0, col: 0, link: 'http://a/'"), "\033]8;;http://a/\033\\a",
            NULL},
        {"no cell", T("style_at", "row: 9, col: 0"), "", "no cell at row 9, column 0"},
        {"selected", T("selected", "text: Two"), "One\r\n\033[7m Two \033[0mx", NULL},
        {"not selected", T("selected", "text: One"), "One\r\n\033[7mTwo",
            "'One' is not part of the inverse text"},
        {"nothing selected", T("selected", "text: One"), "One",
            "there is no inverse text, expected 'One'"},
        {"selected in the last column", T("selected", "text: x"), "\033[3;20H\033[7mx", NULL},
    };
    check_conditions(rows, ARRAY_LEN(rows), NULL, 0);
}

TEST(run_conditions_on_the_command)
{
    static const struct condition_row runs[] = {
        {"exited", "{type: process_exited}", "", "the command is still running"},
        {"code", T("exit_code", "code: 0"), "", "the command is still running"},
        {"no crash", "{type: no_crash}", "", NULL},
    };
    static const struct condition_row ended[] = {
        {"exited", "{type: process_exited}", "", NULL},
        {"code", T("exit_code", "code: 3"), "", NULL},
        {"other code", T("exit_code", "code: 0"), "", "the exit status is 3, expected 0"},
        {"no crash", "{type: no_crash}", "", NULL},
    };
    static const struct condition_row crashed[] = {
        {"code", T("exit_code", "code: 3"), "", "the command was killed by signal 11"},
        {"crash", "{type: no_crash}", "", "the command was killed by signal 11"},
    };
    static const struct condition_row harness[] = {{"no crash", "{type: no_crash}", "", NULL}};
    check_conditions(runs, ARRAY_LEN(runs), NULL, 0);
    check_conditions(ended, ARRAY_LEN(ended), &exited_3, 0);
    check_conditions(crashed, ARRAY_LEN(crashed), &killed, 0);
    check_conditions(harness, ARRAY_LEN(harness), &ended_by_us, 0);
}

/* Reading ------------------------------------------------------------------------------------- */

#define HEAD           "scenario_version: 1\nrun: {command: /bin/true}\nsteps:\n"
#define STEP(rest)     HEAD "- {id: a, " rest "}\n"
#define ASSERT(rest)   STEP("action: {type: terminate}, assert: [" rest "]")
#define WITH_RUN(rest) "scenario_version: 1\nrun: {" rest "}\nsteps: []\n"

static const struct {
    const char *name;
    const char *text;
    enum err_code code;
    const char *message;
    const char *field;
} wrong[] = {
    {"version", "scenario_version: 2\nrun: {command: x}\nsteps: []\n", E_PROTOCOL_VERSION_MISMATCH,
        "s.yaml:1:1: scenario_version: version 2 is not supported: expected 1", "scenario_version"},
    {"no version", "run: {command: x}\nsteps: []\n", E_PROTOCOL, "scenario_version", NULL},
    {"version type", "scenario_version: one\nrun: {command: x}\nsteps: []\n", E_PROTOCOL,
        "s.yaml:1:1: scenario_version: expected an integer", "scenario_version"},
    {"no run", "scenario_version: 1\nsteps: []\n", E_PROTOCOL, "run", NULL},
    {"no steps", "scenario_version: 1\nrun: {command: x}\n", E_PROTOCOL, "steps", NULL},
    {"no command", WITH_RUN("args: []"), E_PROTOCOL, "run.command", NULL},
    {"args", WITH_RUN("command: x, args: x"), E_PROTOCOL, "s.yaml:2:19: run.args: expected",
        "run.args"},
    {"relative cwd", WITH_RUN("command: x, cwd: sub"), E_PROTOCOL,
        "s.yaml:2:19: run.cwd: expected an absolute path", "run.cwd"},
    {"size", WITH_RUN("command: x, initial_size: {rows: 501, cols: 80}"), E_PROTOCOL,
        "s.yaml:2:34: run.initial_size.rows: ", "run.initial_size.rows"},
    {"policy key", WITH_RUN("command: x, policy: {policy_version: 4, netwrok: disabled}"),
        E_PROTOCOL, "run.policy.netwrok: unknown key; did you mean 'network'?", NULL},
    {"policy version", WITH_RUN("command: x, policy: {policy_version: 5}"),
        E_PROTOCOL_VERSION_MISMATCH, "version 5", NULL},
    {"metadata", "scenario_version: 1\nmetadata: x\nrun: {command: x}\nsteps: []\n", E_PROTOCOL,
        "s.yaml:2:1: metadata: expected an object", "metadata"},
    {"unknown key", STEP("action: {type: terminate}, retrie: 2"), E_PROTOCOL,
        "s.yaml:4:38: steps[0].retrie: unknown key; did you mean 'retries'?", "steps[0].retrie"},
    {"duplicate key", STEP("id: b, action: {type: terminate}"), E_PROTOCOL, "id", NULL},
    {"no id", HEAD "- {action: {type: terminate}}\n", E_PROTOCOL, "steps[0].id", NULL},
    {"empty id", HEAD "- {id: '', action: {type: terminate}}\n", E_PROTOCOL, "steps[0].id", NULL},
    {"no action", HEAD "- {id: a}\n", E_PROTOCOL, "steps[0].action", NULL},
    {"unknown action", STEP("action: {type: kye}"), E_PROTOCOL,
        "s.yaml:4:20: steps[0].action.type: unknown action 'kye'; did you mean 'key'?",
        "steps[0].action.type"},
    {"no type", STEP("action: {payload: {}}"), E_PROTOCOL, "steps[0].action.type", NULL},
    {"no key", STEP("action: {type: key}"), E_PROTOCOL, "steps[0].action.payload.key", NULL},
    {"unknown chord", STEP("action: {type: key, payload: {key: Ctrl+Entr}}"), E_PROTOCOL,
        "steps[0].action.payload.key: ", "steps[0].action.payload.key"},
    {"payload key", STEP("action: {type: text, payload: {txt: x}}"), E_PROTOCOL,
        "steps[0].action.payload.txt: unknown key; did you mean 'text'?", NULL},
    {"payload type", STEP("action: {type: terminate, payload: 3}"), E_PROTOCOL,
        "steps[0].action.payload: expected an object", NULL},
    {"resize", STEP("action: {type: resize, payload: {rows: 0, cols: 80}}"), E_PROTOCOL,
        "steps[0].action.payload.rows", NULL},
    {"wait for nothing", STEP("action: {type: wait}"), E_PROTOCOL,
        "steps[0].action.payload.condition", NULL},
    {"mouse", STEP("action: {type: mouse, payload: {row: 1, col: 1, button: lft}}"), E_PROTOCOL,
        "did you mean 'left'?", NULL},
    {"mouse without a button",
        STEP("action: {type: mouse, payload: {row: 1, col: 1, event: click}}"), E_PROTOCOL,
        "steps[0].action.payload.button: required", NULL},
    {"mouse without an event",
        STEP("action: {type: mouse, payload: {row: 1, col: 1, button: left}}"), E_PROTOCOL,
        "steps[0].action.payload.event: required", NULL},
    {"stable for how long", ASSERT("{type: screen_stable}"), E_PROTOCOL,
        "steps[0].assert[0].payload.quiet_ms: required", NULL},
    {"time", STEP("action: {type: terminate}, timeout_ms: 0"), E_PROTOCOL, "steps[0].timeout_ms",
        NULL},
    {"time type", STEP("action: {type: terminate}, timeout_ms: '5'"), E_PROTOCOL,
        "steps[0].timeout_ms: expected an integer", NULL},
    {"assert no list", STEP("action: {type: terminate}, assert: {}"), E_PROTOCOL,
        "s.yaml:4:38: steps[0].assert: expected a list", "steps[0].assert"},
    {"unknown condition", ASSERT("{type: screen_contain}"), E_PROTOCOL,
        "s.yaml:4:48: steps[0].assert[0].type: unknown condition 'screen_contain'; did you mean "
        "'screen_contains'?",
        "steps[0].assert[0].type"},
    {"no text", ASSERT("{type: screen_contains}"), E_PROTOCOL, "steps[0].assert[0].payload.text",
        NULL},
    {"text for nothing", ASSERT("{type: screen_empty, payload: {text: x}}"), E_PROTOCOL,
        "steps[0].assert[0].payload.text: unknown key", NULL},
    {"bad pattern", ASSERT("{type: screen_matches, payload: {pattern: '(a'}}"), E_PROTOCOL,
        "steps[0].assert[0].payload.pattern: ", "steps[0].assert[0].payload.pattern"},
    {"line", ASSERT("{type: line_equals, payload: {line: -1, text: x}}"), E_PROTOCOL,
        "steps[0].assert[0].payload.line", NULL},
    {"exit code", ASSERT("{type: exit_code, payload: {code: 256}}"), E_PROTOCOL,
        "steps[0].assert[0].payload.code", NULL},
    {"colour", ASSERT("{type: style_at, payload: {row: 0, col: 0, fg: {ansi_16: 16}}}"), E_PROTOCOL,
        "steps[0].assert[0].payload.fg: expected a colour: ", "steps[0].assert[0].payload.fg"},
    {"colour type", ASSERT("{type: style_at, payload: {row: 0, col: 0, bg: {rgb: {r: 1, g: 2}}}}"),
        E_PROTOCOL, "steps[0].assert[0].payload.bg: expected a colour: ", NULL},
    {"underline", ASSERT("{type: style_at, payload: {row: 0, col: 0, underline_style: wavy}}"),
        E_PROTOCOL, "steps[0].assert[0].payload.underline_style: 'wavy' is not one of 'none'",
        NULL},
    {"same id", HEAD "- {id: a, action: {type: terminate}}\n- {id: a, action: {type: terminate}}\n",
        E_PROTOCOL, "s.yaml:5:4: steps[1].id: 'a' is also the id of an earlier step",
        "steps[1].id"},
    {"not a scenario", "[]", E_PROTOCOL, "", NULL},
    {"nothing", "", E_PROTOCOL, "", NULL},
};

TEST(run_wrong_scenarios)
{
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        test_row(i, wrong[i].name);
        AUTO_ARENA struct arena a = ARENA_INIT(1 << 24);
        AUTO_ERR struct err err = {0};
        struct scenario s = {0};
        if (!CHECK(!scenario_parse(str_z(wrong[i].text), "s.yaml", &a, &s, &err))) {
            scenario_done(&s);
            continue;
        }
        CHECK_ERR(&err, wrong[i].code, wrong[i].message);
        const struct err_pair *field = err_ctx_get(&err, "field");
        if (wrong[i].field && CHECK(field))
            CHECK_Z(field->text, wrong[i].field);
    }
}

TEST(run_scenario_defaults)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 24);
    AUTO_ERR struct err err = {0};
    AUTO_BUF struct buf text = BUF_INIT(1 << 16);
    struct scenario s;
    if (!CHECK_OK(
            scenario_parse(STR(STEP("action: {type: terminate}")), "s.yaml", &a, &s, &err), &err))
        return;
    AUTO_JSON json_t *json = scenario_json(&s);
    json_add_compact(&text, json);
    CHECK_Z(buf_z(&text),
        "{\"scenario_version\":1,\"metadata\":{},\"run\":{\"command\":\"/bin/true\",\"args\":[],"
        "\"initial_size\":{\"rows\":24,\"cols\":80}},\"steps\":[{\"id\":\"a\",\"name\":\"a\","
        "\"action\":{\"type\":\"terminate\"},\"assert\":[],\"timeout_ms\":5000,\"retries\":0}]}");
    scenario_done(&s);
}

/* Nearness ------------------------------------------------------------------------------------ */

TEST(run_nearest_distance)
{
    static const struct {
        const char *line, *text;
        size_t distance;
    } rows[] = {
        {"abc", "abc", 0},
        {"xx abc yy", "abc", 0},
        {"xx abd yy", "abc", 1},
        {"xx ac yy", "abc", 1},
        {"xx abbc yy", "abc", 1},
        {"", "abc", 3},
        {"abc", "", 0},
        {"zzzz", "abc", 3},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].line);
        CHECK_INT(nearest_distance(str_z(rows[i].line), str_z(rows[i].text)), rows[i].distance);
    }
}

/* Observations -------------------------------------------------------------------------------- */

static void check_delta(struct observer *o, const char *want)
{
    AUTO_JSON json_t *json = observer_take(o, NULL, OBSERVER_FULL);
    CHECK_STR(json_str(json_object_get(json, "transcript_delta")), str_z(want));
}

TEST(run_observations_keep_characters_complete)
{
    struct observer o;
    observer_init(&o, NULL);
    observer_output(&o, STR("a\xe6\x97"));
    check_delta(&o, "a");
    check_delta(&o, "");
    observer_output(&o, STR("\xa5\xf0\x9f\x98"));
    check_delta(&o, "日");
    observer_output(&o, STR("x")); /* it was not a character after all */
    check_delta(&o, "\xef\xbf\xbdx");
    observer_output(&o, STR("\xc0")); /* never the start of one */
    check_delta(&o, "\xef\xbf\xbd");
    observer_output(&o, STR("\xe6\x97\xa5"));
    check_delta(&o, "日");
    observer_output(&o, STR("z\xe6"));
    o.ended = true;
    check_delta(&o, "z\xef\xbf\xbd");
    observer_done(&o);
}

TEST(run_observations_have_the_last_of_much_output)
{
    struct observer o;
    observer_init(&o, NULL);
    AUTO_FREE char *much = base_alloc(3 * OBSERVER_TEXT_MAX);
    for (size_t i = 0; i < OBSERVER_TEXT_MAX; i++)
        memcpy(much + 3 * i, "日", 3);
    observer_output(&o, str_n(much, 3 * OBSERVER_TEXT_MAX));
    AUTO_JSON json_t *json = observer_take(&o, NULL, OBSERVER_FULL);
    struct str text = json_str(json_object_get(json, "transcript_delta"));
    CHECK(json_is_true(json_object_get(json, "transcript_cut")));
    CHECK_INT(text.n, OBSERVER_TEXT_MAX / 3 * 3);
    CHECK(str_starts_with(text, STR("日")));
    /* In pieces that are each small enough. */
    observer_output(&o, str_n(much, OBSERVER_TEXT_MAX / 2));
    observer_output(&o, str_n(much, OBSERVER_TEXT_MAX / 2));
    observer_output(&o, STR("last"));
    AUTO_JSON json_t *more = observer_take(&o, NULL, OBSERVER_FULL);
    text = json_str(json_object_get(more, "transcript_delta"));
    CHECK(json_is_true(json_object_get(more, "transcript_cut")));
    CHECK(text.n <= OBSERVER_TEXT_MAX + 6 && text.n > OBSERVER_TEXT_MAX / 2);
    CHECK(str_ends_with(text, STR("last")));
    observer_done(&o);
}

TEST(run_observations_count_events_beyond_their_maximum)
{
    static const struct {
        int n, kept, dropped; /* events */
    } rows[] = {
        {0, 0, 0}, {OBSERVER_EVENTS_MAX, OBSERVER_EVENTS_MAX, 0},
        {OBSERVER_EVENTS_MAX + 3, OBSERVER_EVENTS_MAX, 3},
        {1, 1, 0}, /* each observation starts from 0 */
    };
    struct observer o;
    observer_init(&o, NULL);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, "events");
        for (int n = 0; n < rows[i].n; n++)
            observer_term_event(&o, &(struct term_event){.type = TERM_EVENT_BELL});
        AUTO_JSON json_t *json = observer_take(&o, NULL, OBSERVER_FULL);
        CHECK_INT(json_array_size(json_object_get(json, "events")), rows[i].kept);
        CHECK_INT(json_integer_value(json_object_get(json, "events_dropped")), rows[i].dropped);
    }
    observer_done(&o);
}

TEST(run_snapshots_have_a_budget)
{
    AUTO_ERR struct err err = {0};
    struct observer o;
    struct term *t = term_new(&(struct term_options){.rows = 3, .cols = 20});
    observer_init(&o, NULL);
    o.snapshot_max = 10000;
    json_t *json = observer_take(&o, t, OBSERVER_FULL);
    CHECK(json_is_object(json_object_get(json, "screen")) && observer_fits(&o, &err));
    json_decref(json);
    o.snapshot_max = 100;
    json = observer_take(&o, t, OBSERVER_FULL);
    CHECK(json_is_null(json_object_get(json, "screen")) && !observer_fits(&o, &err));
    CHECK_ERR(&err, E_TIMEOUT, "larger than 100 bytes; set budgets.max_snapshot_bytes");
    CHECK_Z(err_ctx_get(&err, "budget")->text, "max_snapshot_bytes");
    json_decref(json);
    observer_done(&o);
    term_free(t);
}
