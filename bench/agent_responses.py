# SPDX-License-Identifier: Apache-2.0
"""A server of OpenAI's Responses API, which codex speaks and serve-script does not: responds with a text and a shell call to
the first request, with a text to the one that has the call's result. Records when each request was complete."""
import http.server
import json
import threading
import time


def event(kind, **fields):
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n"


def text_item(text):
    return {"type": "message", "role": "assistant", "id": "m1", "content": [{"type": "output_text", "text": text}]}


def call_item(tools, command):
    """The call in the format of the tool that the request declared."""
    names = [tool.get("name") for tool in tools]
    name = next((n for n in ("exec_command", "shell_command", "shell") if n in names), "shell")
    arguments = {"exec_command": {"cmd": command}, "shell_command": {"command": command},
                 "shell": {"command": ["sh", "-c", command]}}[name]
    return {"type": "function_call", "id": "f1", "call_id": "c1", "name": name, "arguments": json.dumps(arguments)}


def answer(body, command):
    done = any(item.get("type") == "function_call_output" for item in body.get("input", []))
    items = [text_item("Done.")] if done else [text_item("I will look."), call_item(body.get("tools", []), command)]
    usage = {"input_tokens": 1, "input_tokens_details": None, "output_tokens": 1, "output_tokens_details": None,
             "total_tokens": 2}
    out = event("response.created", response={"id": "r1"})
    for index, item in enumerate(items):
        out += event("response.output_item.added", output_index=index, item=item)
        out += event("response.output_item.done", output_index=index, item=item)
    return out + event("response.completed", response={"id": "r1", "usage": usage})


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        arrived = time.monotonic_ns() // 1000
        try:
            body = json.loads(raw)
        except ValueError:
            body = {}
        if not self.path.endswith("/responses"):
            return self.say(404, "application/json", "{}")
        self.server.requests.append({"monotonic_us": arrived, "bytes": len(raw), "body": body})
        return self.say(200, "text/event-stream", answer(body, self.server.command))

    def do_GET(self):
        self.say(404, "application/json", "{}")

    def say(self, status, kind, text):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, command):
        super().__init__(("127.0.0.1", 0), Handler)
        self.command, self.requests = command, []
        self.url = f"http://127.0.0.1:{self.server_port}/v1"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def take(self):
        taken, self.requests = self.requests, []
        return taken

    def stop(self):
        self.shutdown()
        self.server_close()
