# SPDX-License-Identifier: Apache-2.0
"""What this kernel lacks, so that a control outside can't work: found by asking the kernel, never by its version. Asked
only about a control that failed; a kernel that has the thing has no excuse."""
import ctypes
import errno
import os
import socket

AF_VSOCK = 40
MFD_EXEC = 0x10
LIBC = ctypes.CDLL(None, use_errno=True)


def call(name, number):
    """A system call, with arguments that it must refuse if it is there."""
    def look():
        args = [ctypes.c_long(a) for a in (number, -1, 0, 0, -1, -1)]
        missing = LIBC.syscall(*args) == -1 and ctypes.get_errno() == errno.ENOSYS
        return f"this kernel has no {name}" if missing else None
    return look


def memfd_exec():
    os.close(os.memfd_create("x", 0))
    try:
        os.close(os.memfd_create("x", MFD_EXEC))
    except OSError as e:
        if e.errno == errno.EINVAL:
            return "memfd_create of this kernel has no MFD_EXEC"
    return None


def vsock():
    try:
        socket.socket(AF_VSOCK, socket.SOCK_STREAM).close()
    except OSError as e:
        if e.errno == errno.EAFNOSUPPORT:
            return "this kernel has no vsock"
    return None


def cpus():
    return "this machine has one CPU" if os.cpu_count() == 1 else None


LOOKS = {
    "file_setattr": call("file_setattr", 469),
    "open_tree_attr": call("open_tree_attr", 467),
    "memfd_secret": call("memfd_secret", 447),
    "memfd_exec": memfd_exec,
    "vsock": vsock,
    "cpus": cpus,
}


def lacks(need):
    """The reason why a control can't work here, or None."""
    return LOOKS[need]() if need else None
