#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Namespaces refused as by Docker: the weaker mode, chosen explicitly, and the output of `doctor`.

`child without docker` sets a filter like that of Docker's profile, and leaves root Docker's capabilities: no engine is
needed. If crun is installed, the same is tried in real containers. harness.py has the rest.
"""
import json
import os
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import Skipped, case, children, main  # noqa: E402 pylint: disable=wrong-import-position

WEAKER = ["--sandbox", "landlock", "--ack-unsafe-sandbox"]
PIPES = ["--pipes"]


def docker(t):
    return [t.child, "without", "docker"]


def inside(t, *argv, **more):
    """A run with Docker's default restrictions."""
    return t.run([*docker(t), *argv], **more)


def weak(t, *command, policy=None, options=(), **more):
    options = [*PIPES, *WEAKER, *options]
    return t.run([*docker(t), *t.command(*command, policy=policy, options=options)], **more)


def settings(t, text):
    os.makedirs(t.top + "/config/cordon", exist_ok=True)
    path = t.top + "/config/cordon/config.yaml"
    with open(path, "w", encoding="ascii") as f:
        f.write(text)
    t.env["XDG_CONFIG_HOME"] = t.top + "/config"


def own_tmp(t):
    """A separate directory for temporary files, so that leftovers can be seen."""
    t.env["TMPDIR"] = t.directory("tmp")
    return t.env["TMPDIR"]


# The mode -------------------------------------------------------------------------------------------

@case("the control: no call makes a namespace, and clone3 fails with ENOSYS")
def _(t):
    t.same(inside(t, t.child, "namespace").out, b"unshare 0 EPERM\n")
    t.same(inside(t, "/usr/bin/grep", "-c", "Seccomp:\t2", "/proc/self/status").out, b"1\n")
    if t.uid is None:
        t.same(inside(t, "/usr/bin/grep", "CapEff", "/proc/self/status").out, b"CapEff:\t00000000a80425fb\n")


@case("nothing is weaker unless requested: exit 3 with the cause, the remedy and the mode that works; nothing ran")
def _(t):
    mark = t.work + "/mark"
    t.env["container"] = "docker"
    run = inside(t, *t.command(t.child, "mark", mark, policy=t.policy(write=[t.work]), options=["--json"]))
    t.denied(run, "E_SANDBOX_UNAVAILABLE", 3)
    context = run.error["context"]
    t.true("a seccomp filter on this process blocks namespaces" in context["found"], run)
    t.true("this is a container: docker" in context["found"], run)
    for flag in ("seccomp=unconfined", "apparmor=unconfined", "systempaths=unconfined"):
        t.true("--security-opt " + flag in context["remedy"], run)
    t.true("--sandbox landlock --ack-unsafe-sandbox" in context["weaker"], run)
    t.true(not os.path.exists(mark), "it ran")


@case("the mode needs its acknowledgement, and the message names the flag")
def _(t):
    for command in (["exec", "--sandbox", "landlock"], ["driver", "--sandbox", "landlock"]):
        run = inside(t, t.cordon, *command, "--", "/bin/true")
        t.code(run, 2)
        t.true(b"add --ack-unsafe-sandbox" in run.err and b"sandbox_unsafe_ack" not in run.err, run)
    run = inside(t, t.cordon, "tool", "shell", "--sandbox", "landlock", "--json", '{"command": "true"}')
    t.same(json.loads(run.out)["code"], "E_POLICY_DENIED", run)
    t.true("--ack-unsafe-sandbox" in json.loads(run.out)["message"], run)
    run = t.run([t.cordon, "exec", "--sandbox", "landlock", "--no-sandbox", "--", "/bin/true"])
    t.code(run, 12)


@case("without a sandbox: both acknowledgements by their flags")
def _(t):
    bare = [t.cordon, "exec", "--no-sandbox"]
    for options, missing in (([], b"add --ack-unsafe-sandbox and --ack-unsafe-network"),
                             (["--ack-unsafe-sandbox"], b"; add --ack-unsafe-network"),
                             (["--ack-unsafe-network"], b"; add --ack-unsafe-sandbox")):
        run = t.run([*bare, *options, "--", "/bin/true"])
        t.code(run, 2)
        t.true(missing in run.err and b"unsafe_ack" not in run.err, run)
    t.code(t.run([t.cordon, "exec", "--sandbox", "none", "--ack-unsafe-sandbox", "--ack-unsafe-network", "--",
                  "/bin/true"]), 0)


@case("exec: allowed actions work, others are refused, and the report lists the gaps")
def _(t):
    secret = t.directory("outside") + "/secret"
    with open(secret, "w", encoding="ascii") as f:
        f.write("secret")
    os.chmod(secret, 0o666)
    execs = [t.child, "/bin/cat", "/bin/sh"]
    policy = t.policy(write=[t.work], execs=execs, shell=True, cwd=t.work)
    run = weak(t, "/bin/cat", t.file("a", "hello"), policy=policy)
    t.same(run.out, b"hello", run)
    t.code(weak(t, t.child, "mark", t.work + "/made", policy=policy), 0)
    t.true(os.path.exists(t.work + "/made"), "a file that may be made")
    for command in (["/bin/cat", secret], ["/bin/sh", "-c", f": >>{secret}"], ["/bin/sh", "-c", f": >{t.top}/new"],
                    ["/bin/sh", "-c", "/usr/bin/id"]):
        control = t.run(command)
        t.code(control, 0 if t.uid is None or command[-1][-3:] != "new" else 2)
        if os.path.exists(t.top + "/new"):
            os.unlink(t.top + "/new")
        t.true(weak(t, *command, policy=policy).code == 6, command)
    t.true(not os.path.exists(t.top + "/new"), "a file outside")
    run = inside(t, *t.command(t.child, "exit", "0", policy=policy, options=["--json", *WEAKER]))
    report = run.result["sandbox_report"]
    t.same(report["mode"], "landlock", run)
    t.true(any("names, owners and modes" in gap for gap in report["gaps"]), run)
    t.true(any("their number is not limited" in gap for gap in report["gaps"]), run)


@case("temporary files: a private directory that can be listed, by TMPDIR and as HOME of presets, removed afterwards")
def _(t):
    tmp = own_tmp(t)
    policy = t.policy(execs=["/bin/sh", "/bin/ls", "/usr/bin/mktemp"], shell=True)
    run = weak(t, "/bin/sh", "-c", "pwd; ls -a; echo $TMPDIR; mktemp", policy=policy)
    t.code(run, 0)
    lines = run.out.decode().split()
    t.same(lines[1:3], [".", ".."], run)
    t.true(lines[0] == lines[3] and lines[0].startswith(tmp + "/cordon-"), run)
    t.true(lines[4].startswith(lines[0] + "/"), run)
    t.same(os.listdir(tmp), [], "left")
    run = weak(t, "/bin/sh", "-c", 'echo "$HOME"; touch "$HOME/x" && echo made',
               options=["--preset", "build", "--root", t.work])
    t.true(run.out.decode().startswith(tmp + "/cordon-") and run.out.endswith(b"\nmade\n"), run)
    t.same(os.listdir(tmp), [], "left")


@case("temporary files: deep, inaccessible and linked ones are also removed, and nothing else")
def _(t):
    tmp, kept = own_tmp(t), t.file("kept", "kept")
    script = f"""
        i=0; while [ $i -lt 300 ]; do mkdir d && cd d || exit 1; i=$((i + 1)); done; : >leaf
        cd "$TMPDIR"; mkdir -p closed/in +1 +2; : >closed/in/f; chmod 0 closed/in closed
        ln -s {t.work} out; ln -s {kept} file; : >"a b"; chmod 0500 d; chmod 0 "$TMPDIR"
    """
    policy = t.policy(read=[t.work], execs=["/bin/sh", "/bin/mkdir", "/bin/ln", "/bin/chmod"], shell=True)
    t.code(weak(t, "/bin/sh", "-c", script, policy=policy), 0)
    t.same(os.listdir(tmp), [], "left")
    with open(kept, encoding="ascii") as f:
        t.same(f.read(), "kept")


@case("temporary files: removed with the processes when the supervisor is killed")
def _(t):
    tmp, lock = own_tmp(t), t.file("lock")
    argv = t.command(t.child, "lock", lock, policy=t.policy(write=[t.work]), options=[*PIPES, *WEAKER])
    process = t.start([*docker(t), *argv])
    t.until_locked(lock)
    t.same(len(os.listdir(tmp)), 1)
    process.send_signal(signal.SIGKILL)
    t.killed = True
    process.wait()
    t.unlocked(lock, 10)
    for pid, _, _ in children():
        os.waitpid(pid, 0)
    t.same(os.listdir(tmp), [], "left")


@case("a directory for temporary files that cannot be made: exit 10 with a remedy")
def _(t):
    t.env["TMPDIR"] = t.top + "/none"
    run = weak(t, t.child, "exit", "0", policy=t.policy())
    t.code(run, 10)
    t.true(b"set TMPDIR" in run.err, run)


@case("driver, run, tools on pipes and terminals, and an agent's shell")
def _(t):
    own_tmp(t)
    t.env["CORDON_HOME"] = t.directory("state")
    line = {"protocol_version": 1, "action": {"type": "wait", "payload": {"condition": {
        "type": "process_exited", "payload": {}}}}}
    run = inside(t, t.cordon, "driver", *WEAKER, "--", "/bin/echo", "hi", data=json.dumps(line).encode() + b"\n")
    t.code(run, 0)
    last = json.loads(run.out.split(b"\n")[-2])
    t.same((last["status"], last["sandbox_report"]["mode"]), ("passed", "landlock"), run)
    scenario = t.file("s.json", json.dumps({
        "scenario_version": 1, "run": {"command": "/bin/echo", "args": ["hi"]},
        "steps": [{"id": "end", "action": line["action"], "assert": [{"type": "screen_contains", "payload": {"text": "hi"}}]}]}))
    t.code(inside(t, t.cordon, "run", "--scenario", scenario, *WEAKER), 0)
    secret = t.policy()
    for tool, key in (("shell", "command"), ("exec_command", "cmd")):
        arguments = {key: f"echo here >made; cat made; cat {secret}; echo $?"}
        run = inside(t, t.cordon, "tool", tool, *WEAKER, "--json", json.dumps(arguments))
        content = json.loads(run.out)["content"]
        t.true("here" in content and "Permission denied" in content and "1" in content, run)
    turns = [{"content": [{"tool_call": {"name": "shell", "arguments": {"command": "echo by the agent >agent"}}}]},
             {"content": [{"text": "done"}]}]
    script = t.file("script.json", json.dumps({"version": 1, "turns": turns}))
    run = inside(t, t.cordon, "agent", "-p", "go", "--provider", "scripted", "--script", script, *WEAKER)
    t.code(run, 0)
    with open(t.work + "/agent", encoding="ascii") as f:
        t.same(f.read(), "by the agent\n")


@case("git works with any system settings", "root")
def _(t):
    own_tmp(t)
    command = "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one && git log --format=%s"
    run = inside(t, t.cordon, "tool", "shell", *WEAKER, "--json", json.dumps({"command": command}),
                 mounts="mount -t tmpfs none /mnt; cp -a /etc /mnt/etc; : >/mnt/etc/gitconfig; mount --bind /mnt/etc /etc")
    t.same(json.loads(run.out)["content"].strip(), "one", run)


@case("a filter that forbids closing descriptors: exit 3, nothing ran, in both modes")
def _(t):
    own_tmp(t)
    for options in ([], WEAKER):
        argv = t.command(t.child, "mark", t.work + "/mark", policy=t.policy(write=[t.work]), options=["--json", *options])
        run = t.run([t.child, "without", "close-range", *argv])
        t.denied(run, "E_SANDBOX_UNAVAILABLE", 3)
        t.true("close_range" in run.error["message"], run)
    t.true(not os.path.exists(t.work + "/mark"), "it ran")


# Settings -------------------------------------------------------------------------------------------

@case("settings: sandbox.mode landlock with its acknowledgement; reported each time; a flag takes precedence")
def _(t):
    own_tmp(t)
    policy = t.policy(execs=["/bin/echo"])
    argv = t.command("/bin/echo", "hi", policy=policy, options=PIPES)
    t.code(inside(t, *argv), 3)
    settings(t, "sandbox: {mode: landlock, unsafe_ack: true}\n")
    run = inside(t, *argv)
    t.code(run, 0)
    t.same((run.out, b"weaker sandbox because of your settings" in run.err), (b"hi\n", True), run)
    run = inside(t, t.cordon, "tool", "shell", "--json", '{"command": "echo hi"}')
    t.same((json.loads(run.out)["content"], b"weaker sandbox because of your settings" in run.err), ("hi\n", True), run)
    t.code(inside(t, *t.command("/bin/echo", policy=policy, options=["--sandbox", "native"])), 3)
    bare = t.policy(execs=["/bin/echo"], sandbox="none")
    t.code(inside(t, *t.command("/bin/echo", policy=bare)), 2)
    t.code(inside(t, *t.command("/bin/echo", policy=bare, options=["--json"])), 2)


@case("settings: the mode without its acknowledgement is an error, and 'none' is not a mode")
def _(t):
    for text, part in (("sandbox: {mode: landlock}\n", b"unsafe_ack: true"),
                       ("sandbox: {mode: none, unsafe_ack: true}\n", b"'native', 'landlock'")):
        settings(t, text)
        run = inside(t, *t.command("/bin/echo"))
        t.code(run, 17)
        t.true(part in run.err, run)


# Boxes ----------------------------------------------------------------------------------------------

@case("boxes need the full sandbox: exit 3 with the options of the engine, and nothing is left")
def _(t):
    t.env["CORDON_HOME"] = t.directory("state")
    for env, flags in (({"container": "docker"}, "docker run --security-opt seccomp=unconfined"),
                       ({"container": "podman"}, "podman run --security-opt seccomp=unconfined"),
                       ({"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, "seccompProfile: {type: Unconfined}"),
                       ({"container": "lxc"}, "security.nesting true")):
        run = inside(t, t.cordon, "box", "new", "b", t.work, "--agent", "test", "--no-start", "--json",
                     env={**t.env, **env})
        t.denied(run, "E_SANDBOX_UNAVAILABLE", 3)
        t.true(flags in run.error["context"]["remedy"], run)
        t.true("not boxes" in run.error["context"]["weaker"], run)
        t.same(json.loads(t.run([t.cordon, "box", "list", "--json"]).out)["boxes"], [])


# doctor ---------------------------------------------------------------------------------------------

def doctor(t, *options, prefix=(), code=3, **more):
    run = t.run([*prefix, t.cordon, "doctor", "--json", *options], **more)
    t.code(run, code)
    found = {f["name"]: f for f in run.result["sandbox"]["findings"]}
    checks = {c["name"]: c for c in run.result["checks"]}
    for f in found.values():
        t.true(f["detail"] and (f["remedy"] or not f["blocks"]), run)
    return run, found, checks


@case("doctor: a filter, the container, root without capabilities; the weaker mode is tried")
def _(t):
    own_tmp(t)
    t.env["container"] = "podman"
    run, found, checks = doctor(t, prefix=docker(t))
    t.true(found["seccomp-filter"]["blocks"] and "unmask=ALL" in found["seccomp-filter"]["remedy"], run)
    t.same(run.result["sandbox"]["container"], "podman", run)
    t.same("no-sys-admin" in found, t.uid is None, run)
    t.same((checks["sandbox"]["status"], checks["weaker mode"]["status"]), ("missing", "ok"), run)
    text = t.run([*docker(t), t.cordon, "doctor"])
    t.true(b"in a container: podman" in text.out and text.out.count(b"unmask=ALL") == 1, text)


@case("doctor: covered /proc, disabled namespaces, no Landlock, a sandbox of cordon")
def _(t):
    _, found, _ = doctor(t, mounts="mount --bind /dev/null /proc/timer_list")
    t.true(found["proc-covered"]["blocks"], found)
    settings_of = "mount -t tmpfs none /mnt; mkdir /mnt/u; cp -a /proc/sys/user/. /mnt/u 2>/dev/null || :; " \
                  "echo 0 >/mnt/u/max_user_namespaces; mount --bind /mnt/u /proc/sys/user"
    _, found, _ = doctor(t, prefix=[t.child, "without", "user-namespace"], mounts=settings_of)
    t.true(found["userns-none"]["blocks"] and "sysctl" in found["userns-none"]["remedy"], found)
    _, found, checks = doctor(t, prefix=[t.child, "without", "landlock"])
    t.true(found["landlock-refused"]["blocks"], found)
    t.same(checks["weaker mode"]["status"], "missing")
    wide = t.policy(execs=[t.cordon], limits={"memory_bytes": 1 << 62})  # sanitizers reserve that much
    run = t.exec(t.cordon, "doctor", "--json", policy=wide, options=PIPES, expect=6)
    t.true(run.result["sandbox"]["findings"][0]["name"] == "nested", run)


@case("doctor --fix: nothing to fix if nothing is wrong, and nothing of a container from inside", "root")
def _(t):
    run = t.run([t.cordon, "doctor", "--fix"])
    t.true(b"nothing to fix\n" in run.err, run)
    run = t.run([*docker(t), t.cordon, "doctor", "--fix"])
    t.code(run, 3)
    t.true(b"nothing to fix with this command" in run.err, run)
    t.code(t.run([t.cordon, "doctor", "--yes"]), 12)


PARSER = """#!/bin/sh
if [ "$1" = -QTK ]; then
  echo "$2" >>/mnt/checked
  [ ! -e /mnt/unreadable ] && grep -q userns "$2"
  exit
fi
echo "$@" >>/mnt/called
[ ! -e /mnt/unloadable ] || exit 1
[ ! -e /etc/apparmor.d/disable/cordon ] || exit 0
ls /etc/apparmor.d | grep -v '\\.dpkg-[a-z]*$' >>/mnt/checked # what would be read when the machine starts
[ "$1" = -r ] && mkdir -p /mnt/security/apparmor && echo 'cordon (unconfined)' >/mnt/security/apparmor/profiles
"""


@case("doctor --fix: the profile for Ubuntu's restriction is shown, confirmed, installed and loaded once", "root")
def _(t):
    t.file("parser", PARSER, 0o755)
    here = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    with open(here + "/packaging/apparmor/cordon", encoding="ascii") as f:
        profile = f.read()
    mounts = """
        mount -t tmpfs -o mode=755 none /mnt; mkdir /mnt/kernel /mnt/bin /mnt/apparmor.d /mnt/security
        cp -a /proc/sys/kernel/. /mnt/kernel 2>/dev/null || :
        echo 1 >/mnt/kernel/apparmor_restrict_unprivileged_userns; mount --bind /mnt/kernel /proc/sys/kernel
        cp -a /usr/sbin/. /mnt/bin; cp parser /mnt/bin/apparmor_parser; mount --bind /mnt/bin /usr/sbin
        mkdir -p /etc/apparmor.d; mount --bind /mnt/apparmor.d /etc/apparmor.d
        mount --bind /mnt/security /sys/kernel/security
        mkdir -p /mnt/place; mount --bind /mnt/place /usr/local/bin; cp "$2" /usr/local/bin/cordon
    """
    script = """
        shift; set +e; cd /; C=/usr/local/bin/cordon
        $C doctor --fix </dev/null; echo "asked: $?"; ls /etc/apparmor.d
        $C doctor --fix --yes --json | grep -c '"fixed":true'
        cat /etc/apparmor.d/cordon; cat /mnt/called
        $C doctor --fix --yes --json | grep -c '"fixed":false'; wc -l </mnt/called
        echo other >/etc/apparmor.d/cordon; $C doctor --fix --yes >/dev/null; wc -l </mnt/called; ls /etc/apparmor.d
        mkdir -p /mnt/opt; cp $C /mnt/opt/cordon; /mnt/opt/cordon doctor --fix --yes >/dev/null; grep -o '/mnt/.*' /etc/apparmor.d/cordon
        chmod 777 /mnt/opt; /mnt/opt/cordon doctor --fix --yes; echo "unsafe: $?"
        chmod 755 /mnt/opt; setpriv --reuid 65534 --clear-groups $C doctor --fix; echo "user: $?"
        for old in mine none; do for why in unreadable unloadable; do
          rm -f /etc/apparmor.d/*; [ $old = none ] || echo mine >/etc/apparmor.d/cordon
          touch /mnt/$why; $C doctor --fix --yes >/dev/null; echo "$old $why: $?"; rm /mnt/$why
          (cd /etc/apparmor.d && grep . *)
        done; done
        echo mine >/etc/apparmor.d/cordon; mv /usr/sbin/apparmor_parser /mnt/parser; $C doctor --fix --yes >/dev/null
        echo "no parser: $? $(cat /etc/apparmor.d/*)"; mv /mnt/parser /usr/sbin/apparmor_parser
        rm /mnt/security/apparmor/profiles; mkdir /etc/apparmor.d/disable; touch /etc/apparmor.d/disable/cordon
        $C doctor --fix --yes >/dev/null; echo "disabled: $?" $(ls /etc/apparmor.d) $(cat /etc/apparmor.d/cordon); rm -r /etc/apparmor.d/disable
        touch /etc/apparmor.d/cordon.cordon.dpkg-new /etc/apparmor.d/cordon.cordon.dpkg-old # left by one that was killed
        $C doctor --fix --yes >/dev/null; (cd /etc/apparmor.d && echo "again: $?" *); sort -u /mnt/checked
    """
    run = t.run(["sh", t.cordon], mounts=mounts + script + "\nexit 0")
    out = run.out.decode()
    t.true(out.startswith("asked: 20\n1\n"), run)
    t.true(f"1\n{profile}-r /etc/apparmor.d/cordon\n1\n1\n2\ncordon\n/mnt/opt/cordon\n" in out, run)
    t.true("unsafe: 2\n" in out and "user: 3\n" in out, run)
    failed = "mine unreadable: 10\nmine\nmine unloadable: 10\nmine\nnone unreadable: 10\nnone unloadable: 10\nno parser: 10 mine\n"
    t.true(failed in out, run)
    t.true("disabled: 10 cordon disable mine\n" in out and b"rm /etc/apparmor.d/disable/cordon" in run.err, run)
    t.true(out.endswith("again: 0 cordon\n/etc/apparmor.d/cordon.cordon.dpkg-new\ncordon\n"), run)
    for words in (b"This writes /etc/apparmor.d/cordon:", b"    profile cordon @{cordon} flags=(unconfined) {",
                  b"sudo /usr/local/bin/cordon doctor --fix", b"can be changed by users other than root", b"use --yes"):
        t.true(words in run.err, f"{words}\n{run}")


@case("the AppArmor profile is accepted by the parser", "root")
def _(t):
    parser = shutil.which("apparmor_parser", path="/usr/sbin:/sbin")
    here = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    with open(here + "/packaging/apparmor/cordon", encoding="ascii") as f:
        profile = f.read()
    if not parser:
        raise Skipped("no apparmor_parser here")
    version = t.run([parser, "--version"]).out.decode().split("version ")[1]
    if int(version.split(".")[0]) < 4:  # it knows everything except the rule itself
        profile = profile.replace("  userns,\n", "")
    t.code(t.run([parser, "-Q", "-K", t.file("profile", profile)]), 0)
    t.code(t.run([parser, "-Q", "-K", t.file("wrong", profile.replace("profile cordon", "profil cordon"))]), 1)


# Containers -----------------------------------------------------------------------------------------

CAPABILITIES = ["CHOWN", "DAC_OVERRIDE", "FSETID", "FOWNER", "MKNOD", "NET_RAW", "SETGID", "SETUID", "SETFCAP",
                "SETPCAP", "NET_BIND_SERVICE", "SYS_CHROOT", "KILL", "AUDIT_WRITE"]
NAMESPACES = (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000)


def refused():
    """A filter with the calls that Docker refuses and cordon needs."""
    calls = ["unshare", "setns", "mount", "umount2", "pivot_root", "sethostname", "open_tree", "move_mount", "fsopen",
             "fsconfig", "fsmount", "mount_setattr"]
    rules = [{"names": calls, "action": "SCMP_ACT_ERRNO", "errnoRet": 1},
             {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": 38}]
    rules += [{"names": ["clone"], "action": "SCMP_ACT_ERRNO", "errnoRet": 1,
               "args": [{"index": 0, "value": bit, "valueTwo": bit, "op": "SCMP_CMP_MASKED_EQ"}]} for bit in NAMESPACES]
    return {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": rules}


def bundle(t, script, open_flags):
    """A container of this system's programs with its own root; open: as with the options that `doctor` prints."""
    if os.getuid() != 0 or not shutil.which("crun"):
        raise Skipped("no crun here")
    top = t.directory("bundle")
    for name in ("usr", "etc", "proc", "sys", "dev", "tmp", "work", "bin-of-test"):
        os.makedirs(f"{top}/rootfs/{name}")
    os.chmod(top + "/rootfs/tmp", 0o1777)
    for name in ("bin", "sbin", "lib", "lib64"):
        os.symlink("usr/" + name, f"{top}/rootfs/{name}")
    subprocess.run(["crun", "spec"], cwd=top, check=True)
    with open(top + "/config.json", encoding="utf-8") as f:
        config = json.load(f)
    caps = ["CAP_" + name for name in CAPABILITIES]
    config["process"].update(terminal=False, args=["sh", "-c", script], cwd="/work", noNewPrivileges=False, env=[
        "PATH=/usr/bin:/bin", "HOME=/work", "CORDON_HOME=/work/state", "container=docker"],
                             capabilities={key: caps for key in ("bounding", "effective", "permitted")})
    config["root"] = {"path": "rootfs", "readonly": False}
    config["mounts"] = [m for m in config["mounts"] if m["destination"] != "/sys/fs/cgroup"] + [
        {"destination": to, "source": source, "type": "bind", "options": ["rbind", "ro"]}
        for to, source in (("/usr", "/usr"), ("/etc", "/etc"), ("/bin-of-test", os.path.dirname(t.cordon)))]
    config["linux"].pop("resources", None)
    if open_flags:
        config["linux"].update(maskedPaths=[], readonlyPaths=[])
    else:
        config["linux"]["seccomp"] = refused()
    with open(top + "/config.json", "w", encoding="utf-8") as f:
        json.dump(config, f)
    return top


def contained(t, script, open_flags=False):
    top = bundle(t, script, open_flags)
    # crun supports only one version of cgroups.
    mounts = "umount -R /sys/fs/cgroup 2>/dev/null || :; mount -t cgroup2 none /sys/fs/cgroup"
    run = t.run(["crun", "--root", top + "/state", "--cgroup-manager=disabled", "run", "-b", top,
                 f"cordon-test-{os.getpid()}"], mounts=mounts)
    shutil.rmtree(top)
    return run


@case("crun: Docker's refusals and capabilities: native is refused with its options, landlock works", "root")
def _(t):
    run = contained(t, """
        C=/bin-of-test/cordon; $C exec -- true; echo $?; mkdir p; cd p
        $C box new b . --agent test --no-start; echo $?; $C tool shell --sandbox landlock --ack-unsafe-sandbox --arg command='echo hi >f; cat f; ls /work/x'
        ls /tmp""")
    t.code(run, 0)
    t.same(run.out.split(b"\n")[:3], [b"3", b"3", b"hi"], run)
    t.same(run.err.count(b"--security-opt systempaths=unconfined"), 2, run)


@case("crun: with the printed options everything works, boxes included", "root")
def _(t):
    run = contained(t, """
        set -e; C=/bin-of-test/cordon; mkdir p; cd p; $C exec -- echo full; echo hi >f
        $C box new b . --agent test --no-start 2>/dev/null; $C box exec b cat f; $C box destroy b --yes
        $C doctor | head -2""", open_flags=True)
    t.code(run, 0)
    t.same(run.out.split(b"\n")[:2], [b"full", b"hi"], run)
    t.true(b"a complete sandbox can be built" in run.out, run)


if __name__ == "__main__":
    sys.exit(main())
