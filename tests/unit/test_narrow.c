/* Directories shown without files that hold credentials. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "policy/home_table.h"
#include "policy/narrow.h"

#include <sys/stat.h>

enum {
    ARENA_MAX = 1 << 24,
    MANY = 900, /* more than can be shown one by one */
};

/* Creates a file with its directories below the home directory H. */
static void narrow_write(const char *name, const char *text)
{
    AUTO_BUF struct buf path = BUF_INIT(4096);
    buf_printf(&path, "%s", test_path("H"));
    mkdir(buf_z(&path), 0755);
    struct str one, rest = str_z(name);
    while (str_cut(rest, '/', &one, &rest)) {
        buf_printf(&path, "/" STR_FMT, STR_ARG(one));
        if (rest.n)
            mkdir(buf_z(&path), 0755);
    }
    test_write(buf_z(&path), text);
}

static int narrow_compare(const void *a, const void *b)
{
    const struct str *x = a, *y = b;
    int order = memcmp(x->p, y->p, MIN(x->n, y->n));
    return order ? order : (x->n > y->n) - (x->n < y->n);
}

/* Parts and symlinks, relative to the test's directory. */
static void narrow_print(const struct narrow *n, struct str_list parts, struct buf *out)
{
    const size_t skip = strlen(test_dir()) + 1;
    if (parts.n)
        qsort(parts.p, parts.n, sizeof(*parts.p), narrow_compare);
    for (size_t i = 0; i < parts.n; i++)
        buf_printf(out, "%s" STR_FMT, out->n ? " " : "", STR_ARG(str_skip(parts.p[i], skip)));
    for (size_t i = 0; i < n->n_links; i++)
        buf_printf(out, "%s" STR_FMT ">" STR_FMT, out->n ? " " : "",
            STR_ARG(str_skip(n->links[i].at, skip)),
            STR_ARG(str_starts_with(n->links[i].target, str_z(test_dir()))
                        ? str_skip(n->links[i].target, skip)
                        : n->links[i].target));
}

static void narrow_fill(void)
{
    static const char *const files[] = {".cargo/bin/x", ".cargo/credentials.toml",
        ".nvm/versions/node/v1/bin/node", ".nvm/versions/node/v1/etc/npmrc",
        ".nvm/versions/node/v1/etc/other", ".nvm/versions/node/v2/bin/node", ".rustup/x",
        ".local/bin/x", ".local/bin/.netrc", ".local/share/uv/credentials/x",
        ".local/share/uv/tools/x", "plain/x", ".volta/tools/image/node/v1/bin/node", "real/bin/x",
        "real/versions/3/pip.conf", "real/versions/3/bin/x", "vault/token"};
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        narrow_write(files[i], "x");
    narrow_write(".pyenv2/x", "x");
    narrow_write(".asdf/plugins/safe/.git/config", "url = https://host/x\nurl = ssh://git@host/\n");
    narrow_write(".asdf/plugins/safe/bin/x", "x");
    narrow_write(".asdf/plugins/token/.git/config", "url = https://token@host/x\n");
    narrow_write(".asdf/plugins/token/bin/x", "x");
    CHECK_INT(symlink("v1", test_path("H/.nvm/versions/node/default")), 0);
    CHECK_INT(symlink("real", test_path("H/.pyenv")), 0);
    CHECK_INT(mkdir(test_path("H/.dotnet"), 0755), 0);
    CHECK_INT(symlink("../vault", test_path("H/.dotnet/corefx")), 0);
    CHECK_INT(symlink("none", test_path("H/.nvm/versions/node/dangling")), 0);
}

static const struct {
    const char *name, *path;
    enum narrow_answer answer;
    const char *want;
} narrow_rows[] = {
    {"nothing to hide", "H/.rustup", NARROW_WHOLE, ""},
    {"a file", "H/.rustup/x", NARROW_WHOLE, ""},
    {"missing", "H/none", NARROW_WHOLE, ""},
    {"beside a credential", "H/.cargo/bin", NARROW_WHOLE, ""},
    {"around a credential", "H/.cargo", NARROW_PARTS, "H/.cargo/bin"},
    {"the credential itself", "H/.cargo/credentials.toml", NARROW_HIDDEN, ""},
    {"one of two versions, and symlinks", "H/.nvm/versions", NARROW_PARTS,
        "H/.nvm/versions/node/v1/bin H/.nvm/versions/node/v1/etc/other H/.nvm/versions/node/v2 "
        "LINKS"},
    {"a version by a symlink", "H/.nvm/versions/node/default", NARROW_PARTS,
        "H/.nvm/versions/node/v1/bin H/.nvm/versions/node/v1/etc/other "
        "H/.nvm/versions/node/default>H/.nvm/versions/node/v1"},
    {"a name that is hidden anywhere", "H/.local/bin", NARROW_PARTS, "H/.local/bin/x"},
    {"a directory", "H/.local/share/uv", NARROW_PARTS, "H/.local/share/uv/tools"},
    {"in a hidden directory", "H/.local/share/uv/credentials/x", NARROW_HIDDEN, ""},
    {"not in the table", "H/plain", NARROW_WHOLE, ""},
    {"no credential in a known place", "H/.volta/tools/image", NARROW_WHOLE, ""},
    {"a toolchain by a symlink", "H/.pyenv", NARROW_PARTS,
        "H/real/bin H/real/versions/3/bin H/.pyenv>H/real"},
    {"the same by its own name", "H/real", NARROW_PARTS, "H/real/bin H/real/versions/3/bin"},
    {"a hidden symlink", "H/.dotnet", NARROW_PARTS, ""},
    {"its target", "H/vault", NARROW_HIDDEN, ""},
    {"a clone without a password", "H/.asdf/plugins/safe", NARROW_WHOLE, ""},
    {"a clone with a password", "H/.asdf/plugins/token", NARROW_PARTS, "H/.asdf/plugins/token/bin"},
};

TEST(narrow_shows_everything_but_credentials)
{
    narrow_fill();
    for (size_t i = 0; i < ARRAY_LEN(narrow_rows); i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
        AUTO_BUF struct buf got = BUF_INIT(1 << 16);
        struct narrow n;
        struct str_list parts;
        test_row(i, narrow_rows[i].name);
        narrow_init(&n, test_path("H"), &a);
        const char *path = test_path("%s", narrow_rows[i].path);
        CHECK_INT(narrow_path(&n, str_z(path), &parts), narrow_rows[i].answer);
        if (str_ends_with(str_z(narrow_rows[i].want), STR("LINKS"))) {
            CHECK_INT(n.n_links, 2); /* in the order of the file system */
            n.n_links = 0;
            narrow_print(&n, parts, &got);
            buf_add_z(&got, " LINKS");
        } else {
            narrow_print(&n, parts, &got);
        }
        CHECK_STR(buf_str(&got), str_z(narrow_rows[i].want));
    }
}

TEST(narrow_does_not_show_a_directory_with_too_many_parts)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    struct narrow n;
    struct str_list parts;
    for (size_t i = 0; i < MANY; i++)
        narrow_write(arena_printf(&a, ".local/share/pnpm/f%zu", i), "");
    narrow_init(&n, test_path("H"), &a);
    const char *path = test_path("H/.local/share/pnpm");
    CHECK_INT(narrow_path(&n, str_z(path), &parts), NARROW_WHOLE);
    narrow_write(".local/share/pnpm/rc", "token");
    narrow_init(&n, test_path("H"), &a);
    CHECK_INT(narrow_path(&n, str_z(path), &parts), NARROW_TOO_MANY);
    CHECK_INT(parts.n, 0);
}

TEST(narrow_lists_hidden_files_of_shown_directories_only)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    struct narrow n;
    struct str_list parts;
    narrow_fill();
    narrow_init(&n, test_path("H"), &a);
    const char *path = test_path("H/.nvm/versions/node/v1");
    CHECK_INT(narrow_path(&n, str_z(path), &parts), NARROW_PARTS);
    CHECK_INT(narrow_used(&n), 1);
    CHECK_STR(n.hidden[0].path, str_z(test_path("H/.nvm/versions/node/v1/etc/npmrc")));
    narrow_use(&n, str_z(test_path("H/.cargo")));
    CHECK_INT(narrow_used(&n), 2);
}

TEST(narrow_without_a_home_directory_hides_nothing)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    struct narrow n;
    struct str_list parts;
    narrow_init(&n, NULL, &a);
    CHECK_INT(narrow_path(&n, STR("/usr"), &parts), NARROW_WHOLE);
    CHECK_INT(narrow_used(&n), 0);
}

static const struct {
    const char *text;
    bool want;
} password_rows[] = {
    {"", false},
    {"https://", false},
    {"https://host/path", false},
    {"https://host/path@2", false},
    {"ssh://git@host/x", false},
    {"git@host:x", false},
    {"https://token@host", true},
    {"http://a:b@host/", true},
    {"url = https://host/ https://a:b@host/", true},
    {"\"https://host\", \"me@host\"", false},
    {"https://host me@host", false},
    {"git+https://token@host/x", true},
};

TEST(home_table_finds_urls_with_passwords)
{
    for (size_t i = 0; i < ARRAY_LEN(password_rows); i++) {
        test_row(i, password_rows[i].text);
        CHECK_INT(home_table_has_password(str_z(password_rows[i].text)), password_rows[i].want);
    }
}

/* Every row has a reason, and the first component only once in a run of rows. */
TEST(home_table_rows_are_relative_and_grouped)
{
    const struct home_row *rows;
    for (int hidden = 0; hidden < 2; hidden++) {
        size_t n = hidden ? home_table_hidden(&rows) : home_table_shown(&rows);
        struct str first, other, rest, last = {0};
        for (size_t i = 0; i < n; i++) {
            test_row(i, rows[i].path);
            CHECK(rows[i].reason && rows[i].path[0] != '/');
            CHECK(hidden || !strchr(rows[i].path, '*'));
            str_cut(str_z(rows[i].path), '/', &first, &rest);
            for (size_t k = 0; !str_eq(first, last) && k < i; k++) {
                str_cut(str_z(rows[k].path), '/', &other, &rest);
                CHECK(!str_eq(first, other));
            }
            last = first;
        }
    }
}
