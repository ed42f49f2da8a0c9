/* Parses terminal input into keys. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/typed.h"

#include "base/utf8.h"

enum {
    KEYS_MAX = 1200,
    BYTES_MAX = 16,
    NAME_MAX_BYTES = 40,
};

struct typed_row {
    char name[NAME_MAX_BYTES];
    char bytes[BYTES_MAX];
    size_t n;
};

struct typed_keys {
    struct typed_row rows[KEYS_MAX];
    size_t n;
};

/* Names before characters, few modifiers before many: the first that encodes to a sequence wins. */
static const char *const names[] = {"Enter", "Tab", "Escape", "Backspace", "Delete", "Insert",
    "Space", "Up", "Down", "Left", "Right", "Home", "End", "PageUp", "PageDown", "F1", "F2", "F3",
    "F4", "F5", "F6", "F7", "F8", "F9", "F10", "F11", "F12"};
static const char *const mods[] = {
    "", "Shift+", "Ctrl+", "Alt+", "Ctrl+Shift+", "Alt+Shift+", "Ctrl+Alt+", "Ctrl+Alt+Shift+"};
/* Ordered so that a control character gets its most common name. */
static const char characters[] = "abcdefghijklmnopqrstuvwxyz]\\^_[`-=;',./0123456789"
                                 "ABCDEFGHIJKLMNOPQRSTUVWXYZ~!@#$%&*()+{}|:\"<>?";
static const char *const char_mods[] = {"Ctrl+", "Alt+", "Ctrl+Alt+"};

static const struct typed_row *typed_find(const struct typed_keys *k, struct str bytes)
{
    for (size_t i = 0; i < k->n; i++)
        if (str_eq(str_n(k->rows[i].bytes, k->rows[i].n), bytes))
            return &k->rows[i];
    return NULL;
}

static void typed_add(struct typed_keys *k, const char *mod, struct str name)
{
    for (int application = 0; application < 2; application++) {
        struct typed_row row = {0};
        struct key key;
        AUTO_ERR struct err ignored = {0};
        AUTO_BUF struct buf bytes = BUF_INIT(BYTES_MAX);
        const struct term_input input = {.cursor_keys = application};
        snprintf(row.name, sizeof(row.name), "%s" STR_FMT, mod, STR_ARG(name));
        if (!key_parse(str_z(row.name), &key, &ignored))
            return;
        key_encode(&key, &input, &bytes);
        if (bytes.n == 0 || !buf_ok(&bytes) || typed_find(k, buf_str(&bytes)))
            continue;
        BUG_ON(k->n == KEYS_MAX);
        memcpy(row.bytes, bytes.p, bytes.n);
        row.n = bytes.n;
        k->rows[k->n++] = row;
    }
}

struct typed_keys *typed_keys_new(void)
{
    struct typed_keys *k = base_alloc(sizeof(*k));
    for (size_t m = 0; m < ARRAY_LEN(mods); m++)
        for (size_t i = 0; i < ARRAY_LEN(names); i++)
            typed_add(k, mods[m], str_z(names[i]));
    for (size_t m = 0; m < ARRAY_LEN(char_mods); m++)
        for (size_t i = 0; i < sizeof(characters) - 1; i++)
            typed_add(k, char_mods[m], str_n(&characters[i], 1));
    return k;
}

void typed_keys_free(struct typed_keys *k)
{
    free(k);
}

/* Sequences ----------------------------------------------------------------------------------- */

static size_t typed_read_key(
    const struct typed_keys *k, struct str bytes, size_t n, struct typed *ret_typed)
{
    const struct typed_row *row = typed_find(k, str_head(bytes, n));
    *ret_typed = (struct typed){.kind = row ? TYPED_KEY : TYPED_UNKNOWN,
        .bytes = str_head(bytes, n),
        .key = row ? row->name : NULL};
    return n;
}

#define PASTE_BEGIN "\033[200~"
#define PASTE_END   "\033[201~"

static size_t typed_read_paste(struct str bytes, bool all, struct typed *ret_typed)
{
    struct str rest = str_skip(bytes, sizeof(PASTE_BEGIN) - 1);
    const char *end = memmem(rest.p, rest.n, PASTE_END, sizeof(PASTE_END) - 1);
    if (!end && !all && rest.n < TYPED_PASTE_MAX)
        return 0;
    struct str text = end ? str_n(rest.p, (size_t)(end - rest.p)) : rest;
    *ret_typed = (struct typed){.kind = TYPED_PASTE, .bytes = text};
    return sizeof(PASTE_BEGIN) - 1 + text.n + (end ? sizeof(PASTE_END) - 1 : 0);
}

/* button ; column ; row, of "CSI < ... M" or m. */
static bool read_mouse(struct str text, bool press, struct mouse *ret_mouse)
{
    static const enum mouse_button buttons[] = {MOUSE_LEFT, MOUSE_MIDDLE, MOUSE_RIGHT, MOUSE_NONE,
        MOUSE_WHEEL_UP, MOUSE_WHEEL_DOWN, MOUSE_WHEEL_LEFT, MOUSE_WHEEL_RIGHT, MOUSE_BACK,
        MOUSE_FORWARD, MOUSE_NONE, MOUSE_NONE};
    int64_t numbers[3];
    struct str part;
    for (int i = 0; i < 3; i++)
        if (!str_cut(text, ';', &part, &text) || !str_to_int(part, i ? 1 : 0, 10000, &numbers[i]))
            return false;
    unsigned code = (unsigned)numbers[0];
    unsigned index = (code & 3) + (code & 64 ? 4 : code & 128 ? 8 : 0);
    *ret_mouse = (struct mouse){
        .button = buttons[index],
        .action = code & 32 ? MOUSE_MOVE
                  : press   ? MOUSE_PRESS
                            : MOUSE_RELEASE,
        .row = (unsigned)numbers[2] - 1,
        .col = (unsigned)numbers[1] - 1,
        .mods =
            (code & 4 ? KEY_SHIFT : 0u) | (code & 8 ? KEY_ALT : 0u) | (code & 16 ? KEY_CTRL : 0u),
    };
    return true;
}

/* Length of a sequence from ESC [ or ESC O to its final byte; 0 if incomplete. */
static size_t typed_sequence_length(struct str bytes)
{
    for (size_t i = 2; i < bytes.n; i++)
        if ((uint8_t)bytes.p[i] >= 0x40 && (uint8_t)bytes.p[i] <= 0x7E)
            return i + 1;
    return 0;
}

static size_t typed_read_sequence(
    const struct typed_keys *k, struct str bytes, bool all, struct typed *ret_typed)
{
    struct mouse mouse;
    if (str_starts_with(bytes, STR(PASTE_BEGIN)))
        return typed_read_paste(bytes, all, ret_typed);
    size_t n = typed_sequence_length(bytes);
    if (n == 0 && !all)
        return 0;
    if (n == 0)
        return typed_read_key(k, bytes, bytes.n, ret_typed);
    char end = bytes.p[n - 1];
    struct str inner = str_n(bytes.p + 3, n > 4 ? n - 4 : 0);
    if (bytes.p[2] == '<' && (end == 'M' || end == 'm') && read_mouse(inner, end == 'M', &mouse)) {
        *ret_typed = (struct typed){.kind = TYPED_MOUSE, .mouse = mouse};
        return n;
    }
    return typed_read_key(k, bytes, n, ret_typed);
}

static size_t typed_read_escape(
    const struct typed_keys *k, struct str bytes, bool all, struct typed *ret_typed)
{
    uint32_t codepoint;
    if (bytes.n == 1)
        return all ? typed_read_key(k, bytes, 1, ret_typed) : 0;
    if (bytes.p[1] == '[' || bytes.p[1] == 'O')
        return typed_read_sequence(k, bytes, all, ret_typed);
    size_t n = utf8_decode(str_skip(bytes, 1), &codepoint);
    bool alt = n == 1 && codepoint != '\033' && typed_find(k, str_head(bytes, 2));
    return typed_read_key(k, bytes, alt ? 2 : 1, ret_typed);
}

size_t typed_next(const struct typed_keys *k, struct str bytes, bool all, struct typed *ret_typed)
{
    size_t end = 0, n;
    uint32_t codepoint;
    if (bytes.n == 0)
        return 0;
    if (bytes.p[0] == '\033')
        return typed_read_escape(k, bytes, all, ret_typed);
    if ((uint8_t)bytes.p[0] < 0x20 || bytes.p[0] == 0x7F)
        return typed_read_key(k, bytes, 1, ret_typed);
    while ((n = utf8_decode(str_skip(bytes, end), &codepoint)) > 0 && codepoint >= 0x20 &&
           codepoint != 0x7F)
        end += n;
    if (end) {
        *ret_typed = (struct typed){.kind = TYPED_TEXT, .bytes = str_head(bytes, end)};
        return end;
    }
    if (!all && utf8_invalid_length(bytes) == bytes.n && bytes.n < UTF8_MAX)
        return 0; /* incomplete character */
    *ret_typed = (struct typed){.kind = TYPED_UNKNOWN, .bytes = str_head(bytes, 1)};
    return 1;
}
