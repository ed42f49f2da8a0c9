#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the tables legacy.tsv, other.tsv and kitty.tsv from the specifications.

The specifications: xterm's "ctlseqs" (PC-style function keys, VT220-style function keys, keypad) and its
manual (modifyOtherKeys), kitty's "keyboard-protocol" (functional keys, C0 controls, the Control mapping,
the five enhancements). Nothing here is derived from the program under test; where the two
differ, xterm's decides without kitty's flags. The other tables are written by hand.
"""
import itertools
import os

HERE = os.path.dirname(os.path.abspath(__file__))
ORDER = ["Shift", "Alt", "Ctrl", "Super", "Hyper", "Meta"]

# kitty, "Functional key definitions": number and final byte. xterm, "PC-Style Function Keys".
FUNCTIONAL = {
    "Insert": "2~", "Delete": "3~", "PageUp": "5~", "PageDown": "6~",
    "Up": "1A", "Down": "1B", "Right": "1C", "Left": "1D", "Home": "1H", "End": "1F",
    "F1": "1P", "F2": "1Q", "F3": "1R", "F4": "1S", "F5": "15~", "F6": "17~", "F7": "18~", "F8": "19~",
    "F9": "20~", "F10": "21~", "F11": "23~", "F12": "24~",
}
CURSOR = ["Up", "Down", "Right", "Left", "Home", "End"]

# kitty, "C0 controls": no modifiers, Ctrl, Alt, Shift, Ctrl+Shift, Alt+Shift, Ctrl+Alt.
C0_COLUMNS = ["", "Ctrl", "Alt", "Shift", "Ctrl+Shift", "Alt+Shift", "Ctrl+Alt"]
C0 = {
    "Enter": [r"\r", r"\r", r"\e\r", r"\r", r"\r", r"\e\r", r"\e\r"],
    "Escape": [r"\e", r"\e", r"\e\e", r"\e", r"\e", r"\e\e", r"\e\e"],
    "Backspace": [r"\x7f", r"\x08", r"\e\x7f", r"\x7f", r"\x08", r"\e\x7f", r"\e\x08"],
    "Tab": [r"\t", r"\t", r"\e\t", r"\e[Z", r"\e[Z", r"\e\e[Z", r"\e\t"],
    "Space": [" ", r"\x00", r"\e ", " ", r"\x00", r"\e ", r"\e\x00"],
}
# xterm, "Keypad": numeric, application, and kitty's number.
KEYPAD = {
    "KP_0": ("0", "p", 57399), "KP_1": ("1", "q", 57400), "KP_2": ("2", "r", 57401),
    "KP_3": ("3", "s", 57402), "KP_4": ("4", "t", 57403), "KP_5": ("5", "u", 57404),
    "KP_6": ("6", "v", 57405), "KP_7": ("7", "w", 57406), "KP_8": ("8", "x", 57407),
    "KP_9": ("9", "y", 57408), "KP_Decimal": (".", "n", 57409), "KP_Divide": ("/", "o", 57410),
    "KP_Multiply": ("*", "j", 57411), "KP_Subtract": (r"\x2d", "m", 57412), "KP_Add": ("+", "k", 57413),
    "KP_Enter": (r"\r", "M", 57414), "KP_Equal": ("=", "X", 57415),
}
# A US keyboard: each key and its Shift character.
ROWS = ("`1234567890-=", "~!@#$%^&*()_+"), ("[]\\;',./", "{}|:\"<>?"), \
    ("abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
SHIFTED = {a: b for plain, shifted in ROWS for a, b in zip(plain, shifted)}
# X's control characters, listed in xterm's input.c; '?' is in kitty's table.
CONTROL = {c: ord(c) - 96 for c in "abcdefghijklmnopqrstuvwxyz"}
CONTROL.update({c.upper(): n for c, n in list(CONTROL.items())})
CONTROL.update({" ": 0, "2": 0, "@": 0, "`": 0, "3": 27, "[": 27, "{": 27, "4": 28, "\\": 28, "|": 28,
                "5": 29, "]": 29, "}": 29, "6": 30, "^": 30, "~": 30, "7": 31, "/": 31, "_": 31,
                "8": 127, "?": 127})
XTERM_MODS = {"Shift": 1, "Alt": 2, "Ctrl": 4, "Meta": 8}
KITTY_MODS = {"Shift": 1, "Alt": 2, "Ctrl": 4, "Super": 8, "Hyper": 16, "Meta": 32}


def chords(names):
    for n in range(len(names) + 1):
        yield from itertools.combinations(names, n)


def chord(mods, key):
    return "+".join([*mods, key])


def esc(text):
    """Escapes characters as the tables write them."""
    if text == "-":
        return r"\x2d"
    return "".join("\\\\" if c == "\\" else c if " " <= c != "\x7f" else "\\x%02x" % ord(c) for c in text)


def legacy():
    for key, form in FUNCTIONAL.items():
        number, final = form[:-1], form[-1]
        for mods in chords(["Shift", "Alt", "Ctrl", "Meta"]):
            m = 1 + sum(XTERM_MODS[x] for x in mods)
            for mode in ["-", "DECCKM"] if key in CURSOR else ["-"]:
                if m > 1:
                    out = rf"\e[{number};{m}{final}"
                elif final == "~":
                    out = rf"\e[{number}~"
                else:
                    out = r"\e" + ("O" if mode == "DECCKM" or key[0] == "F" else "[") + final
                yield mode, chord(mods, key), out
    for key, columns in C0.items():
        for mods, out in zip(C0_COLUMNS, columns):
            yield "-", (mods + "+" if mods else "") + key, out
    for key, (numeric, application, _) in KEYPAD.items():
        yield "-", key, numeric
        yield "-", "Alt+" + key, r"\e" + numeric
        yield "DECKPAM", key, r"\eO" + application
        yield "DECKPAM", "Ctrl+" + key, rf"\e[1;5{application}"
    for plain, shifted in SHIFTED.items():
        for mods in chords(["Shift", "Alt", "Ctrl"]):
            c = shifted if "Shift" in mods else plain
            if "Ctrl" in mods and c in CONTROL:
                c = chr(CONTROL[c])
            yield "-", chord(mods, plain), (r"\e" if "Alt" in mods else "") + (
                esc(c) if c != "\x1b" else r"\e")


def other():
    """xterm's manual: 1 excludes keys with well-known behaviour, 2 includes all; unmodified keys and
    function keys are unchanged. Its input.c: letters with Shift count as modified in 2."""
    formats = ("", r"\e[27;{m};{c}~"), (" format=1", r"\e[{c};{m}u")
    for level, (form, write) in itertools.product([1, 2], formats):
        mode = f"other={level}{form}"
        for plain, shifted in SHIFTED.items():
            if form and plain not in "am2;[/":
                continue
            for mods in chords(["Shift", "Alt", "Ctrl"]):
                c = shifted if "Shift" in mods else plain
                m = 1 + sum(XTERM_MODS[x] for x in mods)
                if level == 1:
                    modified = "Ctrl" in mods and (c not in CONTROL or c == "?")
                else:
                    modified = len(mods) > 0 and (mods != ("Shift",) or "@" <= c <= "~")
                if modified:
                    out = write.format(m=m, c=ord(c))
                else:
                    if "Ctrl" in mods and c in CONTROL:
                        c = chr(CONTROL[c])
                    out = (r"\e" if "Alt" in mods else "") + (esc(c) if c != "\x1b" else r"\e")
                yield mode, chord(mods, plain), out
        for key in ["Up", "F1", "Delete"]:
            number, final = FUNCTIONAL[key][:-1], FUNCTIONAL[key][-1]
            yield mode, "Ctrl+" + key, rf"\e[{number};5{final}"


def report(number, final, mods=(), event=0, shifted="", text=""):
    """CSI number:shifted ; modifiers:event ; text final. A number of 1 before a letter is written only before
    other fields; the modifiers field is omitted or empty if it has no value."""
    m = str(1 + sum(KITTY_MODS[x] for x in mods)) if mods or event else ""
    if event:
        m += f":{event}"
    first = f"{number}:{shifted}" if shifted else str(number)
    if number == 1 and not m and not text:
        first = ""
    fields = [first, m, text] if text else [first, m] if m else [first]
    return r"\e[" + ";".join(fields) + final


def kitty_key(flags, mods, event, key):
    """Returns the bytes that one event sends; flags contains 1 or 8."""
    events, alternates, everything, texts = flags & 2, flags & 4, flags & 8, flags & 16
    if event == 3 and not events:
        return "-"
    e = event if event > 1 and events else 0
    if key in FUNCTIONAL:
        form = FUNCTIONAL[key] if key != "F3" else "13~"
        return report(int(form[:-1]), form[-1], mods, e)
    if key in ("Enter", "Tab", "Backspace"):
        if not everything and event == 3:
            return "-"
        if not everything and not mods:
            return C0[key][0]
        return report({"Enter": 13, "Tab": 9, "Backspace": 127}[key], "u", mods, e)
    if key in ("Escape", "KP_Enter"):
        return report(27 if key == "Escape" else 57414, "u", mods, e)
    makes_text = set(mods) <= {"Shift"}
    if key in KEYPAD:
        number, plain = KEYPAD[key][2], KEYPAD[key][0].replace(r"\x2d", "-")
        shifted = plain
    else:
        plain = " " if key == "Space" else key
        number, shifted = ord(plain), SHIFTED.get(plain, plain)
    typed = shifted if "Shift" in mods else plain
    if makes_text and not everything:
        return "-" if event == 3 else esc(typed)
    other = str(ord(shifted)) if alternates and "Shift" in mods and shifted != plain else ""
    text = str(ord(typed)) if texts and everything and makes_text and event != 3 else ""
    return report(number, "u", mods, e, other, text)


def kitty():
    keys = [*FUNCTIONAL, "Enter", "Tab", "Backspace", "Escape", "Space", *KEYPAD, *"aiz29;[/\\"]
    sets = [(), ("Shift",), ("Ctrl",), ("Alt",), ("Shift", "Ctrl"), ("Alt", "Ctrl"), ("Super",), tuple(ORDER)]
    for flags in [1, 3, 5, 9, 15, 31]:
        for key in keys:
            for mods in sets if key in ("a", "2", ";", "Up", "F3", "Enter", "KP_5") else sets[:3]:
                for event, word in (1, ""), (2, "repeat "), (3, "release "):
                    if event > 1 and (not flags & 2 or len(mods) > 1):
                        continue
                    out = kitty_key(flags, mods, event, key)
                    yield f"kitty={flags}", word + chord(mods, key), out


for name, rows in ("legacy", legacy), ("other", other), ("kitty", kitty):
    with open(os.path.join(HERE, name + ".tsv"), "w") as f:
        f.write("# Written by make.py.\n")
        for row in rows():
            line = "\t".join(row)
            f.write((line[:-1] + r"\x20" if line[-1] == " " else line) + "\n")
