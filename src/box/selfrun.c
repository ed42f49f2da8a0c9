/* What runs by itself. */
#include "box/selfrun.h"

#include <strings.h>

static const char git_reason[] = "git runs what it names";
static const char shell_reason[] = "a shell reads it when it starts";
static const char editor_reason[] = "an editor runs what it says";
static const char ci_reason[] = "runs in CI";
static const char hook_reason[] = "runs at git's events";
static const char tool_reason[] = "a tool runs what it says when it starts";
static const char agent_reason[] = "an agent obeys it";

/* The end of a path; one with '/' at its own end is a directory, and all below it counts. */
static const struct {
    const char *end;
    const char *reason;
} rows[] = {
    {".git/", "belongs to git"},
    {".gitattributes", git_reason},
    {".gitconfig", git_reason},
    {".gitmodules", git_reason},
    {".hg/", "belongs to Mercurial, which runs what it names"},
    {".jj/", "belongs to Jujutsu, which runs what it names"},
    {".githooks/", hook_reason},
    {".husky/", hook_reason},
    {".lefthook.yml", hook_reason},
    {"lefthook.yml", hook_reason},
    {".pre-commit-config.yaml", hook_reason},
    {".pre-commit-hooks.yaml", hook_reason},
    {".envrc", shell_reason},
    {".bashrc", shell_reason},
    {".bash_aliases", shell_reason},
    {".bash_login", shell_reason},
    {".bash_logout", shell_reason},
    {".bash_profile", shell_reason},
    {".config/fish/", shell_reason},
    {".cshrc", shell_reason},
    {".inputrc", shell_reason},
    {".kshrc", shell_reason},
    {".login", shell_reason},
    {".profile", shell_reason},
    {".tcshrc", shell_reason},
    {".xprofile", shell_reason},
    {".zlogin", shell_reason},
    {".zlogout", shell_reason},
    {".zprofile", shell_reason},
    {".zshenv", shell_reason},
    {".zshrc", shell_reason},
    {".dir-locals.el", editor_reason},
    {".exrc", editor_reason},
    {".fleet/", editor_reason},
    {".helix/", editor_reason},
    {".idea/", editor_reason},
    {".lvimrc", editor_reason},
    {".nvim.lua", editor_reason},
    {".nvimrc", editor_reason},
    {".vimrc", editor_reason},
    {".vscode/", editor_reason},
    {".zed/", editor_reason},
    {".devcontainer/", editor_reason},
    {".devcontainer.json", editor_reason},
    {".appveyor.yml", ci_reason},
    {".buildkite/", ci_reason},
    {".circleci/", ci_reason},
    {".cirrus.yml", ci_reason},
    {".drone.yml", ci_reason},
    {".forgejo/workflows/", ci_reason},
    {".gitea/workflows/", ci_reason},
    {".github/actions/", ci_reason},
    {".github/workflows/", ci_reason},
    {".gitlab-ci.yml", ci_reason},
    {".gitlab/", ci_reason},
    {".travis.yml", ci_reason},
    {".woodpecker/", ci_reason},
    {".woodpecker.yml", ci_reason},
    {".ci/", ci_reason},
    {"appveyor.yml", ci_reason},
    {"azure-pipelines.yml", ci_reason},
    {"bitbucket-pipelines.yml", ci_reason},
    {"jenkinsfile", ci_reason},
    {".cargo/config", tool_reason},
    {".cargo/config.toml", tool_reason},
    {".gdbinit", tool_reason},
    {".ghci", tool_reason},
    {".iex.exs", tool_reason},
    {".irbrc", tool_reason},
    {".lldbinit", tool_reason},
    {".ocamlinit", tool_reason},
    {".pdbrc", tool_reason},
    {".pryrc", tool_reason},
    {".rprofile", tool_reason},
    {".mise.toml", tool_reason},
    {"mise.toml", tool_reason},
    {".npmrc", tool_reason},
    {".pnpmfile.cjs", tool_reason},
    {".yarnrc", tool_reason},
    {".yarnrc.yml", tool_reason},
    {"sitecustomize.py", tool_reason},
    {"usercustomize.py", tool_reason},
    {".claude/", agent_reason},
    {".codex/", agent_reason},
    {".cordon/", agent_reason},
    {".cursor/", agent_reason},
    {".gemini/", agent_reason},
    {".mcp.json", agent_reason},
    {".opencode/", agent_reason},
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

const char *selfrun_reason(struct str path)
{
    if (is_in_repository(path))
        return "belongs to a repository, and git runs what that names";
    for (size_t at = 0; at < path.n; at++) {
        if (at > 0 && path.p[at - 1] != '/')
            continue;
        for (size_t i = 0; i < ARRAY_LEN(rows); i++)
            if (row_matches(str_z(rows[i].end), str_skip(path, at)))
                return rows[i].reason;
    }
    return NULL;
}
