# cordon serve-script; its answers are tested by tests/llm/faults.py. See run.py for the format.

## it prints its address, answers, ends on a signal, and logs requests without keys
$ echo '{"version":1,"turns":[{"content":[{"text":"hello there"}]}]}' > s.json
$ cat > ask.py <<'EOF'
> import json, os, subprocess, sys, urllib.request
> p = subprocess.Popen(["cordon", "serve-script", "s.json", "--log", "log", *sys.argv[1:]], stdout=subprocess.PIPE)
> line = p.stdout.readline().decode()
> url = json.loads(line)["url"] if "--json" in sys.argv else line.split()[2]
> print(line.replace(url.split(":")[2].split("/")[0], "PORT").strip())
> path = "/chat/completions" if "openai" in sys.argv else "/v1/messages"
> body = json.dumps({"stream": True, "messages": [{"role": "user", "content": "hi"}]}).encode()
> r = urllib.request.Request(url + path, body, {"x-api-key": "secret", "Authorization": "Bearer secret"})
> answer = urllib.request.build_opener(urllib.request.ProxyHandler({})).open(r).read().decode()
> print("hello " in answer, "there" in answer, answer.strip().splitlines()[-1])
> p.terminate()
> print(p.wait())
> EOF
$ python3 ask.py
listening on http://127.0.0.1:PORT (anthropic); press Ctrl-C to stop
True True data: {"type":"message_stop"}
0
$ python3 ask.py --dialect openai
listening on http://127.0.0.1:PORT/v1 (openai); press Ctrl-C to stop
True True data: [DONE]
0
$ python3 ask.py --json
{"protocol_version":1,"url":"http://127.0.0.1:PORT","port":PORT,"dialect":"anthropic"}
True True data: {"type":"message_stop"}
0
$ wc -l < log; grep -c secret log; stat -c %a log
3
0
600
$ tail -n 1 log | python3 -c 'import json, sys, time; r = json.load(sys.stdin); print(r["method"], r["path"], r["headers"]["x-api-key"], r["headers"]["authorization"], r["body"]["stream"], 0 < r["monotonic_us"] <= time.monotonic_ns() // 1000)'
POST /v1/messages *** *** True True

## invalid scripts
$ cordon serve-script none.json
cordon: cannot open the script 'none.json': No such file or directory [E_IO]
? 10
$ cordon serve-script .
cordon: the script '.' is a directory [E_IO]
? 10
$ echo '{"version":1,"turns":[{"content":[{"txt":"x"}]}]}' > bad.json; cordon serve-script bad.json
cordon: bad.json:1:36: turns[0].content[0].txt: unknown key; did you mean 'text'? [E_PROTOCOL]
? 9
$ echo '{"version":7,"turns":[]}' > new.json; cordon serve-script new.json
cordon: new.json:1:2: version: version 7 of scripts is not supported: expected 1 [E_PROTOCOL_VERSION_MISMATCH]
? 8
$ cordon serve-script bad.json --json 2>/dev/null
{"protocol_version":1,"error":{"code":"E_PROTOCOL","message":"bad.json:1:36: turns[0].content[0].txt: unknown key; did you mean 'text'?","context":{"field":"turns[0].content[0].txt","line":1,"column":36,"file":"bad.json"}}}
? 9

## invalid command lines
$ cordon serve-script
cordon: 'cordon serve-script' needs SCRIPT: cordon serve-script [OPTION…] SCRIPT [E_CLI_INVALID_ARG]
cordon: try 'cordon serve-script --help'
? 12
$ cordon serve-script s.json --dialect gemini
cordon: invalid value 'gemini' for --dialect: expected 'anthropic', 'openai' [E_CLI_INVALID_ARG]
cordon: try 'cordon serve-script --help'
? 12
$ cordon serve-script s.json --port 70000
cordon: invalid value '70000' for --port: expected a whole number from 0 to 65535 [E_CLI_INVALID_ARG]
cordon: try 'cordon serve-script --help'
? 12
$ cordon serve-script s.json --log /nowhere/log
cordon: cannot write the log '/nowhere/log': No such file or directory [E_IO]
? 10

## a port in use
$ echo '{"version":1,"turns":[]}' > s.json
$ python3 - <<'EOF'
> import socket, subprocess
> s = socket.create_server(("127.0.0.1", 0))
> port = s.getsockname()[1]
> r = subprocess.run(["cordon", "serve-script", "s.json", "--port", str(port)], capture_output=True, text=True, timeout=20)
> print(r.returncode, r.stderr.replace(str(port), "PORT").strip())
> EOF
19 cordon: cannot listen on 127.0.0.1:PORT: Address already in use [E_CONFLICT]
