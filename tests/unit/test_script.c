/* Scripts: reading, and which turn answers. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/message.h"
#include "llm/script.h"
#include "test.h"

TEST(script_tables_are_right)
{
    AUTO_ERR struct err err = {0};
    CHECK_OK(shape_check(&script_shape, &err), &err);
}

static const struct {
    const char *name, *text, *message;
    enum err_code code;
} wrong[] = {
    {"no JSON", "{\"version\":1,\n \"turns\":[}", "s.json:2:11: ", E_PROTOCOL},
    {"no version", "{\"turns\":[]}", "version", E_PROTOCOL},
    {"another version", "{\"version\":2,\"turns\":[]}", "version 2 of scripts",
        E_PROTOCOL_VERSION_MISMATCH},
    {"no turns", "{\"version\":1}", "turns", E_PROTOCOL},
    {"unknown key", "{\"version\":1,\n\"turns\":[\n {\"contents\":[]}]}",
        "s.json:3:3: turns[0].contents", E_PROTOCOL},
    {"nothing in a part", "{\"version\":1,\"turns\":[{\"content\":[\n{}]}]}",
        "s.json:2:1: turns[0].content[0]: expected one of", E_PROTOCOL},
    {"two in a part", "{\"version\":1,\"turns\":[{\"content\":[{\"text\":\"a\",\"raw\":\"b\"}]}]}",
        "expected one of", E_PROTOCOL},
    {"signature of a text",
        "{\"version\":1,\"turns\":[{\"content\":[{\"text\":\"a\",\"signature\":\"b\"}]}]}",
        "'signature' requires 'thinking'", E_PROTOCOL},
    {"a bad pattern", "{\"version\":1,\"turns\":[\n{\"when\":\"(\"}]}", "s.json:2:2: turns[0].when",
        E_PROTOCOL},
    {"error and fault",
        "{\"version\":1,\"turns\":[{\"error\":{\"message\":\"x\"},\"fault\":\"drop\"}]}",
        "'error' and 'fault' cannot be combined", E_PROTOCOL},
    {"an unknown fault", "{\"version\":1,\"turns\":[{\"fault\":\"dorp\"}]}", "did you mean 'drop'",
        E_PROTOCOL},
    {"a status of success",
        "{\"version\":1,\"turns\":[{\"error\":{\"message\":\"x\",\"status\":200}}]}",
        "turns[0].error.status", E_PROTOCOL},
};

TEST(script_wrong)
{
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct script *s = NULL;
        AUTO_ERR struct err err = {0};
        test_row(i, wrong[i].name);
        CHECK(!script_from_text(str_z(wrong[i].text), "s.json", &s, &err));
        CHECK_ERR(&err, wrong[i].code, wrong[i].message);
        script_free(s);
    }
}

TEST(script_missing)
{
    struct script *s = NULL;
    AUTO_ERR struct err err = {0};
    CHECK(!script_load(test_path("nothing.json"), -1, &s, &err));
    CHECK_ERR(&err, E_IO, "cannot open the script");
    CHECK(!script_load(test_dir(), -1, &s, &err));
    CHECK_ERR(&err, E_IO, "is a directory");
}

static struct str text_of(const struct script_turn *turn)
{
    return turn->n_parts ? turn->parts[0].text : STR("");
}

TEST(script_chooses)
{
    static const char text[] =
        "{\"version\":1,\"turns\":["
        "{\"when\":\"^bug [0-9]+\",\"content\":[{\"text\":\"a bug\"}]},"
        "{\"last\":\"tool_result\",\"content\":[{\"text\":\"a result\"}]},"
        "{\"content\":[{\"text\":\"first\"}]},"
        "{\"content\":[{\"text\":\"second\"}]},"
        "{\"when\":\"again\",\"repeat\":true,\"content\":[{\"text\":\"again\"}]}]}";
    static const struct {
        const char *user, *want;
        enum script_last last;
    } steps[] = {
        {"again", "first", SCRIPT_LAST_USER},
        {"fix\nbug 7", "a bug", SCRIPT_LAST_USER},
        {"bug 7", "a result", SCRIPT_LAST_TOOL_RESULT},
        {"bug 7", "second", SCRIPT_LAST_TOOL_RESULT},
        {"again", "again", SCRIPT_LAST_USER},
        {"again", "again", SCRIPT_LAST_USER},
        {"bug 7", "The script has no further turn for this.", SCRIPT_LAST_USER},
    };
    struct script *s = NULL;
    AUTO_ERR struct err err = {0};
    if (!CHECK_OK(script_from_text(str_z(text), "s.json", &s, &err), &err))
        return;
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        test_row(i, steps[i].want);
        CHECK_STR(
            text_of(script_next(s, str_z(steps[i].user), steps[i].last)), str_z(steps[i].want));
    }
    script_free(s);
}

TEST(script_deltas)
{
    static const struct {
        const char *text, *want;
        uint64_t bytes;
    } cuts[] = {
        {"one two  three\nfour", "one |two  |three\n|four|", 0},
        {" a", " |a|", 0},
        {"", "", 0},
        {"abcde", "ab|cd|e|", 2},
        {"äöü", "ä|ö|ü|", 1},
        {"aäb", "aä|b|", 2},
    };
    for (size_t i = 0; i < ARRAY_LEN(cuts); i++) {
        const struct script_turn turn = {.delta_bytes = cuts[i].bytes};
        struct str rest = str_z(cuts[i].text), delta;
        AUTO_BUF struct buf got = BUF_INIT(256);
        test_row(i, cuts[i].text);
        while (script_delta(&turn, &rest, &delta)) {
            buf_add_str(&got, delta);
            buf_add_byte(&got, '|');
        }
        CHECK_STR(buf_str(&got), str_z(cuts[i].want));
    }
}

TEST(script_embedded_identifies_itself)
{
    struct script *s = script_embedded();
    const struct script_turn *turn = script_next(s, STR("fix it"), SCRIPT_LAST_USER);
    CHECK(memmem(turn->parts[0].text.p, turn->parts[0].text.n, "script", 6) != NULL);
    CHECK(turn->n_parts == 2 && turn->parts[1].call != NULL);
    CHECK_INT(script_stop(turn), STOP_TOOL_USE);
    turn = script_next(s, STR("fix it"), SCRIPT_LAST_TOOL_RESULT);
    CHECK_INT(script_stop(turn), STOP_END_TURN);
    script_free(s);
}

TEST(script_stop_reasons)
{
    static const struct {
        const char *word;
        enum stop_reason stop;
    } stops[] = {{"end_turn", STOP_END_TURN}, {"length", STOP_LENGTH}, {"tool_use", STOP_TOOL_USE},
        {"refusal", STOP_REFUSAL}, {"pause_turn", STOP_UNKNOWN}, {"max_tokens", STOP_LENGTH},
        {"model_context_window_exceeded", STOP_LENGTH}, {"stop_sequence", STOP_END_TURN},
        {"stop", STOP_END_TURN}, {"tool_calls", STOP_TOOL_USE}, {"function_call", STOP_TOOL_USE},
        {"content_filter", STOP_REFUSAL}, {"error", STOP_ERROR}, {"aborted", STOP_ABORTED},
        {"unknown", STOP_UNKNOWN}};
    for (size_t i = 0; i < ARRAY_LEN(stops); i++) {
        const struct script_turn turn = {.stop_reason = str_z(stops[i].word)};
        test_row(i, stops[i].word);
        CHECK_INT(script_stop(&turn), stops[i].stop);
    }
}
