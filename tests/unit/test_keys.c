/* Keys, text, focus and mouse: the bytes that a terminal sends, row by row from the tables in
 * tests/keys.
 *
 * Columns are separated by one tab: the modes (words, or "-"), the event, and the bytes ("-": none;
 * \e \r \n \t \\ \xNN). Lines that begin with "# " are comments. Events:
 *
 *     [repeat |release ]KEY                    Ctrl+x
 *     typed TEXT, paste TEXT                   with the same escapes
 *     focus in, focus out
 *     mouse ACTION BUTTON ROW,COL [MODIFIERS]  mouse press left 0,0 Ctrl+Shift
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/buf.h"
#include "term/keys.h"

#include <glob.h>

enum {
    BYTES_MAX = 4096,
};

static const struct mode {
    const char *name;
    struct term_input on;
} modes[] = {
    {"DECCKM", {.cursor_keys = true}},
    {"DECKPAM", {.keypad = true}},
    {"DECBKM", {.backspace_is_bs = true}},
    {"LNM", {.newline = true}},
    {"2004", {.bracketed_paste = true}},
    {"1004", {.focus = true}},
    {"1007", {.alternate_scroll = true}},
    {"alternate", {.alternate_screen = true}},
    {"other=1", {.modify_other = 1}},
    {"other=2", {.modify_other = 2}},
    {"format=1", {.format_other = 1}},
    {"kitty=1", {.kitty = 1}},
    {"kitty=2", {.kitty = 2}},
    {"kitty=3", {.kitty = 3}},
    {"kitty=4", {.kitty = 4}},
    {"kitty=5", {.kitty = 5}},
    {"kitty=8", {.kitty = 8}},
    {"kitty=9", {.kitty = 9}},
    {"kitty=15", {.kitty = 15}},
    {"kitty=16", {.kitty = 16}},
    {"kitty=17", {.kitty = 17}},
    {"kitty=24", {.kitty = 24}},
    {"kitty=31", {.kitty = 31}},
    {"9", {.mouse = TERM_MOUSE_X10}},
    {"1000", {.mouse = TERM_MOUSE_NORMAL}},
    {"1002", {.mouse = TERM_MOUSE_BUTTON}},
    {"1003", {.mouse = TERM_MOUSE_ANY}},
    {"1005", {.mouse_coding = TERM_MOUSE_UTF8}},
    {"1006", {.mouse_coding = TERM_MOUSE_SGR}},
    {"1015", {.mouse_coding = TERM_MOUSE_URXVT}},
    {"1016", {.mouse_coding = TERM_MOUSE_PIXELS}},
    {"10x20", {.cell_width = 10, .cell_height = 20}},
};

/* Modes are set by or-ing bytes: each is a separate member, and zero elsewhere. */
static void set_modes(struct str words, struct term_input *input)
{
    struct str word, rest = words;
    unsigned char *to = (unsigned char *)input;
    while (!str_is(words, "-") && str_cut(rest, ' ', &word, &rest)) {
        size_t i = 0;
        while (i < ARRAY_LEN(modes) && !str_is(word, modes[i].name))
            i++;
        if (!CHECK(i < ARRAY_LEN(modes)))
            return;
        const unsigned char *from = (const unsigned char *)&modes[i].on;
        for (size_t k = 0; k < sizeof(*input); k++)
            to[k] |= from[k];
    }
}

static void unescape(struct str text, struct buf *out)
{
    static const char letters[] = "ernt\\", bytes[] = "\033\r\n\t\\";
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] != '\\' || i + 1 == text.n) {
            buf_add_byte(out, text.p[i]);
            continue;
        }
        const char *at = strchr(letters, text.p[++i]);
        if (at) {
            buf_add_byte(out, bytes[at - letters]);
        } else if (CHECK(text.p[i] == 'x' && i + 2 < text.n)) {
            const char digits[] = {text.p[i + 1], text.p[i + 2], '\0'};
            buf_add_byte(out, (char)strtol(digits, NULL, 16));
            i += 2;
        }
    }
}

static void escape(struct str bytes, struct buf *out)
{
    for (size_t i = 0; i < bytes.n; i++) {
        unsigned char c = (unsigned char)bytes.p[i];
        if (c == '\033')
            buf_add_z(out, "\\e");
        else if (c < ' ' || c >= 0x7F)
            buf_printf(out, "\\x%02x", c);
        else
            buf_add_byte(out, (char)c);
    }
}

static bool cut_prefix(struct str *s, const char *prefix)
{
    bool cut = str_starts_with(*s, str_z(prefix));
    if (cut)
        *s = str_skip(*s, strlen(prefix));
    return cut;
}

static unsigned word_index(struct str word, const char *const *words, unsigned n)
{
    unsigned i = 0;
    while (i < n && !str_is(word, words[i]))
        i++;
    CHECK(i < n);
    return i % n;
}

static void do_mouse(struct str what, const struct term_input *input, struct buf *out)
{
    static const char *const actions[] = {"press", "release", "move"};
    static const char *const buttons[] = {"left", "middle", "right", "none", "wheel-up",
        "wheel-down", "wheel-left", "wheel-right", "back", "forward"};
    struct str action = {0}, button = {0}, row = {0}, col = {0}, rest = what;
    int64_t place[2] = {0, 0};
    (void)str_cut(rest, ' ', &action, &rest);
    (void)str_cut(rest, ' ', &button, &rest);
    (void)str_cut(rest, ',', &row, &rest);
    (void)str_cut(rest, ' ', &col, &rest);
    CHECK(str_to_int(row, 0, UINT32_MAX, &place[0]) && str_to_int(col, 0, UINT32_MAX, &place[1]));
    struct mouse mouse = {
        .action = (enum mouse_action)word_index(action, actions, ARRAY_LEN(actions)),
        .button = (enum mouse_button)word_index(button, buttons, ARRAY_LEN(buttons)),
        .row = (unsigned)place[0],
        .col = (unsigned)place[1],
    };
    if (rest.n) {
        AUTO_ERR struct err err = {0};
        AUTO_BUF struct buf chord = BUF_INIT(100);
        struct key key = {0};
        buf_printf(&chord, STR_FMT "+x", STR_ARG(rest));
        CHECK_OK(key_parse(buf_str(&chord), &key, &err), &err);
        mouse.mods = key.mods;
    }
    bool sent = mouse_encode(&mouse, input, out);
    CHECK_INT(sent, out->n > 0);
}

static void do_key(struct str what, const struct term_input *input, struct buf *out)
{
    AUTO_ERR struct err err = {0};
    enum key_action action = cut_prefix(&what, "repeat ")    ? KEY_REPEAT
                             : cut_prefix(&what, "release ") ? KEY_RELEASE
                                                             : KEY_PRESS;
    struct key key = {0};
    if (CHECK_OK(key_parse(what, &key, &err), &err)) {
        key.action = action;
        key_encode(&key, input, out);
    }
}

static void do_row(struct str what, const struct term_input *input, struct buf *out)
{
    AUTO_BUF struct buf text = BUF_INIT(BYTES_MAX);
    bool paste = cut_prefix(&what, "paste ");
    if (paste || cut_prefix(&what, "typed ")) {
        unescape(what, &text);
        key_text(buf_str(&text), paste, input, out);
    } else if (cut_prefix(&what, "focus ")) {
        key_focus(str_is(what, "in"), input, out);
    } else if (cut_prefix(&what, "mouse ")) {
        do_mouse(what, input, out);
    } else {
        do_key(what, input, out);
    }
}

static size_t run_file(const char *path)
{
    AUTO_FREE char *content = test_read(path);
    size_t number = 0, rows = 0;
    struct str line, mode, what, rest = str_z(content);
    CHECK(content != NULL);
    while (str_cut(rest, '\n', &line, &rest)) {
        number++;
        if (line.n == 0 || str_starts_with(line, STR("# ")))
            continue;
        AUTO_BUF struct buf name = BUF_INIT(BYTES_MAX);
        buf_printf(&name, "%s:%zu " STR_FMT, path, number, STR_ARG(line));
        test_row(number, buf_z(&name));
        struct str bytes = line;
        if (!CHECK(str_cut(bytes, '\t', &mode, &bytes) && str_cut(bytes, '\t', &what, &bytes)))
            continue;
        struct term_input input = {0};
        AUTO_BUF struct buf want = BUF_INIT(BYTES_MAX);
        AUTO_BUF struct buf got = BUF_INIT(BYTES_MAX);
        AUTO_BUF struct buf want_shown = BUF_INIT(BYTES_MAX);
        AUTO_BUF struct buf got_shown = BUF_INIT(BYTES_MAX);
        set_modes(mode, &input);
        do_row(what, &input, &got);
        if (!str_is(bytes, "-"))
            unescape(bytes, &want);
        escape(buf_str(&want), &want_shown);
        escape(buf_str(&got), &got_shown);
        CHECK_STR(buf_str(&got_shown), buf_str(&want_shown));
        rows++;
    }
    return rows;
}

TEST(keys_send_the_bytes_of_the_tables)
{
    glob_t found;
    size_t rows = 0;
    CHECK_INT(glob(TESTS_DIR "/keys/*.tsv", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        rows += run_file(found.gl_pathv[i]);
    globfree(&found);
    CHECK(rows > 1000);
}

TEST(key_parse_reads_names)
{
    static const struct {
        const char *text;
        enum key_name name;
        uint32_t codepoint;
        unsigned mods;
    } rows[] = {
        {"Enter", KEY_ENTER, 0, 0},
        {"eNTER", KEY_ENTER, 0, 0},
        {"Return", KEY_ENTER, 0, 0},
        {"Esc", KEY_ESCAPE, 0, 0},
        {"PgUp", KEY_PAGE_UP, 0, 0},
        {"PGDN", KEY_PAGE_DOWN, 0, 0},
        {"Del", KEY_DELETE, 0, 0},
        {"Ins", KEY_INSERT, 0, 0},
        {"BS", KEY_BACKSPACE, 0, 0},
        {"F12", KEY_F12, 0, 0},
        {"kp_9", KEY_KP_9, 0, 0},
        {"a", KEY_CHARACTER, 'a', 0},
        {"A", KEY_CHARACTER, 'A', 0},
        {" ", KEY_SPACE, 0, 0},
        {"+", KEY_CHARACTER, '+', 0},
        {"-", KEY_CHARACTER, '-', 0},
        {"Ctrl++", KEY_CHARACTER, '+', KEY_CTRL},
        {"Alt+Ctrl++", KEY_CHARACTER, '+', KEY_CTRL | KEY_ALT},
        {"Ctrl+-", KEY_CHARACTER, '-', KEY_CTRL},
        {"Ctrl+x", KEY_CHARACTER, 'x', KEY_CTRL},
        {"Control+x", KEY_CHARACTER, 'x', KEY_CTRL},
        {"shift+ALT+f5", KEY_F1 + 4, 0, KEY_SHIFT | KEY_ALT},
        {"alt+shift+f5", KEY_F1 + 4, 0, KEY_SHIFT | KEY_ALT},
        {"Ctrl+Ctrl+x", KEY_CHARACTER, 'x', KEY_CTRL},
        {"Super+Hyper+Meta+Up", KEY_UP, 0, KEY_SUPER | KEY_HYPER | KEY_META},
        {"Cmd+Space", KEY_SPACE, 0, KEY_SUPER},
        {"é", KEY_CHARACTER, 0xE9, 0},
        {"Alt+😀", KEY_CHARACTER, 0x1F600, KEY_ALT},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ERR struct err err = {0};
        struct key key = {.name = KEY_NAMES};
        test_row(i, rows[i].text);
        CHECK_OK(key_parse(str_z(rows[i].text), &key, &err), &err);
        CHECK_INT(key.name, rows[i].name);
        CHECK_INT(key.codepoint, rows[i].codepoint);
        CHECK_INT(key.mods, rows[i].mods);
        CHECK_INT(key.action, KEY_PRESS);
    }
}

TEST(key_parse_refuses)
{
    static const struct {
        const char *text;
        const char *part;
    } rows[] = {
        {"", "the key is empty"},
        {"Entr", "'Entr' is not the name of a keyboard key; did you mean 'Enter'?"},
        {"ESCAP", "'ESCAP' is not the name of a keyboard key; did you mean 'Escape'?"},
        {"pageupp", "did you mean 'PageUp'?"},
        {"F13", "'F13' is not the name of a keyboard key; did you mean 'F"},
        {"Ctrl+Lft", "'Lft' is not the name of a keyboard key; did you mean 'Left'?"},
        {"Cntrl+x", "'Cntrl' is not a modifier; did you mean 'Ctrl'?"},
        {"Enter+x", "'Enter' is not a modifier"},
        {"Ctrl", "'Ctrl' is a modifier: a key must follow it"},
        {"Alt+Shift", "'Shift' is a modifier"},
        {"Ctrl+", "a key is missing after 'Ctrl+'"},
        {"++", "a modifier is missing"},
        {"+x", "a modifier is missing"},
        {"Ctrl++x", "a modifier is missing"},
        {"Ctrl-x", "joined with '+'"},
        {"hello", "'hello' is not the name of a keyboard key, such as Enter, F6 or Ctrl+x"},
        {"e\u0301", "more than one character: send it as text"},
        {"👩‍🚀", "more than one character: send it as text"},
        {"\t", "control character"},
        {"\xC2\x9B", "control character"},
        {"\x7F", "control character"},
        {"\xFF", "not UTF-8"},
        {"a-very-long-name-that-is-no-key-and-goes-on-and-on", "is not the name of a keyboard key"},
        {"Zebra+x", "'Zebra' is not a modifier, such as Ctrl, Alt or Shift"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ERR struct err err = {0};
        struct key key = {.name = KEY_NAMES};
        test_row(i, rows[i].text);
        CHECK(!key_parse(str_z(rows[i].text), &key, &err));
        CHECK_ERR(&err, E_PROTOCOL, rows[i].part);
        CHECK_INT(key.name, KEY_NAMES);
    }
}

/* Keys that have no name send nothing rather than something broken. */
TEST(key_encode_ignores_invalid_characters)
{
    static const uint32_t codepoints[] = {0, 3, 0x7F, 0x9B, 0xD800, 0x110000, UINT32_MAX};
    for (size_t i = 0; i < ARRAY_LEN(codepoints); i++)
        for (unsigned kitty = 0; kitty < 32; kitty++)
            for (unsigned mods = 0; mods < 64; mods++) {
                AUTO_BUF struct buf out = BUF_INIT(BYTES_MAX);
                struct key key = {.codepoint = codepoints[i], .mods = mods};
                key_encode(
                    &key, &(struct term_input){.kitty = kitty, .modify_other = kitty % 3}, &out);
                CHECK_INT(out.n, 0);
            }
}

/* In every mode, a release never looks like a press, and an event is one character or one sequence.
 */
TEST(key_encode_is_complete_in_every_mode)
{
    for (unsigned kitty = 0; kitty < 32; kitty++)
        for (unsigned name = KEY_ENTER; name < KEY_NAMES; name++)
            for (unsigned mods = 0; mods < 64; mods++) {
                struct term_input input = {.kitty = kitty};
                AUTO_BUF struct buf press = BUF_INIT(BYTES_MAX);
                AUTO_BUF struct buf release = BUF_INIT(BYTES_MAX);
                struct key key = {.name = (enum key_name)name, .mods = mods};
                key_encode(&key, &input, &press);
                key.action = KEY_RELEASE;
                key_encode(&key, &input, &release);
                if (!CHECK(press.n > 0) || !CHECK(release.n == 0 || kitty & 2) ||
                    !CHECK(!str_eq(buf_str(&press), buf_str(&release))))
                    return;
                if (release.n)
                    CHECK(strstr(buf_z(&release), ":3") != NULL);
            }
}
