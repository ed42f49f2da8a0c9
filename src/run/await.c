/* Derives wait conditions from screens. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "run/await.h"

#include "base/utf8.h"

enum {
    TEXT_MAX = 60,  /* bytes of text to wait for */
    GAP = 3,        /* blanks that separate two pieces of a line */
    DIGITS_MAX = 3, /* longer numbers are sizes, years or process ids */
    HASH_MIN = 7,
    QUIET_MS = 100,
    LITERALS_MIN = 2, /* literal characters that a pattern must have */
};

static bool await_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool await_is_volatile(struct str word)
{
    size_t run = 0, longest = 0, digits = 0, hex = 0, measure = 0;
    for (size_t i = 0; i < word.n; i++) {
        char c = word.p[i];
        bool between = i > 0 && i + 1 < word.n && await_is_digit(word.p[i - 1]) &&
                       await_is_digit(word.p[i + 1]);
        if (between && (c == ':' || c == '/'))
            return true; /* a time or a date */
        run = await_is_digit(c) ? run + 1 : 0;
        longest = MAX(longest, run);
        digits += await_is_digit(c);
        hex += await_is_digit(c) || (c >= 'a' && c <= 'f');
        measure += await_is_digit(c) || c == '.';
    }
    if (longest > DIGITS_MAX || (digits && word.p[word.n - 1] == '%'))
        return true;
    if (hex == word.n && digits && digits < word.n && word.n >= HASH_MIN)
        return true;
    bool point = memchr(word.p, '.', word.n);
    return digits && point && measure + 2 >= word.n && await_is_digit(word.p[0]);
}

/* Appends the text as a regular expression that matches any word in place of a volatile one.
 * Returns false if the text has no volatile words. */
static bool add_pattern(struct buf *b, struct str text, size_t *ret_literals)
{
    bool any = false;
    *ret_literals = 0;
    while (text.n) {
        size_t n = 0;
        while (n < text.n && text.p[n] != ' ')
            n++;
        struct str word = str_head(text, n);
        if (n && await_is_volatile(word)) {
            buf_add_z(b, "\\S+");
            any = true;
        } else {
            for (size_t i = 0; i < n; i++) {
                if (strchr("\\^$.|?*+()[]{}#", word.p[i]))
                    buf_add_byte(b, '\\');
                buf_add_byte(b, word.p[i]);
            }
            *ret_literals += n;
        }
        text = str_skip(text, n);
        for (n = 0; n < text.n && text.p[n] == ' '; n++)
            ;
        if (n)
            buf_add_z(b, n == 1 && text.n > n ? " " : " *");
        text = str_skip(text, n);
    }
    return any;
}

/* JSON ---------------------------------------------------------------------------------------- */

static json_t *await_condition_json(const char *type, json_t *payload)
{
    json_t *object = json_object();
    json_put(object, "type", json_string(type));
    json_put(object, "payload", payload);
    return object;
}

static json_t *await_with_text(const char *type, const char *key, struct str text)
{
    json_t *payload = json_object();
    json_put(payload, key, json_text(text));
    return await_condition_json(type, payload);
}

/* The line ------------------------------------------------------------------------------------ */

/* Appends the text before the cursor. */
static void await_add_prefix(struct buf *b, const struct term *t, const struct term_cursor *cursor)
{
    char bytes[UTF8_MAX];
    for (unsigned col = 0; col < cursor->col + (cursor->pending_wrap ? 1 : 0); col++) {
        struct term_cell cell;
        term_cell(t, (int)cursor->row, col, &cell);
        for (unsigned i = 0; i < cell.n; i++)
            buf_add(b, bytes, utf8_write(cell.codepoints[i], bytes));
        if (cell.n == 0 && cell.width)
            buf_add_byte(b, ' ');
    }
}

/* Adds a condition on the cursor's line up to the cursor, and one on the cursor position. */
static void await_add_cursor(json_t *list, const struct term *t)
{
    struct term_cursor cursor = term_cursor(t);
    AUTO_BUF struct buf prefix = BUF_INIT(1 << 16), pattern = BUF_INIT(1 << 18);
    size_t literals;
    if (!cursor.visible)
        return;
    await_add_prefix(&prefix, t, &cursor);
    buf_add_byte(&pattern, '^');
    bool changes = add_pattern(&pattern, buf_str(&prefix), &literals);
    json_t *payload = json_object();
    json_put(payload, "line", json_integer(cursor.row));
    if (changes && literals >= LITERALS_MIN && buf_ok(&pattern)) {
        json_put(payload, "pattern", json_text(buf_str(&pattern)));
        json_push(list, await_condition_json("line_matches", payload));
    } else if (!changes && literals) {
        json_put(payload, "text", json_text(buf_str(&prefix)));
        json_push(list, await_condition_json("line_starts_with", payload));
    } else {
        json_decref(payload);
    }
    if (changes)
        return;
    json_t *place = json_object();
    json_put(place, "row", json_integer(cursor.row));
    json_put(place, "col", json_integer(cursor.col));
    json_push(list, await_condition_json("cursor_at", place));
}

/* The text ------------------------------------------------------------------------------------ */

static bool was_there(const struct snapshot *before, struct str text)
{
    for (unsigned row = 0; row < before->rows; row++)
        if (before->lines[row].n &&
            memmem(before->lines[row].p, before->lines[row].n, text.p, text.n))
            return true;
    return false;
}

static bool has_words(struct str text)
{
    size_t letters = 0;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        letters += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || await_is_digit(c) || c < 0;
    }
    return letters >= 2 && 2 * letters >= text.n;
}

/* Returns at most TEXT_MAX bytes, cut between characters and without blanks at the ends. */
static struct str await_trim(struct str text)
{
    uint32_t codepoint;
    size_t end = 0, n;
    while (end < text.n && (n = utf8_decode(str_skip(text, end), &codepoint)) > 0 &&
           end + n <= TEXT_MAX)
        end += n;
    text = str_trim_end(str_head(text, end), ' ');
    while (text.n && text.p[0] == ' ')
        text = str_skip(text, 1);
    return text;
}

static bool is_steady(struct str text)
{
    struct str word;
    while (str_cut(text, ' ', &word, &text))
        if (word.n && await_is_volatile(word))
            return false;
    return true;
}

/* Returns the longest piece between gaps that is new and stable from run to run. */
static struct str best_piece(const struct snapshot *before, struct str line)
{
    struct str best = {0};
    while (line.n) {
        size_t n = 0, blanks = 0;
        for (; n < line.n && blanks < GAP; n++)
            blanks = line.p[n] == ' ' ? blanks + 1 : 0;
        struct str piece = await_trim(str_head(line, n));
        if (piece.n > best.n && has_words(piece) && is_steady(piece) && !was_there(before, piece))
            best = piece;
        line = str_skip(line, n);
    }
    return best;
}

/* Searches from the bottom up: the lowest new text was probably printed last. */
static struct str find_new(
    const struct snapshot *before, const struct snapshot *now, bool skip_cursor)
{
    for (unsigned row = now->rows; row-- > 0;) {
        if (skip_cursor && row == now->cursor.row)
            continue;
        struct str piece = best_piece(before, now->lines[row]);
        if (piece.n)
            return piece;
    }
    return (struct str){0};
}

/* The step ------------------------------------------------------------------------------------ */

json_t *await_step(
    const struct snapshot *before, const struct snapshot *now, const struct term *t, bool settled)
{
    static const struct snapshot nothing = {0};
    AUTO_JSON json_t *list = json_array();
    struct str text = find_new(before, now, settled && now->cursor.visible);
    if (text.n)
        json_push(list, await_with_text("screen_contains", "text", text));
    if (settled)
        await_add_cursor(list, t);
    if (json_array_size(list) == 0 && settled) {
        json_t *payload = json_object();
        json_put(payload, "quiet_ms", json_integer(QUIET_MS));
        json_push(list, await_condition_json("screen_stable", payload));
    } else if (json_array_size(list) == 0) { /* the screen never settles: use any text on it */
        text = find_new(&nothing, now, false);
        if (!text.n)
            return NULL;
        json_push(list, await_with_text("screen_contains", "text", text));
    }
    json_t *step = json_object(), *action = json_object(), *payload = json_object();
    json_put(payload, "condition", json_incref(json_array_get(list, 0)));
    json_put(action, "type", json_string("wait"));
    json_put(action, "payload", payload);
    json_put(step, "action", action);
    json_array_remove(list, 0);
    if (json_array_size(list))
        json_put(step, "assert", json_incref(list));
    return step;
}
