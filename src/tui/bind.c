/* Key bindings. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/bind.h"

#include "base/choice.h"
#include "term/keys.h"

const struct bind_action bind_actions[] = {
    {"send", "Enter", "send the message, or accept the selected entry of a list"},
    {"new-line", "Alt+Enter", "insert a line break"},
    {"interrupt", "Ctrl+c", "interrupt the model; clear the editor; twice: quit"},
    {"send-waiting", "Escape", "interrupt the model and send queued messages"},
    {"open", "Ctrl+o", "view collapsed items"},
    {"delete-or-leave", "Ctrl+d", "delete the character at the cursor; without text: quit"},
    {"suspend", "Ctrl+z", "suspend the program"},
    {"redraw", "Ctrl+l", "clear the screen"},
    {"complete", "Tab", "complete a command or a file name"},
    {"up", "Up", "move up a line, or to the previous prompt"},
    {"down", "Down", "move down a line, or to the next prompt"},
    {"older", "Alt+p", "previous prompt in the history"},
    {"newer", "Alt+n", "next prompt in the history"},
    {"search", "Ctrl+r", "search the history for this prefix"},
    {"left", "Left", "move left by a character"},
    {"right", "Right", "move right by a character"},
    {"word-left", "Alt+b", "move left by a word"},
    {"word-right", "Alt+f", "move right by a word"},
    {"line-start", "Home", "move to the start of the line"},
    {"line-end", "End", "move to the end of the line"},
    {"top", "Ctrl+Home", "move to the start of the text"},
    {"bottom", "Ctrl+End", "move to the end of the text"},
    {"delete", "Delete", "delete the character at the cursor"},
    {"delete-back", "Backspace", "delete the character before the cursor"},
    {"delete-word", "Alt+d", "delete to the end of the word"},
    {"delete-word-back", "Alt+Backspace", "delete to the start of the word"},
    {"delete-blank-word-back", "Ctrl+w", "delete back to the previous blank"},
    {"delete-line-end", "Ctrl+k", "delete to the end of the line"},
    {"delete-line-start", "Ctrl+u", "delete to the start of the line"},
    {"paste", "Ctrl+y", "insert the text deleted last"},
    {"paste-older", "Alt+y", "replace it with the text deleted before"},
    {"transpose", "Ctrl+t", "swap two characters"},
    {"undo", "Ctrl+_", "undo"},
    {"none", NULL, "do nothing"},
    {NULL, NULL, NULL},
};

/* Keys without their own legacy encoding; terminals that do send one are recognized by key name. */
static const char *const by_name[] = {"Shift+Enter", "Ctrl+Enter"};

static bool same_key(const struct key *a, const struct key *b)
{
    return a->name == b->name && a->codepoint == b->codepoint && a->mods == b->mods;
}

static void bind_encode_key(const struct key *key, struct buf *out)
{
    key_encode(key, &(struct term_input){0}, out);
}

static bool sends_same(const struct key *a, const struct key *b)
{
    AUTO_BUF struct buf x = BUF_INIT(BIND_BYTES), y = BUF_INIT(BIND_BYTES);
    bind_encode_key(a, &x);
    bind_encode_key(b, &y);
    return str_eq(buf_str(&x), buf_str(&y));
}

/* Makes an id for a key: its encoding, or its name. */
static bool bind_make_id(const struct key *key, char id[BIND_BYTES])
{
    AUTO_BUF struct buf bytes = BUF_INIT(BIND_BYTES - 1);
    for (size_t i = 0; i < ARRAY_LEN(by_name); i++) {
        struct key known;
        AUTO_ERR struct err ignored = {0};
        if (key_parse(str_z(by_name[i]), &known, &ignored) && same_key(key, &known)) {
            snprintf(id, BIND_BYTES, "%s", by_name[i]);
            return true;
        }
    }
    bind_encode_key(key, &bytes);
    if (bytes.n == 0 || !buf_ok(&bytes))
        return false;
    memset(id, 0, BIND_BYTES);
    memcpy(id, bytes.p, bytes.n);
    return true;
}

/* The plain key that has the same encoding, or NULL. */
static const char *same_bytes_key(const struct key *key)
{
    static const char *const plain[] = {"Enter", "Tab", "Escape", "Backspace", "Delete", "Insert",
        "Space", "Up", "Down", "Left", "Right", "Home", "End", "PageUp", "PageDown"};
    for (size_t i = 0; i < ARRAY_LEN(plain); i++) {
        struct key other;
        AUTO_ERR struct err ignored = {0};
        if (key_parse(str_z(plain[i]), &other, &ignored) && !same_key(key, &other) &&
            sends_same(key, &other))
            return plain[i];
    }
    return NULL;
}

static bool bind_read_key(struct str text, char id[BIND_BYTES], struct err *err)
{
    struct key key;
    if (!key_parse(text, &key, err)) {
        err->code = E_CONFIG;
        return false;
    }
    if (!bind_make_id(&key, id))
        return err_set(err, E_CONFIG, "terminals send nothing for this key");
    for (size_t i = 0; i < ARRAY_LEN(by_name); i++)
        if (strcmp(id, by_name[i]) == 0)
            return true;
    const char *same = same_bytes_key(&key);
    if (same)
        return err_set(
            err, E_CONFIG, "terminals send the same bytes for this key and for '%s'", same);
    if ((uint8_t)id[0] >= ' ' && id[0] != 0x7F)
        return err_set(
            err, E_CONFIG, "this key types text; use a key with Ctrl or Alt, or a named key");
    return true;
}

static bool find_action(struct str name, const struct bind_action **ret_action, struct err *err)
{
    AUTO_CHOICE struct choice c = CHOICE_INIT(name);
    AUTO_BUF struct buf hint = BUF_INIT(CHOICE_LIST_MAX);
    for (const struct bind_action *a = bind_actions; a->name; a++) {
        if (str_is(name, a->name)) {
            *ret_action = a;
            return true;
        }
        choice_add(&c, a->name);
    }
    choice_hint(&c, "", &hint);
    return err_set(err, E_CONFIG,
        "no such action '" STR_FMT "' ('cordon config keys' lists them)%s", STR_ARG(name),
        buf_z(&hint));
}

static const char *const *bind_find(const struct bindings *b, const char *id)
{
    for (size_t i = 0; i < b->n; i++)
        if (strcmp(b->p[i].id, id) == 0)
            return &b->p[i].key;
    return NULL;
}

bool bind_add(struct bindings *b, struct str key, struct str action, struct err *err)
{
    const struct bind_action *a = NULL;
    char id[BIND_BYTES];
    if (!bind_read_key(key, id, err) || !find_action(action, &a, err))
        return false;
    if (bind_find(b, id))
        return err_set(err, E_CONFIG, "this key is already bound under another name");
    if (b->n == BIND_MAX)
        return err_set(err, E_CONFIG, "more than %d keys", BIND_MAX);
    memcpy(b->p[b->n].id, id, BIND_BYTES);
    b->p[b->n++].key = a->key;
    return true;
}

const char *bind_key(const struct bindings *b, const char *name)
{
    struct key key;
    char id[BIND_BYTES];
    AUTO_ERR struct err ignored = {0};
    if (b->n == 0 || !key_parse(str_z(name), &key, &ignored) || !bind_make_id(&key, id))
        return name;
    const char *const *bound = bind_find(b, id);
    return bound ? *bound : name;
}
