# cordon exec: output and exit statuses. Enforcement is tested by tests/sandbox.

## a command, its output, its failure
$ mkdir work && cd work && echo text >file && cordon exec -- cat file
text
$ cd work && cordon exec -- cat nothing
cat: nothing: No such file or directory
cordon: the command failed with exit status 1 [E_PROCESS_EXIT]
? 6
$ cd work && cordon exec --exit-code child -- cat nothing 2>/dev/null
? 1
$ cd work && echo piped | cordon exec -- cat -
piped

## the environment is not the caller's
$ SECRET=1 cordon exec -- printenv
TERM=xterm-256color
LANG=C.UTF-8
PATH=/usr/local/bin:/usr/bin:/bin

## the home directory as working directory
$ cd home && cordon exec -- pwd
cordon: warning: '$T/home' cannot be the working directory (it is the home directory, with keys and settings): the command starts in its private /tmp; use --cwd DIR for another directory
/tmp
$ cordon exec --no-sandbox --ack-unsafe-sandbox --ack-unsafe-network --cwd / -- pwd
cordon: warning: '/' cannot be the working directory (it is the whole file system): the command starts in /tmp; use --cwd DIR for another directory
cordon: warning: NO SANDBOX: the policy is not enforced
/tmp
$ cordon exec --cwd /no/such -- pwd
cordon: fs.working_dir: cannot be entered: '/no/such' (No such file or directory); use --cwd with another directory [E_POLICY_DENIED]
? 2

## arguments after the command belong to it, with and without "--"
$ cordon exec echo --json -v -- a
--json -v -- a
$ cordon exec -- echo -- --help
-- --help
$ cordon exec --no-such-option echo
cordon: 'cordon exec' has no option '--no-such-option' [E_CLI_INVALID_ARG]
cordon: try 'cordon exec --help'
? 12

## usage
$ cordon exec
cordon: 'cordon exec' needs COMMAND: cordon exec [OPTION…] [--] COMMAND [ARGUMENT…] [E_CLI_INVALID_ARG]
cordon: try 'cordon exec --help'
? 12
$ cordon exec --pty --pipes -- true
cordon: --pty and --pipes cannot be combined [E_CLI_INVALID_ARG]
? 12
$ cordon exec --policy p --preset c -- true
cordon: --policy and --preset cannot be combined [E_CLI_INVALID_ARG]
? 12
$ cordon exec --root . -- true
cordon: --root requires --preset [E_CLI_INVALID_ARG]
? 12
$ cordon exec -- no-such-program
cordon: the program 'no-such-program' was not found in PATH [E_CLI_INVALID_ARG]
? 12
$ cordon exec -- /etc/passwd
cordon: the program '/etc/passwd' is not executable [E_CLI_INVALID_ARG]
? 12
$ cordon exec -- /tmp
cordon: the program '/tmp' is a directory [E_CLI_INVALID_ARG]
? 12
$ cordon exec -- /no/such
cordon: the program '/no/such' does not exist [E_CLI_INVALID_ARG]
? 12

## the default budgets are in the help, and an error names the key that changes them
$ cordon exec --help | tr '\n' ' ' | grep -o 'run for 60 seconds and print 8 MiB'
run for 60 seconds and print 8 MiB
$ printf 'policy_version: 4\nexec: {allowed_executables: [/usr/bin/sleep]}\nfs: {allowed_read: [/usr/share], working_dir: /usr/share}\nbudgets: {max_runtime_ms: 50}\n' >p.yaml; cordon exec --policy p.yaml -- /usr/bin/sleep 60
cordon: the command ran longer than 50 ms and was killed; set budgets.max_runtime_ms in a policy (--policy) to allow more [E_TIMEOUT]
? 4

## a policy allows and denies
$ printf 'policy_version: 4\nexec: {allowed_executables: [/usr/bin/true]}\n' >p.yaml
$ cordon exec --policy p.yaml -- /usr/bin/true
cordon: warning: the policy has no fs.working_dir: the command starts in its private /tmp; use --cwd DIR for another directory
$ cordon exec --policy p.yaml -- /usr/bin/false
cordon: command: not an allowed program: '/usr/bin/false' (/usr/bin/false is not in exec.allowed_executables); add it there, or run an allowed program [E_POLICY_DENIED]
? 2
$ cordon exec --policy p.yaml -- true
cordon: command: must be an absolute path: 'true' (with a policy, programs are not looked up in PATH); use an absolute path [E_POLICY_DENIED]
? 2
$ cordon exec --policy gone.yaml -- /usr/bin/true
cordon: cannot open the policy 'gone.yaml': No such file or directory [E_IO]
? 10
$ cordon exec --no-sandbox -- true
cordon: sandbox: 'none' requires an acknowledgement (the policy would not be enforced); add --ack-unsafe-sandbox and --ack-unsafe-network [E_POLICY_DENIED]
? 2
$ cordon exec --enable-network -- true
cordon: network: 'enabled' requires an acknowledgement (all data that the program reads could be sent out); add --ack-unsafe-network [E_POLICY_DENIED]
? 2

## --explain-policy runs nothing and lists the grants
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
cordon: the artifacts directory '$T/art' is not empty: choose a new one, or set artifacts.overwrite [E_CONFLICT]
? 19
$ cd work && cordon exec --artifacts hidden -- ls -1a hidden >/dev/null; tr -d '\r' <hidden/transcript.log; rm -r hidden
.
..
$ cordon exec --artifacts $T/art2 --strict-write -- true
cordon: fs_strict_write: write access requires explicit acknowledgement: 'true' (artifacts are written); add --ack-unsafe-write, or omit --artifacts [E_POLICY_DENIED]
? 2

## a weaker sandbox, selected by option
$ cordon exec --sandbox landlock -- true
cordon: sandbox: 'landlock' requires an acknowledgement (without namespaces much of the system stays visible); add --ack-unsafe-sandbox [E_POLICY_DENIED]
? 2
$ mkdir w && cd w && cordon exec --sandbox landlock --ack-unsafe-sandbox -- ls -a
.
..
$ cordon exec --sandbox landlock --ack-unsafe-sandbox --json -- true | python3 -c 'import json,sys; d=json.load(sys.stdin); print(d["status"], d["sandbox_report"]["mode"], len(d["sandbox_report"]["gaps"]) > 5)'
passed landlock True
$ cordon exec --sandbox weak -- true
cordon: invalid value 'weak' for --sandbox: expected 'native', 'landlock', 'none' [E_CLI_INVALID_ARG]
cordon: try 'cordon exec --help'
? 12

## a weaker sandbox, selected by settings with an acknowledgement
$ mkdir -p home/.config/cordon w; cd w; printf 'sandbox: {mode: landlock}\n' >../home/.config/cordon/config.yaml; cordon exec -- true
cordon: $T/home/.config/cordon/config.yaml:1:11: sandbox.mode: 'landlock' is a weaker sandbox: acknowledge it with 'unsafe_ack: true', or use 'native' [E_CONFIG]
? 17
$ cd w; printf 'sandbox: {mode: landlock, unsafe_ack: true}\n' >../home/.config/cordon/config.yaml; cordon exec -- echo hi; cordon exec --sandbox native -- echo hi
cordon: warning: weaker sandbox because of your settings (sandbox.mode: landlock)
hi
hi

## without a sandbox, acknowledged
$ cordon exec --no-sandbox --ack-unsafe-sandbox -- true
cordon: network: network policy cannot be enforced without sandbox: 'disabled' (without a sandbox the program reaches the network); add --ack-unsafe-network [E_POLICY_DENIED]
? 2
$ cordon exec --no-sandbox --ack-unsafe-sandbox --ack-unsafe-network -- echo free
cordon: warning: NO SANDBOX: the policy is not enforced
free

## standard output and error keep their order where both go to the same place, and are apart otherwise
$ printf '#!/bin/bash\nfor i in 1 2 3; do echo out$i; printf err >&2; echo $i >&2; done\n' >w; chmod +x w; p="--pipes --preset build"
> cordon exec $p -- $T/w | paste -sd' '; cordon exec $p -- $T/w 2>&1 | paste -sd' '
err1
err2
err3
out1 out2 out3
out1 err1 out2 err2 out3 err3
$ p="--pipes --preset build"; cordon exec $p -- $T/w >f 2>&1; paste -sd' ' f; cordon exec $p -- $T/w >f 2>g; paste -sd' ' f; paste -sd' ' g; cordon exec $p -- $T/w >>f 2>>f; tail -n +4 f | paste -sd' '
out1 err1 out2 err2 out3 err3
out1 out2 out3
err1 err2 err3
out1 err1 out2 err2 out3 err3
$ p="--pipes --preset build"; cordon exec $p --json -- $T/w | python3 -c 'import json,sys; print(json.load(sys.stdin)["final_observation"]["transcript_delta"].split())'
['out1', 'err1', 'out2', 'err2', 'out3', 'err3']
$ cordon exec --pipes -- ls $T/none /nope 2>&1 | cat
ls: cannot access '$T/none': No such file or directory
ls: cannot access '/nope': No such file or directory
cordon: the command failed with exit status 2 [E_PROCESS_EXIT]
