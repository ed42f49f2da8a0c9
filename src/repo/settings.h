/* Private to src/repo: git settings that name files, including those of included files.
 *
 *     struct settings s = SETTINGS_INIT(home, &budget);
 *     settings_read(&s, STR("/home/u/.gitconfig"));
 *     for (size_t i = 0; i < s.n; i++) ... s.p[i].value ...
 *     settings_done(&s);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_SETTINGS_H
#define REPO_SETTINGS_H

#include "base/arena.h"

enum setting_kind {
    SETTING_HOOKS,    /* a hooks directory */
    SETTING_PATH,     /* a file or directory that is used by its name alone */
    SETTING_INCLUDED, /* a settings file; an absolute path */
    SETTING_COMMAND,  /* for a shell */
    SETTING_UPDATE,   /* the same, in the work tree of a submodule */
    SETTING_PROGRAM,  /* the path of a program, which may contain blanks */
    SETTING_WORKTREE, /* the work tree, relative to the git directory */
};

struct setting {
    enum setting_kind kind;
    struct str value;
};

/* Limits for all settings that are read together: untrusted repositories may be among them. */
struct settings_budget {
    size_t files, bytes; /* read so far */
    bool cut;            /* something was not read */
};

struct settings {
    struct arena arena;
    const char *home; /* of the user; may be NULL */
    struct settings_budget *budget;
    struct setting *p;
    size_t n, cap;
};

#define SETTINGS_INIT(user_home, the_budget) \
    ((struct settings){.arena = ARENA_INIT(16 << 20), .home = (user_home), .budget = (the_budget)})

void settings_done(struct settings *s);

/* Adds the settings of a file, which may be a symlink and need not exist. */
void settings_read(struct settings *s, struct str file);

/* Adds the settings from the user's environment. */
void settings_read_environment(struct settings *s);

/* Returns the user's own settings files that git reads, according to the environment; false: no
 * such file. The path is absolute. */
enum {
    SETTINGS_USER_FILES = 6
};
bool settings_user_file(size_t i, const char *home, struct arena *a, struct str *ret_path);

/* Expands a path in settings: `~/` is the home directory, `~user/` that of another user, other
 * paths are relative to the base; without a home directory `~` is an ordinary name. Symlinks and
 * `..` are kept. No value: there is no such user. */
struct str settings_expand(const char *home, struct str base, struct str value, struct arena *a);

#endif
