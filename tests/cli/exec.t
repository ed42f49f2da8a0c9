# Running commands: what is printed, and with which status. What is enforced is for tests/sandbox.

## a command, its output, its failure
$ mkdir work && cd work && echo text >file && cordon exec -- cat file
text
$ cd work && cordon exec -- cat nothing
cat: nothing: No such file or directory
cordon: the command ended with exit code 1 [E_PROCESS_EXIT]
? 6
$ cd work && cordon exec --exit-code child -- cat nothing 2>/dev/null
? 1
$ cd work && echo piped | cordon exec -- cat -
piped

## the environment is not the caller's
$ SECRET=1 cordon exec -- env
TERM=xterm-256color
LANG=C.UTF-8

## the home directory as working directory
$ cd home && cordon exec -- pwd
cordon: warning: no working directory is allowed: the command starts in its private /tmp
/tmp

## usage
$ cordon exec
cordon: 'cordon exec' needs an argument: cordon exec -- COMMAND [ARGUMENT…] [E_CLI_INVALID_ARG]
cordon: try 'cordon exec --help'
? 12
$ cordon exec --pty --pipes -- true
cordon: --pty or --pipes, not both [E_CLI_INVALID_ARG]
? 12
$ cordon exec --policy p --preset c -- true
cordon: --policy or --preset, not both [E_CLI_INVALID_ARG]
? 12
$ cordon exec --root . -- true
cordon: --root goes with --preset [E_CLI_INVALID_ARG]
? 12
$ cordon exec -- no-such-program
cordon: there is no program 'no-such-program' [E_CLI_INVALID_ARG]
? 12

## a policy decides
$ printf 'policy_version: 4\nexec: {allowed_executables: [/usr/bin/true]}\n' >p.yaml
$ cordon exec --policy p.yaml -- /usr/bin/true
cordon: warning: no working directory is allowed: the command starts in its private /tmp
$ cordon exec --policy p.yaml -- /usr/bin/false
cordon: command: executable is not allowlisted: '/usr/bin/false' (/usr/bin/false is not in exec.allowed_executables); add it there, or run one that is [E_POLICY_DENIED]
? 2
$ cordon exec --policy p.yaml -- true
cordon: command: command must be an absolute path: 'true' (with a policy no program is looked up in PATH); write the whole path, from / on [E_POLICY_DENIED]
? 2
$ cordon exec --policy gone.yaml -- /usr/bin/true
cordon: cannot open the policy 'gone.yaml': No such file or directory [E_IO]
? 10
$ cordon exec --no-sandbox -- true
cordon: sandbox: sandbox disabled without explicit acknowledgement: 'none' (nothing of the policy would be enforced); add --ack-unsafe-sandbox and --ack-unsafe-network [E_POLICY_DENIED]
? 2
$ cordon exec --enable-network -- true
cordon: network: network enabled without explicit acknowledgement: 'enabled' (whatever the program reads could be sent away); add --ack-unsafe-network [E_POLICY_DENIED]
? 2

## --explain-policy runs nothing and says what would be granted
$ cordon exec --explain-policy --json -- touch $T/made | python3 -c 'import json,sys; d=json.load(sys.stdin); print(d["allowed"], d["errors"], d["grants"]["exec"][0]["resolved"], d["sandbox_report"]["mode"], len(d["plan"]["steps"]) > 10)'
True [] /usr/bin/touch seatbelt True
$ ls
home
$ cordon exec --explain-policy --json --enable-network -- true | python3 -c 'import json,sys; d=json.load(sys.stdin); print(d["allowed"], d["errors"][0]["code"], d["grants"])'; echo ${PIPESTATUS[0]}
False E_POLICY_DENIED {}
2

## the result as JSON
$ cordon exec --json -- echo hello | python3 -c 'import json,sys; d=json.load(sys.stdin); print(d["status"], d["exit_status"], repr(d["final_observation"]["transcript_delta"]), d["args"])'
passed {'success': True, 'exit_code': 0, 'signal': None, 'terminated_by_harness': False} 'hello\r\n' ['hello']
$ cordon exec --json --pipes -- cat /nothing 2>/dev/null | python3 -c 'import json,sys; d=json.load(sys.stdin); print(d["status"], d["exit_status"]["exit_code"], d["error"]["code"])'; echo ${PIPESTATUS[0]}
failed 1 E_PROCESS_EXIT
6

## artifacts
$ mkdir -p work && cd work && cordon exec --artifacts ../art -- echo hello >/dev/null && tr -d '\r' <../art/transcript.log && ls ../art
hello
checksums.json
events.jsonl
normalization.json
policy.json
run.json
snapshots
transcript.log
$ cd work && cordon exec --artifacts ../art -- echo hello
cordon: the artifacts directory '$T/art' is not empty: name a new one, or set artifacts.overwrite [E_CONFLICT]
? 19
$ cd work && cordon exec --artifacts hidden -- ls -1a hidden >/dev/null; tr -d '\r' <hidden/transcript.log; rm -r hidden
.
..
$ cordon exec --artifacts $T/art2 --strict-write -- true
cordon: fs_strict_write: write access requires explicit acknowledgement: 'true' (artifacts are written); add --ack-unsafe-write, or leave out --artifacts [E_POLICY_DENIED]
? 2

## a weaker sandbox, by name
$ cordon exec --sandbox landlock -- true
cordon: sandbox: weaker sandbox without explicit acknowledgement: 'landlock' (without namespaces much of the system stays visible); add --ack-unsafe-sandbox [E_POLICY_DENIED]
? 2
$ mkdir w && cd w && cordon exec --sandbox landlock --ack-unsafe-sandbox -- ls -a
.
..
$ cordon exec --sandbox landlock --ack-unsafe-sandbox --json -- true | python3 -c 'import json,sys; d=json.load(sys.stdin); print(d["status"], d["sandbox_report"]["mode"], len(d["sandbox_report"]["gaps"]) > 5)'
passed landlock True
$ cordon exec --sandbox weak -- true
cordon: 'weak' is no value for --sandbox, which takes 'native', 'landlock', 'none' [E_CLI_INVALID_ARG]
cordon: try 'cordon exec --help'
? 12

## the weaker one by the settings, which must agree to it
$ mkdir -p home/.config/cordon w; cd w; printf 'sandbox: {mode: landlock}\n' >../home/.config/cordon/config.yaml; cordon exec -- true
cordon: $T/home/.config/cordon/config.yaml:1:11: sandbox.mode: 'landlock' is a weaker sandbox: add 'unsafe_ack: true' to agree, or write 'native' [E_CONFIG]
? 17
$ cd w; printf 'sandbox: {mode: landlock, unsafe_ack: true}\n' >../home/.config/cordon/config.yaml; cordon exec -- echo hi; cordon exec --sandbox native -- echo hi
cordon: warning: weaker sandbox by your settings (sandbox.mode: landlock)
hi
hi

## without a sandbox, acknowledged
$ cordon exec --no-sandbox --ack-unsafe-sandbox -- true
cordon: network: network policy cannot be enforced without sandbox: 'disabled' (without a sandbox the program reaches the network); add --ack-unsafe-network [E_POLICY_DENIED]
? 2
$ cordon exec --no-sandbox --ack-unsafe-sandbox --ack-unsafe-network -- echo free
cordon: warning: NO SANDBOX: nothing of the policy is enforced
free
