/* What the encoders of keys share: what each named key is made of, and what a key types. Only for
 * keys.c and key_*.c; others include keys.h.
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
    KEY_SS3_CURSOR, /* SS3 instead of CSI in DECCKM */
    KEY_SS3_ALWAYS,
};

struct key_form {
    uint8_t number; /* CSI number ; modifiers final: of cursor, editing and function keys */
    char final;     /* '~' or a letter, then the number is 1 and mostly left out */
    uint8_t ss3;    /* enum key_ss3: when nothing is held */
    char byte;      /* the control character, or on the keypad the character, that it is */
    char keypad;    /* SS3 letter in DECKPAM */
    uint16_t kitty; /* the number in CSI u; 0: the legacy form with `number` and `final` */
};

extern const struct key_form key_forms[KEY_NAMES];

static inline bool key_on_keypad(enum key_name name)
{
    return name >= KEY_KP_0 && name <= KEY_KP_EQUAL;
}

/* A key with the keyboard's part done: which key it is without Shift, and which character comes of
 * it. The keyboard is a US one as far as ASCII goes. */
struct key_typed {
    uint32_t base; /* without Shift; 0: no character */
    uint32_t text; /* with Shift, if that is held; 0: no character */
    unsigned mods; /* 'A' alone is typed with Shift */
};

struct key_typed key_typed(const struct key *key);

/* The character on the same key, with and without Shift; itself if there is none. */
uint32_t key_shifted(uint32_t codepoint);
uint32_t key_unshifted(uint32_t codepoint);

void key_add_codepoint(uint32_t codepoint, struct buf *out);

/* Presses and repeats as every program knows them, with modifyOtherKeys. */
void key_encode_legacy(const struct key *key, const struct term_input *input, struct buf *out);

enum key_kitty {
    KITTY_DISAMBIGUATE = 1,
    KITTY_EVENTS = 2,
    KITTY_ALTERNATES = 4,
    KITTY_ALL = 8,
    KITTY_TEXT = 16, /* means something only with KITTY_ALL */
};

/* Whether flags of the kitty protocol decide about this event. */
bool key_is_kitty(const struct key *key, unsigned flags);
void key_encode_kitty(const struct key *key, const struct term_input *input, struct buf *out);

#endif
