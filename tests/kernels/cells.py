#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the program on this machine, in one situation: cells.py --situation NAME --who root|user [--attacks WORDS]

Started in a machine of script/kernels, by root or by the user itself (in a session, since processes that a systemd command leaves
running end with it); prints one line of JSON for each column: its verdict, and a detail.
    ok       as expected; includes the gaps that the program itself reported
    exit 3   refused, with the program's reason
    n/a      nothing to try here
    FAILED   anything else
"""
import argparse
import json
import os
import shutil
import subprocess
import tempfile

CORDON = os.path.abspath("build/cordon")
TIMEOUT_S = 300
ATTACKS_TIMEOUT_S = 3000
USER = 1000
NOTED = 250  # characters of an error output


class Refused(Exception):
    """Exit 3, with its reason."""


class Failed(Exception):
    pass


class Machine:
    def __init__(self, who):
        self.prefix = [] if who == "root" or os.getuid() else [os.path.abspath("tests/kernels/user")]
        self.uid = 0 if who == "root" else USER
        self.place = tempfile.mkdtemp(prefix="cells-", dir="/var/tmp")
        self.home = self.directory("home")
        os.chown(self.place, self.uid, self.uid)

    def directory(self, name, **files):
        path = os.path.join(self.place, name)
        os.mkdir(path)
        for file, text in files.items():
            with open(os.path.join(path, file), "w", encoding="ascii") as f:
                f.write(text)
        for each in [path, *(os.path.join(path, file) for file in files)]:
            os.chown(each, self.uid, self.uid)
        return path

    def run(self, *command, cwd=None):
        env = ["env", f"HOME={self.home}", f"CORDON_HOME={self.home}/.cordon"]
        return subprocess.run([*self.prefix, *env, *command], cwd=cwd or self.place, text=True, errors="replace",
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S, check=False)

    def cordon(self, *words, cwd=None):
        done = self.run(CORDON, *words, cwd=cwd)
        if done.returncode == 3:
            raise Refused(reason(done.stderr) or reason(done.stdout))
        if done.returncode != 0:
            raise Failed(f"{' '.join(words)}: exit {done.returncode}: {(done.stderr or done.stdout).strip()}")
        return done.stdout


def reason(text):
    """The message of an error, without its prefix and code."""
    line = (text.strip().splitlines() or [""])[0]
    line = line.removeprefix("cordon: ").rsplit(" [E_", 1)[0]
    return line.split("nothing was run: ", 1)[-1]


def same(got, wanted):
    if got != wanted:
        raise Failed(f"got {got!r} instead of {wanted!r}")


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


# Columns: each returns the gaps that the program reported ---------------------------------------


def doctor(m, _):
    done = m.run(CORDON, "doctor", "--json")
    try:
        checks = json.loads(done.stdout)["checks"]
    except ValueError as e:
        raise Failed(done.stderr.strip()) from e
    missing = [c for c in checks if c["status"] != "ok"]
    for check in missing:
        if check["name"] == "sandbox":
            raise Refused(check["detail"].split("nothing was run: ", 1)[-1])
    return [f"{c['name']}: {c['detail']}" for c in missing]


def execute(m, _):
    work = m.directory("exec", seen="hello\n")
    result = json.loads(m.cordon("exec", "--json", "--", "/bin/cat", "seen", cwd=work))
    same(result["final_observation"]["transcript_delta"].split(), ["hello"])
    same(m.run(CORDON, "exec", "--", "/bin/cat", "/etc/hostname", cwd=work).returncode != 0, True)
    return result["sandbox_report"]["gaps"]


def scenario(m, _):
    work = m.directory("run")
    shutil.copy("docs/examples/scenarios/hello-bash.scenario.yaml", work)
    m.cordon("run", "hello-bash.scenario.yaml", cwd=work)
    return []


def suite(m, name, words=()):
    """Runs a suite of the sandbox; returns the number of its rows, and what the controls lack on this kernel."""
    command = ["python3", f"tests/sandbox/{name}.py", "--cordon", CORDON, "--probe", "build/tests/sandbox_probe"]
    if m.uid:
        command += ["--user", "12345", "--base", "/var/tmp"]
    done = subprocess.run([*command, *words], text=True, errors="replace", stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=ATTACKS_TIMEOUT_S, check=False)
    bad = [line for line in done.stdout.splitlines() if line.startswith("not ok ")]
    if bad or done.returncode:
        raise Failed(f"{len(bad)} rows: " + "; ".join(bad[:12]) + done.stderr[-300:])
    rows = [line for line in done.stdout.splitlines() if line.startswith("ok ")]
    return [f"{len(rows)} rows"] + [line.split("# SKIP ", 1)[1] for line in rows if "# SKIP" in line]


def attacks(m, words):
    """Escapes: all of them, or the rows whose names contain one of the words."""
    return suite(m, "attack", words)


def properties(m, _):
    return suite(m, "property")


def box(mode, *options):
    def column(m, _):
        name = mode + ("-limits" if options else "")
        work = m.directory("box-" + name, greeting="hello\n", notes="draft\n")
        m.cordon("box", "new", name, f"{work}:{mode}", "--agent", "test", "--yes", *options, "--prompt",
                 "echo bonjour > greeting; rm notes")
        m.cordon("box", "log", name, "--follow")
        shown = json.loads(m.cordon("box", "show", name, "--json"))
        same((shown["state"]["status"], shown["state"]["exit_code"]), ("done", 0))
        if mode != "rw":
            same(read(work + "/greeting"), "hello\n")
            same("+bonjour" in m.cordon("box", "diff", name).splitlines(), True)
            m.cordon("box", "apply", name, "--yes")
        same((read(work + "/greeting"), os.listdir(work)), ("bonjour\n", ["greeting"]))
        m.cordon("box", "destroy", name, "--yes")
        gaps = [] if shown["layering"] in ("overlay", "none") else ["layers: " + shown["layering"]]
        return gaps + [str(g) for g in shown["state"]["gaps"]]
    return column


def tools(m, _):
    work = m.directory("tools", seen="hello\n")
    same(m.cordon("tool", "read_file", "--arg", "path=seen", cwd=work).split(), ["hello"])
    m.cordon("tool", "edit_file", "--arg", "path=seen", "--arg", "old_string=hello", "--arg", "new_string=bonjour", cwd=work)
    same(m.cordon("tool", "shell", "--arg", "command=cat seen", cwd=work).split()[0], "bonjour")
    same(m.run(CORDON, "tool", "shell", "--arg", "command=cat /etc/shadow", cwd=work).returncode != 0, True)
    return []


def demo(m, _):
    done = m.run(os.path.abspath("script/demo"))
    if "(exit 3)" in done.stdout:
        raise Refused("some of its steps")
    if done.returncode != 0:
        raise Failed(f"exit {done.returncode}: {(done.stdout + done.stderr)[-NOTED:]}")
    return []


# Features: what the program reports to have used on this kernel --------------------------------------

def report(m, name, **policy):
    """The report of a command under its own policy, with the necessary acknowledgements."""
    policy = {"policy_version": 4, "exec": {"allowed_executables": ["/bin/true"]}, "limits_inexact_ack": True, **policy}
    work = m.directory("features-" + name, policy=json.dumps(policy))
    return json.loads(m.cordon("exec", "--json", "--policy", "policy", "--ack-inexact-limits", "--", "/bin/true", cwd=work))["sandbox_report"]


def features(m):
    """The features of a situation, as names and values."""
    checks = {c["name"]: c["detail"] for c in json.loads(m.cordon("doctor", "--json"))["checks"]}
    plain = report(m, "plain")
    memory = report(m, "memory", limits={"memory_bytes": 1 << 28})["limits"]
    reach = report(m, "reach", network="enabled", network_unsafe_ack=True, allow_unix_sockets=True, unix_sockets_unsafe_ack=True)
    return {
        "Landlock": checks["landlock"].split(" of the kernel")[0],
        "number of processes": plain["processes"].split("; ", 1)[-1],
        "memory of all processes together": "`memory.max` of a cgroup" if "memory.max" in memory else "of each process only",
        "SysV IPC": checks["IPC limits"],
        "abstract sockets of the host, if a policy allows the network and Unix sockets":
            "open: a named gap" if any("abstract" in gap for gap in reach["gaps"]) else "closed by Landlock",
    }


COLUMNS = {"doctor": doctor, "exec": execute, "run": scenario, "copy": box("copy"), "overlay": box("overlay"),
           "rw": box("rw"), "limits": box("copy", "--memory", "256M", "--processes", "50"), "tools": tools,
           "demo": demo, "attacks": attacks, "property": properties}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--situation", required=True)
    parser.add_argument("--who", required=True)
    parser.add_argument("--attacks", help="words, or 'all', or 'none'", default="none")
    options = parser.parse_args()
    m = Machine(options.who)
    words = [] if options.attacks == "all" else options.attacks.split(",")
    works = False
    for name, column in COLUMNS.items():
        cell = {"situation": options.situation, "who": options.who, "column": name, "gaps": [], "detail": ""}
        try:
            if name in ("attacks", "property") and (options.attacks == "none" or not works):
                cell["verdict"] = "n/a"
            else:
                cell["gaps"] = column(m, words)
                cell["verdict"] = "ok"
                works = works or name == "exec"
        except Refused as e:
            cell.update(verdict="exit 3", detail=str(e))
        except (Failed, OSError, ValueError, KeyError, IndexError, TypeError, subprocess.SubprocessError) as e:
            cell.update(verdict="FAILED", detail=f"{type(e).__name__}: {e}" if not isinstance(e, Failed) else str(e))
        print(json.dumps(cell), flush=True)
    if works:
        print(json.dumps({"situation": options.situation, "who": options.who, "features": features(m)}), flush=True)
    shutil.rmtree(m.place, ignore_errors=True)


if __name__ == "__main__":
    main()
