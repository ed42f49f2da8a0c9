/* Key names, text and focus; the encodings of keys are in key_encode.c and key_kitty.c. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/keys.h"

#include "base/choice.h"
#include "base/utf8.h"

enum {
    KEY_WORD_MAX = 16, /* longer than any name */
    KEY_SHOWN_MAX = 40,
};

/* Names in lower case, as displayed, and their values. The first name of each value is suggested in
 * messages; the others are common aliases. */
struct key_word {
    const char *word;
    const char *shown;
    unsigned value;
};

static const struct key_word modifiers[] = {
    {"ctrl", "Ctrl", KEY_CTRL},
    {"control", "Ctrl", KEY_CTRL},
    {"ctl", "Ctrl", KEY_CTRL},
    {"alt", "Alt", KEY_ALT},
    {"option", "Alt", KEY_ALT},
    {"opt", "Alt", KEY_ALT},
    {"shift", "Shift", KEY_SHIFT},
    {"super", "Super", KEY_SUPER},
    {"cmd", "Super", KEY_SUPER},
    {"command", "Super", KEY_SUPER},
    {"win", "Super", KEY_SUPER},
    {"hyper", "Hyper", KEY_HYPER},
    {"meta", "Meta", KEY_META},
};

static const struct key_word names[] = {
    {"enter", "Enter", KEY_ENTER},
    {"return", "Enter", KEY_ENTER},
    {"tab", "Tab", KEY_TAB},
    {"escape", "Escape", KEY_ESCAPE},
    {"esc", "Escape", KEY_ESCAPE},
    {"backspace", "Backspace", KEY_BACKSPACE},
    {"bs", "Backspace", KEY_BACKSPACE},
    {"bspace", "Backspace", KEY_BACKSPACE},
    {"delete", "Delete", KEY_DELETE},
    {"del", "Delete", KEY_DELETE},
    {"insert", "Insert", KEY_INSERT},
    {"ins", "Insert", KEY_INSERT},
    {"space", "Space", KEY_SPACE},
    {"spacebar", "Space", KEY_SPACE},
    {"up", "Up", KEY_UP},
    {"arrowup", "Up", KEY_UP},
    {"down", "Down", KEY_DOWN},
    {"arrowdown", "Down", KEY_DOWN},
    {"left", "Left", KEY_LEFT},
    {"arrowleft", "Left", KEY_LEFT},
    {"right", "Right", KEY_RIGHT},
    {"arrowright", "Right", KEY_RIGHT},
    {"home", "Home", KEY_HOME},
    {"end", "End", KEY_END},
    {"pageup", "PageUp", KEY_PAGE_UP},
    {"page_up", "PageUp", KEY_PAGE_UP},
    {"pgup", "PageUp", KEY_PAGE_UP},
    {"pagedown", "PageDown", KEY_PAGE_DOWN},
    {"page_down", "PageDown", KEY_PAGE_DOWN},
    {"pgdn", "PageDown", KEY_PAGE_DOWN},
    {"pgdown", "PageDown", KEY_PAGE_DOWN},
    {"f1", "F1", KEY_F1},
    {"f2", "F2", KEY_F1 + 1},
    {"f3", "F3", KEY_F1 + 2},
    {"f4", "F4", KEY_F1 + 3},
    {"f5", "F5", KEY_F1 + 4},
    {"f6", "F6", KEY_F1 + 5},
    {"f7", "F7", KEY_F1 + 6},
    {"f8", "F8", KEY_F1 + 7},
    {"f9", "F9", KEY_F1 + 8},
    {"f10", "F10", KEY_F1 + 9},
    {"f11", "F11", KEY_F1 + 10},
    {"f12", "F12", KEY_F1 + 11},
    {"kp_0", "KP_0", KEY_KP_0},
    {"kp_1", "KP_1", KEY_KP_0 + 1},
    {"kp_2", "KP_2", KEY_KP_0 + 2},
    {"kp_3", "KP_3", KEY_KP_0 + 3},
    {"kp_4", "KP_4", KEY_KP_0 + 4},
    {"kp_5", "KP_5", KEY_KP_0 + 5},
    {"kp_6", "KP_6", KEY_KP_0 + 6},
    {"kp_7", "KP_7", KEY_KP_0 + 7},
    {"kp_8", "KP_8", KEY_KP_0 + 8},
    {"kp_9", "KP_9", KEY_KP_0 + 9},
    {"kp_decimal", "KP_Decimal", KEY_KP_DECIMAL},
    {"kp_divide", "KP_Divide", KEY_KP_DIVIDE},
    {"kp_multiply", "KP_Multiply", KEY_KP_MULTIPLY},
    {"kp_subtract", "KP_Subtract", KEY_KP_SUBTRACT},
    {"kp_add", "KP_Add", KEY_KP_ADD},
    {"kp_enter", "KP_Enter", KEY_KP_ENTER},
    {"kp_equal", "KP_Equal", KEY_KP_EQUAL},
};

/* Converts a word to lower case; returns "" if it is too long for a name. */
static struct str key_fold_case(struct str word, char lower[KEY_WORD_MAX])
{
    if (word.n > KEY_WORD_MAX)
        return STR("");
    for (size_t i = 0; i < word.n; i++)
        lower[i] = (char)(word.p[i] >= 'A' && word.p[i] <= 'Z' ? word.p[i] + 32 : word.p[i]);
    return str_n(lower, word.n);
}

static const struct key_word *word_find(const struct key_word *words, size_t n, struct str written)
{
    char lower[KEY_WORD_MAX];
    struct str word = key_fold_case(written, lower);
    for (size_t i = 0; i < n; i++)
        if (str_is(word, words[i].word))
            return &words[i];
    return NULL;
}

/* Names of one kind. */
struct key_words {
    const char *what, *examples;
    const struct key_word *p;
    size_t n;
};

/* "'Entr' is not the name of a keyboard key; did you mean 'Enter'?" */
static bool word_unknown(const struct key_words *words, struct str written, struct err *err)
{
    char lower[KEY_WORD_MAX];
    AUTO_CHOICE struct choice c = CHOICE_INIT(key_fold_case(written, lower));
    for (size_t i = 0; i < words->n; i++)
        choice_add(&c, words->p[i].word);
    AUTO_BUF struct buf hint = BUF_INIT(256);
    choice_hint(&c, "", &hint);
    const struct key_word *near = hint.n ? word_find(words->p, words->n, str_z(c.nearest)) : NULL;
    struct str shown = str_head(written, KEY_SHOWN_MAX);
    if (near)
        return err_set(err, E_PROTOCOL, "'" STR_FMT "' is not %s; did you mean '%s'?",
            STR_ARG(shown), words->what, near->shown);
    if (str_find(written, '-') > 0)
        return err_set(err, E_PROTOCOL,
            "'" STR_FMT "' is not %s; chords are joined with '+', as in 'Ctrl+x'", STR_ARG(shown),
            words->what);
    return err_set(err, E_PROTOCOL, "'" STR_FMT "' is not %s, such as %s", STR_ARG(shown),
        words->what, words->examples);
}

static bool parse_modifier(struct str word, unsigned *ret_mod, struct err *err)
{
    const struct key_word *found = word_find(modifiers, ARRAY_LEN(modifiers), word);
    if (!found) {
        if (word.n == 0)
            return err_set(err, E_PROTOCOL, "a modifier is missing before '+'");
        const struct key_word *key = word_find(names, ARRAY_LEN(names), word);
        if (key)
            return err_set(
                err, E_PROTOCOL, "'%s' is not a modifier: it can only be last", key->shown);
        return word_unknown(&(struct key_words){"a modifier", "Ctrl, Alt or Shift", modifiers,
                                ARRAY_LEN(modifiers)},
            word, err);
    }
    *ret_mod = found->value;
    return true;
}

static bool parse_character(struct str word, struct key *key, struct err *err)
{
    uint32_t codepoint = 0;
    size_t n = utf8_decode(word, &codepoint);
    if (codepoint < 0x20 || (codepoint >= 0x7F && codepoint <= 0x9F))
        return err_set(err, E_PROTOCOL,
            "a key cannot be a control character: use its name, such as 'Enter' or 'Ctrl+c'");
    if (n < word.n)
        return err_set(err, E_PROTOCOL, "'" STR_FMT "' is more than one character: send it as text",
            STR_ARG(str_head(word, KEY_SHOWN_MAX)));
    key->name = codepoint == ' ' ? KEY_SPACE : KEY_CHARACTER;
    key->codepoint = codepoint == ' ' ? 0 : codepoint;
    return true;
}

static bool parse_name(struct str word, struct key *key, struct err *err)
{
    const struct key_word *found = word_find(names, ARRAY_LEN(names), word);
    if (found) {
        key->name = (enum key_name)found->value;
        return true;
    }
    found = word_find(modifiers, ARRAY_LEN(modifiers), word);
    if (found)
        return err_set(err, E_PROTOCOL, "'%s' is a modifier: a key must follow it, as in '%s+x'",
            found->shown, found->shown);
    bool ascii = true;
    for (size_t i = 0; i < word.n; i++)
        ascii = ascii && word.p[i] >= ' ' && word.p[i] <= '~';
    if (ascii && word.n > 1)
        return word_unknown(&(struct key_words){"the name of a keyboard key", "Enter, F6 or Ctrl+x",
                                names, ARRAY_LEN(names)},
            word, err);
    return parse_character(word, key, err);
}

/* Parses the modifiers before the last joining '+': "Ctrl+Shift". */
static bool parse_modifiers(struct str words, unsigned *ret_mods, struct err *err)
{
    unsigned mods = 0;
    for (bool last = false; !last;) {
        unsigned mod = 0;
        ptrdiff_t plus = str_find(words, '+');
        last = plus < 0;
        struct str word = last ? words : str_head(words, (size_t)plus);
        if (!parse_modifier(word, &mod, err))
            return false;
        mods |= mod;
        words = str_skip(words, word.n + 1);
    }
    *ret_mods = mods;
    return true;
}

bool key_parse(struct str text, struct key *ret_key, struct err *err)
{
    if (text.n == 0)
        return err_set(err, E_PROTOCOL, "the key is empty");
    if (!utf8_valid(text))
        return err_set(err, E_PROTOCOL, "the key is not UTF-8");
    /* A trailing plus is the key itself if it is alone or follows a joining plus. */
    bool is_plus = text.p[text.n - 1] == '+';
    ptrdiff_t join = str_find_last(is_plus ? str_head(text, text.n - 1) : text, '+');
    if (is_plus && text.n > 1 && join != (ptrdiff_t)text.n - 2)
        return err_set(err, E_PROTOCOL, "a key is missing after '" STR_FMT "'",
            STR_ARG(str_head(text, KEY_SHOWN_MAX)));

    struct key key = {.action = KEY_PRESS};
    if (join >= 0 && !parse_modifiers(str_head(text, (size_t)join), &key.mods, err))
        return false;
    if (!parse_name(str_skip(text, (size_t)(join + 1)), &key, err))
        return false;
    *ret_key = key;
    return true;
}

/* Whether a paste may contain it: control characters could end the paste or have effects. */
static bool key_is_pasteable(uint32_t codepoint)
{
    if (codepoint == '\t' || codepoint == '\r' || codepoint == '\n')
        return true;
    return codepoint >= 0x20 && !(codepoint >= 0x7F && codepoint <= 0x9F);
}

void key_text(struct str text, bool paste, const struct term_input *input, struct buf *out)
{
    bool brackets = paste && input->bracketed_paste;
    buf_add_z(out, brackets ? "\033[200~" : "");
    for (size_t at = 0, n; at < text.n; at += n) {
        uint32_t codepoint = UTF8_REPLACEMENT;
        struct str rest = str_skip(text, at);
        n = utf8_decode(rest, &codepoint);
        bool valid = n > 0;
        if (!valid)
            n = utf8_invalid_length(rest);
        if (paste && !key_is_pasteable(codepoint))
            continue;
        if (codepoint == '\n' || codepoint == '\r') {
            if (codepoint == '\r' && rest.n > 1 && rest.p[1] == '\n')
                n = 2;
            buf_add_z(out, !paste && input->newline ? "\r\n" : "\r");
        } else if (paste && !valid) {
            buf_add_z(out, "\xEF\xBF\xBD");
        } else {
            buf_add_str(out, str_head(rest, n));
        }
    }
    buf_add_z(out, brackets ? "\033[201~" : "");
}

void key_focus(bool in, const struct term_input *input, struct buf *out)
{
    if (input->focus)
        buf_add_z(out, in ? "\033[I" : "\033[O");
}
