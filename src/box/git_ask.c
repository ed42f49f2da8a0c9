/* The binds for git. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/git_ask.h"

#include "box/git_run.h"
#include "io/file.h"
#include "path/beneath.h"
#include "path/gitdir.h"
#include "path/home.h"
#include "path/lexical.h"

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

bool git_ask(const struct git_ask *ask, struct arena *arena, int *ret_status, struct err *err)
{
    struct asker *k = ARENA_NEW(arena, struct asker, 1); /* the plan points into it */
    const char *home = home_dir(arena);
    const char *argv[WORDS_MAX] = {"sh", "-c", "exec git \"$@\" 2>/dev/null", "git"};
    struct str_pair env[] = {
        {STR("PATH"), STR("/usr/local/bin:/usr/bin:/bin")},
        {STR("HOME"), str_z(home ? home : "/tmp")},
        {STR("LC_ALL"), STR("C")},
        {STR("GIT_TERMINAL_PROMPT"), STR("0")},
        {STR("GIT_OPTIONAL_LOCKS"), STR("0")},
    };
    *k = (struct asker){.a = arena};
    for (size_t i = 0; ask->words[i]; i++) {
        BUG_ON(i + 5 >= WORDS_MAX);
        argv[i + 4] = ask->words[i];
    }
    if (!show_repository(k, ask->top, err))
        return false;
    show_settings(k, home);
    const struct git_run run = {
        .argv = argv,
        .dir = ask->dir,
        .binds = k->binds,
        .n_binds = k->n,
        .env = env,
        .n_env = ARRAY_LEN(env),
        .runtime_ms = ask->timeout_ms,
        .output_bytes = UINT64_MAX,
        .output = {-1, -1},
        .signals = -1,
        .seen = ask->output,
        .context = ask->context,
    };
    struct exec_result result;
    if (!git_run(&run, arena, &result, err))
        return false;
    bool ok = result.status != EXEC_ERRORED || err_move(err, &result.error);
    *ret_status = result.exit.signal ? 128 + result.exit.signal : result.exit.code;
    err_done(&result.error);
    return ok;
}
