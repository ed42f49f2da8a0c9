/* Files that act by themselves: the table. */
#include "path/selfrun.h"

#include <strings.h>

static const char git_reason[] = "git runs what it names";
static const char shell_reason[] = "a shell reads it when it starts";
static const char editor_reason[] = "an editor runs what it says";
static const char ci_reason[] = "runs in CI";
static const char hook_reason[] = "runs at git's events";
static const char tool_reason[] = "a tool runs what it says when it starts";
static const char agent_reason[] = "an agent obeys it";

/* The end of a path; one with '/' at its own end is a directory, and all below it counts. */
static const struct row {
    const char *end;
    const char *reason;
    enum selfrun_class class;
} rows[] = {
    {".git/", "belongs to git", SELFRUN_RUNS},
    {".gitattributes", git_reason, SELFRUN_RUNS},
    {".gitconfig", git_reason, SELFRUN_RUNS},
    {".gitmodules", git_reason, SELFRUN_RUNS},
    {".hg/", "belongs to Mercurial, which runs what it names", SELFRUN_RUNS},
    {".jj/", "belongs to Jujutsu, which runs what it names", SELFRUN_RUNS},
    {".githooks/", hook_reason, SELFRUN_RUNS},
    {".husky/", hook_reason, SELFRUN_RUNS},
    {".lefthook.yml", hook_reason, SELFRUN_RUNS},
    {"lefthook.yml", hook_reason, SELFRUN_RUNS},
    {".pre-commit-config.yaml", hook_reason, SELFRUN_RUNS},
    {".pre-commit-hooks.yaml", hook_reason, SELFRUN_RUNS},
    {".envrc", shell_reason, SELFRUN_RUNS},
    {".bashrc", shell_reason, SELFRUN_RUNS},
    {".bash_aliases", shell_reason, SELFRUN_RUNS},
    {".bash_login", shell_reason, SELFRUN_RUNS},
    {".bash_logout", shell_reason, SELFRUN_RUNS},
    {".bash_profile", shell_reason, SELFRUN_RUNS},
    {".config/fish/", shell_reason, SELFRUN_RUNS},
    {".cshrc", shell_reason, SELFRUN_RUNS},
    {".inputrc", shell_reason, SELFRUN_RUNS},
    {".kshrc", shell_reason, SELFRUN_RUNS},
    {".login", shell_reason, SELFRUN_RUNS},
    {".profile", shell_reason, SELFRUN_RUNS},
    {".tcshrc", shell_reason, SELFRUN_RUNS},
    {".xprofile", shell_reason, SELFRUN_RUNS},
    {".zlogin", shell_reason, SELFRUN_RUNS},
    {".zlogout", shell_reason, SELFRUN_RUNS},
    {".zprofile", shell_reason, SELFRUN_RUNS},
    {".zshenv", shell_reason, SELFRUN_RUNS},
    {".zshrc", shell_reason, SELFRUN_RUNS},
    {".dir-locals.el", editor_reason, SELFRUN_RUNS},
    {".exrc", editor_reason, SELFRUN_RUNS},
    {".fleet/", editor_reason, SELFRUN_RUNS},
    {".helix/", editor_reason, SELFRUN_RUNS},
    {".idea/", editor_reason, SELFRUN_RUNS},
    {".lvimrc", editor_reason, SELFRUN_RUNS},
    {".nvim.lua", editor_reason, SELFRUN_RUNS},
    {".nvimrc", editor_reason, SELFRUN_RUNS},
    {".vimrc", editor_reason, SELFRUN_RUNS},
    {".vscode/", editor_reason, SELFRUN_RUNS},
    {".zed/", editor_reason, SELFRUN_RUNS},
    {".devcontainer/", editor_reason, SELFRUN_RUNS},
    {".devcontainer.json", editor_reason, SELFRUN_RUNS},
    {".appveyor.yml", ci_reason, SELFRUN_RUNS},
    {".buildkite/", ci_reason, SELFRUN_RUNS},
    {".circleci/", ci_reason, SELFRUN_RUNS},
    {".cirrus.yml", ci_reason, SELFRUN_RUNS},
    {".drone.yml", ci_reason, SELFRUN_RUNS},
    {".forgejo/workflows/", ci_reason, SELFRUN_RUNS},
    {".gitea/workflows/", ci_reason, SELFRUN_RUNS},
    {".github/actions/", ci_reason, SELFRUN_RUNS},
    {".github/workflows/", ci_reason, SELFRUN_RUNS},
    {".gitlab-ci.yml", ci_reason, SELFRUN_RUNS},
    {".gitlab/", ci_reason, SELFRUN_RUNS},
    {".travis.yml", ci_reason, SELFRUN_RUNS},
    {".woodpecker/", ci_reason, SELFRUN_RUNS},
    {".woodpecker.yml", ci_reason, SELFRUN_RUNS},
    {".ci/", ci_reason, SELFRUN_RUNS},
    {"appveyor.yml", ci_reason, SELFRUN_RUNS},
    {"azure-pipelines.yml", ci_reason, SELFRUN_RUNS},
    {"bitbucket-pipelines.yml", ci_reason, SELFRUN_RUNS},
    {"jenkinsfile", ci_reason, SELFRUN_RUNS},
    {".cargo/config", tool_reason, SELFRUN_RUNS},
    {".cargo/config.toml", tool_reason, SELFRUN_RUNS},
    {".gdbinit", tool_reason, SELFRUN_RUNS},
    {".ghci", tool_reason, SELFRUN_RUNS},
    {".iex.exs", tool_reason, SELFRUN_RUNS},
    {".irbrc", tool_reason, SELFRUN_RUNS},
    {".lldbinit", tool_reason, SELFRUN_RUNS},
    {".ocamlinit", tool_reason, SELFRUN_RUNS},
    {".pdbrc", tool_reason, SELFRUN_RUNS},
    {".pryrc", tool_reason, SELFRUN_RUNS},
    {".rprofile", tool_reason, SELFRUN_RUNS},
    {".mise.toml", tool_reason, SELFRUN_RUNS},
    {"mise.toml", tool_reason, SELFRUN_RUNS},
    {".npmrc", tool_reason, SELFRUN_RUNS},
    {".pnpmfile.cjs", tool_reason, SELFRUN_RUNS},
    {".yarnrc", tool_reason, SELFRUN_RUNS},
    {".yarnrc.yml", tool_reason, SELFRUN_RUNS},
    {"sitecustomize.py", tool_reason, SELFRUN_RUNS},
    {"usercustomize.py", tool_reason, SELFRUN_RUNS},
    {".claude/", agent_reason, SELFRUN_RUNS},
    {".codex/", agent_reason, SELFRUN_RUNS},
    {".cordon/", agent_reason, SELFRUN_RUNS},
    {".cursor/", agent_reason, SELFRUN_RUNS},
    {".gemini/", agent_reason, SELFRUN_RUNS},
    {".mcp.json", agent_reason, SELFRUN_RUNS},
    {".opencode/", agent_reason, SELFRUN_RUNS},
};

static bool same(struct str a, struct str b)
{
    return a.n == b.n && strncasecmp(a.p, b.p, a.n) == 0;
}

/* From a component's start, whole components follow. */
static bool row_matches(struct str end, struct str rest)
{
    bool dir = end.p[end.n - 1] == '/';
    /* A file or link in a directory's place counts, too: it may lead to another one. */
    if (dir && same(str_head(end, end.n - 1), rest))
        return true;
    return dir ? rest.n > end.n && same(str_head(rest, end.n), end) : same(rest, end);
}

/* A directory with HEAD, objects and refs is a repository under any name: git obeys its settings
 * when somebody is in it. By habit such a name ends in ".git". */
static bool is_in_repository(struct str path)
{
    struct str name, rest = path;
    while (str_cut(rest, '/', &name, &rest))
        if (rest.n ? name.n > 4 && same(str_skip(name, name.n - 4), STR(".git"))
                   : str_is(name, "HEAD"))
            return true;
    return false;
}

static const struct row *find(struct str path)
{
    static const struct row repository = {
        "", "belongs to a repository, and git runs what that names", SELFRUN_RUNS};
    const struct row *found = NULL;
    if (is_in_repository(path))
        return &repository;
    for (size_t at = 0; at < path.n; at++) {
        if (at > 0 && path.p[at - 1] != '/')
            continue;
        for (size_t i = 0; i < ARRAY_LEN(rows); i++)
            if ((!found || rows[i].class > found->class) &&
                row_matches(str_z(rows[i].end), str_skip(path, at)))
                found = &rows[i];
    }
    return found;
}

enum selfrun_class selfrun_class(struct str path)
{
    const struct row *row = find(path);
    return row ? row->class : SELFRUN_NONE;
}

const char *selfrun_reason(struct str path)
{
    const struct row *row = find(path);
    return row ? row->reason : NULL;
}
