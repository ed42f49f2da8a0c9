# SPDX-License-Identifier: Apache-2.0
"""One attempt to break out, as data, and how it is made and judged.

`args` are the probe's; {R}, {W}, {S} and so on are filled in from the world. `effect` is the goal of the
attempt, and therefore what the control must show:

    leak      the secret appears in the output
    changed   a file outside W has changed (content, mode, times, links, attributes)
    accept    a socket of the host was reached
    harm      the victim process is dead or has changed
    ran       a program ran and printed its token
    did       the call worked, as reported by the probe
    reach     the call reached the kernel: any error except EPERM, EACCES, ENOSYS
    function  (world, result, inside) -> what escaped, or None

Inside, none of the first five may occur, whatever the goal of the attempt. `control` is the user who makes
it outside: "same" user, "root", "lone" (a separate user ID), or None with the reason in `why`. `needs` names a feature
that not every kernel has; kernel.py looks for it when the control fails, and then only the attempt inside counts. `gap` is
the prefix of a gap that the report must list if the attempt works inside, on a kernel that cannot prevent it.
"""
import kernel
import world as worlds

REFUSED = {"EPERM", "EACCES", "ENOSYS"}


class Row:
    def __init__(self, name, args, effect, n=0, control="same", why=None, policy=None, setup=None, **more):
        self.name, self.args, self.effect, self.n = name, args, effect, n
        self.control, self.why, self.policy, self.setup = control, why, policy, setup
        self.control_args = more.pop("control_args", None)  # if outside and inside differ
        self.prefix = more.pop("prefix", ())  # a program that runs the control
        self.both = more.pop("both", ())  # a program that runs the control and cordon
        self.net = more.pop("net", False)
        self.victim = more.pop("victim", False)
        self.terminal = more.pop("terminal", False)
        self.dies = more.pop("dies", False)  # the probe may be killed by the attempt
        self.refused = more.pop("refused", False)  # the policy itself may be refused
        self.how = more.pop("how", None)  # (world) -> arguments of World.run
        self.options = more.pop("options", ("--pipes",))
        self.cwd = more.pop("cwd", None)  # "" to omit it
        self.command = more.pop("command", "{probe}")
        self.only = more.pop("only", None)  # the only processor that has the feature (platform.machine())
        self.needs = more.pop("needs", None)
        self.gap = more.pop("gap", None)
        self.base = more.pop("base", None)  # where its world must be made, regardless of the suite's base
        assert not more, more
        assert (control is None) == (why is not None), name
        assert self.needs is None or self.needs in kernel.LOOKS, name


def make_world(suite, row, uid, inside):
    w = worlds.World(suite, uid)
    try:
        if row.net:
            w.listeners = worlds.Listeners(w)
        if row.victim:
            w.victim = worlds.Victim(w)
        # Inside, pid 1 is the sandbox's; outside, the victim process represents it.
        w.extra["one"] = "1" if inside or not w.victim else str(w.victim.proc.pid)
        terminal = worlds.Terminal(w) if row.terminal else None
        if row.setup:
            row.setup(w)
        how = row.how(w) if row.how else {}
        if terminal:
            how["terminal"] = terminal
            w.terminal = terminal
        w.before = w.fingerprint()
        return w, how
    except BaseException:
        w.close()
        raise


def fill(w, args):
    names = w.names()
    return [a.format_map(names) for a in (args(w) if callable(args) else args)]


def reached(result):
    return [l for l in result.lines if l.startswith("did ") or
            l.startswith("got ") and l.split()[-1] not in REFUSED]


def wanted(row, w, result, inside):
    """Returns what the attempt achieved of its goal, or None."""
    if callable(row.effect):
        return row.effect(w, result, inside)
    if row.effect == "did":
        return "; ".join(result.did()) or None
    if row.effect == "reach":
        return "; ".join(reached(result)) or None
    return None


def control(suite, row):
    if row.control is None:
        return []
    uid = {"same": suite.uid, "root": 0, "lone": worlds.lone_uid()}[row.control]
    w, how = make_world(suite, row, uid, False)
    try:
        args = fill(w, row.control_args or row.args)
        result = w.outside(args, prefix=fill(w, [*row.both, *row.prefix]), **how)
        found = w.effects(result)
        if callable(row.effect) or row.effect in ("did", "reach"):
            ok = wanted(row, w, result, False)
        else:
            ok = row.effect in found
        if ok:
            return []
        return [f"no effect outside, which should be: {row.effect}", f"status {result.status}, effects {found}",
                *tail(result)]
    finally:
        w.close()


def tail(result):
    text = [l for l in result.lines if l][-12:] + result.err.decode("utf-8", "replace").splitlines()[-6:]
    return ["  " + l[:300] for l in text]


def named_gap(w, row, policy):
    """Returns the gap that the report of a run under this policy lists, or None."""
    result = w.inside(["say", "x"], policy, options=("--pipes", "--json"))
    gaps = result.json["sandbox_report"]["gaps"] if result.json else []
    return next((gap for gap in gaps if gap.startswith(row.gap)), None)


def sandboxed(suite, row):
    """Returns the problems, and a remark for the log."""
    w, how = make_world(suite, row, suite.uid, True)
    try:
        policy = w.policy()
        if row.policy:
            row.policy(w, policy)
        cwd = None if row.cwd is None else row.cwd.format_map(w.names())
        result = w.inside(fill(w, row.args), policy, options=fill(w, row.options), prefix=fill(w, row.both),
                          cwd=cwd, command=row.command.format_map(w.names()), **how)
        effects = w.effects(result)
        problems = [f"{kind}: {what}" for kind, what in effects.items()]
        if got := wanted(row, w, result, True):
            problems.append(f"escaped: {got}")
        escaped = problems and not set(effects) - {row.effect}
        refused = row.refused and result.status in (2, 9)
        if not refused and not result.started():
            problems.append(f"the probe did not start (exit {result.status})")
        elif not refused and not row.dies and not result.ended():
            problems.append(f"the probe did not end well (exit {result.status})")
        if escaped and row.gap and result.ended() and (gap := named_gap(w, row, policy)):
            return [], f"# SKIP gap: {gap}"
        if problems:
            problems += tail(result)
        return problems, "policy refused" if refused else " ".join(result.errnos())
    finally:
        w.close()
