/* Mouse encodings. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "term/keys.h"

enum {
    MOUSE_RELEASED = 3, /* any release in the old encodings; motion without a button */
    MOUSE_SHIFT = 4,
    MOUSE_ALT = 8,
    MOUSE_CTRL = 16,
    MOUSE_MOTION = 32,

    MOUSE_OFFSET = 32, /* numbers sent as characters start at the space */
    MOUSE_BYTE_MAX = 255,
    MOUSE_UTF8_MAX = 2047, /* largest two-byte code point */
    MOUSE_SCROLL = 3,      /* cursor keys per notch of the wheel */
};

static const unsigned button_codes[] = {
    [MOUSE_LEFT] = 0,
    [MOUSE_MIDDLE] = 1,
    [MOUSE_RIGHT] = 2,
    [MOUSE_NONE] = MOUSE_RELEASED,
    [MOUSE_WHEEL_UP] = 64,
    [MOUSE_WHEEL_DOWN] = 65,
    [MOUSE_WHEEL_LEFT] = 66,
    [MOUSE_WHEEL_RIGHT] = 67,
    [MOUSE_BACK] = 128,
    [MOUSE_FORWARD] = 129,
};

static bool is_wheel(enum mouse_button button)
{
    return button >= MOUSE_WHEEL_UP && button <= MOUSE_WHEEL_RIGHT;
}

/* Whether the event is possible and the program enabled it. */
static bool mouse_is_wanted(const struct mouse *mouse, enum term_mouse mode)
{
    bool none = mouse->button == MOUSE_NONE;
    switch (mouse->action) {
    case MOUSE_PRESS:
        return !none && mode != TERM_MOUSE_OFF;
    case MOUSE_RELEASE:
        return !none && !is_wheel(mouse->button) && mode >= TERM_MOUSE_NORMAL;
    case MOUSE_MOVE:
        return !is_wheel(mouse->button) && mode >= (none ? TERM_MOUSE_ANY : TERM_MOUSE_BUTTON);
    }
    return false;
}

static unsigned button_code(const struct mouse *mouse, const struct term_input *input)
{
    bool sgr = input->mouse_coding == TERM_MOUSE_SGR || input->mouse_coding == TERM_MOUSE_PIXELS;
    unsigned code = button_codes[mouse->button];
    if (mouse->action == MOUSE_RELEASE && !sgr)
        code = MOUSE_RELEASED;
    if (mouse->action == MOUSE_MOVE)
        code += MOUSE_MOTION;
    if (input->mouse == TERM_MOUSE_X10)
        return code;
    return code + (mouse->mods & KEY_SHIFT ? MOUSE_SHIFT : 0) +
           (mouse->mods & (KEY_ALT | KEY_META) ? MOUSE_ALT : 0) +
           (mouse->mods & KEY_CTRL ? MOUSE_CTRL : 0);
}

/* Three numbers as characters. Returns false if the position is out of range: no report is better
 * than a wrong one. */
static bool add_characters(unsigned code, const struct mouse *mouse, bool utf8, struct buf *out)
{
    const uint64_t last = utf8 ? MOUSE_UTF8_MAX : MOUSE_BYTE_MAX;
    const uint64_t numbers[] = {code, (uint64_t)mouse->col + 1, (uint64_t)mouse->row + 1};
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        if (numbers[i] + MOUSE_OFFSET > last)
            return false;
    buf_add_z(out, "\033[M");
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        uint32_t character = (uint32_t)numbers[i] + MOUSE_OFFSET;
        char bytes[UTF8_MAX] = {(char)character};
        buf_add(out, bytes, utf8 ? utf8_write(character, bytes) : 1);
    }
    return true;
}

/* Centre of a cell in pixels, 1-based. */
static uint64_t mouse_pixel(unsigned cell, unsigned size)
{
    return (uint64_t)cell * MAX(size, 1U) + size / 2 + 1;
}

static bool mouse_add_report(
    const struct mouse *mouse, const struct term_input *input, struct buf *out)
{
    unsigned code = button_code(mouse, input);
    uint64_t x = (uint64_t)mouse->col + 1, y = (uint64_t)mouse->row + 1;
    switch (input->mouse_coding) {
    case TERM_MOUSE_BYTES:
    case TERM_MOUSE_UTF8:
        return add_characters(code, mouse, input->mouse_coding == TERM_MOUSE_UTF8, out);
    case TERM_MOUSE_URXVT:
        buf_printf(out, "\033[%u;%ju;%juM", code + MOUSE_OFFSET, (uintmax_t)x, (uintmax_t)y);
        return true;
    case TERM_MOUSE_PIXELS:
        x = mouse_pixel(mouse->col, input->cell_width);
        y = mouse_pixel(mouse->row, input->cell_height);
        break;
    case TERM_MOUSE_SGR:
        break;
    }
    buf_printf(out, "\033[<%u;%ju;%ju%c", code, (uintmax_t)x, (uintmax_t)y,
        mouse->action == MOUSE_RELEASE ? 'm' : 'M');
    return true;
}

/* Alternate scroll: the wheel in a pager that does not support the mouse. */
static bool add_scroll(const struct mouse *mouse, const struct term_input *input, struct buf *out)
{
    bool up = mouse->button == MOUSE_WHEEL_UP;
    if (!input->alternate_scroll || !input->alternate_screen || mouse->action != MOUSE_PRESS ||
        (!up && mouse->button != MOUSE_WHEEL_DOWN))
        return false;
    struct key key = {.name = up ? KEY_UP : KEY_DOWN};
    for (int i = 0; i < MOUSE_SCROLL; i++)
        key_encode(&key, input, out);
    return true;
}

bool mouse_encode(const struct mouse *mouse, const struct term_input *input, struct buf *out)
{
    if (input->mouse == TERM_MOUSE_OFF)
        return add_scroll(mouse, input, out);
    return mouse_is_wanted(mouse, input->mouse) && mouse_add_report(mouse, input, out);
}
