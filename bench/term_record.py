# SPDX-License-Identifier: Apache-2.0
"""Records the output of programs on a terminal of 80x24 while fixed keys are typed."""
import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time

ROWS, COLS = 24, 80
PAUSE_S = 0.08  # this long without output: the program has finished drawing
PATIENCE_S = 0.6  # some never stop drawing
END_S = 5

DOWN, PAGE, UP = "\x1b[B", "\x1b[6~", "\x1b[A"
KEYS = {
    "vim": (["vim", "-u", "NONE", "-i", "NONE", "-n", "-c", "syntax on | set number nocp", "{text}"],
            ["G", "gg"] + ["\x06"] * 12 + ["\x02"] * 4 + ["j"] * 30 + ["/struct\r"] + ["n"] * 15 +
            ["othe quick brown fox\x1b", "yyp", "dd", "u", "u", ":split\r", "\x06", "\x06", "\x17w", "\x06",
             ":set nonumber\r", "ggVG", "\x1b", ":qa!\r"]),
    "htop": (["htop", "-d", "2"],
             [DOWN] * 10 + [PAGE] * 3 + [UP] * 5 + ["t", "", "", "t", "", "H", "\x1b[15~", "", "/init\r", "",
                                                    "\x1bOS", "\x1b", "", "q"]),
    "less": (["less", "{text}"],
             [" "] * 12 + ["b"] * 4 + ["j"] * 20 + ["k"] * 10 + ["/static\r"] + ["n"] * 12 + ["G", "g", "-N\r", "d",
                                                                                             "d", "u", "q"]),
    "mc": (["mc", "-u", "--nosubshell", "{dir}", "/usr/bin"],
           [DOWN] * 12 + ["\t"] + [PAGE] * 8 + [DOWN] * 10 + ["\x1b[20~", DOWN, DOWN, "\x1b\x1b", "\x1bOR", "",
                                                             "\x1b[21~", "\t", "\x1bOQ", "\x1b\x1b", "\x1b[21~", "\r"]),
    "nano": (["nano", "--ignorercfiles", "-l", "{text}"],
             ["\x16"] * 12 + ["\x19"] * 5 + [DOWN] * 30 + ["hello world\r", "\x0b", "\x15", "\x17static\r", "\x17\r",
                                                           "\x07", "\x18", "\x18", "n"]),
}


def read_until_quiet(fd, out):
    end = time.monotonic() + PATIENCE_S
    while (left := end - time.monotonic()) > 0 and select.select([fd], [], [], min(left, PAUSE_S))[0]:
        try:
            piece = os.read(fd, 1 << 16)
        except OSError:
            piece = b""
        if not piece:
            return False
        out.append(piece)
    return True


def wait_end(pid, fd, out):
    """Waits for the end that was requested; kills the program if it does not come."""
    end = time.monotonic() + END_S
    while read_until_quiet(fd, out) and time.monotonic() < end:
        pass
    if time.monotonic() >= end:
        os.kill(pid, signal.SIGKILL)
    os.close(fd)
    os.waitpid(pid, 0)


def record(name, text, directory, home):
    """The bytes that the program printed; `text` is a file to show, `directory` one to list."""
    command, keys = KEYS[name]
    command = [word.format(text=text, dir=directory) for word in command]
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(home)
        os.execvpe(command[0], command, {
            "PATH": os.environ["PATH"], "HOME": home, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "TZ": "UTC"})
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLS, 0, 0))
    out = []
    alive = read_until_quiet(fd, out)
    for key in keys:
        if not alive:
            break
        os.write(fd, key.encode())
        alive = read_until_quiet(fd, out)
    wait_end(pid, fd, out)
    return b"".join(out)
