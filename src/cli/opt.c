/* Parsing a command line by its tables: --name value, --name=value, -x value, -xvalue, -xyz for
 * flags, "--" ends the options; options and arguments may be mixed. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/opt.h"

#include "base/choice.h"

enum {
    ARGS_MAX = 100000,
};

struct opt_parser {
    const char *const *words;
    size_t n, next;
    struct arena *a;
    struct parsed *out;
    void *options;
    const char **args;
    const char *typed; /* name of the current option: its present or its old one */
    bool only_args;    /* after "--" */
};

static const struct opt *find_in(const struct opt *opts, size_t n, struct str name, char letter)
{
    for (size_t i = 0; i < n; i++)
        if (name.n
                ? str_is(name, opts[i].name) || (opts[i].old_name && str_is(name, opts[i].old_name))
                : letter && opts[i].letter == letter)
            return &opts[i];
    return NULL;
}

/* Finds an option, and the struct that it writes to. */
static const struct opt *find_opt(
    struct opt_parser *p, struct str name, char letter, void **ret_target)
{
    const struct cmd *cmd = p->out->cmd;
    const struct opt *opt = find_in(cmd->opts, cmd->n_opts, name, letter);
    *ret_target = p->options;
    if (!opt) {
        opt = find_in(global_opts, n_global_opts, name, letter);
        *ret_target = &p->out->global;
    }
    return opt;
}

static bool usage_error(const struct opt_parser *p, struct err *err)
{
    AUTO_BUF struct buf name = BUF_INIT(256);
    cmd_full_name(p->out->cmd, &name);
    return err_ctx(err, "command", "%s", buf_z(&name));
}

static bool unknown_option(struct opt_parser *p, struct str word, struct err *err)
{
    const struct cmd *cmd = p->out->cmd;
    AUTO_CHOICE struct choice c = CHOICE_INIT(str_skip(word, 2));
    for (size_t i = 0; i < cmd->n_opts; i++)
        choice_add(&c, cmd->opts[i].name);
    for (size_t i = 0; i < n_global_opts; i++)
        choice_add(&c, global_opts[i].name);
    AUTO_BUF struct buf full = BUF_INIT(256), hint = BUF_INIT(256);
    cmd_full_name(cmd, &full);
    if (str_starts_with(word, STR("--")))
        choice_hint(&c, "--", &hint);
    err_set(err, E_CLI_INVALID_ARG, "'%s' has no option '" STR_FMT "'%s", buf_z(&full),
        STR_ARG(word), buf_z(&hint));
    err_ctx(err, "word", STR_FMT, STR_ARG(word));
    return usage_error(p, err);
}

static bool bad_value(struct opt_parser *p, const char *value, const char *want, struct err *err)
{
    err_set(
        err, E_CLI_INVALID_ARG, "invalid value '%s' for --%s: expected %s", value, p->typed, want);
    err_ctx(err, "word", "%s", value);
    return usage_error(p, err);
}

static bool too_often(struct opt_parser *p, int most, struct err *err)
{
    err_set(err, E_CLI_INVALID_ARG, "--%s may be given at most %d times", p->typed, most);
    return usage_error(p, err);
}

static bool set_choice(
    struct opt_parser *p, const struct opt *opt, void *target, const char *value, struct err *err)
{
    AUTO_CHOICE struct choice c = CHOICE_INIT(str_z(value));
    for (size_t i = 0; opt->choices[i]; i++) {
        if (strcmp(opt->choices[i], value) == 0) {
            memcpy(target, &opt->choices[i], sizeof(char *));
            return true;
        }
        choice_add(&c, opt->choices[i]);
    }
    AUTO_BUF struct buf want = BUF_INIT(CHOICE_LIST_MAX + 256);
    buf_add_z(&want, choice_list(&c));
    choice_hint(&c, "", &want);
    return bad_value(p, value, buf_z(&want), err);
}

static bool set_number(
    struct opt_parser *p, const struct opt *opt, void *target, const char *value, struct err *err)
{
    int64_t number;
    if (str_to_int(str_z(value), opt->min, opt->max, &number)) {
        memcpy(target, &number, sizeof(number));
        return true;
    }
    char want[100];
    snprintf(want, sizeof(want), "a whole number from %lld to %lld", (long long)opt->min,
        (long long)opt->max);
    return bad_value(p, value, want, err);
}

static bool add_choice(
    struct opt_parser *p, const struct opt *opt, void *target, const char *value, struct err *err)
{
    struct opt_list *list = target;
    if (list->n == OPT_LIST_MAX)
        return too_often(p, OPT_LIST_MAX, err);
    if (!set_choice(p, opt, &list->v[list->n], value, err))
        return false;
    list->n++;
    return true;
}

static bool opt_add_word(struct opt_parser *p, void *target, const char *value, struct err *err)
{
    struct opt_words *words = target;
    if (words->n == OPT_WORDS_MAX)
        return too_often(p, OPT_WORDS_MAX, err);
    words->v[words->n++] = value;
    return true;
}

static bool opt_add_str(struct opt_parser *p, void *target, const char *value, struct err *err)
{
    struct str_list *list = target;
    if (list->n == OPT_WORDS_MAX)
        return too_often(p, OPT_WORDS_MAX, err);
    if (list->n == 0)
        list->p = ARENA_NEW(p->a, struct str, OPT_WORDS_MAX);
    list->p[list->n++] = str_z(value);
    return true;
}

static bool set_value(
    struct opt_parser *p, const struct opt *opt, void *base, const char *value, struct err *err)
{
    void *target = (char *)base + opt->offset;
    switch (opt->type) {
    case OPT_FLAG:
        *(bool *)target = true;
        return true;
    case OPT_TEXT:
        memcpy(target, &value, sizeof(value));
        return true;
    case OPT_NUMBER:
        return set_number(p, opt, target, value, err);
    case OPT_CHOICE:
        return set_choice(p, opt, target, value, err);
    case OPT_LIST:
        return add_choice(p, opt, target, value, err);
    case OPT_WORDLIST:
        return opt_add_word(p, target, value, err);
    case OPT_STRLIST:
        return opt_add_str(p, target, value, err);
    }
    BUG_ON(true);
}

/* The next word if it is a value of the option; otherwise the option has no value. */
static const char *next_choice(struct opt_parser *p, const struct opt *opt)
{
    for (size_t i = 0; p->next < p->n && opt->choices[i]; i++)
        if (strcmp(opt->choices[i], p->words[p->next]) == 0)
            return p->words[p->next++];
    return opt->bare;
}

static bool needs_value(struct opt_parser *p, const struct opt *opt, struct err *err)
{
    err_set(err, E_CLI_INVALID_ARG, "--%s needs a value: --%s %s", p->typed, p->typed, opt->value);
    return usage_error(p, err);
}

/* Takes the option's value from the same word (`given`) or from the next one. */
static bool opt_take_option(
    struct opt_parser *p, const struct opt *opt, void *base, const char *given, struct err *err)
{
    if (opt->type == OPT_FLAG && given) {
        err_set(err, E_CLI_INVALID_ARG, "--%s takes no value ('%s')", p->typed, given);
        return usage_error(p, err);
    }
    if (opt->bare && !given)
        given = next_choice(p, opt);
    if (opt->type != OPT_FLAG && !given) {
        if (p->next == p->n)
            return needs_value(p, opt, err);
        given = p->words[p->next++];
    }
    /* A file, session or box has a name. */
    if (opt->type == OPT_TEXT && opt->kind != ARG_ANY && !given[0])
        return needs_value(p, opt, err);
    return set_value(p, opt, base, given, err);
}

static bool parse_long(struct opt_parser *p, const char *word, struct err *err)
{
    struct str name = str_z(word + 2);
    ptrdiff_t equals = str_find(name, '=');
    const char *given = NULL;
    if (equals >= 0) {
        given = name.p + equals + 1;
        name.n = (size_t)equals;
    }
    void *base;
    const struct opt *opt = name.n ? find_opt(p, name, 0, &base) : NULL;
    if (!opt)
        return unknown_option(p, str_n(word, name.n + 2), err);
    p->typed = str_is(name, opt->name) ? opt->name : opt->old_name;
    if (opt->typed) {
        const char *flag = arena_printf(p->a, "--%s", p->typed);
        memcpy((char *)base + opt->typed, &flag, sizeof(flag));
    }
    return opt_take_option(p, opt, base, given, err);
}

static bool parse_short(struct opt_parser *p, const char *word, struct err *err)
{
    for (const char *at = word + 1; *at; at++) {
        void *base;
        const struct opt *opt = find_opt(p, str_n("", 0), *at, &base);
        if (!opt)
            return unknown_option(p, str_z(word), err);
        p->typed = opt->name;
        if (opt->type != OPT_FLAG)
            return opt_take_option(p, opt, base, at[1] ? at + 1 : NULL, err);
        if (!opt_take_option(p, opt, base, NULL, err))
            return false;
    }
    return true;
}

static bool opt_parse_word(struct opt_parser *p, const char *word, struct err *err)
{
    struct parsed *out = p->out;
    if (out->cmd->subs) {
        const struct cmd *sub;
        if (!cmd_find(out->cmd, word, &sub, err))
            return usage_error(p, err);
        out->cmd = sub;
        p->options = sub->options_size ? arena_alloc(p->a, sub->options_size) : NULL;
        return true;
    }
    if (out->args.n == out->cmd->max_args) {
        err_set(err, E_CLI_INVALID_ARG, "unexpected argument '%s'", word);
        err_ctx(err, "word", "%s", word);
        return usage_error(p, err);
    }
    p->args[out->args.n++] = word;
    p->only_args |= out->args.n == out->cmd->own_args;
    return true;
}

/* Argument number n of a usage text, without "[--]". */
static struct str usage_word(const char *usage, size_t n)
{
    struct str word = STR(""), rest = str_z(usage);
    for (size_t i = 0; i <= n && str_cut(rest, ' ', &word, &rest);)
        i += word.p[0] != '[' && !str_is(word, "--");
    return str_trim_end(word, ' ');
}

static bool check_complete(struct opt_parser *p, struct err *err)
{
    const struct cmd *cmd = p->out->cmd;
    const struct global_options *global = &p->out->global;
    if (global->help || global->version || cmd->subs || p->out->args.n >= cmd->min_args)
        return true;
    AUTO_BUF struct buf full = BUF_INIT(256);
    cmd_full_name(cmd, &full);
    struct str missing = usage_word(cmd->usage, p->out->args.n);
    err_set(err, E_CLI_INVALID_ARG, "'%s' needs " STR_FMT ": %s [OPTION…] %s", buf_z(&full),
        STR_ARG(missing), buf_z(&full), cmd->usage);
    return usage_error(p, err);
}

static bool end_options(struct opt_parser *p)
{
    p->only_args = true;
    p->out->args.n_before = p->out->args.n;
    return true;
}

bool opt_parse(
    const char *const *words, size_t n, struct arena *a, struct parsed *ret_parsed, struct err *err)
{
    *ret_parsed = (struct parsed){.cmd = &cmd_cordon};
    if (n > ARGS_MAX)
        return err_set(
            err, E_CLI_INVALID_ARG, "too many arguments: at most %d are allowed", ARGS_MAX);
    struct opt_parser p = {.words = words, .n = n, .a = a, .out = ret_parsed};
    p.args = ARENA_NEW(a, const char *, n + 1);
    while (p.next < n) {
        const char *word = words[p.next++];
        bool ok;
        if (p.only_args || word[0] != '-' || word[1] == '\0')
            ok = opt_parse_word(&p, word, err);
        else if (strcmp(word, "--") == 0)
            ok = end_options(&p);
        else
            ok = word[1] == '-' ? parse_long(&p, word, err) : parse_short(&p, word, err);
        if (!ok)
            return false;
    }
    ret_parsed->args.options = p.options;
    ret_parsed->args.v = p.args;
    if (!p.only_args)
        ret_parsed->args.n_before = ret_parsed->args.n;
    return check_complete(&p, err);
}

static bool opt_has_word(const char *const *words, size_t n, const char *word)
{
    for (size_t i = 0; i < n && strcmp(words[i], "--") != 0; i++)
        if (strcmp(words[i], word) == 0)
            return true;
    return false;
}

bool opt_wants_json(const char *const *words, size_t n)
{
    return opt_has_word(words, n, "--json");
}

bool opt_wants_verbose(const char *const *words, size_t n)
{
    return opt_has_word(words, n, "--verbose") || opt_has_word(words, n, "-v");
}
