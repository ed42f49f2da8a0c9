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
TOOLCHAINS = """
.cargo/bin .local/bin .pyenv/shims .nvm/versions/node/v1/bin .volta/bin .bun/bin .deno/bin go/bin .sdkman/candidates/x/bin
.rustup/toolchains/x/bin .ghcup/bin tools/bin""".split()


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
    for i, name in enumerate(TOOLCHAINS):
        home_file(t, f"{name}/tool{i}", f"#!/bin/sh\necho tool{i}\n", 0o755)
    t.env["PATH"] = ":".join([f"{user_home(t)}/{name}" for name in TOOLCHAINS] + [t.env["PATH"]])


SEE_TOOLS = "for i in $(seq 0 %d); do tool$i; done" % (len(TOOLCHAINS) - 1)
ALL_TOOLS = b"".join(b"tool%d\n" % i for i in range(len(TOOLCHAINS)))
SEE_SECRETS = "cd ~ && find . -type f | sort; grep -rs CANARY ~ /proc/self/environ; echo end"
