# The command line of cordon self-test; its checks are tried in tests/sandbox/faults.py. See run.py for the format.

## wrong words
$ cordon self-test x
cordon: 'cordon self-test' takes no further argument: 'x' [E_CLI_INVALID_ARG]
cordon: try 'cordon self-test --help'
? 12
$ cordon self-test-act nothing x
cordon: there is no act 'nothing' [E_CLI_INVALID_ARG]
? 12

## the hidden command of its acts is not offered
$ cordon help | grep -c self-test-act; cordon completions bash | grep -c self-test-act
0
0
? 1

## the acts, outside of a sandbox: controls
$ cordon self-test-act hello you
hello you
$ cordon self-test-act read /etc/passwd && cordon self-test-act read $T/none
read
refused: No such file or directory
$ cordon self-test-act write $T/new && cat new && cordon self-test-act write $T/none/new
wrote
written
refused: No such file or directory
$ cordon self-test-act fork 40
forked 40
$ cordon self-test-act memory 8589934592
allocated
$ cordon self-test-act answer 'who?' <<< me
who? answer: me
$ cordon self-test-act connect 1
refused: Connection refused
