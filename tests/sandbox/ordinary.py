#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ordinary development: each row is a script that must do the same outside, under a preset, in a session of tools and in a
box: its standard output and its exit status are compared. See harness.py.

A row is skipped, with the reason, if a program that it needs is missing or if it fails outside. With --in-turn a heavy one runs
outside and in one of the three places: the first under a preset, the second in a session of tools, and so on.
"""
import itertools
import json
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import KILLED_S, TIMEOUT_S, Failed, Skipped, case, in_turn, main, orphans  # noqa: E402 pylint: disable=wrong-import-position

BASH = "/usr/bin/bash"
GIT = "git init -q -b main . && git config user.email a@example.com && git config user.name A && "
HELLO_C = '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n'
GO = "export GOPROXY=off GOFLAGS=-mod=mod GOTOOLCHAIN=local; "
SERVER = "python3 -u -m http.server --bind 127.0.0.1 $port >log 2>&1 & pid=$!; until grep -q Serving log 2>/dev/null || ! kill -0 $pid; " \
         "do sleep 0.05; done; "
PORT = "port=$(python3 -c 'import socket; s = socket.socket(); s.bind((\"127.0.0.1\", 0)); print(s.getsockname()[1])'); "
POSTGRES = "PATH=$PATH:$(echo /usr/lib/postgresql/*/bin | cut -d' ' -f1); "

UNIX_SOCKETS = """import os, socket as S, threading, time
def serve(at, kind=S.SOCK_STREAM):
    s = S.socket(S.AF_UNIX, kind)
    s.bind(at)
    s.listen(1)
    return s
def connect(at, kind=S.SOCK_STREAM, wait=None):
    c = S.socket(S.AF_UNIX, kind)
    c.settimeout(wait)
    c.connect(at)
    return c
def show(name, f, *a):
    try:
        print(name, f(*a))
    except OSError as e:
        print(name, e.errno, e.strerror)
def talk(at, kind=S.SOCK_STREAM):
    s = serve(at, kind)
    c = connect(at, kind)
    c.send(b'word')
    return s.accept()[0].recv(9)
show('a stream', talk, 'a')
show('packets', talk, 'p', S.SOCK_SEQPACKET)
show('an abstract name', talk, chr(0) + 'cordon-test-%d' % os.getpid())
show('another kind', connect, 'a', S.SOCK_SEQPACKET)
show('nothing', connect, 'none')
show('a directory', connect, '.')
show('no such abstract name', connect, chr(0) + 'cordon-test-none')
show('an old socket', connect, 'a')
deep = '/'.join(['d' * 60] * 4)
os.makedirs(deep)
os.chdir(deep)
show('a long directory', talk, 's')
os.chdir('../../../..')
os.symlink('b', 'l')
b = serve('b')
kept = [connect('l'), connect(os.getcwd() + '/b')]
show('full, at once', connect, 'b', S.SOCK_STREAM, 0)
show('full, for a while', connect, 'b', S.SOCK_STREAM, 0.1)
threading.Timer(0.2, lambda: [b.accept() for _ in range(3)]).start()
c = connect('b')
show('connected', c.connect, 'b')
v = serve('v')
show('listening', b.connect, 'v')
print(os.get_inheritable(c.fileno()), c.getblocking(), c.getsockname() == '', c.getpeername())
n = S.socket(S.AF_UNIX)
n.setsockopt(S.SOL_SOCKET, S.SO_SNDBUF, 50000)
os.set_inheritable(n.fileno(), True)
n.connect('b')
print(os.get_inheritable(n.fileno()), n.getsockopt(S.SOL_SOCKET, S.SO_SNDBUF))
r, w = os.pipe()
if os.fork() == 0:
    d = serve('dead')
    if os.fork() == 0:
        os.write(w, b'1')
        d.accept()[0].send(b'alive')
    os._exit(0)
os.wait(), os.read(r, 1)
show('the process that listened has ended', lambda: connect('dead').recv(9))
i = S.create_server(('127.0.0.1', 0))
done = threading.Event()
threading.Thread(target=done.wait).start()
show('TCP beside a thread', lambda: S.create_connection(i.getsockname()).send(b'x'))
t = S.socket()
show('TCP, blocking', t.connect, i.getsockname())
show('TCP again', t.connect, i.getsockname())
show('TCP, refused', S.socket().connect, ('127.0.0.1', 1))
show('UDP', S.socket(S.AF_INET, S.SOCK_DGRAM).connect, ('127.0.0.1', 9))
show('a file', lambda: S.socket(fileno=os.dup(r)))
done.set()
"""


class Row:
    """`needs`: programs. `files`: in the working directory. `who`: root's or the user's only."""

    def __init__(self, name, script, needs="", files=None, heavy=False, who="both"):
        self.name, self.script, self.needs, self.files = name, script, needs.split(), files or {}
        self.heavy, self.who = heavy, who


ROWS = [
    # C and C++
    Row("C: gcc, a static library, a shared library", """gcc -c f.c -fPIC && ar rcs libf.a f.o && gcc -shared -o libg.so f.o &&
        gcc m.c libf.a -o a && gcc m.c -L. -lg -Wl,-rpath,$PWD -o b && ./a && ./b""", "gcc ar",
        {"f.c": "int f(void) { return 7; }\n", "m.c": '#include <stdio.h>\nint f(void);\nint main(void) { printf("%d\\n", f()); }\n'}),
    Row("C: link-time optimization", "gcc -O2 -flto a.c -o a && ./a", "gcc", {"a.c": HELLO_C}),
    Row("C: clang", "clang -O1 a.c -o a && ./a", "clang", {"a.c": HELLO_C}),
    Row("C++: containers, threads, exceptions", "g++ -O1 -pthread a.cc -o a && ./a", "g++", {"a.cc": """#include <iostream>
#include <map>
#include <stdexcept>
#include <thread>
int main() { std::map<std::string, int> m{{"a", 1}}; int n = 0; std::thread t([&] { n = m["a"]; }); t.join();
  try { throw std::runtime_error("caught"); } catch (std::exception &e) { std::cout << e.what() << n << std::endl; } }
"""}, heavy=True),
    Row("make -j with a jobserver", "make -sj4 && cat out", "make",
        {"Makefile": "out: a b c; cat a b c >out\na b c: ; echo $@ >$@\n"}),
    Row("cmake and ninja", "cmake -GNinja -B o . >/dev/null && ninja -C o >/dev/null && o/a && cd o && ctest 2>&1 | grep -c Passed",
        "cmake ninja", {"a.c": HELLO_C, "CMakeLists.txt": "cmake_minimum_required(VERSION 3.5)\nproject(p C)\nenable_testing()\n"
                        "add_executable(a a.c)\nadd_test(NAME t COMMAND a)\n"}, heavy=True),
    Row("meson", "meson setup o >/dev/null && ninja -C o >/dev/null && o/a", "meson ninja",
        {"a.c": HELLO_C, "meson.build": "project('p', 'c')\nexecutable('a', 'a.c')\n"}, heavy=True),
    Row("pkg-config and a library of the system", "gcc a.c $(pkg-config --cflags --libs zlib) -o a && ./a", "gcc pkg-config",
        {"a.c": '#include <stdio.h>\n#include <zlib.h>\nint main(void) { puts(zlibVersion()[0] ? "zlib" : ""); return 0; }\n'}),
    Row("bison and flex", "bison -o p.c p.y && flex -o l.c l.l && gcc p.c -o p && echo 1+2 | ./p", "bison flex gcc", {
        "p.y": "%{\n#include <stdio.h>\n#include <ctype.h>\nint yylex(void); void yyerror(const char *s) { puts(s); }\n%}\n%token N\n"
               "%%\ns: e '\\n' { printf(\"%d\\n\", $1); };\ne: e '+' N { $$ = $1 + $3; } | N;\n%%\n"
               "int yylex(void) { int c = getchar(); if (isdigit(c)) { yylval = c - '0'; return N; } return c == EOF ? 0 : c; }\n"
               "int main(void) { return yyparse(); }\n",
        "l.l": "%option noyywrap\n%%\n[a-z]+ ;\n"}),
    # Debuggers and sanitizers
    Row("gdb: a break point and a variable", "gcc -g -O0 a.c -o a && gdb -batch -nx -ex 'set debuginfod enabled off' -ex 'break f' -ex run "
        "-ex 'print x' ./a 2>/dev/null | grep '^\\$1'", "gcc gdb",
        {"a.c": "int f(int x) { return x + 1; }\nint main(void) { return f(41) - 42; }\n"}),
    Row("strace", "strace -e trace=write -o t ./a.sh && grep -c 'write(1' t", "strace",
        {"a.sh": "#!/bin/sh\necho hello\n"}),
    Row("strace -f and attach", "sleep 60 & strace -o t -p $! & s=$!; until grep -q . t 2>/dev/null || ! kill -0 $s; do sleep 0.05; done; "
        "kill %1; wait $s; grep -c SIGTERM t", "strace"),
    Row("valgrind finds a leak", "gcc -g a.c -o a && valgrind --leak-check=full --error-exitcode=9 ./a; test $? = 9", "gcc valgrind",
        {"a.c": "#include <stdlib.h>\nint main(void) { char *volatile p = malloc(9); p = 0; return p != 0; }\n"}, heavy=True),
    Row("address sanitizer: overflow", "gcc -g -fsanitize=address a.c -o a && ./a 2>&1 | grep -c heap-buffer-overflow", "gcc",
        {"a.c": "#include <stdlib.h>\nint main(int n, char **v) { char *p = malloc(4); p[3 + n] = 1; free(p); return v == 0; }\n"}),
    Row("address sanitizer: a leak", "gcc -g -fsanitize=address a.c -o a && ./a 2>&1 | grep -c '9 byte(s) leaked in'", "gcc",
        {"a.c": "#include <stdlib.h>\nint main(void) { char *volatile p = malloc(9); p = 0; return p != 0; }\n"}),
    Row("thread sanitizer: a race", "gcc -g -fsanitize=thread a.c -o a -pthread && ./a 2>&1 | grep -c 'WARNING.*data race'", "gcc",
        {"a.c": "#include <pthread.h>\nstatic int n;\nstatic void *f(void *x) { n++; return x; }\nint main(void) { pthread_t t; "
                "pthread_create(&t, 0, f, 0); n++; pthread_join(t, 0); return 0; }\n"}),
    Row("undefined behaviour sanitizer", "gcc -fsanitize=undefined a.c -o a && ./a 2>&1 | grep -c overflow", "gcc",
        {"a.c": "int main(int n, char **v) { return v == 0 || (2147483647 + n) == 1; }\n"}),
    Row("coverage: gcov", "gcc --coverage a.c -o a && ./a && gcov -n ./*.gcda | grep executed", "gcc gcov", {"a.c": HELLO_C}),
    # Other languages
    Row("Rust: cargo build and test, offline", "cargo -q init --name p --vcs none . && cargo -q run --offline && "
        "cargo -q test --offline 2>&1 | grep -c 'test result: ok'", "cargo rustc", heavy=True),
    Row("Rust: rustc", "rustc a.rs -o a && ./a", "rustc", {"a.rs": 'fn main() { println!("{}", (1..5).sum::<i32>()); }\n'}, heavy=True),
    Row("Go: build, test and run", GO + "go mod init p 2>/dev/null; go vet && go build -o a && ./a && go test 2>&1 | cut -c1-2", "go", {
        "a.go": 'package main\nimport "fmt"\nfunc f() int { c := make(chan int); go func() { c <- 7 }(); return <-c }\n'
                "func main() { fmt.Println(f()) }\n",
        "a_test.go": 'package main\nimport "testing"\nfunc TestF(t *testing.T) { if f() != 7 { t.Fail() } }\n'}, heavy=True),
    Row("Go: the race detector", GO + "go mod init p 2>/dev/null; go run -race . 2>&1 | grep -c 'DATA RACE'", "go gcc", {
        "a.go": "package main\nfunc main() { n := 0; c := make(chan int); go func() { n++; c <- 1 }(); n++; <-c; println(n) }\n"},
        heavy=True),
    Row("Java: javac, java, a jar", "javac A.java && java -Xmx64m A && jar cfe a.jar A A.class && java -jar a.jar", "javac java jar", {
        "A.java": 'public class A { public static void main(String[] a) throws Exception { var t = new Thread(() -> System.out.println("ran")); '
                  't.start(); t.join(); System.out.println(java.nio.file.Files.exists(java.nio.file.Path.of("A.java"))); } }\n'}, heavy=True),
    Row("Java: temporary files, processors, name of the host", "java A.java", "javac java", {
        "A.java": 'public class A { public static void main(String[] a) throws Exception { java.io.File.createTempFile("abc", "y"); '
                  "System.out.println(Runtime.getRuntime().availableProcessors()); "
                  'System.out.println(java.net.InetAddress.getLocalHost() != null); } }\n'}, heavy=True),
    Row("Maven compiles a class, offline", "mvn -B -o -q -Daether.offline.protocols=file -s settings.xml compile >log && java -cp target/classes A",
        "mvn java", {
            "pom.xml": "<project><modelVersion>4.0.0</modelVersion><groupId>g</groupId><artifactId>a</artifactId><version>1</version><properties>"
                       "<maven.compiler.source>11</maven.compiler.source><maven.compiler.target>11</maven.compiler.target>"
                       "<project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties></project>\n",
            "settings.xml": "<settings><localRepository>${user.dir}/repository</localRepository><mirrors><mirror><id>debian</id>"
                            "<mirrorOf>*</mirrorOf><url>file:///usr/share/maven-repo</url></mirror></mirrors></settings>\n",
            "src/main/java/A.java": 'public class A { public static void main(String[] a) { System.out.println("compiled"); } }\n'},
        heavy=True),
    Row("Python: a virtual environment", "/usr/bin/python3 -m venv --without-pip v && v/bin/python -c "
        "'import sys; print(sys.prefix != sys.base_prefix)'", "/usr/bin/python3"),
    Row("Python: a virtual environment with pip", "/usr/bin/python3 -m venv v && v/bin/pip --version | cut -d' ' -f1 && "
        "v/bin/pip list --format=freeze | cut -d= -f1", "/usr/bin/python3", heavy=True),
    Row("Python: pytest", "/usr/bin/python3 -m pytest -q -p no:cacheprovider 2>&1 | tail -1 | cut -d' ' -f1-4", "/usr/bin/pytest",
        {"test_a.py": "def test_a(tmp_path): (tmp_path / 'x').write_text('y')\ndef test_b(): assert 0\n"}),
    Row("Python: unittest", "python3 -m unittest 2>&1 | tail -1", "python3",
        {"test_a.py": "import unittest\nclass A(unittest.TestCase):\n    def test_a(self): self.assertTrue(True)\n"}),
    Row("Python: processes, a pool, shared memory", "python3 a.py", "python3", {"a.py": """import multiprocessing as m, multiprocessing.resource_tracker
from multiprocessing import shared_memory
def f(x): return x * x
if __name__ == '__main__':
    with m.Pool(2) as p: print(p.map(f, range(4)))
    s = shared_memory.SharedMemory(create=True, size=16); s.buf[0] = 5; print(s.buf[0]); s.close(); s.unlink()
    m.resource_tracker._resource_tracker._stop()  # it may outlive the program, which a tool reports
"""}),
    Row("Python: a server and a client on loopback", PORT + SERVER + "curl -s http://127.0.0.1:$port/x; curl -s http://localhost:$port/x; "
        "kill $pid", "python3 curl", {"x": "served\n"}),
    Row("Python: sqlite3, ssl, ctypes, MIME types", "python3 -c 'import sqlite3, ssl, ctypes, mimetypes; "
        'print(sqlite3.connect(":memory:").execute("select 1+1").fetchone(), len(ssl.create_default_context().get_ca_certs()) > 9, '
        'ctypes.CDLL(None).abs(-3), mimetypes.guess_type("a.docx"), len(mimetypes.types_map) > 500)\'', "python3"),
    Row("Node: npm test", "npm test --silent", "node npm",
        {"package.json": '{"name":"p","version":"1.0.0","scripts":{"test":"node t.js"}}',
         "t.js": "require('assert').equal(1 + 1, 2); console.log('ok', require('os').cpus().length > 0)\n"}),
    Row("Node: npm install of a local package, npm pack", "npm install --offline --silent --no-audit --no-fund ./dep && "
        "node -e 'console.log(require(\"dep\"))' && npm pack --silent", "node npm",
        {"package.json": '{"name":"p","version":"1.0.0"}', "dep/package.json": '{"name":"dep","version":"2.0.0","main":"i.js"}',
         "dep/i.js": "module.exports = 'from dep'\n"}),
    Row("Node: a server, workers, WebAssembly", "node a.js", "node", {"a.js": """const {Worker, isMainThread, parentPort} = require('worker_threads')
if (!isMainThread) parentPort.postMessage(new WebAssembly.Memory({initial: 1}).buffer.byteLength)
else new Worker(__filename).on('message', n => require('http').createServer((q, s) => s.end('page')).listen(0, '127.0.0.1', function () {
  require('http').get({port: this.address().port, host: '127.0.0.1'}, r => r.on('data', d => { console.log(n, String(d)); process.exit(0) })) }))
"""}),
    Row("Ruby", "ruby a.rb && gem list >/dev/null && echo gems", "ruby", {"a.rb": 'require "json"; require "tmpdir"; '
        'Dir.mktmpdir { |d| File.write(d + "/x", "y"); puts JSON.dump(Dir.children(d)) }; Thread.new { puts 1 }.join\n'}),
    Row("PHP, and its server", "php -r 'echo PHP_OS, \"\\n\";' && " + PORT + "php -S 127.0.0.1:$port >log 2>&1 & pid=$!; "
        "until curl -sf http://127.0.0.1:$port/a.php || ! kill -0 $pid; do sleep 0.05; done; kill $pid", "php curl",
        {"a.php": "<?php echo 'page', 6 * 7, \"\\n\";\n"}),
    Row("Perl: modules, a fork", """perl -MJSON::PP -MFile::Temp=tempdir -e 'if (!fork) { print "child\\n"; exit } wait; print encode_json([1]), "\\n"; tempdir(CLEANUP => 1)'""",
        "perl"),
    Row("shell: job control, traps, arithmetic", "set -m; sleep 30 & kill %1; wait $! ; echo $?; (trap 'echo bye' EXIT); (exit 3); echo $((7 ** 2)) $?"),
    Row("awk, sed, sort, bc, jq", "seq 5 | awk '{s+=$1} END {print s}'; echo a | sed s/a/b/; echo '2^70' | bc; echo '{\"a\":[1]}' | jq -c .a", "bc jq"),
    # Tools
    Row("git: commit, branch, merge, stash, log", GIT + """echo 1 >f && git add f && git commit -qm one && git checkout -qb x && echo 2 >>f &&
        git commit -qam two && git checkout -q main && git merge -q x && echo 3 >>f && git stash -q && git stash pop -q && git status --short &&
        git log --format=%s && git show --stat --format= | tail -1""", "git"),
    Row("git: rebase, a conflict, blame, bisect", GIT + """for i in 1 2 3 4; do echo $i >f; git add f; git commit -qm $i; done; git checkout -qb x HEAD~2 &&
        echo x >f && git commit -qam x && ! git rebase -q main >/dev/null 2>&1 && git rebase --abort && git blame -s f | wc -l &&
        git bisect start -q main HEAD~2 >/dev/null && git bisect run grep -q 1 f >/dev/null; git bisect reset -q; git branch | wc -l""", "git"),
    Row("git: worktree-free clone, fetch and push between directories", "git init -q --bare b.git && git clone -q b.git c 2>/dev/null && cd c && "
        "git config user.email a@example.com && git config user.name A && echo 1 >f && git add f && git commit -qm one && git push -q origin HEAD:main && "
        "cd .. && git clone -q -b main b.git d && cat d/f && git -C b.git gc -q && git -C b.git fsck", "git"),
    Row("git: archive, apply, format-patch, am", GIT + """echo 1 >f && git add f && git commit -qm one && echo 2 >>f && git diff >p && git checkout -q f &&
        git apply p && git commit -qam two && git format-patch -q -1 --stdout >m && git reset -q --hard HEAD~1 && git am -q m && git log --format=%s &&
        git archive HEAD | tar t""", "git tar"),
    Row("sqlite3", "sqlite3 d.db 'create table t(a); insert into t values(1),(2); select sum(a) from t' && sqlite3 d.db .tables", "sqlite3"),
    Row("redis over TCP and a Unix socket", PORT + "redis-server --port $port --save '' --bind 127.0.0.1 --unixsocket $PWD/s >log 2>&1 & pid=$!; "
        "until redis-cli -p $port ping >o 2>/dev/null && grep PONG o || ! kill -0 $pid; do sleep 0.05; done; redis-cli -p $port set a 1; "
        "redis-cli -s $PWD/s incr a; redis-cli -p $port incr a; redis-cli -s $PWD/s shutdown nosave; wait $pid; echo $?", "redis-server redis-cli"),
    # It refuses users without a name, as the one of these tests.
    Row("postgres over TCP and a Unix socket", POSTGRES + PORT + "echo me:x:$(id -u):$(id -g)::$PWD:/bin/sh >passwd; "
        "export LD_PRELOAD=libnss_wrapper.so NSS_WRAPPER_PASSWD=$PWD/passwd NSS_WRAPPER_GROUP=/etc/group; initdb -D d -A trust -U me >/dev/null && "
        "pg_ctl -D d -w -l log -o \"-p $port -h 127.0.0.1 -k $PWD\" start >/dev/null && for host in 127.0.0.1 $PWD; do "
        "psql -h $host -p $port -U me -Atqc 'create table if not exists t(a int); insert into t values (21); select sum(a) from t' postgres; done && "
        "pg_ctl -D d -m fast stop >/dev/null", "psql", who="user", heavy=True),
    Row("postgres refuses root", POSTGRES + "initdb -D d 2>&1 | head -1; ls -A", "psql", who="root"),
    Row("curl over TLS with a certificate of our own", PORT + "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout k -out c -days 2 "
        "-subj /CN=localhost -addext subjectAltName=DNS:localhost 2>/dev/null; openssl s_server -quiet -accept 127.0.0.1:$port -key k -cert c -WWW & "
        "until curl -s --cacert c https://localhost:$port/x || ! kill -0 $!; do sleep 0.05; done; kill $!", "openssl curl", {"x": "over TLS\n"}),
    Row("ssh-keygen, openssl, checksums", "ssh-keygen -q -t ed25519 -N '' -f k && ssh-keygen -lf k.pub | wc -l; echo a | openssl dgst -sha256; echo a | sha1sum",
        "ssh-keygen openssl"),
    Row("tar, gzip, xz, zstd, zip", "mkdir d && echo a >d/a && for z in gzip xz; do tar --$z -cf d.$z d && tar -xOf d.$z d/a; done; find d -type f -perm 644", "tar xz"),
    Row("rsync between directories", "mkdir a && echo 1 >a/f && ln -s f a/l && rsync -a a/ b && diff -r a b && readlink b/l", "rsync"),
    Row("expect drives a program on a terminal", """expect -c 'log_user 0; spawn sh -c "read x; echo got-$x"; send "word\\r"; expect got-word; puts ok'""", "expect"),
    Row("script gives a program a terminal", "script -qec 'tty >/dev/null && stty size >/dev/null && echo terminal' /dev/null | tr -d '\\r'", "script"),
    Row("ripgrep, find, xargs", "mkdir d && echo needle >d/a && rg -l needle d && find d -name a -print0 | xargs -0 cat", "rg"),
    Row("a manual page and groff", "MANPAGER=cat man ls | col -b | head -3 | tail -1", "man"),
    Row("packages: dpkg and ldconfig", "dpkg -s bash | head -2; dpkg -S /usr/bin/gcc | wc -l; /sbin/ldconfig -p | grep -c libc.so.6; lsb_release -ds 2>/dev/null; "
        ". /etc/os-release; echo $ID", "dpkg"),
    Row("tmux", "tmux -f /dev/null -S s new-session -d -x 40 -y 10 'echo hello; sleep 60' && until tmux -S s capture-pane -p | grep hello; "
        "do sleep 0.05; done; tmux -S s list-sessions | wc -l; tmux -S s kill-server", "tmux"),
    Row("ssh-agent", "eval $(ssh-agent -a $PWD/s) >/dev/null; ssh-keygen -q -t ed25519 -N '' -f k && ssh-add -q k && ssh-add -l | wc -l; "
        "kill $SSH_AGENT_PID", "ssh-agent ssh-keygen"),
    Row("gpg: a key, a signature", "mkdir -m 700 g; export GNUPGHOME=$PWD/g; gpg -q --batch --passphrase '' --quick-gen-key a@example.com ed25519 sign never "
        "2>/dev/null && echo text | gpg -q --sign | gpg -q -d 2>/dev/null; gpgconf --kill gpg-agent", "gpg gpg-agent", heavy=True),
    Row("chromium without its own sandbox", "chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
        "--disable-component-update --disable-sync --user-data-dir=$PWD/u --dump-dom 'data:text/html,<p>hello</p>' 2>/dev/null | grep -o hello", "chromium",
        heavy=True),
    Row("docker without its daemon", "docker -H unix://$PWD/none.sock ps 2>&1 | grep -ci 'cannot connect\\|no such file\\|failed to connect'", "docker"),
    # The system
    Row("Unix sockets: addresses, errors, blocking", "python3 s.py", "python3", {"s.py": UNIX_SOCKETS}),
    Row("files: locks, links, holes, FIFOs, times", """echo 1 >a && ln a b && ln -s a c && truncate -s 1M h && mkfifo p && (echo x >p &) && cat p && flock a true &&
        stat -c '%h %s' a && stat -c '%s %b' h && touch -d 2001-02-03 a && stat -c %y a | cut -c1-10 && cp -a a d && cmp a d && mv d e && readlink c""", "flock"),
    Row("modes and the umask", "umask; echo x >a; mkdir d; stat -c %a a d; chmod 750 d; chmod +x a; stat -c %a a d; install -m 600 a b; stat -c %a b"),
    Row("temporary directories: /tmp, /var/tmp, /dev/shm", "for d in /tmp /var/tmp /dev/shm; do f=$(mktemp -p $d) && printf '#!/bin/sh\\necho ran\\n' >$f && chmod +x $f && $f; rm $f; done"),
    Row("locale, time zone, sorting", "TZ=Europe/Berlin date -d @0 +%H:%M; LC_ALL=C.UTF-8 printf '%s\\n' b a ä | sort | tr '\\n' ' '; locale -a | grep -ic c.utf"),
    Row("names: users, groups, hosts, services", "getent passwd root | cut -d: -f1,3; id -un; getent services http | cut -d' ' -f1; getent hosts localhost | wc -l; "
        "getent hosts $(hostname) | wc -l"),
    Row("processors and memory", "nproc; lscpu | grep -E '^(Architecture|CPU\\(s\\))'; test -r /proc/meminfo && test -r /proc/cpuinfo && echo readable"),
    Row("processes: ps, pgrep, kill, timeout, nice", "sleep 50 & until [ \"$(ps -o comm= -p $!)\" = sleep ]; do :; done; pgrep -P $$ -x sleep | wc -l; ps -o comm= -p $!; kill $!; timeout 0.1 sleep 9; echo $?; nice -n 5 nice", "ps pgrep"),
    Row("limits can be lowered", "ulimit -n 64 && ulimit -n; (ulimit -t 1; ulimit -t)"),
]


def normal(t, text):
    return text.replace(os.fsencode(t.work), b"WORK")


def wrapped(script):
    """Its standard output, and its exit status in the last line; errors go to a file."""
    return f"{{ {script}\n}} 2>.err; echo exit $?"


def fresh(t, row, name):
    """A directory with the row's files, which is the working directory from here on."""
    t.work = t.directory(name, "project")
    for path, text in row.files.items():
        parent = t.work
        for part in path.split("/")[:-1]:
            parent = os.path.join(parent, part)
            if not os.path.isdir(parent):
                os.mkdir(parent)
                t.own(parent)
        t.file(path, text, 0o755 if text.startswith("#!") else 0o644)


def errors(t):
    try:
        with open(os.path.join(t.work, ".err"), "rb") as f:
            return f.read()[-1500:].decode("utf-8", "replace")
    except OSError:
        return "(no errors)"


def in_preset(t, script):
    run = t.exec(BASH, "-c", wrapped(script), options=["--preset", "build", "--root", t.work, "--pipes"], expect=None)
    return run.out, errors(t) + run.err.decode("utf-8", "replace")


def in_tools(t, script):
    request = {"name": "shell", "arguments": {"command": wrapped(script), "timeout_ms": TIMEOUT_S * 1000}, "request_id": 1}
    run = t.run([t.cordon, "tool", "--serve"], json.dumps(request).encode() + b"\n")
    answers = [json.loads(line) for line in run.out.splitlines()]
    if not answers:
        raise Failed(f"no answer\n{run}")
    # Helpers of Python's pools may end later than their program.
    text = answers[0]["content"].removesuffix("[processes of this command still run; their further output is not shown]")
    return (text.rstrip("\n") + "\n").encode(), errors(t)


def in_box(t, script):
    t.code(t.run([t.cordon, "box", "new", "b", t.work, "--agent", "test", "--no-start", "--yes"]), 0)
    run = t.run([t.cordon, "box", "exec", "b", "--", BASH, "-c", wrapped(script) + "; tail -c 1500 .err >&2"])
    t.code(t.run([t.cordon, "box", "destroy", "--yes", "--abandon-unapplied", "b"]), 0)
    orphans(KILLED_S)
    return run.out, run.err.decode("utf-8", "replace")


PLACES = (("preset", in_preset), ("tools", in_tools), ("box", in_box))


def check(t, row, places):
    for program in row.needs:
        if not shutil.which(program, path=t.env["PATH"] + ":/usr/sbin:/sbin"):
            raise Skipped(f"{program} is not installed")
    t.env["CORDON_HOME"] = t.directory("state")
    fresh(t, row, "outside")
    env = {k: v for k, v in t.env.items() if not k.endswith("SAN_OPTIONS")}
    # Names in /tmp that programs derive from the user (pytest-of-unknown) may be another user's.
    env.update(HOME=t.directory("outside", "home"), TMPDIR=t.directory("outside", "tmp"))
    outside = t.run([BASH, "-c", wrapped(row.script)], env=env)
    orphans(KILLED_S)  # servers that end later than the script
    want = normal(t, outside.out)
    if not want.endswith(b"exit 0\n"):
        raise Skipped(f"it fails outside: {want[-80:]!r} {errors(t)[-200:]!r}")
    for name, run in places:
        fresh(t, row, name)
        got, said = run(t, row.script)
        if normal(t, got) != want:
            raise Failed(f"{name}: got {normal(t, got)!r:.600}, outside {want!r:.600}\n{said}")


# The place of the next heavy row with --in-turn.
NEXT_PLACE = itertools.cycle(PLACES)

for one in ROWS:
    @case(one.name, who=one.who)
    def _(t, row=one, place=next(NEXT_PLACE) if one.heavy else None):
        check(t, row, [place] if place and in_turn() else PLACES)


sys.exit(main())
