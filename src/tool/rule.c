/* Rules that say which calls need no question. */
#include "tool/rule.h"

#include "tool/cmdline.h"
#include "tool/tool.h"

enum {
    RULE_MAX = 1000,
    RULE_WORDS_MAX = 64,
};

/* `*` stands for any bytes. */
static bool matches(struct str pattern, struct str text)
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

static size_t split(struct str pattern, struct str words[RULE_WORDS_MAX])
{
    struct str word;
    size_t n = 0;
    while (str_cut(pattern, ' ', &word, &pattern))
        if (word.n && n < RULE_WORDS_MAX)
            words[n++] = word;
    return n;
}

static bool covers(struct str pattern, const struct cmdline_command *c)
{
    struct str words[RULE_WORDS_MAX];
    size_t n = split(pattern, words);
    bool open = n > 0 && str_is(words[n - 1], "*");
    size_t named = open ? n - 1 : n;
    if (named == 0 && cmdline_danger(c))
        return false;
    if (c->n < named || (!open && c->n != named))
        return false;
    for (size_t i = 0; i < named; i++)
        if (!matches(words[i], c->words[i]))
            return false;
    return true;
}

/* The pattern of a rule for this tool, or no value. */
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
        return err_set(err, E_CONFIG, "a rule has more than %d bytes", RULE_MAX);
    if (str_find(rule, ':') <= 0)
        return err_set(err, E_CONFIG,
            "'" STR_FMT "' is no rule: write TOOL:PATTERN, such as \"shell:git *\"", STR_ARG(rule));
    str_cut(rule, ':', &name, &pattern);
    if (!tool_find(name))
        return err_set(err, E_CONFIG, "'" STR_FMT "': there is no tool '" STR_FMT "'",
            STR_ARG(rule), STR_ARG(name));
    if (pattern.n == 0)
        return err_set(err, E_CONFIG, "'" STR_FMT "' has no pattern", STR_ARG(rule));
    if (tool_find(name)->no_rules)
        return err_set(err, E_CONFIG,
            "'" STR_FMT "': no rule can cover " STR_FMT ": what is typed means what the program at "
            "work makes of it",
            STR_ARG(rule), STR_ARG(name));
    return true;
}

static bool command_covered(
    const struct rule_set *rules, const char *tool, const struct cmdline_command *c)
{
    for (size_t l = 0; l < ARRAY_LEN(rules->lists); l++)
        for (size_t i = 0; rules->lists[l] && i < rules->lists[l]->n; i++) {
            struct str pattern = pattern_for(rules->lists[l]->p[i], tool);
            if (pattern.p && covers(pattern, c))
                return true;
        }
    return false;
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
    for (size_t i = 0; i < s.n; i++) {
        const struct cmdline_command *c = &s.commands[i];
        if (c->fixed && command_covered(rules, tool, c))
            continue;
        *ret_why = arena_printf(a, "no rule covers '" STR_FMT "'", STR_ARG(c->words[0]));
        return false;
    }
    return true;
}

static bool path_covered(struct str pattern, struct str path)
{
    if (pattern.n && pattern.p[pattern.n - 1] == '/') /* a directory, and all below it */
        return str_starts_with(path, pattern);
    return matches(pattern, path);
}

bool rule_covers_paths(const struct rule_set *rules, const char *tool, struct str paths)
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
                covered = pattern.p && path_covered(pattern, path);
            }
        if (!covered)
            return false;
        n++;
    }
    return n > 0;
}

struct str rule_propose(const char *tool, bool is_command, struct str subject, struct arena *a)
{
    if (!is_command)
        return memchr(subject.p, '\n', subject.n) || memchr(subject.p, '*', subject.n)
                   ? (struct str){0}
                   : str_z(arena_printf(a, "%s:" STR_FMT, tool, STR_ARG(subject)));
    struct cmdline s;
    cmdline_parse(subject, a, &s);
    if (s.why || s.n != 1 || cmdline_danger(&s.commands[0]) || !s.commands[0].fixed)
        return (struct str){0};
    const struct cmdline_command *c = &s.commands[0];
    for (size_t i = 0; i < MIN(c->n, (size_t)2); i++) {
        if (c->words[i].n == 0)
            return (struct str){0};
        for (size_t k = 0; k < c->words[i].n; k++)
            if (strchr(" *\n", c->words[i].p[k]))
                return (struct str){0};
    }
    bool second = c->n > 1 && c->words[1].n && c->words[1].p[0] != '-' && c->words[1].p[0] != '/';
    return str_z(second ? arena_printf(a, "%s:" STR_FMT " " STR_FMT " *", tool,
                              STR_ARG(c->words[0]), STR_ARG(c->words[1]))
                        : arena_printf(a, "%s:" STR_FMT " *", tool, STR_ARG(c->words[0])));
}
