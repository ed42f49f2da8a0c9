/* Keys by name in any mode: an answer or an error; text is never more than one character or one
 * sequence, and nothing in a paste can end it. The first bytes are the modes, the rest is a key, a
 * text, a position. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "term/keys.h"

enum {
    MODE_BYTES = 6,
    OUT_MAX = 1 << 16,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_key(struct str text, enum key_action action, const struct term_input *input)
{
    AUTO_ERR struct err err = {0};
    AUTO_BUF struct buf out = BUF_INIT(OUT_MAX);
    struct key key;
    if (!key_parse(text, &key, &err)) {
        BUG_ON(err.code != E_PROTOCOL);
        return;
    }
    BUG_ON(err.code != ERR_NONE);
    BUG_ON((key.name == KEY_CHARACTER) != utf8_is_scalar(key.codepoint) && key.codepoint);
    key.action = action;
    key_encode(&key, input, &out);
    BUG_ON(!buf_ok(&out));
    BUG_ON(!utf8_valid(buf_str(&out)));
    BUG_ON(out.n == 0 && action != KEY_RELEASE);
    BUG_ON(out.n && action == KEY_RELEASE && !strstr(out.p, ":3"));
}

static void check_paste(struct str text, const struct term_input *input)
{
    AUTO_BUF struct buf out = BUF_INIT(3 * OUT_MAX);
    key_text(text, true, input, &out);
    struct str inside = buf_str(&out);
    BUG_ON(!buf_ok(&out) || !utf8_valid(inside));
    if (input->bracketed_paste) {
        BUG_ON(!str_starts_with(inside, STR("\033[200~")));
        BUG_ON(!str_ends_with(inside, STR("\033[201~")));
        inside = str_n(inside.p + 6, inside.n - 12);
    }
    for (size_t i = 0; i < inside.n; i++) {
        unsigned char c = (unsigned char)inside.p[i];
        BUG_ON((c < ' ' && c != '\t' && c != '\r') || c == 0x7F);
        BUG_ON(c == 0xC2 && (unsigned char)inside.p[i + 1] < 0xA0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < MODE_BYTES || size > OUT_MAX)
        return 0;
    struct term_input input = {
        .cursor_keys = data[0] & 1,
        .keypad = data[0] & 2,
        .backspace_is_bs = data[0] & 4,
        .newline = data[0] & 8,
        .bracketed_paste = data[0] & 16,
        .alternate_scroll = data[0] & 32,
        .alternate_screen = data[0] & 64,
        .kitty = data[1] % 32,
        .modify_other = data[2] % 3,
        .format_other = data[2] / 3 % 2,
        .mouse = (enum term_mouse)(data[3] % (TERM_MOUSE_ANY + 1)),
        .mouse_coding = (enum term_mouse_coding)(data[3] / 8 % (TERM_MOUSE_PIXELS + 1)),
        .cell_width = data[4],
        .cell_height = data[4],
    };
    struct str text = str_n((const char *)data + MODE_BYTES, size - MODE_BYTES);
    check_key(text, (enum key_action)(data[5] % 3), &input);
    check_paste(text, &input);

    AUTO_BUF struct buf out = BUF_INIT(OUT_MAX);
    struct mouse mouse = {
        .button = (enum mouse_button)(data[5] % (MOUSE_FORWARD + 1)),
        .action = (enum mouse_action)(data[5] / 16 % 3),
        .mods = data[4],
    };
    memcpy(&mouse.row, text.p, MIN(text.n, sizeof(mouse.row)));
    mouse.col = mouse.row >> data[0] % 32;
    bool sent = mouse_encode(&mouse, &input, &out);
    BUG_ON(!buf_ok(&out) || sent != (out.n > 0));
    return 0;
}
