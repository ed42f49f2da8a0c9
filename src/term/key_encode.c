/* Keys as xterm encodes them: legacy encoding and modifyOtherKeys. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/key_form.h"

#define CURSOR(letter)                                        \
    {                                                         \
        .number = 1, .final = (letter), .ss3 = KEY_SS3_CURSOR \
    }
#define EDITING(n)                  \
    {                               \
        .number = (n), .final = '~' \
    }
#define PF(letter)                                            \
    {                                                         \
        .number = 1, .final = (letter), .ss3 = KEY_SS3_ALWAYS \
    }
#define CONTROL(c, n)             \
    {                             \
        .byte = (c), .kitty = (n) \
    }
#define KEYPAD(c, letter, n)                          \
    {                                                 \
        .byte = (c), .keypad = (letter), .kitty = (n) \
    }

const struct key_form key_forms[KEY_NAMES] = {
    [KEY_ENTER] = CONTROL('\r', 13),
    [KEY_TAB] = CONTROL('\t', 9),
    [KEY_ESCAPE] = CONTROL('\033', 27),
    [KEY_BACKSPACE] = CONTROL('\177', 127),
    [KEY_SPACE] = CONTROL(' ', 32),
    [KEY_INSERT] = EDITING(2),
    [KEY_DELETE] = EDITING(3),
    [KEY_PAGE_UP] = EDITING(5),
    [KEY_PAGE_DOWN] = EDITING(6),
    [KEY_UP] = CURSOR('A'),
    [KEY_DOWN] = CURSOR('B'),
    [KEY_RIGHT] = CURSOR('C'),
    [KEY_LEFT] = CURSOR('D'),
    [KEY_END] = CURSOR('F'),
    [KEY_HOME] = CURSOR('H'),
    [KEY_F1] = PF('P'),
    [KEY_F1 + 1] = PF('Q'),
    [KEY_F1 + 2] = PF('R'),
    [KEY_F1 + 3] = PF('S'),
    [KEY_F1 + 4] = EDITING(15),
    [KEY_F1 + 5] = EDITING(17),
    [KEY_F1 + 6] = EDITING(18),
    [KEY_F1 + 7] = EDITING(19),
    [KEY_F1 + 8] = EDITING(20),
    [KEY_F1 + 9] = EDITING(21),
    [KEY_F1 + 10] = EDITING(23),
    [KEY_F1 + 11] = EDITING(24),
    [KEY_KP_0] = KEYPAD('0', 'p', 57399),
    [KEY_KP_0 + 1] = KEYPAD('1', 'q', 57400),
    [KEY_KP_0 + 2] = KEYPAD('2', 'r', 57401),
    [KEY_KP_0 + 3] = KEYPAD('3', 's', 57402),
    [KEY_KP_0 + 4] = KEYPAD('4', 't', 57403),
    [KEY_KP_0 + 5] = KEYPAD('5', 'u', 57404),
    [KEY_KP_0 + 6] = KEYPAD('6', 'v', 57405),
    [KEY_KP_0 + 7] = KEYPAD('7', 'w', 57406),
    [KEY_KP_0 + 8] = KEYPAD('8', 'x', 57407),
    [KEY_KP_0 + 9] = KEYPAD('9', 'y', 57408),
    [KEY_KP_DECIMAL] = KEYPAD('.', 'n', 57409),
    [KEY_KP_DIVIDE] = KEYPAD('/', 'o', 57410),
    [KEY_KP_MULTIPLY] = KEYPAD('*', 'j', 57411),
    [KEY_KP_SUBTRACT] = KEYPAD('-', 'm', 57412),
    [KEY_KP_ADD] = KEYPAD('+', 'k', 57413),
    [KEY_KP_ENTER] = KEYPAD('\r', 'M', 57414),
    [KEY_KP_EQUAL] = KEYPAD('=', 'X', 57415),
};

/* xterm's modifier parameter: Shift, Alt and Control are 1, 2, 4 as here; Meta is 8; no others. */
static unsigned xterm_mods(unsigned mods)
{
    return 1 + (mods & (KEY_SHIFT | KEY_ALT | KEY_CTRL)) + (mods & KEY_META ? 8 : 0);
}

static void key_add_escape(unsigned mods, struct buf *out)
{
    if (mods & (KEY_ALT | KEY_META))
        buf_add_byte(out, '\033');
}

/* Cursor, editing and function keys. SS3 has no modifiers. */
static void add_function(const struct key_form *form, unsigned mods, bool ss3, struct buf *out)
{
    unsigned parameter = xterm_mods(mods);
    if (parameter > 1)
        buf_printf(out, "\033[%u;%u%c", form->number, parameter, form->final);
    else if (form->final == '~')
        buf_printf(out, "\033[%u~", form->number);
    else
        buf_printf(out, "\033%c%c", ss3 ? 'O' : '[', form->final);
}

static void add_keypad(
    const struct key_form *form, unsigned mods, const struct term_input *input, struct buf *out)
{
    if (input->keypad) {
        add_function(&(struct key_form){.number = 1, .final = form->keypad}, mods, true, out);
        return;
    }
    key_add_escape(mods, out);
    buf_add_byte(out, form->byte);
    if (form->byte == '\r' && input->newline)
        buf_add_byte(out, '\n');
}

/* Returns the control character for Control and a character, as Xlib maps it, or -1. */
static int control_of(uint32_t c)
{
    static const char others[] = "2345678/? ";
    static const char controls[] = "\000\033\034\035\036\037\177\037\177\000";
    if (c >= '@' && c <= '~')
        return (int)(c & 0x1F);
    const char *at = c > 0 && c < 0x80 ? strchr(others, (int)c) : NULL;
    return at ? controls[at - others] : -1;
}

static void key_add_character(const struct key_typed *typed, struct buf *out)
{
    if (!typed->text)
        return;
    int control = typed->mods & KEY_CTRL ? control_of(typed->text) : -1;
    key_add_escape(typed->mods, out);
    if (control >= 0)
        buf_add_byte(out, (char)control);
    else
        key_add_codepoint(typed->text, out);
}

/* DECBKM selects BS or DEL; Control inverts the choice. */
static char key_backspace_byte(unsigned mods, const struct term_input *input)
{
    return input->backspace_is_bs == !(mods & KEY_CTRL) ? '\b' : '\177';
}

static void add_control_key(
    enum key_name name, unsigned mods, const struct term_input *input, struct buf *out)
{
    key_add_escape(mods, out);
    if (name == KEY_TAB && mods & KEY_SHIFT)
        buf_add_z(out, "\033[Z");
    else if (name == KEY_BACKSPACE)
        buf_add_byte(out, key_backspace_byte(mods, input));
    else
        buf_add_byte(out, key_forms[name].byte);
    if (name == KEY_ENTER && input->newline)
        buf_add_byte(out, '\n');
}

/* Whether modifyOtherKeys changes the encoding of a character. Level 1 excludes combinations that
 * have a meaning already: letters, characters with a control code, and Shift or Alt alone. Level 2
 * excludes only Shift alone with digits and punctuation. */
static bool other_character(const struct key_typed *typed, unsigned level)
{
    uint32_t c = typed->text;
    bool column_4 = c >= '@' && c <= '~';
    if (!c)
        return false;
    if (level == 1)
        return typed->mods & KEY_CTRL && (c == '?' || control_of(c) < 0);
    return column_4 || c == ' ' || xterm_mods(typed->mods) > xterm_mods(KEY_SHIFT);
}

/* The same for keys that send control characters. Shift+Tab has its own sequence. */
static bool other_control(enum key_name name, unsigned mods, unsigned level)
{
    bool more = xterm_mods(mods) > xterm_mods(KEY_SHIFT);
    switch (name) {
    case KEY_ENTER:
        return level > 1 || !(mods & (KEY_ALT | KEY_META));
    case KEY_TAB:
        return more && (level > 1 || !(mods & (KEY_ALT | KEY_META)));
    case KEY_BACKSPACE:
        return level > 1 && xterm_mods(mods & ~(unsigned)KEY_CTRL) > 1;
    case KEY_ESCAPE:
        return level > 1;
    default:
        return false;
    }
}

static bool add_other(const struct key *key, const struct key_typed *typed,
    const struct term_input *input, struct buf *out)
{
    unsigned mods = xterm_mods(typed->mods), level = input->modify_other;
    if (level == 0 || mods == 1 || key_on_keypad(key->name))
        return false;
    uint32_t code = typed->text;
    if (!code) {
        if (!other_control(key->name, typed->mods, level))
            return false;
        code = (unsigned char)(key->name == KEY_BACKSPACE ? key_backspace_byte(typed->mods, input)
                                                          : key_forms[key->name].byte);
    } else if (!other_character(typed, level)) {
        return false;
    }
    if (input->format_other == 1)
        buf_printf(out, "\033[%u;%uu", code, mods);
    else
        buf_printf(out, "\033[27;%u;%u~", mods, code);
    return true;
}

void key_encode_legacy(const struct key *key, const struct term_input *input, struct buf *out)
{
    const struct key_form *form = &key_forms[key->name];
    struct key_typed typed = key_typed(key);
    if (form->final) {
        bool ss3 =
            form->ss3 == KEY_SS3_ALWAYS || (form->ss3 == KEY_SS3_CURSOR && input->cursor_keys);
        add_function(form, key->mods, ss3, out);
    } else if (add_other(key, &typed, input, out)) {
        return;
    } else if (key_on_keypad(key->name)) {
        add_keypad(form, key->mods, input, out);
    } else if (key->name == KEY_CHARACTER || key->name == KEY_SPACE) {
        key_add_character(&typed, out);
    } else {
        add_control_key(key->name, key->mods, input, out);
    }
}

void key_encode(const struct key *key, const struct term_input *input, struct buf *out)
{
    if (key_is_kitty(key, input->kitty))
        key_encode_kitty(key, input, out);
    else if (key->action != KEY_RELEASE)
        key_encode_legacy(key, input, out);
}
