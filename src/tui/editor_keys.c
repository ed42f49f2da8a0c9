/* Key commands of the editor, in one table. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "tui/editor_state.h"

typedef enum editor_event (*key_fn)(struct editor *e);

/* Movement ------------------------------------------------------------------------------------ */

static bool is_word(const struct editor *e, size_t at)
{
    char c = e->text.p[at];
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (uint8_t)c >= 0x80;
}

static bool keys_is_blank(const struct editor *e, size_t at)
{
    return memchr(" \t\n", e->text.p[at], 3);
}

/* Moves an offset found byte by byte to the start of its cluster. */
static size_t keys_snap(const struct editor *e, size_t at)
{
    size_t before = at ? editor_back(e, at) : 0;
    return at && editor_next(e, before) > at ? before : at;
}

static size_t word_end(const struct editor *e)
{
    size_t at = e->cursor;
    while (at < e->text.n && !is_word(e, at))
        at++;
    while (at < e->text.n && is_word(e, at))
        at++;
    return at;
}

static size_t word_start(const struct editor *e)
{
    size_t at = e->cursor;
    while (at > 0 && !is_word(e, at - 1))
        at--;
    while (at > 0 && is_word(e, at - 1))
        at--;
    return keys_snap(e, at);
}

/* Start of a word delimited by blanks. */
static size_t big_word_start(const struct editor *e)
{
    size_t at = e->cursor;
    while (at > 0 && keys_is_blank(e, at - 1))
        at--;
    while (at > 0 && !keys_is_blank(e, at - 1))
        at--;
    return keys_snap(e, at);
}

static enum editor_event keys_move_to(struct editor *e, size_t at)
{
    e->cursor = at;
    editor_list_close(e);
    return EDITOR_DONE;
}

static enum editor_event keys_left(struct editor *e)
{
    return keys_move_to(e, e->cursor ? editor_back(e, e->cursor) : 0);
}

static enum editor_event keys_right(struct editor *e)
{
    return keys_move_to(e, e->cursor < e->text.n ? editor_next(e, e->cursor) : e->text.n);
}

static enum editor_event keys_word_left(struct editor *e)
{
    return keys_move_to(e, word_start(e));
}

static enum editor_event keys_word_right(struct editor *e)
{
    return keys_move_to(e, word_end(e));
}

static enum editor_event keys_home(struct editor *e)
{
    return keys_move_to(e, editor_line_start(e, e->cursor));
}

static enum editor_event keys_end(struct editor *e)
{
    return keys_move_to(e, editor_line_end(e, e->cursor));
}

static enum editor_event keys_top(struct editor *e)
{
    return keys_move_to(e, 0);
}

static enum editor_event keys_bottom(struct editor *e)
{
    return keys_move_to(e, e->text.n);
}

/* Deletion ------------------------------------------------------------------------------------ */

/* Deletes text and saves it for Ctrl+y. Consecutive kills are saved as one. */
static enum editor_event keys_kill(struct editor *e, size_t from, size_t to)
{
    bool on = e->before == LAST_KILL && e->kills[0];
    bool forward = from == e->cursor;
    size_t n = to - from;
    e->last = LAST_KILL;
    if (n == 0)
        return EDITOR_DONE;
    if (!on) {
        free(e->kills[EDITOR_KILLS - 1]);
        memmove(e->kills + 1, e->kills, (EDITOR_KILLS - 1) * sizeof(*e->kills));
        memmove(e->kill_n + 1, e->kill_n, (EDITOR_KILLS - 1) * sizeof(*e->kill_n));
        e->kills[0] = NULL;
        e->kill_n[0] = 0;
    }
    if (e->kill_n[0] + n > EDITOR_MAX)
        return EDITOR_DONE;
    e->kills[0] = base_realloc(e->kills[0], e->kill_n[0] + n);
    if (!forward)
        memmove(e->kills[0] + n, e->kills[0], e->kill_n[0]);
    memcpy(e->kills[0] + (forward ? e->kill_n[0] : 0), e->text.p + from, n);
    e->kill_n[0] += n;
    editor_replace(e, from, n, STR(""));
    editor_list_update(e);
    return EDITOR_DONE;
}

static enum editor_event keys_delete_back(struct editor *e)
{
    size_t at = e->cursor ? editor_back(e, e->cursor) : 0;
    editor_replace(e, at, e->cursor - at, STR(""));
    editor_list_update(e);
    return EDITOR_DONE;
}

static enum editor_event keys_delete_next(struct editor *e)
{
    if (e->cursor < e->text.n)
        editor_replace(e, e->cursor, editor_next(e, e->cursor) - e->cursor, STR(""));
    editor_list_update(e);
    return EDITOR_DONE;
}

static enum editor_event keys_delete_or_end(struct editor *e)
{
    return editor_empty(e) ? EDITOR_END : keys_delete_next(e);
}

static enum editor_event keys_kill_word(struct editor *e)
{
    return keys_kill(e, e->cursor, word_end(e));
}

static enum editor_event keys_kill_word_back(struct editor *e)
{
    return keys_kill(e, word_start(e), e->cursor);
}

static enum editor_event keys_kill_big_word_back(struct editor *e)
{
    return keys_kill(e, big_word_start(e), e->cursor);
}

/* At the end of a line, deletes the line break. */
static enum editor_event keys_kill_to_end(struct editor *e)
{
    size_t to = editor_line_end(e, e->cursor);
    return keys_kill(e, e->cursor, to == e->cursor && to < e->text.n ? to + 1 : to);
}

static enum editor_event keys_kill_to_start(struct editor *e)
{
    size_t from = editor_line_start(e, e->cursor);
    return keys_kill(e, from == e->cursor && from > 0 ? from - 1 : from, e->cursor);
}

static enum editor_event keys_yank(struct editor *e)
{
    e->yank = 0;
    e->yank_at = e->cursor;
    if (e->kills[0])
        editor_replace(e, e->cursor, 0, str_n(e->kills[0], e->kill_n[0]));
    e->last = LAST_YANK;
    return EDITOR_DONE;
}

static enum editor_event keys_yank_next(struct editor *e)
{
    if (e->before != LAST_YANK || !e->kills[0] || e->cursor < e->yank_at)
        return EDITOR_DONE;
    e->yank = e->yank + 1 < EDITOR_KILLS && e->kills[e->yank + 1] ? e->yank + 1 : 0;
    editor_replace(
        e, e->yank_at, e->cursor - e->yank_at, str_n(e->kills[e->yank], e->kill_n[e->yank]));
    e->last = LAST_YANK;
    return EDITOR_DONE;
}

/* Swaps the characters before and at the cursor; at the end of a line, the two before it. */
static enum editor_event keys_transpose(struct editor *e)
{
    AUTO_BUF struct buf swapped = BUF_INIT(EDITOR_MAX);
    size_t middle = e->cursor;
    if (middle == editor_line_start(e, middle))
        return EDITOR_DONE;
    if (middle == editor_line_end(e, middle))
        middle = editor_back(e, middle);
    if (middle == editor_line_start(e, middle))
        return EDITOR_DONE;
    size_t from = editor_back(e, middle), to = editor_next(e, middle);
    buf_add(&swapped, e->text.p + middle, to - middle);
    buf_add(&swapped, e->text.p + from, middle - from);
    editor_replace(e, from, to - from, buf_str(&swapped));
    return EDITOR_DONE;
}

static enum editor_event keys_undo(struct editor *e)
{
    editor_undo(e);
    editor_list_close(e);
    return EDITOR_DONE;
}

/* Lines and history --------------------------------------------------------------------------- */

static void show_entry(struct editor *e, size_t entry)
{
    if (e->at_history == e->n_history) {
        free(e->draft);
        e->draft = base_alloc(e->text.n + 1);
        memcpy(e->draft, buf_z(&e->text), e->text.n);
    }
    const char *text = entry == e->n_history ? e->draft : e->history[entry];
    e->at_history = entry;
    /* Restore a draft unmodified: it may contain pastes. */
    editor_replace(e, 0, e->text.n, str_z(text));
    e->cursor = e->text.n;
    editor_list_close(e);
}

static size_t column_of(const struct editor *e, size_t at)
{
    size_t column = 0;
    for (size_t p = editor_line_start(e, at); p < at; p = editor_next(e, p))
        column++;
    return column;
}

static enum editor_event keys_move_to_line(struct editor *e, size_t start)
{
    size_t at = start, last = editor_line_end(e, start);
    if (e->before != LAST_VERTICAL)
        e->column = column_of(e, e->cursor);
    for (size_t i = 0; i < e->column && at < last; i++)
        at = editor_next(e, at);
    e->last = LAST_VERTICAL;
    return keys_move_to(e, at);
}

static enum editor_event keys_older(struct editor *e)
{
    if (e->at_history > 0)
        show_entry(e, e->at_history - 1);
    return EDITOR_DONE;
}

static enum editor_event keys_newer(struct editor *e)
{
    if (e->at_history < e->n_history)
        show_entry(e, e->at_history + 1);
    return EDITOR_DONE;
}

static enum editor_event keys_choose(struct editor *e, size_t step)
{
    e->list.chosen = (e->list.chosen + step) % e->list.n;
    return EDITOR_DONE;
}

static enum editor_event keys_up(struct editor *e)
{
    size_t start = editor_line_start(e, e->cursor);
    if (e->list.n)
        return keys_choose(e, e->list.n - 1);
    return start ? keys_move_to_line(e, editor_line_start(e, start - 1)) : keys_older(e);
}

static enum editor_event keys_down(struct editor *e)
{
    size_t last = editor_line_end(e, e->cursor);
    if (e->list.n)
        return keys_choose(e, 1);
    return last < e->text.n ? keys_move_to_line(e, last + 1) : keys_newer(e);
}

/* Searches for an older entry that begins with the text before the cursor. */
static enum editor_event keys_search(struct editor *e)
{
    struct str prefix = str_n(buf_z(&e->text), e->cursor);
    size_t cursor = e->cursor;
    for (size_t i = e->at_history; i-- > 0;)
        if (str_starts_with(str_z(e->history[i]), prefix) &&
            !str_is(buf_str(&e->text), e->history[i])) {
            show_entry(e, i);
            e->cursor = cursor;
            break;
        }
    return EDITOR_DONE;
}

/* Other keys ---------------------------------------------------------------------------------- */

static enum editor_event keys_new_line(struct editor *e)
{
    editor_replace(e, e->cursor, 0, STR("\n"));
    editor_list_close(e);
    return EDITOR_DONE;
}

static enum editor_event keys_enter(struct editor *e)
{
    if (e->list.n && editor_list_accept(e))
        return EDITOR_DONE;
    if (e->cursor && e->text.p[e->cursor - 1] == '\\') {
        editor_replace(e, e->cursor - 1, 1, STR("\n"));
        return EDITOR_DONE;
    }
    editor_list_close(e);
    return EDITOR_SENT;
}

static enum editor_event keys_tab(struct editor *e)
{
    if (e->list.n == 0)
        editor_list_update(e);
    if (editor_list_fits(e))
        return editor_text(e, STR(" "));
    return e->list.n && editor_list_accept(e) ? EDITOR_DONE : EDITOR_IGNORED;
}

static enum editor_event keys_escape(struct editor *e)
{
    bool open = e->list.n;
    editor_list_close(e);
    return open ? EDITOR_DONE : EDITOR_IGNORED;
}

static enum editor_event keys_interrupt(struct editor *e)
{
    (void)e;
    return EDITOR_INTERRUPT;
}

static enum editor_event keys_suspend(struct editor *e)
{
    (void)e;
    return EDITOR_SUSPEND;
}

static enum editor_event keys_redraw(struct editor *e)
{
    (void)e;
    return EDITOR_REDRAW;
}

static const struct {
    const char *key;
    key_fn run;
} keys[] = {
    {"Ctrl+a", keys_home},
    {"Home", keys_home},
    {"Ctrl+e", keys_end},
    {"End", keys_end},
    {"Ctrl+b", keys_left},
    {"Left", keys_left},
    {"Ctrl+f", keys_right},
    {"Right", keys_right},
    {"Alt+b", keys_word_left},
    {"Ctrl+Left", keys_word_left},
    {"Alt+Left", keys_word_left},
    {"Alt+f", keys_word_right},
    {"Ctrl+Right", keys_word_right},
    {"Alt+Right", keys_word_right},
    {"Ctrl+Home", keys_top},
    {"Alt+<", keys_top},
    {"Ctrl+End", keys_bottom},
    {"Alt+>", keys_bottom},
    {"Ctrl+d", keys_delete_or_end},
    {"Delete", keys_delete_next},
    {"Backspace", keys_delete_back},
    {"Ctrl+h", keys_delete_back},
    {"Ctrl+Backspace", keys_delete_back}, /* sends the same byte as Ctrl+h */
    {"Shift+Backspace", keys_delete_back},
    {"Ctrl+w", keys_kill_big_word_back},
    {"Alt+d", keys_kill_word},
    {"Ctrl+Delete", keys_kill_word},
    {"Alt+Backspace", keys_kill_word_back},
    {"Ctrl+Alt+Backspace", keys_kill_word_back},
    {"Ctrl+k", keys_kill_to_end},
    {"Ctrl+u", keys_kill_to_start},
    {"Ctrl+y", keys_yank},
    {"Alt+y", keys_yank_next},
    {"Ctrl+t", keys_transpose},
    {"Ctrl+_", keys_undo},
    {"Up", keys_up},
    {"Down", keys_down},
    {"Ctrl+p", keys_up},
    {"Ctrl+n", keys_down},
    {"Alt+p", keys_older},
    {"Alt+n", keys_newer},
    {"Ctrl+r", keys_search},
    {"Enter", keys_enter},
    {"Alt+Enter", keys_new_line},
    {"Shift+Enter", keys_new_line},
    {"Ctrl+Enter", keys_new_line},
    {"Ctrl+j", keys_new_line},
    {"Ctrl+Alt+j", keys_new_line},
    {"Tab", keys_tab},
    {"Escape", keys_escape},
    {"Ctrl+c", keys_interrupt},
    {"Ctrl+z", keys_suspend},
    {"Ctrl+l", keys_redraw},
};

enum editor_event editor_key(struct editor *e, const char *key)
{
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (strcmp(keys[i].key, key) == 0) {
            e->before = e->last;
            e->last = LAST_OTHER;
            return keys[i].run(e);
        }
    return EDITOR_IGNORED;
}

/* Sequences that some terminals send for keys without a legacy encoding. */
static const struct {
    const char *bytes, *key;
} others[] = {
    {"\033[13;2u", "Shift+Enter"},
    {"\033[27;2;13~", "Shift+Enter"},
    {"\033[13;5u", "Ctrl+Enter"},
    {"\033[27;5;13~", "Ctrl+Enter"},
    {"\033OM", "Shift+Enter"},
    {"\033[1~", "Home"},
    {"\033[7~", "Home"},
    {"\033[4~", "End"},
    {"\033[8~", "End"},
};

const char *editor_key_name(const struct typed *typed)
{
    if (typed->kind == TYPED_KEY)
        return typed->key;
    for (size_t i = 0; typed->kind == TYPED_UNKNOWN && i < ARRAY_LEN(others); i++)
        if (str_is(typed->bytes, others[i].bytes))
            return others[i].key;
    return NULL;
}

enum editor_event editor_typed(struct editor *e, const struct typed *typed)
{
    const char *key = editor_key_name(typed);
    if (key)
        return editor_key(e, key);
    if (typed->kind == TYPED_TEXT)
        return editor_text(e, typed->bytes);
    return typed->kind == TYPED_PASTE ? editor_paste(e, typed->bytes) : EDITOR_IGNORED;
}
