/* The developer's machine: directories of PATH, toolchains of the home directory, variables. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "path/lexical.h"
#include "policy/developer.h"
#include "policy/load.h"

#include <sys/stat.h>

enum {
    ARENA_MAX = 1 << 24,
};

/* A home directory H with toolchains, and directories elsewhere. */
static void make_machine(void)
{
    static const char *const dirs[] = {"H", "H/.cargo", "H/.cargo/bin", "H/.ssh", "H/bin", "H/.x",
        "H/.x/bin", "H/.x/lib", "elsewhere", "elsewhere/bin", "elsewhere/lib", "plain", "state",
        "state/bin"};
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
        mkdir(test_path("%s", dirs[i]), 0755);
    test_write(test_path("H/.cargo/credentials.toml"), "secret");
    test_write(test_path("certs.pem"), "certificate");
    CHECK_INT(symlink("plain", test_path("link")), 0);
    CHECK_INT(symlink("H", test_path("to-home")), 0);
}

/* T stands for the test's directory, in every column. */
static const struct {
    const char *name, *path, *want_path, *want_shown, *want_omitted;
} path_rows[] = {
    {"nothing", "", "", "", ""},
    {"system directories", "/usr/bin:/bin", "/usr/bin:/bin", "", ""},
    {"a toolchain of the home directory", "T/H/.cargo/bin", "T/H/.cargo/bin", "", ""},
    {"another directory of the home directory, alone", "T/H/.x/bin", "T/H/.x/bin", "T/H/.x/bin",
        ""},
    {"a directory elsewhere, with its libraries", "T/elsewhere/bin", "T/elsewhere/bin",
        "T/elsewhere/bin T/elsewhere/lib", ""},
    {"not a bin directory", "T/plain", "T/plain", "T/plain", ""},
    {"a symlink", "T/link", "T/link", "T/plain T/link", ""},
    {"twice", "T/plain:T/plain", "T/plain", "T/plain", ""},
    {"unclean", "T//plain/./", "T/plain", "T/plain", ""},
    {"missing", "T/none", "", "", ""},
    {"a file", "T/certs.pem", "", "", ""},
    {"relative", "bin", "", "", "bin: it is relative"},
    {"the current directory", ".", "", "", ".: it is relative"},
    {"empty", ":T/plain", "T/plain", "T/plain", ".: it is relative"},
    {"home", "T/H", "", "", "T/H: it is the home directory, or contains it"},
    {"home by a symlink", "T/to-home", "", "",
        "T/to-home: it is the home directory, or contains it"},
    {"above home", "T", "", "", "T: it is the home directory, or contains it"},
    {"the root", "/", "", "", "/: it is the home directory, or contains it"},
    {"a blocked directory", "/proc", "", "", "/proc: "},
    {"state", "T/state/bin", "", "", "T/state/bin: it is part of Cordon's state"},
};

static const char *with_dir(struct arena *a, const char *text)
{
    AUTO_BUF struct buf b = BUF_INIT(1 << 16);
    for (; *text; text++) {
        if (*text == 'T' && (text[1] == '/' || text[1] == ':' || text[1] == '\0'))
            buf_add_z(&b, test_dir());
        else
            buf_add_byte(&b, *text);
    }
    return arena_strdup(a, buf_str(&b));
}

static void add_developer(
    struct arena *a, const char *const *variables, struct policy *p, struct developer *d)
{
    AUTO_ERR struct err err = {0};
    const struct developer_input input = {
        .home = test_path("H"), .environ = variables, .state = str_z(test_path("state"))};
    CHECK_OK(policy_parse(STR("{\"policy_version\":4,\"developer\":true,\"exec\":"
                              "{\"allowed_executables\":[\"/usr/bin\",\"/bin\"]},"
                              "\"env\":{\"set\":{\"HOME\":\"/tmp\",\"PATH\":\"/bin\",\"TZ\":"
                              "\"own\"}}}"),
                 "test", a, p, &err),
        &err);
    developer_add(&input, a, p, d);
}

static struct str set_value(const struct policy *p, const char *name)
{
    for (size_t i = 0; i < p->env.set.n; i++)
        if (str_is(p->env.set.p[i].key, name))
            return p->env.set.p[i].text;
    return (struct str){0};
}

/* The shown paths below the test's directory, without toolchains of the table. */
static void list_shown(const struct developer *d, struct buf *out)
{
    for (size_t i = 0; i < d->shown.n; i++) {
        if (!str_starts_with(d->shown.p[i], str_z(test_dir())) ||
            str_ends_with(d->shown.p[i], STR("/.cargo/bin")))
            continue;
        buf_printf(out, "%s" STR_FMT, out->n ? " " : "", STR_ARG(d->shown.p[i]));
    }
}

TEST(developer_shows_directories_of_path)
{
    make_machine();
    for (size_t i = 0; i < ARRAY_LEN(path_rows); i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
        AUTO_BUF struct buf shown = BUF_INIT(1 << 16), path = BUF_INIT(1 << 16);
        const char *const variables[] = {
            arena_printf(&a, "PATH=%s", with_dir(&a, path_rows[i].path)), NULL};
        struct policy p;
        struct developer d;
        test_row(i, path_rows[i].name);
        add_developer(&a, variables, &p, &d);
        buf_printf(&path, "%s:/usr/local/bin:/usr/bin:/bin", with_dir(&a, path_rows[i].want_path));
        struct str usual = str_skip(buf_str(&path), path_rows[i].want_path[0] ? 0 : 1);
        if (str_is(usual, "/usr/bin:/bin:/usr/local/bin:/usr/bin:/bin"))
            usual = STR("/usr/bin:/bin:/usr/local/bin");
        CHECK_STR(set_value(&p, "PATH"), usual);
        list_shown(&d, &shown);
        CHECK_STR(buf_str(&shown), str_z(with_dir(&a, path_rows[i].want_shown)));
        const char *want = with_dir(&a, path_rows[i].want_omitted);
        CHECK_INT(d.n_omitted, want[0] != '\0');
        if (d.n_omitted && want[0]) {
            const char *got =
                arena_printf(&a, STR_FMT ": %s", STR_ARG(d.omitted[0].dir), d.omitted[0].reason);
            CHECK(strncmp(got, want, strlen(want)) == 0);
        }
    }
}

TEST(developer_shows_toolchains_and_a_private_home)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    static const char *const variables[] = {NULL};
    struct policy p;
    struct developer d;
    make_machine();
    add_developer(&a, variables, &p, &d);
    bool cargo = false;
    for (size_t i = 0; i < p.exec.allowed_executables.n; i++) {
        struct str one = p.exec.allowed_executables.p[i];
        cargo |= str_is(one, test_path("H/.cargo/bin"));
        CHECK(!str_is(one, test_path("H/.cargo")) && !str_is(one, test_path("H")));
    }
    CHECK(cargo);
    CHECK_STR(d.home, str_z(test_path("H")));
    CHECK_STR(set_value(&p, "HOME"), str_z(test_path("H")));
    CHECK_INT(p.fs.allowed_write.n, 0);
}

/* The command can change T/w; the caller shows T/in itself, and keeps T/H. */
static const struct {
    const char *name, *path, *want_path, *want_omitted;
} change_rows[] = {
    {"in a directory that it can change", "T/w/bin", "",
        "it leads through a directory that the command can change"},
    {"through a symlink in it", "T/w/to-ssh", "",
        "it leads through a directory that the command can change"},
    {"through a symlink to it", "T/to-w/to-ssh", "",
        "it leads through a directory that the command can change"},
    {"a symlink to it", "T/to-w/bin", "",
        "it leads through a directory that the command can change"},
    {"not there yet, but shown by the caller", "T/in/bin", "T/in/bin:", NULL},
    {"a symlink to a directory of the caller", "T/to-in", "T/in:", NULL},
    {"not there yet, in the home directory", "T/H/new/bin", "T/H/new/bin:", NULL},
    {"not there yet elsewhere", "T/new/bin", "", NULL},
    {"a file in the home directory", "T/H/file", "", NULL},
};

TEST(developer_follows_nothing_that_the_command_can_change)
{
    make_machine();
    mkdir(test_path("w"), 0755);
    mkdir(test_path("w/bin"), 0755);
    mkdir(test_path("in"), 0755);
    test_write(test_path("H/file"), "");
    CHECK_INT(symlink("../H/.ssh", test_path("w/to-ssh")), 0);
    CHECK_INT(symlink("w", test_path("to-w")), 0);
    CHECK_INT(symlink("in", test_path("to-in")), 0);
    for (size_t i = 0; i < ARRAY_LEN(change_rows); i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
        const char *const variables[] = {
            arena_printf(&a, "PATH=%s", with_dir(&a, change_rows[i].path)), NULL};
        struct str inside = str_z(test_path("in")), writable = str_z(test_path("w"));
        const struct developer_input input = {.home = test_path("H"),
            .environ = variables,
            .inside = {&inside, 1},
            .writable = {&writable, 1},
            .kept_home = str_z(test_path("H"))};
        struct policy p = {0};
        struct developer d;
        test_row(i, change_rows[i].name);
        developer_add(&input, &a, &p, &d);
        CHECK_STR(set_value(&p, "PATH"), str_z(arena_printf(&a, "%s/usr/local/bin:/usr/bin:/bin",
                                             with_dir(&a, change_rows[i].want_path))));
        CHECK_INT(d.n_omitted, change_rows[i].want_omitted != NULL);
        if (d.n_omitted && change_rows[i].want_omitted)
            CHECK_STR(str_z(d.omitted[0].reason), str_z(change_rows[i].want_omitted));
        for (size_t k = 0; k < d.shown.n; k++)
            CHECK(!lexical_is_below(str_z(test_path("H/.ssh")), d.shown.p[k]));
    }
}

TEST(developer_passes_variables_that_are_not_secrets)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    const char *const variables[] = {"LANG=de_DE.UTF-8", "LC_TIME=C", "TZ=Europe/Berlin", "LCX=1",
        "AWS_SECRET_ACCESS_KEY=s", "NODE_OPTIONS=-r x", "LD_PRELOAD=x", "EDITOR=vi",
        "GITHUB_TOKEN=t", arena_printf(&a, "SSL_CERT_FILE=%s/certs.pem", test_dir()), "broken",
        NULL};
    static const char *const absent[] = {
        "LCX", "AWS_SECRET_ACCESS_KEY", "NODE_OPTIONS", "LD_PRELOAD", "GITHUB_TOKEN", "broken"};
    struct policy p;
    struct developer d;
    make_machine();
    add_developer(&a, variables, &p, &d);
    CHECK_STR(set_value(&p, "LANG"), STR("de_DE.UTF-8"));
    CHECK_STR(set_value(&p, "LC_TIME"), STR("C"));
    CHECK_STR(set_value(&p, "EDITOR"), STR("vi"));
    CHECK_STR(set_value(&p, "TZ"), STR("own")); /* the policy's own value stays */
    for (size_t i = 0; i < ARRAY_LEN(absent); i++)
        CHECK(!set_value(&p, absent[i]).p);
    AUTO_BUF struct buf shown = BUF_INIT(1 << 16);
    list_shown(&d, &shown);
    CHECK_STR(buf_str(&shown), str_z(arena_printf(&a, "%s/certs.pem", test_dir())));
}
