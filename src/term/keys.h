/* Encodes keys, text, focus and mouse events as a terminal sends them in the modes that the program
 * has set.
 *
 *     struct key key;
 *     if (!key_parse(STR("Ctrl+Shift+Left"), &key, err)) return false;
 *     key_encode(&key, &input, &bytes);             "\033[1;6D"
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TERM_KEYS_H
#define TERM_KEYS_H

#include "base/buf.h"
#include "base/err.h"
#include "term/term.h"

enum key_mod {
    KEY_SHIFT = 1,
    KEY_ALT = 2,
    KEY_CTRL = 4,
    KEY_SUPER = 8,
    KEY_HYPER = 16,
    KEY_META = 32,
};

enum key_name {
    KEY_CHARACTER, /* see `codepoint` */
    KEY_ENTER,
    KEY_TAB,
    KEY_ESCAPE,
    KEY_BACKSPACE,
    KEY_DELETE,
    KEY_INSERT,
    KEY_SPACE,
    KEY_UP,
    KEY_DOWN,
    KEY_LEFT,
    KEY_RIGHT,
    KEY_HOME,
    KEY_END,
    KEY_PAGE_UP,
    KEY_PAGE_DOWN,
    KEY_F1,
    KEY_F12 = KEY_F1 + 11,
    /* Keypad keys, which DECKPAM and the kitty protocol distinguish. */
    KEY_KP_0,
    KEY_KP_9 = KEY_KP_0 + 9,
    KEY_KP_DECIMAL,
    KEY_KP_DIVIDE,
    KEY_KP_MULTIPLY,
    KEY_KP_SUBTRACT,
    KEY_KP_ADD,
    KEY_KP_ENTER,
    KEY_KP_EQUAL,
    KEY_NAMES,
};

enum key_action {
    KEY_PRESS,
    KEY_REPEAT,
    KEY_RELEASE, /* encoded only if the program enabled it */
};

struct key {
    enum key_name name;
    uint32_t codepoint; /* for KEY_CHARACTER; with Shift, 'a' and 'A' are the same key */
    unsigned mods;      /* enum key_mod */
    enum key_action action;
};

/* Parses "Enter", "a", "Ctrl+x", "shift+alt+F5", "+", "Ctrl++": names are case-insensitive,
 * modifiers in any order; a character is one code point. "A" is Shift+a, but "Ctrl+A" is Ctrl+a. An
 * unknown name fails with E_PROTOCOL and suggests the nearest known one. */
MUST_USE bool key_parse(struct str text, struct key *ret_key, struct err *err);

/* Appends the encoding of a key event; nothing if a terminal sends nothing. Shift follows a US
 * layout. The kitty protocol has precedence over modifyOtherKeys. */
void key_encode(const struct key *key, const struct term_input *input, struct buf *out);

/* Appends text as if typed or pasted. A paste is bracketed if the program enabled that, and loses
 * control characters that could end it. Each line break (LF, CR or CR LF) becomes CR, as for Enter;
 * typed text gets CR LF in newline mode. */
void key_text(struct str text, bool paste, const struct term_input *input, struct buf *out);

void key_focus(bool in, const struct term_input *input, struct buf *out);

enum mouse_button {
    MOUSE_LEFT,
    MOUSE_MIDDLE,
    MOUSE_RIGHT,
    MOUSE_NONE, /* motion without a button */
    MOUSE_WHEEL_UP,
    MOUSE_WHEEL_DOWN,
    MOUSE_WHEEL_LEFT,
    MOUSE_WHEEL_RIGHT,
    MOUSE_BACK,
    MOUSE_FORWARD,
};

enum mouse_action {
    MOUSE_PRESS,
    MOUSE_RELEASE,
    MOUSE_MOVE, /* with a button held, or MOUSE_NONE */
};

struct mouse {
    enum mouse_button button;
    enum mouse_action action;
    unsigned row, col; /* 0-based */
    unsigned mods;
};

/* Returns false and appends nothing if the program did not enable such a report, or if it uses one
 * byte per number and the position is beyond column or row 222. With the mouse off, the wheel may
 * send cursor keys (1007). */
bool mouse_encode(const struct mouse *mouse, const struct term_input *input, struct buf *out);

#endif
