#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Our client against `cordon serve-script`: errors of services, in both dialects, and over both transports: plain
HTTP to this machine uses our own socket, everything else libcurl, which resolves any name below
"localhost" to this machine.

Each test is a method of Faults; a row of a table is a separate test. Everything is on loopback.
"""

import argparse
import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import Tap  # noqa: E402 pylint: disable=wrong-import-position

BOTH = ("anthropic", "openai")
KEY = "sk-test-0123456789"
LIBCURL = "through-libcurl.localhost"
ATTEMPTS = 3


class Failure(Exception):
    pass


def expect(condition, *what):
    if not condition:
        raise Failure(" ".join(str(word) for word in what))


class Server:
    """serve-script with these turns, until the end of the block."""

    def __init__(self, bench, turns, dialect):
        self.bench, self.turns, self.dialect = bench, turns, dialect

    def __enter__(self):
        self.dir = tempfile.TemporaryDirectory()
        root = pathlib.Path(self.dir.name)
        (root / "script.json").write_text(json.dumps({"version": 1, "turns": self.turns}))
        self.log = root / "log"
        self.process = subprocess.Popen(
            [self.bench.cordon, "serve-script", str(root / "script.json"), "--json", "--dialect", self.dialect]
            + ["--log", str(self.log)],
            stdout=subprocess.PIPE,
        )
        ready = json.loads(self.process.stdout.readline())
        self.url, self.port = ready["url"], ready["port"]
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.status = self.process.wait(timeout=60)
        self.process.stdout.close()
        self.dir.cleanup()

    def requests(self):
        return [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []


class Named:
    def __init__(self, dialect, url):
        self.dialect, self.url = dialect, url


class Connecting:
    """An event: one more socket than now waits for a connection to this port."""

    def __init__(self, port):
        self.port, self.before = port, 0
        self.before = self.count()

    def count(self):
        rows = (line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:])
        return sum(row[2].endswith(f":{self.port:04X}") and row[3] == "02" for row in rows)  # SYN_SENT

    def wait(self, seconds):
        end = time.monotonic() + seconds
        while self.count() <= self.before and time.monotonic() < end:
            time.sleep(0.01)
        return self.count() > self.before

    def clear(self):
        pass


class Raw:
    """A server that reads requests, and lets `reply` handle each connection."""

    def __init__(self, reply):
        self.reply, self.connections, self.threads = reply, 0, []

    def __enter__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.start(self.accept)
        return self

    def start(self, target, *args):
        self.threads.append(threading.Thread(target=target, args=args))
        self.threads[-1].start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                self.connections += 1
                self.start(self.serve, connection)

    def serve(self, connection):
        with connection, contextlib.suppress(OSError):
            connection.recv(65536)
            self.reply(connection)
            while connection.recv(65536):  # until the client hangs up
                pass

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for thread in self.threads:
            thread.join()


class Answer:
    def __init__(self, result, seconds):
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        expect(lines, "no output", result.stderr)
        self.status, self.seconds, self.stderr = result.returncode, seconds, result.stderr
        self.last = lines[-1]
        self.error = self.last.get("error")
        self.rss_kb = self.last["error" in self.last and "max_rss_kb" or "done"]
        if isinstance(self.rss_kb, dict):
            self.rss_kb = self.rss_kb["max_rss_kb"]
        messages = [line["message"] for line in lines if "message" in line]
        self.messages = messages
        self.message = messages[-1] if messages else None
        self.events = [line for line in lines if "event" in line]
        self.retries = [line for line in self.events if line["event"] == "retry"]

    def text(self):
        return "".join(block["text"] for block in self.message["content"] if block["type"] == "text")

    def calls(self):
        return [block for block in self.message["content"] if block["type"] == "tool_call"]

    def must_fail(self, *parts, code="E_PROVIDER", **context):
        expect(self.error, "no error:", self.last)
        expect(self.error["code"] == code, self.error)
        for part in parts:
            expect(part in self.error["message"], f"no {part!r} in", self.error["message"])
        for key, value in context.items():
            got = self.error["context"].get(key)
            expect(got == value, key, "is", got, "in", self.error)
        return self

    def must_say(self, text, stop="end_turn"):
        expect(not self.error, self.error)
        expect(self.text() == text, repr(self.text()), "!=", repr(text))
        expect(self.message["stop_reason"] == stop, self.message)
        return self


def say(text, **more):
    return {"content": [{"text": text}], **more}


def fail(status, message="their words", kind="some_error", **more):
    return {"error": {"status": status, "message": message, "type": kind, **more}}


RICH = {
    "content": [
        {"thinking": "let me see, ", "signature": "c2ln"},
        {"text": "Grüße, \U0001f600 and more\n\nlines."},
        {"tool_call": {"name": "list_dir", "arguments": {"path": "a b", "depth": 2, "note": "é\n"}}},
        {"tool_call": {"name": "now", "arguments": ""}},
    ],
    "usage": {"input_tokens": 11, "output_tokens": 22, "cache_read_tokens": 33},
}
CUTS = [
    {"chunk_bytes": n, "line_end": end, "comments": comments}
    for n in (1, 3, 64)
    for end in ("lf", "crlf", "cr")
    for comments in (False, True)
] + [{"delta_bytes": 1}, {"delta_bytes": 1, "chunk_bytes": 1}, {}]


class Faults:
    def __init__(self, options, host="127.0.0.1"):
        self.cordon, self.client, self.slow = options.cordon, options.client, options.sanitized
        self.host = host

    def through(self, url):
        return url.replace("http://127.0.0.1:", f"http://{self.host}:")

    def started(self, server, text="hello", url=None, environment=None, **variables):
        """The client's argv and environment."""
        given = environment or {}
        environment = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
        environment.update({"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": KEY, **given})
        environment.update({f"CLIENT_{k.upper()}": str(v) for k, v in variables.items()})
        environment.setdefault("CLIENT_RETRIES", "0")
        return {"args": [self.client, server.dialect, self.through(url or server.url), text], "env": environment}

    def ask(self, server, *args, limit=120, **variables):
        start = time.monotonic()
        result = subprocess.run(**self.started(server, *args, **variables), capture_output=True, timeout=limit)
        return Answer(result, time.monotonic() - start)

    def one(self, dialect, turns, **variables):
        with Server(self, turns if isinstance(turns, list) else [turns], dialect) as server:
            answer = self.ask(server, **variables)
            answer.requests = server.requests()
        return answer

    # Same result for any split ------------------------------------------------------------------

    def test_cuts(self, dialect):
        with Server(self, [{**RICH, **cut} for cut in CUTS], dialect) as server:
            for cut in CUTS:
                answer = self.ask(server)
                expect(not answer.error, cut, answer.error)
                expect(answer.text() == RICH["content"][1]["text"], cut, answer.text())
                calls = answer.calls()
                expect([c["name"] for c in calls] == ["list_dir", "now"], cut, calls)
                expect(calls[0]["arguments"] == RICH["content"][2]["tool_call"]["arguments"], cut, calls)
                expect(calls[1]["arguments"] == {} and "invalid" not in calls[1], cut, calls)
                expect(answer.message["content"][0]["thinking"] == "let me see, ", cut, answer.message)
                expect(answer.message["stop_reason"] == "tool_use", cut, answer.message)
                usage = answer.message["usage"]
                expect((usage["output_tokens"], usage["cache_read_tokens"]) == (22, 33), cut, usage)

    # Status codes --------------------------------------------------------------------------------

    def test_statuses(self, dialect):
        variable = dialect.upper() + "_API_KEY"
        rows = [
            (400, "rejected the request"),
            (401, f"the key in {variable} was not accepted"),
            (402, "no credit"),
            (403, f"the key in {variable} has no permission for this"),
            (404, "check --model"),
            (413, "too large: shorten the conversation"),
            (429, "is rate limiting requests"),
            (500, "had an internal error"),
            (503, "temporarily unavailable"),
            (529, "overloaded"),
            (418, "refused the request"),
        ]
        for status, words in rows:
            answer = self.one(dialect, fail(status, "their words \x1b[31m"))
            answer.must_fail(words, f"HTTP {status}", "their words", status=status, attempts=1, request_id="req_1")
            expect("\x1b" not in answer.error["message"], answer.error)
            expect(answer.error["context"]["provider_error"] == "some_error", answer.error)
            expect(answer.status == 16, answer.status, answer.stderr[-3000:])
            expect(answer.message["content"] == [] and answer.message["stop_reason"] == "error", answer.message)

    def test_only_some_statuses_are_tried_again(self, dialect):
        for status, again in ((400, 0), (401, 0), (404, 0), (413, 0), (408, 1), (429, 1), (500, 1), (529, 1)):
            answer = self.one(dialect, [fail(status, retry_after="0"), say("good")], retries=4)
            expect(len(answer.requests) == 1 + again, status, len(answer.requests))
            expect(bool(answer.error) == (not again), status, answer.last)

    def test_should_retry(self, dialect):
        turns = [fail(400, headers={"x-should-retry": "true"}, retry_after="0"), say("good")]
        self.one(dialect, turns, retries=4).must_say("good")
        turns = [fail(529, headers={"x-should-retry": "false"}), say("good")]
        answer = self.one(dialect, turns, retries=4).must_fail("overloaded", attempts=1)
        expect(len(answer.requests) == 1, answer.requests)

    def test_retry_after(self, dialect):
        answer = self.one(dialect, [fail(429, retry_after="1"), say("good")], retries=4).must_say("good")
        expect([r["delay_ms"] for r in answer.retries] == [1000], answer.retries)
        expect(answer.seconds >= 1, answer.seconds)
        answer = self.one(dialect, [fail(429, headers={"retry-after-ms": "30"}), say("good")], retries=4).must_say("good")
        expect([r["delay_ms"] for r in answer.retries] == [30], answer.retries)
        answer = self.one(dialect, [fail(429, retry_after="3600"), say("good")], retries=4)
        answer.must_fail("asks to wait for 3600 s", retry_after="3600", attempts=1)
        expect(len(answer.requests) == 1, answer.requests)

    def test_key_is_not_shown(self, dialect):
        answer = self.one(dialect, fail(401, f"invalid key {KEY} given")).must_fail("invalid key [masked] given")
        headers = answer.requests[0]["headers"]
        expect(headers.get("x-api-key", headers.get("authorization")) == "***", headers)
        expect(KEY not in json.dumps(answer.requests), answer.requests)

    def test_key_in_errors_is_masked(self, dialect):
        for filler in (0, 280, 285, 290):  # the message is cut at 300 bytes
            words = "y" * filler + " " + KEY + " is wrong"
            turns = [fail(401, words), fail(401, "no", kind=KEY), say("x", error={"message": words, "type": KEY})]
            for turn in turns:
                answer = self.one(dialect, turn).must_fail()
                expect(KEY[:8] not in json.dumps(answer.error), answer.error)
                expect("[masked]" in json.dumps(answer.error) or filler == 290, answer.error)

    def test_proxy_is_not_asked_for_this_machine(self, dialect):
        with Raw(lambda connection: connection.sendall(b"HTTP/1.1 502 No\r\nContent-Length: 0\r\n\r\n")) as proxy:
            variables = {"http_proxy": proxy.url, "ALL_PROXY": proxy.url, "no_proxy": ""}
            with Server(self, [say("good", repeat=True)], dialect) as server:
                for host in ("127.0.0.1", "localhost"):
                    url = server.url.replace("http://127.0.0.1", f"http://{host}")
                    self.ask(server, url=url, environment=variables).must_say("good")
            expect(proxy.connections == 0, proxy.connections)
            self.ask(Named(dialect, "http://127.0.0.1.example"), environment=variables).must_fail(status=502)
            expect(proxy.connections == 1, proxy.connections)

    # Broken streams ------------------------------------------------------------------------------

    def broken(self, dialect, fault, *words, **context):
        turn = say("one two three four", fault=fault, after=2)
        answer = self.one(dialect, [turn, turn, say("never")], retries=1)
        answer.must_fail(*words, "(tried 2 times)", attempts=2, **context)
        expect(len(answer.requests) == 2, answer.requests)
        expect(answer.text() == "one two ", answer.message)
        expect(answer.message["stop_reason"] == "error", answer.message)
        return answer

    def test_ends_without_its_last_event(self, dialect):
        self.broken(dialect, "end")

    def test_connection_reset(self, dialect):
        self.broken(dialect, "drop", "closed the connection unexpectedly", transport="reset")

    def test_connection_closed(self, dialect):
        self.broken(dialect, "close", "closed the connection in the middle of the answer", transport="reset")

    def test_garbage(self, dialect):
        self.broken(dialect, "garbage")

    def test_retries_are_bounded(self, dialect):
        turn = say("one two", fault="end", after=1, repeat=True)
        answer = self.one(dialect, turn, retries=4).must_fail("(tried 5 times)", attempts=5)
        expect(len(answer.requests) == 5, answer.requests)
        delays = [r["delay_ms"] for r in answer.retries]
        for delay, most in zip(delays, (500, 1000, 2000, 4000), strict=True):
            expect(most * 3 // 4 <= delay <= most, delays)

    def test_better_the_second_time(self, dialect):
        for fault in ("drop", "end", "close"):
            answer = self.one(dialect, [say("bad words", fault=fault, after=1), say("good words")], retries=4)
            answer.must_say("good words")
            expect(len(answer.retries) == 1, answer.retries)

    def test_last_event_alone_is_missing(self, dialect):
        answer = self.one(dialect, say("all of it", fault="no_stop"))
        expect(answer.text() == "all of it", answer.message)
        expect(answer.error is None or answer.error["code"] == "E_PROVIDER", answer.error)

    def test_error_in_the_middle(self, dialect):
        error = {"message": "Overloaded", "type": "overloaded_error"}
        broken = say("one two", after=1, error=error)
        self.one(dialect, [broken, say("good")], retries=4).must_say("good")
        answer = self.one(dialect, [broken], retries=0).must_fail("Overloaded", provider_error="overloaded_error")
        expect(answer.text() == "one ", answer.message)
        wrong = say("one two", after=1, error={"message": "no", "type": "invalid_request_error"})
        answer = self.one(dialect, [wrong, say("never")], retries=4).must_fail("no", attempts=1)

    def test_comments_keep_it_alive(self, dialect):
        parts = [{"text": "one "}]
        for _ in range(6):
            parts += [{"delay_ms": 800}, {"raw": ": still here\n\n"}]
        turn = {"content": [*parts, {"text": "two"}]}
        for _ in range(ATTEMPTS):  # a busy machine may be late for one of them
            answer = self.one(dialect, turn, idle_ms=4000)
            if not answer.error:
                break
        answer.must_say("one two")

    def test_nothing_comes(self, dialect):
        turn = say("one two", fault="stall", after=1)
        for ms in (300, 3000, 30000):  # a busy machine needs longer for the first word
            answer = self.one(dialect, turn, idle_ms=ms).must_fail("sent nothing for", transport="timeout")
            if answer.message and answer.text():
                break
        expect(answer.text() == "one ", answer.message)
        answer = self.one(dialect, turn, deadline_ms=300).must_fail("timeout: the model was still answering", code="E_TIMEOUT", budget="time")
        expect(answer.status == 4, answer.status)

    def test_cancel(self, dialect):
        with Server(self, [say("one two", fault="stall", after=1)], dialect) as server:
            answer = self.cancel_when(dialect, server.url, '"one "')
        expect(answer.status == 130, answer.status)
        expect(answer.message["stop_reason"] == "aborted" and answer.text() == "one ", answer.message)

    def canceled(self, process, sent_at):
        """The answer of a client that was canceled."""
        out, errors = process.communicate(timeout=120)
        answer = Answer(subprocess.CompletedProcess(process.args, process.returncode, self.seen + out, errors), time.monotonic() - sent_at)
        return answer.must_fail(code="E_CANCELED")

    def cancel_once(self, dialect, url, event, variables):
        process = subprocess.Popen(
            **self.started(Named(dialect, url), cancel_input=1, retries=4, **variables), bufsize=0,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.seen = b""
        if isinstance(event, str):
            while event.encode() not in self.seen:
                line = process.stdout.readline()
                expect(line, "the client ended before", event, self.seen)
                self.seen += line
        else:
            expect(event.wait(60), "the server was not asked")
            event.clear()
        process.stdin.write(b"x")
        return self.canceled(process, time.monotonic())

    def cancel_when(self, dialect, url, event, **variables):
        """Canceled at an event: the name of one that the client prints, or an object that the server sets. The client must not wait for
        what it was waiting for, at least 19 s; one that waits is late each time, one on a busy machine is not."""
        took = []
        while len(took) < ATTEMPTS:
            answer = self.cancel_once(dialect, url, event, variables)
            took.append(answer.seconds)
            if took[-1] < 15:
                return answer
        raise Failure(f"it ended only after {took} s")

    def test_cancel_while_the_name_is_resolved(self, dialect):
        self.cancel_when(dialect, "http://models.example", "resolving", resolve_ms=60000)

    def test_cancel_while_it_connects(self, dialect):
        with socket.socket() as listener, contextlib.ExitStack() as stack:
            listener.bind(("127.0.0.1", 0))
            listener.listen(0)
            for _ in range(4):  # until its queue is full
                waiting = stack.enter_context(socket.socket())
                waiting.setblocking(False)
                waiting.connect_ex(listener.getsockname())
            port = listener.getsockname()[1]
            self.cancel_when(dialect, f"http://127.0.0.1:{port}", Connecting(port))

    def cancel_after(self, dialect, reply):
        """Canceled when the server has sent this."""
        sent = threading.Event()
        with Raw(lambda connection: [connection.sendall(reply), sent.set()]) as server:
            self.cancel_when(dialect, server.url, sent)

    def test_cancel_while_nothing_is_said(self, dialect):
        self.cancel_after(dialect, b"")

    def test_cancel_while_an_error_is_explained(self, dialect):
        self.cancel_after(dialect, b"HTTP/1.1 400 No\r\nContent-Length: 1000\r\n\r\nbecause")

    def test_cancel_while_it_waits_for_a_retry(self, dialect):
        head = b"HTTP/1.1 429 No\r\nRetry-After: 19\r\nContent-Length: 0\r\n\r\n"
        with Raw(lambda connection: connection.sendall(head)) as server:
            answer = self.cancel_when(dialect, server.url, '"retry"')
        expect(len(answer.retries) == 1, answer.retries)

    def test_error_that_takes_its_time(self, dialect):
        def drip(connection):
            connection.sendall(b"HTTP/1.1 400 No\r\nContent-Length: 1000\r\n\r\nbecause")
            for _ in range(1200):  # one minute
                connection.sendall(b" ")
                time.sleep(0.05)

        with Raw(drip) as server:
            answer = self.ask(Named(dialect, server.url)).must_fail("because", status=400)
        expect(answer.seconds < 30, answer.seconds)

    # Invalid responses ---------------------------------------------------------------------------

    def test_redirect(self, dialect):
        answer = self.one(dialect, [say("x", fault="redirect"), say("never")], retries=4)
        answer.must_fail("sent a redirect", "/elsewhere", "key", status=307, attempts=1)
        expect(len(answer.requests) == 1, answer.requests)

    def test_not_modified(self, dialect):
        self.raw(dialect, b"HTTP/1.1 304 Same\r\n\r\n", "sent 'not modified' instead of an answer (HTTP 304)", status=304)

    def test_gzip(self, dialect):
        self.one(dialect, [say("x", fault="gzip"), say("never")], retries=4).must_fail("sent a compressed answer (gzip)", attempts=1)

    def test_page(self, dialect):
        self.one(dialect, [say("x", fault="html"), say("never")], retries=4).must_fail("web page", attempts=1)

    def test_no_before_all_is_sent(self, dialect):
        head = b"HTTP/1.1 413 No\r\nContent-Length: 0\r\n\r\n"
        with Raw(lambda connection: connection.sendall(head)) as server:
            self.ask(Named(dialect, server.url), text="x" * 100000, times=300).must_fail("shorten the conversation", status=413)

    def test_hangs_up_before_all_is_sent(self, dialect):
        reply = b"HTTP/1.1 413 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
        with Raw(lambda connection: [connection.sendall(reply), connection.close()]) as server:
            self.ask(Named(dialect, server.url), text="x" * 100000, times=300).must_fail()

    def test_answers_before_all_is_sent(self, dialect):
        def reply(connection):
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: hello\n\n")
            self.taken = 65536
            while self.taken < 30 * 1000 * 1000:
                self.taken += len(connection.recv(1 << 20))
            connection.shutdown(socket.SHUT_WR)

        with Raw(reply) as server:
            self.ask(Named(dialect, server.url), text="x" * 100000, times=300, idle_ms=20000).must_fail("the service's answer ended early")
        expect(self.taken > 30 * 1000 * 1000, self.taken)

    def test_no_stream(self, dialect):
        body = json.dumps({"error": {"message": "no streams here", "type": "some_error"}}).encode()
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
        with Raw(lambda connection: connection.sendall(head + body)) as server:
            answer = self.ask(Named(dialect, server.url), retries=4)
        answer.must_fail("'application/json'", "no streams here", attempts=1, provider_error="some_error")
        expect(server.connections == 1, server.connections)

    def test_page_by_another_spelling(self, dialect):
        page = b"HTTP/1.1 200 OK\r\nContent-Type: Text/HTML\r\nContent-Length: 2\r\n\r\nhi"
        self.raw(dialect, page, "web page", attempts=1)

    def test_nothing_to_say(self, dialect):
        self.raw(dialect, b"HTTP/1.1 204 No\r\n\r\n", "sent no answer (HTTP 204)", status=204)

    def test_no_line_end(self, dialect):
        answer = self.one(dialect, [say("one two", fault="endless", after=1), say("never")], retries=4, limit=120)
        answer.must_fail(attempts=1)
        expect(len(answer.requests) == 1, answer.requests)
        expect(answer.text() == "one ", answer.message)
        expect(self.slow or answer.rss_kb < 200 * 1024, answer.rss_kb)

    def test_half_a_character(self, dialect):
        answer = self.one(dialect, say("one two", fault="half_utf8", after=1))
        if answer.error:
            answer.must_fail()
        json.dumps(answer.message, ensure_ascii=False).encode()

    def test_ids(self, dialect):
        calls = [{"tool_call": {"name": "a", "arguments": {"n": n}}} for n in range(3)]
        for fault in ("no_ids", "same_ids"):
            answer = self.one(dialect, {"content": calls, "fault": fault})
            ids = [call["id"] for call in answer.calls()]
            expect(len(set(ids)) == 3 and all(ids), fault, ids)
            expect([call["arguments"]["n"] for call in answer.calls()] == [0, 1, 2], answer.calls())

    def test_usage_repeats(self, dialect):
        turn = say("a b c d e f", fault="repeat_usage", usage={"input_tokens": 3, "output_tokens": 9})
        usage = self.one(dialect, turn).must_say("a b c d e f").message["usage"]
        expect((usage["input_tokens"], usage["output_tokens"]) == (3, 9), usage)

    def test_second_start(self, dialect):
        answer = self.one(dialect, say("one two", fault="second_start", after=1))
        expect(answer.message["content"] is not None, answer.message)

    # Arguments -----------------------------------------------------------------------------------

    def test_arguments_that_are_no_json(self, dialect):
        turn = {"content": [{"tool_call": {"name": "a", "arguments": '{"x": '}}]}
        call = self.one(dialect, turn).calls()[0]
        expect(call.get("invalid") is True and call["arguments"] == '{"x": ', call)

    def test_cut_off_by_the_token_limit(self, dialect):
        turn = {"content": [{"tool_call": {"name": "a", "arguments": '{"x": "abc'}}], "stop_reason": "length"}
        answer = self.one(dialect, turn)
        expect(answer.message["stop_reason"] == "length", answer.message)
        expect(answer.calls()[0].get("invalid") is True, answer.calls())

    def test_many_calls(self, dialect):
        turn = {"content": [{"tool_call": {"name": "a", "arguments": {"n": n}}} for n in range(1000)]}
        answer = self.one(dialect, turn, quiet=1)
        expect([call["arguments"]["n"] for call in answer.calls()] == list(range(1000)), len(answer.calls()))

    def test_long(self, dialect):
        text = " ".join(f"word{n}" for n in range(60000))
        answer = self.one(dialect, say(text)).must_say(text)
        expect("".join(e["delta"] for e in answer.events if e["event"] == "text_delta") == text, "deltas")
        expect(self.slow or answer.rss_kb < 40 * 1024, answer.rss_kb)

    # Connections ---------------------------------------------------------------------------------

    def test_connection_is_kept(self, dialect):
        answer = self.one(dialect, say("again", repeat=True), repeat=4)
        expect([m["content"][0]["text"] for m in answer.messages] == ["again"] * 4, answer.messages)
        expect({r["connection"] for r in answer.requests} == {1}, [r["connection"] for r in answer.requests])

    def test_kept_connection_that_ends_when_it_is_used(self, dialect):
        reply = b"HTTP/1.1 529 No\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n"

        def once(connection):
            connection.sendall(reply)
            connection.recv(65536)  # the second request
            connection.shutdown(socket.SHUT_RDWR)

        with Raw(once) as server:
            self.ask(Named(dialect, server.url), retries=1).must_fail("overloaded", status=529, attempts=2)
        expect(server.connections == 2, server.connections)

    def test_many_at_once(self, dialect):
        turn = {"content": [{"text": "one "}, {"delay_ms": 200}, {"text": "two"}], "repeat": True}
        answers = []
        with Server(self, [turn], dialect) as server:
            threads = [threading.Thread(target=lambda: answers.append(self.ask(server))) for _ in range(12)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        expect([a.text() for a in answers] == ["one two"] * 12, [a.last for a in answers])

    def test_no_server(self, dialect):
        with Server(self, [], dialect) as server:
            pass
        answer = self.ask(server, url=f"http://127.0.0.1:{server.port}", retries=1)
        answer.must_fail(f"cannot connect to {self.host}", "(tried 2 times)", transport="connect", attempts=2)

    def test_no_tls(self, dialect):
        with Server(self, [], dialect) as server:
            answer = self.ask(server, url=f"https://127.0.0.1:{server.port}", retries=4)
        answer.must_fail("TLS", transport="tls", attempts=1)

    def raw(self, dialect, reply, *words, **context):
        """A server that reads a request, sends these bytes and closes."""

        listener = socket.create_server(("127.0.0.1", 0))
        thread = threading.Thread(target=self.reply_once, args=(listener, reply))
        thread.start()
        answer = self.ask(Named(dialect, f"http://127.0.0.1:{listener.getsockname()[1]}"))
        thread.join()
        listener.close()
        return answer.must_fail(*words, **context)

    def reply_once(self, listener, reply):
        connection, _ = listener.accept()
        with connection:
            connection.recv(65536)
            try:
                connection.sendall(reply)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65536):
                    pass
            except OSError:  # the client hung up early
                pass

    def test_closes_at_once(self, dialect):
        self.raw(dialect, b"", "without an answer", transport="reset")

    def test_no_http(self, dialect):
        self.raw(dialect, b"SSH-2.0-OpenSSH_9.2\r\n", "is not HTTP", transport="protocol")

    def test_headers_without_end(self, dialect):
        head = b"HTTP/1.1 200 OK\r\n" + b"X-Long: " + b"y" * 1000 + b"\r\n"
        self.raw(dialect, head + (b"X-More: " + b"y" * 1000 + b"\r\n") * 200 + b"\r\n")

    def slowly(self, dialect, piece, *words, first=b"", idle_ms=400, **context):
        """A service that repeats these bytes every 50 ms, until the client hangs up."""

        def reply(connection):
            connection.sendall(first)
            while not threading.Event().wait(0.05):
                connection.sendall(piece)

        with Raw(reply) as server:
            answer = self.ask(Named(dialect, server.url), idle_ms=idle_ms).must_fail(*words, **context)
        expect(answer.seconds < 30 and answer.rss_kb < 400 << 10, answer.seconds, answer.rss_kb)

    def test_interim_answers_without_end(self, dialect):
        interim = b"HTTP/1.1 100 Continue\r\n\r\n"
        self.raw(dialect, interim * 100000, "interim responses", transport="protocol")
        self.raw(dialect, b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" * 1000, "interim responses", transport="protocol")
        self.slowly(dialect, interim, "interim responses", idle_ms=60000, transport="protocol")
        self.slowly(dialect, interim, "sent nothing for", transport="timeout")

    def test_interim_answers_before_the_real_one(self, dialect):
        self.raw(dialect, b"HTTP/1.1 100 Continue\r\n\r\n" * 16 + b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n", status=413)

    def test_head_byte_by_byte(self, dialect):
        self.slowly(dialect, b"x", "sent nothing for", first=b"HTTP/1.1 200 OK\r\nX-Slow: ", transport="timeout")

    def test_length_that_is_not_kept(self, dialect):
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 1000\r\n\r\n"
        self.raw(dialect, head + b": hello\n\n", "in the middle of the answer", transport="reset")

    def test_error_without_json(self, dialect):
        head = b"HTTP/1.1 413 Too Large\r\nContent-Type: text/html\r\nContent-Length: 21\r\n\r\n"
        self.raw(dialect, head + b"<h1>Too \x1b[31mlarge</h1>", "shorten the conversation", status=413)


class Serve(Faults):
    """The server itself, through a socket: errors of clients."""

    def exchange(self, server, data, half_close=False):
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as s:
            s.sendall(data)
            if half_close:
                s.shutdown(socket.SHUT_WR)
            got = b""
            while True:
                more = s.recv(65536)
                if not more:
                    return got
                got += more

    def request(self, dialect, body, *headers):
        path = "/v1/messages" if dialect == "anthropic" else "/v1/chat/completions"
        lines = [f"POST {path} HTTP/1.1", "Host: x", "Connection: close", *headers]
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + body

    def test_wrong_requests(self, dialect):
        body = json.dumps({"stream": True, "messages": []}).encode()
        rows = [
            (b"hello\r\n\r\n", b"400"),
            (b"GET /x HTTP/1.1\r\nConnection: close\r\n\r\n", b"200"),
            (self.request(dialect, b"{", "Content-Length: 1"), b"400"),
            (self.request(dialect, b"[]", "Content-Length: 2"), b"400"),
            (self.request(dialect, b"", "Content-Length: 99999999999"), b"413"),
            (b"POST /v1/other HTTP/1.1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", b"404"),
            (self.request(dialect, body, f"Content-Length: {len(body)}"), b"200 OK"),
            (b"X" * 200000, b"431"),
        ]
        with Server(self, [say("x", repeat=True)], dialect) as server:
            for data, part in rows:
                try:
                    got = self.exchange(server, data)
                except ConnectionError:
                    got = part  # it hung up before all was sent, as intended
                expect(part in got, part, "not in", got[:300])
        expect(server.status == 0, server.status)

    def test_complete_answer(self, dialect):
        body = json.dumps({"messages": [{"role": "user", "content": "hi"}]}).encode()
        with Server(self, [RICH], dialect) as server:
            got = self.exchange(server, self.request(dialect, body, f"Content-Length: {len(body)}"))
        answer = json.loads(got.split(b"\r\n\r\n", 1)[1])
        if dialect == "openai":
            message = answer["choices"][0]["message"]
            expect(message["content"] == RICH["content"][1]["text"], message)
            arguments = json.loads(message["tool_calls"][0]["function"]["arguments"])
            expect(answer["choices"][0]["finish_reason"] == "tool_calls", answer)
        else:
            expect(answer["content"][1]["text"] == RICH["content"][1]["text"], answer)
            expect(answer["content"][0]["signature"] == "c2ln", answer)
            arguments = answer["content"][2]["input"]
            expect(answer["stop_reason"] == "tool_use", answer)
        expect(arguments == RICH["content"][2]["tool_call"]["arguments"], arguments)

    def test_chunked_request(self, dialect):
        body = json.dumps({"stream": True, "messages": [{"role": "user", "content": "ping me"}]}).encode()
        chunks = b"".join(b"%x\r\n%s\r\n" % (len(body[i : i + 7]), body[i : i + 7]) for i in range(0, len(body), 7))
        data = self.request(dialect, chunks + b"0\r\n\r\n", "Transfer-Encoding: chunked")
        with Server(self, [say("pong", when="^ping")], dialect) as server:
            got = self.exchange(server, data)
            expect(b"pong" in got, got)
            expect(server.requests()[0]["body"]["stream"] is True, server.requests())

    def test_more_clients_than_it_takes(self, dialect):
        with Server(self, [say("x", repeat=True)], dialect) as server:
            crowd = [socket.create_connection(("127.0.0.1", server.port), timeout=60) for _ in range(80)]
            for s in crowd:
                s.close()
            self.ask(server).must_say("x")

    def test_client_goes_away(self, dialect):
        body = json.dumps({"stream": True, "messages": []}).encode()
        with Server(self, [say("x " * 200000, chunk_bytes=1, repeat=True, when="never"), say("y z " * 50000)], dialect) as server:
            for _ in range(3):
                with socket.create_connection(("127.0.0.1", server.port), timeout=60) as s:
                    s.sendall(self.request(dialect, body, f"Content-Length: {len(body)}"))
                    s.recv(100)
            self.ask(server).must_say("The script has no further turn for this.")


def tests(options):
    for group, way in ((Faults(options), ""), (Faults(options, LIBCURL), ", libcurl"), (Serve(options), "")):
        own = [name for name in vars(type(group)) if name.startswith("test_")]
        for name in own:
            for dialect in BOTH:
                yield f"{name[5:].replace('_', ' ')} ({dialect}{way})", getattr(group, name), dialect


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cordon", required=True, type=os.path.abspath)
    parser.add_argument("--client", required=True, type=os.path.abspath)
    parser.add_argument("--sanitized", action="store_true")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    chosen = [t for t in tests(options) if not options.words or any(word in t[0] for word in options.words)]
    tap = Tap()
    for name, run, dialect in chosen:
        tap.run(name, run, dialect)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
