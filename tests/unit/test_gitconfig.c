/* Git's configuration: readings by table. tests/repo/gitconfig_oracle.py compares random texts with
 * git itself. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "repo/gitconfig.h"
#include "repo/identity.h"

#include <sys/stat.h>

/* Entries as "section|subsection|name=value\n"; missing parts are "~". */
static void show(const struct gitconfig *config, struct buf *out)
{
    for (size_t i = 0; i < config->n; i++) {
        const struct gitconfig_entry *e = &config->p[i];
        buf_add_str(out, e->section);
        buf_add_byte(out, '|');
        buf_add_str(out, e->subsection.p ? e->subsection : STR("~"));
        buf_add_byte(out, '|');
        buf_add_str(out, e->name);
        buf_add_byte(out, '=');
        buf_add_str(out, e->value.p ? e->value : STR("~"));
        buf_add_byte(out, '\n');
    }
}

/* NULL: refused. */
static const struct {
    const char *name, *text, *want;
} readings[] = {
    {"nothing", "", ""},
    {"usual", "[core]\n\tbare = false\n", "core|~|bare=false\n"},
    {"case", "[CoRe]\nBaRe = False\n", "core|~|bare=False\n"},
    {"subsection keeps its case", "[remote \"Or.iGin\"]\nURL=X", "remote|Or.iGin|url=X\n"},
    {"subsection escapes", "[a \"x\\\"y\\\\z\\n\"]k=1", "a|x\"y\\zn|k=1\n"},
    {"subsection of brackets", "[a \"]\n\"]k=1", NULL},
    {"empty subsection", "[a \"\"]k=1", "a||k=1\n"},
    {"dotted", "[Core.HooksPath]k=1", "core|hookspath|k=1\n"},
    {"dotted and quoted", "[a.B \"C.D\"]k=1", "a|b.C.D|k=1\n"},
    {"dotted, empty", "[a.]k=1", "a||k=1\n"},
    {"blanks before the subsection", "[a \t\r \"b\"]k=1", "a|b|k=1\n"},
    {"blank behind the section", "[a ]k=1", NULL},
    {"blank behind the subsection", "[a \"b\" ]k=1", NULL},
    {"blank before the section", "[ a]k=1", NULL},
    {"entry on the header's line", "[a] k = 1 # c", "a|~|k=1\n"},
    {"two headers on a line", "[a][b]k=1", "b|~|k=1\n"},
    {"header not closed", "[a", NULL},
    {"header over two lines", "[a\n]", NULL},
    {"header with another byte", "[a_b]", NULL},
    {"no section", "k = 1", NULL},
    {"empty section", "[]k = 1", NULL},
    {"empty section, dotted", "[.a]k = 1", NULL},
    {"empty section, quoted", "[ \"a\"]k = 1", NULL},
    {"byte order mark", "\xef\xbb\xbf[a]k=1", "a|~|k=1\n"},
    {"half a mark", "\xef\xbb[a]k=1", NULL},
    {"two marks", "\xef\xbb\xbf\xef\xbb\xbf[a]k=1", NULL},
    {"CR LF", "[a]\r\nk = 1\r\nl\r\n", "a|~|k=1\na|~|l=~\n"},
    {"CR in a value", "[a]\nk = 1\rx\r\nl = \"\r\"", "a|~|k=1 x\na|~|l=\r\n"},
    {"CR behind a name", "[a]\nk\r= 1", NULL},
    {"comments", "# [x]\n; [y]\n[a] # [z]\nk = 1 ; 2\n", "a|~|k=1\n"},
    {"comments do not continue", "# c\\\n[a]\nk = 1 # c \\\nl = 2", "a|~|k=1\na|~|l=2\n"},
    {"no value", "[a]\nk\nl =\n", "a|~|k=~\na|~|l=\n"},
    {"comment instead of a value", "[a]\nk # c\n", NULL},
    {"names", "[a]\na-1 = x\n", "a|~|a-1=x\n"},
    {"name with a digit first", "[a]\n1a = x\n", NULL},
    {"name with an underscore", "[a]\na_b = x\n", NULL},
    {"name with a dot", "[a]\na.b = x\n", NULL},
    {"name outside ASCII", "[a]\n\xc3\xa9 = x\n", NULL},
    {"blanks", "[a]\n \tk \t=  a  b\tc \t\n", "a|~|k=a  b c\n"},
    {"other blanks are bytes", "[a]\nk = \va\f\n", "a|~|k=\va\f\n"},
    {"quotes", "[a]\nk = \" a \" b\" #;\"\n", "a|~|k= a  b #;\n"},
    {"quotes not closed", "[a]\nk = \"a\n", NULL},
    {"escapes", "[a]\nk = \\n\\t\\b\\\"\\\\\n", "a|~|k=\n\t\b\"\\\n"},
    {"unknown escape", "[a]\nk = \\x\n", NULL},
    {"continued", "[a]\nk = a \\\n  b\\\r\nc\n", "a|~|k=a   bc\n"},
    {"continued in quotes", "[a]\nk = \"a \\\n b\"\n", "a|~|k=a  b\n"},
    {"continued, nothing follows", "[a]\nk = a\\", "a|~|k=a\n"},
    {"a header as a value", "[a]\nk = [b] l\n", "a|~|k=[b] l\n"},
    {"a header behind a continuation", "[a]\nk = x\\\n[b]\nl\n", "a|~|k=x[b]\na|~|l=~\n"},
    {"repeated", "[a]k=1\n[b]k=2\n[a]k=3", "a|~|k=1\nb|~|k=2\na|~|k=3\n"},
};

TEST(gitconfig_reads_as_git)
{
    for (size_t i = 0; i < ARRAY_LEN(readings); i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(64 * 1024);
        AUTO_BUF struct buf got = BUF_INIT(4096);
        struct gitconfig config;
        test_row(i, readings[i].name);
        bool ok = gitconfig_parse(str_z(readings[i].text), &a, &config);
        if (!CHECK_INT(ok, readings[i].want != NULL) || !ok)
            continue;
        show(&config, &got);
        CHECK_Z(buf_z(&got), readings[i].want);
    }
}

TEST(gitconfig_refuses_nul)
{
    static const struct str texts[] = {STR("[core \"hooksPath\0\"]k=x"), STR("[a]k=v\0w"),
        STR("[a]k\0=v"), STR("[a]#\0\n"), STR("[a]\0")};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(64 * 1024);
        struct gitconfig config;
        test_row(i, "nul");
        CHECK(!gitconfig_parse(texts[i], &a, &config));
    }
}

static bool reads(const struct buf *text, size_t arena, size_t want)
{
    AUTO_ARENA struct arena a = ARENA_INIT(arena);
    struct gitconfig config;
    return gitconfig_parse(buf_str(text), &a, &config) && config.n == want;
}

TEST(gitconfig_has_limits)
{
    AUTO_BUF struct buf text = BUF_INIT(4 << 20);
    for (int i = 0; i < GITCONFIG_ENTRIES_MAX; i++)
        buf_printf(&text, "[a%d \"b%d\"]k%d=%060d\n", i, i, i, i);
    CHECK(reads(&text, 8 << 20, GITCONFIG_ENTRIES_MAX));
    CHECK(!reads(&text, 1 << 20, GITCONFIG_ENTRIES_MAX)); /* the arena's limit */
    buf_add_z(&text, "l\n");
    CHECK(!reads(&text, 8 << 20, GITCONFIG_ENTRIES_MAX + 1));
    /* A long header is stored once, however many entries it has. */
    buf_reset(&text);
    buf_printf(&text, "[a \"%0*d\"]\n", GITCONFIG_BYTES_MAX / 2, 0);
    for (int i = 0; i < GITCONFIG_ENTRIES_MAX; i++)
        buf_add_z(&text, "k\n");
    CHECK(reads(&text, 8 << 20, GITCONFIG_ENTRIES_MAX));
    buf_printf(&text, "#%0*d", GITCONFIG_BYTES_MAX - (int)text.n - 1, 0);
    CHECK(text.n == GITCONFIG_BYTES_MAX && reads(&text, 8 << 20, GITCONFIG_ENTRIES_MAX));
    buf_add_byte(&text, '\n');
    CHECK(!reads(&text, 8 << 20, GITCONFIG_ENTRIES_MAX));
}

#define NONE ((struct str){0})

static const struct {
    const char *name;
    struct gitconfig_entry entry;
    const char *want; /* NULL: not written */
} writings[] = {
    {"plain", {STR("core"), NONE, STR("bare"), STR("false")}, "[core]\n\tbare = false\n"},
    {"no value", {STR("a"), NONE, STR("k"), NONE}, "[a]\n\tk\n"},
    {"empty value", {STR("a"), NONE, STR("k"), STR("")}, "[a]\n\tk = \n"},
    {"subsection", {STR("a"), STR("\"] \\\r"), STR("k"), NONE}, "[a \"\\\"] \\\\\r\"]\n\tk\n"},
    {"blanks", {STR("a"), NONE, STR("k"), STR(" v ")}, "[a]\n\tk = \" v \"\n"},
    {"tab", {STR("a"), NONE, STR("k"), STR("v\tw")}, "[a]\n\tk = \"v\\tw\"\n"},
    {"CR at the end", {STR("a"), NONE, STR("k"), STR("v\r")}, "[a]\n\tk = \"v\r\"\n"},
    {"comment", {STR("a"), NONE, STR("k"), STR("v # w")}, "[a]\n\tk = \"v # w\"\n"},
    {"lines", {STR("a"), NONE, STR("k"), STR("\n[b]\nk")}, "[a]\n\tk = \"\\n[b]\\nk\"\n"},
    {"backslash", {STR("a"), NONE, STR("k"), STR("v\\")}, "[a]\n\tk = \"v\\\\\"\n"},
    {"quotes", {STR("a"), NONE, STR("k"), STR("v\"w")}, "[a]\n\tk = \"v\\\"w\"\n"},
    {"bytes", {STR("a"), NONE, STR("k"), STR("\xff")}, "[a]\n\tk = \xff\n"},
    {"section of two lines", {STR("a]\n[b"), NONE, STR("k"), NONE}, NULL},
    {"section with a dot", {STR("a.b"), NONE, STR("k"), NONE}, NULL},
    {"no section", {STR(""), NONE, STR("k"), NONE}, NULL},
    {"subsection of two lines", {STR("a"), STR("b\nc"), STR("k"), NONE}, NULL},
    {"subsection with NUL", {STR("a"), STR("b\0c"), STR("k"), NONE}, NULL},
    {"name of two lines", {STR("a"), NONE, STR("k\nl"), NONE}, NULL},
    {"name with a digit first", {STR("a"), NONE, STR("1k"), NONE}, NULL},
    {"name with a value", {STR("a"), NONE, STR("k=l"), NONE}, NULL},
    {"no name", {STR("a"), NONE, STR(""), NONE}, NULL},
    {"value with NUL", {STR("a"), NONE, STR("k"), STR("v\0w")}, NULL},
};

TEST(gitconfig_writes_for_git)
{
    for (size_t i = 0; i < ARRAY_LEN(writings); i++) {
        AUTO_BUF struct buf out = BUF_INIT(4096);
        test_row(i, writings[i].name);
        gitconfig_write(&writings[i].entry, 1, &out);
        CHECK_INT(buf_ok(&out), writings[i].want != NULL);
        CHECK_Z(buf_z(&out), writings[i].want ? writings[i].want : "");
    }
}

TEST(gitconfig_writes_one_header)
{
    static const struct gitconfig_entry entries[] = {{STR("a"), NONE, STR("k"), STR("1")},
        {STR("a"), NONE, STR("l"), NONE}, {STR("a"), STR(""), STR("k"), STR("2")},
        {STR("b"), STR(""), STR("k"), STR("3")}};
    AUTO_BUF struct buf out = BUF_INIT(4096);
    buf_add_z(&out, "# not a whole line");
    gitconfig_write(entries, ARRAY_LEN(entries), &out);
    CHECK_Z(buf_z(&out), "# not a whole line\n[a]\n\tk = 1\n\tl\n[a \"\"]\n\tk = 2\n"
                         "[b \"\"]\n\tk = 3\n");
}

/* Identity ------------------------------------------------------------------------------------ */

static const struct {
    const char *name, *text, *more, *want; /* ~/.gitconfig, ~/more */
} identity_rows[] = {
    {"nothing", "", "", ""},
    {"a name", "[user]\nname = A", "", "user.name=A;"},
    {"everything of the user", "[user]\nemail=a@b\nsigningkey=K", "",
        "user.email=a@b;user.signingkey=K;"},
    {"other sections",
        "[credential]\nhelper=x\n[core]\npager=x\neditor=y\n[url \"a\"]\ninsteadOf=b", "", ""},
    {"safe settings", "[core]\nautocrlf=input\n[init]\ndefaultBranch=main", "",
        "core.autocrlf=input;init.defaultbranch=main;"},
    {"aliases", "[alias]\nst=status\nx=!sh\ny = \"!sh\"\nz", "", "alias.st=status;"},
    {"a subsection", "[user \"x\"]\nname=A\n[alias \"x\"]\ncommand=!sh", "", ""},
    {"an include", "[include]\npath=more\n[user]\nname=A", "[user]\nemail=e",
        "user.email=e;user.name=A;"},
    {"an include below home", "[include]\npath=~/more", "[user]\nname=B", "user.name=B;"},
    {"of another user's home", "[include]\npath=~root/more", "[user]\nname=B", ""},
    {"a conditional include", "[includeIf \"gitdir:/\"]\npath=more", "[user]\nname=B", ""},
    {"an include of itself", "[include]\npath=.gitconfig\n[user]\nname=A", "",
        "user.name=A;user.name=A;user.name=A;user.name=A;user.name=A;"},
    {"not a configuration", "[user\nname", "", ""},
    {"quotes", "[user]\nname=\"a # b\"", "", "user.name=a # b;"},
};

TEST(identity_is_the_safe_part_of_settings)
{
    for (size_t i = 0; i < ARRAY_LEN(identity_rows); i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(64 << 20);
        AUTO_BUF struct buf got = BUF_INIT(1 << 16);
        struct gitconfig config;
        test_row(i, identity_rows[i].name);
        test_write(test_path(".gitconfig"), identity_rows[i].text);
        test_write(test_path("more"), identity_rows[i].more);
        struct str text = identity_read(test_dir(), NULL, &a);
        CHECK(gitconfig_parse(text, &a, &config));
        for (size_t k = 0; k < config.n; k++)
            buf_printf(&got, STR_FMT "." STR_FMT "=" STR_FMT ";", STR_ARG(config.p[k].section),
                STR_ARG(config.p[k].name), STR_ARG(config.p[k].value));
        CHECK_STR(buf_str(&got), str_z(identity_rows[i].want));
    }
    AUTO_ARENA struct arena a = ARENA_INIT(64 << 20);
    unlink(test_path(".gitconfig"));
    CHECK_INT(mkfifo(test_path(".gitconfig"), 0600), 0);
    CHECK_INT(identity_read(test_dir(), NULL, &a).n, 0);
    CHECK_INT(identity_read(NULL, NULL, &a).n, 0);
}
