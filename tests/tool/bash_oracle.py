#!/usr/bin/env python3
"""What a rule sees of a command line is what bash runs.

Random command lines; whenever ours says that one is plain, bash must run exactly its commands: no command is found
on its PATH, so that a handler of its own writes down every one that it looks for.

    tests/tool/bash_oracle.py --lines build/tests/cmdline_lines [--seconds 20] [--seed 1]
"""
import argparse
import os
import random
import subprocess
import tempfile
import time

HANDLER = '() { printf "%s\\0" "$#" "$@" >>"$LOG"; }'
PLAIN_AT_LEAST = 100  # fewer would prove nothing
COMMANDS = ["ls", "git", "rm", "x"]
WORDS = ["a", "-f", '"q w"', "'z'", "2>&1", ">/dev/null", "12", "</dev/null", "<<EOF", '<<"ls"', "<<-ls", "<<<a", "#c", "''",
         'a"b"c', "env", "1>&2"]
BLANKS = [" ", " ", " ", "  ", "\t", "\r", " \\\n", "\x0b", "\xa0"]
ENDS = [";", " && ", "|", "||", "\n", "\n", "\nEOF\n", "\nls\n", "\n\tls\n", " & "]
SOUP = COMMANDS + WORDS + BLANKS + ENDS + [
    '"', "'", "\\", "\\\n", "#", "$", "$x", "$(", "`", "(", ")", "{", "}", "*", "?", "~", "=", "x=1", "!", "<<", "<<-", "<>", ">|", "&>",
    ">>", "12>", "0<", "<&-", ">&2", "if", "then", "fi", "for", "do", "done", "case", "esac", "in", "[[", "]]", "time", "function",
    "((", "))", "$'a'", '$"a"', "\x01", "\x7f", "\u2003", "\u0085", "é", "\ufeff", ":", "%1"]


def line(rng):
    if rng.random() < 0.5:
        return "".join(rng.choice(SOUP) for _ in range(rng.randint(2, 12)))
    text = ""
    for _ in range(rng.randint(1, 4)):
        words = [rng.choice(COMMANDS)] + [rng.choice(WORDS) for _ in range(rng.randint(0, 3))]
        text += rng.choice(BLANKS).join(words) + rng.choice(ENDS)
    for _ in range(rng.randint(0, 2)):
        at = rng.randint(0, len(text))
        text = text[:at] + rng.choice(SOUP) + text[at + rng.randint(0, 1):]
    return text


class Ours:
    def __init__(self, path):
        self.child = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def commands(self, text):
        self.child.stdin.write(b"%d\n" % len(text) + text)
        self.child.stdin.flush()
        state, *commands = self.child.stdout.readline().decode().rstrip("\n").split(" ")
        return state == "-", [tuple(bytes.fromhex(w[1:]) for w in c.split(",")) for c in commands]


def by_bash(text, log, cwd):
    with open(log, "wb"):
        pass
    env = {"PATH": "/nonexistent", "LOG": log, "BASH_FUNC_command_not_found_handle%%": HANDLER, "LANG": "C.UTF-8"}
    try:
        subprocess.run(["/bin/bash", "-c", text], env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=10)
    except subprocess.TimeoutExpired:
        return None
    with open(log, "rb") as f:
        parts = f.read().split(b"\0")
    found, at = [], 0
    while at < len(parts) and parts[at]:
        n = int(parts[at])
        found.append(tuple(parts[at + 1:at + 1 + n]))
        at += 1 + n
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lines", required=True)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng, ours = random.Random(args.seed), Ours(args.lines)
    plain = bad = 0
    end = time.monotonic() + args.seconds
    print("1..2")
    with tempfile.TemporaryDirectory(prefix="cordon-bash-") as work:
        os.mkdir(work + "/cwd")
        while time.monotonic() < end or plain < PLAIN_AT_LEAST:
            text = line(rng).encode()
            is_plain, commands = ours.commands(text)
            if not is_plain:
                continue
            plain += 1
            # Not every command need run (`a || b`), but each that does must be one of ours. Those that env and others
            # would run are in our list, too: bash does not find env here.
            ran = by_bash(text, work + "/log", work + "/cwd")
            if ran is None or any(c not in commands for c in ran):
                bad += 1
                print(f"# {text!r}: bash runs {ran}, we see {commands}")
    ours.child.stdin.close()
    ours.child.wait()
    print(f"{'not ' if bad else ''}ok 1 - {plain} plain lines: bash runs nothing that a rule does not see")
    print(f"{'not ' if plain < PLAIN_AT_LEAST else ''}ok 2 - enough of them were plain")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
