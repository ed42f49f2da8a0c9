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
        .state_dir = Z("/home/yoloai/.claude/"),
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
        .state_dir = Z("/home/yoloai/.cordon/"),
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
        .state_dir = Z("/home/yoloai/.codex/"),
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
        .state_dir = Z("/home/yoloai/.gemini/"),
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
        .state_dir = Z("/home/yoloai/.local/"),
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
        .state_dir = Z("/home/yoloai/.aider/"),
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

static const char *const prompt_names[] = {
    [AGENT_INTERACTIVE] = "interactive", [AGENT_HEADLESS] = "headless"};

#define TEXT(json, member, help, ...) \
    FIELD_STR(json, struct box_agent, member, help, FIELD_RANGE(0, WORD_MAX), __VA_ARGS__)
#define NAMES(json, member, help) \
    FIELD_STRS(json, struct box_agent, member, help, .def = "[]", FIELD_RANGE(0, LIST_MAX))

static const struct field agent_fields[] = {
    TEXT("name", name, "for --agent", .flags = FIELD_REQUIRED),
    TEXT("command", command, "what is started in the box's terminal", .flags = FIELD_REQUIRED),
    TEXT("headless_command", headless, "the same for one prompt, which stands for PROMPT"),
    FIELD_ENUM("prompt_mode", struct box_agent, prompt_mode, prompt_names, "how it gets its prompt",
        .def = "\"interactive\""),
    NAMES("keys", keys, "environment variables that it gets"),
    TEXT("state_dir", state_dir, "where it keeps its state, inside"),
    TEXT("submit_sequence", submit, "keys that end a prompt", .def = "\"Enter\""),
    FIELD_U32("startup_delay_ms", struct box_agent, delay_ms,
        "how long to wait before the prompt, without a ready_pattern", .def = "0",
        FIELD_RANGE(0, DELAY_MAX)),
    TEXT("model_flag", model_flag, "the option that chooses a model"),
    FIELD_MAP("model_aliases", struct box_agent, aliases, "short names of models", .def = "{}",
        FIELD_RANGE(0, LIST_MAX)),
    TEXT("ready_pattern", ready_pattern, "what its screen shows when it waits for a prompt"),
    TEXT("idle_pattern", idle_pattern, "what its screen shows when it has nothing to do"),
    NAMES("hosts", hosts, "hosts that it may reach"),
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
    err_set(err, E_NOT_FOUND, "there is no agent '" STR_FMT "'%s; there are: %s", STR_ARG(name),
        buf_z(&hint), choice_list(&choice));
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

struct str agent_home(const struct box_agent *agent)
{
    struct str dir = str_trim_end(agent->state_dir, '/');
    if (!dir.n)
        return STR("/home/yoloai");
    return str_head(dir, (size_t)str_find_last(dir, '/'));
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
                err, "keys", key, "that is no name of an environment variable");
        if (row)
            return agent_column_error(err, "keys", key, row->reason);
    }
    return true;
}

static bool check_hosts(const struct box_agent *agent, struct err *err)
{
    for (size_t i = 0; i < agent->hosts.n; i++) {
        struct str host = agent->hosts.p[i];
        bool plain = host.n > 0 && host.p[0] != '-';
        for (size_t k = 0; k < host.n; k++)
            plain = plain && (strchr(".-:", host.p[k]) || (host.p[k] >= '0' && host.p[k] <= '9') ||
                                 ((host.p[k] | 0x20) >= 'a' && (host.p[k] | 0x20) <= 'z'));
        if (!plain)
            return agent_column_error(
                err, "hosts", host, "give a host's name, such as api.example.com");
    }
    return true;
}

static bool check_state_dir(const struct box_agent *agent, struct err *err)
{
    struct str dir = agent->state_dir, home = agent_home(agent);
    if (!dir.n)
        return true;
    if (dir.p[0] != '/' || lexical_has_dots(dir))
        return agent_column_error(
            err, "state_dir", dir, "it must be absolute, without '.' and '..'");
    if (home.n < 2 || blocked_path(home, BLOCKED_WRITE))
        return agent_column_error(err, "state_dir", dir,
            "what holds it is the agent's home, and must be a directory of its own, such as "
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
        return agent_column_error(err, "command", agent->command, "it names no program");
    if (!agent->headless.n)
        return agent->prompt_mode == AGENT_INTERACTIVE ||
               agent_column_error(
                   err, "prompt_mode", STR("headless"), "that needs a headless_command");
    if (!command_split(agent->headless, &a, &words, &why))
        return agent_column_error(err, "headless_command", agent->headless, why.message);
    if (command_prompt_word(&words) == 0)
        return agent_column_error(err, "headless_command", agent->headless,
            "PROMPT must stand in exactly one argument, and not in the program's name");
    return true;
}

bool agent_check(const struct box_agent *agent, struct err *err)
{
    if (!box_name_valid(agent->name))
        return agent_column_error(err, "name", agent->name,
            "letters and digits, with single '.', '_' or '-' between them");
    return check_commands(agent, err) && agent_check_keys(agent, err) &&
           check_state_dir(agent, err) && check_submit(agent, err) &&
           check_pattern("ready_pattern", agent->ready_pattern, err) &&
           check_pattern("idle_pattern", agent->idle_pattern, err) && check_hosts(agent, err);
}
