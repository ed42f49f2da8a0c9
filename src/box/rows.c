/* Built-in agents, and validation of rows. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/rows.h"

#include "base/choice.h"
#include "base/regex.h"
#include "box/command.h"
#include "box/name.h"
#include "path/lexical.h"
#include "policy/blocked.h"
#include "term/keys.h"

enum {
    WORD_MAX = 4096,
    LIST_MAX = 64,
    DELAY_MAX = 10 * 60 * 1000,
};

#define Z(literal)                        \
    {                                     \
        ("" literal), sizeof(literal) - 1 \
    }
#define LIST(...)                                                                             \
    {                                                                                         \
        (struct str[]){__VA_ARGS__}, sizeof((struct str[]){__VA_ARGS__}) / sizeof(struct str) \
    }
#define ALIAS(from, to) \
    {                   \
        Z(from), Z(to)  \
    }
#define ALIASES(...)                                                           \
    {                                                                          \
        (struct str_pair[]){__VA_ARGS__},                                      \
            sizeof((struct str_pair[]){__VA_ARGS__}) / sizeof(struct str_pair) \
    }

/* clang-format off */
/* The box is the sandbox; the agent must not add its own. */
#define IN_A_BOX \
    "--fs-mode unrestricted --no-sandbox --ack-unsafe-sandbox --ack-unsafe-network"

/* Input line of the agent. Their menus ("> 1. Yes, I trust this folder") have the same mark and
 * must not match: text typed there would answer a question meant for the user. */
#define NO_MENU "(?![ \\x{A0}]*[0-9]+\\.)"
#define CLAUDE_PROMPT "^(\u2502 ?)?[>\u276f]" NO_MENU "([ \\x{A0}]|$)"
#define CODEX_PROMPT "^\u203a" NO_MENU "( |$)"
/* The input line stays visible while the agent works; a status line shows that it is busy. */
#define IDLE(busy, prompt) "\\A(?![\\s\\S]*(" busy "))[\\s\\S]*" prompt
#define CLAUDE_BUSY \
    "^[*\u00b7\u2722\u2733\u2736\u273b\u273d] .*\u2026( \\(|$)|^ .*\u00b7 esc to in"
#define CODEX_BUSY "^\\S .*\\([0-9hms ]+\u2022 esc to in"

static const struct box_agent rows[] = {
    {
        .name = Z("claude"),
        .command = Z("claude --dangerously-skip-permissions"),
        .headless = Z("claude -p \"PROMPT\" --dangerously-skip-permissions"),
        .prompt_mode = AGENT_INTERACTIVE,
        .keys = LIST(Z("ANTHROPIC_API_KEY")),
        .state_dir = Z("~/.claude/"),
        .submit = Z("Enter Enter"),
        .delay_ms = 3000,
        .model_flag = Z("--model"),
        .aliases = ALIASES(ALIAS("sonnet", "claude-sonnet-4-latest"), ALIAS("opus", "claude-opus-4-latest"),
            ALIAS("haiku", "claude-haiku-4-latest")),
        .ready_pattern = Z(CLAUDE_PROMPT),
        .idle_pattern = Z(IDLE(CLAUDE_BUSY, CLAUDE_PROMPT)),
        .hosts = LIST(Z("api.anthropic.com")),
    },
    {
        .name = Z("test"),
        .command = Z("bash"),
        .headless = Z("sh -c \"PROMPT\""),
        .prompt_mode = AGENT_HEADLESS,
        .submit = Z("Enter"),
    },
    {
        .name = Z("cordon"),
        .command = Z("cordon agent " IN_A_BOX),
        .headless = Z("cordon agent " IN_A_BOX " --prompt \"PROMPT\""),
        .prompt_mode = AGENT_HEADLESS,
        .keys = LIST(Z("ANTHROPIC_API_KEY"), Z("OPENAI_API_KEY")),
        .state_dir = Z("~/.cordon/"),
        .submit = Z("Enter"),
        .model_flag = Z("--model"),
        .hosts = LIST(Z("api.anthropic.com"), Z("api.openai.com")),
    },
    {
        .name = Z("codex"),
        .command = Z("codex --dangerously-bypass-approvals-and-sandbox"),
        .headless = Z("codex exec --dangerously-bypass-approvals-and-sandbox \"PROMPT\""),
        .prompt_mode = AGENT_INTERACTIVE,
        .keys = LIST(Z("OPENAI_API_KEY")),
        .state_dir = Z("~/.codex/"),
        .submit = Z("Enter"),
        .delay_ms = 3000,
        .model_flag = Z("--model"),
        .ready_pattern = Z(CODEX_PROMPT),
        .idle_pattern = Z(IDLE(CODEX_BUSY, CODEX_PROMPT)),
        .hosts = LIST(Z("api.openai.com")),
    },
    {
        .name = Z("gemini"),
        .command = Z("gemini --yolo"),
        .headless = Z("gemini -p \"PROMPT\" --yolo"),
        .prompt_mode = AGENT_INTERACTIVE,
        .keys = LIST(Z("GEMINI_API_KEY")),
        .state_dir = Z("~/.gemini/"),
        .submit = Z("Enter"),
        .delay_ms = 3000,
        .model_flag = Z("--model"),
        .hosts = LIST(Z("generativelanguage.googleapis.com")),
    },
    {
        .name = Z("opencode"),
        .command = Z("opencode"),
        .headless = Z("opencode run \"PROMPT\""),
        .prompt_mode = AGENT_INTERACTIVE,
        .keys = LIST(Z("ANTHROPIC_API_KEY"), Z("OPENAI_API_KEY")),
        .state_dir = Z("~/.local/"),
        .submit = Z("Enter"),
        .delay_ms = 3000,
        .model_flag = Z("--model"),
        .hosts = LIST(Z("api.anthropic.com"), Z("api.openai.com")),
    },
    {
        .name = Z("aider"),
        .command = Z("aider --yes-always"),
        .headless = Z("aider --yes-always --message \"PROMPT\""),
        .prompt_mode = AGENT_INTERACTIVE,
        .keys = LIST(Z("ANTHROPIC_API_KEY"), Z("OPENAI_API_KEY")),
        .state_dir = Z("~/.aider/"),
        .submit = Z("Enter"),
        .delay_ms = 3000,
        .model_flag = Z("--model"),
        .ready_pattern = Z("^> ?$"),
        .idle_pattern = Z("^> ?$"),
        .hosts = LIST(Z("api.anthropic.com"), Z("api.openai.com")),
    },
};
/* clang-format on */

const struct agent_rows agent_builtin = {rows, ARRAY_LEN(rows)};
const char *const agent_builtin_names[] = {
    "claude", "test", "cordon", "codex", "gemini", "opencode", "aider", NULL};

static const char *const prompt_names[] = {
    [AGENT_INTERACTIVE] = "interactive", [AGENT_HEADLESS] = "headless"};

#define TEXT(json, member, help, ...) \
    FIELD_STR(json, struct box_agent, member, help, FIELD_RANGE(0, WORD_MAX), __VA_ARGS__)
#define NAMES(json, member, help) \
    FIELD_STRS(json, struct box_agent, member, help, .def = "[]", FIELD_RANGE(0, LIST_MAX))

static const struct field agent_fields[] = {
    TEXT("name", name, "name of the agent, for --agent", .flags = FIELD_REQUIRED),
    TEXT("command", command, "command to start in the box's terminal", .flags = FIELD_REQUIRED),
    TEXT("headless_command", headless, "command for a single prompt, which replaces PROMPT"),
    FIELD_ENUM("prompt_mode", struct box_agent, prompt_mode, prompt_names,
        "how the prompt is passed to it", .def = "\"interactive\""),
    NAMES("keys", keys, "environment variables to pass to it"),
    TEXT("state_dir", state_dir, "directory of its state, in the box"),
    TEXT("submit_sequence", submit, "keys that submit a prompt", .def = "\"Enter\""),
    FIELD_U32("startup_delay_ms", struct box_agent, delay_ms,
        "time to wait before sending the prompt if there is no ready_pattern", .def = "0",
        FIELD_RANGE(0, DELAY_MAX)),
    TEXT("model_flag", model_flag, "option to select a model"),
    FIELD_MAP("model_aliases", struct box_agent, aliases, "aliases of models", .def = "{}",
        FIELD_RANGE(0, LIST_MAX)),
    TEXT("ready_pattern", ready_pattern,
        "regular expression for its screen when it is ready for a prompt"),
    TEXT("idle_pattern", idle_pattern, "regular expression for its screen when it is idle"),
    NAMES("hosts", hosts, "hosts that it may connect to"),
};
const struct shape box_agent_shape =
    SHAPE("agent", struct box_agent, agent_fields, "an agent that boxes can run");

/* Finding ------------------------------------------------------------------------------------- */

static const struct box_agent *agent_find_row(const struct agent_rows *all, struct str name)
{
    for (size_t i = 0; i < all->n; i++)
        if (str_eq(all->p[i].name, name))
            return &all->p[i];
    return NULL;
}

static bool agent_not_found(struct str name, const struct agent_rows *users, struct err *err)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    AUTO_CHOICE struct choice choice = CHOICE_INIT(name);
    AUTO_BUF struct buf hint = BUF_INIT(WORD_MAX);
    for (size_t i = 0; i < agent_builtin.n; i++)
        choice_add(&choice, arena_strdup(&a, agent_builtin.p[i].name));
    for (size_t i = 0; i < MIN(users->n, (size_t)LIST_MAX); i++)
        if (!agent_find_row(&agent_builtin, users->p[i].name))
            choice_add(&choice, arena_strdup(&a, users->p[i].name));
    choice_hint(&choice, "", &hint);
    err_set(err, E_NOT_FOUND, "no such agent '" STR_FMT "'; available: %s%s", STR_ARG(name),
        choice_list(&choice), buf_z(&hint));
    return err_ctx(err, "agent", STR_FMT, STR_ARG(name));
}

bool agent_find(struct str name, const struct agent_rows *users, const struct box_agent **ret_agent,
    struct err *err)
{
    const struct box_agent *agent = agent_find_row(users, name);
    if (!agent)
        agent = agent_find_row(&agent_builtin, name);
    if (!agent)
        return agent_not_found(name, users, err);
    *ret_agent = agent;
    return true;
}

struct str agent_model(const struct box_agent *agent, struct str model)
{
    for (size_t i = 0; i < agent->aliases.n; i++)
        if (str_eq(agent->aliases.p[i].key, model))
            return agent->aliases.p[i].text;
    return model;
}

bool agent_chooses_home(const struct box_agent *agent)
{
    return agent->state_dir.n && agent->state_dir.p[0] == '/';
}

struct str agent_home(const struct box_agent *agent)
{
    struct str dir = str_trim_end(agent->state_dir, '/');
    return agent_chooses_home(agent) ? str_head(dir, (size_t)str_find_last(dir, '/'))
                                     : STR("/home/yoloai");
}

struct str agent_state_name(const struct box_agent *agent)
{
    return lexical_name(str_trim_end(agent->state_dir, '/'));
}

/* Checking ------------------------------------------------------------------------------------ */

static bool agent_column_error(
    struct err *err, const char *column, struct str value, const char *why)
{
    err_set(err, E_CONFIG, "%s: '" STR_FMT "': %s", column, STR_ARG(value), why);
    return err_ctx(err, "field", "%s", column);
}

static bool agent_check_keys(const struct box_agent *agent, struct err *err)
{
    for (size_t i = 0; i < agent->keys.n; i++) {
        struct str key = agent->keys.p[i];
        const struct blocked *row = blocked_env(key);
        bool plain = key.n > 0 && !(key.p[0] >= '0' && key.p[0] <= '9');
        for (size_t k = 0; k < key.n; k++)
            plain = plain && (key.p[k] == '_' || (key.p[k] >= '0' && key.p[k] <= '9') ||
                                 ((key.p[k] | 0x20) >= 'a' && (key.p[k] | 0x20) <= 'z'));
        if (!plain)
            return agent_column_error(
                err, "keys", key, "not a valid name of an environment variable");
        if (row)
            return agent_column_error(err, "keys", key, row->reason);
    }
    return true;
}

static bool rows_check_hosts(const struct box_agent *agent, struct err *err)
{
    for (size_t i = 0; i < agent->hosts.n; i++) {
        struct str host = agent->hosts.p[i];
        bool plain = host.n > 0 && host.p[0] != '-';
        for (size_t k = 0; k < host.n; k++)
            plain = plain && (strchr(".-:", host.p[k]) || (host.p[k] >= '0' && host.p[k] <= '9') ||
                                 ((host.p[k] | 0x20) >= 'a' && (host.p[k] | 0x20) <= 'z'));
        if (!plain)
            return agent_column_error(
                err, "hosts", host, "expected a host name, such as api.example.com");
    }
    return true;
}

static bool check_state_dir(const struct box_agent *agent, struct err *err)
{
    struct str dir = agent->state_dir, home = agent_home(agent), name, rest;
    if (!dir.n)
        return true;
    if (str_starts_with(dir, STR("~/"))) {
        rest = str_skip(dir, 2);
        bool one = lexical_next(&rest, &name) && !str_is(name, ".") && !str_is(name, "..") &&
                   !lexical_next(&rest, &name);
        return one || agent_column_error(err, "state_dir", dir,
                          "expected one directory in the home directory, such as ~/.agent");
    }
    if (dir.p[0] != '/' || lexical_has_dots(dir))
        return agent_column_error(
            err, "state_dir", dir, "it must start with ~/, or be absolute, without '.' and '..'");
    if (home.n < 2 || blocked_path(home, BLOCKED_WRITE))
        return agent_column_error(err, "state_dir", dir,
            "its parent is the agent's home, which must be a separate directory, such as "
            "/home/agent");
    return true;
}

static bool check_submit(const struct box_agent *agent, struct err *err)
{
    struct str rest = agent->submit, word;
    while (str_cut(rest, ' ', &word, &rest)) {
        struct key key;
        AUTO_ERR struct err why = {0};
        if (word.n && !key_parse(word, &key, &why))
            return agent_column_error(err, "submit_sequence", word, why.message);
    }
    return true;
}

static bool check_pattern(const char *column, struct str pattern, struct err *err)
{
    struct regex *regex = NULL;
    AUTO_ERR struct err why = {0};
    if (!pattern.n)
        return true;
    if (!regex_new(pattern, &regex, &why))
        return agent_column_error(err, column, pattern, why.message);
    regex_free(regex);
    return true;
}

static bool check_commands(const struct box_agent *agent, struct err *err)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    AUTO_ERR struct err why = {0};
    struct str_list words;
    if (!command_split(agent->command, &a, &words, &why))
        return agent_column_error(err, "command", agent->command, why.message);
    if (words.n == 0)
        return agent_column_error(err, "command", agent->command, "it does not name a program");
    if (!agent->headless.n)
        return agent->prompt_mode == AGENT_INTERACTIVE ||
               agent_column_error(
                   err, "prompt_mode", STR("headless"), "requires a headless_command");
    if (!command_split(agent->headless, &a, &words, &why))
        return agent_column_error(err, "headless_command", agent->headless, why.message);
    if (command_prompt_word(&words) == 0)
        return agent_column_error(err, "headless_command", agent->headless,
            "PROMPT must occur in exactly one argument, and not in the program's name");
    return true;
}

bool agent_check(const struct box_agent *agent, struct err *err)
{
    if (!box_name_valid(agent->name))
        return agent_column_error(err, "name", agent->name,
            "expected letters and digits, with single '.', '_' or '-' between them");
    return check_commands(agent, err) && agent_check_keys(agent, err) &&
           check_state_dir(agent, err) && check_submit(agent, err) &&
           check_pattern("ready_pattern", agent->ready_pattern, err) &&
           check_pattern("idle_pattern", agent->idle_pattern, err) && rows_check_hosts(agent, err);
}
