# SPDX-License-Identifier: Apache-2.0
"""Simulates the system calls of an older kernel: numbers from a limit on are ENOSYS, by a seccomp filter. From 424 on they are the
same on every processor. Its release is 2.6: the only other one that a kernel can report, by its personality."""
import ctypes
import errno
import struct

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
RET_ALLOW, RET_ERRNO = 0x7FFF0000, 0x00050000
LD_WORD, JUMP_GE, RETURN = 0x20, 0x35, 0x06
UNAME26 = 0x0020000

# The first system call that each kernel lacks.
LINUX = {
    "4.18": 424,  # pidfd_send_signal: RHEL 8
    "5.4": 436,  # close_range: Ubuntu 20.04; openat2 came with 5.6
    "5.10": 441,  # epoll_pwait2: Debian 11; Landlock came with 5.13
}

libc = ctypes.CDLL(None, use_errno=True)


def become(version):
    """To be called before exec."""
    rows = [
        (LD_WORD, 0, 0, 0),
        (JUMP_GE, 0, 1, LINUX[version]),
        (RETURN, 0, 0, RET_ERRNO | errno.ENOSYS),
        (RETURN, 0, 0, RET_ALLOW),
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("<HBBI", *row) for row in rows))
    program = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", len(rows), ctypes.addressof(code)))
    if libc.personality(UNAME26) < 0:
        raise OSError(ctypes.get_errno(), "personality")
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp")
