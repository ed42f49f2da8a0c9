/* Follows a program to the files it consists of. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/installed.h"

#include "io/file.h"
#include "path/beneath.h"
#include "path/lexical.h"
#include "path/through.h"
#include "policy/blocked.h"

#include <fcntl.h>
#include <sys/stat.h>

enum {
    CHAIN_MAX = 5, /* depth of interpreters of interpreters */
    LIST_MAX = 32,
    HEAD_MAX = 256, /* number of bytes of a script the kernel reads */
};

struct installed_finder {
    const struct installed_input *in;
    struct arena *a;
    struct installed got;
};

static void installed_add_unique(struct str_list *list, struct str path)
{
    for (size_t i = 0; i < list->n; i++)
        if (str_eq(list->p[i], path))
            return;
    if (list->n < LIST_MAX)
        list->p[list->n++] = path;
}

static struct str installed_parent(struct arena *a, struct str path)
{
    ptrdiff_t slash = str_find_last(path, '/');
    return arena_str(a, slash <= 0 ? STR("/") : str_head(path, (size_t)slash));
}

static bool installed_is_in(const struct str_list *dirs, struct str path)
{
    for (size_t i = 0; i < dirs->n; i++)
        if (lexical_is_below(dirs->p[i], path))
            return true;
    return false;
}

static bool installed_has_entry(struct arena *a, struct str dir, const char *name)
{
    struct stat st;
    return stat(arena_printf(a, STR_FMT "/%s", STR_ARG(dir), name), &st) == 0;
}

/* Permitted directories --------------------------------------------------------------------- */

/* Directories shared by many programs. */
static bool is_shared_in_home(const struct installed_finder *f, struct str dir)
{
    static const char *const names[] = {
        ".cache", ".config", ".local", ".local/lib", ".local/share", ".local/state"};
    if (!f->in->home.n || !lexical_is_below(f->in->home, dir))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(lexical_rest(f->in->home, dir), names[i]))
            return true;
    return false;
}

static bool installed_may_expose(const struct installed_finder *f, struct str dir)
{
    struct stat st;
    const struct installed_input *in = f->in;
    if (blocked_path(dir, BLOCKED_READ) || is_shared_in_home(f, dir) ||
        (in->home.n && lexical_is_below(dir, in->home)) ||
        (in->state.n && (lexical_is_below(dir, in->state) || lexical_is_below(in->state, dir))))
        return false;
    for (size_t i = 0; i < in->inside.n; i++)
        if (lexical_is_below(dir, in->inside.p[i]))
            return false;
    return stat(dir.p, &st) == 0 && S_ISDIR(st.st_mode) && !(st.st_mode & S_IWOTH);
}

/* Tree of a file ---------------------------------------------------------------------------- */

/* The outermost node_modules directory: packages refer to each other within it. */
static struct str node_tree(struct arena *a, struct str path)
{
    struct str rest = path, name;
    while (lexical_next(&rest, &name))
        if (str_is(name, "node_modules"))
            return arena_str(a, str_head(path, (size_t)(name.p - path.p) + name.n));
    return (struct str){0};
}

/* The prefix that contains bin/ and lib/, or a Python environment. */
static struct str prefix_tree(struct arena *a, struct str path, bool only_python)
{
    struct str dir = installed_parent(a, path);
    if (!str_is(lexical_name(dir), "bin"))
        return (struct str){0};
    struct str prefix = installed_parent(a, dir);
    if (installed_has_entry(a, prefix, "pyvenv.cfg") ||
        (!only_python && installed_has_entry(a, prefix, "lib")))
        return prefix;
    return (struct str){0};
}

/* The parent of a version manager's shims directory (pyenv, rbenv, nodenv): the shims refer to the
 * rest of it. */
static struct str shims_tree(struct arena *a, struct str path)
{
    struct str dir = installed_parent(a, path);
    return str_is(lexical_name(dir), "shims") ? installed_parent(a, dir) : (struct str){0};
}

static struct str tree_of(const struct installed_finder *f, struct str path)
{
    const struct str candidates[] = {
        node_tree(f->a, path),
        prefix_tree(f->a, path, false),
        shims_tree(f->a, path),
        installed_parent(f->a, path),
    };
    for (size_t i = 0; i < ARRAY_LEN(candidates); i++)
        if (candidates[i].n && installed_may_expose(f, candidates[i]))
            return candidates[i];
    return path;
}

static void installed_expose(
    struct installed_finder *f, struct str found, struct str resolved, bool by_box)
{
    const struct installed_input *in = f->in;
    installed_add_unique(&f->got.dirs, installed_parent(f->a, found));
    struct str python = prefix_tree(f->a, found, true);
    if (python.n && !installed_is_in(&in->system, python) &&
        (!by_box || installed_is_in(&in->inside, python)) && installed_may_expose(f, python))
        installed_add_unique(&f->got.shown, python);
    if (by_box)
        return;
    if (!installed_is_in(&in->system, resolved) && !installed_is_in(&in->inside, resolved))
        installed_add_unique(&f->got.shown, tree_of(f, resolved));
    if (!str_eq(found, resolved) && !installed_is_in(&in->system, found) &&
        !installed_is_in(&in->inside, found) && !installed_is_in(&f->got.shown, found))
        installed_add_unique(&f->got.shown, found);
}

/* Finding ------------------------------------------------------------------------------------- */

static bool installed_look_up(
    const struct installed_finder *f, struct str name, struct str *ret_path)
{
    struct str dir, rest = f->in->path;
    if (str_find(name, '/') >= 0) {
        *ret_path = lexical_absolute(f->a, f->in->cwd, name);
        return installed_is_in(&f->in->inside, *ret_path) || file_is_program(ret_path->p);
    }
    while (rest.p && name.n && str_cut(rest, ':', &dir, &rest)) {
        if (dir.n == 0 || dir.p[0] != '/')
            continue;
        *ret_path = lexical_absolute(f->a, dir, name);
        if (file_is_program(ret_path->p))
            return true;
    }
    return false;
}

static bool installed_missing_error(
    const struct installed_finder *f, struct str name, struct str needed_by, struct err *err)
{
    bool is_path = str_find(name, '/') >= 0;
    if (needed_by.n)
        err_set(err, E_NOT_FOUND, "the program '" STR_FMT "' needs '" STR_FMT "', which %s",
            STR_ARG(needed_by), STR_ARG(name), is_path ? "does not exist" : "is not in PATH");
    else
        err_set(err, E_NOT_FOUND, "the agent's program '" STR_FMT "' %s", STR_ARG(name),
            is_path ? "does not exist" : "is not installed: it was not found in PATH");
    err_ctx(err, "program", STR_FMT, STR_ARG(name));
    if (!is_path && f->in->path.p)
        err_ctx(err, "PATH", STR_FMT, STR_ARG(f->in->path));
    return err_ctx(err, "remedy", "install it, or add its directory to PATH");
}

/* "#!/usr/bin/env -S node --flag": the interpreter, and the program `env` looks up. */
static bool interpreter_of(
    struct arena *a, struct str path, struct str *ret_interpreter, struct str *ret_looked_up)
{
    char head[HEAD_MAX];
    AUTO_FD int fd = open(path.p, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd >= 0 ? pread(fd, head, sizeof(head), 0) : 0;
    struct str line, rest, word;
    *ret_looked_up = (struct str){0};
    if (n < 3 || !str_cut(str_n(head, (size_t)n), '\n', &line, &rest) ||
        !str_starts_with(line, STR("#!")))
        return false;
    rest = str_skip(line, 2);
    for (size_t i = 0; i < rest.n; i++)
        if (rest.p[i] == '\t' || rest.p[i] == '\r')
            head[rest.p + i - head] = ' ';
    struct str interpreter = {0};
    while (str_cut(rest, ' ', &word, &rest)) {
        if (word.n == 0)
            continue;
        if (!interpreter.n) {
            interpreter = word;
            if (!str_is(lexical_name(word), "env"))
                break;
        } else if (word.p[0] != '-' && str_find(word, '=') < 0) {
            *ret_looked_up = arena_str(a, word);
            break;
        }
    }
    *ret_interpreter = arena_str(a, interpreter);
    return interpreter.n > 0 && interpreter.p[0] == '/';
}

static bool is_shown_anyway(const struct installed_finder *f, struct str path)
{
    return installed_is_in(&f->in->system, path) || installed_is_in(&f->in->inside, path);
}

static bool installed_refuse(struct str found, struct str resolved, struct err *err)
{
    err_set(err, E_FS_VIOLATION,
        "the agent's program resolves to '" STR_FMT
        "' through a file that the box can change, and is therefore not made visible",
        STR_ARG(resolved));
    err_ctx(err, "path", STR_FMT, STR_ARG(found));
    return err_ctx(err, "remedy", "add its directory with --dir, or use a copy instead of ':rw'");
}

/* `by_box`: the name comes from a file that the box can write. */
static bool installed_follow(struct installed_finder *f, struct str name, struct str needed_by,
    unsigned depth, bool by_box, struct err *err)
{
    struct str found, interpreter, looked_up;
    if (!installed_look_up(f, name, &found))
        return installed_missing_error(f, name, needed_by, err);
    AUTO_FD int fd = beneath_peek(found.p);
    AUTO_FREE char *text = fd >= 0 ? beneath_name(fd) : NULL;
    struct str resolved = text ? arena_str(f->a, str_z(text)) : found;
    by_box = by_box || through_dirs(found, &f->in->writable, f->a);
    if (by_box && !is_shown_anyway(f, resolved))
        return installed_refuse(found, resolved, err);
    installed_expose(f, found, resolved, by_box);
    if (!f->got.path.n)
        f->got.path = resolved;
    if (depth == CHAIN_MAX || !interpreter_of(f->a, resolved, &interpreter, &looked_up))
        return true;
    if (!installed_follow(f, interpreter, resolved, depth + 1, by_box, err))
        return false;
    return !looked_up.n || installed_follow(f, looked_up, resolved, depth + 1, by_box, err);
}

bool installed_find(const struct installed_input *input, struct arena *arena,
    struct installed *ret_installed, struct err *err)
{
    struct installed_finder f = {.in = input, .a = arena};
    f.got.shown.p = ARENA_NEW(arena, struct str, LIST_MAX);
    f.got.dirs.p = ARENA_NEW(arena, struct str, LIST_MAX);
    if (!installed_follow(&f, str_z(input->program), (struct str){0}, 0, false, err))
        return false;
    *ret_installed = f.got;
    return true;
}
