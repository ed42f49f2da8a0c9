/* Scripts of sed and awk that can only read and print. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/tool_runs.h"

#define SCRIPT "its script may run commands or write files"

/* sed ----------------------------------------------------------------------------------------- */

struct runs_script_scan {
    struct str s;
    size_t at;
};

static int runs_script_peek(const struct runs_script_scan *x)
{
    return x->at < x->s.n ? (unsigned char)x->s.p[x->at] : -1;
}

static void runs_script_skip(struct runs_script_scan *x, const char *bytes)
{
    while (runs_script_peek(x) > 0 && strchr(bytes, runs_script_peek(x)))
        x->at++;
}

static bool skip_to(struct runs_script_scan *x, int delimiter)
{
    for (; runs_script_peek(x) >= 0 && runs_script_peek(x) != '\n'; x->at++) {
        if (runs_script_peek(x) == delimiter) {
            x->at++;
            return true;
        }
        if (runs_script_peek(x) == '\\')
            x->at++;
    }
    return false;
}

/* A line number, `$`, /regular expression/, or \cregular expressionc. */
static bool skip_address(struct runs_script_scan *x)
{
    if (runs_script_peek(x) == '/' || runs_script_peek(x) == '\\') {
        x->at += runs_script_peek(x) == '\\';
        int delimiter = runs_script_peek(x);
        x->at++;
        if (delimiter < 0 || !skip_to(x, delimiter))
            return false;
        runs_script_skip(x, "IM");
        return true;
    }
    runs_script_skip(x, "0123456789$~+");
    return true;
}

/* s and y; the flags `e` and `w` are not skipped, so that the caller rejects them. */
static bool runs_script_skip_substitution(struct runs_script_scan *x, bool flags)
{
    int delimiter = runs_script_peek(x);
    x->at++;
    if (delimiter < 0 || delimiter == '\n' || delimiter == '\\' || !skip_to(x, delimiter) ||
        !skip_to(x, delimiter))
        return false;
    if (flags)
        runs_script_skip(x, "gpiIm0123456789M");
    return true;
}

static bool skip_command(struct runs_script_scan *x)
{
    int c = runs_script_peek(x);
    x->at++;
    switch (c) {
    case 's':
    case 'y':
        if (!runs_script_skip_substitution(x, c == 's'))
            return false;
        break;
    case 'a':
    case 'i':
    case 'c':
    case 'r':
    case 'R':
    case '#':
        while (runs_script_peek(x) >= 0 && runs_script_peek(x) != '\n')
            x->at++;
        return true;
    case ':':
    case 'b':
    case 't':
    case 'T':
        runs_script_skip(x, " ");
        runs_script_skip(x, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
        break;
    case '{':
    case '}':
        return true;
    default:
        if (c < 0 || !strchr("pPdDqQlnNgGhHxFz=", c) || c == 0)
            return false;
        runs_script_skip(x, " 0123456789");
    }
    runs_script_skip(x, " \t");
    return runs_script_peek(x) < 0 || strchr(";\n}#", runs_script_peek(x));
}

static bool sed_reads_only(struct str script)
{
    struct runs_script_scan x = {.s = script};
    for (;;) {
        runs_script_skip(&x, " \t\n;");
        if (runs_script_peek(&x) < 0)
            return true;
        if (!skip_address(&x))
            return false;
        runs_script_skip(&x, " \t");
        if (runs_script_peek(&x) == ',') {
            x.at++;
            runs_script_skip(&x, " \t");
            if (!skip_address(&x))
                return false;
        }
        runs_script_skip(&x, " \t!");
        if (!skip_command(&x))
            return false;
    }
}

/* Kinds of options, with regard to the script. */
enum sed_option {
    SED_FLAG,
    SED_SCRIPT,      /* follows in the same word */
    SED_SCRIPT_NEXT, /* the next word */
    SED_UNKNOWN,
};

/* Suffix of a backup file; with `*` or a slash it can be an arbitrary file. */
static bool is_suffix(struct str text)
{
    return str_find(text, '/') < 0 && str_find(text, '*') < 0;
}

static enum sed_option sed_option(struct str word, struct str *ret_script)
{
    static const char flags[] =
        "--debug --in-place --null-data --posix --quiet --regexp-extended --sandbox "
        "--separate --silent --unbuffered --zero-terminated";
    if (str_starts_with(word, STR("--"))) {
        struct str name, value;
        str_cut(word, '=', &name, &value);
        *ret_script = value;
        if (str_is(name, "--expression"))
            return name.n < word.n ? SED_SCRIPT : SED_SCRIPT_NEXT;
        if (str_is(name, "--line-length")) /* without "=", the next word is its value */
            return name.n < word.n ? SED_FLAG : SED_UNKNOWN;
        return runs_listed(flags, name) && is_suffix(value) ? SED_FLAG : SED_UNKNOWN;
    }
    for (size_t i = 1; i < word.n; i++) {
        *ret_script = str_skip(word, i + 1);
        if (word.p[i] == 'e')
            return i + 1 < word.n ? SED_SCRIPT : SED_SCRIPT_NEXT;
        if (word.p[i] == 'i')
            return is_suffix(*ret_script) ? SED_FLAG : SED_UNKNOWN;
        if (!strchr("nErsuz", word.p[i]))
            return SED_UNKNOWN;
    }
    return SED_FLAG;
}

const char *runs_sed(const struct cmdline_command *c)
{
    struct str operand = {0};
    bool given = false;
    for (size_t i = 1; i < c->n; i++) {
        struct str script = c->words[i];
        bool option = script.n > 1 && script.p[0] == '-';
        if (!option && !operand.p)
            operand = script;
        if (!option)
            continue;
        enum sed_option kind = sed_option(c->words[i], &script);
        if (kind == SED_UNKNOWN || (kind == SED_SCRIPT_NEXT && i + 1 == c->n))
            return SCRIPT;
        if (kind == SED_SCRIPT_NEXT)
            script = c->words[++i];
        given |= kind != SED_FLAG;
        if (kind != SED_FLAG && !sed_reads_only(script))
            return SCRIPT;
    }
    return !given && operand.p && !sed_reads_only(operand) ? SCRIPT : NULL;
}

/* awk ----------------------------------------------------------------------------------------- */

static bool awk_reads_only(struct str text)
{
    static const char *const calls[] = {"system", "getline"};
    for (size_t i = 0; i < text.n; i++) {
        if (strchr("|>@", text.p[i]) && text.p[i])
            return false;
        for (size_t k = 0; k < ARRAY_LEN(calls); k++)
            if (str_starts_with(str_skip(text, i), str_z(calls[k])))
                return false;
    }
    return true;
}

/* Any word may be the program: that depends on the options. */
const char *runs_awk(const struct cmdline_command *c)
{
    for (size_t i = 1; i < c->n; i++) {
        struct str word = c->words[i];
        bool option = word.n > 1 && word.p[0] == '-';
        if (option && !str_is(word, "--") && word.p[1] != 'F' && word.p[1] != 'v')
            return SCRIPT;
        if (!str_starts_with(word, STR("-F")) && !awk_reads_only(word))
            return SCRIPT;
    }
    return NULL;
}
