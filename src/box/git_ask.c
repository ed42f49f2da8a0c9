/* Sandbox for git, and its start. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/git_ask.h"

#include "io/file.h"
#include "path/beneath.h"
#include "path/gitdir.h"
#include "path/home.h"
#include "path/lexical.h"
#include "policy/preset.h"
#include "session/confined.h"

#include <fcntl.h>
#include <sys/stat.h>

enum {
    PLACES_MAX = 24,
    WORDS_MAX = 32,
    ALTERNATES_MAX = 64 * 1024,
    ALTERNATES_DEPTH = 5, /* the same limit as git's */
};

struct asker {
    struct arena *a;
    struct plan_bind binds[PLACES_MAX];
    size_t n;
};

/* Adds a bind mount unless it is missing or already visible. */
static void git_ask_bind(struct asker *k, struct str at, int fd)
{
    struct stat st;
    AUTO_FREE char *name = fd >= 0 ? beneath_name(fd) : NULL;
    for (size_t i = 0; i < k->n; i++)
        if (lexical_is_below(k->binds[i].at, at.p ? at : str_z(name ? name : "/")))
            return;
    if (!name || fstat(fd, &st) != 0 || k->n == PLACES_MAX)
        return;
    struct str path = arena_str(k->a, str_z(name));
    k->binds[k->n++] = (struct plan_bind){
        .at = at.p ? at : path,
        .source = {path, st.st_dev, st.st_ino},
        .is_dir = S_ISDIR(st.st_mode),
    };
}

static int git_ask_open_dir(int at, const char *path)
{
    return openat(at, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Repositories that it borrows objects from, one path per line. */
static void show_alternates(struct asker *k, int objects, int depth)
{
    AUTO_BUF struct buf text = BUF_INIT(2 * ALTERNATES_MAX);
    AUTO_ERR struct err ignored = {0};
    AUTO_FD int fd = openat(objects, "info/alternates", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    if (depth == 0 || fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
        !file_read(fd, ALTERNATES_MAX, "alternates", &text, &ignored))
        return;
    struct str line, rest = buf_str(&text);
    while (str_cut(rest, '\n', &line, &rest)) {
        AUTO_FD int other = line.n ? git_ask_open_dir(objects, arena_strdup(k->a, line)) : -1;
        if (other < 0)
            continue;
        git_ask_bind(k, (struct str){0}, other);
        show_alternates(k, other, depth - 1);
    }
}

static bool show_repository(struct asker *k, struct str top, struct err *err)
{
    AUTO_FD int tree = git_ask_open_dir(AT_FDCWD, top.p), own = -1, common = -1;
    if (tree < 0 || !gitdir_open_own(tree, &own, err) || !gitdir_open_common(tree, &common, err))
        return false;
    AUTO_FD int objects = common >= 0 ? git_ask_open_dir(common, "objects") : -1;
    git_ask_bind(k, top, tree);
    git_ask_bind(k, (struct str){0}, own);
    git_ask_bind(k, (struct str){0}, common);
    git_ask_bind(k, (struct str){0}, objects);
    if (objects >= 0)
        show_alternates(k, objects, ALTERNATES_DEPTH);
    return true;
}

/* The settings determine ignored files and line endings. */
static void show_settings(struct asker *k, const char *home)
{
    static const char *const names[] = {".gitconfig", ".config/git"};
    for (size_t i = 0; home && i < ARRAY_LEN(names); i++) {
        const char *path = arena_printf(k->a, "%s/%s", home, names[i]);
        AUTO_FD int fd = beneath_peek(path);
        git_ask_bind(k, lexical_absolute(k->a, STR("/"), str_z(path)), fd);
    }
    AUTO_FD int system = beneath_peek("/etc/gitconfig");
    git_ask_bind(k, STR("/etc/gitconfig"), system);
}

/* Allows the system's programs; the user's files are in the binds. */
static bool git_ask_make_policy(
    struct asker *k, const char *home, struct policy *p, struct err *err)
{
    struct str_pair *env = ARENA_NEW(k->a, struct str_pair, 5);
    env[0] = (struct str_pair){STR("PATH"), STR("/usr/local/bin:/usr/bin:/bin")};
    env[1] = (struct str_pair){STR("HOME"), str_z(home ? home : "/tmp")};
    env[2] = (struct str_pair){STR("LC_ALL"), STR("C")};
    env[3] = (struct str_pair){STR("GIT_TERMINAL_PROMPT"), STR("0")};
    env[4] = (struct str_pair){STR("GIT_OPTIONAL_LOCKS"), STR("0")};
    if (!preset_load("readonly", STR("/usr/bin"), k->a, p, err))
        return false;
    p->fs.working_dir = (struct str){0};
    p->exec.allow_shell = true;
    p->env.set = (struct str_map){env, 5};
    return true;
}

bool git_ask_start(struct str top, const char *dir, const char *const *words, struct arena *arena,
    struct child *ret_child, struct err *err)
{
    struct asker *k = ARENA_NEW(arena, struct asker, 1); /* the plan points into it */
    struct confined *c = ARENA_NEW(arena, struct confined, 1);
    const char *home = home_dir(arena);
    const char *argv[WORDS_MAX] = {"sh", "-c", "exec git \"$@\" 2>/dev/null", "git"};
    *k = (struct asker){.a = arena};
    for (size_t i = 0; words[i]; i++) {
        BUG_ON(i + 5 >= WORDS_MAX);
        argv[i + 4] = words[i];
    }
    if (!show_repository(k, top, err))
        return false;
    show_settings(k, home);
    if (!git_ask_make_policy(k, home, &c->policy, err))
        return false;
    const struct confined_options options = {
        .plan = {.binds = k->binds, .n_binds = k->n},
        .inside_command = STR("/bin/sh"),
        .inside_cwd = str_z(dir),
    };
    if (!confined_make(c, &options, arena, err))
        return false;
    const struct launch launch = {.plan = &c->plan, .argv = argv, .envp = c->envp};
    return launch_start(&launch, ret_child, err);
}
