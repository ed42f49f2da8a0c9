# SPDX-License-Identifier: Apache-2.0
"""Features that this kernel lacks, so that a control outside cannot work: found by probing the kernel, never by its version.
Probed only if a control failed; with a kernel that has the feature, the failure counts."""
import ctypes
import errno
import os
import socket

AF_VSOCK = 40
MFD_EXEC = 0x10
LIBC = ctypes.CDLL(None, use_errno=True)


def call(name, number):
    """Makes a system call with arguments that it must refuse if it exists."""
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
    """Returns the reason why a control cannot work here, or None."""
    return LOOKS[need]() if need else None
