# Policies written by others: the user's consent to grants beyond a recording's or scenario's own files.
# See run.py for the format.

## a recording gets no socket of the host, no variable and no file elsewhere without a flag
$ mkdir rec here sock secret && echo key > secret/file && cordon exec --artifacts rec/a --pipes -- true && cat > change.py <<'END'
> import json, os, sys
> T, A = os.environ["T"], os.environ.get("A", os.environ["T"] + "/rec/a")
> p = json.load(open(A + "/policy.json"))
> p.update({"fs": {"allowed_read": [A]}}, exec={"allowed_executables": ["/usr/bin"], "allow_shell": True},
>     sandbox_unsafe_ack=True, network_unsafe_ack=True, fs_write_unsafe_ack=True, unix_sockets_unsafe_ack=True)
> p.update(json.loads(sys.argv[1]))
> json.dump(p, open(A + "/policy.json", "w"))
> r = json.load(open(A + "/run.json"))
> r.pop("argv0", None)
> r.update(command=sys.argv[2], args=sys.argv[3:], cwd="/tmp")
> json.dump(r, open(A + "/run.json", "w"))
> if os.path.exists(A + "/checksums.json"):
>     os.remove(A + "/checksums.json")
> END
$ cat > attack.py <<'END'
> import os, socket, subprocess, sys, threading
> got = []
> s = socket.socket(socket.AF_UNIX)
> s.bind(os.environ["T"] + "/sock/s")
> s.listen()
> def serve():
>     while True:
>         c = s.accept()[0]
>         got.append(c.recv(99).decode())
>         c.close()
> threading.Thread(target=serve, daemon=True).start()
> env = dict(os.environ, SECRET_KEY="sk-victim")
> r = subprocess.run(["cordon", "replay", "--artifacts", "../rec/a"] + sys.argv[1:], cwd="here", env=env, capture_output=True, text=True)
> os.unlink(os.environ["T"] + "/sock/s")
> print(r.returncode, got)
> print(r.stderr.split(";")[1].split(", or")[0] if r.returncode == 2 else "", end="\n" if r.returncode == 2 else "")
> END
$ python3 change.py '{"allow_unix_sockets": true, "env": {"allowlist": ["SECRET_KEY"], "set": {}, "inherit": true}, "fs": {"allowed_read": ["'$T/sock'"]}}' /usr/bin/python3 -c 'import os, socket; s = socket.socket(socket.AF_UNIX); s.connect("'$T'/sock/s"); s.send(("run this, " + os.environ["SECRET_KEY"]).encode())'
$ python3 attack.py
2 []
 if you trust it, add --ack-unsafe-sockets --ack-unsafe-env --ack-unsafe-read
$ python3 attack.py --ack-unsafe-sockets --ack-unsafe-env
2 []
 if you trust it, add --ack-unsafe-read
$ python3 attack.py --ack-unsafe-sandbox --ack-unsafe-network --ack-unsafe-write --ack-unsafe-read
2 []
 if you trust it, add --ack-unsafe-sockets --ack-unsafe-env
$ python3 attack.py --ack-unsafe-sockets --ack-unsafe-env --ack-unsafe-read
0 ['run this, sk-victim']
$ cd here; cordon replay --artifacts ../rec/a --json 2>/dev/null | python3 -c 'import json, sys; e = json.load(sys.stdin)["error"]; print(e["code"], e["context"]["missing"], e["context"]["fields"])'
E_POLICY_DENIED --ack-unsafe-sockets --ack-unsafe-env --ack-unsafe-read allow_unix_sockets env.inherit fs.allowed_read[0]
# --offline runs nothing, and needs no flag
$ cd here; cordon replay --artifacts ../rec/a --offline
passed: \$T/.+/replay-[0-9a-f-]{36} (re)

## reads of a recording: inside it, here and in every sandbox need no flag; paths are judged as resolved
$ mkdir -p rec here/in elsewhere && echo key > elsewhere/file && cp /usr/bin/true elsewhere/prog && ln -s ../elsewhere here/link && ln -s ../elsewhere rec/link && cordon exec --artifacts rec/a --pipes -- true && ln -s ../../elsewhere rec/a/link && mkdir rec/a/own && cat > asks.py <<'END'
> import json, os, subprocess, sys
> T = os.environ["T"]
> A = T + "/rec/a"
> for path in sys.argv[1:]:
>     path = path.replace("@", T)
>     for key in "read", "exec":
>         p = json.load(open(A + "/policy.json"))
>         p["fs"] = {"allowed_read": [path] if key == "read" else []}
>         p["exec"] = {"allowed_executables": ["/usr/bin/true"] + ([path] if key == "exec" else [])}
>         json.dump(p, open(A + "/policy.json", "w"))
>         r = json.load(open(A + "/run.json"))
>         r["cwd"] = "/tmp"
>         json.dump(r, open(A + "/run.json", "w"))
>         if os.path.exists(A + "/checksums.json"):
>             os.remove(A + "/checksums.json")
>         done = subprocess.run(["cordon", "replay", "--artifacts", A], cwd=T + "/here", capture_output=True, text=True)
>         print(key, path.replace(T, "@"), done.returncode, "add " + done.stderr.split("add ")[1].split(",")[0] if "add " in done.stderr else "free")
> END
$ python3 asks.py @/here @/here/in @/rec/a @/rec/a/own /usr/bin /bin /usr/lib /usr/share /usr/include /etc/alternatives
read @/here 0 free
exec @/here 0 free
read @/here/in 0 free
exec @/here/in 0 free
read @/rec/a 0 free
exec @/rec/a 0 free
read @/rec/a/own 0 free
exec @/rec/a/own 0 free
read /usr/bin 0 free
exec /usr/bin 0 free
read /bin 0 free
exec /bin 0 free
read /usr/lib 0 free
exec /usr/lib 0 free
read /usr/share 0 free
exec /usr/share 0 free
read /usr/include 0 free
exec /usr/include 0 free
read /etc/alternatives 0 free
exec /etc/alternatives 0 free
$ python3 asks.py @/elsewhere @/elsewhere/file @/elsewhere/prog @/here/link @/here/link/file @/rec @/rec/link @/rec/a/link @/rec/a/link/file @/here/../elsewhere @/rec/a/../../elsewhere/prog @ /etc/ssl /var/lib /tmp
read @/elsewhere 2 add --ack-unsafe-read
exec @/elsewhere 2 add --ack-unsafe-read
read @/elsewhere/file 2 add --ack-unsafe-read
exec @/elsewhere/file 2 add --ack-unsafe-read
read @/elsewhere/prog 2 add --ack-unsafe-read
exec @/elsewhere/prog 2 add --ack-unsafe-read
read @/here/link 2 add --ack-unsafe-read
exec @/here/link 2 add --ack-unsafe-read
read @/here/link/file 2 add --ack-unsafe-read
exec @/here/link/file 2 add --ack-unsafe-read
read @/rec 2 add --ack-unsafe-read
exec @/rec 2 add --ack-unsafe-read
read @/rec/link 2 add --ack-unsafe-read
exec @/rec/link 2 add --ack-unsafe-read
read @/rec/a/link 2 add --ack-unsafe-read
exec @/rec/a/link 2 add --ack-unsafe-read
read @/rec/a/link/file 2 add --ack-unsafe-read
exec @/rec/a/link/file 2 add --ack-unsafe-read
read @/here/../elsewhere 2 add --ack-unsafe-read
exec @/here/../elsewhere 2 add --ack-unsafe-read
read @/rec/a/../../elsewhere/prog 2 add --ack-unsafe-read
exec @/rec/a/../../elsewhere/prog 2 add --ack-unsafe-read
read @ 2 add --ack-unsafe-read
exec @ 2 add --ack-unsafe-read
read /etc/ssl 2 add --ack-unsafe-read
exec /etc/ssl 2 add --ack-unsafe-read
read /var/lib 2 add --ack-unsafe-read
exec /var/lib 2 add --ack-unsafe-read
read /tmp 2 add --ack-unsafe-read
exec /tmp 2 add --ack-unsafe-read
# a current directory that no policy may name grants nothing, and a home directory below it is excluded
$ mkdir -p home/project && sed -i 's|cwd=T + "/here"|cwd=T + os.environ["IN"]|' asks.py && IN=/home python3 asks.py @/home/project
read @/home/project 2 add --ack-unsafe-read
exec @/home/project 2 add --ack-unsafe-read
$ IN=/../../../../.. python3 asks.py @/elsewhere
read @/elsewhere 2 add --ack-unsafe-read
exec @/elsewhere 2 add --ack-unsafe-read
$ IN=/ python3 asks.py @/home/project @/elsewhere
read @/home/project 2 add --ack-unsafe-read
exec @/home/project 2 add --ack-unsafe-read
read @/elsewhere 0 free
exec @/elsewhere 0 free

## a recording's scenario names no file by path, and its goldens are not looked for elsewhere
$ echo '{"scenario_version":1,"run":{"command":"/bin/cat"},"steps":[{"id":"a","timeout_ms":20000,"action":{"type":"text","payload":{"text":"x\r"}},"assert":[{"type":"line_equals","payload":{"line":1,"text":"x"}}]}]}' > s.json && cordon run s.json --artifacts a > /dev/null && echo 'policy_version: 4 # secret' > p.yaml && mkfifo fifo
$ for f in p.yaml fifo; do python3 -c 'import json, os, sys; s = json.load(open("a/scenario.json")); s["run"]["policy"] = {"path": os.environ["T"] + "/" + sys.argv[1]}; json.dump(s, open("a/scenario.json", "w")); os.path.exists("a/checksums.json") and os.remove("a/checksums.json")' $f; timeout 60 cordon replay --artifacts a 2>&1 | grep -o 'run.policy.path: unknown key\|secret'; done
run.policy.path: unknown key
run.policy.path: unknown key
$ echo secret > g.txt; python3 -c 'import json, os, sys; s = json.load(open("a/scenario.json")); s["run"].pop("policy"); s["steps"][0]["assert"] = [{"type": "screen_matches_golden", "payload": {"file": "g.txt"}}]; json.dump(s, open("a/scenario.json", "w"))'; cordon replay --artifacts a 2>&1 | grep -c secret
0
? 1

## a scenario's own policy: each grant beyond it needs a flag, all are named at once, and nothing runs
$ mkdir s here elsewhere && cat > make.py <<'END'
> import json, os, sys
> T = os.environ["T"]
> p = {"policy_version": 4, "exec": {"allowed_executables": ["/usr/bin"], "allow_shell": True}, "sandbox_unsafe_ack": True,
>      "network_unsafe_ack": True, "fs_write_unsafe_ack": True, "unix_sockets_unsafe_ack": True}
> p.update(json.loads(sys.argv[1].replace("@", T)))
> run = {"command": "/usr/bin/bash", "args": ["-c", "echo done; read"], "policy": p}
> if len(sys.argv) > 2:
>     json.dump(p, open(sys.argv[2], "w"))
>     run["policy"] = {"path": T + "/" + sys.argv[2]}
> wait = {"type": "wait", "payload": {"condition": {"type": "screen_contains", "payload": {"text": "done"}}}}
> json.dump({"scenario_version": 1, "run": run, "steps": [{"id": "a", "action": wait}]}, open("s/a.json", "w"))
> END
$ cat > try.sh <<'END'
> for policy; do for inline in '' p.json; do python3 make.py "$policy" $inline; cd here; cordon run ../s/a.json $FLAGS > out 2>&1; echo "$? $(grep -o 'add --.*' out || echo free)" | cut -d, -f1; cd ..; done; done
> END
$ bash try.sh '{"sandbox": "landlock"}' '{"sandbox": "none"}' '{"network": "enabled"}' '{"allow_unix_sockets": true}' '{"env": {"inherit": true}}' '{"fs": {"allowed_write": ["@/elsewhere"]}}' '{"sandbox": "none", "network": "enabled", "allow_unix_sockets": true, "env": {"inherit": true, "allowlist": ["HOME"]}, "fs": {"allowed_write": ["@/s", "@/elsewhere"]}}'
2 add --ack-unsafe-sandbox
2 add --ack-unsafe-sandbox
2 add --ack-unsafe-sandbox
2 add --ack-unsafe-sandbox
2 add --ack-unsafe-network
2 add --ack-unsafe-network
2 add --ack-unsafe-sockets
2 add --ack-unsafe-sockets
2 add --ack-unsafe-env
2 add --ack-unsafe-env
2 add --ack-unsafe-write
2 add --ack-unsafe-write
2 add --ack-unsafe-sandbox --ack-unsafe-network --ack-unsafe-sockets --ack-unsafe-env --ack-unsafe-write
2 add --ack-unsafe-sandbox --ack-unsafe-network --ack-unsafe-sockets --ack-unsafe-env --ack-unsafe-write
# without the author's acknowledgements the user's flags are enough
$ FLAGS='--ack-unsafe-sandbox --ack-unsafe-network' bash try.sh '{"sandbox": "none", "sandbox_unsafe_ack": false, "network_unsafe_ack": false}'; FLAGS=--ack-unsafe-sockets bash try.sh '{"allow_unix_sockets": true, "unix_sockets_unsafe_ack": false}'; FLAGS=--ack-unsafe-write bash try.sh '{"fs_write_unsafe_ack": false, "fs": {"allowed_write": ["@/elsewhere"]}}'; FLAGS=--ack-unsafe-env bash try.sh '{"env": {"inherit": true}}'
0 free
0 free
0 free
0 free
0 free
0 free
0 free
0 free
$ FLAGS=--ack-unsafe-sandbox bash try.sh '{"sandbox": "none"}' '{"sandbox": "none", "network_unsafe_ack": false}' '{"sandbox": "none", "network": "enabled"}'
0 free
0 free
2 add --ack-unsafe-network
2 add --ack-unsafe-network
2 add --ack-unsafe-network
2 add --ack-unsafe-network
# files beside the scenario or in the current directory need no flag; a link out of it does
$ mkdir s/w here/w && ln -s ../elsewhere s/out && bash try.sh '{"fs": {"allowed_write": ["@/s/w", "@/here/w", "@/here"]}}' '{"fs": {"allowed_write": ["@/s"]}}' '{"fs": {"allowed_write": ["@/s/out"]}}' '{"fs": {"allowed_write": ["@/s/../elsewhere"]}}' '{"fs": {"allowed_write": ["@"]}}'
0 free
0 free
0 free
0 free
2 add --ack-unsafe-write
2 add --ack-unsafe-write
2 add --ack-unsafe-write
2 add --ack-unsafe-write
2 add --ack-unsafe-write
2 add --ack-unsafe-write
$ mkdir -p s/.git/hooks s/w/.CORDON && bash try.sh '{"fs": {"allowed_write": ["@/s/.git/hooks"]}}' '{"fs": {"allowed_write": ["@/s/w/.CORDON"]}}' '{"fs": {"allowed_write": ["@/s/.git"]}}'
2 add --ack-unsafe-write
2 add --ack-unsafe-write
2 add --ack-unsafe-write
2 add --ack-unsafe-write
2 add --ack-unsafe-write
2 add --ack-unsafe-write
$ bash try.sh '{"fs_write_unsafe_ack": false, "fs": {"allowed_write": ["@/s/w"]}}'; grep -o 'set fs_write_unsafe_ack to true' here/out
2 free
2 free
set fs_write_unsafe_ack to true
# a policy that the user names keeps its own acknowledgements; one for Unix sockets is among them
$ python3 make.py '{"allow_unix_sockets": true, "network": "enabled", "env": {"inherit": true}, "fs": {"allowed_write": ["@/elsewhere"]}}' p.json; cordon run --policy p.json s/a.json > out 2>&1; echo $?; sed -i 's/"unix_sockets_unsafe_ack": true/"unix_sockets_unsafe_ack": false/' p.json; cordon run --policy p.json s/a.json
0
cordon: allow_unix_sockets: 'true' requires an acknowledgement (the program could make a host service that listens in a visible directory act outside the sandbox); set allow_unix_sockets to false, or set unix_sockets_unsafe_ack to true [E_POLICY_DENIED]
? 2
$ cordon run --policy p.json --ack-unsafe-sockets s/a.json > out 2>&1; echo $?; cordon exec --policy p.json -- /usr/bin/true 2>&1 | grep -o 'set unix_sockets_unsafe_ack to true'; cordon policy check p.json | head -n 1
0
set unix_sockets_unsafe_ack to true
denied: allow_unix_sockets: 'true' requires an acknowledgement
# --explain-policy lists the same flags; suites pass flags on
$ python3 make.py '{"network": "enabled", "env": {"inherit": true}}'; cordon run --explain-policy --json s/a.json | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["allowed"], [(e["context"]["field"], e["context"]["fix"]) for e in d["errors"]])'
False [('network', 'if you trust it, add --ack-unsafe-network'), ('env.inherit', 'if you trust it, add --ack-unsafe-env')]
$ cp s/a.json s/b.json; cordon run s/a.json s/b.json > out 2>&1; echo $?; cordon run --ack-unsafe-network --ack-unsafe-env s/a.json s/b.json > out 2>&1; echo $?
2
0
