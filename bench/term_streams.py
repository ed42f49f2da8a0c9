# SPDX-License-Identifier: Apache-2.0
"""Streams that bench/term feeds to emulators, generated each time from a fixed seed, and a workaround for
libvterm: it overflows an array of 16 at a CSI with more parameters.
"""
import random
import re

VTERM_PARAMETERS = 16
UNIT = 1 << 18  # bytes that are generated; the rest repeats them


def words(rng, n):
    letters = "etaoinshrdlucmfwypvbgkjqxz"
    out = []
    while n > 0:
        word = "".join(rng.choices(letters, weights=range(26, 0, -1), k=rng.randint(1, 11)))
        out.append(word)
        n -= len(word) + 1
    return " ".join(out)


def ascii_lines(rng):
    return words(rng, rng.randint(10, 79)) + "\r\n"


def long_lines(rng):
    return words(rng, 4096) + "\r\n"


def sgr(rng):
    kind = rng.randrange(6)
    ground = rng.choice((38, 48))
    if kind == 0:
        return f"\x1b[{ground}:2::{rng.randrange(256)}:{rng.randrange(256)}:{rng.randrange(256)}m"
    if kind == 1:
        return f"\x1b[{ground};2;{rng.randrange(256)};{rng.randrange(256)};{rng.randrange(256)}m"
    if kind == 2:
        return f"\x1b[{ground};5;{rng.randrange(256)}m"
    if kind == 3:
        return "\x1b[m"
    return f"\x1b[{rng.choice((0, 1, 3, 4, 7))};{rng.choice((30, 40, 90, 100)) + rng.randrange(8)}m"


def colours(rng):
    return "".join(sgr(rng) + words(rng, rng.randint(1, 6)) for _ in range(20)) + "\x1b[m\r\n"


def unicode_text(rng):
    families = ("👩‍👩‍👧‍👦", "👩🏽‍💻", "🏳️‍🌈", "❤️", "🇩🇪", "🇯🇵", "👍🏿", "🎉")
    pieces = []
    for _ in range(rng.randint(5, 20)):
        kind = rng.randrange(8)
        n = rng.randint(1, 8)
        if kind < 3:
            pieces.append("".join(chr(rng.randint(0x4E00, 0x9FA5)) for _ in range(n)))
        elif kind == 3:
            pieces.append("".join(chr(rng.randint(0x3041, 0x3093)) for _ in range(n)))
        elif kind == 4:
            pieces.append("".join(chr(rng.randint(0xAC00, 0xD7A3)) for _ in range(n)))
        elif kind == 5:
            pieces.append(rng.choice(families))
        elif kind == 6:
            pieces.append("".join(rng.choice("aeioun") + chr(rng.randint(0x300, 0x30C)) for _ in range(n)))
        else:
            pieces.append("".join(chr(rng.randint(0xC0, 0x17F)) for _ in range(n)) + " ")
    return "".join(pieces) + "\r\n"


def edits(rng):
    def n(most):
        return rng.randint(1, most)

    top = n(20)
    return rng.choice((
        lambda: f"\x1b[{top};{top + n(24 - top)}r\x1b[{n(24)};{n(80)}H",
        lambda: f"\x1b[{n(5)}L", lambda: f"\x1b[{n(5)}M", lambda: f"\x1b[{n(9)}@",
        lambda: f"\x1b[{n(9)}P", lambda: f"\x1b[{n(30)}X", lambda: f"x\x1b[{n(70)}b",
        lambda: "\x1b#8" if rng.random() < 0.2 else "\x1b[K",
        lambda: f"\x1b[{rng.randrange(3)}J", lambda: f"\x1b[{n(3)}S", lambda: f"\x1b[{n(3)}T",
        lambda: rng.choice(("\x1b[?1049h", "\x1b[?1049l", "\x1b[r")), lambda: "\x1bM" * n(4),
        lambda: "\t" * n(5) + f"\x1b[{n(3)}Z", lambda: f"\x1b[{n(24)};{n(80)}H" + words(rng, 20),
        lambda: f"\x1b[4{rng.randrange(8)}m\x1b[2K", lambda: "\n" * n(3),
    ))()


def made(rng, make, size):
    unit, length = [], 0
    while length < min(size, UNIT):
        piece = make(rng).encode()
        unit.append(piece)
        length += len(piece)
    return (b"".join(unit) * (size // length + 1))[:size]


def few_parameters(stream):
    """Removes sequences that crash libvterm."""
    return re.sub(rb"\x1b\[[0-9;:<=>?]*[ -/]*[@-~]",
                  lambda m: m[0] if len(re.split(rb"[;:]", m[0])) <= VTERM_PARAMETERS else b"", stream)


def looped(recording, size):
    """Repeats the recording; complete ones only, since each begins where the last has ended."""
    return recording * max(1, size // len(recording))


SYNTHETIC = {
    "ascii": (ascii_lines, 8 << 20),
    "long lines": (long_lines, 8 << 20),
    "colours": (colours, 4 << 20),
    "unicode": (unicode_text, 4 << 20),
    "edits": (edits, 1 << 20),
}


def synthetic():
    for name, (make, size) in SYNTHETIC.items():
        yield name, made(random.Random(name), make, size)
    yield "random bytes", random.Random(1).randbytes(2 << 20)
