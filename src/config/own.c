/* Files that control cordon. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "config/own.h"

#include "config/config.h"
#include "path/home.h"
#include "path/lexical.h"

enum {
    WORDS_MAX = 64, /* of a command line */
    OWN_FILES = 7,  /* with room for a policy */
};

static void own_add_path(struct str_list *list, struct str path)
{
    list->p[list->n++] = path;
}

/* Adds words that look like paths. Words in quotes are also split at blanks. */
static void own_add_words(struct str_list *list, struct str line, struct arena *a)
{
    const char *home = home_dir(a);
    size_t n = 0;
    for (size_t i = 0; line.n && i <= line.n && list->n < WORDS_MAX; i++) {
        if (i < line.n && !strchr(" \t\n'\"=;&|<>()", line.p[i]))
            continue;
        struct str word = str_n(line.p + n, i - n);
        n = i + 1;
        if (str_starts_with(word, STR("/")))
            own_add_path(list, lexical_absolute(a, STR("/"), word));
        else if (home && str_starts_with(word, STR("~/")))
            own_add_path(list, lexical_absolute(a, str_z(home), str_skip(word, 2)));
    }
}

/* Settings files that replace the default ones. */
static void add_git_environment(struct str_list *list, struct arena *a)
{
    static const char *const names[] = {"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"};
    AUTO_ERR struct err ignored = {0};
    struct str cwd = STR("/");
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *path = getenv(names[i]);
        if (path && path[0] && (path[0] == '/' || lexical_cwd(a, &cwd, &ignored)))
            own_add_path(list, lexical_absolute(a, cwd, str_z(path)));
    }
}

/* The user's git settings apply in every repository. */
static void add_git(struct str_list *list, struct arena *a)
{
    const char *home = home_dir(a), *xdg = getenv("XDG_CONFIG_HOME");
    if (home)
        own_add_path(list, lexical_absolute(a, str_z(home), STR(".gitconfig")));
    if (xdg && xdg[0] == '/')
        own_add_path(list, lexical_absolute(a, str_z(xdg), STR("git")));
    else if (home)
        own_add_path(list, lexical_absolute(a, str_z(home), STR(".config/git")));
    add_git_environment(list, a);
}

struct str_list own_settings(struct arena *a)
{
    struct str_list list = {.p = ARENA_NEW(a, struct str, WORDS_MAX + OWN_FILES)};
    const char *path = config_user_path(a);
    if (path)
        own_add_path(&list, lexical_absolute(a, STR("/"), str_z(path)));
    add_git(&list, a);
    return list;
}

struct str_list own_files_and(struct arena *a, struct str command_line)
{
    AUTO_ERR struct err ignored = {0};
    struct str_list list = own_settings(a);
    const char *path;
    if (config_state_path(a, ".", &path, &ignored))
        own_add_path(&list, lexical_absolute(a, STR("/"), str_z(path)));
    own_add_words(&list, command_line, a);
    return list;
}

struct str_list own_files(struct arena *a)
{
    return own_files_and(a, STR(""));
}
