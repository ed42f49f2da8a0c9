#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The view of a box: what it shows, and what a program in it cannot read, change or plant.

    view.py --cordon BINARY --child BOX_RUN [WORD…]

Each attack has its control: the same action works where it is allowed. harness.py describes the cases.
"""
import errno
import json
import os
import socket
import subprocess
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", name) for name in ("", "sandbox")]
from harness import CASES, case, main  # noqa: E402,F401 pylint: disable=unused-import
from filled_home import ALL_LINKED, ALL_TOOLS, CACHES, SEE_LINKED, SEE_SECRETS, SEE_TOOLS, TOOLCHAINS, fill_home, home_file, user_home  # noqa: E402

GIT = ["git", "-c", "user.name=n", "-c", "user.email=e@x", "-c", "init.defaultBranch=main"]


def write(t, path, text="", mode=0o644):
    """Writes a file owned by the case's user, and its directories."""
    made = path
    while not os.path.exists(os.path.dirname(made)):
        made = os.path.dirname(made)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    os.chmod(path, mode)
    t.own(path)
    while len(made) < len(path):
        t.own(made)
        rest = path[len(made) + 1:].split("/")
        made = os.path.join(made, rest[0])
    return path


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def git(t, directory, *args):
    run = t.run([*GIT, "-C", directory, *args])
    t.code(run, 0)
    return run.out.decode()


def project(t, name="p"):
    """A repository with one commit."""
    if "CORDON_HOME" not in t.env:
        t.env["CORDON_HOME"] = t.directory("state")
    t.env["GIT_CONFIG_GLOBAL"] = "/dev/null"
    p = os.path.join(t.work, name)
    write(t, p + "/keep", "old\n")
    write(t, p + "/run.sh", "#!/bin/sh\necho ran\n", 0o755)
    write(t, p + "/.gitignore", "ignored\n")
    git(t, t.work, "init", "-q", p)
    git(t, p, "add", ".")
    git(t, p, "commit", "-qm", "first")
    write(t, p + "/ignored", "secret\n")
    return p


def cordon(t, *args, expect=0, **more):
    run = t.run([t.cordon, *args], **more)
    if expect is not None:
        t.code(run, expect)
    return run


def new(t, directory, *options, name="b", agent="test", **more):
    return cordon(t, "box", "new", name, directory, "--agent", agent, "--no-start", *options, **more)


def is_overlay(t, name):
    """Returns false if a box needs a second copy: overlayfs needs user xattrs, which tmpfs supports since Linux 6.6."""
    try:
        os.setxattr(t.work, "user.test", b"")
    except OSError as e:
        t.same(e.errno, errno.EOPNOTSUPP, e)
        overlay = False
    else:
        os.removexattr(t.work, "user.test")
        overlay = True
    shown = json.loads(cordon(t, "box", "show", name, "--json").out)
    t.same(shown["layering"], "overlay" if overlay else "second-copy")
    return overlay


def is_overlay_here(t):
    try:
        os.setxattr(t.work, "user.test", b"")
        os.removexattr(t.work, "user.test")
    except OSError:
        return False
    return True


def inside(t, script, *words, name="b", expect=0, **more):
    """Returns the output of a shell in the box."""
    run = t.run([t.child, name, *words, "--", script], **more)
    if expect is not None:
        t.code(run, expect)
    return run.out.decode(errors="replace")


def refused(t, script, **more):
    """Checks that each line of the script fails."""
    for line in script.strip().splitlines():
        got = inside(t, f"({line.strip()}) 2>/dev/null && echo WORKED || echo refused", **more)
        t.same(got.strip().splitlines()[-1:], ["refused"], line)


# Visible ---------------------------------------------------------------------------------------


@case("the project is at its own path, and its programs run")
def _(t):
    for mode in ("copy", "overlay", "rw"):
        p = project(t, mode)
        new(t, f"{p}:{mode}", name=mode)
        t.same(inside(t, "pwd; cat keep; ./run.sh", name=mode), f"{p}\nold\nran\n", mode)


@case("a copy is a snapshot, an overlay shows later changes")
def _(t):
    p, q = project(t, "p"), project(t, "q")
    new(t, p, name="copy")
    new(t, q + ":overlay", name="over")
    write(t, p + "/keep", "later\n")
    write(t, q + "/keep", "later\n")
    t.same(inside(t, "cat keep", name="copy"), "old\n")
    t.same(inside(t, "cat keep", name="over"), "later\n" if is_overlay(t, "over") else "old\n")


@case("changes stay in the box, except with ':rw'")
def _(t):
    for mode in ("copy", "overlay", "rw"):
        p = project(t, mode)
        new(t, f"{p}:{mode}", name=mode)
        inside(t, "echo new > keep; echo x > made; mkdir -p sub; rm run.sh", name=mode)
        t.same(inside(t, "cat keep made; ls run.sh 2>&1 | wc -l", name=mode).split()[:2], ["new", "x"])
        real = mode == "rw"
        t.same(read(p + "/keep"), "new\n" if real else "old\n", mode)
        t.same(os.path.exists(p + "/made"), real, mode)
        t.same(os.path.exists(p + "/run.sh"), not real, mode)


@case("files that git ignores are not copied unless requested")
def _(t):
    p = project(t)
    new(t, p, name="without")
    new(t, p, "--include-ignored", name="with")
    t.same(inside(t, "test -e ignored || echo none", name="without"), "none\n")
    t.same(inside(t, "cat ignored", name="with"), "secret\n")


@case("the history is there, and a commit stays inside")
def _(t):
    for mode in ("copy", "overlay"):
        p = project(t, mode)
        new(t, f"{p}:{mode}", name=mode)
        got = inside(t, "git log --format=%s; echo 2 > keep; git -c user.name=n -c user.email=e commit -qam second;"
                        "git log --format=%s", name=mode)
        t.same(got.split(), ["first", "second", "first"], mode)
        t.same(git(t, p, "log", "--format=%s").split(), ["first"], mode)


@case("HOME is private to the box, persists, and can run programs")
def _(t):
    p = project(t)
    write(t, t.home + "/.secret", "x")
    new(t, p, agent="claude")
    got = inside(t, 'echo $HOME; ls -A ~; printf "#!/bin/sh\\necho tool" > ~/tool; chmod +x ~/tool')
    t.same(got.split(), [t.home, ".claude"])
    t.same(inside(t, "~/tool; ls -A ~").split(), ["tool", ".claude", "tool"])
    t.same(inside(t, "getent passwd $(id -u) | cut -d: -f6").split(), [t.home] if t.uid is None else [])
    t.same(os.listdir(t.home), [".secret"])
    os.remove(t.home + "/.secret")


@case("a box of an earlier version keeps its home directory")
def _(t):
    p = project(t)
    new(t, p, agent="claude")
    path = t.env["CORDON_HOME"] + "/sandboxes/b/host/setup.json"
    setup = json.loads(read(path))
    t.same(setup.pop("home"), t.home)
    write(t, path, json.dumps(setup), 0o600)
    t.same(inside(t, "echo $HOME; ls -A ~; echo kept > ~/file").split(), ["/home/yoloai", ".claude"])
    t.same(inside(t, "cat ~/file").split(), ["kept"])
    for home in ("relative", "/a/../b", "/"):
        write(t, path, json.dumps({**setup, "home": home}), 0o600)
        run = t.run([t.child, "b", "--", "true"])
        t.true(b"E_CONFIG" in run.err, run)


@case("a home directory that cannot be the box's is replaced")
def _(t):
    p = project(t)
    for i, home in enumerate(("/", "/usr", "/nonexistent", "/home", t.work)):
        t.env["HOME"] = home
        new(t, p if home != t.work else t.work + ":force", "--yes", name=f"b{i}")
        t.same(inside(t, "cd; pwd", name=f"b{i}"), "/home/yoloai\n", home)


@case("a project that is in the agent's home directory")
def _(t):
    p, q = project(t, "home/p"), project(t, "home/deep/q")
    write(t, q + "/.git/x", "")
    t.env["HOME"] = t.work + "/home"
    new(t, p, "--dir", q + ":rw", agent="claude")
    t.same(inside(t, f"echo $HOME; pwd; cat keep {q}/keep; ls -A ~; echo 2 > keep; echo 3 > {q}/keep").split(),
           [t.work + "/home", p, "old", "old", ".claude", "deep", "p"])
    t.same((read(p + "/keep"), read(q + "/keep")), ("old\n", "3\n"))
    inside(t, "touch ~/file; rmdir ~/deep/q ~/deep; mv ~/deep ~/moved; mv ~/p ~/moved; true")
    t.same(inside(t, f"cat {q}/keep; test -e ~/file && echo kept"), "3\nkept\n")
    path = t.env["CORDON_HOME"] + "/sandboxes/b/host/setup.json"
    write(t, path, json.dumps({**json.loads(read(path)), "home": p + "/inner"}), 0o600)
    run = t.run([t.child, "b", "--", "true"])
    t.true(b"E_CLI_INVALID_ARG" in run.err and b"the agent's home in the box, is in" in run.err, run)


@case("other directories are read-only, or writable on request")
def _(t):
    p = project(t)
    write(t, t.top + "/ro/file", "r")
    write(t, t.top + "/rw/file", "w")
    new(t, p, "--dir", t.top + "/ro", "--dir", t.top + "/rw:rw")
    t.same(inside(t, f"cat {t.top}/ro/file {t.top}/rw/file"), "rw")
    inside(t, f"echo 2 > {t.top}/rw/file")
    t.same(read(t.top + "/rw/file"), "2\n")
    refused(t, f"echo 2 > {t.top}/ro/file\ntouch {t.top}/ro/new\nmv {t.top}/ro {t.top}/ro2")


@case("files have the modes that the user's umask gives, and directories of a group stay that")
def _(t):
    for mode in ("copy", "overlay"):
        p = project(t, mode)
        os.makedirs(p + "/group/in")
        os.makedirs(p + "/plain")
        for name in ("", "/group", "/group/in", "/plain"):
            t.own(p + name)
            os.chmod(p + name, 0o755 if name == "/plain" else 0o2775)
        write(t, p + "/group/file", "x")
        new(t, f"{p}:{mode}", "--yes", name=mode)
        for mask in ("022", "027", "002", "077"):
            words = f"cd {p}; rm -rf group/in/x plain/x; mkdir -p group/in/x plain/x; echo > group/in/x/f; echo > plain/x/f; echo '#!/bin/sh' > plain/x/p; chmod +x plain/x/p"
            seen = f"{words}; stat -c '%a %n' . group group/in group/in/x group/in/x/f plain plain/x plain/x/f plain/x/p"
            outside = t.run(["sh", "-c", f"umask {mask}; {seen}; rm -r group/in/x plain/x"])
            got = t.run(["sh", "-c", f'umask {mask}; exec {t.child} {mode} -- "$0"', seen])
            t.same(got.out, outside.out, got)
        t.same(inside(t, "mkdir g; chmod g+s g; stat -c %a g; git init -q --shared s && echo made", name=mode), "2755\nmade\n")
        inside(t, "echo > g/f; chmod 2755 g/f; ! chmod 4755 g/f; ! chmod 6755 .", name=mode)
        run = cordon(t, "box", "apply", mode, "--yes", expect=13)
        t.true(b"'g/f' would run as its owner" in run.err, run)
    new(t, p + ":rw", "--yes", name="rw")
    refused(t, "mkdir -p plain/g; chmod g+s plain/g\nchmod 2755 keep\nchmod u+s keep", name="rw")


OTHER = 12346


def give(path, uid=OTHER):
    for directory, dirs, files in os.walk(path):
        for name in [".", *dirs, *files]:
            os.chown(os.path.join(directory, name), uid, uid, follow_symlinks=False)


@case("root works on a project of another user, and files that it adds belong to that user", who="root")
def _(t):
    for mode in ("copy", "overlay"):
        p = project(t, mode)
        write(t, p + "/sub/private", "secret", 0o600)
        write(t, p + "/shared/file", "x")
        give(p)
        os.chown(p + "/shared", OTHER, OTHER + 1)
        os.chmod(p + "/shared", 0o2775)
        run = new(t, f"{p}:{mode}", "--yes", name=mode)
        t.same(b"the project belongs to another user (uid 12346)" in run.err, mode == "overlay", run)
        got = inside(t, "cat sub/private; echo more >> keep; echo new > sub/private; chmod +x .gitignore; git add keep; git status --short keep;"
                     "mkdir -p a/b; echo x > a/b/c; echo x > shared/x; ln -s keep link; stat -c %u . keep sub a", name=mode)
        t.same(got, "secretM  keep\n0\n0\n0\n0\n", mode)
        t.code(t.run(["sh", "-c", 'umask 022; exec "$0" "$@"', t.cordon, "box", "apply", mode, "--yes"]), 0)
        seen = {name: os.lstat(p + "/" + name) for name in (".", "keep", "sub", "sub/private", "a", "a/b", "a/b/c", "shared/x", "link")}
        t.same({name: st.st_uid for name, st in seen.items() if st.st_uid != OTHER}, {})
        t.same((seen["a/b/c"].st_gid, seen["shared/x"].st_gid, seen["sub/private"].st_mode & 0o777, seen["a"].st_mode & 0o777,
                seen["a/b/c"].st_mode & 0o777), (OTHER, OTHER + 1, 0o600, 0o755, 0o644))
        t.same(read(p + "/sub/private"), "new\n")
        shown = json.loads(cordon(t, "box", "show", mode, "--json").out)
        t.same(shown["changes"]["total"], 0)
    run = new(t, p + ":rw", "--yes", name="rw")
    t.true(b"belongs to another user (uid 12346): in the box its files can be changed only" in run.err, run)


# Environment -----------------------------------------------------------------------------------


@case("only the agent's keys are passed from the environment, and no file contains them")
def _(t):
    p = project(t)
    new(t, p, agent="claude", name="c")
    new(t, p, agent="test", name="t")
    t.env.update(ANTHROPIC_API_KEY="key-of-mine-4711", OPENAI_API_KEY="another", SSH_AUTH_SOCK="/x", NODE_OPTIONS="--x")
    names = {line.split("=")[0] for line in inside(t, "env", name="c").splitlines()}
    t.same(names - {"PWD", "OLDPWD", "SHLVL", "_"},
           {"ANTHROPIC_API_KEY", "CORDON_BOX", "HOME", "IS_SANDBOX", "LANG", "LC_ALL", "PATH", "TERM", "XDG_RUNTIME_DIR"})
    t.true("ANTHROPIC_API_KEY" not in inside(t, "env", name="t"), "the other agent has the key")
    found = subprocess.run(["grep", "-rl", "key-of-mine-4711", t.top], capture_output=True, check=False)
    t.same(found.stdout, b"")


@case("PATH contains visible directories")
def _(t):
    p = project(t)
    new(t, p)
    t.env["PATH"] = f"{p}/bin:{t.home}/bin:relative:{t.home}:/proc:/nonexistent:/usr/local/bin:/usr/bin:/bin"
    t.same(inside(t, "echo $PATH").strip(), f"{t.home}/.local/bin:{p}/bin:{t.home}/bin:/usr/local/bin:/usr/bin:/bin")


# The developer's machine -------------------------------------------------------------------------


@case("toolchains of PATH and of the home directory can be run, and no file with secrets is there")
def _(t):
    fill_home(t)
    new(t, project(t))
    t.same(inside(t, SEE_TOOLS).encode(), ALL_TOOLS)
    t.same(inside(t, SEE_LINKED).encode(), ALL_LINKED)
    shown = sorted(f"./{name}/tool{i}" for i, name in enumerate(TOOLCHAINS))
    t.same(inside(t, SEE_SECRETS).split(), [*shown, "end"])
    hidden = {h["path"]: h["why"] for h in json.loads(cordon(t, "box", "show", "b", "--json").out)["machine"]["hidden"]}
    for name in (".nvm/versions/node/v1/etc/npmrc", ".gradle/caches/8/cc-keystore"):
        t.true(name.startswith(".gradle") and not is_overlay_here(t) or hidden.get(f"{user_home(t)}/{name}"), hidden)
    t.true(f"{user_home(t)}/.opam/plugins (opam's".encode() in cordon(t, "box", "show", "b").out, "box show")


@case("nothing that a box writes in its home directory reaches the user's")
def _(t):
    fill_home(t)
    home = user_home(t)
    before = sorted(os.walk(home))
    new(t, project(t))
    got = inside(t, f"""cd; pwd
        for f in .cargo/bin/new .cargo/bin/tool0 .local/bin/tool1 .rustup/new; do echo x >$f && echo WRITTEN; rm -f $f; done
        chmod -R 777 .cargo .rustup; mv .cargo moved; rm -rf .local/bin .pyenv; ln -sfn {home}/.ssh .cargo/bin
        for f in {home}/.bashrc ~/.profile .ssh/authorized_keys .cargo/config.toml; do mkdir -p $(dirname $f); echo evil >$f; done
        cat .ssh/authorized_keys""", expect=None)
    t.same(got.split(), [home, "evil"])
    t.same(sorted(os.walk(home)), before)
    t.same(read(home + "/.cargo/bin/tool0"), "#!/bin/sh\necho tool0\n")
    t.same(inside(t, SEE_TOOLS).encode(), ALL_TOOLS)
    t.same(inside(t, "cat ~/.bashrc"), "evil\n", "it is kept")


@case("the box's own files are not hidden by a toolchain, and cannot redirect one")
def _(t):
    fill_home(t)
    home, p = user_home(t), project(t)
    tools = {name: home + "/" + name for name in (".cargo", ".rustup", ".nvm", ".pyenv")}
    for path in tools.values():
        os.rename(path, path + "-away")
    new(t, p)
    inside(t, "cd; mkdir -p .cargo/bin; echo own > .cargo/bin/tool0; ln -s /etc .rustup; touch .nvm; mkdir -p .pyenv/shims/deep")
    for path in tools.values():
        os.rename(path + "-away", path)
    t.same(inside(t, "cd; cat .cargo/bin/tool0; readlink .rustup; test -f .nvm && echo file; tool2"), "own\n/etc\nfile\ntool2\n")
    shown = json.loads(cordon(t, "box", "show", "b", "--json").out)["machine"]
    t.same(sorted(o["dir"] for o in shown["omitted"]),
           sorted([home + "/.cargo/bin", home + "/.rustup", home + "/.nvm/versions/node/v1/bin"]))


@case("a version manager's shims and its default toolchain, in the user's home directory")
def _(t):
    home = user_home(t)
    home_file(t, ".rustup/settings.toml", "default_toolchain = \"x\"\n")
    home_file(t, ".rustup/toolchains/x/bin/cargo", "#!/bin/sh\necho cargo of x\n", 0o755)
    home_file(t, ".cargo/bin/cargo", '#!/bin/sh\nx=$(sed -n \'s/.*"\\(.*\\)"/\\1/p\' ${RUSTUP_HOME:-$HOME/.rustup}/settings.toml)\n'
              'exec ${RUSTUP_HOME:-$HOME/.rustup}/toolchains/$x/bin/cargo\n', 0o755)
    home_file(t, ".pyenv/version", "3.1\n")
    home_file(t, ".pyenv/versions/3.1/bin/python3", "#!/bin/sh\necho python 3.1\n", 0o755)
    home_file(t, ".pyenv/shims/python3", '#!/bin/sh\nexec ~/.pyenv/versions/$(cat ~/.pyenv/version)/bin/python3\n', 0o755)
    t.env["PATH"] = f"{home}/.cargo/bin:{home}/.pyenv/shims:{t.env['PATH']}"
    new(t, project(t))
    t.same(inside(t, "cargo; python3"), "cargo of x\npython 3.1\n")


@case("locale, time zone and certificates of the user are passed on; secrets are not")
def _(t):
    certs = home_file(t, "company/ca.pem", "certificate\n")
    t.env.update(TZ="Asia/Tokyo", LC_TIME="C", EDITOR="vi", COLORTERM="truecolor", NODE_EXTRA_CA_CERTS=certs, GITHUB_TOKEN="secret")
    new(t, project(t))
    t.same(inside(t, 'echo "$TZ $LC_TIME $EDITOR $COLORTERM $GITHUB_TOKEN$CORDON_TEST_SECRET"; cat "$NODE_EXTRA_CA_CERTS"; ls ~'),
           "Asia/Tokyo C vi truecolor \ncertificate\ncompany\n")


@case("git commits with the user's name, and the box may change its settings")
def _(t):
    home_file(t, ".gitconfig", "[user]\n\tname = Me Myself\n\temail = me@example.org\n[alias]\n\tst = status\n\tevil = !sh\n"
              "[credential]\n\thelper = store --file SECRET\n[core]\n\tpager = SECRET\n")
    new(t, project(t))
    t.env.pop("GIT_CONFIG_GLOBAL")
    got = inside(t, "echo 2 > keep; git commit -qam second; git log -1 --format='%an %ae %s'; git config --get-regexp '^(alias|credential|core.pager)';"
                 "git config --global user.name Other")
    t.same(got, "Me Myself me@example.org second\nalias.st status\n")
    t.same(inside(t, "git config user.name"), "Other\n")
    t.true("Me Myself" in read(user_home(t) + "/.gitconfig"), "the user's settings are changed")


def tree(path):
    """Names, types, modes, owners, times and contents of everything below a directory."""
    found = {}
    for directory, dirs, files in os.walk(path):
        for name in [".", *dirs, *files]:
            at = os.path.join(directory, name)
            st = os.lstat(at)
            content = os.readlink(at) if os.path.islink(at) else read(at) if name in files else None
            found[os.path.normpath(at)] = (st.st_ino, st.st_mode, st.st_uid, st.st_size, st.st_mtime_ns, st.st_ctime_ns,
                                           {x: os.getxattr(at, x, follow_symlinks=False) for x in os.listxattr(at, follow_symlinks=False)}, content)
    return found


def fill_caches(t):
    for name in CACHES:
        home_file(t, name + "/a/package", f"package of {name}\n")
        home_file(t, name + "/tool", "#!/bin/sh\necho ran\n", 0o755)
    return user_home(t)


POISON = """cd ~/{0} && echo evil > a/package && echo evil > new && chmod 777 a && mv tool tool2 && ln a/package link && ln -s ~ to &&
    touch -d @1 . && rm -r a && mkdir a && echo evil > a/package; setfattr -n user.x -v y new 2>/dev/null; true"""


@case("caches of package managers are in a box, and nothing written to them reaches the user or another box")
def _(t):
    fill_home(t)
    home, p = fill_caches(t), project(t)
    for mode in ("copy", "overlay", "rw"):
        new(t, f"{p}:{mode}", "--yes", name=mode)
        new(t, f"{p}:{mode}", "--yes", name="other-" + mode)
        shown = json.loads(cordon(t, "box", "show", mode, "--json").out)
        caches = [c for c in shown["machine"]["caches"] if c.startswith(home)]
        if not is_overlay_here(t):
            t.same(caches, [])
            continue
        t.same(sorted(caches), sorted(f"{home}/{c}" for c in CACHES))
        before = tree(home)
        for script, want, name, why in (
                ("cat ~/{0}/a/package; ~/{0}/tool", "package of {0}\nran\n", mode, "at first"),
                (POISON, "", mode, "poison"),
                ("cat ~/{0}/a/package ~/{0}/new; ~/{0}/tool2", "evil\nevil\nran\n", mode, "it is kept"),
                ("cat ~/{0}/a/package; ~/{0}/tool; ls ~/{0} | grep -vxE '8|db|dists|index|mod'", "package of {0}\nran\na\ntool\n", "other-" + mode, "another box")):
            got = inside(t, "\n".join(script.format(c) for c in CACHES), name=name)
            t.same(got, "".join(want.format(c) for c in CACHES), why)
        t.same(tree(home), before)
        t.true("CANARY" not in inside(t, SEE_SECRETS, name=mode), "a secret")
        for name in (".npm/_cacache/index-v5", ".cache/deno/deno_history.txt", ".cargo/registry/.netrc"):
            got = inside(t, f"cd; rm -rf {name}; echo own > {name}; cat {name}; rm {name}; cat {name} 2>&1", expect=None, name=mode)
            t.true(got.startswith("own\n") and "CANARY" not in got, got)
    if is_overlay_here(t):
        cordon(t, "box", "reset", "copy", "--clean", "--abandon-unapplied", "--yes")
        t.same(inside(t, "cat ~/.npm/_cacache/a/package; ls ~/.npm/_cacache", name="copy"), "package of .npm/_cacache\na\ntool\n")


@case("a cache that the box could redirect, or that is not one, is not shown")
def _(t):
    p = project(t)
    home_file(t, ".ssh/id", "secret\n")
    home, secret = user_home(t), user_home(t) + "/.ssh"
    home_file(t, ".npm/x", "")
    os.makedirs(p + "/cache")
    write(t, p + "/cache/x", "x")
    os.symlink(p + "/cache", home + "/.npm/_cacache")
    os.symlink(home, home + "/go")
    os.makedirs(home + "/.m2/repository")
    for path in (".npm/_cacache", ".m2", ".m2/repository"):
        t.own(home + "/" + path)
    t.own(p + "/cache")
    new(t, p + ":rw", "--yes")
    t.same([c for c in json.loads(cordon(t, "box", "show", "b", "--json").out)["machine"]["caches"] if c.startswith(home)], [])
    path = t.env["CORDON_HOME"] + "/sandboxes/b/host/setup.json"
    write(t, path, json.dumps({**json.loads(read(path)), "caches": [home + "/.npm/_cacache", home + "/go/pkg"]}), 0o600)
    inside(t, f"rm -r cache; ln -s {secret} cache")
    refused(t, f"cat ~/.npm/_cacache/id\ncat {secret}/id\nls ~/go/.ssh")
    for bad in ("relative", "/", "/a/../b"):
        write(t, path, json.dumps({**json.loads(read(path)), "caches": [bad]}), 0o600)
        t.true(b"E_CONFIG" in t.run([t.child, "b", "--", "true"]).err, bad)


@case("a directory of PATH that a ':rw' box redirects is not followed")
def _(t):
    p = project(t)
    home_file(t, ".ssh/id", "secret\n")
    home_file(t, ".local/x", "")
    secret = user_home(t) + "/.ssh"
    write(t, p + "/bin/tool", "#!/bin/sh\necho tool\n", 0o755)
    os.symlink(p + "/bin", t.top + "/link")
    os.symlink(p + "/bin", user_home(t) + "/.local/bin")
    t.env["PATH"] = f"{t.top}/link:{p}/bin:{t.env['PATH']}"
    t.env["SSL_CERT_FILE"] = p + "/ca.pem"
    new(t, p + ":rw", "--yes")
    t.same(inside(t, "tool"), "tool\n")
    inside(t, f"rm -r bin; ln -s {secret} bin; ln -s {secret}/id ca.pem")
    refused(t, f"cat {secret}/id\ncat {t.top}/link/id\ncat bin/id\ncat ca.pem\ncat ~/.local/bin/id")
    omitted = json.loads(cordon(t, "box", "show", "b", "--json").out)["machine"]["omitted"]
    t.same([o["dir"] for o in omitted], [t.top + "/link"])


@case("directories of PATH that are not in the box are named")
def _(t):
    p = project(t)
    t.env["PATH"] = f".:{t.home}:{t.env['PATH']}"
    run = new(t, p)
    t.true(b"directories of PATH that are not in the box: '.' (it is relative), " in run.err, run)
    t.same(run.err.count(b"not in the box"), 1, run)
    machine = json.loads(cordon(t, "box", "show", "b", "--json").out)["machine"]
    t.same([(o["dir"], o["why"]) for o in machine["omitted"]],
           [(".", "it is relative"), (t.home, "it is the home directory, or contains it")])
    t.same((machine["home"], isinstance(machine["shown"], list)), (t.home, True))
    text = cordon(t, "box", "show", "b").out.decode()
    t.true(f"not shown   . (it is relative)" in text and f"home        {t.home}" in text, text)


@case("the proxy is in all the usual variables")
def _(t):
    new(t, project(t))
    got = dict(line.split("=", 1) for line in inside(t, "env", "proxy=3128").splitlines())
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        t.same((got[name], got[name.lower()]), ("http://127.0.0.1:3128",) * 2)
    t.same(got["NO_PROXY"], "localhost,127.0.0.1")


# The agent's program ---------------------------------------------------------------------------


def installed(t, bin_dir):
    t.env["PATH"] = f"{bin_dir}:{t.env['PATH']}"


@case("a program in its own directory, with the files next to it")
def _(t):
    p = project(t)
    write(t, t.home + "/tools/agent", '#!/bin/sh\n. "$(dirname "$0")/lib.sh"\necho "$1 $WORD"\n', 0o755)
    write(t, t.home + "/tools/lib.sh", "WORD=lib\n")
    write(t, t.home + "/private", "x")
    installed(t, t.home + "/tools")
    new(t, p)
    t.same(inside(t, "hello", "program=agent"), "hello lib\n")
    refused(t, f"cat {t.home}/private\necho x > {t.home}/tools/lib.sh\ntouch {t.home}/tools/new")
    os.remove(t.home + "/private")
    subprocess.run(["rm", "-r", t.home + "/tools"], check=True)


@case("an agent in a toolchain is shown without the credentials beside it")
def _(t):
    for place in (".pyenv/shims", ".nvm/versions/node/v1/bin", ".local/share/pipx/venvs/x/bin"):
        fill_home(t)
        home_file(t, place + "/agent", '#!/bin/sh\ncd; find . -type f | grep -c tool; grep -rs CAN[A]RY . ; echo "$1"\n', 0o755)
        home_file(t, ".nvm/versions/node/v1/lib/x", "library\n")
        installed(t, user_home(t) + "/" + place)
        new(t, project(t, place.replace("/", "-")), name=place.split("/")[0].strip("."))
        got = inside(t, "hello", "program=agent", name=place.split("/")[0].strip(".")).split()
        t.same(got, [str(len(TOOLCHAINS)), "hello"])
        os.remove(f"{user_home(t)}/{place}/agent")
        t.env["PATH"] = t.env["PATH"].partition(":")[2]


@case("a program directly in the home directory is shown alone")
def _(t):
    p = project(t)
    write(t, t.home + "/agent", '#!/bin/sh\nls -A "$(dirname "$0")"\n', 0o755)
    write(t, t.home + "/private", "x")
    installed(t, t.home)
    new(t, p)
    t.same(inside(t, "", "program=agent"), "agent\n")
    for name in ("agent", "private"):
        os.remove(f"{t.home}/{name}")


@case("a node package, by a link, with an interpreter that is installed elsewhere")
def _(t):
    p, home = project(t), t.home
    package = home + "/.npm/lib/node_modules/@scope/agent"
    write(t, package + "/cli.js", "#!/usr/bin/env fakenode\n", 0o755)
    write(t, home + "/.npm/lib/node_modules/dep/index.js", "dep")
    write(t, home + "/.nvm/v20/bin/fakenode",
          f'#!/bin/sh\necho node "$1"\ncat {home}/.npm/lib/node_modules/dep/index.js {home}/.nvm/v20/lib/x\n', 0o755)
    write(t, home + "/.nvm/v20/lib/x", " lib")
    write(t, home + "/.npmrc", "token")
    write(t, home + "/.npm/bin/x", "")
    os.symlink("../lib/node_modules/@scope/agent/cli.js", home + "/.npm/bin/agent")
    installed(t, f"{home}/.npm/bin:{home}/.nvm/v20/bin")
    new(t, p)
    t.same(inside(t, "", "program=agent"), f"node {package}/cli.js\ndep lib")
    write(t, home + "/.nvm/v20/bin/fakenode", f"#!/bin/sh\ncat {home}/.npmrc; ls -A {home}\n", 0o755)
    t.same(inside(t, "", "program=agent", expect=None), ".npm\n.nvm\n")
    subprocess.run(["rm", "-r", home + "/.npm", home + "/.nvm", home + "/.npmrc"], check=True)


@case("the agent's program is also available to exec")
def _(t):
    p = project(t)
    write(t, t.top + "/bin/claude", "#!/bin/sh\necho hand\n", 0o755)
    new(t, p, agent="claude")
    t.same(inside(t, "claude", expect=127), "")
    installed(t, t.top + "/bin")
    t.same(inside(t, "claude"), "hand\n")


@case("a version manager's shim")
def _(t):
    p, root = project(t), t.home + "/.env"
    write(t, root + "/shims/fakenode", f'#!/bin/sh\nexec {root}/libexec/env "$@"\n', 0o755)
    write(t, root + "/libexec/env", f'#!/bin/sh\nexec {root}/versions/1/bin/fakenode "$@"\n', 0o755)
    write(t, root + "/versions/1/bin/fakenode", '#!/bin/sh\necho node "$(basename "$1")"\n', 0o755)
    write(t, t.top + "/bin/agent", "#!/usr/bin/env fakenode\n", 0o755)
    installed(t, f"{t.top}/bin:{root}/shims")
    new(t, p)
    t.same(inside(t, "", "program=agent"), "node agent\n")
    subprocess.run(["rm", "-r", root], check=True)


@case("a missing program, and a missing interpreter")
def _(t):
    p = project(t)
    write(t, t.top + "/bin/agent", "#!/usr/bin/env nonesuch\n", 0o755)
    new(t, p)
    run = t.run([t.child, "b", "program=agent", "--", ""])
    t.code(run, 99)
    t.true(b"E_NOT_FOUND: the agent's program 'agent' is not installed" in run.err, run)
    installed(t, t.top + "/bin")
    run = t.run([t.child, "b", "program=agent", "--", ""])
    t.true(b"needs 'nonesuch', which is not in PATH" in run.err, run)


@case("the files shown of a program cannot be changed")
def _(t):
    p = project(t)
    write(t, t.top + "/bin/agent", '#!/bin/sh\necho x > "$0" || echo refused\ntouch "$(dirname "$0")/y" || echo refused\n', 0o755)
    installed(t, t.top + "/bin")
    new(t, p)
    t.same(inside(t, "", "program=agent", expect=None), "refused\nrefused\n")


@case("a program that the box may change exposes nothing that is not shown anyway")
def _(t):
    p = project(t)
    write(t, t.home + "/other/tool", "#!/bin/sh\ncat\n", 0o755)
    write(t, t.home + "/other/secret", "secret\n")
    os.symlink("tool", t.home + "/other/claude")
    write(t, p + "/bin/claude", "#!/bin/sh\necho ran\n", 0o755)
    os.makedirs(t.top + "/links", exist_ok=True)
    os.symlink(p + "/bin", t.top + "/links/bin")
    installed(t, t.top + "/links/bin")
    new(t, p + ":rw", "--yes", agent="claude")
    t.same(inside(t, "", "program=claude"), "ran\n")
    for plant in (f"printf '#!{t.home}/other/tool\\n' > bin/claude",
                  f"ln -sf {t.home}/other/tool bin/claude",
                  f"ln -sf tool bin/claude; ln -s {t.home}/other/tool bin/tool",
                  f"rm bin/claude; printf '#!{p}/bin/tool\\n' > bin/claude; chmod +x bin/claude",
                  f"rm -r bin; ln -s {t.home}/other bin"):
        inside(t, plant)
        refused(t, f"cat {t.home}/other/secret")
        run = t.run([t.child, "b", "program=claude", "--", ""])
        t.code(run, 99)
        t.true(b"and is therefore not made visible" in run.err or b"not installed" in run.err, run)
    subprocess.run(["rm", "-r", t.home + "/other"], check=True)


@case("a repository that a ':rw' box points to is not copied")
def _(t):
    secret = project(t, "secret")
    plants = {"file": f"echo 'gitdir: {secret}/.git' > .git",
              "shared": f"mkdir .git; cd .git; echo {secret}/.git > commondir; echo ref: refs/heads/main > HEAD",
              "both": f"mkdir fake; cd fake; echo {t.work}/both/.git > gitdir; echo {secret}/.git > commondir; "
                      "echo ref: refs/heads/main > HEAD; echo 'gitdir: fake' > ../.git"}
    for name, plant in plants.items():
        p = f"{t.work}/{name}"
        write(t, p + "/keep", "old\n")
        new(t, p + ":rw", name=name)
        inside(t, plant, name=name)
        run = new(t, p, "--yes", name="of-" + name)
        t.true(b"does not point back to it" in run.err, run)
        refused(t, "git show main:keep\ngit show HEAD:keep", name="of-" + name)


@case("a repository that borrows objects works in a copy, which gets no others")
def _(t):
    lender = project(t, "lender")
    write(t, lender + "/private", "a file with an unknown hash\n")
    git(t, lender, "checkout", "-qb", "private")
    git(t, lender, "add", "private")
    git(t, lender, "commit", "-qm", "private")
    unknown = git(t, lender, "rev-parse", "HEAD:private").strip()
    git(t, lender, "checkout", "-q", "main")
    middle, p = t.work + "/middle", t.work + "/p"
    git(t, t.work, "clone", "-q", "--shared", "--single-branch", lender, middle)
    git(t, t.work, "clone", "-q", "--shared", "--single-branch", middle, p)
    write(t, p + "/staged", "staged\n")
    git(t, p, "add", "staged")
    write(t, p + "/.git/hooks/pre-auto-gc", "#!/bin/sh\ntouch ran\n", 0o755)
    run = new(t, p, "--yes")
    t.true(b"alternates" not in run.err, run)
    t.same(inside(t, "git log --format=%s; git status --short; git show :staged; git fsck 2>&1; cat .git/objects/info/alternates 2>/dev/null;"
                  "ls .git/objects/pack | grep -v '^pack-'; true"), "first\nA  staged\nstaged\n")
    refused(t, f"git cat-file -e {unknown}\nls {lender}")
    run = new(t, p + ":overlay", "--yes", name="o")
    t.true(b"which the box sees only if --dir names them" in run.err, run)


# Hidden ----------------------------------------------------------------------------------------


@case("nothing next to the project, no home directory, no state, no other box")
def _(t):
    p = project(t)
    for path in (t.home + "/secret", t.work + "/beside"):
        write(t, path, "x")
    state = t.env["CORDON_HOME"]
    for mode in ("copy", "overlay", "rw"):
        new(t, f"{p}:{mode}", name=mode)
        refused(t, f"""
            cat {t.home}/secret
            cat {t.work}/beside
            ls {state}
            ls {state}/sandboxes
            cat {state}/sandboxes/{mode}/meta.json
            cat {state}/sandboxes/copy/meta.json
            cat /etc/shadow
            touch /usr/made
            touch /etc/made
            touch /home/made""", name=mode)
        t.same(inside(t, f"ls -A {t.work}; touch {t.work}/made; mkdir ../dir; cp keep ../copied; echo x > {t.home}/x", name=mode), "p\n")
        t.same(os.listdir(t.home), ["secret"])
        t.same(sorted(os.listdir(t.work)), ["beside", "p"], "its /tmp is the host's")
    os.remove(t.home + "/secret")


@case("the state directory is covered if it is in a directory that the box may change")
def _(t):
    p = project(t)
    t.env["CORDON_HOME"] = state = p + "/deep/state"
    write(t, p + "/deep/x", "x")
    new(t, p + ":rw:force", "--yes")
    t.same(inside(t, f"ls -A {state}; ls deep"), "state\nx\n")
    refused(t, f"""
        touch {state}/made
        mkdir {state}/sandboxes
        mv deep deep2
        rm -r deep
        mv {state} {p}/elsewhere
        cat {state}/sandboxes/b/meta.json""")
    t.true(os.path.exists(state + "/sandboxes/b/meta.json"), "the box is damaged")


@case("a copy of a directory that contains the state does not include it")
def _(t):
    p = project(t)
    t.env["CORDON_HOME"] = state = p + "/state"
    new(t, p + ":force", "--yes", "--include-ignored")
    base = f"{state}/sandboxes/b/base"
    t.same(sorted(os.listdir(f"{base}/{os.listdir(base)[0]}")), [".git", ".gitignore", "ignored", "keep", "run.sh"])
    t.same(inside(t, "ls -A state 2>/dev/null; echo; echo x > state; cat state").split(), ["x"])


@case("the state under another name, through a bind mount of the host")
def _(t):
    p = project(t)
    write(t, t.top + "/tree/state/x", "")
    t.env["CORDON_HOME"] = t.top + "/tree/state"
    other = t.directory("other")
    new(t, p, "--dir", other)
    t.same(inside(t, f"ls -A {other}/state | wc -l", mounts=f"mount --bind {t.top}/tree {other}"), "0\n")


# A project that is trusted later -----------------------------------------------------------------


@case("with ':rw' the repository can be read but not written")
def _(t):
    p = project(t)
    write(t, t.top + "/lib/file", "x")
    git(t, t.top, "init", "-q", t.top + "/lib")
    new(t, p + ":rw", "--dir", t.top + "/lib:rw")
    t.same(inside(t, "git log --format=%s; echo 2 > keep; git status --short"), "first\n M keep\n")
    for repository in (p, t.top + "/lib"):
        refused(t, f"""
            echo x > {repository}/.git/hooks/pre-commit
            echo x >> {repository}/.git/config
            echo x > {repository}/.git/commondir
            echo x > {repository}/.git/info/attributes
            mv {repository}/.git {repository}/.git2
            rm -rf {repository}/.git/hooks {repository}/.git/HEAD
            mv {repository} {repository}2
            git -C {repository} config core.fsmonitor ./evil""")
    t.same(git(t, p, "log", "--format=%s"), "first\n")


@case("a linked work tree does not expose the repository")
def _(t):
    main_repo = project(t, "main")
    tree = t.work + "/tree"
    git(t, main_repo, "worktree", "add", "-q", "-b", "side", tree)
    for mode in ("copy", "overlay", "rw"):
        new(t, f"{tree}:{mode}", name=mode)
        refused(t, f"ls {main_repo}\nls {main_repo}/.git\necho x > {main_repo}/.git/config", name=mode)
    t.same(inside(t, "git log --format=%s; git branch --show-current", name="copy"), "first\nside\n")
    if is_overlay(t, "overlay"):
        t.same(inside(t, "cat .git", name="overlay"), read(tree + "/.git"))
    else:
        t.same(inside(t, "test -d .git && git log --format=%s", name="overlay"), "first\n")
    refused(t, "echo 'gitdir: /elsewhere' > .git\nmv .git .git2", name="rw")


@case("a '.git' that is a link is refused for ':rw'")
def _(t):
    p = project(t)
    os.rename(p + "/.git", t.top + "/real.git")
    os.symlink(t.top + "/real.git", p + "/.git")
    new(t, p + ":rw", "--yes")
    run = t.run([t.child, "b", "--", "true"])
    t.code(run, 99)
    t.true(b"E_FS_VIOLATION" in run.err and b"is a link" in run.err, run)


@case("the layers, home and state cannot be redirected from inside")
def _(t):
    p = project(t)
    new(t, p, agent="claude")
    inside(t, f"rm -rf ~/.claude; ln -s / ~/.claude; ln -s {t.home} link; ln -s /etc/passwd passwd")
    t.same(inside(t, "readlink ~/.claude; ls link 2>&1 | tail -c 10; cat keep").split()[0], "/")
    run = cordon(t, "box", "destroy", "b", "--abandon-unapplied")
    t.true(os.path.exists("/etc/passwd"), run)


# Network ---------------------------------------------------------------------------------------

CONNECT = "perl -MSocket -e 'socket(S,PF_INET,SOCK_STREAM,0); print connect(S,sockaddr_in({},inet_aton(\"127.0.0.1\"))) ? \"yes\" : \"no\"'"


@case("the host's network is reachable only with --network on")
def _(t):
    p = project(t)
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        script = CONNECT.format(s.getsockname()[1])
        for options, want in ((["--network", "none"], "no"), (["--network", "on"], "yes"),
                              (["--allow-host", "example.com"], "no"), ([], "no")):
            new(t, p, *options, "--replace")
            t.same(inside(t, script), want, options)


@case("the box's own loopback works")
def _(t):
    new(t, project(t))
    t.same(inside(t, "perl -MIO::Socket::INET -e '$l = IO::Socket::INET->new(Listen => 1, LocalAddr => \"127.0.0.1\") or die;"
                     "print IO::Socket::INET->new(PeerAddr => \"127.0.0.1\", PeerPort => $l->sockport) ? \"yes\" : \"no\"'"), "yes")


# Without overlayfs -----------------------------------------------------------------------------

RAMFS = 'mkdir -p ../state && mount -t ramfs ramfs ../state && chmod 777 ../state && if [ "$(stat -c %u .)" != 0 ]; then chown "$(stat -c %u .)" ../state; chmod 700 ../state; fi'


@case("without overlayfs a box has a second copy, and reports it")
def _(t):
    for mode in ("copy", "overlay"):
        p = project(t, mode)
        script = (f"{t.cordon} box new b {p}:{mode} --agent test --no-start && {t.child} b -- 'echo new > keep; cat keep run.sh; rm run.sh' &&"
                  f"{t.child} b -- 'cat keep; ls' && {t.cordon} box reset b; echo $?; {t.cordon} box diff b | grep -c '^[-+][^-+]';"
                  f"{t.cordon} box reset b --abandon-unapplied && {t.child} b -- 'cat keep; ls -A'")
        run = t.run(["sh", "-c", script], mounts=RAMFS)
        t.code(run, 0)
        t.true(b"overlayfs cannot be used here, so the box uses a second copy" in run.err, run)
        t.true(b"E_CONFLICT" in run.err and b"'keep', 'run.sh'" in run.err, run)
        ignored = ["ignored"] if mode == "overlay" else []
        t.same(run.out.decode().split("\n"), ["new", "#!/bin/sh", "echo ran", "new", *ignored, "keep", "19", "4", "old", ".git",
                                              ".gitignore", *ignored, "keep", "run.sh", ""])
        t.same(read(p + "/keep"), "old\n")


@case("without overlayfs caches are not shared, except for packages that are shown read-only")
def _(t):
    home_file(t, ".npm/_cacache/x", "npm\n")
    home_file(t, ".cargo/registry/x", "cargo\n")
    p = project(t)
    script = (f"{t.cordon} box new b {p} --agent test --no-start && {t.child} b -- "
              "'cat ~/.cargo/registry/x; echo y 2>/dev/null > ~/.cargo/registry/x; ls ~/.npm/_cacache; echo z > ~/.npm-x; echo done'")
    run = t.run(["sh", "-c", script], mounts=RAMFS)
    t.code(run, 0)
    home = user_home(t)
    t.true(f"caches that are not shared with the box: '{home}/.cargo/registry', '{home}/.npm/_cacache'".encode() in run.err, run)
    t.same(run.out, b"cargo\ndone\n", run)


@case("a project with a mount in it, as an overlay")
def _(t):
    p = project(t)
    os.makedirs(p + "/mnt")
    t.own(p + "/mnt")
    run = t.run(["sh", "-c", f"{t.cordon} box new b {p}:overlay --agent test --no-start --json -y && {t.child} b -- 'cat keep'"],
                mounts=f"mount -t tmpfs none {p}/mnt")
    t.code(run, 0)
    made = json.loads(run.out.decode().split("\n", maxsplit=1)[0])
    t.true(made["layering"] in ("overlay", "second-copy"), run)
    t.true(run.out.endswith(b"old\n"), run)


if __name__ == "__main__":
    sys.exit(main())
