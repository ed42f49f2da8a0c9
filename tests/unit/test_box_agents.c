/* Agents of boxes: the built-in rows, those of users, what they show, and their commands. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/regex.h"
#include "box/command.h"
#include "box/rows.h"

enum {
    ARENA_MAX = 16 << 20,
    TEXT_MAX = 1 << 20,
};

/* Agents -------------------------------------------------------------------------------------- */

TEST(box_agents_of_the_seed)
{
    const struct agent_rows none = {0};
    const struct box_agent *claude = NULL, *test = NULL, *other;
    AUTO_ERR struct err err = {0};
    if (!CHECK_OK(agent_find(STR("claude"), &none, &claude, &err), &err) ||
        !CHECK_OK(agent_find(STR("test"), &none, &test, &err), &err))
        return;
    CHECK_STR(claude->command, STR("claude --dangerously-skip-permissions"));
    CHECK_STR(claude->headless, STR("claude -p \"PROMPT\" --dangerously-skip-permissions"));
    CHECK_INT(claude->prompt_mode, AGENT_INTERACTIVE);
    CHECK(claude->keys.n == 1 && str_is(claude->keys.p[0], "ANTHROPIC_API_KEY"));
    CHECK_STR(claude->state_dir, STR("~/.claude/"));
    CHECK_STR(agent_state_name(claude), STR(".claude"));
    CHECK(!agent_chooses_home(claude));
    CHECK_STR(claude->submit, STR("Enter Enter"));
    CHECK_INT(claude->delay_ms, 3000);
    CHECK_STR(claude->model_flag, STR("--model"));
    CHECK_INT(claude->aliases.n, 3);
    CHECK_STR(agent_model(claude, STR("sonnet")), STR("claude-sonnet-4-latest"));
    CHECK_STR(agent_model(claude, STR("opus")), STR("claude-opus-4-latest"));
    CHECK_STR(agent_model(claude, STR("haiku")), STR("claude-haiku-4-latest"));
    CHECK_STR(agent_model(claude, STR("other-1")), STR("other-1"));
    CHECK_STR(agent_home(claude), STR("/home/yoloai"));
    CHECK_STR(test->command, STR("bash"));
    CHECK_STR(test->headless, STR("sh -c \"PROMPT\""));
    CHECK_INT(test->prompt_mode, AGENT_HEADLESS);
    CHECK_INT(test->keys.n, 0);
    CHECK_INT(test->state_dir.n, 0);
    CHECK_STR(test->submit, STR("Enter"));
    CHECK_INT(test->delay_ms, 0);
    CHECK_INT(test->model_flag.n, 0);
    CHECK_INT(test->aliases.n, 0);
    CHECK(!agent_find(STR("cluade"), &none, &other, &err));
    CHECK_ERR(&err, E_NOT_FOUND, "did you mean 'claude'");
}

TEST(box_agents_are_right)
{
    static const char *const all[] = {
        "claude", "test", "cordon", "codex", "gemini", "opencode", "aider"};
    AUTO_ERR struct err err = {0};
    CHECK_OK(shape_check(&box_agent_shape, &err), &err);
    CHECK_INT(agent_builtin.n, ARRAY_LEN(all));
    CHECK(!agent_builtin_names[agent_builtin.n]);
    for (size_t i = 0; i < agent_builtin.n; i++) {
        test_row(i, all[i]);
        CHECK_STR(agent_builtin.p[i].name, str_z(all[i]));
        CHECK_STR(agent_builtin.p[i].name, str_z(agent_builtin_names[i]));
        CHECK_OK(agent_check(&agent_builtin.p[i], &err), &err);
    }
}

static const struct {
    const char *json, *part;
} agent_rows[] = {
    {"{\"name\":\"mine\",\"command\":\"mine --go\"}", NULL},
    {"{\"name\":\"mine\",\"command\":\"mine\",\"headless_command\":\"mine "
     "'PROMPT'\",\"keys\":[\"K_1\"],"
     "\"state_dir\":\"/home/x/.mine\",\"hosts\":[\"api.x.org\"],\"ready_pattern\":\"^> \"}",
        NULL},
    {"{\"name\":\"m\",\"command\":\"m\",\"state_dir\":\"~/.mine\"}", NULL},
    {"{\"name\":\"m\",\"command\":\"m\",\"state_dir\":\"~/\"}", "one directory in the home"},
    {"{\"name\":\"m\",\"command\":\"m\",\"state_dir\":\"~/a/b\"}", "one directory in the home"},
    {"{\"name\":\"m\",\"command\":\"m\",\"state_dir\":\"~/..\"}", "one directory in the home"},
    {"{\"name\":\"-\",\"command\":\"mine\"}", "name"},
    {"{\"name\":\"m\",\"command\":\"  \"}", "does not name a program"},
    {"{\"name\":\"m\",\"command\":\"a 'b\"}", "unterminated quote"},
    {"{\"name\":\"m\",\"command\":\"m\",\"prompt_mode\":\"headless\"}",
        "requires a headless_command"},
    {"{\"name\":\"m\",\"command\":\"m\",\"headless_command\":\"m -p x\"}", "exactly one argument"},
    {"{\"name\":\"m\",\"command\":\"m\",\"headless_command\":\"m PROMPT PROMPT\"}", "exactly one"},
    {"{\"name\":\"m\",\"command\":\"m\",\"headless_command\":\"PROMPT\"}", "exactly one"},
    {"{\"name\":\"m\",\"command\":\"m\",\"keys\":[\"LD_PRELOAD\"]}", "loader"},
    {"{\"name\":\"m\",\"command\":\"m\",\"keys\":[\"A=b\"]}",
        "not a valid name of an environment variable"},
    {"{\"name\":\"m\",\"command\":\"m\",\"state_dir\":\"x\"}", "absolute"},
    {"{\"name\":\"m\",\"command\":\"m\",\"state_dir\":\"/etc/x\"}",
        "which must be a separate directory"},
    {"{\"name\":\"m\",\"command\":\"m\",\"state_dir\":\"/x\"}",
        "which must be a separate directory"},
    {"{\"name\":\"m\",\"command\":\"m\",\"submit_sequence\":\"Entre\"}", "submit_sequence"},
    {"{\"name\":\"m\",\"command\":\"m\",\"ready_pattern\":\"(\"}", "ready_pattern"},
    {"{\"name\":\"m\",\"command\":\"m\",\"hosts\":[\"http://x\"]}", "host"},
};

TEST(box_agents_of_users)
{
    for (size_t i = 0; i < ARRAY_LEN(agent_rows); i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
        AUTO_ERR struct err err = {0};
        AUTO_JSON json_t *tree = NULL;
        struct box_agent agent;
        test_row(i, agent_rows[i].json);
        CHECK_OK(json_parse(str_z(agent_rows[i].json), "row", E_CONFIG, &tree, &err), &err);
        CHECK_OK(field_read(&box_agent_shape, tree, &a, E_CONFIG, &agent, &err), &err);
        bool ok = agent_check(&agent, &err);
        CHECK_INT(ok, agent_rows[i].part == NULL);
        if (agent_rows[i].part)
            CHECK_ERR(&err, E_CONFIG, agent_rows[i].part);
    }
    const struct box_agent mine = {.name = STR("claude"), .command = STR("x")}, *got = NULL;
    AUTO_ERR struct err err = {0};
    CHECK_OK(agent_find(STR("claude"), &(struct agent_rows){&mine, 1}, &got, &err), &err);
    CHECK(got == &mine);
}

/* Screens of the programs: their last lines, with 80 columns. */
#define LINE "\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500"
static const struct {
    const char *agent, *name, *screen;
    bool ready, idle;
} screen_rows[] = {
    {"claude", "waits", LINE "\n\u276f\u00a0\n" LINE "\n  \u23f5\u23f5 bypass permissions on", true,
        true},
    {"claude", "suggests", LINE "\n\u276f\u00a0Try \"fix lint errors\"\n" LINE "\n", true, true},
    {"claude", "waits, in a frame", "\u256d\u2500\u256e\n\u2502 >   \u2502\n\u2570\u2500\u256f",
        true, true},
    {"claude", "asks for trust",
        " Security guide\n\n \u276f 1. Yes, I trust this folder\n   2. No, exit\n\n Enter to "
        "confirm",
        false, false},
    {"claude", "asks in the first column", "\u276f 1. Yes, I trust this folder\n  2. No, exit",
        false, false},
    {"claude", "asks for a key", "    1. Yes\n  \u276f 2. No (recommended)\n", false, false},
    {"claude", "asks without numbers", "  \u276f Dark mode\n    Light mode\n", false, false},
    {"claude", "works",
        "\u276f Fix the bug\n\n\u25cf Bash(sleep 4)\n  \u23bf  Running\u2026\n\n\u2733 "
        "Imagining\u2026 (1s "
        "\u00b7 \u2193 21 tokens)\n" LINE "\n\u276f\u00a0\n" LINE
        "\n  \u23f5\u23f5 bypass permissions on",
        true, false},
    {"claude", "works, a wide screen",
        LINE "\n\u276f\u00a0\n" LINE
             "\n  \u23f5\u23f5 bypass permissions on \u00b7 esc to interrupt "
             "\u00b7 \u2190 for agents",
        true, false},
    {"claude", "has worked",
        "\u276f Fix the bug\n\n\u25cf It waits\u2026 (press esc to interrupt)\n\n\u273b Worked for "
        "4s\n\n" LINE "\n\u276f\u00a0\n" LINE "\n  \u23f5\u23f5 bypass permissions on",
        true, true},
    {"codex", "waits", "\u203a Ask Codex to do anything\n\n  m default \u00b7 /tmp/x", true, true},
    {"codex", "asks for trust",
        "  Your trust decision will be saved.\n\n\u203a 1. Trust and continue\n  2. Quit\n", false,
        false},
    {"codex", "works",
        "\u2022 I will look.\n\n\u25e6 Working (2m 01s \u2022 esc to interrupt) \u00b7 1 "
        "background\n\n"
        "\u203a Ask Codex to do anything\n",
        true, false},
    {"codex", "has worked",
        "\u2022 Press esc to interrupt it.\n\n  Worked for 4s \u2022 17:28\n\n\u203a Ask Codex to "
        "do "
        "anything\n",
        true, true},
};

static bool screen_has(struct str pattern, const char *screen)
{
    AUTO_ERR struct err err = {0};
    struct regex *regex = NULL;
    struct regex_match match;
    if (!CHECK_OK(regex_new(pattern, &regex, &err), &err))
        return false;
    bool found = regex_find(regex, str_z(screen), 0, &match);
    CHECK(!regex_gave_up(regex));
    regex_free(regex);
    return found;
}

TEST(box_agents_know_their_screens)
{
    for (size_t i = 0; i < ARRAY_LEN(screen_rows); i++) {
        const struct agent_rows none = {0};
        const struct box_agent *agent = NULL;
        AUTO_ERR struct err err = {0};
        test_row(i, screen_rows[i].name);
        if (!CHECK_OK(agent_find(str_z(screen_rows[i].agent), &none, &agent, &err), &err))
            return;
        CHECK_INT(screen_has(agent->ready_pattern, screen_rows[i].screen), screen_rows[i].ready);
        CHECK_INT(screen_has(agent->idle_pattern, screen_rows[i].screen), screen_rows[i].idle);
    }
}

/* Command lines ------------------------------------------------------------------------------- */

static const struct {
    const char *text, *want; /* words, each in [] */
} split_rows[] = {
    {"", ""},
    {"  a\t b\n", "[a][b]"},
    {"a 'b c' \"d e\"", "[a][b c][d e]"},
    {"a'b'\"c\"d", "[abcd]"},
    {"'' \"\"", "[][]"},
    {"a\\ b", "[a b]"},
    {"\"a\\\"b\\n\"", "[a\"b\\n]"},
    {"'a\\'", "[a\\]"},
    {"$HOME `x` $(y); z|w", "[$HOME][`x`][$(y);][z|w]"},
    {"'a", NULL},
    {"\"a", NULL},
};

static void join(struct buf *b, const char *const *argv)
{
    for (; *argv; argv++)
        buf_printf(b, "[%s]", *argv);
}

TEST(box_command_split)
{
    for (size_t i = 0; i < ARRAY_LEN(split_rows); i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
        AUTO_ERR struct err err = {0};
        AUTO_BUF struct buf got = BUF_INIT(TEXT_MAX);
        struct str_list words = {0};
        test_row(i, split_rows[i].text);
        bool ok = command_split(str_z(split_rows[i].text), &a, &words, &err);
        CHECK_INT(ok, split_rows[i].want != NULL);
        for (size_t k = 0; ok && k < words.n; k++)
            buf_printf(&got, "[" STR_FMT "]", STR_ARG(words.p[k]));
        if (split_rows[i].want)
            CHECK_STR(buf_str(&got), str_z(split_rows[i].want));
    }
}

static const struct {
    const char *agent, *prompt, *model, *extra, *want, *typed;
} command_rows[] = {
    {"test", "echo \"$HOME\"; rm -rf '", NULL, NULL, "[sh][-c][echo \"$HOME\"; rm -rf ']", NULL},
    {"test", "say PROMPT twice", NULL, NULL, "[sh][-c][say PROMPT twice]", NULL},
    {"test", "", NULL, NULL, "[sh][-c][]", NULL},
    {"test", NULL, NULL, NULL, "[bash]", NULL},
    {"test", NULL, "sonnet", NULL, "[bash]", NULL},
    {"claude", "fix it", NULL, NULL, "[claude][--dangerously-skip-permissions]", "fix it"},
    {"claude", NULL, "opus", "--verbose",
        "[claude][--dangerously-skip-permissions][--model][claude-opus-4-latest][--verbose]", NULL},
    {"cordon", "-x\ny", NULL, NULL,
        "[cordon][agent][--fs-mode][unrestricted][--no-sandbox][--ack-unsafe-sandbox]"
        "[--ack-unsafe-network][--prompt][-x\ny]",
        NULL},
};

TEST(box_command)
{
    const struct agent_rows none = {0};
    for (size_t i = 0; i < ARRAY_LEN(command_rows); i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
        AUTO_ERR struct err err = {0};
        AUTO_BUF struct buf got = BUF_INIT(TEXT_MAX);
        struct str extra = str_z(command_rows[i].extra);
        struct command_input in = {.prompt = str_z(command_rows[i].prompt),
            .model = str_z(command_rows[i].model),
            .extra = {&extra, extra.p != NULL}};
        struct command command = {0};
        test_row(i, command_rows[i].want);
        CHECK_OK(agent_find(str_z(command_rows[i].agent), &none, &in.agent, &err), &err);
        if (!CHECK_OK(command_make(&in, &a, &command, &err), &err))
            continue;
        join(&got, command.argv);
        CHECK_STR(buf_str(&got), str_z(command_rows[i].want));
        CHECK_STR(command.typed, str_z(command_rows[i].typed));
        CHECK_INT(command.model_ignored, in.model.p && str_is(in.agent->name, "test"));
    }
}
