/* The editor's content: changes and undo, pastes, history, candidates. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "tui/canvas.h"
#include "tui/editor_state.h"

struct editor *editor_new(const struct editor_options *options)
{
    struct editor *e = base_alloc(sizeof(*e));
    *e = (struct editor){.options = *options, .text = BUF_INIT(EDITOR_MAX)};
    e->history = base_alloc(EDITOR_HISTORY * sizeof(*e->history));
    return e;
}

static void forget_changes(struct editor *e, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        e->change_bytes -= e->changes[i].removed_n + e->changes[i].added_n;
        free(e->changes[i].removed);
        free(e->changes[i].added);
    }
    e->n_changes -= n;
    memmove(e->changes, e->changes + n, e->n_changes * sizeof(*e->changes));
}

static void forget_pastes(struct editor *e)
{
    for (size_t i = 0; i < e->n_pastes; i++)
        free(e->pastes[i]);
    e->n_pastes = e->paste_bytes = 0;
}

void editor_free(struct editor *e)
{
    if (!e)
        return;
    forget_changes(e, e->n_changes);
    forget_pastes(e);
    editor_list_close(e);
    for (size_t i = 0; i < EDITOR_KILLS; i++)
        free(e->kills[i]);
    for (size_t i = 0; i < e->n_history; i++)
        free(e->history[i]);
    free(e->history);
    free(e->draft);
    buf_done(&e->text);
    free(e);
}

static char *copy_of(struct str s)
{
    char *copy = base_alloc(s.n + 1);
    memcpy(copy, s.p, s.n);
    copy[s.n] = 0;
    return copy;
}

/* Offsets ------------------------------------------------------------------------------------- */

size_t editor_next(const struct editor *e, size_t at)
{
    unsigned width;
    return at + canvas_cluster(str_skip(buf_str(&e->text), at), &width);
}

size_t editor_back(const struct editor *e, size_t at)
{
    size_t start = at > EDITOR_BACK ? at - EDITOR_BACK : 0, before = start;
    while (start > 0 && ((uint8_t)e->text.p[start] & 0xC0) == 0x80)
        start--;
    for (before = start; start < at; start = editor_next(e, start))
        before = start;
    return before;
}

size_t editor_line_start(const struct editor *e, size_t at)
{
    ptrdiff_t before = str_find_last(str_n(buf_z(&e->text), at), '\n');
    return (size_t)(before + 1);
}

size_t editor_line_end(const struct editor *e, size_t at)
{
    ptrdiff_t after = str_find(str_skip(buf_str(&e->text), at), '\n');
    return after < 0 ? e->text.n : at + (size_t)after;
}

/* Changes ------------------------------------------------------------------------------------- */

static bool editor_splice(struct editor *e, size_t at, size_t n, struct str text)
{
    if (e->text.n - n + text.n > EDITOR_MAX)
        return false;
    if (text.n > n && !buf_reserve(&e->text, text.n - n))
        return false;
    if (text.n || n)
        memmove(e->text.p + at + text.n, e->text.p + at + n, e->text.n - at - n);
    if (text.n)
        memcpy(e->text.p + at, text.p, text.n);
    e->text.n = e->text.n - n + text.n;
    if (e->text.p)
        e->text.p[e->text.n] = 0;
    return true;
}

/* Consecutive typing is undone word by word. */
static bool joins_last(const struct editor *e, size_t at, size_t n, struct str text)
{
    const struct editor_change *c = e->n_changes ? &e->changes[e->n_changes - 1] : NULL;
    return c && e->before == LAST_TYPED && e->last == LAST_TYPED && n == 0 && c->removed_n == 0 &&
           c->at + c->added_n == at && !(text.p[0] == ' ' && c->added[c->added_n - 1] != ' ');
}

static void editor_record_change(struct editor *e, size_t at, size_t n, struct str text)
{
    if (text.n && joins_last(e, at, n, text)) {
        struct editor_change *c = &e->changes[e->n_changes - 1];
        c->added = base_realloc(c->added, c->added_n + text.n + 1);
        memcpy(c->added + c->added_n, text.p, text.n);
        c->added_n += text.n;
        e->change_bytes += text.n;
        return;
    }
    while (e->n_changes &&
           (e->n_changes == EDITOR_CHANGES || e->change_bytes + n + text.n > EDITOR_CHANGE_BYTES))
        forget_changes(e, 1 + e->n_changes / 8);
    e->changes[e->n_changes++] = (struct editor_change){.at = at,
        .removed = copy_of(str_n(buf_z(&e->text) + at, n)),
        .added = copy_of(text),
        .removed_n = n,
        .added_n = text.n,
        .cursor = e->cursor};
    e->change_bytes += n + text.n;
}

void editor_replace(struct editor *e, size_t at, size_t n, struct str text)
{
    if ((n == 0 && text.n == 0) || e->text.n - n + text.n > EDITOR_MAX)
        return;
    editor_record_change(e, at, n, text);
    BUG_ON(!editor_splice(e, at, n, text));
    e->cursor = at + text.n;
}

void editor_undo(struct editor *e)
{
    if (e->n_changes == 0)
        return;
    struct editor_change c = e->changes[--e->n_changes];
    e->change_bytes -= c.removed_n + c.added_n;
    BUG_ON(!editor_splice(e, c.at, c.added_n, str_n(c.removed, c.removed_n)));
    e->cursor = c.cursor;
    free(c.removed);
    free(c.added);
}

/* Sanitizes external text: valid UTF-8, lines separated by LF, no control characters except
 * tabs. */
static void editor_sanitize(struct str text, struct buf *out)
{
    while (text.n) {
        uint32_t codepoint;
        char bytes[UTF8_MAX];
        size_t n = utf8_decode(text, &codepoint);
        bool crlf = str_starts_with(text, STR("\r\n"));
        if (n == 0) {
            n = utf8_invalid_length(text);
            codepoint = UTF8_REPLACEMENT;
        }
        if (codepoint >= EDITOR_MARK && codepoint < EDITOR_MARK + EDITOR_PASTES)
            codepoint = UTF8_REPLACEMENT;
        if (codepoint == '\r')
            codepoint = '\n';
        if (codepoint == '\n' || codepoint == '\t' ||
            (codepoint >= ' ' && (codepoint < 0x7F || codepoint > 0x9F)))
            buf_add(out, bytes, utf8_write(codepoint, bytes));
        text = str_skip(text, crlf ? 2 : n);
    }
}

enum editor_event editor_text(struct editor *e, struct str text)
{
    AUTO_BUF struct buf safe = BUF_INIT(EDITOR_MAX * 3);
    e->before = e->last;
    e->last = LAST_TYPED;
    editor_sanitize(text, &safe);
    editor_replace(e, e->cursor, 0, buf_str(&safe));
    editor_list_update(e);
    return EDITOR_DONE;
}

void editor_set(struct editor *e, struct str text)
{
    AUTO_BUF struct buf safe = BUF_INIT(EDITOR_MAX * 3);
    editor_sanitize(text, &safe);
    editor_replace(e, 0, e->text.n, buf_str(&safe));
}

bool editor_empty(const struct editor *e)
{
    return e->text.n == 0;
}

/* Pastes -------------------------------------------------------------------------------------- */

int editor_paste_of(const struct editor *e, uint32_t codepoint)
{
    bool known = codepoint >= EDITOR_MARK && codepoint - EDITOR_MARK < e->n_pastes;
    return known ? (int)(codepoint - EDITOR_MARK) : -1;
}

enum editor_event editor_paste(struct editor *e, struct str text)
{
    AUTO_BUF struct buf safe = BUF_INIT(EDITOR_MAX * 3);
    char mark[UTF8_MAX];
    size_t lines = 0;
    editor_sanitize(text, &safe);
    struct str pasted = buf_str(&safe);
    for (size_t i = 0; i < pasted.n; i++)
        lines += pasted.p[i] == '\n' || i + 1 == pasted.n;
    e->before = e->last;
    e->last = LAST_OTHER;
    if ((lines <= EDITOR_PASTE_LINES && pasted.n <= EDITOR_PASTE_BYTES) ||
        e->n_pastes == EDITOR_PASTES || e->paste_bytes + pasted.n > EDITOR_MAX) {
        editor_replace(e, e->cursor, 0, pasted);
        editor_list_update(e);
        return EDITOR_DONE;
    }
    size_t n = utf8_write(EDITOR_MARK + (uint32_t)e->n_pastes, mark);
    e->pastes[e->n_pastes] = copy_of(pasted);
    e->paste_n[e->n_pastes] = pasted.n;
    e->paste_lines[e->n_pastes++] = lines;
    e->paste_bytes += pasted.n;
    editor_replace(e, e->cursor, 0, str_n(mark, n));
    editor_list_update(e);
    return EDITOR_DONE;
}

/* Expands pastes; out may be NULL. Returns the length. */
static size_t editor_expand_pastes(const struct editor *e, struct str text, struct buf *out)
{
    size_t length = 0;
    while (text.n) {
        uint32_t codepoint = 0;
        size_t step = utf8_decode(text, &codepoint);
        int paste = editor_paste_of(e, codepoint);
        BUG_ON(step == 0);
        struct str part =
            paste < 0 ? str_head(text, step) : str_n(e->pastes[paste], e->paste_n[paste]);
        if (out)
            buf_add_str(out, part);
        length += part.n;
        text = str_skip(text, step);
    }
    return length;
}

/* Killed text outlives the pastes in it: expand them. */
static void expand_kills(struct editor *e)
{
    for (size_t i = 0; e->n_pastes && i < EDITOR_KILLS && e->kills[i]; i++) {
        struct str text = str_n(e->kills[i], e->kill_n[i]);
        struct buf whole = BUF_INIT(EDITOR_MAX);
        if (editor_expand_pastes(e, text, &whole) == text.n) {
            buf_done(&whole);
            continue;
        }
        free(e->kills[i]);
        e->kill_n[i] = buf_ok(&whole) ? whole.n : 0;
        e->kills[i] = buf_take(&whole);
    }
}

void editor_clear(struct editor *e)
{
    expand_kills(e);
    buf_reset(&e->text);
    e->cursor = 0;
    e->last = LAST_OTHER;
    forget_changes(e, e->n_changes);
    forget_pastes(e);
    editor_list_close(e);
    e->at_history = e->n_history;
    free(e->draft);
    e->draft = NULL;
}

void editor_content(const struct editor *e, struct buf *out)
{
    (void)editor_expand_pastes(e, buf_str(&e->text), out);
}

size_t editor_cursor(const struct editor *e)
{
    return editor_expand_pastes(e, str_head(buf_str(&e->text), e->cursor), NULL);
}

/* History ------------------------------------------------------------------------------------- */

void editor_remember(struct editor *e, struct str entry)
{
    bool again = e->n_history && str_is(entry, e->history[e->n_history - 1]);
    bool at_end = e->at_history == e->n_history;
    if (entry.n == 0 || entry.n > EDITOR_HISTORY_ENTRY || again || memchr(entry.p, 0, entry.n))
        return;
    if (e->n_history == EDITOR_HISTORY) {
        free(e->history[0]);
        memmove(e->history, e->history + 1, --e->n_history * sizeof(*e->history));
        e->at_history -= e->at_history > 0;
    }
    e->history[e->n_history++] = copy_of(entry);
    if (at_end)
        e->at_history = e->n_history;
}

/* Candidates ---------------------------------------------------------------------------------- */

void editor_offer(struct editor_list *list, struct str candidate, struct str note)
{
    if (candidate.n > EDITOR_CANDIDATE_BYTES || note.n > EDITOR_CANDIDATE_BYTES ||
        !utf8_valid(candidate))
        return;
    list->more = list->n == EDITOR_CANDIDATES;
    if (list->more)
        return;
    list->items[list->n++] = (struct editor_candidate){copy_of(candidate), copy_of(note)};
}

void editor_list_close(struct editor *e)
{
    for (size_t i = 0; i < e->list.n; i++) {
        free(e->list.items[i].text);
        free(e->list.items[i].note);
    }
    e->list.n = e->list.chosen = 0;
    e->list.more = false;
}

/* A blank after a backslash is part of the word. */
static bool editor_ends_word(const struct editor *e, size_t at)
{
    size_t n = 0;
    while (n < at && e->text.p[at - n - 1] == '\\')
        n++;
    return memchr(" \t\n", e->text.p[at], 3) && n % 2 == 0;
}

void editor_list_update(struct editor *e)
{
    size_t start = e->cursor;
    editor_list_close(e);
    while (
        start > 0 && !editor_ends_word(e, start - 1) && e->cursor - start < EDITOR_CANDIDATE_BYTES)
        start--;
    struct str word = str_n(buf_z(&e->text) + start, e->cursor - start);
    bool wanted =
        str_starts_with(word, STR("@")) || (start == 0 && str_starts_with(word, STR("/")));
    e->list.start = start;
    if (wanted && e->options.complete)
        e->options.complete(e->options.context, word, &e->list);
}

bool editor_list_fits(const struct editor *e)
{
    const char *text = e->list.n ? e->list.items[e->list.chosen].text : "";
    struct str word = str_n(buf_z(&e->text) + e->list.start, e->cursor - e->list.start);
    return e->list.n && str_is(word, text) && !str_ends_with(word, STR("/"));
}

bool editor_list_accept(struct editor *e)
{
    if (e->list.n == 0)
        return false;
    AUTO_FREE char *text = copy_of(str_z(e->list.items[e->list.chosen].text));
    struct str word = str_n(e->text.p + e->list.start, e->cursor - e->list.start);
    bool changes = !str_is(word, text);
    bool directory = str_ends_with(str_z(text), STR("/"));
    AUTO_BUF struct buf safe = BUF_INIT(EDITOR_CANDIDATE_BYTES * 4);
    editor_sanitize(str_z(text), &safe);
    if (!directory)
        buf_add_byte(&safe, ' ');
    if (changes)
        editor_replace(e, e->list.start, e->cursor - e->list.start, buf_str(&safe));
    editor_list_close(e);
    if (changes && directory)
        editor_list_update(e);
    return changes;
}
