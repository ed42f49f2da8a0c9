# SPDX-License-Identifier: Apache-2.0
"""Other agents on the same terminal, as far as they are available."""
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import time

from chat_terminal import Ended, Terminal

STARTS = 5
KEY = "sk-none-at-all-0123456789abcdefghij"
BENCH = pathlib.Path(__file__).resolve().parent


def find():
    found = subprocess.run([BENCH / "agent_install"], stdout=subprocess.PIPE, check=False).stdout.decode()
    return dict(line.split(" ", 1) for line in found.splitlines())


def environment(home, **more):
    return {"PATH": os.environ["PATH"], "HOME": str(home), "OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1", **more}


def welcome(name, path, work):
    """Time until the welcome screen of a new user, and memory then."""
    times, memory = [], []
    for number in range(STARTS):
        home = work / f"{name}{number}"
        home.mkdir()
        try:
            with Terminal([path], environment(home), work / "project") as peer:
                times.append(peer.until(rb"Welcome ?to", limit_s=20) - peer.begun)
                memory.append(peer.memory_mb())
        except Ended as e:
            print(f"  {name}: skipped: it shows nothing: {e}")
            return
    print(f"  {name}: the welcome after {statistics.median(times) * 1000:.0f} ms, {statistics.median(memory):.0f} MB resident then")


@contextlib.contextmanager
def scripted(cordon, work, turn):
    script = work / "peer.json"
    script.write_text(json.dumps({"version": 1, "turns": [{**turn, "repeat": True}]}))
    with subprocess.Popen([cordon, "serve-script", script, "--json"], stdout=subprocess.PIPE) as server:
        try:
            yield json.loads(server.stdout.readline())["url"]
        finally:
            server.terminate()


def claude_stream(cordon, path, work, turn):
    """The same text, from `serve-script`, on claude-code's screen: bytes, CPU seconds, seconds."""
    home, project = work / "claude-stream", work / "project"
    home.mkdir()
    trusted = {str(project): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}}
    (home / ".claude.json").write_text(json.dumps({
        "hasCompletedOnboarding": True, "theme": "dark", "projects": trusted,
        "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []}}))
    with scripted(cordon, work, turn) as url, Terminal([path], environment(home, ANTHROPIC_BASE_URL=url), project) as peer:
        peer.quiet(2.5)
        begun, cpu = len(peer.seen), peer.cpu_s()
        peer.send(b"go")
        peer.quiet()
        peer.send(b"\r")
        at = time.perf_counter()
        taken = peer.until(rb"That ?is ?all\.", begun, 60) - at
        peer.quiet(1)
        return len(peer.seen) - begun, peer.cpu_s() - cpu, taken
