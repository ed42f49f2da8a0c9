/* Shared by the key encoders: the components of each named key, and the character that a key
 * produces. Private to keys.c and key_*.c; others include keys.h.
 *
 *     const struct key_form *form = &key_forms[key->name];
 *     struct key_typed typed = key_typed(key);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TERM_KEY_FORM_H
#define TERM_KEY_FORM_H

#include "term/keys.h"

enum key_ss3 {
    KEY_SS3_NEVER,
    KEY_SS3_CURSOR, /* SS3 instead of CSI if DECCKM is set */
    KEY_SS3_ALWAYS,
};

struct key_form {
    uint8_t number; /* CSI number ; modifiers final: for cursor, editing and function keys */
    char final;     /* '~', or a letter: then the number is 1 and usually omitted */
    uint8_t ss3;    /* enum key_ss3: if no modifier is held */
    char byte;      /* control character, or the character of a keypad key */
    char keypad;    /* SS3 letter if DECKPAM is set */
    uint16_t kitty; /* number in CSI u; 0: use the legacy form with `number` and `final` */
};

extern const struct key_form key_forms[KEY_NAMES];

static inline bool key_on_keypad(enum key_name name)
{
    return name >= KEY_KP_0 && name <= KEY_KP_EQUAL;
}

/* A key after the keyboard layout is applied: the key without Shift, and the resulting character.
 * ASCII follows a US layout. */
struct key_typed {
    uint32_t base; /* without Shift; 0: no character */
    uint32_t text; /* with Shift, if held; 0: no character */
    unsigned mods; /* with Shift added for a bare 'A' */
};

struct key_typed key_typed(const struct key *key);

/* The character on the same key with and without Shift; the argument itself if not in the
 * layout. */
uint32_t key_shifted(uint32_t codepoint);
uint32_t key_unshifted(uint32_t codepoint);

void key_add_codepoint(uint32_t codepoint, struct buf *out);

/* Legacy encoding of presses and repeats, including modifyOtherKeys. */
void key_encode_legacy(const struct key *key, const struct term_input *input, struct buf *out);

enum key_kitty {
    KITTY_DISAMBIGUATE = 1,
    KITTY_EVENTS = 2,
    KITTY_ALTERNATES = 4,
    KITTY_ALL = 8,
    KITTY_TEXT = 16, /* effective only with KITTY_ALL */
};

/* Whether the flags of the kitty protocol apply to this event. */
bool key_is_kitty(const struct key *key, unsigned flags);
void key_encode_kitty(const struct key *key, const struct term_input *input, struct buf *out);

#endif
