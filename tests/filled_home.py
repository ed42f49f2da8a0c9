# SPDX-License-Identifier: Apache-2.0
"""A home directory filled with secrets and toolchains, for the suites that look at it from inside; the cases are those of harness.py."""
import os

# Relative to the home directory: files that hold secrets, and toolchains beside them.
CREDENTIALS = """
.aws/credentials .azure/msal_token_cache.json .bash_history .cargo/config.toml .cargo/credentials .cargo/credentials.toml
.claude/.credentials.json .codex/auth.json .composer/auth.json .config/gcloud/credentials.db .config/gh/hosts.yml
.config/pip/pip.conf .docker/config.json .gem/credentials .git-credentials .gnupg/private-keys-v1.d/k .gradle/gradle.properties
.kube/config .local/share/keyrings/login.keyring .m2/settings.xml .my.cnf .netrc .npmrc .nuget/NuGet/NuGet.Config
.password-store/x .pgpass .pip/pip.conf .pypirc .ssh/id_ed25519 .terraform.d/credentials.tfrc.json .vault-token .volta/.npmrc
.yarnrc.yml .sdkman/etc/token .ghcup/config.yaml .deno/auth .bun/auth go/auth Documents/x""".split()
# Credentials inside toolchains and caches that are shown, beside files that must stay visible.
HIDDEN = """
.asdf/installs/gradle/8/gradle.properties .asdf/installs/maven/3/conf/settings.xml .asdf/installs/nodejs/20/etc/npmrc
.asdf/installs/nodejs/20/.npm/etc/npmrc .asdf/installs/php/8/.composer/auth.json .asdf/installs/python/3/pip.conf
.asdf/installs/ruby/3/etc/gemrc .asdf/installs/rust/1/credentials.toml .asdf/plugins/x/.git/config .asdf/.git/config
.cargo/git/db/x/FETCH_HEAD .cargo/registry/index/x/.git/FETCH_HEAD .cargo/registry/.netrc
.dotnet/corefx/cryptography/x509stores/my/x.pfx
.gradle/wrapper/dists/g-bin/hash/g/gradle.properties .gradle/wrapper/dists/g-bin/hash/g/init.d/a.gradle.kts
.local/bin/.env .local/lib/node_modules/npm/npmrc .local/pipx/logs/x.log .local/pipx/venvs/x/pipx_metadata.json
.local/share/claude/.credentials.json .local/share/fnm/node-versions/v20/installation/etc/npmrc
.local/share/mise/installs/gradle/8/gradle.properties .local/share/mise/installs/maven/3/conf/settings.xml
.local/share/mise/installs/node/20/etc/npmrc .local/share/mise/installs/pipx-x/1/venvs/x/pipx_metadata.json
.local/share/mise/installs/pipx-y/1/y/uv-receipt.toml .local/share/mise/installs/python/3/pip.conf
.local/share/mise/installs/ruby/3/etc/gemrc .local/share/mise/plugins/x/.git/config
.local/share/pipx/logs/x.log .local/share/pipx/shared/pip.conf .local/share/pipx/venvs/x/pip.conf
.local/share/pipx/venvs/x/pipx_metadata.json .local/share/pnpm/.npmrc .local/share/pnpm/auth.ini .local/share/pnpm/rc
.local/share/pnpm/global/5/.npmrc .local/share/pnpm/nodejs/20/etc/npmrc
.local/share/uv/credentials/credentials.toml .local/share/uv/python/cpython-3/pip.conf .local/share/uv/tools/x/uv-receipt.toml
.m2/wrapper/dists/maven/hash/conf/settings.xml .m2/wrapper/dists/maven-bin/hash/maven/conf/settings.xml
.nodenv/versions/20/etc/npmrc .nodenv/.git/config .nvm/versions/node/v1/etc/npmrc .nvm/versions/node/v1/lib/node_modules/npm/npmrc
.opam/plugins/opam-publish/x.token .opam/repo/repos-config .opam/log/x.env .opam/5/.opam-switch/sources/x/.git/config
.opam/5/.opam-switch/overlay/x/opam
.pyenv/plugins/x/.git/config .pyenv/versions/3/pip.conf .pyenv/versions/3/envs/e/pip.conf .pyenv/versions/conda/.condarc
.pyenv/versions/conda/conda-meta/history .pyenv/versions/conda/pkgs/urls.txt .pyenv/.git/config
.rbenv/versions/3/etc/gemrc .rbenv/versions/3/lib/ruby/gems/3/cache/bundler/git/x/config
.sdkman/candidates/gradle/8/gradle.properties .sdkman/candidates/gradle/8/init.d/a.gradle
.sdkman/candidates/java/21/conf/management/jmxremote.password .sdkman/candidates/maven/3.9/conf/settings.xml
.sdkman/candidates/tomcat/10/conf/tomcat-users.xml
.volta/tools/image/node/20/etc/npmrc .volta/tools/image/packages/x/etc/npmrc go/pkg/mod/cache/vcs/x/config""".split()
# The same in caches that only boxes show.
HIDDEN_IN_CACHES = """
.cache/composer/vcs/x/config .cache/deno/deno_history.txt .cache/deno/location_data/x/local_storage
.gradle/caches/8/cc-keystore/x.keystore .npm/_cacache/index-v5/00/11/x""".split()
# Names that lead to one of them by a symlink.
LINKS = {".sdkman/candidates/maven/current": "3.9", ".nvm/versions/node/default": "v1", ".pyenv/versions/e": "3/envs/e"}
TOOLCHAINS = """
.cargo/bin .local/bin .pyenv/shims .nvm/versions/node/v1/bin .volta/bin .bun/bin .deno/bin go/bin .sdkman/candidates/x/bin
.rustup/toolchains/x/bin .ghcup/bin tools/bin .sdkman/candidates/maven/3.9/bin .pyenv/versions/3/envs/e/bin
.local/share/pipx/venvs/x/bin .local/share/uv/tools/x/bin .opam/5/bin .local/share/pnpm .dotnet .asdf/plugins/x/bin""".split()


CACHES = """
.bun/install/cache .cache/composer .cache/deno .cache/go-build .cache/pip .cache/uv .cache/yarn .cargo/git .cargo/registry
.gradle/caches .gradle/wrapper .ivy2/cache .m2/repository .npm/_cacache .nuget/packages go/pkg""".split()


def user_home(t):
    """A home directory of the user in which the case may leave files."""
    path = os.path.join(t.top, "user")
    if not os.path.isdir(path):
        t.directory("user")
        t.env["HOME"] = path
        if "CORDON_HOME" not in t.env:
            t.env["CORDON_HOME"] = t.directory("state")
    return path


def home_file(t, name, content, mode=0o644):
    parent = user_home(t)
    path = os.path.join(parent, name)
    for part in os.path.dirname(name).split("/"):
        parent = os.path.join(parent, part)
        if not os.path.isdir(parent):
            os.mkdir(parent)
            t.own(parent)
    with open(path, "w", encoding="ascii") as f:
        f.write(content)
    os.chmod(path, mode)
    return t.own(path)


def fill_home(t):
    for name in CREDENTIALS:
        home_file(t, name, "CANARY\n")
    for name in HIDDEN + HIDDEN_IN_CACHES:
        home_file(t, name, "url = https://me:CANARY@host/\n")
    for name, target in LINKS.items():
        if not os.path.lexists(os.path.join(user_home(t), name)):
            os.symlink(target, os.path.join(user_home(t), name))
    for i, name in enumerate(TOOLCHAINS):
        home_file(t, f"{name}/tool{i}", f"#!/bin/sh\necho tool{i}\n", 0o755)
    t.env["PATH"] = ":".join([f"{user_home(t)}/{name}" for name in TOOLCHAINS] + [t.env["PATH"]])


# Without PATH: by a symlink that is shown.
SEE_LINKED = "~/.sdkman/candidates/maven/current/bin/tool12; ~/.nvm/versions/node/default/bin/tool3; ~/.pyenv/versions/e/bin/tool13"
ALL_LINKED = b"tool12\ntool3\ntool13\n"
SEE_TOOLS = "for i in $(seq 0 %d); do tool$i; done" % (len(TOOLCHAINS) - 1)
ALL_TOOLS = b"".join(b"tool%d\n" % i for i in range(len(TOOLCHAINS)))
SEE_SECRETS = "cd ~ && find . -type f | sort; grep -rs CANARY ~ /proc/self/environ; echo end"
