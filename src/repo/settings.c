/* Git settings that name files. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/settings.h"

#include "base/grow.h"
#include "io/file.h"
#include "path/home.h"
#include "path/lexical.h"
#include "repo/gitconfig.h"
#include "repo/protect.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

enum {
    INCLUDES_MAX = 10, /* in each other, as git's limit */
    FILES_MAX = 20 * 1000,
    BYTES_MAX = 64 << 20,
    EACH_MAX = 2000, /* settings of one repository, or of the user */
    VALUE_MAX = 64 * 1024,
    PATH_BYTES_MAX = 2 * PATH_MAX, /* longer paths can't be opened anyway */
    ENVIRONMENT_MAX = 1000,        /* settings in the environment */
};

void settings_done(struct settings *s)
{
    arena_done(&s->arena);
    free(s->p);
}

/* Returns the directory that `~`, `~user` or `%(prefix)` at the start of a path represents; NULL:
 * unknown. */
static const char *special_dir(const char *home, struct str name, struct arena *a)
{
    if (name.p[0] == '%')
        return "/usr";
    return name.n == 1 ? home : home_of(a, arena_strdup(a, str_skip(name, 1)));
}

struct str settings_expand(const char *home, struct str base, struct str value, struct arena *a)
{
    ptrdiff_t slash = str_find(value, '/');
    struct str first = slash < 0 ? value : str_head(value, (size_t)slash);
    if (home && first.n && (first.p[0] == '~' || str_is(first, "%(prefix)"))) {
        const char *dir = special_dir(home, first, a);
        if (!dir)
            return (struct str){0};
        base = str_z(dir);
        value = str_skip(value, first.n + 1);
    }
    if (value.n && value.p[0] == '/')
        return arena_str(a, value);
    return str_z(arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(base), STR_ARG(value)));
}

static bool settings_add(struct settings *s, enum setting_kind kind, struct str value)
{
    size_t most = kind == SETTING_COMMAND || kind == SETTING_UPDATE ? VALUE_MAX : PATH_BYTES_MAX;
    if (s->n == EACH_MAX || value.n > most || arena_left(&s->arena) < value.n + 1) {
        s->budget->cut = true;
        return false;
    }
    GROW(s->p, s->n, s->cap, EACH_MAX);
    s->p[s->n++] = (struct setting){kind, arena_str(&s->arena, value)};
    return true;
}

static void settings_read_file(struct settings *s, struct str file, unsigned depth);

static void settings_include(struct settings *s, struct str file, struct str value, unsigned depth)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    struct str dir = str_head(file, (size_t)MAX(str_find_last(file, '/'), (ptrdiff_t)0));
    if (value.n > PATH_BYTES_MAX)
        return; /* git can't open it */
    struct str inner = settings_expand(s->home, dir, value, &a);
    s->budget->cut |= !inner.p;
    if (!inner.p || !settings_add(s, SETTING_INCLUDED, inner))
        return;
    s->budget->cut |= depth == INCLUDES_MAX; /* git fails */
    if (depth < INCLUDES_MAX)
        settings_read_file(s, inner, depth + 1);
}

/* Adds a path that is not for a shell, if a shell would read it differently. git splits some of
 * these values at blanks, and takes others as they are. */
static void settings_add_program(struct settings *s, struct str value)
{
    static const char special[] = " \t\n'\"\\$`;&|()<>#*?[!{";
    bool differs = false;
    for (size_t i = 0; i < value.n; i++)
        differs |= value.p[i] && strchr(special, value.p[i]);
    if (differs && value.n <= PATH_BYTES_MAX && str_find(value, '/') >= 0)
        (void)settings_add(s, SETTING_PROGRAM, value);
}

/* core.gitProxy: "program for host". */
static struct str without_host(struct str value)
{
    for (size_t i = 0; i < value.n; i++)
        if (str_starts_with(str_skip(value, i), STR(" for ")))
            return str_head(value, i);
    return value;
}

static void settings_add_program_of(struct settings *s, const struct gitconfig_entry *e)
{
    static const struct {
        const char *section, *name;
    } rows[] = {
        {"browser", "path"},
        {"core", "askpass"},
        {"core", "gitproxy"},
        {"difftool", "path"},
        {"gpg", "program"},
        {"lfs", "path"},
        {"man", "path"},
        {"mergetool", "path"},
        {"sendemail", "smtpserver"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (str_is(e->section, rows[i].section) && str_is(e->name, rows[i].name))
            settings_add_program(
                s, str_is(e->name, "gitproxy") ? without_host(e->value) : e->value);
}

/* Returns true if the value is a command, or the path of a program; all other settings are data. */
static bool settings_is_command(const struct gitconfig_entry *e)
{
    static const struct {
        const char *section, *names; /* NULL: any name */
    } rows[] = {
        {"browser", " cmd path "},
        {"core", " alternaterefscommand askpass editor fsmonitor gitproxy pager sshcommand "},
        {"credential", " helper "},
        {"diff", " command external textconv "},
        {"difftool", " cmd path "},
        {"filter", " clean process smudge "},
        {"gc", " recentobjectshook "},
        {"gpg", " defaultkeycommand program "},
        {"guitool", " cmd "},
        {"help", " browser "},
        {"hook", " command "},
        {"imap", " tunnel "},
        {"instaweb", " browser httpd "},
        {"interactive", " difffilter "},
        {"lfs", " clean path smudge "},
        {"man", " cmd path "},
        {"merge", " driver "},
        {"mergetool", " cmd path "},
        {"pager", NULL},
        {"remote", " receivepack uploadpack vcs "},
        {"sendemail", " cccmd headercmd sendmailcmd smtpserver tocmd "},
        {"sequence", " editor "},
        {"svn", " authorsprog "},
        {"tar", " command "},
        {"trailer", " cmd command "},
        {"uploadpack", " packobjectshook "},
        {"web", " browser "},
    };
    char name[32];
    snprintf(name, sizeof(name), " " STR_FMT " ", STR_ARG(str_head(e->name, sizeof(name) - 3)));
    if (str_is(e->section, "alias") || str_is(e->section, "submodule")) /* submodule.*.update */
        return e->value.p[0] == '!';
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (str_is(e->section, rows[i].section))
            return !rows[i].names || strstr(rows[i].names, name);
    return false;
}

static void settings_add_entry(
    struct settings *s, const struct gitconfig_entry *e, struct str file, unsigned depth)
{
    static const struct {
        const char *section, *name;
        enum setting_kind kind;
    } rows[] = {
        {"core", "attributesfile", SETTING_PATH},
        {"core", "hookspath", SETTING_HOOKS},
        {"core", "worktree", SETTING_WORKTREE},
        {"init", "templatedir", SETTING_PATH},
    };
    if (str_starts_with(e->section, STR("include")) && str_is(e->name, "path")) {
        settings_include(s, file, e->value, depth);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (str_is(e->section, rows[i].section) && str_is(e->name, rows[i].name)) {
            (void)settings_add(s, rows[i].kind, e->value);
            return;
        }
    settings_add_program_of(s, e);
    if (settings_is_command(e))
        (void)settings_add(s, str_is(e->section, "submodule") ? SETTING_UPDATE : SETTING_COMMAND,
            str_skip(e->value, e->value.p[0] == '!'));
    else if (str_starts_with(e->value, STR("ext::"))) /* address of a remote */
        (void)settings_add(s, SETTING_COMMAND, str_skip(e->value, 5));
}

/* git-lfs runs lfs.customTransfer.X.path with the words of its args. `last` has the path and the
 * args before this entry. */
static void settings_add_transfer(
    struct settings *s, const struct gitconfig_entry *e, const struct gitconfig_entry *last[2])
{
    bool path = str_is(e->name, "path");
    if (!str_is(e->section, "lfs") || !(path || str_is(e->name, "args")))
        return;
    last[!path] = e;
    if (!last[0] || !last[1] || !str_eq(last[0]->subsection, last[1]->subsection))
        return;
    AUTO_BUF struct buf command = BUF_INIT(2 * VALUE_MAX);
    buf_add_str(&command, last[0]->value);
    buf_add_byte(&command, ' ');
    buf_add_str(&command, last[1]->value);
    s->budget->cut |= !buf_ok(&command);
    if (buf_ok(&command))
        (void)settings_add(s, SETTING_COMMAND, buf_str(&command));
}

static void settings_read_text(struct settings *s, struct str text, struct str file, unsigned depth)
{
    AUTO_ARENA struct arena a = ARENA_INIT(16 << 20);
    struct gitconfig config;
    const struct gitconfig_entry *transfer[2] = {0};
    if (!gitconfig_parse(text, &a, &config)) {
        s->budget->cut = true;
        return;
    }
    for (size_t i = 0; i < config.n; i++)
        if (config.p[i].value.n) {
            settings_add_entry(s, &config.p[i], file, depth);
            settings_add_transfer(s, &config.p[i], transfer);
        }
}

static void settings_read_file(struct settings *s, struct str file, unsigned depth)
{
    AUTO_ERR struct err ignored = {0};
    AUTO_BUF struct buf text = BUF_INIT(2 * PROTECT_FILE_MAX);
    struct stat st;
    struct settings_budget *b = s->budget;
    AUTO_FD int fd = open(file.p, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return;
    if (b->files == FILES_MAX || b->bytes > BYTES_MAX ||
        !file_read(fd, PROTECT_FILE_MAX, file.p, &text, &ignored)) {
        b->cut = true;
        return;
    }
    b->files++;
    b->bytes += text.n;
    settings_read_text(s, buf_str(&text), file, depth);
}

void settings_read(struct settings *s, struct str file)
{
    settings_read_file(s, file, 0);
}

/* The user's settings ---------------------------------------------------------------------------
 */

static struct str from_cwd(const char *path, struct arena *a)
{
    AUTO_ERR struct err ignored = {0};
    struct str cwd;
    if (!path || !path[0] || (path[0] != '/' && !lexical_cwd(a, &cwd, &ignored)))
        return (struct str){0};
    return settings_expand(NULL, path[0] == '/' ? STR("/") : cwd, str_z(path), a);
}

bool settings_user_file(size_t i, const char *home, struct arena *a, struct str *ret_path)
{
    const char *xdg = getenv("XDG_CONFIG_HOME");
    static const char *const rows[SETTINGS_USER_FILES] = {
        "$GIT_CONFIG_GLOBAL",
        "~/.gitconfig",
        "~/.config/git/config",
        "$GIT_CONFIG_SYSTEM",
        "/etc/gitconfig",
        "/usr/local/etc/gitconfig",
    };
    struct str row = str_z(rows[i]);
    *ret_path = row;
    if (row.p[0] == '$')
        *ret_path = from_cwd(getenv(row.p + 1), a);
    else if (i == 2 && xdg && xdg[0] == '/')
        *ret_path = settings_expand(NULL, str_z(xdg), STR("git/config"), a);
    else if (row.p[0] == '~')
        *ret_path = home ? settings_expand(home, STR("/"), row, a) : (struct str){0};
    return ret_path->p != NULL;
}

/* "section.name" or "section.subsection.name". */
static void settings_add_pair(struct settings *s, struct str key, struct str value)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    ptrdiff_t first = str_find(key, '.'), last = str_find_last(key, '.');
    if (first < 0 || key.n > PATH_MAX || !value.n)
        return;
    char *lower = arena_strdup(&a, key);
    for (size_t i = 0; i < key.n; i++)
        if (lower[i] >= 'A' && lower[i] <= 'Z')
            lower[i] = (char)(lower[i] - 'A' + 'a');
    struct gitconfig_entry e = {.section = str_n(lower, (size_t)first),
        .name = str_n(lower + last + 1, key.n - (size_t)last - 1),
        .value = value};
    if (last > first)
        e.subsection = str_n(key.p + first + 1, (size_t)(last - first) - 1);
    settings_add_entry(s, &e, STR("/environment"), 0);
}

/* GIT_CONFIG_COUNT, in every form that git accepts: "+1", " 1". */
static void settings_read_pairs(struct settings *s)
{
    const char *count = getenv("GIT_CONFIG_COUNT"), *key, *value;
    char *end = NULL;
    unsigned long n = count ? strtoul(count, &end, 10) : 0;
    if (!count || *end || n > INT_MAX)
        return; /* git fails */
    s->budget->cut |= n > ENVIRONMENT_MAX;
    for (unsigned i = 0; i < MIN(n, (unsigned long)ENVIRONMENT_MAX); i++) {
        char name[32];
        snprintf(name, sizeof(name), "GIT_CONFIG_KEY_%u", i);
        key = getenv(name);
        snprintf(name, sizeof(name), "GIT_CONFIG_VALUE_%u", i);
        value = getenv(name);
        if (key && value)
            settings_add_pair(s, str_z(key), str_z(value));
    }
}

void settings_read_environment(struct settings *s)
{
    static const char *const paths[] = {"GIT_TEMPLATE_DIR", "GIT_EXEC_PATH"};
    static const char *const commands[] = {"EDITOR", "GIT_ASKPASS", "GIT_EDITOR",
        "GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_PROXY_COMMAND", "GIT_SEQUENCE_EDITOR", "GIT_SSH",
        "GIT_SSH_COMMAND", "PAGER", "SSH_ASKPASS", "VISUAL"};
    static const char *const programs[] = {
        "GIT_ASKPASS", "GIT_PROXY_COMMAND", "GIT_SSH", "SSH_ASKPASS"};
    const char *value;
    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        if ((value = getenv(paths[i])) && value[0])
            (void)settings_add(s, SETTING_PATH, str_z(value));
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        if ((value = getenv(commands[i])) && value[0])
            (void)settings_add(s, SETTING_COMMAND, str_z(value));
    for (size_t i = 0; i < ARRAY_LEN(programs); i++)
        if ((value = getenv(programs[i])))
            settings_add_program(s, str_z(value));
    settings_read_pairs(s);
}
