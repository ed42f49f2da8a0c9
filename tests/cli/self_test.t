# The command line of cordon self-test; its checks are tested by tests/sandbox/faults.py. See run.py for the format.

## invalid command lines
$ cordon self-test x
cordon: unexpected argument 'x' [E_CLI_INVALID_ARG]
cordon: try 'cordon self-test --help'
? 12
$ cordon self-test-act nothing x
cordon: no such act: 'nothing' [E_CLI_INVALID_ARG]
? 12

## the hidden command of its checks is not offered
$ cordon help | grep -c self-test-act; cordon completions bash | grep -c self-test-act
0
0
? 1

## the checks fail outside of a sandbox: controls
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
