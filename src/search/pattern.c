/* Parses a regular expression to find the byte sequences it requires. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "search/pattern.h"

#include "base/utf8.h"
#include "search/pattern_seq.h"

struct pattern_parser {
    struct str text;
    size_t at;
    struct buf *form;
    bool fold;    /* letters match in either case */
    bool opaque;  /* unsupported construct found */
    bool newline; /* the pattern contains a newline */
    unsigned depth;
};

/* One element of a bracket expression, or an escape sequence. */
struct pattern_element {
    uint32_t c; /* the character, if `single` */
    bool single;
    struct needle_class ascii; /* the class otherwise */
    bool newline;              /* matches a newline */
};

static int pattern_peek(const struct pattern_parser *p)
{
    return p->at < p->text.n ? (unsigned char)p->text.p[p->at] : -1;
}

static bool pattern_accept(struct pattern_parser *p, char c)
{
    bool there = pattern_peek(p) == (unsigned char)c;
    p->at += there;
    return there;
}

static bool pattern_give_up(struct pattern_parser *p)
{
    p->opaque = true;
    return false;
}

static void pattern_add_range(struct needle_class *c, uint32_t from, uint32_t to)
{
    for (uint32_t b = from; b <= to && b < 128; b++)
        if (b != '\n')
            needle_class_add(c, b);
}

/* \d \w \s: the ASCII part. Upper case: the complement. */
static bool known_class(int letter, struct needle_class *ret_class, bool *ret_newline)
{
    struct needle_class c = {0}, all = {0};
    switch (letter | 0x20) {
    case 'd':
        pattern_add_range(&c, '0', '9');
        break;
    case 'w':
        pattern_add_range(&c, '0', '9');
        pattern_add_range(&c, 'A', 'Z');
        pattern_add_range(&c, 'a', 'z');
        pattern_add_range(&c, '_', '_');
        break;
    case 's':
        pattern_add_range(&c, '\t', '\r');
        pattern_add_range(&c, ' ', ' ');
        break;
    default:
        return false;
    }
    bool others = !(letter & 0x20);
    pattern_add_range(&all, 0, 127);
    for (size_t i = 0; i < ARRAY_LEN(c.bits) && others; i++)
        c.bits[i] = all.bits[i] & ~c.bits[i];
    *ret_class = c;
    *ret_newline = (letter | 0x20) == 's' ? !others : others;
    return true;
}

static int pattern_hex_value(int c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* After "\x". */
static bool take_hex(struct pattern_parser *p, uint32_t *ret_c)
{
    bool braces = pattern_accept(p, '{');
    uint32_t c = 0;
    size_t digits = 0;
    for (; pattern_hex_value(pattern_peek(p)) >= 0 && digits < (braces ? 6 : 2); digits++)
        c = c << 4 | (uint32_t)pattern_hex_value(p->text.p[p->at++]);
    if (digits == 0 || (braces && !pattern_accept(p, '}')) || !utf8_is_scalar(c))
        return pattern_give_up(p);
    *ret_c = c;
    return true;
}

/* After a backslash; escape sequences are the same inside brackets and outside. */
static bool pattern_read_escape(struct pattern_parser *p, struct pattern_element *e)
{
    static const struct {
        char letter, c;
    } controls[] = {{'t', '\t'}, {'r', '\r'}, {'f', '\f'}, {'e', 27}, {'n', '\n'}};
    int c = pattern_peek(p);
    if (c < 0 || c >= 128)
        return pattern_give_up(p);
    p->at++;
    *e = (struct pattern_element){.single = true, .c = (uint32_t)c};
    bool alphanumeric = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
    if (!alphanumeric)
        return true;
    for (size_t i = 0; i < ARRAY_LEN(controls); i++)
        if (controls[i].letter == c) {
            e->c = (uint32_t)controls[i].c;
            return true;
        }
    if (c == 'x')
        return take_hex(p, &e->c);
    e->single = false;
    return known_class(c, &e->ascii, &e->newline) || pattern_give_up(p);
}

/* Takes the next character, which may have several bytes. */
static bool take_char(struct pattern_parser *p, uint32_t *ret_c)
{
    size_t n = utf8_decode(str_skip(p->text, p->at), ret_c);
    p->at += n;
    return n > 0 || pattern_give_up(p);
}

/* K and S in either case have non-ASCII case variants (Kelvin sign, long s). */
static void fold_class(struct seq_char *c)
{
    struct needle_class before = c->ascii;
    for (unsigned b = 'a'; b <= 'z'; b++) {
        unsigned upper = b - 'a' + 'A';
        if (!needle_class_has(&before, b) && !needle_class_has(&before, upper))
            continue;
        needle_class_add(&c->ascii, b);
        needle_class_add(&c->ascii, upper);
        c->wide |= b == 'k' || b == 's';
    }
}

/* A non-ASCII character may be a case variant of an ASCII one. */
static void pattern_widen(const struct pattern_parser *p, struct seq_char *c)
{
    c->wide = true;
    if (p->fold)
        for (const char *b = "kKsS"; *b; b++)
            needle_class_add(&c->ascii, (unsigned char)*b);
}

struct brackets {
    struct seq_char set;
    bool newline;
};

static bool take_element(struct pattern_parser *p, struct pattern_element *e)
{
    if (pattern_accept(p, '\\')) {
        if (pattern_peek(p) == 'b')
            return pattern_give_up(p);
        return pattern_read_escape(p, e);
    }
    int next = p->at + 1 < p->text.n ? p->text.p[p->at + 1] : 0;
    if (pattern_peek(p) == '[' && (next == ':' || next == '.' || next == '='))
        return pattern_give_up(p);
    *e = (struct pattern_element){.single = true};
    return take_char(p, &e->c);
}

static bool add_element(struct pattern_parser *p, struct brackets *b)
{
    struct pattern_element e, last;
    if (!take_element(p, &e))
        return false;
    if (!e.single) {
        for (size_t i = 0; i < ARRAY_LEN(e.ascii.bits); i++)
            b->set.ascii.bits[i] |= e.ascii.bits[i];
        b->set.wide = true;
        b->newline |= e.newline;
        return true;
    }
    last = e;
    bool range = pattern_peek(p) == '-' && p->at + 1 < p->text.n && p->text.p[p->at + 1] != ']';
    if (range) {
        p->at++;
        if (!take_element(p, &last) || !last.single)
            return pattern_give_up(p);
    }
    pattern_add_range(&b->set.ascii, e.c, last.c);
    b->newline |= e.c <= '\n' && last.c >= '\n';
    if (last.c >= 128)
        pattern_widen(p, &b->set);
    return true;
}

/* After '['. The rewritten form keeps the text, but does not match newlines. */
static bool take_brackets(struct pattern_parser *p, struct seq_char *ret_char)
{
    struct brackets b = {0};
    bool negated = pattern_accept(p, '^');
    size_t begin = p->at;
    bool first = true;
    for (; first || pattern_peek(p) != ']'; first = false)
        if (pattern_peek(p) < 0 || !add_element(p, &b))
            return pattern_give_up(p);
    struct str inner = str_n(p->text.p + begin, p->at - begin);
    p->at++;
    if (p->fold)
        fold_class(&b.set);
    if (negated) {
        struct needle_class all = {0};
        pattern_add_range(&all, 0, 127);
        for (size_t i = 0; i < ARRAY_LEN(all.bits); i++)
            b.set.ascii.bits[i] = all.bits[i] & ~b.set.ascii.bits[i];
        b.set.wide = true;
        buf_add_z(p->form, str_starts_with(inner, STR("]")) ? "[^\\n\\" : "[^\\n");
    } else {
        buf_add_z(p->form, b.newline ? "(?:(?!\\n)[" : "[");
    }
    buf_add_str(p->form, inner);
    buf_add_z(p->form, !negated && b.newline ? "])" : "]");
    *ret_char = b.set;
    return true;
}

static bool take_number(struct pattern_parser *p, size_t *ret)
{
    size_t n = 0, digits = 0;
    for (; pattern_peek(p) >= '0' && pattern_peek(p) <= '9' && digits < 6; digits++)
        n = n * 10 + (size_t)(p->text.p[p->at++] - '0');
    *ret = n;
    return digits > 0;
}

/* {2} {2,} {2,5}; returns false and takes nothing if there is no such quantifier. */
static bool pattern_read_counts(struct pattern_parser *p, struct seq_times *t)
{
    size_t begin = p->at;
    bool ok = pattern_accept(p, '{') && take_number(p, &t->min);
    t->max = t->min;
    if (ok && pattern_accept(p, ',') && !take_number(p, &t->max))
        t->max = SIZE_MAX;
    if (ok && pattern_accept(p, '}'))
        return true;
    p->at = begin;
    *t = (struct seq_times){1, 1};
    return false;
}

/* Takes the quantifier, if any, of the last item and copies its text. */
static struct seq_times take_times(struct pattern_parser *p)
{
    struct seq_times t = {1, 1};
    size_t begin = p->at;
    bool given = true;
    if (pattern_accept(p, '*'))
        t = (struct seq_times){0, SIZE_MAX};
    else if (pattern_accept(p, '+'))
        t = (struct seq_times){1, SIZE_MAX};
    else if (pattern_accept(p, '?'))
        t = (struct seq_times){0, 1};
    else
        given = pattern_read_counts(p, &t);
    if (given && pattern_peek(p) == '+')
        pattern_give_up(p);
    else if (given)
        pattern_accept(p, '?');
    buf_add(p->form, p->text.p + begin, p->at - begin);
    return t;
}

static bool is_repeated(const struct pattern_parser *p)
{
    return pattern_peek(p) >= 0 && strchr("*+?{", pattern_peek(p));
}

/* A literal character. `begin` is the start of its text. */
static bool add_literal(struct pattern_parser *p, struct seq *s, uint32_t c, size_t begin)
{
    char bytes[UTF8_MAX];
    p->newline |= c == '\n';
    buf_add(p->form, p->text.p + begin, p->at - begin);
    if (c >= 128 && !p->fold && !is_repeated(p)) {
        seq_add_bytes(s, str_n(bytes, utf8_write(c, bytes)));
        return true;
    }
    struct seq_char set = {0};
    if (c >= 128)
        pattern_widen(p, &set);
    else
        needle_class_add(&set.ascii, c);
    if (p->fold)
        fold_class(&set);
    seq_add_char(s, &set, take_times(p));
    return !p->opaque;
}

static bool pattern_add_escape(struct pattern_parser *p, struct seq *s, size_t begin)
{
    struct pattern_element e;
    if ((pattern_peek(p) | 0x20) == 'b') { /* \b and \B: assertions */
        p->at++;
        buf_add(p->form, p->text.p + begin, p->at - begin);
        s->exact = false;
        return !is_repeated(p) || pattern_give_up(p);
    }
    if (!pattern_read_escape(p, &e))
        return false;
    if (e.single)
        return add_literal(p, s, e.c, begin);
    char letter = p->text.p[p->at - 1];
    if (e.newline) /* the class without newline */
        buf_printf(p->form, "[^\\%c\\n]", letter ^ 0x20);
    else
        buf_printf(p->form, "\\%c", letter);
    struct seq_char set = {.ascii = e.ascii, .wide = true};
    seq_add_char(s, &set, take_times(p));
    return !p->opaque;
}

static bool parse_alternatives(struct pattern_parser *p, struct seq_needs *ret);

/* After '(': plain, (?:…) or named. */
static bool pattern_add_group(struct pattern_parser *p, struct seq *s)
{
    size_t begin = p->at - 1;
    if (pattern_peek(p) == '*')
        return pattern_give_up(p);
    if (pattern_accept(p, '?') && !pattern_accept(p, ':')) {
        pattern_accept(p, 'P');
        if (!pattern_accept(p, '<') || pattern_peek(p) == '=' || pattern_peek(p) == '!')
            return pattern_give_up(p);
        while (pattern_peek(p) >= 0 && pattern_peek(p) != '>')
            p->at++;
        if (!pattern_accept(p, '>'))
            return pattern_give_up(p);
    }
    buf_add(p->form, p->text.p + begin, p->at - begin);
    AUTO_FREE struct seq_needs *needs = base_alloc(sizeof(*needs));
    if (p->depth == PATTERN_DEPTH_MAX)
        return pattern_give_up(p);
    p->depth++;
    bool ok = parse_alternatives(p, needs) && pattern_accept(p, ')');
    p->depth--;
    if (!ok)
        return pattern_give_up(p);
    buf_add_byte(p->form, ')');
    seq_add_group(s, needs, take_times(p));
    return !p->opaque;
}

static bool add_anchor(struct pattern_parser *p, struct seq *s, char c)
{
    /* A line may end in a carriage return, which is not part of it. */
    buf_add_z(p->form, c == '^' ? "^" : "(?=\\r?$)");
    s->exact = false;
    return !is_repeated(p) || pattern_give_up(p);
}

static bool pattern_add_item(struct pattern_parser *p, struct seq *s)
{
    struct seq_char set = {.wide = true};
    size_t begin = p->at;
    uint32_t c;
    switch (pattern_peek(p)) {
    case '\\':
        p->at++;
        return pattern_add_escape(p, s, begin);
    case '[':
        p->at++;
        if (!take_brackets(p, &set))
            return false;
        break;
    case '.':
        p->at++;
        pattern_add_range(&set.ascii, 0, 127);
        buf_add_byte(p->form, '.');
        break;
    case '(':
        p->at++;
        return pattern_add_group(p, s);
    case '^':
    case '$':
        p->at++;
        return add_anchor(p, s, p->text.p[begin]);
    case '*':
    case '+':
    case '?':
        return pattern_give_up(p);
    default:
        return take_char(p, &c) && add_literal(p, s, c, begin);
    }
    seq_add_char(s, &set, take_times(p));
    return !p->opaque;
}

static bool pattern_parse_sequence(struct pattern_parser *p, struct seq_needs *ret)
{
    AUTO_FREE struct seq *s = seq_new();
    while (pattern_peek(p) >= 0 && pattern_peek(p) != '|' && pattern_peek(p) != ')')
        if (!pattern_add_item(p, s))
            return false;
    seq_end(s, ret);
    return true;
}

static bool parse_alternatives(struct pattern_parser *p, struct seq_needs *ret)
{
    AUTO_FREE struct seq_needs *next = base_alloc(sizeof(*next));
    if (!pattern_parse_sequence(p, ret))
        return false;
    while (pattern_accept(p, '|')) {
        buf_add_byte(p->form, '|');
        if (!pattern_parse_sequence(p, next))
            return false;
        seq_needs_or(ret, next);
    }
    return true;
}

static bool parse_literal(struct pattern_parser *p, struct seq_needs *ret)
{
    AUTO_FREE struct seq *s = seq_new();
    uint32_t c;
    while (pattern_peek(p) >= 0) {
        if (!take_char(p, &c))
            return false;
        p->newline |= c == '\n';
        struct seq_char set = {0};
        char bytes[UTF8_MAX];
        if (c >= 128 && !p->fold) {
            seq_add_bytes(s, str_n(bytes, utf8_write(c, bytes)));
            continue;
        }
        if (c >= 128)
            pattern_widen(p, &set);
        else
            needle_class_add(&set.ascii, c);
        if (p->fold)
            fold_class(&set);
        seq_add_char(s, &set, (struct seq_times){1, 1});
    }
    buf_add_str(p->form, p->text);
    seq_end(s, ret);
    return true;
}

/* A leading "(?i)" is the most common option. */
static void take_fold(struct pattern_parser *p)
{
    if (!str_starts_with(p->text, STR("(?i)")))
        return;
    buf_add_z(p->form, "(?i)");
    p->at = 4;
    p->fold = true;
}

static bool is_useful(const struct seq_needs *needs)
{
    for (size_t i = 0; i < needs->set.n; i++)
        if (needs->set.runs[i].n == 0)
            return false;
    return needs->set.n && (needs->exact || needs->cost < 1.0);
}

bool pattern_parse(
    struct pattern *p, struct str text, const struct pattern_options *options, struct err *err)
{
    struct pattern_parser parser = {.text = text, .form = &p->form, .fold = options->ignore_case};
    AUTO_FREE struct seq_needs *needs = base_alloc(sizeof(*needs));
    bool ok;
    if (options->literal) {
        ok = parse_literal(&parser, needs);
    } else {
        take_fold(&parser);
        ok = parse_alternatives(&parser, needs) && parser.at == text.n;
    }
    if (parser.newline)
        return err_set(err, E_TOOL_VALIDATION,
            "the pattern contains a newline, but lines are searched one by one: search for "
            "one of the lines");
    p->opaque = !ok || !buf_ok(&p->form);
    if (!p->opaque && is_useful(needs)) {
        p->needs = needs->set;
        p->exact = needs->exact;
    }
    return true;
}

void pattern_done(struct pattern *p)
{
    buf_done(&p->form);
}
