/* Selects settings of the user. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/identity.h"

#include "io/file.h"
#include "path/lexical.h"
#include "repo/gitconfig.h"

#include <fcntl.h>
#include <sys/stat.h>

enum {
    IDENTITY_DEPTH_MAX = 4, /* of includes */
    IDENTITY_FILES_MAX = 16,
    IDENTITY_TEXT_MAX = 256 * 1024,
    IDENTITY_ARENA = 256 << 20,
};

struct identity {
    struct str home;
    struct arena *a;
    struct buf *out;
    unsigned files;
};

/* Everything below user; of others only these. Their values are data, never commands. */
static const struct {
    const char *section, *name;
} identity_names[] = {
    {"core", "autocrlf"},
    {"core", "eol"},
    {"core", "quotepath"},
    {"init", "defaultbranch"},
    {"pull", "ff"},
    {"pull", "rebase"},
};

static bool identity_is_safe(const struct gitconfig_entry *e)
{
    if (e->subsection.p)
        return false;
    if (str_is(e->section, "user"))
        return true;
    if (str_is(e->section, "alias"))
        return e->value.n && e->value.p[0] != '!';
    for (size_t i = 0; i < ARRAY_LEN(identity_names); i++)
        if (str_is(e->section, identity_names[i].section) &&
            str_is(e->name, identity_names[i].name))
            return true;
    return false;
}

static bool identity_read_text(const char *path, struct buf *text)
{
    struct stat st;
    AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > GITCONFIG_BYTES_MAX)
        return false;
    AUTO_ERR struct err ignored = {0};
    return file_read(fd, GITCONFIG_BYTES_MAX, path, text, &ignored);
}

static void identity_add_file(struct identity *x, struct str path, unsigned depth);

/* Relative to the file that includes it; "~/" is the home directory. */
static void identity_include(struct identity *x, struct str from, struct str path, unsigned depth)
{
    struct str dir = str_head(from, (size_t)(str_find_last(from, '/') + 1));
    if (!path.n || memchr(path.p, '\0', path.n))
        return;
    if (str_starts_with(path, STR("~/")))
        identity_add_file(x, lexical_absolute(x->a, x->home, str_skip(path, 2)), depth + 1);
    else if (path.p[0] != '~')
        identity_add_file(x, lexical_absolute(x->a, dir, path), depth + 1);
}

static void identity_add_file(struct identity *x, struct str path, unsigned depth)
{
    AUTO_BUF struct buf text = BUF_INIT(GITCONFIG_BYTES_MAX + 1);
    struct gitconfig config;
    if (depth > IDENTITY_DEPTH_MAX || x->files++ == IDENTITY_FILES_MAX ||
        !identity_read_text(path.p, &text) || !gitconfig_parse(buf_str(&text), x->a, &config))
        return;
    for (size_t i = 0; i < config.n; i++) {
        const struct gitconfig_entry *e = &config.p[i];
        if (str_is(e->section, "include") && !e->subsection.p && str_is(e->name, "path"))
            identity_include(x, path, e->value, depth);
        else if (identity_is_safe(e))
            gitconfig_write(e, 1, x->out);
    }
}

struct str identity_read(const char *home, const char *config, struct arena *arena)
{
    AUTO_ARENA struct arena a = ARENA_INIT(IDENTITY_ARENA);
    AUTO_BUF struct buf out = BUF_INIT(IDENTITY_TEXT_MAX);
    if (!home || home[0] != '/')
        return STR("");
    struct identity x = {.home = str_z(home), .a = &a, .out = &out};
    const char *dir = config && config[0] == '/' ? config : arena_printf(&a, "%s/.config", home);
    identity_add_file(&x, str_z(arena_printf(&a, "%s/git/config", dir)), 0);
    identity_add_file(&x, str_z(arena_printf(&a, "%s/.gitconfig", home)), 0);
    return buf_ok(&out) ? arena_str(arena, buf_str(&out)) : STR("");
}
