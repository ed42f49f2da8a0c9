/* The tables of commands: complete, unique, documented; and parsing by them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/mask_stream.h"
#include "test.h"

#include "base/buf.h"
#include "cli/cmds.h"
#include "cli/opt.h"
#include "config/config.h"

static void check_options(const struct cmd *cmd, const char *name)
{
    for (size_t i = 0; i < cmd->n_opts; i++) {
        const struct opt *opt = &cmd->opts[i];
        test_row(i, name);
        AUTO_BUF struct buf help = BUF_INIT(OPT_HELP_MAX);
        CHECK(strlen(opt->help) > 8);
        const char *text = opt_help(opt, &help);
        CHECK(!strstr(text, "{choices}"));
        for (size_t j = 0; opt->choices && opt->choices[j]; j++)
            CHECK(strstr(text, opt->choices[j]));
        CHECK((opt->type == OPT_FLAG) == (opt->value == NULL));
        bool chosen = opt->type == OPT_CHOICE || opt->type == OPT_LIST;
        CHECK(opt->type == OPT_TEXT || chosen == (opt->choices != NULL));
        CHECK(opt->offset < cmd->options_size);
        for (size_t j = 0; j < i; j++) {
            CHECK(strcmp(cmd->opts[j].name, opt->name) != 0);
            CHECK(!opt->letter || cmd->opts[j].letter != opt->letter);
        }
        bool replaced = false;
        for (size_t j = 0; j < n_global_opts; j++) {
            replaced |= strcmp(global_opts[j].name, opt->name) == 0;
            CHECK(!opt->letter || global_opts[j].letter != opt->letter);
        }
        CHECK(replaced == opt->replaces);
    }
}

/* Each names an option, in the order of the options. */
static void check_groups(const struct cmd *cmd)
{
    for (size_t i = 0, at = 0; i < cmd->n_groups; i++, at++) {
        while (at < cmd->n_opts && strcmp(cmd->opts[at].name, cmd->groups[i].first) != 0)
            at++;
        CHECK(at < cmd->n_opts);
        CHECK(strlen(cmd->groups[i].title) > 2);
    }
}

static size_t check_command(const struct cmd *cmd)
{
    AUTO_BUF struct buf name = BUF_INIT(256);
    size_t n = 1;
    cmd_full_name(cmd, &name);
    test_row(0, buf_z(&name));
    CHECK(cmd->summary && cmd->summary[0] && cmd->summary[strlen(cmd->summary) - 1] != '.');
    CHECK((cmd->run == NULL) == (cmd->subs != NULL));
    CHECK(cmd->subs || cmd->usage);
    CHECK(cmd->min_args <= cmd->max_args);
    CHECK((cmd->n_opts > 0) == (cmd->options_size > 0));
    check_options(cmd, buf_z(&name));
    check_groups(cmd);
    CHECK(cmd->n_opts < 15 || cmd->n_groups > 0); /* long helps have headings */
    for (size_t i = 0; cmd->subs && cmd->subs[i]; i++) {
        for (size_t j = 0; j < i; j++)
            CHECK(strcmp(cmd->subs[i]->name, cmd->subs[j]->name) != 0);
        n += check_command(cmd->subs[i]);
    }
    return n;
}

TEST(cli_tables_are_complete)
{
    CHECK(check_command(&cmd_cordon) > 10);
    AUTO_ERR struct err err = {0};
    CHECK_OK(shape_check(&config_user_shape, &err), &err);
    CHECK_OK(shape_check(&config_project_shape, &err), &err);
}

enum {
    WORDS_MAX = 16,
};

/* Splits at blanks; '' is an empty word. */
static size_t split(struct arena *a, const char *line, const char *words[WORDS_MAX])
{
    size_t n = 0;
    struct str word, rest = str_z(line);
    while (n < WORDS_MAX && str_cut(rest, ' ', &word, &rest))
        words[n++] = str_is(word, "''") ? "" : arena_strdup(a, word);
    return n;
}

TEST(cli_parses_arguments)
{
    static const struct {
        const char *line;
        const char *command;
        const char *args; /* joined with '|' */
        bool json;
    } rows[] = {
        {"", "cordon", "", false},
        {"--json", "cordon", "", true},
        {"path glob x", "cordon path glob", "x|", false},
        {"path glob x --json", "cordon path glob", "x|", true},
        {"--json path glob x", "cordon path glob", "x|", true},
        {"path --json glob x", "cordon path glob", "x|", true},
        {"path glob -0 x", "cordon path glob", "x|", false},
        {"path glob -0h x", "cordon path glob", "x|", false},
        {"path glob -- --json", "cordon path glob", "--json|", false},
        {"path glob -- --", "cordon path glob", "--|", false},
        {"path glob -", "cordon path glob", "-|", false},
        {"path glob ''", "cordon path glob", "|", false},
        {"path check --workspace --json x", "cordon path check", "x|", false},
        {"path check --agent=bot x", "cordon path check", "x|", false},
        {"path check --workspace= x", "cordon path check", "x|", false},
        {"path glob --help", "cordon path glob", "", false},
        {"help path glob", "cordon help", "path|glob|", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].line);
        AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
        AUTO_ERR struct err err = {0};
        AUTO_BUF struct buf name = BUF_INIT(256), args = BUF_INIT(256);
        const char *words[WORDS_MAX];
        size_t n = split(&a, rows[i].line, words);
        struct parsed parsed;
        if (!CHECK_OK(opt_parse(words, n, &a, &parsed, &err), &err))
            continue;
        cmd_full_name(parsed.cmd, &name);
        CHECK_Z(buf_z(&name), rows[i].command);
        for (size_t j = 0; j < parsed.args.n; j++)
            buf_printf(&args, "%s|", parsed.args.v[j]);
        CHECK_Z(buf_z(&args), rows[i].args);
        CHECK(parsed.global.json == rows[i].json);
    }
}

TEST(cli_refuses_arguments)
{
    static const struct {
        const char *line;
        const char *part;
    } rows[] = {
        {"''", "no command ''"},
        {"--", NULL},
        {"--=x", "no option '--'"},
        {"--json=", "takes no value ('')"},
        {"--color", "needs a value: --color WHEN"},
        {"--color=", "invalid value '' for --color"},
        {"-x", "no option '-x'"},
        {"-hx", "no option '-hx'"},
        {"path glob", "needs PATTERN: cordon path glob [OPTION…] PATTERN"},
        {"path glob x y", "unexpected argument 'y'"},
        {"path glob -- x -- y", "unexpected argument '--'"},
        {"exec --artifacts= true", "--artifacts needs a value: --artifacts DIR"},
        {"exec --cwd '' true", "--cwd needs a value: --cwd DIR"},
        {"agent --session=", "--session needs a value: --session FILE|ID"},
        {"agent --system=", NULL},
        {"help path nothing", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].line);
        AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
        AUTO_ERR struct err err = {0};
        const char *words[WORDS_MAX];
        size_t n = split(&a, rows[i].line, words);
        struct parsed parsed;
        bool ok = opt_parse(words, n, &a, &parsed, &err);
        CHECK(ok == (rows[i].part == NULL));
        if (!ok)
            CHECK_ERR(&err, E_CLI_INVALID_ARG, rows[i].part ? rows[i].part : "");
    }
}

/* Keys in several deltas ---------------------------------------------------------------------- */

static bool note_put(void *context, const struct llm_event *e)
{
    struct buf *b = context;
    buf_printf(b, "%zu:" STR_FMT " ", e->index, STR_ARG(e->delta.p ? e->delta : STR("-")));
    return true;
}

/* Words "BLOCK:TEXT" are deltas of texts, "C:ID:TEXT" of calls, "B" begins a call, "E:ID" ends one.
 */
static void push_word(struct mask_stream *h, struct str word, struct buf *out)
{
    struct str first, rest, id;
    CHECK(str_cut(word, ':', &first, &rest));
    struct llm_event e = {
        .kind = LLM_TEXT_DELTA, .index = (size_t)(first.p[0] - '0'), .delta = rest};
    if (first.p[0] == 'B' || first.p[0] == 'E')
        e = (struct llm_event){
            .kind = first.p[0] == 'B' ? LLM_TOOL_CALL_BEGIN : LLM_TOOL_CALL_END, .id = rest};
    if (first.p[0] == 'C' && str_cut(rest, ':', &id, &rest))
        e = (struct llm_event){.kind = LLM_TOOL_CALL_DELTA, .index = 9, .id = id, .delta = rest};
    CHECK(mask_stream_push(h, &e, note_put, out));
}

TEST(keys_in_several_deltas)
{
    static const struct {
        const char *words, *want;
    } cases[] = {
        {"0:ab 0:cd", "0:ab 0:cd "},
        {"0:xsec 0:ret-12 0:34y", "0:x 0:[masked]y "},
        {"0:sec 1:other 0:ret-1234", "1:other 0:[masked] "},
        {"0:sec 1:sec 0:ret-1234 1:ret-1234", "0:[masked] 1:[masked] "},
        {"0:sec B:c C:c:secret- 0:ret-1234 C:c:1234 E:c", "0:- 0:[masked] 9:[masked] 0:- "},
        {"C:c:sec E:c 0:ret-1234", "9:sec 0:- 0:ret-1234 "},
        {"0:sec 1:sec", "0:sec 1:sec "},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(mask_done) struct mask mask = {0};
        AUTO_BUF struct buf out = BUF_INIT(4096);
        struct mask_stream h;
        struct str word, rest = str_z(cases[i].words);
        mask_add(&mask, STR("secret-1234"));
        mask_stream_init(&h, &mask);
        test_row(i, cases[i].words);
        while (str_cut(rest, ' ', &word, &rest))
            push_word(&h, word, &out);
        CHECK(mask_stream_release(&h, note_put, &out));
        CHECK_Z(buf_z(&out), cases[i].want);
        mask_stream_done(&h);
    }
}

TEST(keys_in_more_blocks_than_wait)
{
    AUTO(mask_done) struct mask mask = {0};
    AUTO_BUF struct buf out = BUF_INIT(4096);
    struct mask_stream h;
    mask_add(&mask, STR("secret-1234"));
    mask_stream_init(&h, &mask);
    for (size_t i = 0; i < 2 * MASK_STREAM_MAX; i++) {
        const struct llm_event e = {.kind = LLM_TEXT_DELTA, .index = i, .delta = STR("sec")};
        CHECK(mask_stream_push(&h, &e, note_put, &out));
    }
    CHECK_INT(h.n, MASK_STREAM_MAX);
    CHECK(str_starts_with(buf_str(&out), STR("0:sec 1:sec ")));
    mask_stream_done(&h);
}

TEST(opt_help_names_the_choices)
{
    static const char *const names[] = {"a", "b", "c", NULL}, *const one[] = {"a", NULL};
    static const struct {
        const char *help;
        const char *const *choices;
        const char *want;
    } rows[] = {
        {"one of {choices}; or none", names, "one of a, b or c; or none"},
        {"{choices}", one, "a"},
        {"plain", names, "plain: a, b or c"},
        {"plain {choices}", NULL, "plain {choices}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct opt opt = {.help = rows[i].help, .choices = rows[i].choices};
        AUTO_BUF struct buf b = BUF_INIT(OPT_HELP_MAX);
        test_row(i, rows[i].help);
        CHECK_Z(opt_help(&opt, &b), rows[i].want);
    }
}
