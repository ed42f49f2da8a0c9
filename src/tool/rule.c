/* Rules that allow calls without asking. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/rule.h"

#include "tool/cmdline.h"
#include "tool/tool.h"
#include "tool/tool_runs.h"

enum {
    RULE_MAX = 1000,
    RULE_WORDS_MAX = 64,
};

/* `*` matches any bytes. */
static bool rule_pattern_matches(struct str pattern, struct str text)
{
    size_t p = 0, t = 0, star = SIZE_MAX, mark = 0;
    while (t < text.n) {
        if (p < pattern.n && pattern.p[p] == '*') {
            star = p++;
            mark = t;
        } else if (p < pattern.n && pattern.p[p] == text.p[t]) {
            p++;
            t++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            t = ++mark;
        } else {
            return false;
        }
    }
    while (p < pattern.n && pattern.p[p] == '*')
        p++;
    return p == pattern.n;
}

/* Returns false if there are more words than a rule can have. */
static bool rule_split(struct str pattern, struct str words[RULE_WORDS_MAX], size_t *ret_n)
{
    struct str word;
    size_t n = 0;
    while (str_cut(pattern, ' ', &word, &pattern)) {
        if (word.n && n == RULE_WORDS_MAX)
            return false;
        if (word.n)
            words[n++] = word;
    }
    *ret_n = n;
    return true;
}

/* Properties of a pattern that matches a command. */
struct rule_fit {
    bool exact; /* without `*`: the user has read the whole command */
    bool open;  /* allows further words */
    bool named; /* names the command */
};

static bool rule_fits(struct str pattern, const struct cmdline_command *c, struct rule_fit *ret_fit)
{
    struct str words[RULE_WORDS_MAX];
    size_t n;
    if (!rule_split(pattern, words, &n))
        return false;
    bool open = n > 0 && str_is(words[n - 1], "*");
    size_t named = open ? n - 1 : n;
    if (c->n < named || (!open && c->n != named))
        return false;
    for (size_t i = 0; i < named; i++)
        if (!rule_pattern_matches(words[i], c->words[i]))
            return false;
    *ret_fit = (struct rule_fit){!memchr(pattern.p, '*', pattern.n), open, named > 0};
    return true;
}

/* Whether the line changes the directory, so that the same words refer to other files. */
enum moved {
    NOT_MOVED,
    MOVED_EXACTLY, /* each time to one that a rule without `*` names */
    MOVED,
};

/* Returns why a matching pattern does not cover a command, or NULL if it does. */
static const char *rule_objection(
    const struct rule_fit *fit, const struct cmdline_command *c, enum moved moved)
{
    enum runs_fed fed = runs_fed(c);
    const char *why = NULL;
    if (fed == RUNS_FED_SHELL || (fed == RUNS_FED_INTERPRETER && !(fit->open && fit->named)))
        return "it executes its input";
    if (moved > (fit->exact ? MOVED_EXACTLY : NOT_MOVED) && runs_by_directory(c))
        return "the command line changes the directory, and files there determine what it runs";
    if (!fit->exact)
        why = runs_more(c);
    return why || fit->named ? why : cmdline_danger(c);
}

/* Returns the pattern of a rule for this tool, or an unset string. */
static struct str pattern_for(struct str rule, const char *tool)
{
    struct str name, pattern;
    if (str_find(rule, ':') < 0)
        return (struct str){0};
    str_cut(rule, ':', &name, &pattern);
    const struct tool *t = tool_find(name);
    return t && strcmp(t->name, tool) == 0 ? pattern : (struct str){0};
}

bool rule_check(struct str rule, struct err *err)
{
    struct str name, pattern;
    if (rule.n > RULE_MAX)
        return err_set(err, E_CONFIG, "a rule is longer than %d bytes", RULE_MAX);
    if (str_find(rule, ':') <= 0)
        return err_set(err, E_CONFIG,
            "'" STR_FMT "' is not a rule: expected TOOL:PATTERN, such as \"shell:git *\"",
            STR_ARG(rule));
    str_cut(rule, ':', &name, &pattern);
    if (!tool_find(name))
        return err_set(err, E_CONFIG, "'" STR_FMT "': no such tool '" STR_FMT "'", STR_ARG(rule),
            STR_ARG(name));
    if (pattern.n == 0)
        return err_set(err, E_CONFIG, "'" STR_FMT "' has no pattern", STR_ARG(rule));
    if (tool_find(name)->no_rules)
        return err_set(err, E_CONFIG,
            "'" STR_FMT "': no rule can allow " STR_FMT
            ": the effect of typed input depends on the running program",
            STR_ARG(rule), STR_ARG(name));
    return true;
}

/* ret_why: the objection to a matching rule. ret_exact: a rule without `*` covers the command. */
static bool command_covered(const struct rule_set *rules, const char *tool,
    const struct cmdline_command *c, enum moved moved, const char **ret_why, bool *ret_exact)
{
    struct rule_fit fit;
    bool covered = false;
    *ret_exact = false;
    for (size_t l = 0; l < ARRAY_LEN(rules->lists); l++)
        for (size_t i = 0; rules->lists[l] && i < rules->lists[l]->n; i++) {
            struct str pattern = pattern_for(rules->lists[l]->p[i], tool);
            if (!pattern.p || !rule_fits(pattern, c, &fit))
                continue;
            const char *why = rule_objection(&fit, c, moved);
            covered |= !why;
            *ret_exact |= !why && fit.exact;
            *ret_why = why ? why : *ret_why;
        }
    return covered;
}

static enum moved line_moves(
    const struct rule_set *rules, const char *tool, const struct cmdline *s)
{
    enum moved moved = NOT_MOVED;
    for (size_t i = 0; i < s->n && moved != MOVED; i++) {
        const char *why = NULL;
        bool exact;
        if (!runs_listed("cd pushd popd", cmdline_name(&s->commands[i])))
            continue;
        command_covered(rules, tool, &s->commands[i], NOT_MOVED, &why, &exact);
        moved = exact ? MOVED_EXACTLY : MOVED;
    }
    return moved;
}

bool rule_covers_command(const struct rule_set *rules, const char *tool, struct str line,
    struct arena *a, const char **ret_why)
{
    struct cmdline s;
    cmdline_parse(line, a, &s);
    if (s.why) {
        *ret_why = s.why;
        return false;
    }
    enum moved moved = line_moves(rules, tool, &s);
    for (size_t i = 0; i < s.n; i++) {
        const struct cmdline_command *c = &s.commands[i];
        const char *objection = NULL;
        bool exact;
        if (c->fixed && command_covered(rules, tool, c, moved, &objection, &exact))
            continue;
        *ret_why = arena_printf(a, "no %s allows '" STR_FMT "'%s%s", objection ? "pattern" : "rule",
            STR_ARG(c->words[0]), objection ? " here: " : "", objection ? objection : "");
        return false;
    }
    return true;
}

static bool path_covered(struct str pattern, struct str path)
{
    if (pattern.n && pattern.p[pattern.n - 1] == '/') /* a directory and everything below it */
        return str_starts_with(path, pattern);
    return rule_pattern_matches(pattern, path);
}

static bool path_named(struct str pattern, struct str path)
{
    return str_eq(pattern, path) && !memchr(pattern.p, '*', pattern.n);
}

static bool rule_covers_each(const struct rule_set *rules, const char *tool, struct str paths,
    bool (*covers)(struct str pattern, struct str path))
{
    struct str path;
    size_t n = 0;
    while (str_cut(paths, '\n', &path, &paths)) {
        bool covered = false;
        if (path.n == 0)
            continue;
        for (size_t l = 0; l < ARRAY_LEN(rules->lists); l++)
            for (size_t i = 0; rules->lists[l] && i < rules->lists[l]->n && !covered; i++) {
                struct str pattern = pattern_for(rules->lists[l]->p[i], tool);
                covered = pattern.p && covers(pattern, path);
            }
        if (!covered)
            return false;
        n++;
    }
    return n > 0;
}

bool rule_covers_paths(const struct rule_set *rules, const char *tool, struct str paths)
{
    return rule_covers_each(rules, tool, paths, path_covered);
}

bool rule_names_paths(const struct rule_set *rules, const char *tool, struct str paths)
{
    return rule_covers_each(rules, tool, paths, path_named);
}

/* Words that a rule can contain literally. */
static bool is_literal(struct str word)
{
    for (size_t i = 0; i < word.n; i++)
        if (strchr(" *\n", word.p[i]))
            return false;
    return word.n > 0;
}

static struct str propose_command(const char *tool, struct str line, struct arena *a)
{
    AUTO_BUF struct buf rule = BUF_INIT(RULE_MAX + 1);
    struct cmdline s;
    cmdline_parse(line, a, &s);
    const struct cmdline_command *c = s.n == 1 && !s.why ? &s.commands[0] : NULL;
    if (!c || !c->fixed || c->fed || c->n > RULE_WORDS_MAX || cmdline_danger(c) || runs_more(c))
        return (struct str){0};
    buf_printf(&rule, "%s:", tool);
    for (size_t i = 0; i < c->n; i++) {
        if (!is_literal(c->words[i]))
            return (struct str){0};
        buf_printf(&rule, "%s" STR_FMT, i ? " " : "", STR_ARG(c->words[i]));
    }
    return buf_ok(&rule) && rule.n <= RULE_MAX ? arena_str(a, buf_str(&rule)) : (struct str){0};
}

struct str rule_propose(const char *tool, bool is_command, struct str subject, struct arena *a)
{
    if (is_command)
        return propose_command(tool, subject, a);
    bool literal = !memchr(subject.p, '\n', subject.n) && !memchr(subject.p, '*', subject.n) &&
                   !str_ends_with(subject, STR("/"));
    return literal ? str_z(arena_printf(a, "%s:" STR_FMT, tool, STR_ARG(subject)))
                   : (struct str){0};
}
