/* Tables of entries of the home directory. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/home_table.h"

#include "base/base.h"

/* Reasons to show something. */
#define PROGRAMS "programs"
#define SHIMS    "shims and plugins of a version manager"
#define VERSIONS "installed versions of a toolchain"
#define PACKAGES "sources of packages, for builds without the network"
#define LIBRARY  "libraries and programs of packages"

/* Where a directory has a part with the user's data, only the others are rows: the data then stays
 * hidden, whatever is written to it. */
static const struct home_row shown[] = {
    {.path = ".asdf/asdf.sh", .reason = SHIMS},
    {.path = ".asdf/bin", .reason = PROGRAMS},
    {.path = ".asdf/defaults", .reason = SHIMS},
    {.path = ".asdf/installs", .reason = VERSIONS},
    {.path = ".asdf/lib", .reason = SHIMS},
    {.path = ".asdf/libexec", .reason = SHIMS},
    {.path = ".asdf/plugins", .reason = SHIMS},
    {.path = ".asdf/shims", .reason = SHIMS},
    {.path = ".asdf/version.txt", .reason = SHIMS},
    {.path = ".bun/bin", .reason = PROGRAMS},
    {.path = ".cargo/bin", .reason = PROGRAMS},
    {.path = ".cargo/git", .reason = PACKAGES},
    {.path = ".cargo/registry", .reason = PACKAGES},
    {.path = ".deno/bin", .reason = PROGRAMS},
    {.path = ".dotnet/dotnet", .reason = PROGRAMS},
    {.path = ".dotnet/host", .reason = VERSIONS},
    {.path = ".dotnet/library-packs", .reason = PACKAGES},
    {.path = ".dotnet/metadata", .reason = VERSIONS},
    {.path = ".dotnet/packs", .reason = VERSIONS},
    {.path = ".dotnet/sdk", .reason = VERSIONS},
    {.path = ".dotnet/sdk-manifests", .reason = VERSIONS},
    {.path = ".dotnet/shared", .reason = VERSIONS},
    {.path = ".dotnet/templates", .reason = VERSIONS},
    {.path = ".dotnet/tools", .reason = PROGRAMS},
    {.path = ".ghcup/bin", .reason = PROGRAMS},
    {.path = ".ghcup/ghc", .reason = VERSIONS},
    {.path = ".goenv/bin", .reason = PROGRAMS},
    {.path = ".goenv/libexec", .reason = SHIMS},
    {.path = ".goenv/plugins", .reason = SHIMS},
    {.path = ".goenv/shims", .reason = SHIMS},
    {.path = ".goenv/version", .reason = SHIMS},
    {.path = ".goenv/versions", .reason = VERSIONS},
    {.path = ".gradle/wrapper", .reason = VERSIONS},
    {.path = ".juliaup", .reason = VERSIONS},
    {.path = ".local/bin", .reason = PROGRAMS},
    {.path = ".local/lib", .reason = LIBRARY},
    {.path = ".local/pipx/py", .reason = VERSIONS},
    {.path = ".local/pipx/shared", .reason = LIBRARY},
    {.path = ".local/pipx/venvs", .reason = LIBRARY},
    {.path = ".local/share/claude/versions", .reason = PROGRAMS},
    {.path = ".local/share/fnm/aliases", .reason = SHIMS},
    {.path = ".local/share/fnm/node-versions", .reason = VERSIONS},
    {.path = ".local/share/mise/installs", .reason = VERSIONS},
    {.path = ".local/share/mise/plugins", .reason = SHIMS},
    {.path = ".local/share/mise/shims", .reason = SHIMS},
    {.path = ".local/share/pipx/py", .reason = VERSIONS},
    {.path = ".local/share/pipx/shared", .reason = LIBRARY},
    {.path = ".local/share/pipx/venvs", .reason = LIBRARY},
    {.path = ".local/share/pnpm", .reason = LIBRARY},
    {.path = ".local/share/uv/python", .reason = VERSIONS},
    {.path = ".local/share/uv/tools", .reason = LIBRARY},
    {.path = ".m2/wrapper", .reason = VERSIONS},
    {.path = ".nodenv/bin", .reason = PROGRAMS},
    {.path = ".nodenv/libexec", .reason = SHIMS},
    {.path = ".nodenv/nodenv.d", .reason = SHIMS},
    {.path = ".nodenv/plugins", .reason = SHIMS},
    {.path = ".nodenv/shims", .reason = SHIMS},
    {.path = ".nodenv/version", .reason = SHIMS},
    {.path = ".nodenv/versions", .reason = VERSIONS},
    {.path = ".nvm/alias", .reason = SHIMS},
    {.path = ".nvm/nvm.sh", .reason = SHIMS},
    {.path = ".nvm/versions", .reason = VERSIONS},
    {.path = ".opam", .reason = VERSIONS},
    {.path = ".pyenv/bin", .reason = PROGRAMS},
    {.path = ".pyenv/libexec", .reason = SHIMS},
    {.path = ".pyenv/plugins", .reason = SHIMS},
    {.path = ".pyenv/pyenv.d", .reason = SHIMS},
    {.path = ".pyenv/shims", .reason = SHIMS},
    {.path = ".pyenv/version", .reason = SHIMS},
    {.path = ".pyenv/versions", .reason = VERSIONS},
    {.path = ".rbenv/bin", .reason = PROGRAMS},
    {.path = ".rbenv/libexec", .reason = SHIMS},
    {.path = ".rbenv/plugins", .reason = SHIMS},
    {.path = ".rbenv/rbenv.d", .reason = SHIMS},
    {.path = ".rbenv/shims", .reason = SHIMS},
    {.path = ".rbenv/version", .reason = SHIMS},
    {.path = ".rbenv/versions", .reason = VERSIONS},
    {.path = ".rustup", .reason = VERSIONS},
    {.path = ".sdkman/candidates", .reason = VERSIONS},
    {.path = ".volta/bin", .reason = PROGRAMS},
    {.path = ".volta/tools/image", .reason = VERSIONS},
    {.path = ".volta/tools/user", .reason = SHIMS},
    {.path = "go/bin", .reason = PROGRAMS},
    {.path = "go/pkg", .reason = PACKAGES},
};

/* Reasons to hide something. */
#define NPM       "npm's settings hold tokens of registries"
#define PIP       "pip's settings hold passwords of package indexes"
#define CONDA     "conda's settings and history hold tokens of channels"
#define MAVEN     "Maven's settings hold passwords of repositories"
#define GRADLE    "Gradle's properties and init scripts hold passwords of repositories"
#define GEM       "RubyGems' settings hold keys of gem servers"
#define INSTALLED "the record of an installation has a URL with a password"
#define CARGO     "cargo's tokens of registries"
#define OPAM      "opam's tokens, URLs of repositories and environments of builds"
#define CLONE     "git's settings there have a URL with a password"

/* What a version manager installs of each tool, below the directory of all versions of it. */
#define PYTHON_AT(dir)                                                                         \
    {.path = dir "/*/.condarc", .reason = CONDA}, {.path = dir "/*/condarc", .reason = CONDA}, \
        {.path = dir "/*/conda-meta", .reason = CONDA},                                        \
        {.path = dir "/*/envs/*/.condarc", .reason = CONDA},                                   \
        {.path = dir "/*/envs/*/conda-meta", .reason = CONDA},                                 \
        {.path = dir "/*/envs/*/pip.conf", .reason = PIP},                                     \
        {.path = dir "/*/pip.conf", .reason = PIP},                                            \
    {                                                                                          \
        .path = dir "/*/pkgs", .reason = CONDA, .only_with = "urls.txt"                        \
    }
#define NODE_AT(dir)                                             \
    {.path = dir "/etc/npmrc", .reason = NPM},                   \
    {                                                            \
        .path = dir "/lib/node_modules/npm/npmrc", .reason = NPM \
    }
#define MAVEN_AT(dir)                                      \
    {                                                      \
        .path = dir "/conf/settings*.xml", .reason = MAVEN \
    }
#define GRADLE_AT(dir)                                    \
    {.path = dir "/gradle.properties", .reason = GRADLE}, \
    {                                                     \
        .path = dir "/init.d/*.gradle*", .reason = GRADLE \
    }
#define RUBY_AT(dir)                                                                      \
    {.path = dir "/etc/gemrc", .reason = GEM},                                            \
    {                                                                                     \
        .path = dir "/lib/ruby/gems/*/cache", .reason = CLONE, .only_with = "bundler/git" \
    }
/* Every environment has such a record; only few have passwords in it. */
#define VENV_AT(dir)                                                                    \
    {.path = dir "/pip.conf", .reason = PIP},                                           \
        {.path = dir "/pipx_metadata.json", .reason = INSTALLED, .has_password = true}, \
    {                                                                                   \
        .path = dir "/uv-receipt.toml", .reason = INSTALLED, .has_password = true       \
    }
#define CLONE_AT(dir)                                                                     \
    {                                                                                     \
        .path = dir "/.git", .reason = CLONE, .only_with = "config", .has_password = true \
    }
#define CLONES_AT(dir)                                                                      \
    {                                                                                       \
        .path = dir "/*/.git", .reason = CLONE, .only_with = "config", .has_password = true \
    }

/* clang-format off: the macros are lists of rows */
static const struct home_row hidden[] = {
    CLONE_AT(".asdf"),
    CLONES_AT(".asdf/plugins"),
    GRADLE_AT(".asdf/installs/gradle/*"),
    MAVEN_AT(".asdf/installs/maven/*"),
    NODE_AT(".asdf/installs/nodejs/*"),
    NODE_AT(".asdf/installs/nodejs/*/.npm"),
    {.path = ".asdf/installs/php/*/.composer/auth.json", .reason = "composer's tokens"},
    PYTHON_AT(".asdf/installs/python"),
    RUBY_AT(".asdf/installs/ruby/*"),
    {.path = ".asdf/installs/rust/*/config", .reason = CARGO},
    {.path = ".asdf/installs/rust/*/config.toml", .reason = CARGO},
    {.path = ".asdf/installs/rust/*/credentials*", .reason = CARGO},
    {.path = ".cache/composer/vcs", .reason = "clones of private packages, whose URLs hold tokens"},
    {.path = ".cache/deno/deno_history.txt", .reason = "the history of deno's prompt"},
    {.path = ".cache/deno/location_data",
        .reason = "data that web programs stored, such as tokens"},
    {.path = ".cargo/config", .reason = CARGO},
    {.path = ".cargo/config.toml", .reason = CARGO},
    {.path = ".cargo/credentials*", .reason = CARGO},
    {.path = ".cargo/git/db/*/FETCH_HEAD", .reason = CLONE, .has_password = true},
    {.path = ".cargo/registry/index/*/.git",
        .reason = CLONE,
        .only_with = "FETCH_HEAD",
        .has_password = true},
    {.path = ".dotnet/corefx", .reason = "certificates with their private keys"},
    CLONE_AT(".goenv"),
    CLONES_AT(".goenv/plugins"),
    {.path = ".gradle/caches/*/cc-keystore", .reason = "the key of Gradle's configuration cache"},
    {.path = ".gradle/gradle.properties", .reason = GRADLE},
    GRADLE_AT(".gradle/wrapper/dists/*/*/*"),
    {.path = ".local/lib/node_modules/npm/npmrc", .reason = NPM},
    VENV_AT(".local/pipx/shared"),
    VENV_AT(".local/pipx/venvs/*"),
    NODE_AT(".local/share/fnm/node-versions/*/installation"),
    CLONES_AT(".local/share/mise/plugins"),
    GRADLE_AT(".local/share/mise/installs/gradle/*"),
    MAVEN_AT(".local/share/mise/installs/maven/*"),
    NODE_AT(".local/share/mise/installs/node/*"),
    {.path = ".local/share/mise/installs/php/*/.composer/auth.json", .reason = "composer's tokens"},
    VENV_AT(".local/share/mise/installs/pipx-*/*/*"),
    VENV_AT(".local/share/mise/installs/pipx-*/*/venvs/*"),
    PYTHON_AT(".local/share/mise/installs/python"),
    RUBY_AT(".local/share/mise/installs/ruby/*"),
    {.path = ".local/share/pipx/logs", .reason = "logs of installations have URLs with passwords"},
    {.path = ".local/share/pipx/py/*/pip.conf", .reason = PIP},
    VENV_AT(".local/share/pipx/shared"),
    VENV_AT(".local/share/pipx/venvs/*"),
    {.path = ".local/share/pnpm/auth.ini", .reason = NPM},
    {.path = ".local/share/pnpm/global/*/.npmrc", .reason = NPM},
    NODE_AT(".local/share/pnpm/nodejs/*"),
    {.path = ".local/share/pnpm/rc", .reason = NPM},
    {.path = ".local/share/uv/credentials", .reason = "uv's passwords of package indexes"},
    {.path = ".local/share/uv/python/*/pip.conf", .reason = PIP},
    VENV_AT(".local/share/uv/tools/*"),
    {.path = ".m2/settings*.xml", .reason = MAVEN},
    MAVEN_AT(".m2/wrapper/dists/*/*"),
    MAVEN_AT(".m2/wrapper/dists/*/*/*"),
    CLONE_AT(".nodenv"),
    CLONES_AT(".nodenv/plugins"),
    NODE_AT(".nodenv/versions/*"),
    {.path = ".npm/_cacache/index-v5",
        .reason =
            "npm stores the authorization header there, if a registry's answer depends on it"},
    NODE_AT(".nvm/versions/*/*"),
    {.path = ".opam/log", .reason = OPAM},
    {.path = ".opam/plugins", .reason = OPAM},
    {.path = ".opam/repo", .reason = OPAM},
    {.path = ".opam/*/.opam-switch/overlay", .reason = OPAM},
    {.path = ".opam/*/.opam-switch/sources", .reason = OPAM},
    CLONE_AT(".pyenv"),
    CLONES_AT(".pyenv/plugins"),
    PYTHON_AT(".pyenv/versions"),
    CLONE_AT(".rbenv"),
    CLONES_AT(".rbenv/plugins"),
    RUBY_AT(".rbenv/versions/*"),
    GRADLE_AT(".sdkman/candidates/gradle/*"),
    {.path = ".sdkman/candidates/java/*/conf/management/jmxremote.password",
        .reason = "passwords of the Java management agent"},
    MAVEN_AT(".sdkman/candidates/maven/*"),
    MAVEN_AT(".sdkman/candidates/mvnd/*/mvn"),
    {.path = ".sdkman/candidates/tomcat/*/conf/tomcat-users.xml",
        .reason = "passwords of Tomcat's users"},
    NODE_AT(".volta/tools/image/node/*"),
    NODE_AT(".volta/tools/image/packages/*"),
    {.path = "go/pkg/mod/cache/vcs/*/config", .reason = CLONE, .has_password = true},
};
/* clang-format on */

static const char *const names[] = {
    ".credentials.json",
    ".env",
    ".git-credentials",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".yarnrc.yml",
    "auth.json",
    "credentials.toml",
};

size_t home_table_shown(const struct home_row **ret_rows)
{
    *ret_rows = shown;
    return ARRAY_LEN(shown);
}

size_t home_table_hidden(const struct home_row **ret_rows)
{
    *ret_rows = hidden;
    return ARRAY_LEN(hidden);
}

size_t home_table_names(const char *const **ret_names)
{
    *ret_names = names;
    return ARRAY_LEN(names);
}

/* The part of a URL before the host ends in "@". */
bool home_table_has_password(struct str text)
{
    for (size_t i = 0; i + 7 < text.n; i++) {
        struct str rest = str_skip(text, i);
        bool http = str_starts_with(rest, STR("http://")) || str_starts_with(rest, STR("https://"));
        for (size_t k = (size_t)(http ? str_find(rest, '/') + 2 : (ptrdiff_t)rest.n); k < rest.n;
             k++) {
            if (rest.p[k] == '@')
                return true;
            if (rest.p[k] == '/' || (unsigned char)rest.p[k] <= ' ' || rest.p[k] == '"')
                break;
        }
    }
    return false;
}
