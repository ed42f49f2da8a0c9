/* Ignore rules: parsing and matching, with all of git's quirks. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/rules.h"

#include "base/grow.h"
#include "path/wild.h"

enum rule_kind {
    RULE_NAME,      /* literal name at any depth */
    RULE_SUFFIX,    /* '*' and a literal: suffix of a name at any depth */
    RULE_NAME_WILD, /* wildcards against a name at any depth */
    RULE_PATH,      /* literal path from the file's directory */
    RULE_PATH_WILD, /* literal prefix, then wildcards against the rest of the path */
};

struct rule {
    struct str literal;
    const struct wild *wild;
    uint8_t kind;
    bool negated;
    bool dir_only;
};

enum {
    ARENA_MAX = 1 << 30, /* enough for a file of 4 MiB: wild_memory() times its lines */
};

void rules_done(struct rules *r)
{
    arena_done(&r->arena);
    free(r->items);
    *r = (struct rules){0};
}

/* Removes trailing spaces, unless escaped with a backslash. */
static struct str trim_spaces(struct str line)
{
    size_t keep = 0;
    for (size_t i = 0; i < line.n; i++) {
        bool escaped = line.p[i] == '\\';
        if (escaped && ++i == line.n)
            return line;
        if (escaped || line.p[i] != ' ')
            keep = i + 1;
    }
    return str_head(line, keep);
}

/* Number of bytes at the start without special meaning. */
static size_t rules_plain_length(struct str s)
{
    size_t n = 0;
    while (n < s.n && !memchr("*?[\\", s.p[n], 4))
        n++;
    return n;
}

static struct rule *new_rule(struct rules *r)
{
    GROW(r->items, r->n, r->cap, GROW_MAX);
    struct rule *rule = &r->items[r->n++];
    *rule = (struct rule){0};
    return rule;
}

static void rules_set_name(struct rules *r, struct rule *rule, struct str pattern, size_t plain)
{
    bool suffix = pattern.p[0] == '*' && rules_plain_length(str_skip(pattern, 1)) == pattern.n - 1;
    if (plain == pattern.n)
        rule->kind = RULE_NAME;
    else if (suffix)
        rule->kind = RULE_SUFFIX;
    else
        rule->kind = RULE_NAME_WILD;
    rule->literal = suffix ? str_skip(pattern, 1) : pattern;
    if (rule->kind == RULE_NAME_WILD)
        rule->wild = wild_compile(pattern, 0, &r->arena);
}

/* The literal prefix is compared as such and the wildcards start after it, as if the pattern began
 * there: in "foo" + "**" + "/bar" the stars count as a whole component. */
static void rules_set_path(struct rules *r, struct rule *rule, struct str pattern, size_t plain)
{
    if (pattern.p[0] == '/') {
        pattern = str_skip(pattern, 1);
        plain--;
    }
    rule->kind = plain == pattern.n ? RULE_PATH : RULE_PATH_WILD;
    rule->literal = str_head(pattern, plain);
    if (rule->kind == RULE_PATH_WILD)
        rule->wild = wild_compile(str_skip(pattern, plain), WILD_PATH, &r->arena);
}

/* One line without its line break, in memory that persists. */
static void rules_add_line(struct rules *r, struct str line)
{
    ptrdiff_t nul = str_find(line, '\0');
    struct str pattern = trim_spaces(nul < 0 ? line : str_head(line, (size_t)nul));
    bool negated = pattern.n && pattern.p[0] == '!';
    if (negated)
        pattern = str_skip(pattern, 1);
    bool dir_only = pattern.n && pattern.p[pattern.n - 1] == '/';
    if (dir_only)
        pattern.n--;
    if (pattern.n == 0)
        return;
    struct rule *rule = new_rule(r);
    rule->negated = negated;
    rule->dir_only = dir_only;
    size_t plain = rules_plain_length(pattern);
    if (str_find(pattern, '/') < 0)
        rules_set_name(r, rule, pattern, plain);
    else
        rules_set_path(r, rule, pattern, plain);
}

bool rules_add(struct rules *r, struct str text, const char *name, struct err *err)
{
    if (text.n > RULES_FILE_MAX)
        return err_set(err, E_IO, "'%s' is larger than %d bytes", name, RULES_FILE_MAX);
    size_t before = r->n;
    r->arena.max = ARENA_MAX;
    if (str_starts_with(text, STR("\xEF\xBB\xBF")))
        text = str_skip(text, 3);
    struct str line, rest = arena_str(&r->arena, text);
    while (str_cut(rest, '\n', &line, &rest)) {
        if (line.n == 0 || line.p[0] == '#')
            continue;
        if (line.p[line.n - 1] == '\r')
            line.n--;
        if (r->n - before == RULES_COUNT_MAX) {
            r->n = before;
            return err_set(err, E_IO, "'%s' has more than %d rules", name, RULES_COUNT_MAX);
        }
        rules_add_line(r, line);
    }
    return true;
}

size_t rules_memory(const struct rules *r)
{
    return r->arena.used + r->cap * sizeof(r->items[0]);
}

/* The path being matched. */
struct rules_subject {
    struct str path;
    struct str name;
    uint64_t path_bytes; /* wild_bytes() */
    uint64_t name_bytes;
};

static bool rules_match_one(const struct rule *rule, const struct rules_subject *s)
{
    switch ((enum rule_kind)rule->kind) {
    case RULE_NAME:
        return str_eq(s->name, rule->literal);
    case RULE_SUFFIX:
        return str_ends_with(s->name, rule->literal);
    case RULE_NAME_WILD:
        return wild_match_known(rule->wild, s->name, s->name_bytes);
    case RULE_PATH:
        return str_eq(s->path, rule->literal);
    case RULE_PATH_WILD:
        return str_starts_with(s->path, rule->literal) &&
               wild_match_known(rule->wild, str_skip(s->path, rule->literal.n), s->path_bytes);
    }
    return false;
}

enum rules_verdict rules_match(const struct rules *r, struct str path, bool is_dir)
{
    struct rules_subject s = {.path = path};
    s.name = str_skip(path, (size_t)(str_find_last(path, '/') + 1));
    s.name_bytes = r->n ? wild_bytes(s.name) : 0;
    s.path_bytes = r->n ? wild_bytes(path) : 0;
    for (size_t i = r->n; i-- > 0;) {
        const struct rule *rule = &r->items[i];
        if ((!rule->dir_only || is_dir) && rules_match_one(rule, &s))
            return rule->negated ? RULES_KEEP : RULES_IGNORE;
    }
    return RULES_NONE;
}
