# SPDX-License-Identifier: Apache-2.0
"""Attempts to use more than a policy allows or than a share of the user's resources: resources that are not counted,
or are counted for all processes of a user. The probe reports how much it held; `most` is the maximum inside."""
import os
import resource

from row import Row

MIB = 1 << 20
FEW_SIGNALS = 2000
SHARE = 4  # a sandbox gets this fraction of its user's resources
SOFT_PIPE_PAGES = "/proc/sys/fs/pipe-user-pages-soft"
INOTIFY = "/proc/sys/fs/inotify/max_user_instances"
RESVSP64, RESVSP, ZERO_RANGE = "0x4030582a", "0x40305828", "0x40305839"
KEEP_SIZE, ZERO, UNSHARE = 1, 0x10, 0x40


def setting(path):
    with open(path, encoding="ascii") as f:
        return int(f.read().split()[0])


def held(result):
    lines = [l for l in result.lines if l.startswith("held ")]
    return int(lines[-1].split()[1]) if lines else None


def more_than(most):
    """Finds that the probe held more. `most` is a number or a function without arguments, since settings differ."""
    def effect(w, result, inside):
        n, limit = held(result), most() if callable(most) else most
        assert n is not None or not inside, "the probe did not say what it held"
        return f"held {n}, allowed are {limit}" if n is not None and n > limit else None
    return effect


def limits(**values):
    def policy(w, p):
        p["limits"] = values
    return policy


def core_limit(w, result, inside):
    """With any limit except 1 the kernel may start a program of the host for a core file."""
    lines = [l for l in result.lines if l.startswith("core ")]
    assert lines, "the probe did not tell the limit"
    return lines[0] if lines[0] != "core 1 1" else None


def landlocked(w, policy):
    policy.update(sandbox="landlock", sandbox_unsafe_ack=True)


MEMORY = limits(memory_bytes=64 * MIB)
FILES = limits(file_bytes=MIB)
LOTS = limits(open_files=4096)
QUEUES = "limits: SysV message queues and semaphores are not limited"

ROWS = [
    Row("SysV shared memory, detached", ["segments", str(16 * MIB), "16"], more_than(64 * MIB), policy=MEMORY),
    Row("SysV shared memory in small pieces", ["segments", str(MIB // 4), "1024"], more_than(64 * MIB), policy=MEMORY),
    Row("SysV shared memory in one piece", ["segments", str(256 * MIB), "1"], more_than(64 * MIB), policy=MEMORY),
    Row("an anonymous shared mapping", ["shared", str(256 * MIB)], more_than(64 * MIB), policy=MEMORY),
    Row("SysV message queues", ["messages", "2000"], more_than(64), gap=QUEUES),
    Row("SysV message queues with a small memory limit", ["messages", "2000"], more_than(16), policy=MEMORY, gap=QUEUES),
    Row("SysV semaphores", ["semaphores", "250", "200"], more_than(32000), gap=QUEUES),
    Row("SysV semaphores in one array", ["semaphores", "32000", "2"], more_than(32000), gap=QUEUES),
    *[Row(f"space beyond the end of a file, fallocate mode {mode:#x}", ["space", "{W}/big", str(mode), str(17 * MIB)],
          more_than(2 * MIB), policy=FILES, **more)
      for mode, more in ((KEEP_SIZE, {}), (KEEP_SIZE | ZERO, {}),
                         (KEEP_SIZE | UNSHARE, {"control": None, "why": "not every file system has it"}))],
    *[Row(f"space beyond the end of a file by ioctl {request}", ["spaceioctl", "{W}/big", request, str(17 * MIB)],
          more_than(2 * MIB), policy=FILES) for request in (RESVSP, RESVSP64, ZERO_RANGE)],
    Row("insert a range into a file", ["insert", "{W}/big", str(16 * MIB)], more_than(2 * MIB), policy=FILES),
    Row("inotify instances of the user", ["watchers", "100"],
        more_than(lambda: setting(INOTIFY) // SHARE), control="lone"),
    Row("pipe pages of the user", ["pipes", "400", str(MIB)],
        more_than(lambda: setting(SOFT_PIPE_PAGES) * os.sysconf("SC_PAGESIZE") // 2), control="lone"),
    Row("pending signals of the user", ["signals", "1000000"],
        more_than(lambda: resource.getrlimit(resource.RLIMIT_SIGPENDING)[0] // SHARE), control="lone"),
    Row("pending signals of the user, sent to pid 1", ["pending", "1", "500"], more_than(FEW_SIGNALS // SHARE),
        control_args=["signals", "1000"], both=("prlimit", f"--sigpending={FEW_SIGNALS}")),
    Row("POSIX queues of the user", ["queues", "200"], more_than(2), control="lone"),
    Row("terminals of the machine", ["terminals", "700"], more_than(512), policy=LOTS),
    Row("AIO contexts of the machine", ["contexts", "128"], more_than(0)),
    Row("vmsplice pages into a pipe", ["syscall", "vmsplice", "0xffffffff", "0", "0", "0"], "reach"),
    Row("RLIMIT_CORE set to 0", ["corelimit"], core_limit),
    Row("RLIMIT_CORE set to 0, without namespaces", ["corelimit"], core_limit, policy=landlocked),
]
