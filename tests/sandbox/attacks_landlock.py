# SPDX-License-Identifier: Apache-2.0
"""Attempts without namespaces (`sandbox: landlock`), where the host's processes, queues and directories are visible:
the filter and Landlock still block these. The open ones are in the report's `gaps`."""
from attacks_limits import landlocked
from attacks_proc import KILL, STOP, ipc
from row import Row

SIGNALS = "processes: landlock before abi 6 does not block signals and abstract sockets"


def weak(name, args, effect, **more):
    return Row(name + ", without namespaces", args, effect, policy=landlocked, **more)


ROWS = [
    weak("end a process by its CPU time limit", ["cpulimit", "{victim}"], "harm", victim=True),
    weak("prlimit", ["prlimit", "{victim}"], "harm", victim=True),
    weak("sched_setaffinity", ["affinity", "{victim}"], "harm", victim=True, needs="cpus"),
    weak("setpriority", ["nice", "0", "{victim}"], "harm", victim=True),
    weak("setpriority of a group", ["nice", "1", "{victim}"], "harm", victim=True),
    weak("setpriority of a user", lambda w: ["nice", "2", str(w.uid)], "harm", control="lone", victim=True),
    weak("ioprio_set", ["ioprio", "1", "{victim}"], "harm", victim=True),
    weak("ioprio_set of a user", lambda w: ["ioprio", "3", str(w.uid)], "harm", control="lone", victim=True),
    weak("sched_setscheduler", ["scheduler", "{victim}"], "harm", victim=True),
    weak("sched_setparam, sched_setattr", ["schedule", "{victim}"], "did", victim=True),
    weak("kill a process", ["kill", "{victim}", KILL], "harm", victim=True, gap=SIGNALS),
    weak("stop a process", ["kill", "{victim}", STOP], "harm", victim=True, gap=SIGNALS),
    weak("kill all processes", ["die"], "harm", control="lone", victim=True, dies=True),
    weak("tgkill, tkill", ["tgkill", "{victim}", KILL], "harm", victim=True, gap=SIGNALS),
    weak("sigqueue", ["sigqueue", "{victim}", KILL], "harm", victim=True, gap=SIGNALS),
    weak("pidfd_send_signal", ["pidfdkill", "{victim}", KILL], "harm", victim=True, gap=SIGNALS),
    weak("a signal by F_SETOWN on a pipe", ["setown", "{victim}", KILL], "harm", victim=True, gap=SIGNALS),
    weak("trace a process", ["attach", "{victim}"], "did", victim=True),
    weak("read memory of a process", ["vmread", "{victim}", "{address}"], "leak", victim=True),
    weak("write memory of a process", ["vmwrite", "{victim}", "{address}", "bad"], "harm", victim=True),
    weak("memory of a process by /proc", ["procmem", "{victim}", "{address}"], "leak", victim=True),
    weak("environment of a process", ["read", "/proc/{victim}/environ"], "leak", victim=True),
    weak("files of a process through /proc", ["read", "/proc/{victim}/root{S}", "--", "read", "/proc/{victim}/fd/3"], "leak",
         victim=True),
    weak("take descriptors of a process", ["getfd", "{victim}"], "leak", victim=True),
    weak("move_pages of a process", ["pages", "{victim}", "{address}"], "did", victim=True),
    weak("kcmp", ["kcmp", "{victim}"], "did", victim=True),
    weak("shared memory of the host", ["shm", "{key}", "{shm}"], "leak", setup=ipc),
    weak("a message queue of the host", ["msg", "{key}", "{queue}"], "leak", setup=ipc),
    weak("semaphores of the host", ["sem", "{key}", "{sem}"], "did", setup=ipc),
    weak("a POSIX queue of the host", ["mq", "{mq}"], "leak", setup=ipc),
    weak("watch file names with inotify", ["watch", "{out}"], "did"),
    weak("read a file outside", ["read", "{S}"], "leak"),
]
