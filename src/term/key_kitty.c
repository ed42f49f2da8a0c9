/* Keys in the kitty keyboard protocol: CSI key:shifted ; modifiers:event ; text u. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/key_form.h"

bool key_is_kitty(const struct key *key, unsigned flags)
{
    /* Event types alone do not affect presses. */
    return flags & (KITTY_DISAMBIGUATE | KITTY_ALL) ||
           (flags & KITTY_EVENTS && key->action != KEY_PRESS);
}

/* Enter, Tab and Backspace keep their legacy encoding, so that a shell remains usable after a
 * program that left the protocol enabled. */
static bool kitty_stays_legacy(enum key_name name)
{
    return name == KEY_ENTER || name == KEY_TAB || name == KEY_BACKSPACE;
}

/* Sends text or the legacy encoding unless all keys are requested as escape codes. Returns true if
 * the event is handled. Only escape codes have release events. */
static bool add_unescaped(const struct key *key, const struct key_typed *typed,
    const struct term_input *input, struct buf *out)
{
    bool disambiguate = input->kitty & KITTY_DISAMBIGUATE;
    bool text = typed->text && !(typed->mods & ~(unsigned)KEY_SHIFT);
    if (input->kitty & KITTY_ALL || !(text || kitty_stays_legacy(key->name)))
        return false;
    if (key->action == KEY_RELEASE)
        return true;
    if (disambiguate && !text && key->mods)
        return false;
    if (disambiguate && text)
        key_add_codepoint(typed->text, out);
    else
        key_encode_legacy(key, input, out);
    return true;
}

struct kitty_report {
    unsigned number; /* omitted if 1 and the final byte is a letter */
    char final;
    uint32_t shifted; /* 0: none */
    unsigned mods;
    unsigned event; /* 1 press, 2 repeat, 3 release */
    uint32_t text;  /* 0: none */
};

static void key_kitty_add_report(const struct kitty_report *r, struct buf *out)
{
    bool second = r->mods || r->event > 1;
    buf_add_z(out, "\033[");
    if (r->number != 1 || second || r->text)
        buf_printf(out, "%u", r->number);
    if (r->shifted)
        buf_printf(out, ":%u", r->shifted);
    if (second || r->text)
        buf_add_byte(out, ';');
    if (second)
        buf_printf(out, "%u", r->mods + 1);
    if (r->event > 1)
        buf_printf(out, ":%u", r->event);
    if (r->text)
        buf_printf(out, ";%u", r->text);
    buf_add_byte(out, r->final);
}

void key_encode_kitty(const struct key *key, const struct term_input *input, struct buf *out)
{
    const struct key_form *form = &key_forms[key->name];
    struct key_typed typed = key_typed(key);
    unsigned flags = input->kitty;
    bool events = flags & KITTY_EVENTS;
    if (key->action == KEY_RELEASE && !events)
        return;
    if (add_unescaped(key, &typed, input, out))
        return;
    if (key->name == KEY_CHARACTER && !typed.text)
        return;

    struct kitty_report r = {.final = 'u', .mods = typed.mods, .event = 1};
    if (form->final == 'R') { /* F3: CSI R would be a cursor position report */
        r.number = 13;
        r.final = '~';
    } else if (form->final) {
        r.number = form->number;
        r.final = form->final;
    } else {
        r.number = key->name == KEY_CHARACTER ? typed.base : form->kitty;
    }
    if (flags & KITTY_ALTERNATES && typed.text != typed.base)
        r.shifted = typed.text;
    if (events)
        r.event += (unsigned)key->action;
    if (flags & KITTY_TEXT && key->action != KEY_RELEASE && !(typed.mods & ~(unsigned)KEY_SHIFT))
        r.text = typed.text;
    key_kitty_add_report(&r, out);
}
