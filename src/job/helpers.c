/* Finds interpreters and helpers. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "job/helpers.h"

#include "job/program.h"
#include "path/beneath.h"
#include "path/lexical.h"
#include "policy/validate.h"

/* Programs that start others, or run code that may: interpreters, which also import modules of the
 * home directory, programs that run the command in their arguments, and those with helpers of their
 * own; without versions, sorted. */
static const char *const starters[] = {
    "Rscript",
    "ant",
    "autoreconf",
    "awk",
    "bazel",
    "bmake",
    "bun",
    "bundle",
    "bundler",
    "bunx",
    "c++",
    "c89",
    "c99",
    "cabal",
    "cargo",
    "cc",
    "chrt",
    "clang",
    "clang++",
    "cmake",
    "composer",
    "corepack",
    "cpan",
    "cpanm",
    "ctest",
    "deno",
    "dotnet",
    "dune",
    "entr",
    "env",
    "expect",
    "find",
    "flock",
    "g++",
    "gawk",
    "gcc",
    "gdb",
    "gem",
    "git",
    "gmake",
    "go",
    "gradle",
    "gradlew",
    "guile",
    "hatch",
    "ionice",
    "irb",
    "java",
    "jruby",
    "julia",
    "just",
    "kotlin",
    "lein",
    "ltrace",
    "lua",
    "luajit",
    "make",
    "man",
    "mawk",
    "meson",
    "mise",
    "mix",
    "mvn",
    "mvnw",
    "nawk",
    "nice",
    "ninja",
    "node",
    "node-gyp",
    "nodejs",
    "nohup",
    "nox",
    "npm",
    "npx",
    "octave",
    "opam",
    "parallel",
    "pdm",
    "perf",
    "perl",
    "php",
    "phpunit",
    "pip",
    "pip3",
    "pipenv",
    "pipx",
    "pnpm",
    "pnpx",
    "poetry",
    "pre-commit",
    "pry",
    "pypy",
    "pytest",
    "python",
    "rake",
    "rr",
    "rsync",
    "ruby",
    "rustc",
    "rustup",
    "samu",
    "sbt",
    "scons",
    "script",
    "setsid",
    "stack",
    "stdbuf",
    "strace",
    "swift",
    "tar",
    "taskset",
    "tclsh",
    "time",
    "timeout",
    "tox",
    "uv",
    "uvx",
    "valgrind",
    "watch",
    "xargs",
    "yarn",
    "yarnpkg",
    "zig",
};

/* The system's programs and the files that they need; in every sandbox are only the libraries. */
static const struct {
    const char *dir;
    bool exec;
} machine[] = {
    {"/bin", true},
    {"/sbin", true},
    {"/usr/bin", true},
    {"/usr/sbin", true},
    {"/usr/local/bin", true},
    {"/lib", true},
    {"/lib64", true},
    {"/usr/lib", true},
    {"/usr/lib64", true},
    {"/usr/libexec", true},
    {"/usr/local/lib", true},
    {"/etc/alternatives", false},
    {"/usr/include", false},
    {"/usr/local/include", false},
};

/* Directories of programs whose libraries every sandbox has. */
static const char *const system_dirs[] = {
    "/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/games", "/lib", "/usr/lib", "/usr/libexec"};

struct helpers_search {
    const struct helpers_input *in;
    struct helpers *out;
};

/* "gcc-12" is "gcc", and "python3.11" is "python". */
static struct str helpers_plain_name(struct str name)
{
    size_t n = name.n;
    while (n && ((name.p[n - 1] >= '0' && name.p[n - 1] <= '9') || name.p[n - 1] == '.'))
        n--;
    if (n > 1 && n < name.n && name.p[n - 1] == '-')
        n--;
    return str_head(name, n);
}

bool helpers_starts_others(struct str name)
{
    struct str plain = helpers_plain_name(name);
    for (size_t i = 0; i < ARRAY_LEN(starters); i++)
        if (str_is(plain, starters[i]) || str_is(name, starters[i]))
            return true;
    return false;
}

static void helpers_add(struct starter_path *list, size_t *n, struct starter_path entry)
{
    for (size_t i = 0; i < *n; i++)
        if (str_eq(list[i].path, entry.path))
            return;
    if (*n < HELPERS_MAX)
        list[(*n)++] = entry;
}

/* Resolves symlinks in a path; returns the path itself on failure. */
static struct str helpers_resolve(const struct helpers_search *s, struct str path)
{
    AUTO_FD int fd = beneath_peek(path.p);
    AUTO_FREE char *name = fd < 0 ? NULL : beneath_name(fd);
    return name ? arena_str(s->in->arena, str_z(name)) : path;
}

/* Whether its libraries are beside it, as in ~/.nvm/versions/node/v20/bin: not for programs of the
 * system or of the project. */
static bool helpers_is_toolchain(const struct helpers_search *s, struct str target)
{
    static const char *const names[] = {"bin", "sbin", "shims"};
    struct str dir = str_head(target, (size_t)MAX(str_find_last(target, '/'), (ptrdiff_t)0));
    for (size_t i = 0; i < ARRAY_LEN(system_dirs); i++)
        if (lexical_is_below(str_z(system_dirs[i]), target))
            return false;
    if (lexical_is_below(s->in->cwd, target))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(lexical_name(dir), names[i]))
            return true;
    return false;
}

static void helpers_add_program(struct helpers_search *s, struct str path, const char *note)
{
    struct helpers *out = s->out;
    struct str target = helpers_resolve(s, path);
    struct starter_path entry = {.path = path, .note = note};
    if (note && !str_eq(path, target))
        entry.target = target;
    bool shell = policy_is_shell(path);
    out->shell |= shell;
    out->developer |= shell || helpers_starts_others(lexical_name(path)) ||
                      helpers_is_toolchain(s, target) || helpers_is_toolchain(s, path);
    helpers_add(out->exec, &out->n_exec, entry);
}

/* Adds the interpreters of a script: the one in its first line, and the program that env(1) would
 * find. */
static void helpers_add_interpreters(struct helpers_search *s)
{
    static const char note[] = "interpreter of the script";
    struct arena *a = s->in->arena;
    AUTO_ERR struct err ignored = {0};
    struct str script = s->in->program;
    struct script_line line;
    for (int i = 0; i < SCRIPT_DEPTH_MAX && script_read(script.p, a, &line); i++) {
        script = lexical_absolute(a, s->in->cwd, line.interpreter);
        if (!program_find(a, script, s->in->cwd, &script, &ignored)) {
            notice_send(s->in->warnings, "the script's interpreter '" STR_FMT "' does not exist",
                STR_ARG(script));
            return;
        }
        helpers_add_program(s, script, note);
        struct str name = script_env_program(line.argument), found;
        if (str_is(lexical_name(script), "env") && name.p &&
            program_find(a, name, s->in->cwd, &found, &ignored))
            helpers_add_program(s, script = found, note);
    }
}

static void helpers_add_machine(struct helpers_search *s)
{
    struct helpers *out = s->out;
    for (size_t i = 0; i < ARRAY_LEN(machine); i++) {
        struct starter_path entry = {.path = str_z(machine[i].dir)};
        if (access(machine[i].dir, F_OK) != 0)
            continue;
        helpers_add(out->read, &out->n_read, entry);
        if (machine[i].exec)
            helpers_add(out->exec, &out->n_exec, entry);
    }
}

void helpers_find(const struct helpers_input *input, struct helpers *ret_helpers)
{
    *ret_helpers = (struct helpers){.n_exec = 0};
    struct helpers_search s = {input, ret_helpers};
    helpers_add_program(&s, input->program, NULL);
    helpers_add_interpreters(&s);
    if (ret_helpers->developer)
        helpers_add_machine(&s);
}
