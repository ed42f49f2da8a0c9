# A remedy names the flag if a flag caused the error, and the key if a file did.

## flags of exec, driver and run
$ printf '%s' '{"scenario_version": 1, "metadata": {"name": "s"}, "run": {"command": "/usr/bin/true", "args": []}, "steps": []}' >s.json
$ fix() { for c in "exec $* -- /usr/bin/true" "driver $* -- /usr/bin/true" "run $* s.json"; do cordon $c 2>&1 </dev/null | sed -n 's/^cordon: \([^:]*\):.*); \(.*\) \[E_POLICY_DENIED\]$/\1: \2/p'; done | uniq -c; }
> for f in --no-sandbox '--sandbox none --ack-unsafe-sandbox' '--sandbox landlock' --enable-network '--enable-network --no-sandbox --ack-unsafe-network'; do fix $f; done
      3 sandbox: add --ack-unsafe-sandbox and --ack-unsafe-network
      3 network: add --ack-unsafe-network
      3 sandbox: add --ack-unsafe-sandbox
      3 network: add --ack-unsafe-network
      3 sandbox: add --ack-unsafe-sandbox

## keys of a policy, also beside flags that did not cause it
$ p() { printf 'policy_version: 4\nexec: {allowed_executables: [/usr/bin/true]}\n%s\n' "$2" >$1.yaml; }
> p none 'sandbox: none'; p landlock 'sandbox: landlock'; p network 'network: enabled'; p sockets 'allow_unix_sockets: true'; p write "fs: {allowed_write: [$T]}"
> p strict "fs_strict_write: true
> artifacts: {enabled: true, dir: $T/a}"
> for f in none landlock network sockets write strict 'network --sandbox native' 'none --enable-network' 'network --no-sandbox --ack-unsafe-sandbox'; do set -- $f; cordon exec --policy $1.yaml "${@:2}" -- /usr/bin/true 2>&1 | sed 's/.*); //'; done
use 'sandbox: native', or set sandbox_unsafe_ack to true [E_POLICY_DENIED]
use 'sandbox: native', or set sandbox_unsafe_ack to true [E_POLICY_DENIED]
use 'network: disabled', or set network_unsafe_ack to true [E_POLICY_DENIED]
set allow_unix_sockets to false, or set unix_sockets_unsafe_ack to true [E_POLICY_DENIED]
set fs_write_unsafe_ack to true, or make the list empty [E_POLICY_DENIED]
add its directory to fs.allowed_write [E_POLICY_DENIED]
use 'network: disabled', or set network_unsafe_ack to true [E_POLICY_DENIED]
use 'sandbox: native', or set sandbox_unsafe_ack to true [E_POLICY_DENIED]
use 'network: disabled', or set network_unsafe_ack to true [E_POLICY_DENIED]

## flags beside a policy or a preset: --artifacts, --strict-write, --cwd, --root
$ printf 'policy_version: 4\nexec: {allowed_executables: [/usr/bin/true]}\n' >ok.yaml
> printf 'policy_version: 4\nexec: {allowed_executables: [/usr/bin/true]}\nfs: {allowed_write: [%s]}\n' $T >write.yaml
> fix() { cordon exec "$@" 2>&1 | sed 's/.*); //'; }
> fix --policy ok.yaml --artifacts a -- /usr/bin/true
> fix --policy ok.yaml --cwd $T -- /usr/bin/true
> fix --policy ok.yaml -- /usr/bin/false
> fix --strict-write --artifacts a -- true
> fix --preset readonly --artifacts a -- /usr/bin/true
> fix --preset readonly --cwd /etc -- /usr/bin/true
> fix --preset readonly --root /etc -- /usr/bin/true
> fix --preset readonly --root $T/none -- /usr/bin/true
> fix --preset readonly -- /bin/sh
> fix --preset readonly -- $T/ok.yaml
> fix --preset readonly -- no-such-program
use --artifacts with a directory inside fs.allowed_write, or add its directory there [E_POLICY_DENIED]
use --cwd with an allowed directory, or add it to fs.allowed_read [E_POLICY_DENIED]
add it there, or run an allowed program [E_POLICY_DENIED]
add --ack-unsafe-write, or omit --artifacts [E_POLICY_DENIED]
use --artifacts with a directory that the preset may write, or another preset [E_POLICY_DENIED]
use --cwd with a directory inside the preset's --root [E_POLICY_DENIED]
use --root with another directory [E_POLICY_DENIED]
use --root with another directory [E_POLICY_DENIED]
use another program or preset, or a policy of your own ('cordon policy show --preset NAME' prints one to edit) [E_POLICY_DENIED]
use another program or preset, or a policy of your own ('cordon policy show --preset NAME' prints one to edit) [E_POLICY_DENIED]
cordon: the program 'no-such-program' was not found in PATH [E_CLI_INVALID_ARG]

## the interpreter of a script is named by its key (presets and the default policy: tests/sandbox/works.py)
$ printf '#!/nope/sh\n' >x; chmod +x x; printf 'policy_version: 4\nexec: {allowed_executables: [%s]}\nlimits: {memory_bytes: 4611686018427387904}\n' $T/x >p.yaml; cordon exec --policy p.yaml -- $T/x 2>&1 | sed -n 's/.*remedy: .*also be //p'
in exec.allowed_executables

## tools and agents: flags, and the keys of a policy
$ printf 'policy_version: 4\nsandbox: none\nexec: {allowed_executables: [/usr]}\n' >none.yaml
> for c in 'tool shell --arg command=true' 'agent -p x --provider scripted'; do for f in '--sandbox landlock' --no-sandbox '--no-sandbox --fs-mode unrestricted' '--workspace x'; do cordon $c $f 2>&1; done; done
> cordon tool shell --arg command=true --policy none.yaml
cordon: with --sandbox landlock much of the system stays visible to commands: acknowledge this with --ack-unsafe-sandbox [E_POLICY_DENIED]
cordon: --no-sandbox requires --fs-mode unrestricted [E_CLI_INVALID_ARG]
cordon: commands without a sandbox have all your permissions: acknowledge this with --ack-unsafe-sandbox and --ack-unsafe-network [E_POLICY_DENIED]
cordon: --workspace requires --fs-mode workspace [E_CLI_INVALID_ARG]
cordon: with --sandbox landlock much of the system stays visible to commands: acknowledge this with --ack-unsafe-sandbox [E_POLICY_DENIED]
cordon: --no-sandbox requires --fs-mode unrestricted [E_CLI_INVALID_ARG]
cordon: commands without a sandbox have all your permissions: acknowledge this with --ack-unsafe-sandbox and --ack-unsafe-network [E_POLICY_DENIED]
cordon: --workspace requires --fs-mode workspace [E_CLI_INVALID_ARG]
cordon: sandbox: 'none' requires an acknowledgement (the policy would not be enforced); use 'sandbox: native', or set sandbox_unsafe_ack to true [E_POLICY_DENIED]
? 2

## tools: a message names the flag that was typed, also if it is an old name
$ cordon tool list_dir --agent x; cordon tool list_dir --fs-mode workspace --agent=a/b; cordon tool list_dir --agent
cordon: --agent requires --fs-mode workspace [E_CLI_INVALID_ARG]
cordon: --agent: 'a/b' is not a valid workspace name: expected letters and digits in groups joined by one of . _ -, at most 56 characters [E_CLI_INVALID_ARG]
cordon: --agent needs a value: --agent NAME [E_CLI_INVALID_ARG]
cordon: try 'cordon tool --help'
? 12

## boxes: flags
$ mkdir p; for f in '--network on --allow-host x' '--port 1' '--memory x'; do cordon box new b p --agent test --no-start $f; done
cordon: --network on and --allow-host cannot be combined [E_CLI_INVALID_ARG]
cordon: --port '1': expected HOST:BOX, two ports from 1 to 65535, such as 8080:3000 [E_CLI_INVALID_ARG]
cordon: --memory 'x': expected a number of bytes, such as 512M or 4G [E_CLI_INVALID_ARG]
? 12
